//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Waiting for arrays that mix requests of messages with others.

// completeRequest completes the request at an address if it can be. It reports whether there was
// one to wait for, and whether it is complete.
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

// endOperation returns the status of the complete operation of a request at an address, and ends
// the use of the request, or leaves it idle.
func (r *rank) endOperation(at uintptr, p *pendingOperation) mpi.Status {
	s := p.completedStatus()
	if p.isPersistent() {
		p.isInactive = true
	} else {
		r.removeRequest(at)
	}
	return s
}

// removeRequest ends the use of the request at an address.
func (r *rank) removeRequest(at uintptr) {
	h := *pointerAt[uintptr](at)
	storeAt(at, uintptr(requestNull))
	r.freeOperation(h)
}

// freeOperation ends the use of a request that is not the request of a message.
func (r *rank) freeOperation(h uintptr) {
	g := r.requests.get(kindRequest, h).pending.generalized
	r.requests.remove(h)
	if g != nil {
		r.callback(g.free, g.extraState)
	}
}

// hasOperationRequests reports whether a list has collective or generalized requests.
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
	defer func() { r.storeRequest(at, q) }() // also where its message is an error: it is complete
	return q.Wait()
}

// waitEachRequest waits for the requests of an array one by one. Its statuses are its own, since
// callbacks of generalized requests may wait, too.
func (r *rank) waitEachRequest(at uintptr, n int) []mpi.Status {
	st := make([]mpi.Status, n)
	for i := range st {
		st[i] = r.waitRequest(at + uintptr(i*pointerBytes))
	}
	return st
}

// testMessage tests the request of a message, and stores what it has become.
func (r *rank) testMessage(at uintptr, q mpi.Request) (mpi.Status, bool) {
	defer func() { r.storeRequest(at, q) }()
	return q.Test()
}

// completeReadyRequests completes up to most requests of a list that are ready, and calls found for
// each. It returns how many requests were active.
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

// waitForReadyRequests calls completeReadyRequests until a request is complete.
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

// allRequestsComplete reports whether all operations of a list are complete, and leaves them.
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
