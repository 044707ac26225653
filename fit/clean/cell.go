package clean

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
)

// Cell summarizes the repetitions of one timer at one size. Times are in microseconds.
type Cell struct {
	Bytes         int
	SampleCount   int       // samples
	FewestSamples int       // for a combination: those of the cell with the fewest
	Value         float64   // median
	Replicates    []float64 // bootstrap replicates of the median
	StandardError float64   // standard error, from the replicates

	Low, High       float64 // interval of the median
	ResolutionError float64 // part of the interval due to the timer's resolution

	Roots    []Cell        // with the barrier's root at P1 and at P2, if Value is the mean of the two; otherwise none
	Launches LaunchMedians // medians of the launches

	HasOddReps, HasDisagreeingRoots, HasHeavyTail, HasCoarseTimer, HasDrift bool // problems of the samples
}

// Numbers of samples: cells with fewer than MinSamplesForInterval have no interval, and those with
// fewer than MinTrustedSamples are doubtful.
const (
	MinSamplesForInterval = 5
	MinTrustedSamples     = 20
)

// HasFewSamples reports whether the cell, or one of the cells from which it is computed, has few
// samples.
func (c *Cell) HasFewSamples() bool { return c.FewestSamples < MinTrustedSamples }

// DisplayedInterval returns the interval to show with the value. With fewer than
// MinSamplesForInterval samples both ends are NaN.
func (c *Cell) DisplayedInterval() (low, high float64) {
	if c.FewestSamples < MinSamplesForInterval {
		return math.NaN(), math.NaN()
	}
	return c.Low, c.High
}

// sampleGroup has the sorted samples of a part of a cell: of one launch, and of one root if roots
// are kept apart.
type sampleGroup struct {
	times  []unit.Time
	Median float64
}

// rootCombination says how to combine the samples of the two barrier roots.
type rootCombination uint8

const (
	PoolRoots     rootCombination = iota // pool them into one set of samples
	takeLowerRoot                        // use the lower root: the two disagree
	averageRoots                         // use the mean of the two medians: what one root adds, the other subtracts
)

// NewCell returns the cell of one size, given its series, one per launch.
func NewCell(launches []*sample.Series, how rootCombination, f sample.Runs, o Options) Cell {
	c := Cell{Bytes: launches[0].Bytes}
	var whole LaunchMedians
	roots := make([]LaunchMedians, 2)
	parts := make([][]sampleGroup, len(launches))
	for i, s := range launches {
		c.SampleCount += len(s.Times)
		parts[i] = c.GroupSamples(s, f)
	}
	for i, s := range launches {
		groups := SelectCountedGroups(parts[i], how)
		c.HasDisagreeingRoots = c.HasDisagreeingRoots || how == takeLowerRoot && len(parts[i]) == 2
		reps, value := make([]float64, o.ReplicateCount), 0.0
		for j, g := range groups {
			r := g.resample(o.ReplicateCount, cellRandom(s.Key, j, o.Seed))
			value += g.Median / float64(len(groups))
			for b, x := range r {
				reps[b] += x / float64(len(groups))
			}
			roots[j].addLaunch(s.Launch, g.Median, r)
		}
		whole.addLaunch(s.Launch, value, reps)
	}
	c.FewestSamples = c.SampleCount
	c.Value, c.Replicates = whole.acrossLaunches(o)
	c.Launches = whole
	slack := f.Resolution(launches...) / 2
	c.SetInterval(slack, o.ConfidenceLevel)
	if len(roots[1].Values) == len(launches) {
		for _, r := range roots {
			x := Cell{Bytes: c.Bytes, SampleCount: c.SampleCount / 2, FewestSamples: c.SampleCount / 2, Launches: r}
			x.Value, x.Replicates = r.acrossLaunches(o)
			x.SetInterval(slack, o.ConfidenceLevel)
			c.Roots = append(c.Roots, x)
		}
	}
	return c
}

// SetInterval computes the standard error and the interval from the replicates. It widens the
// interval by slack on both sides.
func (c *Cell) SetInterval(slack, level float64) {
	sorted := slices.Clone(c.Replicates)
	SortExtremes(sorted, max(0.1587, (1-level)/2))
	c.StandardError = (quantile.Of(sorted, 0.8413) - quantile.Of(sorted, 0.1587)) / 2
	c.Low, c.High = PercentileInterval(sorted, c.Value, level)
	c.Low, c.High, c.ResolutionError = c.Low-slack, c.High+slack, slack
}

// GroupSamples divides the samples of a launch into groups: a single one, or one per root.
func (c *Cell) GroupSamples(s *sample.Series, f sample.Runs) []sampleGroup {
	var groups []sampleGroup
	for _, times := range f.SplitByRoot(s) {
		groups = append(groups, c.newGroup(times, s.Clock, f.Resolution(s)))
	}
	c.HasOddReps = c.HasOddReps || f.RootCount(s) == 2 && len(groups) == 1
	return groups
}

// SelectCountedGroups returns the groups of a launch whose medians are averaged: all groups for
// averageRoots, otherwise a single one.
func SelectCountedGroups(groups []sampleGroup, how rootCombination) []sampleGroup {
	if how == averageRoots || len(groups) == 1 {
		return groups
	}
	a, b := groups[0], groups[1]
	if how == PoolRoots {
		return []sampleGroup{groupOfSorted(sortedCopy(slices.Concat(a.times, b.times)))}
	}
	if b.Median < a.Median {
		a = b
	}
	return []sampleGroup{a}
}

// rootsDisagree reports whether the two roots of a cell disagree.
func rootsDisagree(launches []*sample.Series, f sample.Runs) bool {
	parts, least := make([][]sampleGroup, len(launches)), f.Resolution(launches...)
	for i, s := range launches {
		for _, times := range f.SplitByRoot(s) {
			x := sortedCopy(times)
			least = min(least, clockStep(x))
			parts[i] = append(parts[i], groupOfSorted(spreadClockSteps(x, s.Clock, f.Resolution(s))))
		}
	}
	return !rootsAgree(parts, least)
}

// spreadClockSteps returns sorted times as a clock with steps shows them.
func spreadClockSteps(times []unit.Time, clock string, resolution float64) []unit.Time {
	if clock != "real" {
		return times
	}
	return spreadEqualSamples(times, unit.FromMicros(resolution))
}

// newGroup sorts samples after checking their order for drift.
func (c *Cell) newGroup(times []unit.Time, clock string, resolution float64) sampleGroup {
	g := groupOfSorted(sortedCopy(times))
	c.HasDrift = c.HasDrift || hasDrift(times, g)
	c.HasHeavyTail = c.HasHeavyTail || g.hasHeavyTail()
	c.HasCoarseTimer = c.HasCoarseTimer || g.isCoarse(clock, resolution)
	return groupOfSorted(spreadClockSteps(g.times, clock, resolution))
}

// spreadEqualSamples returns sorted times in which equal values are spread evenly over the interval
// that the clock cannot resolve: halfway to the next value on both sides, at most half a step. The
// median then lies between two steps, nearer to the more frequent one (the median of grouped data).
// If all times are equal they do not change.
func spreadEqualSamples(times []unit.Time, step unit.Time) []unit.Time {
	if step <= 0 || len(times) == 0 || times[0] == times[len(times)-1] {
		return times
	}
	out := slices.Clone(times)
	for from, n := 0, len(times); from < n; {
		to := from + 1
		for to < n && times[to] == times[from] {
			to++
		}
		below, above := step, step
		if from > 0 {
			below = min(step, times[from]-times[from-1])
		}
		if to < n {
			above = min(step, times[to]-times[to-1])
		}
		if m := unit.Time(to - from); m > 1 {
			for i := from; i < to; i++ { // at (i+½)/m of the interval
				out[i] += ((below+above)*(2*unit.Time(i-from)+1) - 2*m*below) / (4 * m)
			}
		}
		from = to
	}
	return out
}

func sortedCopy(times []unit.Time) []unit.Time {
	s := slices.Clone(times)
	slices.Sort(s)
	return s
}

func groupOfSorted(sorted []unit.Time) sampleGroup {
	return sampleGroup{sorted, SampleQuantile(sorted, 0.5)}
}

// SampleQuantile returns the quantile u of sorted samples in microseconds, with linear
// interpolation.
func SampleQuantile(sorted []unit.Time, u float64) float64 {
	pos := u*float64(len(sorted)) - 0.5
	i := int(pos)
	switch {
	case pos <= 0:
		return sorted[0].Micros()
	case i+1 >= len(sorted):
		return sorted[len(sorted)-1].Micros()
	}
	low, high := float64(sorted[i]), float64(sorted[i+1])
	return (low + (pos-float64(i))*(high-low)) / float64(unit.Microsecond)
}

// HalfWidth returns the 68 % half width of the median's interval by ranks: n/2 ± √n/2.
func (g sampleGroup) HalfWidth() float64 {
	d := 0.5 / math.Sqrt(float64(len(g.times)))
	return (SampleQuantile(g.times, 0.5+d) - SampleQuantile(g.times, 0.5-d)) / 2
}

// rootsAgree reports whether the medians with the two roots differ by no more than their intervals
// allow: by four standard errors, because a fit makes hundreds of such comparisons, and in any case
// by a percent plus a step. Launches with few repetitions are pooled, because they show together
// what none shows alone.
func rootsAgree(launches [][]sampleGroup, step float64) bool {
	a, b, size := pooledRoots(launches)
	if a.times == nil {
		return true
	}
	d := math.Abs(a.Median - b.Median)
	return d <= 4*math.Hypot(a.HalfWidth(), b.HalfWidth()) || d <= 0.01*size+step
}

// pooledRoots returns the samples of all launches that have two roots, by root, and their typical
// duration. For several launches a sample is its difference from the median of its launch.
func pooledRoots(launches [][]sampleGroup) (a, b sampleGroup, size float64) {
	var with [2][]unit.Time
	for _, g := range launches {
		if len(g) != 2 {
			continue
		}
		size = math.Max(size, math.Max(math.Abs(g[0].Median), math.Abs(g[1].Median)))
		if len(launches) == 1 {
			return g[0], g[1], size
		}
		middle := unit.FromMicros(SampleQuantile(sortedCopy(slices.Concat(g[0].times, g[1].times)), 0.5))
		for root := range with {
			for _, t := range g[root].times {
				with[root] = append(with[root], t-middle)
			}
		}
	}
	if with[0] == nil {
		return sampleGroup{}, sampleGroup{}, 0
	}
	return groupOfSorted(sortedCopy(with[0])), groupOfSorted(sortedCopy(with[1])), size
}

// clockStep returns the smallest difference between sorted times, in microseconds. For batches it
// is a fraction of the clock's step. It is infinite if all times are equal.
func clockStep(times []unit.Time) float64 {
	least := math.Inf(1)
	for i := 1; i < len(times); i++ {
		if d := times[i] - times[i-1]; d > 0 {
			least = min(least, d.Micros())
		}
	}
	return least
}

// hasHeavyTail reports whether more than one sample, and more than 1 %, is far above the others.
func (g sampleGroup) hasHeavyTail() bool {
	limit := math.Max(2*g.Median, g.Median+10*(SampleQuantile(g.times, 0.75)-SampleQuantile(g.times, 0.25)))
	i, _ := slices.BinarySearch(g.times, unit.FromMicros(limit)+1)
	far := len(g.times) - i
	return far > 1 && far*100 > len(g.times)
}

// isCoarse reports whether the steps of the timer are visible: the timer is known to be coarse, or
// a real clock shows few different times.
func (g sampleGroup) isCoarse(clock string, resolution float64) bool {
	if resolution > 0 && g.Median < 20*resolution {
		return true
	}
	if clock != "real" || len(g.times) < 50 || g.times[0] == g.times[len(g.times)-1] {
		return false
	}
	distinct := 1
	for i := 1; i < len(g.times) && distinct <= 10; i++ {
		if g.times[i] != g.times[i-1] {
			distinct++
		}
	}
	return distinct <= 10
}

// hasDrift reports whether the later half of the repetitions is slower or faster than the earlier
// half by more than a percent, and by five standard deviations of the number of samples above the
// median.
func hasDrift(times []unit.Time, g sampleGroup) bool {
	n := len(times)
	if n < 40 {
		return false
	}
	middle := unit.FromMicros(g.Median)
	early, late := countAbove(times[:n/2], middle), countAbove(times[n/2:], middle)
	m := early + late
	spread := float64(m) * (1 - float64(m)/float64(n))
	if d := float64(late - early); d*d <= 25*spread {
		return false
	}
	a, b := SampleQuantile(sortedCopy(times[:n/2]), 0.5), SampleQuantile(sortedCopy(times[n/2:]), 0.5)
	return math.Abs(b-a) > 0.01*math.Abs(g.Median)
}

func countAbove(times []unit.Time, limit unit.Time) int {
	n := 0
	for _, t := range times {
		if t > limit {
			n++
		}
	}
	return n
}

// resample returns bootstrap replicates of the median.
//
// The median of n draws with replacement from n sorted samples is the sample of rank ⌊nU⌋, where U
// is the median of n uniform numbers: Beta((n+1)/2, (n+1)/2). So one draw of U replaces n draws of
// samples. U follows from Ulrich's formula (1984) for the symmetric beta distribution,
//
//	½ + ½ √(1 − V^(2/(2a−1))) cos 2πW
//
// with a = (n+1)/2 and V, W uniform.
func (g sampleGroup) resample(replicates int, rng *rand.Rand) []float64 {
	n := len(g.times)
	if g.times[0] == g.times[n-1] {
		return slices.Repeat([]float64{g.Median}, replicates)
	}
	reps := make([]float64, replicates)
	power := 2 / float64(n)
	for i := range reps {
		radius := math.Sqrt(1 - math.Pow(rng.Float64(), power))
		u := 0.5 + 0.5*radius*math.Cos(2*math.Pi*rng.Float64())
		reps[i] = SampleQuantile(g.times, u)
	}
	return reps
}

// cellRandom returns a random source that depends only on the key, the part and the seed, so that
// the order of work does not matter.
func cellRandom(k sample.Key, part int, seed uint64) *rand.Rand {
	h := fnv.New64a()
	for _, s := range []string{k.Platform, k.Library, k.Clock, k.Place, k.Mode, k.Protocol, k.Timer} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(k.Bytes)<<32^uint64(k.Launch)<<1^uint64(part)))
}

// defaultCombination returns how the two barrier roots combine. If a receive waits for a send that
// started with it, the skew between the two is part of the time, with opposite signs for the two
// roots.
func defaultCombination(k sample.Key) rootCombination {
	if k.Timer == sample.Timer21 && sample.IsBlockingMode(k.Mode) {
		return averageRoots
	}
	return PoolRoots
}

// RootCombination returns how the roots of one cell combine, given its launches.
func RootCombination(launches []*sample.Series, f sample.Runs) rootCombination {
	how := defaultCombination(launches[0].Key)
	if how == PoolRoots && rootsDisagree(launches, f) {
		return takeLowerRoot
	}
	return how
}

// RootCombinations returns how the two roots combine for each of some keys, which are in order. On
// a real clock all sizes of a curve are treated alike, by the lower root if more than a fifth of
// the sizes disagree. Otherwise chance would decide for sizes that nearly disagree, and a curve
// that mixes both would look like a change of protocol.
func RootCombinations(keys []sample.Key, series map[sample.Key][]*sample.Series, f sample.Runs) []rootCombination {
	how := make([]rootCombination, len(keys))
	RunParallel(len(keys), func(i int) { how[i] = RootCombination(series[keys[i]], f) })
	for from := 0; from < len(keys); {
		to, apart := from, 0
		for ; to < len(keys) && WithoutBytes(keys[to]) == WithoutBytes(keys[from]); to++ {
			if how[to] == takeLowerRoot {
				apart++
			}
		}
		if way := how[from]; keys[from].Clock == "real" && way != averageRoots {
			way = PoolRoots
			if 5*apart > to-from {
				way = takeLowerRoot
			}
			for i := range how[from:to] {
				how[from+i] = way
			}
		}
		from = to
	}
	return how
}

// LinearCombination returns Σ factors·cells, with the problems of all of them.
func LinearCombination(cells []Cell, factors []float64, level float64) Cell {
	out := Cell{Bytes: cells[0].Bytes, Replicates: make([]float64, len(cells[0].Replicates))}
	slack, launches := 0.0, make([]LaunchMedians, len(cells)) // slack is due to the timer's resolution
	for i, c := range cells {
		out.SampleCount += c.SampleCount
		out.Value += factors[i] * c.Value
		for b, x := range c.Replicates {
			out.Replicates[b] += factors[i] * x
		}
		if out.FewestSamples == 0 || c.FewestSamples < out.FewestSamples {
			out.FewestSamples = c.FewestSamples
		}
		out.HasDisagreeingRoots = out.HasDisagreeingRoots || c.HasDisagreeingRoots
		slack += math.Abs(factors[i]) * c.ResolutionError
		launches[i] = c.Launches
	}
	out.Launches = SumLaunchMedians(launches, factors)
	out.SetInterval(slack, level)
	return out
}

// IsShorterThan reports whether t is longer than c, by more than the interval of the difference and
// twice the tolerance.
func (c *Cell) IsShorterThan(t Cell, o Options) bool {
	d := LinearCombination([]Cell{t, *c}, []float64{1, -1}, o.ConfidenceLevel)
	return d.Low > 2*o.Tolerance*math.Abs(c.Value)
}
