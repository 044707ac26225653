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
	cells := p.Cells()
	return inParallel(ctx, longestFirst(cells), func(ctx context.Context, i int) ([]sample.Series, error) {
		return p.alone(ctx, o, open, i, cells[i:i+1])
	}, done)
}

// inParallel does jobs on all cores, beginning with them in an order, and returns their series in that of their numbers. The first failure
// ends it.
func inParallel(ctx context.Context, order []int, job func(ctx context.Context, i int) ([]sample.Series, error), done func(n int)) ([]sample.Series, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([][]sample.Series, len(order))
	var begun, count atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(order)) {
		wg.Go(func() {
			for n := int(begun.Add(1)) - 1; n < len(order) && ctx.Err() == nil; n = int(begun.Add(1)) - 1 {
				series, err := job(ctx, order[n])
				if err != nil {
					cancel(err)
					return
				}
				results[order[n]] = series
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
	return slices.Concat(results...), nil
}

// longestFirst returns the numbers of the cells, those of the longest messages first, so that no core is left with one at the end.
func longestFirst(cells []Cell) []int {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cells[b].Bytes - cells[a].Bytes })
	return order
}

// alone measures cells in a job of their own.
func (p *Plan) alone(ctx context.Context, o mpi.Options, open func(context.Context, int) (mpi.World, error), i int, cells []Cell) ([]sample.Series, error) {
	w, err := open(ctx, i)
	if err != nil {
		return nil, err
	}
	var series []sample.Series
	err = mpi.Run(w, o, func(c *mpi.Comm) error {
		if s := p.Measure(c, cells); s != nil {
			series = s
		}
		return nil
	})
	return series, err
}

// SweepCollectives measures every collective operation of an experiment in a job of its own, on all
// cores, as Sweep does cells. Reps must be given. The outcome has the series in the order of
// e.Collectives, and says how many repetitions began too late.
func SweepCollectives(ctx context.Context, e *Experiment, o mpi.Options, open func(ctx context.Context, cell int) (mpi.World, error), done func(n int)) (*Outcome, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	order := make([]int, len(e.Collectives))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return e.Collectives[b].Bytes - e.Collectives[a].Bytes }) // the longest first
	var late, started atomic.Int64
	series, err := inParallel(ctx, order, func(ctx context.Context, i int) ([]sample.Series, error) {
		w, err := open(ctx, i)
		if err != nil {
			return nil, err
		}
		one := *e
		one.Collectives = e.Collectives[i : i+1]
		s := NewScheduler(&one)
		err = mpi.Run(w, o, s.take)
		late.Add(int64(s.out.Late))
		started.Add(int64(s.out.Started))
		return s.Series(), err
	}, done)
	return &Outcome{Series: series, Late: int(late.Load()), Started: int(started.Load())}, err
}
