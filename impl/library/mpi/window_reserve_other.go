//go:build !linux

package mpi

import "syscall"

// allocateFile makes a file of some bytes.
func allocateFile(fd int, bytes int64) error { return syscall.Ftruncate(fd, bytes) }
