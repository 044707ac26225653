package fit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// nasty is a data set as no machine should give one: times of no length, of some steps of a coarse clock, that fall with length or differ by ten orders; few sizes, few
// repetitions, launches that have little in common, timers that are missing, and of every third set processors that are slowed at times.
func nasty(seed uint64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 22))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: []string{"1", "2"}[rng.IntN(2)]}, {Key: sample.Resolution, Value: []string{"0", "0.001", "1"}[rng.IntN(3)]}}}
	all := []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.RTT, sample.Train, sample.Idle, sample.Stream, sample.Get, sample.PRTT(10), sample.PRTTWaiting(10)}
	sizes := 1 + rng.IntN(20)
	for _, mode := range []string{"send", "isend", "ssend", "message"} {
		for _, timer := range all {
			if rng.IntN(3) == 0 {
				continue
			}
			level, slope, noise := math.Pow(10, rng.Float64()*6-4), math.Pow(10, rng.Float64()*6-8)*float64(rng.IntN(4)-1), []float64{0, 0.02, 0.5, 5}[rng.IntN(4)]
			at, step := 1<<rng.IntN(20), (rng.Float64()*4-1)*level
			for launch := range 1 + rng.IntN(4) {
				factor := math.Exp(rng.NormFloat64() * noise / 3)
				for i := range sizes {
					s := sample.Series{Key: sample.Key{Platform: "x", Clock: "real", Place: "intra", Mode: mode, Protocol: "auto", Timer: timer, Bytes: 1 << i >> 1, Launch: launch}}
					for range 2 + 2*rng.IntN(12) {
						t := level + slope*float64(s.Bytes)
						if s.Bytes >= at {
							t += step
						}
						if t *= factor * (1 + noise*rng.NormFloat64()); rng.IntN(10) == 0 {
							t *= math.Pow(10, 4*rng.Float64())
						}
						s.Times = append(s.Times, max(0, unit.FromMicros(t)))
					}
					set.Series = append(set.Series, s)
				}
			}
		}
	}
	if seed%3 == 2 {
		disturb(set, rng)
	}
	return set
}

// disturb divides series into an undisturbed part and a disturbed one, both of any length.
func disturb(set *sample.Set, rng *rand.Rand) {
	most := 1 + rng.IntN(10)
	for i := range set.Series {
		x := &set.Series[i]
		if rng.IntN(20) == 0 {
			continue
		}
		n := len(x.Times) * rng.IntN(most) / 10
		disturbed := *x
		x.Times = x.Times[:n:n]
		disturbed.Disturbed, disturbed.Times = true, disturbed.Times[n:]
		set.Series = append(set.Series, disturbed)
	}
}

// Whatever the samples, no parameter is NaN without saying so, infinite or below zero, nor is an end of its interval, and the value lies in it. Files have no such number either.
func TestNothingBelowZero(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 60
	}
	rows := make([]int, seeds)
	parallel(seeds, func(seed int) {
		r, err := Fit(nasty(uint64(seed)), Options{Replicates: 40})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return
		}
		for _, p := range r.Parameters {
			rows[seed]++
			if math.IsNaN(p.Value) && math.IsNaN(p.Low) && math.IsNaN(p.High) && strings.HasSuffix(p.Method, unidentifiable) && p.Verdict == NotIdentifiable {
				continue
			}
			if !(0 <= p.Low && p.Low <= p.Value && p.Value <= p.High && p.High < 1e15) {
				t.Errorf("seed %d: %+v", seed, p)
			}
			if p.Value == 0 && p.Unit != PerByte && !p.Bound() {
				t.Errorf("seed %d: nothing for a time: %+v", seed, p)
			}
		}
		var b bytes.Buffer
		if err := WriteParameters(&b, r.Parameters); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		back, err := ReadParameters(&b, "written")
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
