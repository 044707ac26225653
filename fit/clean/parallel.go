package clean

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// RunParallel calls f for 0 to n-1, on all processors.
func RunParallel(n int, f func(i int)) {
	var calls errgroup.Group
	calls.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		calls.Go(func() error {
			f(i)
			return nil
		})
	}
	calls.Wait()
}
