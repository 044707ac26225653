//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Requests: completion, persistent requests, cancellation.

func wait(r *rank, a args) { setStatus(a[1], r.waitOne(a[0])) }

func test(r *rank, a args) {
	q, x := r.request(a[0])
	if x != nil && x.p != nil {
		s, _, done := r.completeRequest(a[0])
		storeAt(a[1], intOfBool(done))
		if done {
			setStatus(a[2], s)
		}
		return
	}
	s, done := r.testMessage(a[0], q)
	storeAt(a[1], intOfBool(done))
	if done {
		setStatus(a[2], s)
	}
}

// message returns the request at an address. It must be the request of a message.
func (r *rank) message(at uintptr) (mpi.Request, *request) {
	q, x := r.request(at)
	switch {
	case x == nil:
		r.raiseError(mpi.ErrRequest, "the request is MPI_REQUEST_NULL")
	case x.p != nil:
		r.raiseError(mpi.ErrRequest, "the request is not that of one message")
	}
	return q, x
}

func requestFree(r *rank, a args) {
	q, x := r.request(a[0])
	switch {
	case x == nil:
		r.raiseError(mpi.ErrRequest, "the request is MPI_REQUEST_NULL")
	case x.p == nil:
		q.Free()
		r.storeRequest(a[0], q)
	case x.p.g != nil:
		if x.p.g.freed = true; x.p.done {
			r.removeRequest(a[0])
		}
		storeAt(a[0], uintptr(requestNull))
	case x.p.done:
		r.removeRequest(a[0])
	case x.p.idle:
		if x.p.partitions != nil {
			x.p.partitions.free()
		}
		r.removeRequest(a[0])
	default:
		r.raiseError(mpi.ErrRequest, "the operation of the request is not complete")
	}
}

func cancel(r *rank, a args) {
	if _, x := r.request(a[0]); x != nil && x.p != nil && x.p.g != nil {
		r.callback(x.p.g.cancel, x.p.g.extra, uintptr(intOfBool(x.p.done)))
		return
	}
	q, _ := r.message(a[0])
	q.Cancel()
}

func start(r *rank, a args) {
	if _, x := r.request(a[0]); x != nil && x.p != nil {
		x.begin()
		return
	}
	q, x := r.message(a[0])
	q.Start()
	x.q = q
}

func startall(r *rank, a args) {
	if r.hasCollectives(a[0], a[1]) {
		for i := range int(a[0]) {
			single := [16]uintptr{a[1] + uintptr(i*pointer)}
			start(r, &single)
		}
		return
	}
	q := r.requestList(a[0], a[1])
	for i := range q {
		if q[i].Null() {
			r.raiseError(mpi.ErrRequest, "request %d is MPI_REQUEST_NULL", i)
		}
	}
	mpi.StartAll(q)
	r.storeRequests(a[1], q)
}

const pointer = 8

// requestList returns the requests of an array. The next call overwrites the list.
func (r *rank) requestList(count, at uintptr) []mpi.Request {
	n := int(count)
	if n < 0 {
		r.raiseError(mpi.ErrCount, "%d requests: a count is not negative", n)
	}
	r.reqs = r.reqs[:0]
	for i := range n {
		q, _ := r.request(at + uintptr(i*pointer))
		r.reqs = append(r.reqs, q)
	}
	for len(r.statuses) < n {
		r.statuses = append(r.statuses, mpi.Status{})
		r.indices = append(r.indices, 0)
	}
	return r.reqs
}

func (r *rank) storeRequests(at uintptr, q []mpi.Request) {
	for i := range q {
		r.storeRequest(at+uintptr(i*pointer), q[i])
	}
}

func statusAt(at uintptr, i int) uintptr {
	if at == 0 {
		return 0
	}
	return at + uintptr(i)*32
}

// storeFailedStatuses stores the requests and statuses of a list if one of them has failed. The
// statuses say which.
func (r *rank) storeFailedStatuses(requests uintptr, q []mpi.Request, statuses uintptr) {
	if v := recover(); v != nil {
		if e, ok := v.(*mpi.Error); ok {
			failed := -1 // the last that this call has completed, if its message was not what it wants
			for i := range q {
				if q[i].Null() && *pointerAt[uintptr](requests + uintptr(i*pointer)) != requestNull && (e.Class == mpi.ErrTruncate || e.Class == mpi.ErrType) {
					failed = i
				}
			}
			r.storeRequests(requests, q)
			r.now.errorInStatuses = true
			if statuses != 0 {
				for i := range q {
					x := pointerAt[status](statusAt(statuses, i))
					if x.err = 0; !q[i].Null() {
						x.err = codes[mpi.ErrPending]
					}
					if i == failed {
						x.err = codes[e.Class]
					}
				}
			}
		}
		panic(v)
	}
}

func waitall(r *rank, a args) {
	if r.hasCollectives(a[0], a[1]) {
		for i := range int(a[0]) {
			setStatus(statusAt(a[2], i), r.waitOne(a[1]+uintptr(i*pointer)))
		}
		return
	}
	q := r.requestList(a[0], a[1])
	st := r.statuses[:len(q)]
	if a[2] == 0 {
		st = nil
	}
	defer r.storeFailedStatuses(a[1], q, a[2])
	mpi.WaitAll(q, st)
	r.storeRequests(a[1], q)
	for i := range st {
		setStatus(statusAt(a[2], i), st[i])
	}
}

func testall(r *rank, a args) {
	if r.hasCollectives(a[0], a[1]) {
		done := r.allComplete(a[0], a[1])
		if storeAt(a[2], intOfBool(done)); done {
			for i := range int(a[0]) {
				setStatus(statusAt(a[3], i), r.waitOne(a[1]+uintptr(i*pointer)))
			}
		}
		return
	}
	q := r.requestList(a[0], a[1])
	st := r.statuses[:len(q)]
	defer r.storeFailedStatuses(a[1], q, a[3])
	done := mpi.TestAll(q, st)
	storeAt(a[2], intOfBool(done))
	if !done {
		return
	}
	r.storeRequests(a[1], q)
	for i := range st {
		setStatus(statusAt(a[3], i), st[i])
	}
}

func waitany(r *rank, a args) {
	if r.hasCollectives(a[0], a[1]) {
		storeAt(a[2], int32(undefined))
		r.waitForReady(a[0], a[1], 1, func(i int, s mpi.Status) {
			storeAt(a[2], int32(i))
			setStatus(a[3], s)
		})
		return
	}
	q := r.requestList(a[0], a[1])
	i, s := mpi.WaitAny(q)
	r.any(q, i, s, a[1], a[2], a[3])
}

func testany(r *rank, a args) {
	if r.hasCollectives(a[0], a[1]) {
		found := false
		storeAt(a[2], int32(undefined))
		open := r.completeReady(a[0], a[1], 1, func(i int, s mpi.Status) {
			found = true
			storeAt(a[2], int32(i))
			setStatus(a[4], s)
		})
		storeAt(a[3], intOfBool(found || open == 0))
		return
	}
	q := r.requestList(a[0], a[1])
	i, s, done := mpi.TestAny(q)
	storeAt(a[3], intOfBool(done))
	if done {
		r.any(q, i, s, a[1], a[2], a[4])
	} else {
		storeAt(a[2], int32(undefined))
	}
}

func completeSome(waits bool, f func(q []mpi.Request, index []int, st []mpi.Status) int) handler {
	return func(r *rank, a args) {
		if r.hasCollectives(a[0], a[1]) {
			n, sweep := 0, r.completeReady
			if waits {
				sweep = r.waitForReady
			}
			open := sweep(a[0], a[1], -1, func(i int, s mpi.Status) {
				storeAt(a[3]+uintptr(4*n), int32(i))
				setStatus(statusAt(a[4], n), s)
				n++
			})
			if open == 0 {
				n = undefined
			}
			storeAt(a[2], int32(n))
			return
		}
		q := r.requestList(a[0], a[1])
		n := f(q, r.indices, r.statuses)
		if n < 0 {
			storeAt(a[2], int32(undefined))
			return
		}
		storeAt(a[2], int32(n))
		for k, i := range r.indices[:n] {
			storeAt(a[3]+uintptr(4*k), int32(i))
			r.storeRequest(a[1]+uintptr(i*pointer), q[i])
			setStatus(statusAt(a[4], k), r.statuses[k])
		}
	}
}
