//go:build unix

package process

import (
	"os"
	"syscall"
)

// signal sends a signal to a group, of which nothing may be left.
func signal(first *os.Process, s syscall.Signal) { syscall.Kill(-first.Pid, s) }
