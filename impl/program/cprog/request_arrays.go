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
	case x == nil, x.p != nil && x.p.idle:
		return s, false, true
	case x.p != nil:
		if done = x.p.test(); done {
			s = r.endOperation(at, x.p)
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
func (r *rank) endOperation(at uintptr, p *pending) mpi.Status {
	s := p.result()
	if p.isPersistent() {
		p.idle = true
	} else {
		r.removeRequest(at)
	}
	return s
}

// removeRequest ends the use of the request at an address.
func (r *rank) removeRequest(at uintptr) {
	h := *pointerAt[uintptr](at)
	storeAt(at, uintptr(requestNull))
	r.freeHandle(h)
}

// freeHandle ends the use of a request that is not the request of a message.
func (r *rank) freeHandle(h uintptr) {
	g := r.requests.get(kindRequest, h).p.g
	r.requests.remove(h)
	if g != nil {
		r.callback(g.free, g.extra)
	}
}

// hasCollectives reports whether a list has collective or generalized requests.
func (r *rank) hasCollectives(count, at uintptr) bool {
	if r.collectives == 0 {
		return false
	}
	for i := range int(count) {
		if x := r.requests.get(kindRequest, *pointerAt[uintptr](at + uintptr(i*pointer))); x != nil && x.p != nil {
			return true
		}
	}
	return false
}

// waitOne waits for the request at an address.
func (r *rank) waitOne(at uintptr) mpi.Status {
	q, x := r.request(at)
	if x != nil && x.p != nil {
		if x.p.idle {
			return mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
		}
		x.p.wait()
		return r.endOperation(at, x.p)
	}
	defer func() { r.storeRequest(at, q) }() // also where its message is an error: it is complete
	return q.Wait()
}

// waitEach waits for the requests of an array one by one. Its statuses are its own, since callbacks
// of generalized requests may wait, too.
func (r *rank) waitEach(at uintptr, n int) []mpi.Status {
	st := make([]mpi.Status, n)
	for i := range st {
		st[i] = r.waitOne(at + uintptr(i*pointer))
	}
	return st
}

// testMessage tests the request of a message, and stores what it has become.
func (r *rank) testMessage(at uintptr, q mpi.Request) (mpi.Status, bool) {
	defer func() { r.storeRequest(at, q) }()
	return q.Test()
}

// completeReady completes up to most requests of a list that are ready, and calls found for
// each. It returns how many requests were active.
func (r *rank) completeReady(count, at uintptr, most int, found func(i int, s mpi.Status)) (open int) {
	for i := range int(count) {
		s, there, done := r.completeRequest(at + uintptr(i*pointer))
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

// waitForReady calls completeReady until a request is complete.
func (r *rank) waitForReady(count, at uintptr, most int, found func(i int, s mpi.Status)) (open int) {
	for any := false; !any; {
		open = r.completeReady(count, at, most, func(i int, s mpi.Status) { any = true; found(i, s) })
		if open == 0 {
			break
		}
		if !any {
			r.yield()
		}
	}
	return open
}

// allComplete reports whether all operations of a list are complete, and leaves them.
func (r *rank) allComplete(count, at uintptr) bool {
	all := true
	for i := range int(count) {
		q, x := r.request(at + uintptr(i*pointer))
		switch {
		case x == nil, x.p != nil && x.p.idle:
		case x.p != nil:
			all = x.p.test() && all
		case q.IsActive():
			all = q.IsComplete() && all
		}
	}
	return all
}
