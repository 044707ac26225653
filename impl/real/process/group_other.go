//go:build !unix

package process

import (
	"os"
	"syscall"
)

// processGroup does nothing: where there are no groups, a child ends alone.
func processGroup(syscall.Signal) *syscall.SysProcAttr { return nil }

func signalGroup(p *os.Process, _ syscall.Signal) { p.Kill() }
