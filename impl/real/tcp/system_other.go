//go:build !linux

package tcp

import (
	"errors"
	"net"
	"syscall"
	"time"
)

var errLinux = errors.New("ranks as processes need Linux")

func receive(int, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }
func send(int, []byte) (int, syscall.Errno)    { return 0, syscall.ENOSYS }
func own(*net.TCPConn) (int, error)            { return -1, errLinux }
func closeFile(int)                            {}
func tune(int, time.Duration) error            { return errLinux }

type gather struct{}

func (*gather) send(int, []byte, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }

type poller struct{}

func newPoller() (*poller, error)  { return nil, errLinux }
func (*poller) add(int, int) error { return errLinux }
func (*poller) remove(int)         {}
func (*poller) ready() int         { return 0 }
func (*poller) name(int) int       { return 0 }
func (*poller) close()             {}

type sleeper struct{}

func newSleeper(int) (*sleeper, error) { return nil, errLinux }
func (*sleeper) add(int, int)          {}
func (*sleeper) remove(int)            {}
func (*sleeper) room(int, int)         {}
func (*sleeper) sleep(time.Duration)   {}
func (*sleeper) wake()                 {}
func (*sleeper) close()                {}

type sockets struct{ own, groups int }

func newSockets([4]byte, bool) (sockets, uint16, error) { return sockets{}, 0, errLinux }
func (*sockets) openGroups(uint16) (uint16, error)      { return 0, errLinux }
func (*sockets) send(address, []byte)                   {}
func (*sockets) join(_, _ [4]byte) bool                 { return false }
func (*sockets) leave(_, _ [4]byte)                     {}
func (*sockets) close()                                 {}
