package tcp

import (
	"errors"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These system calls bypass Go's scheduler, which would take microseconds if it gave the thread's
// processor to another goroutine. So they must not block.

// receive reads bytes that have arrived into b, which is not empty.
func receive(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), e
}

// send writes as much of b, which is not empty, as there is room for.
func send(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), e
}

// gatherSend holds the arguments of a system call for bytes in two places. It is kept so that calls
// allocate nothing.
type gatherSend struct {
	vectors [2]unix.Iovec
	msg     unix.Msghdr
}

// send writes as much of a and b, which are not empty, as there is room for.
func (g *gatherSend) send(fd int, a, b []byte) (int, syscall.Errno) {
	g.vectors[0].Base, g.vectors[1].Base = unsafe.SliceData(a), unsafe.SliceData(b)
	g.vectors[0].SetLen(len(a))
	g.vectors[1].SetLen(len(b))
	g.msg.Iov, g.msg.Iovlen = &g.vectors[0], 2
	n, _, e := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&g.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	g.vectors[1].Base = nil
	return int(n), e
}

// poller finds the connections that have something to read.
type poller struct {
	fd     int
	events [16]unix.EpollEvent
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &poller{fd: fd}, nil
}

// add adds a connection, which it will name by a number.
func (p *poller) add(name, fd int) error {
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(name)})
}

// remove removes a connection.
func (p *poller) remove(fd int) { unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// ready returns how many connections have something now.
func (p *poller) ready() int {
	n, _, e := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// readyRank returns the rank of the i-th of them.
func (p *poller) readyRank(i int) int { return int(p.events[i].Fd) }

func (p *poller) close() { unix.Close(p.fd) }

// sleeper lets a rank sleep until a connection has something to read or room to write, or wake is
// called.
type sleeper struct {
	wakeDescriptor int
	fds            []unix.PollFd // of the connection to each rank, of the alarm, and of two sockets for datagrams
}

func newSleeper(ranks int) (*sleeper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	s := &sleeper{wakeDescriptor: fd, fds: make([]unix.PollFd, ranks+3)}
	for r := range s.fds {
		s.unwatch(r)
	}
	s.watch(ranks, fd)
	return s, nil
}

// watch adds a connection, which may be named by a number less than that of ranks; or one of two
// sockets, named by a number above.
func (s *sleeper) watch(name, fd int) { s.fds[name] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} }

// unwatch removes a connection.
func (s *sleeper) unwatch(name int) { s.fds[name] = unix.PollFd{Fd: -1} }

// watchForRoom lets the sleeper wake up also when a connection has room to write, even if it was
// removed.
func (s *sleeper) watchForRoom(name, fd int) {
	s.fds[name] = unix.PollFd{Fd: int32(fd), Events: s.fds[name].Events | unix.POLLOUT}
}

// sleep sleeps for d at most.
func (s *sleeper) sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	syscall.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&s.fds[0])), uintptr(len(s.fds)), uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

// wake ends the sleep and all later ones. Other goroutines than the rank may call it.
func (s *sleeper) wake() { unix.Write(s.wakeDescriptor, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func (s *sleeper) close() { unix.Close(s.wakeDescriptor) }

// duplicateSocket returns a descriptor of a connection that Go's network poller does not watch.
func duplicateSocket(c *net.TCPConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	if problem := raw.Control(func(theirs uintptr) { fd, err = unix.FcntlInt(theirs, unix.F_DUPFD_CLOEXEC, 0) }); problem != nil {
		return -1, problem
	}
	return fd, err
}

func closeDescriptor(fd int) { unix.Close(fd) }

// setSocketOptions sets the options of a connection: no delay of short packets (Nagle's algorithm),
// and keep-alive probes when it is silent for long.
func setSocketOptions(fd int, patience time.Duration) error {
	seconds := max(1, int(patience/time.Second/2))
	for _, o := range []struct{ level, name, value int }{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 2 * seconds},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return err
		}
	}
	return nil
}

// datagramSockets are those of a rank's datagrams.
type datagramSockets struct {
	unicast, multicast int
	destination        *unix.RawSockaddrInet4
}

// newDatagramSockets makes the socket of a rank at an address, and returns its port.
func newDatagramSockets(ip [4]byte, loopback bool) (datagramSockets, uint16, error) {
	s := datagramSockets{unicast: -1, multicast: -1, destination: &unix.RawSockaddrInet4{Family: unix.AF_INET}}
	var err error
	if s.unicast, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return s, 0, err
	}
	hops := 1
	if loopback {
		hops = 0 // they do not leave the host, and come once
	}
	unix.SetsockoptInt(s.unicast, unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer)
	unix.SetsockoptInt(s.unicast, unix.SOL_SOCKET, unix.SO_SNDBUF, socketBuffer)
	if err := errors.Join(
		unix.Bind(s.unicast, &unix.SockaddrInet4{Addr: ip}),
		unix.SetsockoptInt(s.unicast, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, hops),
		unix.SetsockoptInet4Addr(s.unicast, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, ip)); err != nil {
		return s, 0, err
	}
	port, err := localPort(s.unicast)
	return s, port, err
}

// openMulticast makes the socket for groups, at a port that is 0 for any, and returns its port.
func (s *datagramSockets) openMulticast(port uint16) (uint16, error) {
	var err error
	if s.multicast, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return 0, err
	}
	unix.SetsockoptInt(s.multicast, unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer)
	share := func() error { return unix.SetsockoptInt(s.multicast, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) }
	if port != 0 {
		err = share()
	}
	if err == nil {
		err = unix.Bind(s.multicast, &unix.SockaddrInet4{Port: int(port)})
	}
	if err == nil && port == 0 { // a port that no other socket has
		err = share()
	}
	if err == nil {
		err = unix.SetsockoptInt(s.multicast, unix.IPPROTO_IP, ipMulticastAll, 0)
	}
	if err != nil {
		return 0, err
	}
	return localPort(s.multicast)
}

// ipMulticastAll is IP_MULTICAST_ALL: whether a socket also receives datagrams for groups that only
// other sockets joined.
const ipMulticastAll = 49

func localPort(fd int) (uint16, error) {
	a, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	return uint16(a.(*unix.SockaddrInet4).Port), nil
}

// send sends a datagram.
func (s *datagramSockets) send(to udpAddress, b []byte) {
	s.destination.Addr = to.IP
	port := (*[2]byte)(unsafe.Pointer(&s.destination.Port))
	port[0], port[1] = byte(to.Port>>8), byte(to.Port)
	syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.unicast), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, uintptr(unsafe.Pointer(s.destination)), unix.SizeofSockaddrInet4)
}

// joinGroup makes the rank a member of the group of an address, by the interface of another.
func (s *datagramSockets) joinGroup(group, by [4]byte) bool {
	return unix.SetsockoptIPMreq(s.multicast, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreq{Multiaddr: group, Interface: by}) == nil
}

func (s *datagramSockets) leaveGroup(group, by [4]byte) {
	unix.SetsockoptIPMreq(s.multicast, unix.IPPROTO_IP, unix.IP_DROP_MEMBERSHIP, &unix.IPMreq{Multiaddr: group, Interface: by})
}

func (s *datagramSockets) close() {
	for _, fd := range []int{s.unicast, s.multicast} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
