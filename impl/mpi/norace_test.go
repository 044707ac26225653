//go:build !race

package mpi_test

const racing = false
