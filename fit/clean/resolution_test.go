package clean_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// The resolution of the timer is part of the interval of a time, and none of a slope.
func TestResolution(t *testing.T) {
	set := fittest.SamplesOfFormula(rand.New(rand.NewPCG(1, 10)), fittest.DoublingSizes(10), 30, 0, func(k float64) float64 { return 10 + 0.01*k })
	set.Facts = []sample.Fact{{Key: sample.ResolutionFact, Value: "0.1"}}
	r := fitcheck.Fit(t, set, clean.Options{})
	value, slope := fitcheck.Row(t, r, "send", "o_s", sample.Timer11, params.UnitMicros), fitcheck.Row(t, r, "send", "o_s", sample.Timer11, params.UnitMicrosPerByte)
	if math.Abs(value.High-value.Low-0.1) > 1e-6 || slope.High-slope.Low > 1e-9 {
		t.Errorf("%+v\n%+v", value, slope)
	}
	if p := r.Curves[0].Points[0]; math.Abs(p.High-p.Low-0.1) > 1e-6 {
		t.Errorf("%+v", p)
	}
	if fitcheck.HasWarning(r, clean.CodeCoarseTimer) {
		t.Errorf("%v", r.Warnings)
	}
	set.Facts[0].Value = "1"
	if r := fitcheck.Fit(t, set, clean.Options{}); !fitcheck.HasWarning(r, clean.CodeCoarseTimer) {
		t.Error("no warning of a timer with steps of a tenth of the time")
	}
}

// Of files that were read together each has a timer of its own: a coarse one says nothing of what
// another saw.
func TestResolutionOfFiles(t *testing.T) {
	fine := fittest.SamplesOfFormula(rand.New(rand.NewPCG(1, 10)), fittest.DoublingSizes(10), 30, 0.02, func(k float64) float64 { return 10 + 0.01*k })
	fine.Facts = []sample.Fact{{Key: sample.FileFact, Value: "fine.csv"}, {Key: sample.ResolutionFact, Value: "0.001"}}
	want := fitcheck.Fit(t, fine, clean.Options{})
	both := &sample.Set{Series: slices.Clone(fine.Series), Facts: append(slices.Clone(fine.Facts),
		sample.Fact{Key: sample.FileFact, Value: "coarse.csv"}, sample.Fact{Key: sample.ResolutionFact, Value: "1"})}
	for _, s := range fine.Series {
		s.Platform, s.File = "zebra", 1
		both.Series = append(both.Series, s)
	}
	got := fitcheck.Fit(t, both, clean.Options{})
	if n := len(want.Parameters); len(got.Parameters) != 2*n || !reflect.DeepEqual(got.Parameters[:n], want.Parameters) {
		t.Errorf("beside a coarse timer %+v\nalone %+v", got.Parameters, want.Parameters)
	}
	if slices.ContainsFunc(got.Warnings, func(w clean.Warning) bool { return w.Code == clean.CodeCoarseTimer && w.Platform != "zebra" }) || !fitcheck.HasWarning(got, clean.CodeCoarseTimer) {
		t.Errorf("%v", got.Warnings)
	}
}
