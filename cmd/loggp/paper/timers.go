package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// timersBenchmark is the micro-benchmark of the timers, by mode and size.
var timersBenchmark = benchmark{
	gives: fitted,
	cells: func(_ *run, e *Experiment) int { return len(e.modes()) * len(e.Sizes.values) },
	run:   timers,
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
	plan := e.plan(s)
	if x.only != nil && x.Noise == 0 {
		plan.Warmup, plan.Timers = 2, x.only.timers()
	}
	series, err := microbench.Sweep(ctx, plan, s.job.Options(e.Protocol), open, done)
	if err != nil {
		return fmt.Errorf("measure %v on %s: %w", e.modes(), e.Subject, err)
	}
	for i := range series {
		s.label(&series[i], e.Protocol)
	}
	x.series[e.Subject] = append(x.series[e.Subject], series...)
	if x.only == nil {
		x.algebra[e.Subject] = append(x.algebra[e.Subject], e.predict(s)...)
	}
	return nil
}

// fitted are the quantities that come from a fit of samples, with the number of their arguments:
// timers, o_s, o_r and the time that a blocking receive takes longer than a non-blocking one are of
// a subject, a mode and a size, those that a forced protocol may follow of any number; parameters
// of a subject and a mode. The spread is half the width of the range of timer11 that holds 95 % of
// the repetitions.
var fitted = map[string]int{
	sample.Timer11: 3, sample.Timer12: 3, sample.Timer21: 3, sample.Timer22: 3, sample.Train: 3, sample.Sender: -1, sample.OneWay: -1,
	"o_s": 3, "o_r": 3, "transfer": 3, "spread": 3, "L": 2, "G": 2,
}

// upperBound is the code of a value that is only an upper bound.
const upperBound = "upper-bound"

// fit adds what the samples of a subject show. The fit reads L at the smallest size that was
// measured, and the paper at a size of its own: for L sizes below small are left out.
func (x *run) fit(c cells, s *site, series []sample.Series) ([]clean.Warning, error) {
	o := clean.Options{}
	if x.only != nil && x.Noise == 0 {
		o.Replicates = 2 // all are alike
	}
	found, err := fit.Fit(&sample.Set{Facts: s.facts(), Series: series}, o)
	if err != nil {
		return nil, err
	}
	receives := slices.DeleteFunc(slices.Clone(series), func(y sample.Series) bool {
		return y.Bytes < x.paper.Small || y.Timer != sample.Timer12 && y.Timer != sample.Timer21
	})
	latency, err := fit.Fit(&sample.Set{Facts: s.facts(), Series: receives}, o)
	if err != nil {
		return nil, err
	}
	read := func(name, mode string) bool { return name == "L" && mode != microbench.Message }
	numbers := append(slices.DeleteFunc(found.Parameters, func(p params.Parameter) bool { return read(p.Name, p.Mode) }),
		slices.DeleteFunc(latency.Parameters, func(p params.Parameter) bool { return !read(p.Name, p.Mode) })...)
	warnings := append(slices.DeleteFunc(found.Warnings, func(w clean.Warning) bool { return read(w.Parameter, w.Mode) }),
		slices.DeleteFunc(latency.Warnings, func(w clean.Warning) bool { return !read(w.Parameter, w.Mode) })...)
	for _, y := range found.Curves {
		name := y.Timer
		if name == params.ByBlocking {
			name = "transfer"
		}
		for _, p := range y.Points {
			v, key := expr.Value{V: p.Value, Low: p.Low, High: p.High}, s.key(name, y.Mode, y.Protocol, p.Bytes)
			c[key] = v
			if y.Protocol != auto {
				continue
			}
			for _, o := range []string{"o_s", "o_r"} { // by the timer that the fit takes for them
				if slices.ContainsFunc(numbers, func(q params.Parameter) bool { return q.Name == o && q.Mode == y.Mode && q.Method == y.Timer }) {
					c[s.key(o, y.Mode, auto, p.Bytes)] = v
					x.reads[s.key(o, y.Mode, auto, p.Bytes)] = []string{key}
				}
			}
		}
	}
	for _, p := range numbers {
		key := expr.Key(p.Name, s.ID, p.Mode)
		if _, ok := c[key]; ok || math.IsNaN(p.Value) || p.Name == "o_s" || p.Name == "o_r" || p.Method == params.ByHalfTrip || p.Method == params.ByHalfTripGap {
			continue
		}
		v := expr.Value{V: p.Value, Low: p.Low, High: p.High}
		if p.Bound() {
			v.Low = 0
			warnings = append(warnings, clean.Warning{Mode: p.Mode, Parameter: p.Name, Code: upperBound, Text: "only an upper bound is known"})
		}
		if p.Method == params.ByReceive { // the paper takes its mean over both roots
			x.reads[key] = []string{s.key(sample.Timer21, p.Mode, auto, p.From), s.key(sample.Timer12, p.Mode, auto, p.From)}
			v.V = c[x.reads[key][0]].V - c[x.reads[key][1]].V
		}
		c[key] = v
	}
	for _, y := range series {
		if y.Timer == sample.Timer11 && y.Protocol == auto {
			c[s.key("spread", y.Mode, auto, y.Bytes)] = expr.Exactly(spread(y.Times))
		}
	}
	return warnings, nil
}

// spread is half the width of the range that holds 95 % of the times, in microseconds.
func spread(times []unit.Time) float64 {
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted) - 1
	return (sorted[n-n/40] - sorted[n/40]).Micros() / 2
}

// pairsBenchmark is that of low-level messages between all pairs of ranks.
var pairsBenchmark = benchmark{
	gives: map[string]int{"H": 1, "P": 1},
	cells: func(x *run, e *Experiment) int { return len(x.pairs(e)) },
	run:   pairs,
}

// pairs are all pairs of ranks of a subject.
func (x *run) pairs(e *Experiment) [][2]int {
	return microbench.Pairs(x.sites[e.Subject].job.Ranks, math.MaxInt, 0)
}

// pairs measures low-level messages between all pairs of ranks and keeps what the fit, which does
// not know the machine, makes of them: the number of hypernodes H, and P of processors in each.
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
