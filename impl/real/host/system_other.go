//go:build !linux

package host

import (
	"errors"
	"os"
	"runtime"
)

var errLinux = errors.New("not supported on " + runtime.GOOS)

func preemptions() (n int, known bool) { return 0, false }

// Memory is not supported here.
func Memory(int) (*os.File, error) { return nil, errLinux }

// ProcessCopy is not supported here.
func ProcessCopy() error { return errLinux }

// FreeSpace is not supported here.
func FreeSpace(string) (int64, error) { return 0, errLinux }

func affinity() []int { return nil }

// Pin is not supported here.
func Pin(int) error { return errors.New("threads are not pinned to processors on " + runtime.GOOS) }
