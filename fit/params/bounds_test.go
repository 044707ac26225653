package params_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Where an overhead hides g, and where a receive waits for its sender, all that is known is a
// bound: it says so, it holds, and no model takes it for a value.
func TestBounds(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise, m.L, m.SendO, m.Gap = 0, 4.4, 60, 4
	r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{ReplicateCount: 20})
	for _, w := range []struct {
		mode, name, method string
		truth              float64
	}{{"ssend", "L", params.MethodReceiveDifference, m.L}, {"send", "g", params.MethodGapAtMostSendOverhead, m.Gap}} {
		p := fitcheck.Row(t, r, w.mode, w.name, w.method, params.UnitMicros)
		if !p.IsBound() || p.Value < w.truth || p.Verdict != params.UnidentifiableVerdict {
			t.Errorf("%+v is no bound of %v", p, w.truth)
		}
		if v, ok := params.ValueAt(r.Parameters, w.mode, w.name, 0); ok && v != m.L {
			t.Errorf("%s of %s is %v", w.name, w.mode, v)
		}
	}
}

// Fewer than five samples a cell show a value and no interval, and are no good parameter.
func TestFewSamples(t *testing.T) {
	m := fittest.TypicalMachine()
	for reps, shown := range map[int]bool{4: false, 6: true} {
		m.Reps = reps
		r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{ReplicateCount: 20})
		for _, p := range r.Parameters {
			if math.IsNaN(p.Value) {
				continue
			}
			if (!math.IsNaN(p.Low) && !math.IsNaN(p.High)) != shown || !shown && p.Verdict == params.GoodVerdict {
				t.Errorf("%d repetitions: %+v", reps, p)
			}
		}
	}
}

// The bound that an overhead is of g has the interval and the samples of the overhead, not those of
// the burst.
func TestBoundOfOverhead(t *testing.T) {
	set := &sample.Set{}
	for _, k := range []int{1, 16, 256} {
		set.Series = append(set.Series, fittest.SeriesAt16Bytes("send", sample.Timer11, 6, 6.1, 6.2, 6.3, 6.4, 6.5), fittest.SeriesAt16Bytes("send", sample.Timer12, 3, 3, 3, 3, 3, 3),
			fittest.SeriesAt16Bytes("send", sample.TimerTrain, 5, 5, 5))
		for i := range 3 {
			set.Series[len(set.Series)-1-i].Bytes = k
		}
	}
	p := fitcheck.Row(t, fitcheck.Fit(t, set, clean.Options{ReplicateCount: 20}), "send", "g", params.MethodGapAtMostSendOverhead, params.UnitMicros)
	if p.SampleCount != 6 || !(p.Low < p.Value && p.Value < p.High) {
		t.Errorf("%+v", p)
	}
}

func TestGapHidden(t *testing.T) {
	for _, c := range []struct {
		os, or, g float64
		method    string
		value     float64
		warned    bool // that g is about o_s is the rule, that nobody knows is none
	}{
		{30, 15, 20, params.MethodGapAtMostSendOverhead, 30, false}, {30, 30, 30, params.MethodGapAtMostSendOverhead, 30, false}, {15, 30, 20, params.MethodGapAtMostTrain, 30, true}, {1e-6, 1e6, 1e6, params.MethodGapAtMostTrain, 1e6, true},
	} {
		m := fittest.TypicalMachine()
		m.SendO, m.RecvO, m.Gap = c.os, c.or, max(c.g, c.os, c.or) // a receiver that is slower holds the sender back
		m.Noise = 0
		r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
		p := fitcheck.Row(t, r, "send", "g", c.method, params.UnitMicros)
		if p.Verdict != params.UnidentifiableVerdict || p.Value != c.value || fitcheck.HasWarningOf(r, "send", "g", clean.CodeUnidentified) != c.warned {
			t.Errorf("%+v: %+v, %v", c, p, r.Warnings)
		}
	}
	m := fittest.TypicalMachine()
	m.SendO, m.Gap = 30, 31
	p := fitcheck.Row(t, fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{}), "send", "g", params.MethodTrain, params.UnitMicros)
	if p.Verdict != params.GoodVerdict || math.Abs(p.Value-31) > 0.5 {
		t.Errorf("a gap a little above the overhead: %+v", p)
	}
}

// Overheads that are longer than the way, as over TCP on one machine: the textbook latency is
// negative, and there is no number.
func TestNegativeLatency(t *testing.T) {
	m := fittest.TypicalMachine()
	m.L = -5
	r := fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	p := fitcheck.Row(t, r, "message", "L", params.MethodHalfRoundTripLessOverheads+params.UnidentifiableMethodSuffix, params.UnitMicros)
	if !math.IsNaN(p.Value) || !math.IsNaN(p.Low) || p.Verdict != params.UnidentifiableVerdict {
		t.Errorf("%+v", p)
	}
	if !fitcheck.HasWarningOf(r, "message", "L", clean.CodeNegativeLatency) {
		t.Errorf("no warning in %v", r.Warnings)
	}
	if _, ok := params.ValueAt(r.Parameters, "message", "L", 1); ok {
		t.Error("a latency that is not identifiable has a value")
	}
	if p := fitcheck.Row(t, r, "message", "L", params.MethodHalfRoundTrip, params.UnitMicros); math.Abs(p.Value-40) > 1 { // -5 + 30 + 15
		t.Errorf("%+v", p)
	}

	m.L = 0.01
	r = fitcheck.Fit(t, m.Samples(1, fittest.WholePlan), clean.Options{})
	fitcheck.Row(t, r, "message", "L", params.MethodHalfRoundTripLessOverheads+params.UnidentifiableMethodSuffix, params.UnitMicros)
	if !fitcheck.HasWarningOf(r, "message", "L", clean.CodeUnidentified) && !fitcheck.HasWarningOf(r, "message", "L", clean.CodeNegativeLatency) {
		t.Errorf("no warning of a latency within its interval of nothing: %v", r.Warnings)
	}
}

// A curve that no few straight pieces describe.
func TestNotLinear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	set := fittest.SamplesOfFormula(rng, fittest.EvenlySpacedSizes(24), 100, 0.01, func(k float64) float64 { return 10 + 5*math.Sin(k) })
	r := fitcheck.Fit(t, set, clean.Options{})
	if !fitcheck.HasWarningOf(r, "send", "o_s", clean.CodeNotLinear) {
		t.Errorf("no warning in %v", r.Warnings)
	}
	if !slices.ContainsFunc(r.Parameters, func(p params.Parameter) bool {
		return p.Verdict == params.BadVerdict && p.MedianFitDeviation > 0.1 && p.LargestFitDeviation >= p.MedianFitDeviation
	}) {
		t.Errorf("no range is bad: %+v", r.Parameters)
	}
}
