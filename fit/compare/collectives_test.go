package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"

	"github.com/loggp/loggp/fit/clean"
)

// bcast returns a series of a broadcast of 8 bytes, of times in microseconds.
func bcast(algorithm, timer string, launch int, micros ...int) sample.Series {
	s := sample.Series{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "bcast", Protocol: algorithm, Timer: timer, Bytes: 8, Launch: launch}}
	for _, t := range micros {
		s.Times = append(s.Times, unit.Time(t)*unit.Microsecond)
	}
	return s
}

var ofFour = []sample.Fact{{Key: sample.RanksFact, Value: "4"}}

// Each time is the median of its launches' medians. What was not measured is no number, and the
// time that counts is then another.
func TestCollectives(t *testing.T) {
	set := &sample.Set{Facts: ofFour, Series: []sample.Series{
		bcast("linear", sample.TimerCollMin, 0, 1, 2, 9), bcast("linear", sample.TimerCollMax, 0, 10, 30, 20), bcast("linear", sample.TimerCollMax, 1, 40), bcast("linear", sample.TimerCollMax, 2, 90),
		bcast("binomial", sample.TimerCollMax, 0, 11), bcast("binomial", sample.TimerCollLast, 0, 14, 12),
		{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "send", Timer: sample.TimerRTT, Bytes: 8}, Times: []unit.Time{1}},
	}}
	got, err := ReadCollectives(set)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	linear, binomial := got[0], got[1]
	if linear.Algorithm != "linear" || linear.Operation != "bcast" || linear.Ranks != 4 || linear.Bytes != 8 || linear.Min != 2 || linear.Max != 40 ||
		!math.IsNaN(linear.Median) || !math.IsNaN(linear.LastRankEnd) || linear.SampleCount != 5 {
		t.Errorf("%+v", linear)
	}
	if took, timer := linear.RankedTime(); took != 40 || timer != sample.TimerCollMax {
		t.Errorf("linear took %v by %s", took, timer)
	}
	if took, timer := binomial.RankedTime(); took != 13 || timer != sample.TimerCollLast {
		t.Errorf("binomial took %v by %s", took, timer)
	}
	set.Facts = nil
	if _, err := ReadCollectives(set); err == nil || !strings.Contains(err.Error(), "ranks") {
		t.Errorf("without a number of ranks: %v", err)
	}
}

// Of the time that counts there is an interval, and what is wrong with its samples is known: of a
// real clock, or of virtual time with noise, few are too few; without noise one is as good as many.
func TestCollectiveDoubts(t *testing.T) {
	noise := func(x string) sample.Fact {
		return sample.Fact{Key: sample.NoiseFact, Value: x + " relative standard deviation"}
	}
	for _, c := range []struct {
		clock  string
		facts  []sample.Fact
		micros []int
		weak   bool
		codes  []string
	}{
		{"real", nil, []int{100, 101, 100, 99, 100, 101}, false, nil},
		{"real", nil, []int{100, 101}, true, []string{clean.CodeFewReps}},
		{"virtual", nil, []int{100}, false, nil},
		{"virtual", []sample.Fact{noise("0%")}, []int{100}, false, nil},
		{"virtual", []sample.Fact{noise("1%")}, []int{100}, true, []string{clean.CodeFewReps}},
		{"virtual", []sample.Fact{noise("1%")}, []int{100, 100, 101, 99, 100}, false, nil},
		{"real", nil, []int{100, 150, 100, 150, 100, 150, 60, 200}, true, []string{clean.CodeFewReps}},
		{"real", []sample.Fact{{Key: sample.ResolutionFact, Value: "10"}}, []int{100, 100, 100, 100, 100, 100}, true, []string{clean.CodeCoarseTimer}},
		{"real", []sample.Fact{{Key: sample.StartFact, Value: sample.NoCommonStartPrefix + "hosts have clocks of their own"}}, []int{100, 100, 100, 100, 100}, false, []string{clean.CodeNoCommonStart}},
		{"real", []sample.Fact{sample.AgreedStartFact(10, 100)}, []int{100, 100, 100, 100, 100}, false, nil},
		{"real", []sample.Fact{sample.AgreedStartFact(11, 100)}, []int{100, 100, 100, 100, 100}, false, []string{clean.CodeLateStarts}},
	} {
		s := bcast("linear", sample.TimerCollLast, 0, c.micros...)
		s.Clock = c.clock
		set := &sample.Set{Facts: append(c.facts, ofFour...), Series: []sample.Series{s, bcast("linear", sample.TimerCollMax, 0, 1000)}}
		set.Series[1].Clock = c.clock
		all, err := ReadCollectives(set)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		x := all[0]
		if few := slices.Contains(c.codes, clean.CodeFewReps) && len(c.micros) < clean.MinSamplesForInterval; few != math.IsNaN(x.Low) {
			t.Errorf("%+v: the interval is from %v to %v", c, x.Low, x.High)
		}
		if took, _ := x.RankedTime(); x.IsWeak() != c.weak || x.Low > took || x.High < took || len(c.micros) > 2 && c.weak == (x.High-x.Low < 3) {
			t.Errorf("%+v: %+v, weak %v", c, x, x.IsWeak())
		}
		var codes []string
		for _, w := range CollectiveWarnings([]sample.Machine{{Set: set}}, []CollectiveSubject{{Times: all}}) {
			if codes = append(codes, w.Code); w.Code == clean.CodeStartsDiffer {
				codes = codes[:len(codes)-1]
			} else if w.AffectedSizeCount > 0 && (w.Mode != "bcast:4" || w.Parameter != "1 of 1 times") {
				t.Errorf("%+v", w)
			}
		}
		if !slices.Equal(codes, c.codes) {
			t.Errorf("%+v: warnings %v", c, codes)
		}
	}
}

// A time that depends on how repetitions begin is not one of the operation.
func TestStartsDiffer(t *testing.T) {
	for last, differ := range map[int]bool{49: true, 51: false, 199: false, 201: true} {
		set := &sample.Set{Facts: ofFour, Series: []sample.Series{bcast("linear", sample.TimerCollLast, 0, last, last, last, last, last), bcast("linear", sample.TimerCollMax, 0, 100)}}
		all, err := ReadCollectives(set)
		if err != nil {
			t.Fatal(err)
		}
		if ws := CollectiveWarnings([]sample.Machine{{Set: set}}, []CollectiveSubject{{Times: all}}); (len(ws) == 1 && ws[0].Code == clean.CodeStartsDiffer) != differ {
			t.Errorf("100 us behind a barrier, %d from a common start: %v", last, ws)
		}
	}
}

// Collective operations show no parameters, and do not disturb those of what was measured
// beside them.
func TestFitLeavesCollectivesOut(t *testing.T) {
	together := bcast("linear", sample.TimerCollMax, 0, 10, 20)
	if _, err := fit.Fit(&sample.Set{Facts: ofFour, Series: []sample.Series{together}}, clean.Options{}); err == nil || !strings.Contains(err.Error(), "collective") {
		t.Errorf("of collective operations alone: %v", err)
	}
	set := &sample.Set{Facts: ofFour}
	for _, k := range []int{0, 16, 64, 256} {
		set.Series = append(set.Series, sample.Series{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "send", Timer: sample.TimerRTT, Bytes: k},
			Times: []unit.Time{unit.Time(10+k) * unit.Microsecond, unit.Time(10+k) * unit.Microsecond}})
	}
	alone, err := fit.Fit(set, clean.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set.Series = append(set.Series, together)
	both, err := fit.Fit(set, clean.Options{})
	if err != nil || len(both.Curves) != len(alone.Curves) || len(both.Parameters) != len(alone.Parameters) || len(both.Warnings) != len(alone.Warnings) {
		t.Errorf("%v: %+v, not %+v", err, both, alone)
	}
}

// A file has a row for each time, and nothing where there is no number.
func TestWriteCollectives(t *testing.T) {
	c := CollectiveTimes{Platform: "p", Library: "l", Place: "inter", Clock: "real", Operation: "bcast", Algorithm: "linear", Ranks: 4, Bytes: 8, Min: 1, Median: 2, Max: 3.25, LastRankEnd: math.NaN(), Low: 3, High: 3.5, SampleCount: 7}
	var b strings.Builder
	if err := WriteCollectives(&b, append(WithoutPrediction([]CollectiveTimes{c}), CollectiveComparison{CollectiveTimes: c, Predicted: 9, Model: "x"})); err != nil {
		t.Fatal(err)
	}
	const row = "p,l,inter,real,bcast,linear,4,8,1,2,3.25,,3,3.5,7,"
	if want := collectiveHeader + "\n" + row + "\n" + row + "9\n"; b.String() != want {
		t.Errorf("%s, not\n%s", b.String(), want)
	}
}
