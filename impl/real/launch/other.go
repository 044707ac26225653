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

func startRank(_ task, _, _ *os.File) (*rankProcess, error) { return nil, errLinux }

func (*rankProcess) supervise(<-chan struct{}, *bool, func(report)) *Death { return nil }

func checkInherited() error { return errLinux }

func Silence(int) time.Duration { return 0 }

func setUserTimeout(*net.TCPConn, time.Duration, int) error { return errLinux }
