//go:build unix

package probe

import (
	"os"
	"syscall"
)

// lockFileOrFail locks a file for this process, or fails at once if another one has locked it.
func lockFileOrFail(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
