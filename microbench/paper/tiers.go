package paper

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// tiered is the machine of which all pairs of ranks are measured, with low-level messages, to find who is near whom: H and P.
var tiered = convexInter

// pairs are all pairs of ranks of that machine.
func (x *run) pairs() [][2]int { return microbench.Pairs(x.site(tiered).job.Ranks) }

// tiers measures all pairs and keeps what the fit, which does not know the machine, makes of them.
func (x *run) tiers(ctx context.Context, seed uint64, done func(int)) error {
	s := x.site(tiered)
	plan := &microbench.Plan{Modes: []string{microbench.Message}, Sizes: microbench.PairSizes, Reps: microbench.PairReps, Warmup: 10, Common: true}
	open := func(ctx context.Context, pair int) (mpi.World, error) { return s.job.World(ctx, seed+uint64(pair)) }
	series, err := microbench.SweepPairs(ctx, plan, x.pairs(), s.job.Options(""), open, done)
	if err != nil {
		return fmt.Errorf("measure all pairs of %s: %w", s.Platform, err)
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Protocol = s.Platform, s.Library, s.job.Clock(), auto
	}
	found, err := fit.Fit(&sample.Set{Facts: s.facts(), Series: series}, clean.Options{})
	if err != nil {
		return err
	}
	for _, p := range found.Parameters {
		if p.Name == "H" || p.Name == "P" {
			q := quantity{Subject{p.Platform, p.Library, p.Place}, microbench.Message, auto, p.Name, -1}
			x.measured.values[q] = Value{V: p.Value, Low: p.Low, High: p.High}
		}
	}
	return nil
}

// count is H or P: of how many hypernodes, or of how many processors in each.
func (r *Results) count(s Subject, parameter string) Value {
	return r.get(quantity{s, microbench.Message, auto, parameter, -1})
}

// counts are H and P by the platform's file, which the algebra takes as they are.
func (s *site) counts() (h, p Value) {
	n, ok := s.job.Platform.Machine.Network.(*model.Hypernodes)
	if !ok {
		return none(), none()
	}
	return exactly(float64(len(n.Sizes))), exactly(float64(n.Sizes[0]))
}
