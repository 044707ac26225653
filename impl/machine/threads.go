package machine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// errStuck says that a thread has not had its processor for so long that it is not waited for any more.
var errStuck = errors.New("a thread of this program did not get its processor")

// Pinnable says why a thread cannot be kept on one of some processors, if it cannot: it tries each.
func Pinnable(processors []int) error {
	for _, p := range processors {
		if err := on([]int{p}, time.Second, func(int) {}); err != nil && !errors.Is(err, errStuck) {
			return err
		}
	}
	return nil
}

// on runs a function on each of some processors at one time, on a thread that stays there, and returns when all have ended. It runs none if one of them
// cannot be had. After the limit it returns in any case, and says errStuck: then threads may be left that did not get their processor, and what
// they write to is theirs.
func on(processors []int, limit time.Duration, run func(i int)) error {
	if n := len(processors); runtime.GOMAXPROCS(0) < n {
		return fmt.Errorf("this program runs %d threads at a time (GOMAXPROCS), and it takes %d", runtime.GOMAXPROCS(0), n)
	}
	var placed, all sync.WaitGroup
	placed.Add(len(processors))
	errs := make([]error, len(processors))
	var tooLate atomic.Bool
	for i, p := range processors {
		all.Go(func() {
			runtime.LockOSThread() // and not unlocked: where the thread is pinned ends with it
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
