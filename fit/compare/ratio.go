package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// Outcome is the result of comparing a number of a subject with the reference.
type Outcome string

// The outcomes. A shorter time and a higher bandwidth are better.
const (
	BetterOutcome       Outcome = "better"        // the interval of the ratio is on the better side of one
	WorseOutcome        Outcome = "worse"         // it is on the worse side
	NoDifferenceOutcome Outcome = "no difference" // it contains one and is no wider than twice the tolerance on either side
	UndecidedOutcome    Outcome = "undecided"     // it contains one and is wider: more repetitions would help
)

// estimate is a number with its interval and the replicates from which it was computed. The
// interval may be wider than that of the replicates, because of the timer's resolution or the
// barrier's skew.
type estimate struct {
	value, low, high float64
	reps             []float64
}

// ratioOf returns a/b. It divides replicates one by one, and widens the interval by what the
// intervals of a and b have beyond their replicates. Interval ends are not negative. The result is
// NaN if b may be zero or a is not positive.
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

// endFactors returns the factors by which the ends of the interval exceed those of the replicates.
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

// judgeRatio returns the outcome for the interval of a ratio, or "" if there is none. rate says
// that higher is better.
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
