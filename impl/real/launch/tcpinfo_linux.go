package launch

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// UnacknowledgedTime returns how long a connection has been silent while an acknowledgement is due,
// or 0 if none is due or that is unknown.
func UnacknowledgedTime(fd int) time.Duration {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.Retransmits == 0 && info.Probes == 0 {
		return 0
	}
	return time.Duration(info.Last_ack_recv) * time.Millisecond
}

// setUserTimeout makes the kernel close a connection when sent data has not been acknowledged for
// d, or for that many round trips if they take longer.
func setUserTimeout(c *net.TCPConn, d time.Duration, trips int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var problem error
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			d = max(d, time.Duration(trips)*time.Duration(info.Rtt)*time.Microsecond)
		}
		problem = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
	if err == nil {
		err = problem
	}
	return err
}
