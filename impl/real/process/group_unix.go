//go:build unix && !linux

package process

import "syscall"

// group leaves a child running when this process ends: there is no signal for that.
func group(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
