package microbench

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// WorldOpener opens the world of the job of that number of a sweep, so that what is random in it
// does not depend on which core came first.
type WorldOpener func(ctx context.Context, job int) (mpi.World, error)

// Sweep measures every cell of a plan in a job of its own, on all cores. The series are in the
// order of the cells. The first failure ends the sweep. After each cell done is called with how
// many are; it may be nil.
func Sweep(ctx context.Context, p *Plan, o mpi.Options, open WorldOpener, done func(n int)) ([]sample.Series, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	cells := p.Cells()
	sizes := make([]int, len(cells))
	for i, c := range cells {
		sizes[i] = c.Bytes
	}
	return runJobs(ctx, sizes, o, open, func(c *mpi.Comm, i int) []sample.Series { return p.Measure(c, cells[i:i+1]) }, done)
}

// SweepPairs measures all cells of a plan between each of some pairs of ranks, every pair in a job
// of its own. The pair of the plan does not count. The series are in the order of the pairs, and
// have their place set besides what Measure sets.
func SweepPairs(ctx context.Context, p *Plan, pairs [][2]int, o mpi.Options, open WorldOpener, done func(n int)) ([]sample.Series, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return runJobs(ctx, make([]int, len(pairs)), o, open, func(c *mpi.Comm, i int) []sample.Series {
		one := *p
		one.Pair = pairs[i]
		series := one.Measure(c, p.Cells())
		for j := range series {
			series[j].Place = sample.PlaceOf(pairs[i][0], pairs[i][1])
		}
		return series
	}, done)
}

// SweepCollectives measures every collective operation of an experiment in a job of its own. Reps
// must be given. The outcome has the series in the order of e.Collectives, and says how many
// repetitions began too late.
func SweepCollectives(ctx context.Context, e *Experiment, o mpi.Options, open WorldOpener, done func(n int)) (*Outcome, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	sizes, schedulers := make([]int, len(e.Collectives)), make([]*Scheduler, len(e.Collectives))
	for i, x := range e.Collectives {
		one := *e
		one.Collectives = e.Collectives[i : i+1]
		sizes[i], schedulers[i] = x.Bytes, NewScheduler(&one)
	}
	out := &Outcome{}
	var err error
	out.Series, err = runJobs(ctx, sizes, o, open, func(c *mpi.Comm, i int) []sample.Series {
		if schedulers[i].runRank(c); c.Rank() != rootRank {
			return nil
		}
		return schedulers[i].Series()
	}, done)
	for _, s := range schedulers {
		out.LateStarts, out.AgreedStarts = out.LateStarts+s.outcome.LateStarts, out.AgreedStarts+s.outcome.AgreedStarts
	}
	return out, err
}

// runJobs lets the ranks of each job measure, on all cores, and returns the series in the order of
// the jobs. Those of the largest sizes begin first, so that no core is left with one at the end.
func runJobs(ctx context.Context, sizes []int, o mpi.Options, open WorldOpener, measure func(c *mpi.Comm, job int) []sample.Series, done func(n int)) ([]sample.Series, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	order, results := make([]int, len(sizes)), make([][]sample.Series, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	job := func(i int) error {
		w, err := open(ctx, i)
		if err != nil {
			return err
		}
		return mpi.Run(w, o, func(c *mpi.Comm) error {
			if s := measure(c, i); s != nil {
				results[i] = s
			}
			return nil
		})
	}
	var begun, count atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(order)) {
		wg.Go(func() {
			for n := int(begun.Add(1)) - 1; n < len(order) && ctx.Err() == nil; n = int(begun.Add(1)) - 1 {
				if err := job(order[n]); err != nil {
					cancel(err)
					return
				}
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
