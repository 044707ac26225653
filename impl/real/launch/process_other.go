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

func (*rankProcess) superviseProcess(<-chan struct{}, *bool, func(report)) *RankDeath { return nil }

func checkInheritedFiles() error { return errLinux }

func UnacknowledgedTime(int) time.Duration { return 0 }

func setUserTimeout(*net.TCPConn, time.Duration, int) error { return errLinux }
