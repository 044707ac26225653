//go:build !linux

package launch

import (
	"errors"
	"net"
	"os"
	"time"
)

var errLinux = errors.New("launch: ranks as processes need Linux")

type rankProcess struct{}

func startRank(orders, *os.File) (*rankProcess, error) { return nil, errLinux }

func (*rankProcess) attend(<-chan struct{}, *bool, func(report)) *Death { return nil }

func inherited() error { return errLinux }

func Silence(int) time.Duration { return 0 }

func setUserTimeout(*net.TCPConn, time.Duration, int) error { return errLinux }

func letter([]byte) (*os.File, error) { return nil, errLinux }
