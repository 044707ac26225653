//go:build !linux

package transport

import "runtime"

func yield() { runtime.Gosched() }
