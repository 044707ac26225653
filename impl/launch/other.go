//go:build !linux

package launch

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"time"
)

var errLinux = errors.New("launch: ranks as processes need Linux")

type process struct{}

func start(orders, *os.File) (*process, error) { return nil, errLinux }

func (*process) attend(<-chan struct{}, *bool, func(report)) *Death { return nil }

func inherited() error { return errLinux }

func bind(*exec.Cmd) {}

func Silence(int) time.Duration { return 0 }

func awaited(c *net.TCPConn) (due bool, trip time.Duration, err error) {
	_, err = c.SyscallConn()
	return false, 0, err
}

func letter([]byte) (*os.File, error) { return nil, errLinux }
