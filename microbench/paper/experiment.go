package paper

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/paper/expr"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// benchmark is how an experiment is measured.
type benchmark struct {
	gives map[string]int // quantities, with the number of their arguments
	cells func(x *run, e *Experiment) int
	run   func(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error
}

// benchmarks are those that paper.yaml may name.
var benchmarks = map[string]benchmark{
	"timers":    {fitted, func(_ *run, e *Experiment) int { return len(e.modes()) * len(e.Sizes.values) }, timers},
	"pairs":     {map[string]int{"H": 1, "P": 1}, func(x *run, e *Experiment) int { return len(x.pairs(e)) }, pairs},
	"idle-peer": {map[string]int{"returns": 3}, func(_ *run, e *Experiment) int { return len(calls) * len(e.Sizes.values) }, idlePeer},
	"messages":  {nil, func(_ *run, e *Experiment) int { return len(model.Protocols) }, messages},
}

// site is where a subject can be measured: a job, and two of its ranks.
type site struct {
	*Subject
	job  *world.Job
	pair [2]int
}

// open sets up a job for a subject.
func (s *Subject) open(noise float64) (*site, error) {
	j, err := world.Open(s.Platform, s.Library, s.Ranks, noise)
	if err != nil {
		return nil, fmt.Errorf("reproduce on %s: %w", s.Platform, err)
	}
	pair, err := j.Pair(s.Place)
	return &site{s, j, pair}, err
}

// path is the way of the messages from the first of the pair to the other, and back.
func (s *site) path() (there, back model.Path) {
	m, n := s.job.Platform.Machine, s.job.Ranks
	return m.Path(n, s.pair[0], s.pair[1]), m.Path(n, s.pair[1], s.pair[0])
}

// facts are those of the samples that the fit acts upon.
func (s *site) facts() []sample.Fact {
	return []sample.Fact{{Key: sample.Roots, Value: "2"}, {Key: sample.Resolution, Value: s.job.Platform.Machine.Timer.MicrosString()}}
}

// label fills in what a series is of, beside its mode, size and timer.
func (s *site) label(x *sample.Series, protocol string) {
	x.Platform, x.Library, x.Place, x.Clock, x.Protocol = s.Platform, s.Library, s.Place, s.job.Clock(), auto
	if protocol != "" {
		x.Protocol = protocol
	}
}

func (e *Experiment) modes() []string {
	if e.Modes == nil {
		return microbench.Modes()
	}
	return e.Modes
}

// plan returns the experiment as the benchmark has it.
func (e *Experiment) plan(s *site) *microbench.Plan {
	return &microbench.Plan{Modes: e.modes(), Sizes: e.Sizes.values, Protocol: e.Protocol, Reps: e.Reps, Warmup: 10, Common: true, Pair: s.pair}
}

// timers measures each mode and size by the benchmark of the timers, and predicts what it shows.
// Every cell has a seed of its own.
func timers(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
	s := x.sites[e.Subject]
	open := func(ctx context.Context, cell int) (mpi.World, error) { return s.job.World(ctx, seed+uint64(cell)) }
	series, err := microbench.Sweep(ctx, e.plan(s), s.job.Options(e.Protocol), open, done)
	if err != nil {
		return fmt.Errorf("measure %v on %s: %w", e.modes(), e.Subject, err)
	}
	for i := range series {
		s.label(&series[i], e.Protocol)
	}
	x.series[e.Subject] = append(x.series[e.Subject], series...)
	x.algebra[e.Subject] = append(x.algebra[e.Subject], e.predict(s)...)
	return nil
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
