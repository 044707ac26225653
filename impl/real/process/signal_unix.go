//go:build unix

package process

import (
	"os"
	"syscall"
)

// signalGroup sends a signal to a group, which may have ended.
func signalGroup(first *os.Process, s syscall.Signal) { syscall.Kill(-first.Pid, s) }
