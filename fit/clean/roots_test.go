package clean_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/microbench/sample"
)

func TestRoots(t *testing.T) {
	set := &sample.Set{
		Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}},
		Series: []sample.Series{
			fittest.SeriesAt16Bytes("send", sample.Timer11, append(fittest.Repeat(20, 30), fittest.Repeat(20, 35)...)...),    // a stall with the root at P2
			fittest.SeriesAt16Bytes("send", sample.Timer12, append(fittest.Repeat(20, 10.05), fittest.Repeat(20, 10)...)...), // within a percent
			fittest.SeriesAt16Bytes("send", sample.Timer21, append(fittest.Repeat(20, 55), fittest.Repeat(20, 51)...)...),    // skew 2
			fittest.SeriesAt16Bytes("isend", sample.Timer21, append(fittest.Repeat(20, 9), fittest.Repeat(20, 8)...)...),
			fittest.SeriesAt16Bytes("isend", sample.Timer11, fittest.Repeat(21, 9)...),
		},
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	want := map[string]float64{"send timer11": 30, "send timer12": 10.025, "send timer21": 53, "isend timer21": 8, "isend timer11": 9}
	for _, c := range r.Curves {
		if w, ok := want[c.Mode+" "+c.Timer]; ok && math.Abs(c.Points[0].Value-w) > 1e-9 {
			t.Errorf("%s %s: %v, want %v", c.Mode, c.Timer, c.Points[0].Value, w)
		}
	}
	for _, w := range []struct {
		Mode, timer, code string
		want              bool
	}{
		{"send", sample.Timer11, clean.CodeRootsDisagree, true}, {"send", sample.Timer12, clean.CodeRootsDisagree, false},
		{"send", sample.Timer21, clean.CodeRootsDisagree, false}, {"isend", sample.Timer21, clean.CodeRootsDisagree, true},
		{"isend", sample.Timer11, clean.CodeOddReps, true},
	} {
		if fitcheck.HasWarningOf(r, w.Mode, w.timer, w.code) != w.want {
			t.Errorf("%+v: %v", w, r.Warnings)
		}
	}
	set.Facts[0].Value = "1"
	r = fitcheck.Fit(t, set, clean.Options{})
	if v := r.Curves[2].Points[0].Value; r.Curves[2].Timer != sample.Timer21 || v != 53 || fitcheck.HasWarning(r, clean.CodeRootsDisagree) || fitcheck.HasWarning(r, clean.CodeOddReps) {
		t.Errorf("one root: %+v, %v", r.Curves[2], r.Warnings) // the median of as many 51 as 55
	}
}

// Of many launches with two repetitions of each root a few disagree by chance; most of them do only
// if the roots differ.
func TestRootsOfLaunches(t *testing.T) {
	few := func(skew float64) *fit.Result {
		rng := rand.New(rand.NewPCG(1, 20))
		set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}}
		for launch := range 60 {
			var times []float64
			for i := range 4 {
				times = append(times, 30*(1+0.03*rng.NormFloat64())+skew*float64(i/2))
			}
			s := fittest.SeriesAt16Bytes("send", sample.TimerIdle, times...)
			s.Launch = launch
			set.Series = append(set.Series, s)
		}
		return fitcheck.Fit(t, set, clean.Options{})
	}
	r := few(0)
	if p := r.Curves[0].Points[0]; fitcheck.HasWarningOf(r, "send", sample.TimerIdle, clean.CodeRootsDisagree) || math.Abs(p.Value-30) > 0.4 {
		t.Errorf("alike: %+v, %v", p, r.Warnings)
	}
	r = few(20)
	if p := r.Curves[0].Points[0]; !fitcheck.HasWarningOf(r, "send", sample.TimerIdle, clean.CodeRootsDisagree) || math.Abs(p.Value-30) > 0.4 {
		t.Errorf("20 us apart: %+v, %v", p, r.Warnings)
	}
}
