package clean_test

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// The undisturbed samples of a curve count if launches that have some at every size have enough.
// Else all count, in which the first half of the repetitions stays the one with the root at P1, and
// one warning counts the curves.
func TestUndisturbed(t *testing.T) {
	of := func(bytes, launch int, disturbed bool, times ...unit.Time) sample.Series {
		return sample.Series{Key: sample.Key{Platform: "p", Clock: "real", Place: "inter", Mode: "send", Timer: sample.TimerRTT, Bytes: bytes, Launch: launch, Disturbed: disturbed}, Times: times}
	}
	calm := func(bytes, launch int) sample.Series { return of(bytes, launch, false, 1, 2, 3) }
	six := func(bytes, launch int) sample.Series { return of(bytes, launch, false, 1, 2, 3, 4, 5, 6) }
	other := six(1, 0)
	other.Timer = sample.Timer11
	for name, c := range map[string]struct {
		in, want []sample.Series
		used, of int // of the warning; 0: there is none
	}{
		"few samples, none disturbed": {[]sample.Series{of(1, 0, false, 1, 2)}, []sample.Series{of(1, 0, false, 1, 2)}, 0, 0},
		"enough": {[]sample.Series{of(1, 0, false, 1, 2, 3, 4), of(1, 0, true, 9, 9), of(1, 1, false, 5)},
			[]sample.Series{of(1, 0, false, 1, 2, 3, 4), of(1, 1, false, 5)}, 0, 0},
		"a launch is excluded at all sizes": {[]sample.Series{calm(1, 0), calm(2, 0), calm(1, 1), calm(2, 1), calm(1, 2), of(2, 2, true, 9)},
			[]sample.Series{calm(1, 0), calm(2, 0), calm(1, 1), calm(2, 1)}, 0, 0},
		"sizes of different launches": {[]sample.Series{six(1, 0), of(2, 0, true, 9), of(1, 1, true, 9), six(2, 1), other},
			[]sample.Series{six(1, 0), of(2, 0, false, 9), of(1, 1, false, 9), six(2, 1), other}, 1, 2},
		"one of two launches": {[]sample.Series{six(1, 0), of(1, 1, true, 9)}, []sample.Series{six(1, 0)}, 0, 0},
		"one of three launches": {[]sample.Series{six(1, 0), of(1, 1, true, 9), of(1, 2, true, 9)},
			[]sample.Series{six(1, 0), of(1, 1, false, 9), of(1, 2, false, 9)}, 1, 1},
		"few samples at a size": {[]sample.Series{of(1, 0, false, 1, 2, 3, 4), of(1, 0, true, 8, 9), six(2, 0), of(2, 0, true, 7, 7)},
			[]sample.Series{of(1, 0, false, 1, 2, 8, 3, 4, 9), of(2, 0, false, 1, 2, 3, 7, 4, 5, 6, 7)}, 1, 1},
	} {
		got, warnings := clean.SelectUndisturbed(&sample.Set{Series: c.in})
		if !slices.EqualFunc(got.Series, c.want, func(a, b sample.Series) bool { return a.Key == b.Key && slices.Equal(a.Times, b.Times) }) {
			t.Errorf("%s: %v, want %v", name, got.Series, c.want)
		}
		if c.used == 0 && len(warnings) > 0 || c.used > 0 && (len(warnings) != 1 || warnings[0].Code != clean.CodeDisturbedUsed || warnings[0].AffectedSizeCount != c.used || warnings[0].SizeCount != c.of) {
			t.Errorf("%s: %+v", name, warnings)
		}
	}
}

// Where half of the samples take twice as long and are known to be disturbed, parameters are those
// of the others.
func TestDisturbedSamples(t *testing.T) {
	calm, mixed := &sample.Set{}, &sample.Set{}
	for _, k := range []int{0, 64, 1024, 4096} {
		for _, disturbed := range []bool{false, true} {
			us := 2 + 0.001*float64(k)
			if disturbed {
				us *= 2
			}
			s := fittest.SeriesAt16Bytes("send", sample.TimerRTT, slices.Repeat([]float64{us, us * 1.001}, 15)...)
			s.Bytes, s.Clock, s.Disturbed = k, "real", disturbed
			if mixed.Series = append(mixed.Series, s); !disturbed {
				calm.Series = append(calm.Series, s)
			}
		}
	}
	a, b := fitcheck.Fit(t, calm, clean.Options{}), fitcheck.Fit(t, mixed, clean.Options{})
	if len(a.Parameters) == 0 || !slices.EqualFunc(a.Parameters, b.Parameters, func(p, q params.Parameter) bool {
		return p.Name == q.Name && (p.Value == q.Value || p.Value != p.Value)
	}) {
		t.Errorf("%+v, want %+v", b.Parameters, a.Parameters)
	}
}
