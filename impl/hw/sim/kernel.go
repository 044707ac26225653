// Package sim runs processes in virtual time, one at a time, in a reproducible order.
//
// A Kernel has a clock and a queue of events. At its time an event calls its EventHandler. A Proc
// is a coroutine that runs until it sleeps or parks. A Server is a resource that serves one request
// at a time. Events at equal times run in the order in which they were scheduled, so a run is a
// function of its inputs. impl/hw builds processors and wires from events.
package sim

import (
	"context"
	"errors"
	"slices"

	"github.com/loggp/loggp/model/eventqueue"
	"github.com/loggp/loggp/model/unit"
)

// EventHandler handles an event at its time. arg is the argument of Schedule. Handlers are pointers
// to long-lived state, so that scheduling allocates nothing.
type EventHandler interface{ HandleEvent(arg uint64) }

// event is a scheduled call of a handler.
type event struct {
	handler EventHandler
	arg     uint64
}

// Kernel has a clock, a queue of events, and processes. The zero value is ready for one run.
type Kernel struct {
	now             unit.Time
	lastSequence    uint64
	events          eventqueue.Queue[uint64, event]
	readyProcs      procQueue
	procs           []*Proc
	liveProcs       int
	stepsSinceCheck int    // since the context was last checked
	switches        uint64 // into processes
	err             error

	eventLoop          *eventLoop // runs events; nil: a Waiter on its stack sleeps or is parked
	currentLoop        *eventLoop // the loop on whose stack the current event runs
	loops, unusedLoops []*eventLoop
}

// Statistics counts what a kernel did in a run.
type Statistics struct {
	Events   uint64 // scheduled
	Switches uint64 // from the kernel to a process; each is followed by one back
}

// Statistics returns the counts so far.
func (k *Kernel) Statistics() Statistics { return Statistics{k.lastSequence, k.switches} }

// Now returns the virtual time.
func (k *Kernel) Now() unit.Time { return k.now }

// ReserveProcs allocates memory for a number of processes with one event each. More may be started.
func (k *Kernel) ReserveProcs(procs int) {
	k.procs = slices.Grow(k.procs, procs)
	k.readyProcs.procs = slices.Grow(k.readyProcs.procs, procs)
	k.events.Reserve(procs)
}

// Latest is the latest virtual time: 105 days. Two more days fit unit.Time, so the clock of a
// process that runs ahead of the kernel does not overflow before it schedules an event.
const Latest = 105 * 24 * 3600 * unit.Second

// ErrTooLate is the error for an event after Latest.
var ErrTooLate = errors.New("sim: an event is later than the latest virtual time")

// Schedule schedules an event. It panics if the time has passed. A time after Latest, which may
// have overflowed, fails the run with ErrTooLate.
func (k *Kernel) Schedule(t unit.Time, h EventHandler, arg uint64) {
	if uint64(t-k.now) > uint64(Latest-k.now) {
		k.refuse(t)
		return
	}
	k.lastSequence++
	k.events.Push(uint64(t), k.lastSequence, event{h, arg})
}

// refuse fails for an event after Latest or in the past.
func (k *Kernel) refuse(t unit.Time) {
	if 0 <= t && t < k.now {
		panic("sim: event in the past")
	}
	k.Fail(ErrTooLate)
}

// Fail ends the run with an error as soon as the current event or process yields. Only the first
// call has an effect.
func (k *Kernel) Fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// ErrStalled is the error if processes are parked and no event is left that could wake them.
// ParkedProcs yields them.
var ErrStalled = errors.New("sim: processes are parked and no event is left")

// stepsPerContextCheck is the number of steps between two checks of the context.
const stepsPerContextCheck = 1 << 10

// Run runs events and processes until all processes have ended, and then returns nil. Otherwise it
// returns the error passed to Fail, the error of the context, ErrExited or ErrStalled. Then call
// Close to unwind the remaining processes. Remaining events are dropped.
func (k *Kernel) Run(ctx context.Context) error {
	if !runIsolated(func() { k.runLoops(ctx) }) {
		k.Fail(ErrExited)
	}
	return k.err
}

// ErrExited is the error if a process called runtime.Goexit, as testing.T.FailNow does.
var ErrExited = errors.New("sim: a process called runtime.Goexit")

// runIsolated calls f in a new goroutine and reports whether it returned. If a process calls
// runtime.Goexit, this also ends the goroutine that resumed it, which must not be the caller's. It
// passes on a panic of f.
func runIsolated(f func()) (returned bool) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		f()
		returned = true
	}()
	if v := <-done; v != nil {
		panic(v)
	}
	return returned
}

// runEvents runs events until the run has ended or another loop runs events.
func (k *Kernel) runEvents(ctx context.Context, l *eventLoop) {
	k.stepsSinceCheck = stepsPerContextCheck
	for k.liveProcs > 0 && k.err == nil && k.eventLoop == l {
		if k.stepsSinceCheck++; k.stepsSinceCheck >= stepsPerContextCheck {
			k.stepsSinceCheck = 0
			if ctx.Err() != nil {
				k.Fail(context.Cause(ctx))
				break
			}
		}
		if !k.readyProcs.isEmpty() {
			k.readyProcs.pop().resume()
			continue
		}
		if k.events.IsEmpty() {
			k.Fail(ErrStalled)
			break
		}
		at, _, e := k.events.Pop()
		k.now = unit.Time(at)
		e.handler.HandleEvent(e.arg)
	}
}

// IsIdleUntil reports whether nothing is scheduled up to and including a time, so that a process
// may act now as if it were then.
func (k *Kernel) IsIdleUntil(until unit.Time) bool {
	return k.readyProcs.isEmpty() && (k.events.IsEmpty() || uint64(until) < k.events.FirstTime())
}

// PendingSteps returns the number of scheduled events and ready processes.
func (k *Kernel) PendingSteps() int {
	return k.events.Len() + len(k.readyProcs.procs) - k.readyProcs.head
}

// ParkedProcs calls yield for each parked process, in the order in which they were started.
func (k *Kernel) ParkedProcs(yield func(*Proc) bool) {
	for _, p := range k.procs {
		if p.isParked && !yield(p) {
			return
		}
	}
}

// Close unwinds the processes that have not ended, running their deferred calls. The kernel cannot
// be used afterwards.
func (k *Kernel) Close() {
	k.Fail(errClosed)
	for len(k.procs)+len(k.loops) > 0 {
		runIsolated(func() {
			for len(k.procs) > 0 {
				p := k.procs[0]
				k.procs = k.procs[1:]
				p.unwind()
			}
			for len(k.loops) > 0 {
				l := k.loops[0]
				k.loops = k.loops[1:]
				l.cancelCoroutine()
			}
		})
	}
}

var errClosed = errors.New("sim: kernel closed")
