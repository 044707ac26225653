package compare

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// Change is how the median of one timer at one size differs between a reference and another data
// set. Times are in microseconds.
type Change struct {
	Platform, Library, Place string // of the reference; Place where there are several
	Mode, Protocol, Timer    string
	Bytes                    int

	Before, After                       float64
	Ratio, Low, High                    float64 // of After to Before, with its 95 % interval, NaN if a side has too few samples
	Outcome                             Outcome
	BeforeSampleCount, AfterSampleCount int
	HasDisturbed                        bool // disturbed samples count on a side, as there are too few others
	HasFewLaunches                      bool // a side has fewer than minLaunches on a real clock

	logRatios []float64 // bootstrap replicates of the logarithm of Ratio
}

// isEvidence says whether a change can show that something is slower or faster: its samples are
// undisturbed and enough for an interval, and so are its launches.
func (c *Change) isEvidence() bool {
	return !math.IsNaN(c.Low) && !c.HasDisturbed && !c.HasFewLaunches
}

// minLaunches is the smallest number of launches of each side that can show a change. If nothing
// has changed, all launches of one side are slower than all of the other with a probability of 1 in
// 20 for three launches each, and of 1 in 70 for four, which is less than the 2.5 % that an
// interval leaves on each side.
const minLaunches = 4

// ChangeSet is how times differ between a reference and another data set, and what was not
// compared.
type ChangeSet struct {
	Changes        []Change
	DisturbedCount int // times that other load held up on either side, as a fit excludes them
	NearZeroCount  int // times that cannot be distinguished from zero on either side

	// BirgeRatio is how many times as much the changes of real times scatter from size to size as
	// their samples explain, or 1. Intervals are as many times wider.
	BirgeRatio float64

	// LoadFactor is how many times as long other programs can make times of the second set, by the
	// share of processor time that they took right before it. Each of the two ranks waits for the
	// other, so the share counts twice.
	LoadFactor float64
}

// loadFactor returns the LoadFactor of a set.
func loadFactor(s *sample.Set) float64 {
	left := 1 - s.MissedShare()
	return 1 / (left * left) // +Inf if nothing is left
}

// FindChanges compares the cells that two data sets have in common: the same timer, mode, protocol,
// place and size, and the same platform and library if a set has several. Round trips come first.
// It is an error if the sets have nothing in common.
func FindChanges(before, after *sample.Set, o clean.Options) (*ChangeSet, error) {
	o = o.WithDefaults()
	out := &ChangeSet{BirgeRatio: 1, LoadFactor: loadFactor(after)}
	var disturbed [2]map[sample.Key]bool
	var sides [2][]*curve.Curve
	several := false // platforms or libraries in one of the sets
	for i, set := range []*sample.Set{before, after} {
		disturbed[i] = clean.FindCurvesWithDisturbed(set)
		set, _ := clean.SelectUndisturbed(set)
		curves, err := curve.LoadCurves(set, o)
		if err != nil {
			return nil, err
		}
		clean.RunParallel(len(curves), func(i int) { curves[i].CutIntoPieces(o) })
		for _, c := range curves {
			several = several || c.Platform != curves[0].Platform || c.Library != curves[0].Library
		}
		sides[i] = curves
	}
	order := rand.New(rand.NewPCG(o.Seed, 1)).Perm(o.ReplicateCount) // replicates of the two sets are independent
	type what struct{ platform, library, place, mode, protocol, timer string }
	keyOf := func(c *curve.Curve) what {
		k := what{place: c.Place, mode: c.Mode, protocol: c.Protocol, timer: c.Timer}
		if several {
			k.platform, k.library = c.Platform, c.Library
		}
		return k
	}
	other := map[what]*curve.Curve{}
	for _, c := range sides[1] {
		other[keyOf(c)] = c.Shuffled(order)
	}
	sampleKey := func(c *curve.Curve) sample.Key {
		return sample.Key{Platform: c.Platform, Library: c.Library, Clock: c.Clock, Place: c.Place, Mode: c.Mode, Protocol: c.Protocol, Timer: c.Timer}
	}
	var scatter []float64
	for _, a := range sides[0] {
		if b := other[keyOf(a)]; b != nil {
			all := out.addCurve(a, b, disturbed[0][sampleKey(a)] || disturbed[1][sampleKey(b)], o)
			if a.Clock == "real" {
				scatter = append(scatter, stepScatter(all)...)
			}
		}
	}
	out.widenIntervals(scatter)
	for i := range out.Changes {
		if c := &out.Changes[i]; c.HasDisturbed && !math.IsNaN(c.Low) {
			c.Outcome = UndecidedOutcome
		} else {
			c.Outcome = judgeRatio(c.Low, c.High, o.Tolerance, false)
		}
	}
	if len(out.Changes) == 0 {
		if n := out.DisturbedCount + out.NearZeroCount; n > 0 {
			return nil, fmt.Errorf("compare: none of the %d times that the two files have in common can be compared: other load disturbed %d of them, and %d cannot be distinguished from zero; measure again on a quiet machine", n, out.DisturbedCount, out.NearZeroCount)
		}
		return nil, fmt.Errorf("compare: the two files have no timer of one mode, place and size in common")
	}
	slices.SortStableFunc(out.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Library, b.Library), cmp.Compare(a.Place, b.Place),
			timerRank(a.Timer)-timerRank(b.Timer), sample.TimerIndex(a.Timer)-sample.TimerIndex(b.Timer), sample.ModeIndex(a.Mode)-sample.ModeIndex(b.Mode), cmp.Compare(a.Protocol, b.Protocol))
	})
	return out, nil
}

// addCurve adds the changes from the cells of one curve to those of another, and returns them.
func (s *ChangeSet) addCurve(a, b *curve.Curve, hasDisturbed bool, o clean.Options) []Change {
	from := len(s.Changes)
	for _, k := range a.ExcludedSizes(0) {
		if b.CellOf(k) != nil || slices.Contains(b.ExcludedSizes(0), k) {
			s.DisturbedCount++
		}
	}
	for _, x := range a.Cells {
		y := b.CellOf(x.Bytes)
		if y == nil {
			if slices.Contains(b.ExcludedSizes(0), x.Bytes) {
				s.DisturbedCount++
			}
			continue
		}
		if !(x.Low > 0 && y.Low > 0) || x.Value <= a.ZeroThreshold || y.Value <= b.ZeroThreshold {
			s.NearZeroCount++
			continue
		}
		c := Change{Platform: a.Platform, Library: a.Library, Place: a.Place, Mode: a.Mode, Protocol: a.Protocol, Timer: a.Timer, Bytes: x.Bytes,
			Before: x.Value, After: y.Value, BeforeSampleCount: x.SampleCount, AfterSampleCount: y.SampleCount, HasDisturbed: hasDisturbed,
			HasFewLaunches: a.Clock == "real" && min(len(x.Launches.Launches), len(y.Launches.Launches)) < minLaunches}
		ratio := ratioOf(estimate{y.Value, y.Low, y.High, y.Replicates}, estimate{x.Value, x.Low, x.High, x.Replicates}, o.ConfidenceLevel)
		if !(ratio.low > 0) || math.IsInf(ratio.high, 1) {
			s.NearZeroCount++
			continue
		}
		c.Ratio, c.Low, c.High = ratio.value, ratio.low, ratio.high
		for _, r := range ratio.reps {
			if r <= 0 || math.IsInf(r, 1) { // a few replicates of a side are zero
				r = c.Ratio
			}
			c.logRatios = append(c.logRatios, math.Log(r))
		}
		if min(x.FewestSamples, y.FewestSamples) < clean.MinSamplesForInterval {
			c.Low, c.High = math.NaN(), math.NaN()
		}
		s.Changes = append(s.Changes, c)
	}
	return s.Changes[from:]
}

// stepScatter returns the difference of the changes of each two sizes next to each other on a
// curve, in units of its standard error. A change that is real goes over many sizes or begins at
// one, so that most of these differences are of chance.
func stepScatter(curve []Change) (out []float64) {
	deviation := func(c Change) float64 { return math.Log(c.High/c.Low) / (2 * normalQuantile) }
	for i := 1; i < len(curve); i++ {
		a, b := curve[i-1], curve[i]
		if d := math.Hypot(deviation(a), deviation(b)); d > 0 { // neither is NaN
			out = append(out, math.Abs(math.Log(b.Ratio/a.Ratio))/d)
		}
	}
	return out
}

const (
	normalQuantile        = 1.95996 // of 97.5 %
	minStepsForBirgeRatio = 5       // steps from which the Birge ratio is known
)

// widenIntervals makes the intervals as much wider as the changes scatter more than their samples
// explain: two runs of one program differ by more than the launches of one run do (Birge 1932, The
// Calculation of Errors by the Method of Least Squares).
func (s *ChangeSet) widenIntervals(scatter []float64) {
	if len(scatter) < minStepsForBirgeRatio {
		return
	}
	s.BirgeRatio = max(1, quantile.Median(scatter)/0.6745)
	for i := range s.Changes {
		c := &s.Changes[i]
		c.Low, c.High = c.Ratio*math.Pow(c.Low/c.Ratio, s.BirgeRatio), c.Ratio*math.Pow(c.High/c.Ratio, s.BirgeRatio)
		middle := math.Log(c.Ratio)
		for b, r := range c.logRatios {
			c.logRatios[b] = middle + s.BirgeRatio*(r-middle)
		}
	}
}

// timerRank returns 0 for round trips, which come first, and 1 for all other timers.
func timerRank(timer string) int {
	if timer == sample.TimerRTT {
		return 0
	}
	return 1
}
