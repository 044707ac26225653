package fit_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Whatever the samples, no parameter is NaN without saying so, infinite or below zero, nor is an
// end of its interval, and the value lies in it. Files have no such number either.
func TestNothingBelowZero(t *testing.T) {
	seeds := 300
	if !fittest.IsSoakTest() {
		seeds = 60
	}
	rows := make([]int, seeds)
	clean.RunParallel(seeds, func(seed int) {
		r, err := fit.Fit(fittest.DegenerateSamples(uint64(seed)), clean.Options{ReplicateCount: 40})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return
		}
		for _, p := range r.Parameters {
			rows[seed]++
			if math.IsNaN(p.Value) && math.IsNaN(p.Low) && math.IsNaN(p.High) && strings.HasSuffix(p.Method, params.UnidentifiableMethodSuffix) && p.Verdict == params.UnidentifiableVerdict {
				continue
			}
			if math.IsNaN(p.Low) && math.IsNaN(p.High) && p.Verdict != params.GoodVerdict { // of few samples a cell
				p.Low, p.High = p.Value, p.Value
			}
			if !(0 <= p.Low && p.Low <= p.Value && p.Value <= p.High && p.High < 1e15) {
				t.Errorf("seed %d: %+v", seed, p)
			}
			if p.Value == 0 && p.Unit != params.UnitMicrosPerByte && !p.IsBound() {
				t.Errorf("seed %d: nothing for a time: %+v", seed, p)
			}
		}
		var b bytes.Buffer
		if err := params.WriteParameters(&b, r.Parameters); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		back, _, err := params.ReadParameters(&b, "written")
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

// Any set gives a result, in which numbers are numbers and intervals hold their values.
func TestAnySet(t *testing.T) {
	modes, names := []string{"other"}, []string{"other"}
	for _, m := range sample.Modes {
		modes = append(modes, m.Name)
	}
	for _, x := range sample.Timers {
		if !x.IsCollective {
			names = append(names, x.Name)
		}
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		set := &sample.Set{}
		if rng.IntN(2) == 0 {
			set.Facts = append(set.Facts, sample.Fact{Key: sample.RootsFact, Value: "2"})
		}
		seen := map[sample.Key]bool{}
		for range rng.IntN(40) {
			k := fittest.Key(modes[rng.IntN(len(modes))], names[rng.IntN(len(names))], 1<<rng.IntN(6)-1)
			k.Launch = rng.IntN(2)
			if seen[k] {
				continue
			}
			seen[k] = true
			s := sample.Series{Key: k}
			for range rng.IntN(6) {
				s.Times = append(s.Times, unit.Time(rng.Int64N(1<<(1+rng.IntN(60)))-rng.Int64N(100)))
			}
			set.Series = append(set.Series, s)
		}
		r := fitcheck.Fit(t, set, clean.Options{ReplicateCount: 10})
		for _, p := range r.Parameters {
			if math.IsNaN(p.Value) != (p.Verdict == params.UnidentifiableVerdict) && !p.IsBound() {
				t.Errorf("seed %d: %+v", seed, p)
			}
			if p.Low > p.Value || p.Value > p.High || math.IsInf(p.Value, 0) || p.Verdict == "" || p.SampleCount <= 0 || p.From > p.To {
				t.Errorf("seed %d: %+v", seed, p)
			}
		}
		for _, c := range r.Curves {
			isOfTimers := strings.Contains(c.Timer, "-") // its samples are those of several timers, each of which may have too few
			for _, p := range c.Points {
				few := p.SampleCount < clean.MinSamplesForInterval || isOfTimers && math.IsNaN(p.Low)
				if few != (math.IsNaN(p.Low) && math.IsNaN(p.High)) || !few && !(p.Low <= p.Value && p.Value <= p.High) {
					t.Errorf("seed %d: %s %s: %+v", seed, c.Mode, c.Timer, p)
				}
			}
			for _, p := range c.Pieces {
				if !(p.Low <= p.Value && p.Value <= p.High && p.SlopeLow <= p.Slope && p.Slope <= p.SlopeHigh) {
					t.Errorf("seed %d: %s %s: %+v", seed, c.Mode, c.Timer, p)
				}
			}
		}
	}
}
