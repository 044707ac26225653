//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"math"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Generalized requests.

// generalizedRequest has the program's functions for a generalized request, and their argument.
type generalizedRequest struct {
	query, free, cancel, extraState uintptr
	freed                           bool // by MPI_Request_free before it was complete
}

func grequestStart(r *rank, a args) {
	r.startedCollectives++ // request lists are now processed one by one
	(&pendingOperation{rank: r, generalized: &generalizedRequest{query: a[0], free: a[1], cancel: a[2], extraState: a[3]}}).storeHandle(a[4])
}

// waitAddress is the address on which threads wait for the operation.
func (p *pendingOperation) waitAddress() uintptr { return uintptr(unsafe.Pointer(p)) }

// awaitThread waits until another thread of the rank has completed a generalized request.
func (r *rank) awaitThread(p *pendingOperation) {
	t := r.current
	for !p.isComplete {
		t.address, t.function, t.caller = p.waitAddress(), r.functionName(), r.currentCall.callerAddress
		r.waitForAddress(noWakeTime)
	}
}

func grequestComplete(r *rank, a args) {
	x := r.requests.get(kindRequest, a[0])
	if x == nil || x.pending == nil || x.pending.generalized == nil {
		r.raiseError(mpi.ErrRequest, "the request is not a generalized request")
	}
	p := x.pending
	r.wakeThreads(p.waitAddress(), math.MaxInt)
	if p.isComplete = true; p.generalized.freed {
		r.freeOperation(a[0])
	}
}
