package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
)

// This file has accesses that the machine carries out without the target's help: puts and gets of
// remote memory. Accumulates, and data in many small runs, are messages.
//
// The machine must not start an access before the target has granted the lock, and only the origin
// learns when the access is complete. Therefore the origin waits for locks, completes its accesses
// before it tells others that an epoch has ended, and carries out a fence as a flush of all
// accesses and a barrier.

// Limits on the runs of bytes of a direct access. An access with more runs is one message, unless
// the runs are long.
const (
	maxDirectRuns   = 64
	minLongRunBytes = 512
)

// directRun is a part of an access that is contiguous at the origin and at the target.
type directRun struct {
	offset int // in bytes, within the target's window memory
	bytes  []byte
}

// exposeMemory allows the machine to access the window's memory, and returns the key.
func (w *Window) exposeMemory() device.Key {
	m := w.comm.engine.ServiceMemory()
	if w.hasDirectAccess = w.sharedMemory != nil || m != nil; w.sharedMemory == nil && m != nil {
		w.memoryKey = m.Expose(w.memory)
	}
	return w.memoryKey
}

// withdrawMemory ends the exposure of the window's memory.
func (w *Window) withdrawMemory() {
	if w.hasDirectAccess && w.sharedMemory == nil {
		w.comm.engine.ServiceMemory().Withdraw(w.memoryKey)
	}
}

// accessDirectly makes the machine carry out a put or a get, and returns its operation. It returns
// nil if the access must be a message.
func (w *Window) accessDirectly(a *access, h *requestHeader) *engine.Op {
	if !w.hasDirectAccess || a.kind > getRequest || !w.collectRuns(a, h) {
		return nil
	}
	e, to, k := w.comm.engine, w.comm.jobRank(a.target), w.spanOf(a.target).memoryKey
	o := e.NewAccessOp()
	for i, x := range w.directRuns {
		if a.kind == putRequest {
			e.AddPut(o, to, k, x.offset, x.bytes)
		} else {
			e.AddGet(o, to, k, x.offset, x.bytes)
		}
		w.directRuns[i].bytes = nil
	}
	return o
}

// collectRuns stores the runs of an access in w.directRuns. It returns false if there are too many.
func (w *Window) collectRuns(a *access, h *requestHeader) bool {
	b := &a.origin
	if a.kind == getRequest {
		b = &a.result
	}
	w.directRuns = w.directRuns[:0]
	most := max(maxDirectRuns, h.size/minLongRunBytes)
	flat, ok := b.ContiguousBytes()
	if ok && h.layoutBytes == 0 {
		w.directRuns = append(w.directRuns, directRun{h.offset, flat})
		return true
	}
	var local [][]byte
	if ok {
		local = append(local, flat)
	} else {
		b.Runs(func(run []byte) { local = append(local, run) })
	}
	add := func(at, size int) bool {
		for size > 0 && len(w.directRuns) < most {
			n := min(size, len(local[0]))
			w.directRuns = append(w.directRuns, directRun{at, local[0][:n]})
			at, size = at+n, size-n
			if local[0] = local[0][n:]; len(local[0]) == 0 {
				local = local[1:]
			}
		}
		return size == 0
	}
	if h.layoutBytes == 0 {
		return add(h.offset, h.size)
	}
	fits := true
	a.targetType.RunsOfData(0, h.size, func(at, size int) bool {
		fits = add(h.offset+at, size)
		return fits
	})
	return fits
}
