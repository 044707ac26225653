package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
)

// This file has accesses that the machine carries out: puts and gets of remote memory, without the
// help of the rank whose memory it is. Accumulates, and data in many small runs, are messages.
//
// An access by the machine must not start before its target has granted the lock, and its end is
// known at its origin alone. So locks are waited for, the end of an epoch waits for the accesses
// before it tells others, and a fence is a flush of all accesses and a barrier.

// runs of bytes of an access by the machine, at most: more are one message, unless they are long.
const (
	maxDirectRuns = 64
	minLongRun    = 512
)

// directRun is bytes of an access that lie in one run at the origin and at the target.
type directRun struct {
	offset int // in the window
	bytes  []byte
}

// expose lets the machine access the window's memory, and returns the key.
func (w *Window) expose() device.Key {
	m := w.c.e.ServiceMemory()
	if w.direct = w.shared != nil || m != nil; w.shared == nil && m != nil {
		w.key = m.Expose(w.memory)
	}
	return w.key
}

// withdraw ends that.
func (w *Window) withdraw() {
	if w.direct && w.shared == nil {
		w.c.e.ServiceMemory().Withdraw(w.key)
	}
}

// accessMemory lets the machine carry out a put or a get, and returns its operation; nil: the
// access has to be a message.
func (w *Window) accessMemory(a *access, h *requestHeader) *engine.Op {
	if !w.direct || a.kind > getRequest || !w.collectRuns(a, h) {
		return nil
	}
	e, to, k := w.c.e, w.c.jobRank(a.target), w.spanOf(a.target).key
	o := e.NewAccessOp()
	for i, x := range w.runs {
		if a.kind == putRequest {
			e.AddPut(o, to, k, x.offset, x.bytes)
		} else {
			e.AddGet(o, to, k, x.offset, x.bytes)
		}
		w.runs[i].bytes = nil
	}
	return o
}

// collectRuns leaves the runs of an access in w.runs, and reports false if they are too many.
func (w *Window) collectRuns(a *access, h *requestHeader) bool {
	b := &a.origin
	if a.kind == getRequest {
		b = &a.result
	}
	w.runs = w.runs[:0]
	most := max(maxDirectRuns, h.size/minLongRun)
	flat, ok := b.ContiguousBytes()
	if ok && h.layout == 0 {
		w.runs = append(w.runs, directRun{h.offset, flat})
		return true
	}
	var local [][]byte
	if ok {
		local = append(local, flat)
	} else {
		b.Runs(func(run []byte) { local = append(local, run) })
	}
	add := func(at, size int) bool {
		for size > 0 && len(w.runs) < most {
			n := min(size, len(local[0]))
			w.runs = append(w.runs, directRun{at, local[0][:n]})
			at, size = at+n, size-n
			if local[0] = local[0][n:]; len(local[0]) == 0 {
				local = local[1:]
			}
		}
		return size == 0
	}
	if h.layout == 0 {
		return add(h.offset, h.size)
	}
	fits := true
	a.of.RunsOfData(0, h.size, func(at, size int) bool {
		fits = add(h.offset+at, size)
		return fits
	})
	return fits
}
