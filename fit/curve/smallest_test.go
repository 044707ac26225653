package curve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

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
		s := fittest.SeriesAt16Bytes("send", sample.Timer12, times...)
		s.Bytes = k
		set.Series = append(set.Series, s)
	}
	r := fitcheck.Fit(t, set, clean.Options{ReplicateCount: 20})
	if v, ok := params.ValueAt(r.Parameters, "send", "o_r", 1); !ok || math.Abs(v-0.03) > 0.1*0.03 {
		t.Errorf("o_r of a byte is %v: %+v", v, r.Parameters)
	}
	fitcheck.SmallestSizes(t, r.Curves)
}
