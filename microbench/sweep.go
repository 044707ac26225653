package microbench

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// Sweep measures every cell of a plan in a job of its own, on all cores. A cell's world is opened with the cell's number, so that what
// is random in it does not depend on which core came first; the series are in the order of the cells. The first failure
// ends the sweep. After each cell done is called with how many are; it may be nil.
func Sweep(ctx context.Context, p *Plan, o mpi.Options, open func(ctx context.Context, cell int) (mpi.World, error), done func(n int)) ([]sample.Series, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cells := p.Cells()
	results := make([][]sample.Series, len(cells))
	order := longestFirst(cells)
	var count atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(cells)) {
		wg.Go(func() {
			for i := range order {
				if ctx.Err() != nil {
					return
				}
				series, err := one(ctx, p, o, open, i, cells[i])
				if err != nil {
					cancel(err)
					return
				}
				results[i] = series
				if n := int(count.Add(1)); done != nil {
					done(n)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var all []sample.Series
	for _, s := range results {
		all = append(all, s...)
	}
	return all, nil
}

// longestFirst returns the numbers of the cells, those of the longest messages first, so that no core is left with one at the end.
func longestFirst(cells []Cell) <-chan int {
	numbers := make([]int, len(cells))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cells[b].Bytes - cells[a].Bytes })
	order := make(chan int, len(cells))
	for _, i := range numbers {
		order <- i
	}
	close(order)
	return order
}

// one measures one cell.
func one(ctx context.Context, p *Plan, o mpi.Options, open func(context.Context, int) (mpi.World, error), i int, cell Cell) ([]sample.Series, error) {
	w, err := open(ctx, i)
	if err != nil {
		return nil, err
	}
	var series []sample.Series
	err = mpi.Run(w, o, func(c *mpi.Comm) error {
		if s := p.Measure(c, []Cell{cell}); s != nil {
			series = s
		}
		return nil
	})
	return series, err
}
