//go:build !linux

package machine

import (
	"errors"
	"runtime"
)

func affinity() []int { return nil }

// Pin fails.
func Pin(int) error { return errors.New("threads are not pinned to processors on " + runtime.GOOS) }
