package launch

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Silence returns how long nothing has been heard over a connection although an answer is due, or 0 if none is. What cannot be found out is 0.
func Silence(fd int) time.Duration {
	since, _ := answer(fd)
	return since
}

// answer returns Silence, and how long a round trip takes.
func answer(fd int) (since, trip time.Duration) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, 0
	}
	if info.Retransmits > 0 || info.Probes > 0 {
		since = time.Duration(info.Last_ack_recv) * time.Millisecond
	}
	return since, time.Duration(info.Rtt) * time.Microsecond
}

// awaited says whether an answer is due over a connection, and how long a round trip takes. It is an error if the connection is closed.
func awaited(c *net.TCPConn) (due bool, trip time.Duration, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, 0, err
	}
	err = raw.Control(func(fd uintptr) {
		since, t := answer(int(fd))
		due, trip = since > 0, t
	})
	return due, trip, err
}
