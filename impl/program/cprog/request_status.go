//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Statuses of requests without completing them.

// peekRequest reports whether the request with a handle is active and whether it is complete, with
// its status. An inactive request is complete.
func (r *rank) peekRequest(h uintptr) (s mpi.Status, active, done bool) {
	q, x := r.requestOf(h)
	s, done = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, true
	switch {
	case x == nil, x.pending != nil && x.pending.isInactive:
	case x.pending != nil:
		active = true
		if done = x.pending.test(); done {
			s = x.pending.completedStatus()
		}
	case q.IsActive():
		active = true
		if done = q.IsComplete(); done {
			s = q.Status()
		}
	}
	return s, active, done
}

func requestGetStatus(r *rank, a args) {
	s, _, done := r.peekRequest(a[0])
	if storeAt(a[1], intOfBool(done)); done {
		storeStatus(a[2], s)
	}
}

func requestGetStatusAll(r *rank, a args) {
	all, done := sliceAt[uintptr](a[1], r.checkedCount(a[0])), true
	for _, h := range all {
		_, _, complete := r.peekRequest(h)
		done = done && complete
	}
	if storeAt(a[2], intOfBool(done)); done {
		for i, h := range all {
			s, _, _ := r.peekRequest(h)
			storeStatus(statusAt(a[3], i), s)
		}
	}
}

func requestGetStatusAny(r *rank, a args) {
	open := false
	for i, h := range sliceAt[uintptr](a[1], r.checkedCount(a[0])) {
		s, active, done := r.peekRequest(h)
		if active && done {
			storeAt(a[2], int32(i))
			storeAt(a[3], int32(1))
			storeStatus(a[4], s)
			return
		}
		open = open || active
	}
	storeAt(a[2], int32(undefined))
	if storeAt(a[3], intOfBool(!open)); !open {
		storeStatus(a[4], mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag})
	}
}

func requestGetStatusSome(r *rank, a args) {
	n, open := 0, false
	for i, h := range sliceAt[uintptr](a[1], r.checkedCount(a[0])) {
		s, active, done := r.peekRequest(h)
		if active && done {
			storeAt(a[3]+uintptr(4*n), int32(i))
			storeStatus(statusAt(a[4], n), s)
			n++
		}
		open = open || active
	}
	if !open {
		n = undefined
	}
	storeAt(a[2], int32(n))
}
