package fit

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
)

// Whatever the samples, no parameter is NaN without saying so, infinite or below zero, nor is an
// end of its interval, and the value lies in it. Files have no such number either.
func TestNothingBelowZero(t *testing.T) {
	seeds := 300
	if !fittest.Soak() {
		seeds = 60
	}
	rows := make([]int, seeds)
	clean.Parallel(seeds, func(seed int) {
		r, err := Fit(fittest.Nasty(uint64(seed)), clean.Options{Replicates: 40})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return
		}
		for _, p := range r.Parameters {
			rows[seed]++
			if math.IsNaN(p.Value) && math.IsNaN(p.Low) && math.IsNaN(p.High) && strings.HasSuffix(p.Method, params.UnidentifiableSuffix) && p.Verdict == params.NotIdentifiable {
				continue
			}
			if math.IsNaN(p.Low) && math.IsNaN(p.High) && p.Verdict != params.Good { // of few samples a cell
				p.Low, p.High = p.Value, p.Value
			}
			if !(0 <= p.Low && p.Low <= p.Value && p.Value <= p.High && p.High < 1e15) {
				t.Errorf("seed %d: %+v", seed, p)
			}
			if p.Value == 0 && p.Unit != params.PerByte && !p.IsBound() {
				t.Errorf("seed %d: nothing for a time: %+v", seed, p)
			}
		}
		var b bytes.Buffer
		if err := params.WriteParameters(&b, r.Parameters); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		back, err := params.ReadParameters(&b, "written")
		if err != nil || len(back) != len(r.Parameters) {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
	all := 0
	for _, n := range rows {
		all += n
	}
	if all < 20*seeds {
		t.Errorf("only %d rows of %d sets", all, seeds)
	}
}
