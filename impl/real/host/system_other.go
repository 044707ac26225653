//go:build !linux

package host

import (
	"errors"
	"os"
	"runtime"
)

var errUnsupported = errors.New("not supported on " + runtime.GOOS)

func threadPreemptions() (n int, known bool) { return 0, false }

// NewSharedMemory is not supported here.
func NewSharedMemory(int) (*os.File, error) { return nil, errUnsupported }

// NewMemoryFile is not supported here.
func NewMemoryFile([]byte) (*os.File, error) { return nil, errUnsupported }

// TryProcessCopy is not supported here.
func TryProcessCopy() error { return errUnsupported }

// FreeSpace is not supported here.
func FreeSpace(string) (int64, error) { return 0, errUnsupported }

func readAffinity() []int { return nil }

// Pin is not supported here.
func Pin(int) error { return errors.New("threads are not pinned to processors on " + runtime.GOOS) }
