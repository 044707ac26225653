package microbench

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Of 1 to 100 the interval is from the 40th to the 61st: ⌊(100−19.6)/2⌋ and ⌈1+(100+19.6)/2⌉. Of
// five samples there is none.
func TestMedian(t *testing.T) {
	var times []unit.Time
	for i := range unit.Time(100) {
		times = append(times, 100-i)
	}
	if e := medianEstimate(times); e.value != 50.5 || e.halfWidth != 10.5 {
		t.Errorf("got %v", e)
	}
	if e := medianEstimate(times[:5]); e.value != 3 || !math.IsInf(e.halfWidth, 1) {
		t.Errorf("of five: %v", e)
	}
	if e := medianEstimate(nil); !math.IsInf(e.halfWidth, 1) {
		t.Errorf("of none: %v", e)
	}
}

// Half of the interval of four numbers 1, 2, 3, 4: t(0.975, 3)·s/√4 = 3.182·1.2910/2 = 2.054.
func TestAcross(t *testing.T) {
	if e := estimateOverLaunches([]float64{4, 2, 1, 3}); math.Abs(e.value-2.5) > 1e-9 || math.Abs(e.halfWidth-2.054) > 0.001 {
		t.Errorf("got %v", e)
	}
	if e := estimateOverLaunches([]float64{4}); e.isPreciseWithin(0.5, 0) {
		t.Error("one launch says what others would")
	}
}

// An interval that is claimed to hold the median does so in 19 of 20 cases, with skewed noise as
// real machines have it: the median of an exponential distribution is ln 2.
func TestMedianHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	held, cases := 0, 2000
	for range cases {
		times := make([]unit.Time, 51)
		for i := range times {
			times[i] = unit.Time(1000 * rng.ExpFloat64())
		}
		e := medianEstimate(times)
		r := 1.96 * math.Sqrt(51)
		a, b := times[int((51-r)/2)-1], times[int(math.Ceil(1+(51+r)/2))-1]
		if middle := unit.Time(693); a <= middle && middle <= b {
			held++
		}
		if got := float64(b-a) / 2; got != e.halfWidth {
			t.Fatalf("half of the interval is %v, not %v", e.halfWidth, got)
		}
	}
	if held < cases*94/100 {
		t.Errorf("held in %d of %d cases", held, cases)
	}
}

// A median is known if launches agree on it, whatever scatters inside them.
func TestJudge(t *testing.T) {
	c := &Experiment{Precision: 0.02}
	series := func(timer string, launch int, times ...unit.Time) sample.Series {
		return sample.Series{Key: sample.Key{Mode: "send", Timer: timer, Launch: launch}, Times: times}
	}
	var all []sample.Series
	for launch, x := range []unit.Time{1000, 1010, 990, 1005, 995} {
		all = append(all, series(sample.TimerRTT, launch, x, x/2, 9*x), series(sample.Timer11, launch, x*unit.Time(1+launch)), series(sample.Timer22, launch, x*unit.Time(launch)))
	}
	if known, of := c.countPreciseMedians(all); known != 1 || of != 2 {
		t.Errorf("%d of %d are known, not one of two", known, of)
	}
	c.ClockStep = 10_000
	if known, _ := c.countPreciseMedians(all); known != 2 {
		t.Error("what the clock cannot tell apart is not known")
	}
}
