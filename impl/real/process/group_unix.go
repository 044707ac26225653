//go:build unix && !linux

package process

import "syscall"

// processGroup leaves a child running when this process ends: there is no signal for that.
func processGroup(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
