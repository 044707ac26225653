package versus

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"unsafe"
)

// pingPongThroughSockets is what the kernel takes: a connection over loopback, of two threads of
// this process that write and read without anything around, and look again and again where there is
// nothing yet.
func pingPongThroughSockets(_ context.Context, loads []load) (half []float64, err error) {
	near, far, err := connectedSockets()
	if err != nil {
		return nil, err
	}
	defer near.close()
	defer far.close()
	var both sync.WaitGroup
	both.Go(func() {
		pinToRank(1)
		for _, l := range loads {
			b := l.buffer()
			for range (l.blocks + 1) * l.trips {
				far.read(b)
				far.write(b)
			}
		}
	})
	both.Go(func() {
		pinToRank(0)
		for _, l := range loads {
			b := l.buffer()
			half = append(half, l.measure(func(trips int) {
				for range trips {
					near.write(b)
					near.read(b)
				}
			}))
		}
	})
	both.Wait()
	return half, nil
}

// socket is one end of a connection. The runtime's poller has it, too, and is not asked.
type socket struct {
	fd   uintptr
	conn net.Conn
}

func (s socket) close() { s.conn.Close() }

// connectedSockets returns both ends of one.
func connectedSockets() (near, far socket, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return near, far, err
	}
	defer l.Close()
	if near.conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return near, far, err
	}
	if far.conn, err = l.Accept(); err != nil {
		near.close()
		return near, far, err
	}
	for _, s := range []*socket{&near, &far} { // package net has set TCP_NODELAY
		raw, err := s.conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			return near, far, err
		}
		if err := raw.Control(func(fd uintptr) { s.fd = fd }); err != nil {
			return near, far, err
		}
	}
	return near, far, nil
}

func (s socket) write(b []byte) { s.moveAll(syscall.SYS_SENDTO, b) }
func (s socket) read(b []byte)  { s.moveAll(syscall.SYS_RECVFROM, b) }

// moveAll moves all bytes.
func (s socket) moveAll(call uintptr, b []byte) {
	for len(b) > 0 {
		n, _, e := syscall.RawSyscall6(call, s.fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), syscall.MSG_DONTWAIT, 0, 0)
		switch {
		case e == syscall.EAGAIN || e == syscall.EINTR:
		case e != 0 || n == 0:
			panic(fmt.Sprintf("%d of %d bytes: %v", n, len(b), e))
		default:
			b = b[n:]
		}
	}
}
