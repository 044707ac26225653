package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// errNotScheduled says that a thread did not get its processor within the limit.
var errNotScheduled = errors.New("a thread of this program did not get its processor")

// TryPinning returns the error of pinning a thread to one of the processors, after trying each.
func TryPinning(processors []int) error {
	for _, p := range processors {
		if err := runOnProcessors([]int{p}, time.Second, func(int) {}); err != nil && !errors.Is(err, errNotScheduled) {
			return err
		}
	}
	return nil
}

// runOnProcessors runs a function on each of the processors at the same time, on threads that are
// pinned there, and returns when all have ended. It runs none if a thread cannot be pinned. After
// the limit it returns errNotScheduled in any case. Threads that did not get their processor may
// then still run, so the caller must not use memory to which they write.
func runOnProcessors(processors []int, limit time.Duration, run func(i int)) error {
	if n := len(processors); runtime.GOMAXPROCS(0) < n {
		return fmt.Errorf("this takes %d threads at a time, and this process may run %d (GOMAXPROCS)", n, runtime.GOMAXPROCS(0))
	}
	var placed, all sync.WaitGroup
	placed.Add(len(processors))
	errs := make([]error, len(processors))
	var tooLate atomic.Bool
	for i, p := range processors {
		all.Go(func() {
			runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
			errs[i] = Pin(p)
			placed.Done()
			placed.Wait()
			if errors.Join(errs...) == nil && !tooLate.Load() {
				run(i)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return errors.Join(errs...)
	case <-time.After(limit):
		tooLate.Store(true)
		return fmt.Errorf("%w within %v", errNotScheduled, limit)
	}
}

// wordExchange is the state of two threads on two processors that signal each other by words in
// memory, within a time limit.
type wordExchange struct {
	expired atomic.Bool // the limit has passed for one thread, and so for both
	_       [lineSize - 4]byte

	ctx      context.Context
	limit    time.Duration
	deadline int64         // limit after the start, on the clock
	arrived  [2]paddedWord // set by each thread when it runs
}

// lineSize is the cache line size of most processors; longer lines are a multiple of it.
const lineSize = 64

// paddedWord is a word on a cache line of its own.
type paddedWord struct {
	atomic.Uint64
	_ [lineSize - 8]byte
}

// pollsPerClockCheck is the number of polls, about a microsecond, after which a thread checks the
// clock.
const pollsPerClockCheck = 1 << 10

// awaitValue polls until the word has a value, and reports whether that was within the limit.
func (m *wordExchange) awaitValue(w *atomic.Uint64, value uint64) bool {
	for i := 1; w.Load() != value; i++ {
		if i%pollsPerClockCheck == 0 && (m.expired.Load() || Now() > m.deadline || m.ctx.Err() != nil) {
			m.expired.Store(true)
			return false
		}
	}
	return true
}

// runExchange runs first on processor a and second on processor b at the same time. Both have to
// return once await fails, which it does when the context is done or the limit has passed; the
// error is then errNotSimultaneous. After errNotScheduled the memory to which they write is still
// in use.
func runExchange(ctx context.Context, a, b int, limit time.Duration, first, second func(*wordExchange)) error {
	m := &wordExchange{ctx: ctx, limit: limit, deadline: Now() + limit.Nanoseconds()}
	return m.run(a, b, 2*limit, first, second)
}

// run runs the two functions on processors a and b. After scheduleLimit it does not wait for them
// any longer.
func (m *wordExchange) run(a, b int, scheduleLimit time.Duration, first, second func(*wordExchange)) error {
	if a == b {
		return fmt.Errorf("processor %d: an exchange takes two different processors", a)
	}
	err := runOnProcessors([]int{a, b}, scheduleLimit, func(i int) {
		m.arrived[i].Store(1)
		if m.awaitValue(&m.arrived[1-i].Uint64, 1) {
			[]func(*wordExchange){first, second}[i](m)
		}
	})
	switch {
	case m.ctx.Err() != nil && !errors.Is(err, errNotScheduled):
		return context.Cause(m.ctx)
	case err != nil:
		m.expired.Store(true) // for a thread that still runs
		return err
	case m.expired.Load():
		return fmt.Errorf("%w within %v: others keep one of them busy", errNotSimultaneous, m.limit)
	}
	return nil
}

// errNotSimultaneous says that the two threads did not run at the same time for long enough.
var errNotSimultaneous = errors.New("the two processors did not both run this program")

// PauseProcessor rests the processor for some nanoseconds to some tens of nanoseconds. It is for
// loops that poll memory until another processor writes to it: without a pause many loads are in
// flight when that happens, and have to be repeated.
func PauseProcessor() { procyield(1) }

//go:linkname procyield runtime.procyield
func procyield(cycles uint32)
