// Package goal runs communication schedules, such as those of GOAL files, as programs of MPI.
package goal

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// Execution runs a communication schedule as a program of MPI: each rank begins an operation when
// all that it requires has ended, messages first, and computes when no message can begin. It waits
// in the call for a message where nothing else can be done meanwhile, as a program would. A rank
// has one processor: what the schedule has for several CPUs is computed one after the other.
type Execution struct {
	*schedule.Schedule
	SizeOnlyMessages bool // messages have lengths, but no contents
}

// Check returns an error if MPI cannot carry the schedule.
func (x Execution) Check() error {
	for rank := range x.CountRanks() {
		for _, o := range x.OpsOfRank(rank) {
			switch {
			case o.Kind == schedule.Calc:
			case o.Size > unit.MaxSize:
				return fmt.Errorf("rank %d: %v: a message has %d bytes at most", rank, o, unit.MaxSize)
			case o.Tag != schedule.Any && o.Tag > mpi.MaxTag:
				return fmt.Errorf("rank %d: %v: tags are from 0 to %d", rank, o, mpi.MaxTag)
			}
		}
	}
	return nil
}

// Run lets the calling rank do its operations, and returns how long that took.
func (x Execution) Run(c *mpi.Comm) unit.Time {
	e := &rankExecutor{c: c, sizeOnly: x.SizeOnlyMessages, ops: x.OpsOfRank(c.Rank()), freeBuffers: map[int][][]byte{}}
	for _, call := range x.Calls(c.Rank()) {
		if call.Name == schedule.SynchronousSendCall {
			e.markSynchronous(call)
		}
	}
	e.siteOfOp = func(i int) mpi.CallSite {
		l := x.Location(c.Rank(), i)
		return mpi.CallSite{File: l.File, Line: l.Line}
	}
	c.SetCallLocator(e)
	e.countRequirements(func(i int) []schedule.Dependant { return x.Dependants(c.Rank(), i) })
	begin := c.Wtime()
	for e.beginOrAwaitNextOp() {
	}
	c.SetCallLocator(nil)
	return c.Wtime() - begin
}

// rankExecutor carries out the operations of one rank.
type rankExecutor struct {
	c                          *mpi.Comm
	ops                        []schedule.Op
	dependants                 [][]schedule.Dependant // by operation: what waits for it
	requirementsLeft           []int                  // by operation: for so many others
	blockedCount               int                    // operations that wait for others
	requirementsEndingTogether []int                  // by operation: how many that it waits for end together, for releases
	isSynchronous              []bool                 // by operation: it is a synchronous send; nil: none is
	readyOpsByKind             [3][]int               // by kind, in the order of the schedule

	currentOp int                      // the operation that is being done, or the first that is waited for
	siteOfOp  func(i int) mpi.CallSite // of an operation in the schedule's file

	startedOps  []int // operations under way
	requests    []mpi.Request
	buffers     [][]byte
	freeBuffers map[int][][]byte // buffers to use again, by length
	sizeOnly    bool             // buffers have no contents
}

// CurrentCall implements engine.CallLocator, as Site does: the program is the schedule.
func (e *rankExecutor) CurrentCall() (call string, at uintptr) {
	if e.currentOp >= len(e.ops) {
		return "", 0
	}
	return e.ops[e.currentOp].String(), uintptr(e.currentOp)
}

// Site returns the line of an operation.
func (e *rankExecutor) Site(at uintptr) mpi.CallSite { return e.siteOfOp(int(at)) }

// countRequirements counts the operations that each operation waits for, and finds those that wait
// for none.
func (e *rankExecutor) countRequirements(dependants func(i int) []schedule.Dependant) {
	e.dependants, e.requirementsLeft, e.requirementsEndingTogether = make([][]schedule.Dependant, len(e.ops)), make([]int, len(e.ops)), make([]int, len(e.ops))
	for i := range e.ops {
		e.dependants[i] = dependants(i)
		for _, d := range e.dependants[i] {
			e.requirementsLeft[d.Op]++
		}
	}
	for i, o := range e.ops {
		if e.requirementsLeft[i] == 0 {
			e.readyOpsByKind[o.Kind] = append(e.readyOpsByKind[o.Kind], i)
		} else {
			e.blockedCount++
		}
	}
}

// markSynchronous notes which operations are synchronous sends.
func (e *rankExecutor) markSynchronous(c schedule.Call) {
	if e.isSynchronous == nil {
		e.isSynchronous = make([]bool, len(e.ops))
	}
	for i := range c.Ops {
		e.isSynchronous[c.First+i] = true
	}
}

// releaseDependants lets operations begin that waited for the start of operation i, or for its end.
func (e *rankExecutor) releaseDependants(i int, start bool) {
	for _, d := range e.dependants[i] {
		if d.WaitsForStart != start {
			continue
		}
		if e.requirementsLeft[d.Op]--; e.requirementsLeft[d.Op] == 0 {
			e.blockedCount--
			k := e.ops[d.Op].Kind
			e.readyOpsByKind[k] = append(e.readyOpsByKind[k], d.Op)
		}
	}
}

// beginOrAwaitNextOp begins an operation, or waits for one that is under way. It returns false if
// there is neither.
func (e *rankExecutor) beginOrAwaitNextOp() bool {
	for kind := range e.readyOpsByKind {
		if len(e.readyOpsByKind[kind]) == 0 {
			continue
		}
		i := e.readyOpsByKind[kind][0]
		e.readyOpsByKind[kind] = e.readyOpsByKind[kind][1:]
		e.beginOp(i)
		return true
	}
	if len(e.startedOps) == 0 {
		return false
	}
	e.currentOp = e.startedOps[0]
	e.waitForOps()
	return true
}

// beginOp begins an operation, and also ends it if it computes or if all else waits for it.
func (e *rankExecutor) beginOp(i int) {
	o := e.ops[i]
	e.currentOp = i
	e.releaseDependants(i, true)
	if o.Kind == schedule.Calc {
		e.c.Compute(unit.Time(o.Size) * unit.Nanosecond)
		e.releaseDependants(i, false)
		return
	}
	b := e.takeBuffer(int(o.Size))
	peer, tag := int(o.Peer), int(o.Tag)
	if o.Peer == schedule.Any {
		peer = mpi.AnySource
	}
	if o.Tag == schedule.Any {
		tag = mpi.AnyTag
	}
	send, isend := mpi.Send[byte], mpi.Isend[byte]
	if e.isSynchronous != nil && e.isSynchronous[i] {
		send, isend = mpi.Ssend[byte], mpi.Issend[byte]
	}
	switch alone := e.nothingBeginsBeforeEndOf(i); {
	case alone && o.Kind == schedule.Send:
		send(e.c, b, peer, tag)
		e.finishMessage(i, b)
	case alone:
		mpi.Recv(e.c, b, peer, tag)
		e.finishMessage(i, b)
	case o.Kind == schedule.Send:
		e.addRequest(i, b, isend(e.c, b, peer, tag))
	default:
		e.addRequest(i, b, mpi.Irecv(e.c, b, peer, tag))
	}
}

// nothingBeginsBeforeEndOf reports whether nothing else can begin until operation i ends, which has
// just begun: neither is an operation ready, nor would one be after the end of all others that are
// under way. If one that waited for its start waits for others still, a program has begun it in a
// call of its own.
func (e *rankExecutor) nothingBeginsBeforeEndOf(i int) bool {
	for _, d := range e.dependants[i] {
		if d.WaitsForStart {
			return false
		}
	}
	for kind := range e.readyOpsByKind {
		if len(e.readyOpsByKind[kind]) > 0 {
			return false
		}
	}
	return !e.endReleasesAnother(e.startedOps...)
}

// endReleasesAnother reports whether the end of some operations lets another begin.
func (e *rankExecutor) endReleasesAnother(some ...int) (yes bool) {
	for _, i := range some {
		for _, d := range e.dependants[i] {
			if !d.WaitsForStart {
				e.requirementsEndingTogether[d.Op]++
				yes = yes || e.requirementsEndingTogether[d.Op] == e.requirementsLeft[d.Op]
			}
		}
	}
	for _, i := range some {
		for _, d := range e.dependants[i] {
			e.requirementsEndingTogether[d.Op] = 0
		}
	}
	return yes
}

// waitForOps waits for operations that are under way: for all if nothing can begin before each of
// them has ended, for a certain one if its end lets something begin and nothing begins without it,
// and else for any.
func (e *rankExecutor) waitForOps() {
	certain := -1
	if e.blockedCount == 0 {
		certain = 0
	} else {
		needed := e.requiredOps()
		if len(needed) > 1 && len(needed) == len(e.startedOps) {
			mpi.WaitAll(e.requests, nil)
			for len(e.startedOps) > 0 {
				e.finishRequest(0)
			}
			return
		}
		for _, n := range needed {
			if e.endReleasesAnother(e.startedOps[n]) {
				certain = n
				break
			}
		}
	}
	if certain >= 0 {
		e.requests[certain].Wait()
	} else {
		certain, _ = mpi.WaitAny(e.requests)
	}
	e.finishRequest(certain)
}

// requiredOps returns those of the operations under way without whose end nothing begins.
func (e *rankExecutor) requiredOps() (all []int) {
	begins := 0 // operations that begin when all have ended
	for _, i := range e.startedOps {
		for _, d := range e.dependants[i] {
			if !d.WaitsForStart {
				if e.requirementsEndingTogether[d.Op]++; e.requirementsEndingTogether[d.Op] == e.requirementsLeft[d.Op] {
					begins++
				}
			}
		}
	}
	for n, i := range e.startedOps {
		count := 0
		for _, d := range e.dependants[i] {
			if !d.WaitsForStart && e.requirementsEndingTogether[d.Op] == e.requirementsLeft[d.Op] {
				count++
				e.requirementsEndingTogether[d.Op] = -1 // so that a second dependency does not count
			}
		}
		for _, d := range e.dependants[i] {
			if e.requirementsEndingTogether[d.Op] < 0 {
				e.requirementsEndingTogether[d.Op] = e.requirementsLeft[d.Op]
			}
		}
		if count == begins {
			all = append(all, n)
		}
	}
	for _, i := range e.startedOps {
		for _, d := range e.dependants[i] {
			e.requirementsEndingTogether[d.Op] = 0
		}
	}
	return all
}

// finishRequest removes an operation that has ended from those under way.
func (e *rankExecutor) finishRequest(n int) {
	i, b, last := e.startedOps[n], e.buffers[n], len(e.startedOps)-1
	e.startedOps[n], e.requests[n], e.buffers[n] = e.startedOps[last], e.requests[last], e.buffers[last]
	e.startedOps, e.requests, e.buffers = e.startedOps[:last], e.requests[:last], e.buffers[:last]
	e.finishMessage(i, b)
}

// addRequest adds an operation to those under way.
func (e *rankExecutor) addRequest(i int, b []byte, r mpi.Request) {
	e.startedOps, e.requests, e.buffers = append(e.startedOps, i), append(e.requests, r), append(e.buffers, b)
}

// finishMessage keeps the buffer of a message that has ended and releases what waited for it.
func (e *rankExecutor) finishMessage(i int, b []byte) {
	e.freeBuffers[len(b)] = append(e.freeBuffers[len(b)], b)
	e.releaseDependants(i, false)
}

// takeBuffer returns memory for a message, which an earlier one may have had.
func (e *rankExecutor) takeBuffer(n int) []byte {
	all := e.freeBuffers[n]
	if len(all) == 0 {
		return device.SizeOnlyIf(e.sizeOnly, make([]byte, n, n+1))
	}
	e.freeBuffers[n] = all[:len(all)-1]
	return all[len(all)-1]
}
