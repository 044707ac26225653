package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
)

// timersBenchmark measures the timers of Al-Tawil and Moritz, by mode and size: timer11(subject,
// mode, size), timer12, timer21, timer22 and train, and T_s and T_sr, also of a forced protocol. A
// fit of them gives o_s, o_r, transfer and spread, and L(subject, mode) and G.
var timersBenchmark = Benchmark{
	Parts: func(_ *Site, e *Experiment) int { return len(e.ModeNames()) * len(e.Sizes) },
	Run:   runTimers,
}

// Plan returns the plan of an experiment with timers.
func (e *Experiment) Plan(s *Site) *microbench.Plan {
	return &microbench.Plan{Modes: e.ModeNames(), Sizes: e.Sizes, Timers: e.Timers, ForcedProtocol: e.Protocol, Reps: e.Reps, WarmupRounds: cmp.Or(e.Warmup, 10), HasCommonClock: true, Pair: s.Pair}
}

// runTimers measures each mode and size, each with a seed of its own.
func runTimers(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	world := func(ctx context.Context, cell int) (mpi.World, error) { return s.Job.World(ctx, seed+uint64(cell)) }
	series, err := microbench.Sweep(ctx, e.Plan(s), s.Job.MPIOptions(e.Protocol), world, done)
	if err != nil {
		return fmt.Errorf("measure %v on %s: %w", e.ModeNames(), e.Subject, err)
	}
	for i := range series {
		s.Label(&series[i], e.Protocol)
	}
	out.Series[e.Subject] = append(out.Series[e.Subject], series...)
	return nil
}

// pairsBenchmark measures low-level messages between all pairs of ranks.
var pairsBenchmark = Benchmark{
	Parts: func(s *Site, _ *Experiment) int { return len(allPairs(s)) },
	Run:   runPairs,
}

func allPairs(s *Site) [][2]int { return microbench.SelectRankPairs(s.Job.Ranks, math.MaxInt, 0) }

func runPairs(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	plan := &microbench.Plan{Modes: []string{microbench.LowLevelMode}, Sizes: microbench.AllPairsSizes, Reps: microbench.AllPairsReps, WarmupRounds: 10, HasCommonClock: true}
	world := func(ctx context.Context, pair int) (mpi.World, error) { return s.Job.World(ctx, seed+uint64(pair)) }
	series, err := microbench.SweepPairs(ctx, plan, allPairs(s), s.Job.MPIOptions(""), world, done)
	if err != nil {
		return fmt.Errorf("measure all pairs of %s: %w", e.Subject, err)
	}
	for i := range series {
		place := series[i].Place
		s.Label(&series[i], "")
		series[i].Place = place
	}
	out.PairSeries[e.Subject] = append(out.PairSeries[e.Subject], series...)
	return nil
}
