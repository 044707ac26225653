package tcp

import (
	"errors"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These system calls bypass Go's scheduler, which would take microseconds if it gave the processor
// of the thread to another goroutine. So none of them may block.

// receive reads what has arrived into b, which is not empty.
func receive(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), e
}

// send writes as much of b, which is not empty, as there is room for.
func send(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), e
}

// gather has the arguments of a system call for bytes that lie in two places. It is kept so that
// calls allocate nothing.
type gather struct {
	parts [2]unix.Iovec
	msg   unix.Msghdr
}

// send writes as much of a and b, which are not empty, as there is room for.
func (g *gather) send(fd int, a, b []byte) (int, syscall.Errno) {
	g.parts[0].Base, g.parts[1].Base = unsafe.SliceData(a), unsafe.SliceData(b)
	g.parts[0].SetLen(len(a))
	g.parts[1].SetLen(len(b))
	g.msg.Iov, g.msg.Iovlen = &g.parts[0], 2
	n, _, e := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&g.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	g.parts[1].Base = nil
	return int(n), e
}

// poller tells which of several connections have something to read.
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

// name returns which one the i-th of them is.
func (p *poller) name(i int) int { return int(p.events[i].Fd) }

func (p *poller) close() { unix.Close(p.fd) }

// sleeper lets a rank sleep until a connection has something to read or room to write, or wake is
// called.
type sleeper struct {
	alarm int
	fds   []unix.PollFd // of the connection to each rank, of the alarm, and of two sockets for datagrams
}

func newSleeper(ranks int) (*sleeper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	s := &sleeper{alarm: fd, fds: make([]unix.PollFd, ranks+3)}
	for r := range s.fds {
		s.remove(r)
	}
	s.add(ranks, fd)
	return s, nil
}

// add adds a connection, which may be named by a number less than that of ranks; or one of two
// sockets, named by a number above.
func (s *sleeper) add(name, fd int) { s.fds[name] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} }

// remove removes a connection.
func (s *sleeper) remove(name int) { s.fds[name] = unix.PollFd{Fd: -1} }

// room lets the sleeper wake up also when a connection has room to write, even if it was removed.
func (s *sleeper) room(name, fd int) {
	s.fds[name] = unix.PollFd{Fd: int32(fd), Events: s.fds[name].Events | unix.POLLOUT}
}

// sleep sleeps for d at most.
func (s *sleeper) sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	syscall.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&s.fds[0])), uintptr(len(s.fds)), uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

// wake ends the sleep and all later ones. Other goroutines than the rank may call it.
func (s *sleeper) wake() { unix.Write(s.alarm, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func (s *sleeper) close() { unix.Close(s.alarm) }

// own returns a descriptor of a connection that Go's network poller does not watch.
func own(c *net.TCPConn) (int, error) {
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

func closeFile(fd int) { unix.Close(fd) }

// tune sets the options of a connection: no delay of short packets (Nagle's algorithm), and
// keep-alive probes when it is silent for long.
func tune(fd int, patience time.Duration) error {
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

// sockets are those of a rank's datagrams.
type sockets struct {
	own, groups int
	addr        *unix.RawSockaddrInet4
}

// newSockets makes the socket of a rank at an address, and returns its port.
func newSockets(ip [4]byte, loopback bool) (sockets, uint16, error) {
	s := sockets{own: -1, groups: -1, addr: &unix.RawSockaddrInet4{Family: unix.AF_INET}}
	var err error
	if s.own, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return s, 0, err
	}
	hops := 1
	if loopback {
		hops = 0 // they do not leave the host, and come once
	}
	unix.SetsockoptInt(s.own, unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer)
	unix.SetsockoptInt(s.own, unix.SOL_SOCKET, unix.SO_SNDBUF, socketBuffer)
	if err := errors.Join(
		unix.Bind(s.own, &unix.SockaddrInet4{Addr: ip}),
		unix.SetsockoptInt(s.own, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, hops),
		unix.SetsockoptInet4Addr(s.own, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, ip)); err != nil {
		return s, 0, err
	}
	port, err := portOf(s.own)
	return s, port, err
}

// openGroups makes the socket for groups, at a port that is 0 for any, and returns its port.
func (s *sockets) openGroups(port uint16) (uint16, error) {
	var err error
	if s.groups, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return 0, err
	}
	unix.SetsockoptInt(s.groups, unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer)
	share := func() error { return unix.SetsockoptInt(s.groups, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) }
	if port != 0 {
		err = share()
	}
	if err == nil {
		err = unix.Bind(s.groups, &unix.SockaddrInet4{Port: int(port)})
	}
	if err == nil && port == 0 { // a port that nobody shares so far
		err = share()
	}
	if err == nil {
		err = unix.SetsockoptInt(s.groups, unix.IPPROTO_IP, ipMulticastAll, 0)
	}
	if err != nil {
		return 0, err
	}
	return portOf(s.groups)
}

// ipMulticastAll is IP_MULTICAST_ALL: whether a socket also gets what is sent to groups of others.
const ipMulticastAll = 49

func portOf(fd int) (uint16, error) {
	a, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	return uint16(a.(*unix.SockaddrInet4).Port), nil
}

// send sends a datagram.
func (s *sockets) send(to address, b []byte) {
	s.addr.Addr = to.IP
	port := (*[2]byte)(unsafe.Pointer(&s.addr.Port))
	port[0], port[1] = byte(to.Port>>8), byte(to.Port)
	syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.own), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, uintptr(unsafe.Pointer(s.addr)), unix.SizeofSockaddrInet4)
}

// join makes the rank a member of the group of an address, by the interface of another.
func (s *sockets) join(group, by [4]byte) bool {
	return unix.SetsockoptIPMreq(s.groups, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreq{Multiaddr: group, Interface: by}) == nil
}

func (s *sockets) leave(group, by [4]byte) {
	unix.SetsockoptIPMreq(s.groups, unix.IPPROTO_IP, unix.IP_DROP_MEMBERSHIP, &unix.IPMreq{Multiaddr: group, Interface: by})
}

func (s *sockets) close() {
	for _, fd := range []int{s.own, s.groups} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
