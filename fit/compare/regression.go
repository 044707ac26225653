package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/loggp/loggp/fit/clean"
)

// MeanChange is the geometric mean of the ratios of changes, with its 95 % interval. Changes that
// are no evidence are used only if there are no others. The mean then has no interval: its ends are
// NaN.
type MeanChange struct {
	Ratio, Low, High float64
}

// GeometricMean returns the geometric mean of changes. Replicates of one data set belong together,
// because a slow launch is slow at all sizes. The interval is therefore that of the means of
// replicates.
func GeometricMean(changes []Change) MeanChange {
	level := clean.Options{}.WithDefaults().ConfidenceLevel
	counted := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !c.isEvidence() })
	if len(counted) == 0 {
		var logs []float64
		for _, c := range changes {
			logs = append(logs, math.Log(c.Ratio))
		}
		return MeanChange{math.Exp(stat.Mean(logs, nil)), math.NaN(), math.NaN()}
	}
	n := float64(len(counted))
	reps := make([]float64, len(counted[0].logRatios))
	value, below, above := 0.0, 0.0, 0.0 // below and above: widths of intervals beyond their replicates
	for _, c := range counted {
		for b, r := range c.logRatios {
			reps[b] += r / n
		}
		value += math.Log(c.Ratio) / n
		low, high := clean.UnsortedPercentileInterval(slices.Clone(c.logRatios), math.Log(c.Ratio), level)
		below, above = below+max(0, low-math.Log(c.Low))/n, above+max(0, math.Log(c.High)-high)/n
	}
	low, high := clean.UnsortedPercentileInterval(reps, value, level)
	return MeanChange{math.Exp(value), math.Exp(low - below), math.Exp(high + above)}
}

// Judgement says whether a data set is slower than its reference by more than a threshold.
type Judgement uint8

// The judgements.
const (
	PassJudgement      Judgement = iota // no time and no mean is above the threshold
	UndecidedJudgement                  // a time or the mean is above the threshold, but its interval extends below, other load can explain it, or its samples are disturbed or of few launches; or all are
	FailJudgement                       // a time or the mean is above the threshold with its whole interval
)

// String returns the judgement in words.
func (j Judgement) String() string { return [...]string{"pass", "cannot tell", "fail"}[j] }

// Regression compares a data set with a threshold.
type Regression struct {
	Judgement      Judgement
	Threshold      float64 // relative increase of a time that is allowed
	Mean           MeanChange
	SlowerChanges  []Change // above the threshold with the whole interval
	UnclearChanges []Change // above the threshold with the median, but the interval extends below, or the change is no evidence
	ComparedCount  int

	FewLaunchesCount int     // of the unclear changes: a side has too few launches
	LoadFactor       float64 // that of the ChangeSet
}

// JudgeRegression compares changes with a threshold for the relative increase of times. It widens
// the interval of each time, so that in one of forty comparisons any of the times is above the
// threshold by chance (Bonferroni). What other load during the measurement can explain does not
// fail.
func (s *ChangeSet) JudgeRegression(threshold float64) Regression {
	r := Regression{Threshold: threshold, Mean: GeometricMean(s.Changes), ComparedCount: len(s.Changes), LoadFactor: max(s.LoadFactor, 1)}
	limit := 1 + threshold
	certain := limit * r.LoadFactor
	tested := 0
	for i := range s.Changes {
		if s.Changes[i].isEvidence() {
			tested++
		}
	}
	wider := simultaneousFactor(tested, clean.Options{}.WithDefaults().ConfidenceLevel)
	for _, c := range s.Changes {
		switch {
		case c.Ratio <= limit:
		case c.isEvidence() && math.Log(c.Ratio/c.Low)*wider < math.Log(c.Ratio/certain):
			r.SlowerChanges = append(r.SlowerChanges, c)
		default:
			if r.UnclearChanges = append(r.UnclearChanges, c); c.HasFewLaunches {
				r.FewLaunchesCount++
			}
		}
	}
	switch {
	case len(r.SlowerChanges) > 0 || r.Mean.Low > certain:
		r.Judgement = FailJudgement
	case len(r.UnclearChanges) > 0 || !(r.Mean.High <= limit):
		r.Judgement = UndecidedJudgement
	}
	return r
}

// simultaneousFactor returns the factor by which the interval of one of n numbers must be wider so
// that all n intervals hold together at a level.
func simultaneousFactor(n int, level float64) float64 {
	tail := (1 - level) / 2
	return distuv.UnitNormal.Quantile(1-tail/float64(max(n, 1))) / distuv.UnitNormal.Quantile(1-tail)
}

// String returns the judgement as a sentence.
func (r Regression) String() string {
	limit := fmt.Sprintf("%.4g %%", 100*r.Threshold)
	mean := fmt.Sprintf("the geometric mean changes by %+.1f %%", 100*(r.Mean.Ratio-1))
	if !math.IsNaN(r.Mean.Low) {
		mean += fmt.Sprintf(" (%+.1f to %+.1f)", 100*(r.Mean.Low-1), 100*(r.Mean.High-1))
	}
	example := func(c Change) string {
		return fmt.Sprintf("such as %s of %s at %d bytes, %+.1f %%", c.Timer, c.Mode, c.Bytes, 100*(c.Ratio-1))
	}
	switch {
	case len(r.SlowerChanges) > 0:
		return fmt.Sprintf("%v: %d of %d times are slower by more than %s with their whole interval, %s; %s", r.Judgement, len(r.SlowerChanges), r.ComparedCount, limit, example(r.SlowerChanges[0]), mean)
	case r.Judgement == FailJudgement:
		return fmt.Sprintf("%v: %s, which is more than %s with its whole interval", r.Judgement, mean, limit)
	case len(r.UnclearChanges) > 0:
		return fmt.Sprintf("%v: %d of %d times are slower by more than %s, but may be by less, %s; %s. %s", r.Judgement, len(r.UnclearChanges), r.ComparedCount, limit, example(r.UnclearChanges[0]), mean, r.advice())
	case r.Judgement == UndecidedJudgement:
		return fmt.Sprintf("%v: %s, which may be more than %s. %s", r.Judgement, mean, limit, r.advice())
	}
	return fmt.Sprintf("%v: none of %d times is slower by more than %s; %s", r.Judgement, r.ComparedCount, limit, mean)
}

// advice says why the samples do not tell, and how to get some that do.
func (r Regression) advice() string {
	var why []string
	if r.LoadFactor > 1.01 {
		by := "any number of"
		if !math.IsInf(r.LoadFactor, 1) {
			by = "up to " + strconv.FormatFloat(r.LoadFactor, 'f', max(0, 1-int(math.Log10(r.LoadFactor))), 64)
		}
		why = append(why, fmt.Sprintf("Other programs took processor time from the second run, which can make it %s times as long.", by))
	}
	if r.FewLaunchesCount > 0 {
		why = append(why, fmt.Sprintf("Fewer than %d launches of a side show nothing: they are the slower ones by chance (--launches %d).", minLaunches, minLaunches+1))
	}
	return strings.Join(append(why, "Measure both sides again, with more repetitions or launches, on a quiet machine"), " ")
}
