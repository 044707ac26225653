package mpi

import "github.com/loggp/loggp/impl/engine"

// Threads of a program that is not written in Go. They call their rank one at a time.

// ThreadScheduler runs the threads of a rank in turn.
type ThreadScheduler = engine.ThreadScheduler

// SetThreadScheduler lets several threads of the rank's program make calls, in goroutines that a
// scheduler resumes (MPI_Init_thread with MPI_THREAD_MULTIPLE). Call it once, before the second
// thread calls.
func (c *Comm) SetThreadScheduler(s ThreadScheduler) {
	c.state.isMultithreaded = true
	c.engine.SetThreads(s)
}

// CallState is what a rank keeps of the call that one of its threads is in. The zero value is that
// of a thread that has made no call.
type CallState struct {
	engine                    engine.CallState
	operation                 collectiveOperation
	workBuffer, scratchBuffer []byte
}

// SwapCallState exchanges the state of the rank's current call with s, before another thread goes
// on.
func (c *Comm) SwapCallState(s *CallState) {
	c.engine.SwapCallState(&s.engine)
	x := c.state
	x.operation, s.operation = s.operation, x.operation
	x.workBuffer, s.workBuffer = s.workBuffer, x.workBuffer
	x.scratchBuffer, s.scratchBuffer = s.scratchBuffer, x.scratchBuffer
}

// Progress takes in one thing that has happened, without waiting, and reports whether there was
// one.
func (c *Comm) Progress() bool { return c.engine.Progress() }

// AdoptGoroutine makes the goroutine that calls it the one that may call the rank.
func (c *Comm) AdoptGoroutine() { c.engine.AdoptGoroutine() }
