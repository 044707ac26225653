//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Requests: completion, persistent requests, cancellation.

func wait(r *rank, a args) { setStatus(a[1], r.waitOne(a[0])) }

func test(r *rank, a args) {
	q, x := r.request(a[0])
	if x != nil && x.p != nil {
		s, _, done := r.finished(a[0])
		set(a[1], truth(done))
		if done {
			setStatus(a[2], s)
		}
		return
	}
	s, done := q.Test()
	set(a[1], truth(done))
	if done {
		r.keep(a[0], q)
		setStatus(a[2], s)
	}
}

// message returns the request at an address, which is one of a message.
func (r *rank) message(at uintptr) (mpi.Request, *request) {
	q, x := r.request(at)
	switch {
	case x == nil:
		r.fail(mpi.ErrRequest, "the request is MPI_REQUEST_NULL")
	case x.p != nil:
		r.fail(mpi.ErrRequest, "the request is a collective operation")
	}
	return q, x
}

func requestFree(r *rank, a args) {
	if _, x := r.request(a[0]); x != nil && x.p != nil && x.p.g != nil {
		if x.p.g.freed = true; x.p.done {
			r.drop(a[0])
		}
		set(a[0], uintptr(requestNull))
		return
	}
	q, _ := r.message(a[0])
	q.Free()
	r.keep(a[0], q)
}

func cancel(r *rank, a args) {
	if _, x := r.request(a[0]); x != nil && x.p != nil && x.p.g != nil {
		r.callback(x.p.g.cancel, x.p.g.extra, uintptr(truth(x.p.done)))
		return
	}
	q, _ := r.message(a[0])
	q.Cancel()
}

func start(r *rank, a args) {
	q, x := r.message(a[0])
	q.Start()
	x.q = q
}

// getStatus says whether a request is complete, and leaves it.
func requestGetStatus(r *rank, a args) {
	q, x := r.request(uintptr(unsafe.Pointer(&a[0])))
	s, done := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, true
	switch {
	case x == nil:
	case x.p != nil:
		if done = x.p.test(); done {
			s = x.p.result()
		}
	case q.Active():
		if done = q.Complete(); done {
			s = q.Status()
		}
	}
	set(a[1], truth(done))
	if done {
		setStatus(a[2], s)
	}
}

func startall(r *rank, a args) {
	q := r.list(a[0], a[1])
	for i := range q {
		if q[i].Null() {
			r.fail(mpi.ErrRequest, "request %d is MPI_REQUEST_NULL", i)
		}
	}
	mpi.StartAll(q)
	r.keepAll(a[1], q)
}

const pointer = 8

// list returns the requests of an array. It is for one call.
func (r *rank) list(count, at uintptr) []mpi.Request {
	n := int(count)
	if n < 0 {
		r.fail(mpi.ErrCount, "%d requests: a count is not negative", n)
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

func (r *rank) keepAll(at uintptr, q []mpi.Request) {
	for i := range q {
		r.keep(at+uintptr(i*pointer), q[i])
	}
}

func statusAt(at uintptr, i int) uintptr {
	if at == 0 {
		return 0
	}
	return at + uintptr(i)*32
}

// ended stores the requests and statuses of a list. If one of them has failed, the statuses say
// which.
func (r *rank) inStatus(requests uintptr, q []mpi.Request, statuses uintptr) {
	if v := recover(); v != nil {
		if _, ok := v.(*mpi.Error); ok {
			r.keepAll(requests, q)
			r.now.pending = true
			if statuses != 0 {
				for i := range q {
					x := ptr[status](statusAt(statuses, i))
					if x.err = 0; !q[i].Null() {
						x.err = codes[mpi.ErrPending]
					}
				}
			}
		}
		panic(v)
	}
}

func waitall(r *rank, a args) {
	if r.mixed(a[0], a[1]) {
		for i := range int(a[0]) {
			setStatus(statusAt(a[2], i), r.waitOne(a[1]+uintptr(i*pointer)))
		}
		return
	}
	q := r.list(a[0], a[1])
	st := r.statuses[:len(q)]
	if a[2] == 0 {
		st = nil
	}
	defer r.inStatus(a[1], q, a[2])
	mpi.WaitAll(q, st)
	r.keepAll(a[1], q)
	for i := range st {
		setStatus(statusAt(a[2], i), st[i])
	}
}

func testall(r *rank, a args) {
	if r.mixed(a[0], a[1]) {
		done := r.allReady(a[0], a[1])
		if set(a[2], truth(done)); done {
			for i := range int(a[0]) {
				setStatus(statusAt(a[3], i), r.waitOne(a[1]+uintptr(i*pointer)))
			}
		}
		return
	}
	q := r.list(a[0], a[1])
	st := r.statuses[:len(q)]
	defer r.inStatus(a[1], q, a[3])
	done := mpi.TestAll(q, st)
	set(a[2], truth(done))
	if !done {
		return
	}
	r.keepAll(a[1], q)
	for i := range st {
		setStatus(statusAt(a[3], i), st[i])
	}
}

func waitany(r *rank, a args) {
	if r.mixed(a[0], a[1]) {
		set(a[2], int32(undefined))
		r.sweepUntil(a[0], a[1], 1, func(i int, s mpi.Status) {
			set(a[2], int32(i))
			setStatus(a[3], s)
		})
		return
	}
	q := r.list(a[0], a[1])
	i, s := mpi.WaitAny(q)
	r.any(q, i, s, a[1], a[2], a[3])
}

func testany(r *rank, a args) {
	if r.mixed(a[0], a[1]) {
		found := false
		set(a[2], int32(undefined))
		open := r.sweep(a[0], a[1], 1, func(i int, s mpi.Status) {
			found = true
			set(a[2], int32(i))
			setStatus(a[4], s)
		})
		set(a[3], truth(found || open == 0))
		return
	}
	q := r.list(a[0], a[1])
	i, s, done := mpi.TestAny(q)
	set(a[3], truth(done))
	if done {
		r.any(q, i, s, a[1], a[2], a[4])
	} else {
		set(a[2], int32(undefined))
	}
}

func some(waits bool, f func(q []mpi.Request, index []int, st []mpi.Status) int) handler {
	return func(r *rank, a args) {
		if r.mixed(a[0], a[1]) {
			n, sweep := 0, r.sweep
			if waits {
				sweep = r.sweepUntil
			}
			open := sweep(a[0], a[1], -1, func(i int, s mpi.Status) {
				set(a[3]+uintptr(4*n), int32(i))
				setStatus(statusAt(a[4], n), s)
				n++
			})
			if open == 0 {
				n = undefined
			}
			set(a[2], int32(n))
			return
		}
		q := r.list(a[0], a[1])
		n := f(q, r.indices, r.statuses)
		if n < 0 {
			set(a[2], int32(undefined))
			return
		}
		set(a[2], int32(n))
		for k, i := range r.indices[:n] {
			set(a[3]+uintptr(4*k), int32(i))
			r.keep(a[1]+uintptr(i*pointer), q[i])
			setStatus(statusAt(a[4], k), r.statuses[k])
		}
	}
}
