//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"math"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Generalized requests.

// generalized is an operation of the program's own: its functions and their argument.
type generalized struct {
	query, free, cancel, extra uintptr
	freed                      bool // by MPI_Request_free, before it was complete
}

func grequestStart(r *rank, a args) {
	r.collectives++ // lists are looked at one by one
	(&pending{r: r, g: &generalized{query: a[0], free: a[1], cancel: a[2], extra: a[3]}}).storeHandle(a[4])
}

// address stands for the operation where threads wait for an address.
func (p *pending) address() uintptr { return uintptr(unsafe.Pointer(p)) }

// awaitThread waits until another thread of the rank has completed a generalized request.
func (r *rank) awaitThread(p *pending) {
	t := r.current
	for !p.done {
		t.address, t.function, t.caller = p.address(), r.name(), r.now.caller
		r.waitForAddress(never)
	}
}

func grequestComplete(r *rank, a args) {
	x := r.requests.get(kindRequest, a[0])
	if x == nil || x.p == nil || x.p.g == nil {
		r.raiseError(mpi.ErrRequest, "the request is not a generalized request")
	}
	p := x.p
	r.wake(p.address(), math.MaxInt)
	if p.done = true; p.g.freed {
		r.freeHandle(a[0])
	}
}
