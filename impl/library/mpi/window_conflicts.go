package mpi

import (
	"slices"
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
)

// This file detects conflicting accesses in programs that are checked strictly (MPI-3.1, section
// 11.7). Two accesses to the same byte that are not ordered must both be reads, or both be
// accumulates with the same operation. An access is recorded when it is made, and compared with the
// accesses that cannot be complete by then: those between the same two fences, in the same exposure
// epoch, or, with locks, since the last flush or unlock. Accesses of other ranks are known only
// within one process, as on emulated machines. Local buffers of an access are compared with those
// of this rank's other accesses.
//
// Not checked: accesses with more than maxConflictRuns runs of bytes, and the completion of
// requests, which orders a get and frees local buffers.

// maxConflictRuns is the largest number of contiguous runs of an access that is checked.
const maxConflictRuns = 1 << 12

// windowConflicts is what the ranks of one process have recorded for a window.
type windowConflicts struct {
	mu        sync.Mutex
	users     int
	targets   map[int][]notedAccess // by target
	exposures map[int]int           // number of exposure epochs that have ended, by target
}

// notedAccess is a run of bytes in a target's memory that an access reads or writes.
type notedAccess struct {
	byteSpan
	origin      int
	kind        requestKind
	op          *Op
	period      accessPeriod
	startEpoch  int  // the number of the origin's epoch of Start
	isExclusive bool // made under an exclusive lock, which excludes other origins even if the access still waits for it
	describe    func() string
}

// byteSpan is a range of bytes in a window, or of addresses.
type byteSpan struct{ from, to int }

func (a byteSpan) overlaps(b byteSpan) bool { return a.from < b.to && b.from < a.to }

// accessPeriod identifies accesses that are not ordered with each other.
type accessPeriod struct {
	kind   epoch // lockEpoch for all epochs of locks
	number int   // number of the fence or of the exposure
}

// localAccess is local memory that an access of this rank uses.
type localAccess struct {
	byteSpan
	target    int
	isWritten bool
	describe  func() string
}

// isRead reports whether an access leaves the target's memory unchanged.
func (a *notedAccess) isRead() bool { return a.kind == getRequest || a.op == NoOp }

func (a *notedAccess) isAccumulate() bool {
	return a.kind >= accumulateRequest && a.kind <= compareRequest
}

// conflictsWith reports whether two accesses to the same byte must be ordered. Accumulates of one
// origin always are. A compare-and-swap counts as an accumulate with the same operation as any
// other.
func (a *notedAccess) conflictsWith(b *notedAccess) bool {
	switch {
	case a.isRead() && b.isRead(), a.origin != b.origin && (a.isExclusive || b.isExclusive):
		return false
	case a.isAccumulate() && b.isAccumulate():
		return a.op != b.op && a.origin != b.origin && a.op != nil && b.op != nil && a.op != NoOp && b.op != NoOp
	}
	return true
}

// startConflictChecks starts to check a window for conflicts.
func (w *Window) startConflictChecks() {
	if w.comm.engine.CheckMode() != CheckStrict {
		return
	}
	if _, inProcesses := w.comm.engine.Port().(device.ErrorDetailer); inProcesses && w.comm.size > 1 {
		w.comm.engine.WarnOfCall(engine.ConflictsUnchecked, "ranks are processes, so conflicts between accesses of different ranks to this window are not found: check the program on an emulated platform")
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

// stopConflictChecks ends the checks of a window.
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

// checkConflicts fails if an access conflicts with an earlier one. Otherwise it records the access.
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

// verb returns what an access does, as a verb.
func (a *notedAccess) verb() string {
	switch {
	case a.isRead():
		return "read"
	case a.isAccumulate():
		return "combined"
	}
	return "written"
}

// spansOf returns the runs of bytes of an access that are checked.
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

// checkLocalConflicts fails if an access writes local memory that another incomplete access uses,
// or uses local memory that one writes.
func (w *Window) checkLocalConflicts(a *access, describe func() string) {
	var mine []localAccess
	add := func(b Buffer, written bool) {
		if b.Type == nil || a.kind == compareRequest && !written {
			return // a compare-and-swap has already copied its data
		}
		b.Runs(func(run []byte) {
			if from := int(datatype.Address(run)); len(mine) < maxConflictRuns && len(run) > 0 {
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

// forgetLocal removes the records of local memory for accesses to a target, or to all: they are
// locally complete.
func (w *Window) forgetLocal(target int) {
	if w.conflicts != nil {
		w.localAccesses = slices.DeleteFunc(w.localAccesses, func(x localAccess) bool { return target == AnySource || x.target == target })
	}
}

// forgetAccesses removes the records of this rank's accesses under locks to a target, or to all. If
// onlyGets is set, only gets are complete.
func (w *Window) forgetAccesses(target int, onlyGets bool) {
	w.forgetMatching(func(rank int, n *notedAccess) bool {
		return (target == AnySource || rank == target) && n.origin == w.comm.rank && n.period.kind == lockEpoch && (!onlyGets || n.kind == getRequest)
	})
}

// forgetFence removes the records of accesses before a fence.
func (w *Window) forgetFence(before int) {
	w.forgetMatching(func(target int, n *notedAccess) bool {
		return n.period.kind == fenceEpoch && n.period.number < before && (target == w.comm.rank || n.origin == w.comm.rank)
	})
}

// forgetExposure removes the records of accesses in this rank's last exposure epoch.
func (w *Window) forgetExposure() {
	w.forgetMatching(func(target int, n *notedAccess) bool { return n.period.kind == startEpoch && target == w.comm.rank })
	if x := w.conflicts; x != nil {
		x.mu.Lock()
		x.exposures[w.comm.rank]++
		x.mu.Unlock()
	}
}

// forgetStarted removes the records of this rank's accesses since Start to targets in other
// processes, whose end of exposure is not visible here.
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
