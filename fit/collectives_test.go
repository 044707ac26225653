package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// bcast returns a series of a broadcast of 8 bytes, of times in microseconds.
func bcast(algorithm, timer string, launch int, micros ...int) sample.Series {
	s := sample.Series{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "bcast", Protocol: algorithm, Timer: timer, Bytes: 8, Launch: launch}}
	for _, t := range micros {
		s.Times = append(s.Times, unit.Time(t)*unit.Microsecond)
	}
	return s
}

var ofFour = []sample.Fact{{Key: sample.Ranks, Value: "4"}}

// Each time is the median of its launches' medians. What was not measured is no number, and the time that counts is then another.
func TestCollectives(t *testing.T) {
	set := &sample.Set{Facts: ofFour, Series: []sample.Series{
		bcast("linear", sample.CollMin, 0, 1, 2, 9), bcast("linear", sample.CollMax, 0, 10, 30, 20), bcast("linear", sample.CollMax, 1, 40), bcast("linear", sample.CollMax, 2, 90),
		bcast("binomial", sample.CollMax, 0, 11), bcast("binomial", sample.CollLast, 0, 14, 12),
		{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "send", Timer: sample.RTT, Bytes: 8}, Times: []unit.Time{1}},
	}}
	got, err := Collectives(set)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	linear, binomial := got[0], got[1]
	if linear.Algorithm != "linear" || linear.Operation != "bcast" || linear.Ranks != 4 || linear.Bytes != 8 || linear.Min != 2 || linear.Max != 40 ||
		!math.IsNaN(linear.Median) || !math.IsNaN(linear.Last) || linear.Samples != 5 {
		t.Errorf("%+v", linear)
	}
	if took, timer := linear.Took(); took != 40 || timer != sample.CollMax {
		t.Errorf("linear took %v by %s", took, timer)
	}
	if took, timer := binomial.Took(); took != 13 || timer != sample.CollLast {
		t.Errorf("binomial took %v by %s", took, timer)
	}
	set.Facts = nil
	if _, err := Collectives(set); err == nil || !strings.Contains(err.Error(), "ranks") {
		t.Errorf("without a number of ranks: %v", err)
	}
}

// A model may take another algorithm for the fastest than what is: what that costs is the loss.
func TestFastestOf(t *testing.T) {
	of := func(algorithm string, bytes int, took, predicted float64) CollectiveComparison {
		return CollectiveComparison{Collective: Collective{Operation: "bcast", Algorithm: algorithm, Ranks: 4, Bytes: bytes, Last: took, Max: 1}, Predicted: predicted}
	}
	fs := FastestOf([]CollectiveComparison{of("linear", 8, 10, 9), of("binomial", 8, 8, 12), of("linear", 64, 20, 22), of("binomial", 64, 30, 25), of("linear", 512, 1, 1)})
	if len(fs) != 2 {
		t.Fatalf("%+v", fs)
	}
	if f := fs[0]; f.Algorithm != "binomial" || f.ByModel.Algorithm != "linear" || f.Loss() != 25 {
		t.Errorf("of 8 bytes: %+v, a loss of %v %%", f, f.Loss())
	}
	if f := fs[1]; f.Algorithm != "linear" || f.ByModel.Algorithm != "linear" || f.Loss() != 0 {
		t.Errorf("of 64 bytes: %+v, a loss of %v %%", f, f.Loss())
	}
	c := of("linear", 8, 10, 9).Comparison()
	if c.Quantity != "coll_last(bcast:4)" || c.Protocol != "linear" || c.Predicted != 9 || c.Measured != 10 || c.Error != -10 {
		t.Errorf("%+v", c)
	}
}

// Collective operations show no parameters, and do not disturb those of what was measured beside them.
func TestFitLeavesCollectivesOut(t *testing.T) {
	together := bcast("linear", sample.CollMax, 0, 10, 20)
	if _, err := Fit(&sample.Set{Facts: ofFour, Series: []sample.Series{together}}, Options{}); err == nil || !strings.Contains(err.Error(), "collective") {
		t.Errorf("of collective operations alone: %v", err)
	}
	set := &sample.Set{Facts: ofFour}
	for _, k := range []int{0, 16, 64, 256} {
		set.Series = append(set.Series, sample.Series{Key: sample.Key{Platform: "p", Library: "l", Clock: "real", Place: "inter", Mode: "send", Timer: sample.RTT, Bytes: k},
			Times: []unit.Time{unit.Time(10+k) * unit.Microsecond, unit.Time(10+k) * unit.Microsecond}})
	}
	alone, err := Fit(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	set.Series = append(set.Series, together)
	both, err := Fit(set, Options{})
	if err != nil || len(both.Curves) != len(alone.Curves) || len(both.Parameters) != len(alone.Parameters) || len(both.Warnings) != len(alone.Warnings) {
		t.Errorf("%v: %+v, not %+v", err, both, alone)
	}
}
