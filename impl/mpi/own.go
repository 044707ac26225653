package mpi

import (
	"slices"

	"github.com/loggp/loggp/model/collective"
)

// own is what a rank has beside its engine, in all communicators the same.
type own struct {
	tuning []collective.Rule
	work   []byte // memory for collective operations, of which there is one at a time
	unused []byte // memory for a result that nobody wants
}

// more returns the memory to work in with n bytes at least. What is in it stays.
func (o *own) more(n int) []byte {
	o.work = slices.Grow(o.work, n-len(o.work))
	o.work = o.work[:cap(o.work)]
	return o.work
}

// result returns n bytes for a result that nobody wants.
func (o *own) result(n int) []byte {
	if n > len(o.unused) {
		o.unused = make([]byte, n)
	}
	return o.unused[:n]
}
