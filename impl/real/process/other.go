//go:build !unix

package process

import (
	"os"
	"syscall"
)

// group does nothing: where there are no groups, a child ends alone.
func group(syscall.Signal) *syscall.SysProcAttr { return nil }

func signal(p *os.Process, _ syscall.Signal) { p.Kill() }
