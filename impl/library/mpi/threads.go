package mpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/unit"
)

// Threads of programs that are not written in Go. One thread of a rank runs at a time.

// ThreadScheduler runs the threads of a rank in turn.
type ThreadScheduler = engine.ThreadScheduler

// SetThreadScheduler lets several threads of the rank's program make calls, each in its own
// goroutine, which the scheduler resumes (MPI_Init_thread with MPI_THREAD_MULTIPLE). Call it once,
// before the second thread makes a call.
func (c *Comm) SetThreadScheduler(s ThreadScheduler) {
	c.state.isMultithreaded = true
	c.engine.SetThreads(s)
}

// CallState is the rank's state of the call that one of its threads is in. The zero value is the
// state of a thread that has made no call.
type CallState struct {
	engine                    engine.CallState
	operation                 collectiveOperation
	workBuffer, scratchBuffer []byte
}

// SwapCallState exchanges the state of the rank's current call with s, before another thread runs.
func (c *Comm) SwapCallState(s *CallState) {
	c.engine.SwapCallState(&s.engine)
	x := c.state
	x.operation, s.operation = s.operation, x.operation
	x.workBuffer, s.workBuffer = s.workBuffer, x.workBuffer
	x.scratchBuffer, s.scratchBuffer = s.scratchBuffer, x.scratchBuffer
}

// AwaitEvent handles one event, or waits for one until deadline and may not handle it.
func (c *Comm) AwaitEvent(deadline unit.Time) { c.engine.AwaitEvent(deadline) }

// AdoptGoroutine makes the calling goroutine the one that may make the rank's calls.
func (c *Comm) AdoptGoroutine() { c.engine.AdoptGoroutine() }

// Warn delivers a warning about what a program may do, but its user should know of.
func (c *Comm) Warn(kind WarningKind, call string, at CallSite, text string) {
	c.engine.Warn(kind, call, at, text)
}
