package paper

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// pairsBenchmark is that of low-level messages between all pairs of ranks.
var pairsBenchmark = benchmark{
	gives: map[string]int{"H": 1, "P": 1},
	cells: func(x *run, e *Experiment) int { return len(x.pairs(e)) },
	run:   pairs,
}

// pairs are all pairs of ranks of a subject.
func (x *run) pairs(e *Experiment) [][2]int { return microbench.Pairs(x.sites[e.Subject].job.Ranks) }

// pairs measures low-level messages between all pairs of ranks and keeps what the fit, which does not
// know the machine, makes of them: the number of hypernodes H, and P of processors in each.
func pairs(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
	s := x.sites[e.Subject]
	plan := &microbench.Plan{Modes: []string{microbench.Message}, Sizes: microbench.PairSizes, Reps: microbench.PairReps, Warmup: 10, Common: true}
	open := func(ctx context.Context, pair int) (mpi.World, error) { return s.job.World(ctx, seed+uint64(pair)) }
	series, err := microbench.SweepPairs(ctx, plan, x.pairs(e), s.job.Options(""), open, done)
	if err != nil {
		return fmt.Errorf("measure all pairs of %s: %w", e.Subject, err)
	}
	for i := range series {
		place := series[i].Place
		s.label(&series[i], "")
		series[i].Place = place
	}
	found, err := fit.Fit(&sample.Set{Facts: s.facts(), Series: series}, clean.Options{})
	if err != nil {
		return err
	}
	for _, p := range found.Parameters {
		if p.Name != "H" && p.Name != "P" {
			continue
		}
		for _, other := range x.paper.Subjects { // H is of two processors between hypernodes, P of two inside one
			if other.Platform == s.Platform && other.Library == s.Library && other.Place == p.Place {
				x.measured[expr.Key(p.Name, other.ID)] = expr.Value{V: p.Value, Low: p.Low, High: p.High}
			}
		}
	}
	return nil
}
