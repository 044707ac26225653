//go:build race

package mpi_test

// racing says that the race detector is at work. What is emulated has nothing for it to find, and sync.Pool makes garbage on purpose.
const racing = true
