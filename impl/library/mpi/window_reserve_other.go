//go:build !linux

package mpi

import "syscall"

// allocateFile sets the size of a file. It does not reserve pages.
func allocateFile(fd int, bytes int64) error { return syscall.Ftruncate(fd, bytes) }
