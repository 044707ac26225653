package microbench

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// intervalEstimate is a median or a mean with half the width of its 95 % interval, in picoseconds.
// The half width is infinite if there are too few samples.
type intervalEstimate struct{ value, halfWidth float64 }

// isPreciseWithin reports whether the half width is within a relative precision, or within half a
// step of the clock.
func (e intervalEstimate) isPreciseWithin(precision float64, step unit.Time) bool {
	return e.halfWidth <= math.Max(precision*math.Abs(e.value), float64(step)/2)
}

// medianEstimate returns the median of samples, which it sorts. The interval is by ranks,
//
//	⌊(n − 1.96 √n)/2⌋ to ⌈1 + (n + 1.96 √n)/2⌉
//
// Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (2015).
func medianEstimate(times []unit.Time) intervalEstimate {
	n := len(times)
	if n == 0 {
		return intervalEstimate{0, math.Inf(1)}
	}
	slices.Sort(times)
	e := intervalEstimate{float64(times[(n-1)/2]+times[n/2]) / 2, math.Inf(1)}
	r := 1.96 * math.Sqrt(float64(n))
	low, high := int(math.Floor((float64(n)-r)/2)), int(math.Ceil(1+(float64(n)+r)/2))
	if low >= 1 && high <= n {
		e.halfWidth = float64(times[high-1]-times[low-1]) / 2
	}
	return e
}

// meanOfTwoEstimates returns the estimate of the mean of two estimates.
func meanOfTwoEstimates(of [2]intervalEstimate) intervalEstimate {
	return intervalEstimate{(of[0].value + of[1].value) / 2, math.Hypot(of[0].halfWidth, of[1].halfWidth) / 2}
}

// studentQuantiles are the 0.975 quantiles of Student's distribution with 1, 2, ... degrees of
// freedom.
var studentQuantiles = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}

// estimateOverLaunches returns the mean over several launches, from one median each. The scatter of
// the medians includes the scatter within a launch.
func estimateOverLaunches(medians []float64) intervalEstimate {
	n := len(medians)
	if n < 2 {
		return intervalEstimate{0, math.Inf(1)}
	}
	mean, sum := 0.0, 0.0
	for _, x := range medians {
		mean += x / float64(n)
	}
	for _, x := range medians {
		sum += (x - mean) * (x - mean)
	}
	t := 1.96
	if n-2 < len(studentQuantiles) {
		t = studentQuantiles[n-2]
	}
	return intervalEstimate{mean, t * math.Sqrt(sum/float64(n-1)/float64(n))}
}

// countPreciseMedians returns the number of medians of all launches together, and how many of them
// have an interval within the precision.
func (e *Experiment) countPreciseMedians(series []sample.Series) (known, medians int) {
	values := make(map[sample.Key][]float64)
	for i := range series {
		s := &series[i]
		if k := s.Key; k.Timer != sample.Timer22 {
			k.Launch = 0
			values[k] = append(values[k], medianEstimate(slices.Clone(s.Times)).value)
		}
	}
	ok := make(map[sample.Key]bool)
	for k, m := range values {
		k.Disturbed = false
		ok[k] = ok[k] || estimateOverLaunches(m).isPreciseWithin(e.PrecisionOrDefault(), e.ClockStep)
	}
	for _, yes := range ok {
		if yes {
			known++
		}
	}
	return known, len(ok)
}

// Sizes form a coarse grid, and a library changes its protocol between two of them. If a curve
// jumps in a gap of the grid, the search bisects the gap, as in Kielmann, Bal and Verstoep, Fast
// Measurement of LogP Parameters for Low Level Message Passing Platforms (2000): the value differs
// from the line through the smaller sizes. Here it must also differ from the line through the
// larger sizes, so that one jump does not count in two neighbouring gaps.

// Limits of the search for a jump.
const (
	maxAddedSizes          = 10
	minSizeDistance        = 32   // in bytes, between two sizes at which the search ends,
	minSizeDistanceDivisor = 16   // or this part of the lower size
	minRelativeJump        = 0.05 // relative to the value: a smaller deviation is not a jump,
	minJumpInUncertainties = 1.5  // and neither is one below this multiple of the uncertainty
)

// curvePoint is the median of a timer at a size.
type curvePoint struct {
	bytes int
	intervalEstimate
}

// extrapolateLine returns the value at k bytes on the line through a and b, with its uncertainty.
func extrapolateLine(a, b curvePoint, k int) intervalEstimate {
	r := float64(k-b.bytes) / float64(b.bytes-a.bytes)
	return intervalEstimate{b.value + r*(b.value-a.value), math.Hypot((1+r)*b.halfWidth, r*a.halfWidth)}
}

// relativeJump returns the distance of the curve between points 1 and 2 of four from the nearer of
// two lines, through the first two and through the last two points, relative to its value. It
// returns 0 if one of the lines agrees within the uncertainty.
func relativeJump(p [4]curvePoint) float64 {
	least := math.Inf(1)
	for _, x := range []struct {
		of   curvePoint
		says intervalEstimate
	}{{p[2], extrapolateLine(p[0], p[1], p[2].bytes)}, {p[1], extrapolateLine(p[3], p[2], p[1].bytes)}} {
		off := math.Abs(x.of.value - x.says.value)
		if !(off > minJumpInUncertainties*math.Hypot(x.of.halfWidth, x.says.halfWidth)) {
			return 0
		}
		least = min(least, off/math.Abs(x.of.value))
	}
	if least < minRelativeJump {
		return 0
	}
	return least
}

// midpointOfLargestJump returns the size in the middle of the largest jump over all curves, or -1.
func midpointOfLargestJump(curves [][]curvePoint) int {
	type gap struct{ low, high int }
	bends := make(map[gap]float64) // sum over all curves
	best := gap{-1, -1}
	for _, c := range curves {
		slices.SortFunc(c, func(a, b curvePoint) int { return cmp.Compare(a.bytes, b.bytes) })
		for i := 1; i+2 < len(c); i++ {
			g := gap{c[i].bytes, c[i+1].bytes}
			if x := relativeJump([4]curvePoint(c[i-1 : i+3])); x > 0 && g.high-g.low > max(minSizeDistance, g.low/minSizeDistanceDivisor) {
				bends[g] += x
				if bends[g] > bends[best] {
					best = g
				}
			}
		}
	}
	if best.low < 0 {
		return -1
	}
	return best.low + (best.high-best.low)/2
}

// refineSizes adds sizes around the eager limit, where standard sends and their round trips jump
// most. It comes before all other measurements.
func (s *Scheduler) refineSizes() {
	s.takeSamplesOfTasks(slices.DeleteFunc(slices.Clone(s.tasks), func(t *task) bool { return !s.isUsedForEagerLimit(t) }))
	for left := maxAddedSizes; left > 0 && !s.hasUsedBudgetFraction(maxRefineBudgetFraction); left-- {
		k := midpointOfLargestJump(s.eagerLimitSearchCurves())
		if k < 0 || slices.ContainsFunc(s.tasks, func(t *task) bool { return t.Bytes == k }) { // that size is already measured, but not precisely enough
			return
		}
		s.result.AddedSizes = append(s.result.AddedSizes, k)
		slices.Sort(s.result.AddedSizes)
		var tasks []*task
		for _, m := range s.Modes {
			tasks = append(tasks, s.listCellTasks(Cell{m, k})...)
		}
		s.tasks = append(s.tasks, tasks...)
		s.takeSamplesOfTasks(slices.DeleteFunc(tasks, func(t *task) bool { return !s.isUsedForEagerLimit(t) }))
	}
}

// isUsedForEagerLimit reports whether a task may show the eager limit: send calls and round trips
// of standard sends do, or of the first mode if there are no standard sends.
func (s *Scheduler) isUsedForEagerLimit(t *task) bool {
	standard := func(m string) bool { return m == "send" || m == "isend" }
	of := standard(t.cell.Mode) || !slices.ContainsFunc(s.Modes, standard) && t.cell.Mode == s.Modes[0]
	return of && !s.MeasuresOnlyRoundTripsAt(t.Bytes) && (stages[t.stageIndex].hasTimer(sample.Timer11) || stages[t.stageIndex].hasTimer(sample.TimerRTT))
}

// eagerLimitSearchCurves returns curves over sizes of the first timer of each mode and stage in
// which the eager limit can be seen.
func (s *Scheduler) eagerLimitSearchCurves() [][]curvePoint {
	type name struct {
		mode  string
		stage int
	}
	at := make(map[name]int)
	var all [][]curvePoint
	for _, t := range s.tasks {
		if !s.isUsedForEagerLimit(t) || len(t.samplesByVisit) == 0 {
			continue
		}
		n := name{t.cell.Mode, t.stageIndex}
		i, ok := at[n]
		if !ok {
			i, at[n] = len(all), len(all)
			all = append(all, nil)
		}
		e := t.timerEstimates(s.launchIndex, s.disturbanceDetector)[0]
		if math.IsInf(e.halfWidth, 1) { // too few are undisturbed
			e = t.timerEstimates(s.launchIndex, disturbanceDetector{})[0]
		}
		if !math.IsInf(e.halfWidth, 1) {
			all[i] = append(all[i], curvePoint{t.Bytes, e})
		}
	}
	return all
}
