package mpi

import (
	"slices"
	"weak"

	"github.com/loggp/loggp/model/collective"
)

// own is what a rank has beside its engine, in all communicators the same.
type own struct {
	tuning   *collective.Tuning
	round    round                // the collective operation under way, of which there is one at a time
	work     []byte               // memory for it
	handlers map[uint32]handled   // of errors, by the context of a communicator; none: ErrorsAreFatal
	ended    bool                 // the rank's program has returned
	unused   []byte               // memory for a result that nobody wants
	calls    calls                // nil: not noted
	comms    []weak.Pointer[Comm] // communicators that were made, for those who explain what went wrong
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

// made notes a communicator that was made, and forgets those that nobody has any more.
func (o *own) made(c *Comm) {
	if len(o.comms) == cap(o.comms) {
		o.comms = slices.DeleteFunc(o.comms, func(p weak.Pointer[Comm]) bool { return p.Value() == nil })
	}
	o.comms = append(o.comms, weak.Make(c))
}

// communicator returns the one that has a context, if it was made and somebody has it.
func (o *own) communicator(context uint32) *Comm {
	for _, p := range o.comms {
		if c := p.Value(); c != nil && c.context == context {
			return c
		}
	}
	return nil
}
