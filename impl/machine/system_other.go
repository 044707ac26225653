//go:build !linux

package machine

import (
	"errors"
	"os"
	"runtime"
)

var errLinux = errors.New("it is not known how on " + runtime.GOOS)

func switches() (n int, known bool) { return 0, false }

// Memory fails: this package knows no way here.
func Memory(int) (*os.File, error) { return nil, errLinux }

// Copies says why the kernel does not copy from process to process: this package knows no way here.
func Copies() error { return errLinux }

// Room returns how many bytes a directory's file system has: this package knows no way here.
func Room(string) (int64, error) { return 0, errLinux }
