// Package calibrate changes numbers of platform files and sees what the emulated machine does then.
//
// A Bench measures quantities of a platform: published rows (PublishedBench), the medians of a
// samples file (SamplesBench), or the LogGP parameters of the platform itself (ParameterBench).
// Sensitivity halves and doubles numbers one by one. Calibrate searches the free numbers by which
// the quantities come nearest to what they should be. Both measure without noise, so that a
// quantity is a function of the numbers.
//
// The package stands above fit and reports, since it measures, fits and reports, and beside package
// paper, whose rows it measures. The search itself is fit/leastsquares, which knows no platforms.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
)

// Quantity is something that can be measured of a platform.
type Quantity struct {
	Name                 string
	Unit                 string
	MinTarget, MaxTarget float64 // what it should be: a value twice, or a range; NaN: that is not known
	FittingKey           string  // what a number that was fitted to it names
	Library              string  // of the platform, whose time it is
}

// Bench measures quantities of a platform.
type Bench struct {
	Quantities []Quantity
	Libraries  []string // those that are measured: numbers of others move nothing
	Omitted    []string // what was left out, and why
	IsQuick    bool     // measuring takes milliseconds

	// Measure returns the value of each quantity on a platform, which has the names of the one
	// that the bench was made for; NaN if there is none. It may be called by several goroutines.
	Measure func(ctx context.Context, p *platform.Platform) ([]float64, error)
}

// Repetitions of each measurement, and rounds before them: without noise they are alike, but for
// stations that draw lots.
const (
	benchReps         = 1
	benchWarmupRounds = 4
)

// PublishedBench returns a bench of the rows that papers print of a platform: those that one of the
// patterns matches, as path.Match has it, or all if there are none. Counts, and rows that the
// source itself contradicts, are left out. It is an error if a pattern matches no row of the
// platform.
func PublishedBench(papers []*paper.Paper, p *platform.Platform, patterns []string) (*Bench, error) {
	b := &Bench{}
	names := make([][]string, len(papers)) // by paper
	used, elsewhere := make([]bool, len(patterns)), make([]string, len(patterns))
	var here []string
	for i, of := range papers {
		for _, v := range of.PrintedNumbers() {
			wanted := len(patterns) == 0
			for k, pattern := range patterns {
				ok, err := path.Match(joinWords(pattern), v.Name)
				if err != nil {
					return nil, fmt.Errorf("row %q: %w", pattern, err)
				}
				if ok && v.Platform != p.Machine.Name {
					elsewhere[k] = v.Platform
				} else if ok {
					used[k], wanted = true, true
				}
			}
			if v.Platform != p.Machine.Name {
				continue
			}
			here = append(here, v.Name)
			switch {
			case !wanted:
				continue
			case v.Unit == "":
				b.Omitted = append(b.Omitted, v.Name+": a count")
				continue
			case v.IsImpossible:
				b.Omitted = append(b.Omitted, v.Name+": the source contradicts it")
				continue
			}
			names[i] = append(names[i], v.Name)
			b.Quantities = append(b.Quantities, Quantity{v.Name, v.Unit, v.Low, v.High, v.Name, v.Library})
			if !slices.Contains(b.Libraries, v.Library) {
				b.Libraries = append(b.Libraries, v.Library)
			}
		}
	}
	for k, pattern := range patterns {
		switch {
		case used[k]:
		case here == nil:
			return nil, fmt.Errorf("row %q: no paper prints a row of platform %s: name a samples file", pattern, p.Machine.Name)
		case elsewhere[k] != "":
			return nil, fmt.Errorf("row %q: it is of platform %s, not of %s", pattern, elsewhere[k], p.Machine.Name)
		default:
			return nil, fmt.Errorf("row %q: no paper prints it of platform %s, whose rows are: %s", pattern, p.Machine.Name, strings.Join(here, ", "))
		}
	}
	b.Measure = func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		open := func(name string) (*platform.Platform, error) {
			if name == p.Machine.Name {
				return p, nil
			}
			return platform.Load(name)
		}
		var all []float64
		for i, of := range papers {
			if len(names[i]) == 0 {
				continue
			}
			values, err := of.Measure(ctx, paper.Options{Seed: 1, Reps: benchReps}, names[i], open)
			if err != nil {
				return nil, err
			}
			all = append(all, values...)
		}
		return all, nil
	}
	return b, nil
}

// CombineBenches returns a bench of all quantities of some benches.
func CombineBenches(benches ...*Bench) *Bench {
	if len(benches) == 1 {
		return benches[0]
	}
	all := &Bench{IsQuick: true}
	for _, b := range benches {
		all.IsQuick = all.IsQuick && b.IsQuick
		all.Quantities, all.Omitted = append(all.Quantities, b.Quantities...), append(all.Omitted, b.Omitted...)
		for _, l := range b.Libraries {
			if !slices.Contains(all.Libraries, l) {
				all.Libraries = append(all.Libraries, l)
			}
		}
	}
	all.Measure = func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		var values []float64
		for _, b := range benches {
			some, err := b.Measure(ctx, p)
			if err != nil {
				return nil, err
			}
			values = append(values, some...)
		}
		return values, nil
	}
	return all
}

// joinWords returns a text with single spaces between its words.
func joinWords(s string) string { return strings.Join(strings.Fields(s), " ") }

// What ParameterBench measures.
var (
	parameterModes = []string{"send", "ssend", "isend"}
	parameterSizes = []int{16, 1000, 3000, 10000, 30000, 100000}
	overheadSizes  = []int{16, 10000}
)

// ParameterBench returns a bench of the LogGP parameters of a platform itself, by one of its
// libraries, or the first for "": o_s and o_r of calls that block and of those that do not, g, G
// and L.
func ParameterBench(p *platform.Platform, library string) (*Bench, error) {
	l, err := p.Library(library)
	if err != nil {
		return nil, err
	}
	library = l.Name
	b := &Bench{Libraries: []string{library}}
	add := func(name, unit string) {
		b.Quantities = append(b.Quantities, Quantity{name, unit, math.NaN(), math.NaN(), "", library})
	}
	timers := []struct{ name, mode, timer string }{
		{"o_s", "send", sample.Timer11}, {"o_s", "isend", sample.Timer11}, {"o_r", "send", sample.Timer12}, {"o_r", "isend", sample.Timer21}, {"g", "send", sample.TimerTrain},
	}
	for _, t := range timers {
		for _, k := range overheadSizes {
			add(fmt.Sprintf("%s %s %d B", t.name, t.mode, k), "us")
		}
	}
	add("L ssend", "us")
	add("G send", "us/B")
	b.Measure = func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		set, err := measureEmulated(ctx, p, library, "", &microbench.Plan{Modes: parameterModes, Sizes: parameterSizes})
		if err != nil {
			return nil, err
		}
		found, err := fit.Fit(set, clean.Options{ReplicateCount: 2})
		if err != nil {
			return nil, err
		}
		medians := timerMedians(found.TimerCurves)
		var all []float64
		for _, t := range timers {
			for _, k := range overheadSizes {
				all = append(all, medians.median(sample.Key{Place: set.Series[0].Place, Mode: t.mode, Protocol: chosenProtocol, Timer: t.timer, Bytes: k}))
			}
		}
		l, g := math.NaN(), math.NaN()
		for _, x := range found.Parameters {
			switch {
			case x.Name == "L" && x.Mode == "ssend":
				l = x.Value
			case x.Name == "G" && x.Mode == "send":
				g = x.Value
			}
		}
		return append(all, l, g), nil
	}
	return b, nil
}

// chosenProtocol is the protocol that the library's rules choose.
const chosenProtocol = "auto"

// measureEmulated measures a plan without noise, between ranks of a place, and returns a data set.
// Of the plan, the modes, the sizes and the protocol count.
func measureEmulated(ctx context.Context, p *platform.Platform, library, place string, plan *microbench.Plan) (*sample.Set, error) {
	p, ranks, err := platformForPlace(p, place)
	if err != nil {
		return nil, err
	}
	job, err := job.New(p, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	plan.Reps, plan.WarmupRounds, plan.HasCommonClock = benchReps, benchWarmupRounds, true
	if plan.Pair, err = job.PairToMeasure(place); err != nil {
		return nil, err
	}
	open := func(ctx context.Context, cell int) (mpi.World, error) { return job.World(ctx, 1+uint64(cell)) }
	series, err := microbench.Sweep(ctx, plan, job.MPIOptions(plan.ForcedProtocol), open, nil)
	if err != nil {
		return nil, fmt.Errorf("measure %v on %s: %w", plan.Modes, p.Machine.Name, err)
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Protocol = p.Machine.Name, job.Library.Name, job.ClockKind(), chosenProtocol
		if k.Place = job.PlaceOfPair(plan.Pair[0], plan.Pair[1]); plan.ForcedProtocol != "" {
			k.Protocol = plan.ForcedProtocol
		}
	}
	return &sample.Set{Series: series, Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}, {Key: sample.ResolutionFact, Value: p.Machine.TimerResolution.MicrosString()}}}, nil
}

// medians are medians of timers in microseconds, by place, mode, protocol, timer and size.
type medians map[sample.Key]float64

// timerMedians returns the medians of curves of timers.
func timerMedians(curves []*curve.Curve) medians {
	m := medians{}
	for _, c := range curves {
		for _, p := range c.Points {
			m[sample.Key{Place: c.Place, Mode: c.Mode, Protocol: c.Protocol, Timer: c.Timer, Bytes: p.Bytes}] = p.Value
		}
	}
	return m
}

// median returns a median, or NaN.
func (m medians) median(k sample.Key) float64 {
	if x, ok := m[k]; ok {
		return x
	}
	return math.NaN()
}

// errNoQuantities is the error of a bench without quantities.
var errNoQuantities = errors.New("there is nothing to measure")
