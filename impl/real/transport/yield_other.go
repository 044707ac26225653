//go:build !linux

package transport

import "runtime"

func yieldProcessor() { runtime.Gosched() }
