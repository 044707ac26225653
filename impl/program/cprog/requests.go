//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Requests: completion, persistent requests, cancellation.

func wait(r *rank, a args) { storeStatusOrFail(a[1], r.waitRequest(a[0])) }

func test(r *rank, a args) {
	var s mpi.Status
	var done bool
	if q, x := r.request(a[0]); x != nil && x.pending != nil {
		s, _, done = r.completeRequest(a[0])
	} else {
		s, done = r.testMessage(a[0], q)
	}
	if storeAt(a[1], intOfBool(done)); done {
		storeStatusOrFail(a[2], s)
	}
}

// messageRequestAt returns the request at an address, and fails unless it is for a message.
func (r *rank) messageRequestAt(at uintptr) (mpi.Request, *request) {
	q, x := r.request(at)
	switch {
	case x == nil:
		r.raiseError(mpi.ErrRequest, "the request is MPI_REQUEST_NULL")
	case x.pending != nil:
		r.raiseError(mpi.ErrRequest, "the request is not that of one message")
	}
	return q, x
}

func requestFree(r *rank, a args) {
	q, x := r.request(a[0])
	switch {
	case x == nil:
		r.raiseError(mpi.ErrRequest, "the request is MPI_REQUEST_NULL")
	case x.pending == nil:
		q.Free()
		r.storeRequest(a[0], q)
	case x.pending.generalized != nil:
		if x.pending.generalized.freed = true; x.pending.isComplete {
			r.removeRequest(a[0])
		}
		storeAt(a[0], uintptr(requestNull))
	case x.pending.isComplete:
		r.removeRequest(a[0])
	case x.pending.isInactive:
		if x.pending.partitioned != nil {
			x.pending.partitioned.freeDescription()
		}
		r.removeRequest(a[0])
	default:
		r.raiseError(mpi.ErrRequest, "the operation of the request is not complete")
	}
}

func cancel(r *rank, a args) {
	if _, x := r.request(a[0]); x != nil && x.pending != nil && x.pending.generalized != nil {
		r.callback(x.pending.generalized.cancel, x.pending.generalized.extraState, uintptr(intOfBool(x.pending.isComplete)))
		return
	}
	q, _ := r.messageRequestAt(a[0])
	q.Cancel()
}

func start(r *rank, a args) {
	if _, x := r.request(a[0]); x != nil && x.pending != nil {
		x.begin()
		return
	}
	q, x := r.messageRequestAt(a[0])
	q.Start()
	x.messageRequest = q
}

func startall(r *rank, a args) {
	if r.hasOperationRequests(a[0], a[1]) {
		for i := range int(a[0]) {
			single := [16]uintptr{a[1] + uintptr(i*pointerBytes)}
			start(r, &single)
		}
		return
	}
	q := r.requestList(a[0], a[1])
	for i := range q {
		if q[i].IsNull() {
			r.raiseError(mpi.ErrRequest, "request %d is MPI_REQUEST_NULL", i)
		}
	}
	mpi.StartAll(q)
	r.storeRequests(a[1], q)
}

const pointerBytes = 8

// requestList returns the requests of an array. The next call overwrites the list.
func (r *rank) requestList(count, at uintptr) []mpi.Request {
	n := int(count)
	if n < 0 {
		r.raiseError(mpi.ErrCount, "%d requests: a count is not negative", n)
	}
	r.requestBuffer = r.requestBuffer[:0]
	for i := range n {
		q, _ := r.request(at + uintptr(i*pointerBytes))
		r.requestBuffer = append(r.requestBuffer, q)
	}
	for len(r.statusBuffer) < n {
		r.statusBuffer = append(r.statusBuffer, mpi.Status{})
		r.indexBuffer = append(r.indexBuffer, 0)
	}
	return r.requestBuffer
}

func (r *rank) storeRequests(at uintptr, q []mpi.Request) {
	for i := range q {
		r.storeRequest(at+uintptr(i*pointerBytes), q[i])
	}
}

func statusAt(at uintptr, i int) uintptr {
	if at == 0 {
		return 0
	}
	return at + uintptr(i)*32
}

func waitall(r *rank, a args) {
	q := r.requestList(a[0], a[1])
	st := r.statusBuffer[:len(q)]
	if r.hasOperationRequests(a[0], a[1]) {
		st = r.waitEachRequest(a[1], len(q))
	} else {
		mpi.WaitAll(q, st)
		r.storeRequests(a[1], q)
	}
	r.storeStatusesOrFail(a[2], st)
}

func testall(r *rank, a args) {
	q := r.requestList(a[0], a[1])
	st := r.statusBuffer[:len(q)]
	var done bool
	if r.hasOperationRequests(a[0], a[1]) {
		if done = r.allRequestsComplete(a[0], a[1]); done {
			st = r.waitEachRequest(a[1], len(q))
		}
	} else if done = mpi.TestAll(q, st); done {
		r.storeRequests(a[1], q)
	}
	if storeAt(a[2], intOfBool(done)); done {
		r.storeStatusesOrFail(a[3], st)
	}
}

func waitany(r *rank, a args) {
	if r.hasOperationRequests(a[0], a[1]) {
		s := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
		storeAt(a[2], int32(undefined))
		r.waitForReadyRequests(a[0], a[1], 1, func(i int, found mpi.Status) {
			storeAt(a[2], int32(i))
			s = found
		})
		storeStatusOrFail(a[3], s)
		return
	}
	q := r.requestList(a[0], a[1])
	i, s := mpi.WaitAny(q)
	r.storeCompleted(q, i, a[1], a[2])
	storeStatusOrFail(a[3], s)
}

func testany(r *rank, a args) {
	s, done := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, false
	storeAt(a[2], int32(undefined))
	if r.hasOperationRequests(a[0], a[1]) {
		open := r.completeReadyRequests(a[0], a[1], 1, func(i int, found mpi.Status) {
			done = true
			storeAt(a[2], int32(i))
			s = found
		})
		done = done || open == 0
	} else {
		var i int
		q := r.requestList(a[0], a[1])
		if i, s, done = mpi.TestAny(q); done {
			r.storeCompleted(q, i, a[1], a[2])
		}
	}
	if storeAt(a[3], intOfBool(done)); done {
		storeStatusOrFail(a[4], s)
	}
}

// storeCompleted stores the index of the completed request of a list, and its new state. A negative
// index says that no request was active.
func (r *rank) storeCompleted(q []mpi.Request, i int, requests, index uintptr) {
	if i < 0 {
		storeAt(index, int32(undefined))
		return
	}
	storeAt(index, int32(i))
	r.storeRequest(requests+uintptr(i*pointerBytes), q[i])
}

func completeSomeHandler(waits bool, f func(q []mpi.Request, index []int, st []mpi.Status) int) handler {
	return func(r *rank, a args) {
		n := 0
		q := r.requestList(a[0], a[1])
		index, st := r.indexBuffer, r.statusBuffer
		if r.hasOperationRequests(a[0], a[1]) {
			index, st = make([]int, len(q)), make([]mpi.Status, len(q))
			sweep := r.completeReadyRequests
			if waits {
				sweep = r.waitForReadyRequests
			}
			open := sweep(a[0], a[1], -1, func(i int, s mpi.Status) {
				index[n], st[n] = i, s
				n++
			})
			if open == 0 {
				n = -1
			}
		} else if n = f(q, index, st); n > 0 {
			for _, i := range index[:n] {
				r.storeRequest(a[1]+uintptr(i*pointerBytes), q[i])
			}
		}
		if n < 0 {
			storeAt(a[2], int32(undefined))
			return
		}
		storeAt(a[2], int32(n))
		for k, i := range index[:n] {
			storeAt(a[3]+uintptr(4*k), int32(i))
		}
		r.storeStatusesOrFail(a[4], st[:n])
	}
}
