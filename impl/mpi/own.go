package mpi

import "github.com/loggp/loggp/model/collective"

// own is what a rank has beside its engine, in all communicators the same.
type own struct {
	tuning []collective.Rule
	work   []byte // memory for collective operations, of which there is one at a time
}

// room returns n bytes to work in.
func (o *own) room(n int) []byte {
	if n > len(o.work) {
		o.work = make([]byte, n)
	}
	return o.work[:n]
}
