package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// Outcome says how a number of a subject compares with the reference.
type Outcome string

// The outcomes. A shorter time and a higher bandwidth are better.
const (
	BetterOutcome       Outcome = "better"        // the interval of the ratio is on that side of one
	WorseOutcome        Outcome = "worse"         // on the other
	NoDifferenceOutcome Outcome = "no difference" // it is around one, and no wider than twice the tolerance to either side: none is shown
	UndecidedOutcome    Outcome = "undecided"     // it holds one, and much else: more repetitions would say more
)

// estimate is a number with its interval, and the replicates that it comes from. The interval may
// be wider than that of the replicates: by the timer's resolution, or by the barrier's skew.
type estimate struct {
	value, low, high float64
	reps             []float64
}

// ratioOf returns a/b. Replicates are divided one by one; what either interval has beyond them is
// added to that of the ratio, whose ends are at zero or above. Without a ratio its numbers are NaN:
// if b may be zero, or a is not above zero.
func ratioOf(a, b estimate, level float64) estimate {
	if !(a.value > 0 && b.low > 0) || len(a.reps) != len(b.reps) {
		return estimate{math.NaN(), math.NaN(), math.NaN(), nil}
	}
	ratio := estimate{value: a.value / b.value, reps: make([]float64, len(a.reps))}
	for i := range ratio.reps {
		ratio.reps[i] = max(a.reps[i], 0) / b.reps[i]
		if b.reps[i] <= 0 {
			ratio.reps[i] = math.Inf(1)
		}
	}
	low, high := clean.UnsortedPercentileInterval(slices.Clone(ratio.reps), ratio.value, level)
	aLow, aHigh := a.endFactors(level)
	bLow, bHigh := b.endFactors(level)
	ratio.low, ratio.high = low*aLow/bHigh, high*aHigh/bLow
	return ratio
}

// endFactors returns by what factors the ends of the interval are further out than those of the
// replicates.
func (e estimate) endFactors(level float64) (low, high float64) {
	sorted := slices.Clone(e.reps)
	a, b := clean.UnsortedPercentileInterval(sorted, e.value, level)
	low, high = 1, 1
	if a > 0 && e.low < a {
		low = max(e.low, 0) / a
	}
	if b > 0 && e.high > b {
		high = e.high / b
	}
	return low, high
}

// judgeRatio judges the interval of a ratio, or returns "" where there is none. A rate is better if
// it is higher.
func judgeRatio(low, high, tolerance float64, rate bool) Outcome {
	switch {
	case math.IsNaN(low) || math.IsNaN(high):
		return ""
	case low >= 1-2*tolerance && high <= 1+2*tolerance:
		return NoDifferenceOutcome
	case low > 1 && rate, high < 1 && !rate:
		return BetterOutcome
	case low > 1, high < 1:
		return WorseOutcome
	}
	return UndecidedOutcome
}
