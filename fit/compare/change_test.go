package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// changing is a set of round trips of 40 repetitions at three sizes, the last of which takes a
// factor longer.
func changing(library string, factor float64, seed uint64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := &sample.Set{}
	for _, k := range []int{8, 64, 512} {
		f := 1.0
		if k == 512 {
			f = factor
		}
		x := sample.Series{Key: sample.Key{Platform: "p", Library: library, Clock: "real", Place: "inter", Mode: "send", Protocol: "auto", Timer: sample.TimerRTT, Bytes: k}}
		for range 40 {
			x.Times = append(x.Times, unit.Time(f*(10+0.2*rng.Float64())*float64(unit.Microsecond)))
		}
		s.Series = append(s.Series, x)
	}
	return s
}

// A change that was planted is found at its size and at no other, with its interval around it,
// between libraries of other names too, and in the mean with its part.
func TestChanges(t *testing.T) {
	set, err := FindChanges(changing("one", 1, 1), changing("two", 1.1, 2), clean.Options{})
	if err != nil || len(set.Changes) != 3 {
		t.Fatalf("%v, %v", set, err)
	}
	for _, c := range set.Changes {
		want := map[int]Outcome{8: NoDifferenceOutcome, 64: NoDifferenceOutcome, 512: WorseOutcome}[c.Bytes]
		if c.Outcome != want {
			t.Errorf("%d bytes: %+v, want %s", c.Bytes, c, want)
		}
	}
	if c := set.Changes[2]; c.Low > 1.1 || c.High < 1.1 || math.Abs(c.Ratio-1.1) > 0.01 {
		t.Errorf("a change of 10 %%: %+v", c)
	}
	mean, want := GeometricMean(set.Changes), math.Cbrt(1.1)
	if math.Abs(mean.Ratio-want) > 0.01 || mean.Low > mean.Ratio || mean.High < mean.Ratio || mean.High-mean.Low > 0.01 {
		t.Errorf("geometric mean %+v, want %v with an interval of less than a percent", mean, want)
	}
	other := changing("one", 1, 1)
	for i := range other.Series {
		other.Series[i].Mode = "ssend"
	}
	if _, err := FindChanges(changing("one", 1, 1), other, clean.Options{}); err == nil {
		t.Error("files without a common mode were compared")
	}
}

// Fewer than five samples show no interval, and no outcome.
func TestChangesOfFewSamples(t *testing.T) {
	few := func(s *sample.Set) *sample.Set {
		for i := range s.Series {
			s.Series[i].Times = s.Series[i].Times[:4]
		}
		return s
	}
	set, err := FindChanges(changing("one", 1, 1), few(changing("two", 1.5, 2)), clean.Options{})
	if err != nil || len(set.Changes) != 3 {
		t.Fatalf("%v, %v", set, err)
	}
	if mean := GeometricMean(set.Changes); !math.IsNaN(mean.Low) || math.Abs(mean.Ratio-math.Cbrt(1.5)) > 0.02 {
		t.Errorf("geometric mean %+v of changes without intervals", mean)
	}
	for _, c := range set.Changes {
		if !math.IsNaN(c.Low) || !math.IsNaN(c.High) || c.Outcome != "" || !(c.Ratio > 0.9) {
			t.Errorf("%+v", c)
		}
	}
	table, err := CompareSubjects([]sample.Machine{{Set: few(changing("one", 1, 1))}, {Set: few(changing("two", 1.5, 2))}}, clean.Options{}, 0.2, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.Rows {
		for _, v := range r.Values {
			if r.ReferenceIndex >= 0 || !math.IsNaN(v.Low) || !math.IsNaN(v.RatioLow) || v.Outcome != "" {
				t.Errorf("%s of %d bytes: reference %d, %+v, ratio from %v, %s", r.Name, r.Bytes, r.ReferenceIndex, v.Parameter, v.RatioLow, v.Outcome)
			}
		}
	}
}
