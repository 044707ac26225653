package mpi

import "syscall"

// allocateFile sets the size of a file and reserves all its pages.
func allocateFile(fd int, bytes int64) error { return syscall.Fallocate(fd, 0, 0, bytes) }
