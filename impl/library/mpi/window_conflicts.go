package mpi

import (
	"slices"
	"sync"
	"unsafe"
)

// This file finds conflicting accesses of programs that are checked strictly (MPI-3.1, section
// 11.7): of two accesses to one byte that are not ordered, both must be reads, or both accumulates
// by the same operation. An access is noted when it is made, and compared with those that cannot be
// complete: those between the same fences or in the same exposure, and with locks those that no
// flush or unlock has followed. Accesses of other ranks are known if they are in the same process,
// as all are on emulated machines. Local memory is compared with that of the rank's own accesses.
//
// Not noted are accesses in more than some thousand runs of bytes, and the ends of requests: the
// target of a get with a request, and local memory of any.

// maxConflictRuns is how many runs of bytes of an access are compared.
const maxConflictRuns = 1 << 12

// windowConflicts is what the ranks of one process note of a window.
type windowConflicts struct {
	mu        sync.Mutex
	users     int
	targets   map[int][]notedAccess // by rank
	exposures map[int]int           // how many have ended, by rank
}

// notedAccess is bytes of a rank's memory that an access reads or writes.
type notedAccess struct {
	byteSpan
	origin      int
	kind        requestKind
	op          *Op
	period      accessPeriod
	startEpoch  int  // which epoch of Start of the origin's it is
	isExclusive bool // an exclusive lock keeps other ranks away, even if the access has to wait for it
	describe    func() string
}

// byteSpan is bytes of a window, or of memory by their addresses.
type byteSpan struct{ from, to int }

func (a byteSpan) overlaps(b byteSpan) bool { return a.from < b.to && b.from < a.to }

// accessPeriod is accesses that are not ordered with each other.
type accessPeriod struct {
	kind   epoch // of locks: lockEpoch
	number int   // of the fence or the exposure
}

// localAccess is memory of the rank that an access of its own uses.
type localAccess struct {
	byteSpan
	target    int
	isWritten bool
	describe  func() string
}

// isRead reports whether an access leaves the target's memory as it is.
func (a *notedAccess) isRead() bool { return a.kind == getRequest || a.op == NoOp }

func (a *notedAccess) isAccumulate() bool {
	return a.kind >= accumulateRequest && a.kind <= compareRequest
}

// conflictsWith reports whether two accesses to one byte need an order. Accumulates of one rank
// have one, and a compare-and-swap is taken for the same operation as others.
func (a *notedAccess) conflictsWith(b *notedAccess) bool {
	switch {
	case a.isRead() && b.isRead(), a.origin != b.origin && (a.isExclusive || b.isExclusive):
		return false
	case a.isAccumulate() && b.isAccumulate():
		return a.op != b.op && a.origin != b.origin && a.op != nil && b.op != nil && a.op != NoOp && b.op != NoOp
	}
	return true
}

// startConflictChecks begins to look for conflicts.
func (w *Window) startConflictChecks() {
	if w.comm.engine.CheckMode() != CheckStrict {
		return
	}
	s, key := w.comm.state.processMemory, w.commKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.conflicts = s.conflicts[key]; w.conflicts == nil {
		w.conflicts = &windowConflicts{targets: map[int][]notedAccess{}, exposures: map[int]int{}}
		s.conflicts[key] = w.conflicts
	}
	w.conflicts.users++
}

// stopConflictChecks ends that.
func (w *Window) stopConflictChecks() {
	if w.conflicts == nil {
		return
	}
	s := w.comm.state.processMemory
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.conflicts.users--; w.conflicts.users == 0 {
		delete(s.conflicts, w.commKey())
	}
}

func (w *Window) commKey() commKey { return commKey{w.comm.context, w.comm.jobRank(0)} }

// checkConflicts fails if an access conflicts with another one, and notes it.
func (w *Window) checkConflicts(a *access, h *requestHeader) {
	if w.conflicts == nil {
		return
	}
	describe := w.comm.engine.DescribeCall()
	w.checkLocalConflicts(a, describe)
	x := w.conflicts
	x.mu.Lock()
	defer x.mu.Unlock()
	n := notedAccess{origin: w.comm.rank, kind: a.kind, op: a.op, describe: describe, period: accessPeriod{kind: lockEpoch}}
	switch w.origin.epoch {
	case lockEpoch:
		t := w.targetOf(a.target)
		n.isExclusive = t.lock == locked && t.exclusive
	case fenceEpoch:
		n.period = accessPeriod{fenceEpoch, w.origin.fenceCount}
	case startEpoch:
		n.period, n.startEpoch = accessPeriod{startEpoch, x.exposures[a.target]}, w.endedStartEpochs
	}
	known := x.targets[a.target]
	for i, span := range spansOf(a, h) {
		n.byteSpan = span
		for k := range known {
			y := &known[k]
			if y.period == n.period && (y.origin != n.origin || y.startEpoch == n.startEpoch) && y.overlaps(span) && n.conflictsWith(y) {
				from, to := max(y.from, span.from), min(y.to, span.to)
				w.comm.engine.Fail(ErrRMAConflict, "bytes %d to %d of the window's memory of rank %d are %s here and %s by %s, and nothing orders the two; --check=warn does not look for that",
					from, to, a.target, n.verb(), y.verb(), y.describe())
			}
		}
		if i >= maxConflictRuns {
			return
		}
		if !a.byRequest || a.kind == putRequest || a.kind == accumulateRequest {
			x.targets[a.target] = append(x.targets[a.target], n)
		}
	}
}

// verb says what an access does.
func (a *notedAccess) verb() string {
	switch {
	case a.isRead():
		return "read"
	case a.isAccumulate():
		return "combined"
	}
	return "written"
}

// spansOf returns the runs of bytes of an access, as far as they are compared.
func spansOf(a *access, h *requestHeader) (all []byteSpan) {
	if h.layoutBytes == 0 {
		return []byteSpan{{h.offset, h.offset + h.size}}
	}
	a.targetType.RunsOfData(0, h.size, func(at, size int) bool {
		all = append(all, byteSpan{h.offset + at, h.offset + at + size})
		return len(all) < maxConflictRuns
	})
	return all
}

// checkLocalConflicts fails if local memory of an access that is written is used by another one
// that is not complete.
func (w *Window) checkLocalConflicts(a *access, describe func() string) {
	var mine []localAccess
	add := func(b Buffer, written bool) {
		if b.Type == nil || a.kind == compareRequest && !written {
			return // a compare-and-swap has copied its data
		}
		b.Runs(func(run []byte) {
			if from := int(uintptr(unsafe.Pointer(unsafe.SliceData(run)))); len(mine) < maxConflictRuns && len(run) > 0 {
				mine = append(mine, localAccess{byteSpan{from, from + len(run)}, a.target, written, describe})
			}
		})
	}
	add(a.origin, false)
	add(a.result, true)
	for _, x := range mine {
		for _, y := range w.localAccesses {
			if x.overlaps(y.byteSpan) && (x.isWritten || y.isWritten) {
				w.comm.engine.Fail(ErrRMAConflict, "%d bytes of local memory are %s here and %s by %s, which is not complete; --check=warn does not look for that",
					min(x.to, y.to)-max(x.from, y.from), x.verb(), y.verb(), y.describe())
			}
		}
	}
	if !a.byRequest {
		w.localAccesses = append(w.localAccesses, mine...)
	}
}

func (x *localAccess) verb() string {
	if x.isWritten {
		return "written"
	}
	return "read"
}

// forgetLocal forgets local memory of accesses to a rank, or to all: they are complete here.
func (w *Window) forgetLocal(target int) {
	if w.conflicts != nil {
		w.localAccesses = slices.DeleteFunc(w.localAccesses, func(x localAccess) bool { return target == AnySource || x.target == target })
	}
}

// forgetAccesses forgets this rank's accesses with locks to a rank, or to all: they are complete,
// or only gets are.
func (w *Window) forgetAccesses(target int, onlyGets bool) {
	w.forgetMatching(func(rank int, n *notedAccess) bool {
		return (target == AnySource || rank == target) && n.origin == w.comm.rank && n.period.kind == lockEpoch && (!onlyGets || n.kind == getRequest)
	})
}

// forgetFence forgets accesses before the last fence.
func (w *Window) forgetFence(before int) {
	w.forgetMatching(func(target int, n *notedAccess) bool {
		return n.period.kind == fenceEpoch && n.period.number < before && (target == w.comm.rank || n.origin == w.comm.rank)
	})
}

// forgetExposure forgets accesses to this rank's memory while it was exposed.
func (w *Window) forgetExposure() {
	w.forgetMatching(func(target int, n *notedAccess) bool { return n.period.kind == startEpoch && target == w.comm.rank })
	if x := w.conflicts; x != nil {
		x.mu.Lock()
		x.exposures[w.comm.rank]++
		x.mu.Unlock()
	}
}

// forgetStarted forgets this rank's accesses since Start, if the end of their exposure is not seen
// because other ranks are in other processes.
func (w *Window) forgetStarted() {
	if w.endedStartEpochs++; w.conflicts == nil {
		return
	}
	s := w.comm.state.processMemory
	s.mu.Lock()
	users := w.conflicts.users
	s.mu.Unlock()
	if users < w.comm.size {
		w.forgetMatching(func(_ int, n *notedAccess) bool { return n.period.kind == startEpoch && n.origin == w.comm.rank })
	}
}

func (w *Window) forgetMatching(has func(target int, n *notedAccess) bool) {
	if x := w.conflicts; x != nil {
		x.mu.Lock()
		for target, all := range x.targets {
			x.targets[target] = slices.DeleteFunc(all, func(n notedAccess) bool { return has(target, &n) })
		}
		x.mu.Unlock()
	}
}
