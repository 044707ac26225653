package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// A program may have several threads that call a rank. One of them runs at a time. While a thread
// waits within a call, the others run, so several calls of a rank may be under way.

// ThreadScheduler runs the threads of a rank in turn.
type ThreadScheduler interface {
	// YieldInWait is called before a thread waits for an event of the port until deadline. If
	// another thread is runnable, that thread runs first, and YieldInWait returns true when the
	// caller runs again: its event may have occurred. Otherwise it returns false.
	YieldInWait(deadline unit.Time) bool

	// NoteProgress is called after an event of the port was handled, because other threads may wait
	// for its effect.
	NoteProgress()
}

// SetThreads sets the scheduler of the rank's threads. Call it once in a program, before the second
// thread makes a call. nil: the rank now runs another program with a single thread.
func (r *Rank) SetThreads(s ThreadScheduler) {
	e := r.innermostEngine()
	if r.threads = s; s != nil {
		e = engineWithThreads{e, s}
	}
	if r.engine = e; r.service != nil {
		r.engine = engineWithService{e, r}
	}
}

// engineWithThreads is the engine of a rank that has several threads.
type engineWithThreads struct {
	Engine
	threads ThreadScheduler
}

// Progress implements Engine.
func (e engineWithThreads) Progress(block bool) bool {
	if block && e.threads.YieldInWait(device.Forever) {
		return true
	}
	ok := e.Engine.Progress(block)
	if ok {
		e.threads.NoteProgress()
	}
	return ok
}

// CallState is a Rank's state of a thread's call. The zero value is the state of a thread that has
// made no call.
type CallState struct {
	call            string
	context         uint32
	collectiveTag   int
	waitTarget      waitTarget
	isPolling       bool
	awaitedRequests awaitedRequestList
	probedMessage   probedMessage
	observed        any // state of the engine
}

// ThreadObserver is an engine with a state of each thread's call.
type ThreadObserver interface {
	// SwapThreadState exchanges the engine's state with saved, before another thread runs. nil is
	// the state of a thread that has made no call.
	SwapThreadState(saved *any)
}

// SwapCallState exchanges the state of the current call with s, before another thread runs in its
// goroutine.
func (r *Rank) SwapCallState(s *CallState) {
	if o, ok := r.innermostEngine().(ThreadObserver); ok {
		o.SwapThreadState(&s.observed)
	}
	before := CallState{r.call, r.context, r.collectiveTag, r.waitTarget, r.isPolling, r.awaitedRequests, r.probedMessage, s.observed}
	r.call, r.context, r.collectiveTag, r.waitTarget, r.isPolling, r.awaitedRequests, r.probedMessage = s.call, s.context, s.collectiveTag, s.waitTarget, s.isPolling, s.awaitedRequests, s.probedMessage
	*s = before
}

// AdoptGoroutine makes the calling goroutine the one that may call the rank.
func (r *Rank) AdoptGoroutine() {
	if r.overlapChecker != nil {
		r.overlapChecker.owner = goroutineID()
	}
}
