// Package goal runs communication schedules, such as those of GOAL files, as programs of MPI.
package goal

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// Execution runs a communication schedule as a program of MPI: each rank begins an operation when
// all that it requires has ended, messages first, and computes when no message can begin. It waits
// in the call for a message where nothing else can be done meanwhile, as a program would. A rank
// has one processor: what the schedule has for several CPUs is computed one after the other.
type Execution struct{ *schedule.Schedule }

// Check returns an error if MPI cannot carry the schedule.
func (x Execution) Check() error {
	for rank := range x.Ranks() {
		for _, o := range x.Of(rank) {
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
	e := &executor{c: c, ops: x.Of(c.Rank()), free: map[int][][]byte{}}
	for _, call := range x.Calls(c.Rank()) {
		if call.Name == schedule.Ssend {
			e.mark(call)
		}
	}
	e.site = func(i int) mpi.Site {
		l := x.Location(c.Rank(), i)
		return mpi.Site{File: l.File, Line: l.Line}
	}
	c.SetCaller(e)
	e.prepare(func(i int) []schedule.Dependant { return x.Dependants(c.Rank(), i) })
	begin := c.Wtime()
	for e.step() {
	}
	c.SetCaller(nil)
	return c.Wtime() - begin
}

// executor is one rank's course through its operations.
type executor struct {
	c     *mpi.Comm
	ops   []schedule.Op
	deps  [][]schedule.Dependant // by operation: what waits for it
	waits []int                  // by operation: for so many others
	held  int                    // operations that wait for others
	ends  []int                  // by operation: how many that it waits for end together, for releases
	meets []bool                 // by operation: it is a synchronous send; nil: none is
	ready [3][]int               // by kind, in the order of the schedule

	current int                  // the operation that is being done, or the first that is waited for
	site    func(i int) mpi.Site // of an operation in the schedule's file

	open []int // operations under way
	reqs []mpi.Request
	bufs [][]byte
	free map[int][][]byte // buffers to use again, by length
}

// Here implements engine.CallLocator, as Site does: the program is the schedule.
func (e *executor) Here() (call string, at uintptr) {
	if e.current >= len(e.ops) {
		return "", 0
	}
	return e.ops[e.current].String(), uintptr(e.current)
}

// Site returns the line of an operation.
func (e *executor) Site(at uintptr) mpi.Site { return e.site(int(at)) }

func (e *executor) prepare(dependants func(i int) []schedule.Dependant) {
	e.deps, e.waits, e.ends = make([][]schedule.Dependant, len(e.ops)), make([]int, len(e.ops)), make([]int, len(e.ops))
	for i := range e.ops {
		e.deps[i] = dependants(i)
		for _, d := range e.deps[i] {
			e.waits[d.Op]++
		}
	}
	for i, o := range e.ops {
		if e.waits[i] == 0 {
			e.ready[o.Kind] = append(e.ready[o.Kind], i)
		} else {
			e.held++
		}
	}
}

// mark notes which operations are synchronous sends.
func (e *executor) mark(c schedule.Call) {
	if e.meets == nil {
		e.meets = make([]bool, len(e.ops))
	}
	for i := range c.Ops {
		e.meets[c.First+i] = true
	}
}

// release lets operations begin that waited for the start of operation i, or for its end.
func (e *executor) release(i int, start bool) {
	for _, d := range e.deps[i] {
		if d.Start != start {
			continue
		}
		if e.waits[d.Op]--; e.waits[d.Op] == 0 {
			e.held--
			k := e.ops[d.Op].Kind
			e.ready[k] = append(e.ready[k], d.Op)
		}
	}
}

// step begins an operation, or waits for one that is under way. It returns false if there is
// neither.
func (e *executor) step() bool {
	for kind := range e.ready {
		if len(e.ready[kind]) == 0 {
			continue
		}
		i := e.ready[kind][0]
		e.ready[kind] = e.ready[kind][1:]
		e.begin(i)
		return true
	}
	if len(e.open) == 0 {
		return false
	}
	e.current = e.open[0]
	e.wait()
	return true
}

// begin begins an operation, and also ends it if it computes or if all else waits for it.
func (e *executor) begin(i int) {
	o := e.ops[i]
	e.current = i
	e.release(i, true)
	if o.Kind == schedule.Calc {
		e.c.Compute(unit.Time(o.Size) * unit.Nanosecond)
		e.release(i, false)
		return
	}
	b := e.buffer(int(o.Size))
	peer, tag := int(o.Peer), int(o.Tag)
	if o.Peer == schedule.Any {
		peer = mpi.AnySource
	}
	if o.Tag == schedule.Any {
		tag = mpi.AnyTag
	}
	send, isend := mpi.Send[byte], mpi.Isend[byte]
	if e.meets != nil && e.meets[i] {
		send, isend = mpi.Ssend[byte], mpi.Issend[byte]
	}
	switch alone := e.alone(i); {
	case alone && o.Kind == schedule.Send:
		send(e.c, b, peer, tag)
		e.end(i, b)
	case alone:
		mpi.Recv(e.c, b, peer, tag)
		e.end(i, b)
	case o.Kind == schedule.Send:
		e.under(i, b, isend(e.c, b, peer, tag))
	default:
		e.under(i, b, mpi.Irecv(e.c, b, peer, tag))
	}
}

// alone reports whether nothing else can begin until operation i ends, which has just begun:
// neither is an operation ready, nor would one be after the end of all others that are under way.
// If one that waited for its start waits for others still, a program has begun it in a call of its
// own.
func (e *executor) alone(i int) bool {
	for _, d := range e.deps[i] {
		if d.Start {
			return false
		}
	}
	for kind := range e.ready {
		if len(e.ready[kind]) > 0 {
			return false
		}
	}
	return !e.releases(e.open...)
}

// releases reports whether the end of some operations lets another begin.
func (e *executor) releases(some ...int) (yes bool) {
	for _, i := range some {
		for _, d := range e.deps[i] {
			if !d.Start {
				e.ends[d.Op]++
				yes = yes || e.ends[d.Op] == e.waits[d.Op]
			}
		}
	}
	for _, i := range some {
		for _, d := range e.deps[i] {
			e.ends[d.Op] = 0
		}
	}
	return yes
}

// wait waits for operations that are under way: for all if nothing can begin before each of them
// has ended, for a certain one if its end lets something begin and nothing begins without it, and
// else for any.
func (e *executor) wait() {
	certain := -1
	if e.held == 0 {
		certain = 0
	} else {
		needed := e.needed()
		if len(needed) > 1 && len(needed) == len(e.open) {
			mpi.WaitAll(e.reqs, nil)
			for len(e.open) > 0 {
				e.ended(0)
			}
			return
		}
		for _, n := range needed {
			if e.releases(e.open[n]) {
				certain = n
				break
			}
		}
	}
	if certain >= 0 {
		e.reqs[certain].Wait()
	} else {
		certain, _ = mpi.WaitAny(e.reqs)
	}
	e.ended(certain)
}

// needed returns those of the operations under way without whose end nothing begins.
func (e *executor) needed() (all []int) {
	begins := 0 // operations that begin when all have ended
	for _, i := range e.open {
		for _, d := range e.deps[i] {
			if !d.Start {
				if e.ends[d.Op]++; e.ends[d.Op] == e.waits[d.Op] {
					begins++
				}
			}
		}
	}
	for n, i := range e.open {
		count := 0
		for _, d := range e.deps[i] {
			if !d.Start && e.ends[d.Op] == e.waits[d.Op] {
				count++
				e.ends[d.Op] = -1 // so that a second dependency does not count
			}
		}
		for _, d := range e.deps[i] {
			if e.ends[d.Op] < 0 {
				e.ends[d.Op] = e.waits[d.Op]
			}
		}
		if count == begins {
			all = append(all, n)
		}
	}
	for _, i := range e.open {
		for _, d := range e.deps[i] {
			e.ends[d.Op] = 0
		}
	}
	return all
}

// ended notes that an operation is under way no more.
func (e *executor) ended(n int) {
	i, b, last := e.open[n], e.bufs[n], len(e.open)-1
	e.open[n], e.reqs[n], e.bufs[n] = e.open[last], e.reqs[last], e.bufs[last]
	e.open, e.reqs, e.bufs = e.open[:last], e.reqs[:last], e.bufs[:last]
	e.end(i, b)
}

// under notes that an operation is under way.
func (e *executor) under(i int, b []byte, r mpi.Request) {
	e.open, e.reqs, e.bufs = append(e.open, i), append(e.reqs, r), append(e.bufs, b)
}

// end is the end of a message.
func (e *executor) end(i int, b []byte) {
	e.free[len(b)] = append(e.free[len(b)], b)
	e.release(i, false)
}

func (e *executor) buffer(n int) []byte {
	all := e.free[n]
	if len(all) == 0 {
		return make([]byte, n)
	}
	e.free[n] = all[:len(all)-1]
	return all[len(all)-1]
}
