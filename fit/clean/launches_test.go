package clean_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Launches differ by more than the repetitions in one of them, and the interval must say so.
func TestLaunches(t *testing.T) {
	set := &sample.Set{}
	rng := rand.New(rand.NewPCG(1, 7))
	for launch, median := range []float64{23, 57, 25, 26, 60, 24, 58, 27, 59, 25} {
		s := fittest.SeriesAt16Bytes("send", sample.Timer11)
		s.Launch = launch
		for range 200 {
			s.Times = append(s.Times, unit.FromMicros(median*(1+0.01*rng.NormFloat64())))
		}
		set.Series = append(set.Series, s)
	}
	p := fitcheck.Fit(t, set, clean.Options{}).Curves[0].Points[0]
	// the median of ten is the mean of the fifth and sixth
	if math.Abs(p.Value-26.5) > 0.2 || p.Low > 25.5 || p.High < 40 || p.SampleCount != 2000 {
		t.Errorf("%+v", p)
	}
}

// Launches that differ, each of them undisturbed at other sizes, make no step of a straight line.
func TestLaunchesOfACurve(t *testing.T) {
	set := &sample.Set{}
	for i, k := range []int{0, 64, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192} {
		for launch := range 5 {
			us := (2 + 0.001*float64(k)) * (1 + 0.5*float64(launch))
			s := fittest.SeriesAt16Bytes("send", sample.TimerRTT, slices.Repeat([]float64{us, us * 1.001}, 5)...)
			s.Bytes, s.Clock, s.Launch, s.Disturbed = k, "real", launch, i/2 != launch
			set.Series = append(set.Series, s)
		}
	}
	r := fitcheck.Fit(t, set, clean.Options{})
	for _, c := range r.Curves {
		if c.Timer == sample.TimerRTT && (len(c.Pieces) != 1 || !(c.Pieces[0].Value > 3.9 && c.Pieces[0].Value < 4.1)) {
			t.Errorf("a line of 4 us and 0.002 us/B became %+v", c.Pieces)
		}
	}
	if !fitcheck.HasWarningOf(r, "", "samples", clean.CodeDisturbedUsed) {
		t.Errorf("no warning: %v", r.Warnings)
	}
}
