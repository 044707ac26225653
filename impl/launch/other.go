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

func setUserTimeout(*net.TCPConn, time.Duration, int) error { return errLinux }

func letter([]byte) (*os.File, error) { return nil, errLinux }
