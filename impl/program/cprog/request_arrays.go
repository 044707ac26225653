//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Completion of arrays that mix requests of messages with others.

// completeRequest completes the request at an address if possible. there is true if the request was
// active, and done if it is complete.
func (r *rank) completeRequest(at uintptr) (s mpi.Status, there, done bool) {
	q, x := r.request(at)
	s = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	switch {
	case x == nil, x.pending != nil && x.pending.isInactive:
		return s, false, true
	case x.pending != nil:
		if done = x.pending.test(); done {
			s = r.endOperation(at, x.pending)
		}
		return s, true, done
	case !q.IsActive():
		return s, false, true
	}
	s, done = r.testMessage(at, q)
	return s, true, done
}

// endOperation returns the status of a complete operation. It removes the request at the address,
// or makes it inactive.
func (r *rank) endOperation(at uintptr, p *pendingOperation) mpi.Status {
	s := p.completedStatus()
	if p.isPersistent() {
		p.isInactive = true
	} else {
		r.removeRequest(at)
	}
	return s
}

// removeRequest removes the request at an address and sets it to MPI_REQUEST_NULL.
func (r *rank) removeRequest(at uintptr) {
	h := *pointerAt[uintptr](at)
	storeAt(at, uintptr(requestNull))
	r.freeOperation(h)
}

// freeOperation removes a request that is not for a single message.
func (r *rank) freeOperation(h uintptr) {
	g := r.requests.get(kindRequest, h).pending.generalized
	r.requests.remove(h)
	if g != nil {
		r.callback(g.free, g.extraState)
	}
}

// hasOperationRequests reports whether a list has collective, generalized or partitioned requests.
func (r *rank) hasOperationRequests(count, at uintptr) bool {
	if r.startedCollectives == 0 {
		return false
	}
	for i := range int(count) {
		if x := r.requests.get(kindRequest, *pointerAt[uintptr](at + uintptr(i*pointerBytes))); x != nil && x.pending != nil {
			return true
		}
	}
	return false
}

// waitRequest waits for the request at an address.
func (r *rank) waitRequest(at uintptr) mpi.Status {
	q, x := r.request(at)
	if x != nil && x.pending != nil {
		if x.pending.isInactive {
			return mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
		}
		x.pending.wait()
		return r.endOperation(at, x.pending)
	}
	defer func() { r.storeRequest(at, q) }() // also after an error of the message: the request is complete
	return q.Wait()
}

// waitEachRequest waits for the requests of an array one by one. It returns new statuses, because
// callbacks of generalized requests may wait, too.
func (r *rank) waitEachRequest(at uintptr, n int) []mpi.Status {
	st := make([]mpi.Status, n)
	for i := range st {
		st[i] = r.waitRequest(at + uintptr(i*pointerBytes))
	}
	return st
}

// testMessage tests the request of a message and stores its new state.
func (r *rank) testMessage(at uintptr, q mpi.Request) (mpi.Status, bool) {
	defer func() { r.storeRequest(at, q) }()
	return q.Test()
}

// completeReadyRequests completes up to most requests of a list that are ready, and calls found for
// each. It returns the number of active requests.
func (r *rank) completeReadyRequests(count, at uintptr, most int, found func(i int, s mpi.Status)) (open int) {
	for i := range int(count) {
		s, there, done := r.completeRequest(at + uintptr(i*pointerBytes))
		if there {
			open++
		}
		if there && done {
			found(i, s)
			if most--; most == 0 {
				break
			}
		}
	}
	return open
}

// waitForReadyRequests calls completeReadyRequests until at least one request is complete.
func (r *rank) waitForReadyRequests(count, at uintptr, most int, found func(i int, s mpi.Status)) (open int) {
	for any := false; !any; {
		open = r.completeReadyRequests(count, at, most, func(i int, s mpi.Status) { any = true; found(i, s) })
		if open == 0 {
			break
		}
		if !any {
			r.yieldThread()
		}
	}
	return open
}

// allRequestsComplete reports whether all operations of a list are complete, without completing
// their requests.
func (r *rank) allRequestsComplete(count, at uintptr) bool {
	all := true
	for i := range int(count) {
		q, x := r.request(at + uintptr(i*pointerBytes))
		switch {
		case x == nil, x.pending != nil && x.pending.isInactive:
		case x.pending != nil:
			all = x.pending.test() && all
		case q.IsActive():
			all = q.IsComplete() && all
		}
	}
	return all
}
