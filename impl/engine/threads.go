package engine

// A program may have several threads that call a rank. One of them runs at a time. A thread that
// waits within a call lets the others run, and so several calls of a rank are under way.

// ThreadScheduler runs the threads of a rank in turn.
type ThreadScheduler interface {
	// YieldInWait is called before a thread waits for an event of the port. If another thread can
	// run, that runs first, and YieldInWait returns true when it is the caller's turn again: what
	// it waits for may have happened. Otherwise it returns false.
	YieldInWait() bool

	// NoteProgress is called when an event of the port was handled: other threads may wait for
	// what it has changed.
	NoteProgress()
}

// SetThreads sets the scheduler of the rank's threads. Call it once in a program, before the second
// thread calls. nil: the rank has another program from now on, of one thread.
func (r *Rank) SetThreads(s ThreadScheduler) {
	e := r.innermostEngine()
	if r.hasThreads = s != nil; r.hasThreads {
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
	if block && e.threads.YieldInWait() {
		return true
	}
	ok := e.Engine.Progress(block)
	if ok {
		e.threads.NoteProgress()
	}
	return ok
}

// CallState is what a Rank notes of the call that a thread is in. The zero value is that of a
// thread that has made no call.
type CallState struct {
	call            string
	context         uint32
	collectiveTag   int
	waitTarget      waitTarget
	isPolling       bool
	awaitedRequests awaitedRequestList
	probedMessage   probedMessage
	observed        any // what an engine notes of it
}

// ThreadObserver is implemented by engines that note something of the call that a thread is in.
type ThreadObserver interface {
	// SwapThreadState exchanges it, before another thread goes on. nil is that of a thread that has
	// made no call.
	SwapThreadState(saved *any)
}

// SwapCallState exchanges the state of the call that the rank is in with s, for another thread to
// go on in its goroutine.
func (r *Rank) SwapCallState(s *CallState) {
	if o, ok := r.innermostEngine().(ThreadObserver); ok {
		o.SwapThreadState(&s.observed)
	}
	before := CallState{r.call, r.context, r.collectiveTag, r.waitTarget, r.isPolling, r.awaitedRequests, r.probedMessage, s.observed}
	r.call, r.context, r.collectiveTag, r.waitTarget, r.isPolling, r.awaitedRequests, r.probedMessage = s.call, s.context, s.collectiveTag, s.waitTarget, s.isPolling, s.awaitedRequests, s.probedMessage
	*s = before
}

// AdoptGoroutine makes the goroutine that calls it the one that may call the rank.
func (r *Rank) AdoptGoroutine() {
	if r.overlapChecker != nil {
		r.overlapChecker.owner = goroutineID()
	}
}
