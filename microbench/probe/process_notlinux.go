//go:build unix && !linux

package probe

import "syscall"

// mortal does nothing: ranks then end by their own patience.
func mortal(*syscall.SysProcAttr) {}
