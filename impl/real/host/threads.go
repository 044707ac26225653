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

// errStuck says that a thread did not get its processor within the limit.
var errStuck = errors.New("a thread of this program did not get its processor")

// Pinnable returns the error of pinning a thread to one of the processors, after trying each.
func Pinnable(processors []int) error {
	for _, p := range processors {
		if err := onThreads([]int{p}, time.Second, func(int) {}); err != nil && !errors.Is(err, errStuck) {
			return err
		}
	}
	return nil
}

// onThreads runs a function on each of the processors at the same time, on threads that are pinned
// there, and returns when all have ended. It runs none if a thread cannot be pinned. After the
// limit it returns errStuck in any case. Threads that did not get their processor may then still
// run, so the caller must not use memory to which they write.
func onThreads(processors []int, limit time.Duration, run func(i int)) error {
	if n := len(processors); runtime.GOMAXPROCS(0) < n {
		return fmt.Errorf("this takes %d threads at a time, and GOMAXPROCS is %d", n, runtime.GOMAXPROCS(0))
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
		return fmt.Errorf("%w within %v", errStuck, limit)
	}
}

// exchange is the state of two threads on two processors that signal each other by words in memory,
// within a time limit.
type exchange struct {
	expired atomic.Bool // the limit has passed for one thread, and so for both
	_       [lineSize - 4]byte

	ctx     context.Context
	end     int64         // on the clock
	arrived [2]paddedWord // set by each thread when it runs
}

// lineSize is the cache line size of most processors; longer lines are a multiple of it.
const lineSize = 64

// paddedWord is a word on a cache line of its own.
type paddedWord struct {
	atomic.Uint64
	_ [lineSize - 8]byte
}

// looksPerCheck is the number of polls, about a microsecond, after which a thread checks the clock.
const looksPerCheck = 1 << 10

// await polls until the word has a value, and reports whether that was within the limit.
func (m *exchange) await(w *atomic.Uint64, value uint64) bool {
	for i := 1; w.Load() != value; i++ {
		if i%looksPerCheck == 0 && (m.expired.Load() || Now() > m.end || m.ctx.Err() != nil) {
			m.expired.Store(true)
			return false
		}
	}
	return true
}

// exchangeBetween runs first on processor a and second on processor b at the same time. Both have
// to return once await fails, which it does when the context is done or the limit has passed; the
// error is then errNotTogether. After errStuck the memory to which they write is still in use.
func exchangeBetween(ctx context.Context, a, b int, limit time.Duration, first, second func(*exchange)) error {
	if a == b {
		return fmt.Errorf("processor %d: an exchange takes two different processors", a)
	}
	m := &exchange{ctx: ctx, end: Now() + limit.Nanoseconds()}
	err := onThreads([]int{a, b}, 2*limit, func(i int) {
		m.arrived[i].Store(1)
		if m.await(&m.arrived[1-i].Uint64, 1) {
			[]func(*exchange){first, second}[i](m)
		}
	})
	switch {
	case ctx.Err() != nil && !errors.Is(err, errStuck):
		return context.Cause(ctx)
	case err != nil:
		m.expired.Store(true) // for a thread that still runs
		return err
	case m.expired.Load():
		return fmt.Errorf("%w within %v: others keep one of them busy", errNotTogether, limit)
	}
	return nil
}

// errNotTogether says that the two threads did not run at the same time for long enough.
var errNotTogether = errors.New("the two processors did not both run this program")

// Pause rests the processor for some nanoseconds to some tens of nanoseconds. It is for loops that
// poll memory until another processor writes to it: without a pause many loads are in flight when
// that happens, and have to be repeated.
func Pause() { procyield(1) }

//go:linkname procyield runtime.procyield
func procyield(cycles uint32)
