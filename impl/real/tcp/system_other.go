//go:build !linux

package tcp

import (
	"errors"
	"net"
	"syscall"
	"time"
)

var errLinux = errors.New("ranks as processes need Linux")

func receive(int, []byte) (int, syscall.Errno)  { return 0, syscall.ENOSYS }
func send(int, []byte) (int, syscall.Errno)     { return 0, syscall.ENOSYS }
func duplicateSocket(*net.TCPConn) (int, error) { return -1, errLinux }
func closeDescriptor(int)                       {}
func setSocketOptions(int, time.Duration) error { return errLinux }

type gatherSend struct{}

func (*gatherSend) send(int, []byte, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }

type poller struct{}

func newPoller() (*poller, error)  { return nil, errLinux }
func (*poller) add(int, int) error { return errLinux }
func (*poller) remove(int)         {}
func (*poller) ready() int         { return 0 }
func (*poller) readyRank(int) int  { return 0 }
func (*poller) close()             {}

type sleeper struct{}

func newSleeper(int) (*sleeper, error) { return nil, errLinux }
func (*sleeper) watch(int, int)        {}
func (*sleeper) unwatch(int)           {}
func (*sleeper) watchForRoom(int, int) {}
func (*sleeper) sleep(time.Duration)   {}
func (*sleeper) wake()                 {}
func (*sleeper) close()                {}

type datagramSockets struct{ unicast, multicast int }

func newDatagramSockets([4]byte, bool) (datagramSockets, uint16, error) {
	return datagramSockets{}, 0, errLinux
}
func (*datagramSockets) openMulticast(uint16) (uint16, error) { return 0, errLinux }
func (*datagramSockets) send(udpAddress, []byte)              {}
func (*datagramSockets) joinGroup(_, _ [4]byte) bool          { return false }
func (*datagramSockets) leaveGroup(_, _ [4]byte)              {}
func (*datagramSockets) close()                               {}
