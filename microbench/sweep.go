package microbench

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// WorldOpener opens the world of one job of a sweep. What is random in it depends on the number of
// the job, not on the order in which jobs run.
type WorldOpener func(ctx context.Context, job int) (mpi.World, error)

// Sweep measures every cell of a plan in a job of its own, on all cores. The series are in the
// order of the cells. The first failure ends the sweep. After each cell it calls done, which may be
// nil, with the number of cells that have ended.
func Sweep(ctx context.Context, p *Plan, o mpi.Options, open WorldOpener, done func(n int)) ([]sample.Series, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	cells := p.Cells()
	sizes := make([]int, len(cells))
	for i, c := range cells {
		sizes[i] = c.Bytes
	}
	return runSweepJobs(ctx, sizes, o, open, func(c *mpi.Comm, i int) []sample.Series { return p.MeasureCells(c, cells[i:i+1]) }, done)
}

// SweepPairs measures all cells of a plan between each of several pairs of ranks, every pair in a
// job of its own. It ignores the pair of the plan. The series are in the order of the pairs. Their
// keys have the place set, in addition to what Measure sets.
func SweepPairs(ctx context.Context, p *Plan, pairs [][2]int, o mpi.Options, open WorldOpener, done func(n int)) ([]sample.Series, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return runSweepJobs(ctx, make([]int, len(pairs)), o, open, func(c *mpi.Comm, i int) []sample.Series {
		one := *p
		one.Pair = pairs[i]
		series := one.MeasureCells(c, p.Cells())
		for j := range series {
			series[j].Place = sample.PairPlace(pairs[i][0], pairs[i][1])
		}
		return series
	}, done)
}

// SweepCollectives measures every collective operation of an experiment in a job of its own. Reps
// must be set. The outcome has the series in the order of e.Collectives, and the number of late
// starts.
func SweepCollectives(ctx context.Context, e *Experiment, o mpi.Options, open WorldOpener, done func(n int)) (*ExperimentResult, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	sizes, schedulers := make([]int, len(e.Collectives)), make([]*Scheduler, len(e.Collectives))
	for i, x := range e.Collectives {
		one := *e
		one.Collectives = e.Collectives[i : i+1]
		sizes[i], schedulers[i] = x.Bytes, NewScheduler(&one)
	}
	out := &ExperimentResult{}
	var err error
	out.Series, err = runSweepJobs(ctx, sizes, o, open, func(c *mpi.Comm, i int) []sample.Series {
		if schedulers[i].runRank(c); c.Rank() != rootRank {
			return nil
		}
		return schedulers[i].Series()
	}, done)
	for _, s := range schedulers {
		out.LateStartCount, out.AgreedStartAttempts = out.LateStartCount+s.result.LateStartCount, out.AgreedStartAttempts+s.result.AgreedStartAttempts
	}
	return out, err
}

// runSweepJobs runs a job for each size, in parallel, and returns the series in the order of the
// jobs. It starts the jobs of the largest sizes first, so that all processors have work until the
// end.
func runSweepJobs(ctx context.Context, sizes []int, o mpi.Options, open WorldOpener, measure func(c *mpi.Comm, job int) []sample.Series, done func(n int)) ([]sample.Series, error) {
	order, results := make([]int, len(sizes)), make([][]sample.Series, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	var count atomic.Int64
	jobs, jobContext := errgroup.WithContext(ctx)
	jobs.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range order {
		jobs.Go(func() error {
			if jobContext.Err() != nil {
				return context.Cause(jobContext)
			}
			w, err := open(jobContext, i)
			if err != nil {
				return err
			}
			err = mpi.Run(w, o, func(c *mpi.Comm) error {
				if series := measure(c, i); series != nil {
					results[i] = series
				}
				return nil
			})
			if n := int(count.Add(1)); err == nil && done != nil {
				done(n)
			}
			return err
		})
	}
	if err := jobs.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(results...), nil
}
