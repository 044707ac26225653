package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Where an overhead hides g, and where a receive waits for its sender, all that is known is a
// bound: it says so, it holds, and no model takes it for a value.
func TestBounds(t *testing.T) {
	m := fittest.Typical()
	m.Noise, m.L, m.SendO, m.Gap = 0, 4.4, 60, 4
	r := mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{Replicates: 20})
	for _, w := range []struct {
		mode, name, method string
		truth              float64
	}{{"ssend", "L", params.MethodReceiveDifference, m.L}, {"send", "g", params.MethodGapAtMostSendOverhead, m.Gap}} {
		p := one(t, r, w.mode, w.name, w.method, params.Micros)
		if !p.IsBound() || p.Value < w.truth || p.Verdict != params.NotIdentifiable {
			t.Errorf("%+v is no bound of %v", p, w.truth)
		}
		if v, ok := params.ValueAt(r.Parameters, w.mode, w.name, 0); ok && v != m.L {
			t.Errorf("%s of %s is %v", w.name, w.mode, v)
		}
	}
}

// Fewer than five samples a cell show a value and no interval, and are no good parameter.
func TestFewSamples(t *testing.T) {
	m := fittest.Typical()
	for reps, shown := range map[int]bool{4: false, 6: true} {
		m.Reps = reps
		r := mustFit(t, m.Samples(1, fittest.WholePlan), clean.Options{Replicates: 20})
		for _, p := range r.Parameters {
			if math.IsNaN(p.Value) {
				continue
			}
			if (!math.IsNaN(p.Low) && !math.IsNaN(p.High)) != shown || !shown && p.Verdict == params.Good {
				t.Errorf("%d repetitions: %+v", reps, p)
			}
		}
	}
}

// A line of many sizes does not pass over the smallest.
func TestSmallestSize(t *testing.T) {
	set := &sample.Set{}
	rng := rand.New(rand.NewPCG(1, 21))
	for _, k := range []int{1, 4, 16, 256, 1024, 4096, 16384, 73728} {
		var times []float64
		for range 20 {
			us := 0.086 + float64(k)/4000
			if k == 1 { // too few sizes for a protocol of their own
				us = 0.03
			}
			times = append(times, us*(1+0.05*rng.NormFloat64()))
		}
		s := fittest.Series("send", sample.Timer12, times...)
		s.Bytes = k
		set.Series = append(set.Series, s)
	}
	r := mustFit(t, set, clean.Options{Replicates: 20})
	if v, ok := params.ValueAt(r.Parameters, "send", "o_r", 1); !ok || math.Abs(v-0.03) > 0.1*0.03 {
		t.Errorf("o_r of a byte is %v: %+v", v, r.Parameters)
	}
	checkSmallest(t, r.Curves)
}

// The bound that an overhead is of g has the interval and the samples of the overhead, not those of
// the burst.
func TestBoundOfOverhead(t *testing.T) {
	set := &sample.Set{}
	for _, k := range []int{1, 16, 256} {
		set.Series = append(set.Series, fittest.Series("send", sample.Timer11, 6, 6.1, 6.2, 6.3, 6.4, 6.5), fittest.Series("send", sample.Timer12, 3, 3, 3, 3, 3, 3),
			fittest.Series("send", sample.TimerTrain, 5, 5, 5))
		for i := range 3 {
			set.Series[len(set.Series)-1-i].Bytes = k
		}
	}
	p := one(t, mustFit(t, set, clean.Options{Replicates: 20}), "send", "g", params.MethodGapAtMostSendOverhead, params.Micros)
	if p.Samples != 6 || !(p.Low < p.Value && p.Value < p.High) {
		t.Errorf("%+v", p)
	}
}
