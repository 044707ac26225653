//go:build unix

package process

import (
	"os"
	"syscall"
)

// signal sends a signal to a group, which may have ended.
func signal(first *os.Process, s syscall.Signal) { syscall.Kill(-first.Pid, s) }
