package fit

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// cell is what the repetitions of one timer at one size say. Times are in microseconds.
type cell struct {
	bytes int
	n     int       // samples
	value float64   // median
	reps  []float64 // bootstrap replicates of the median
	se    float64   // standard error, from the replicates

	low, high float64 // interval of the median
	slack     float64 // part of it that is the timer's resolution

	roots    []cell // with the root of the barrier at P1 and at P2, where value is the mean of the two; else none
	launches stack  // what each launch says

	repeated                                bool // more samples than one
	few, odd, disagree, tail, coarse, drift bool // what is wrong with it
}

// group is the samples of a part of a cell, sorted: of one launch, and of one root where the two are kept apart.
type group struct {
	times  []unit.Time
	median float64
}

// combine says what to make of the two roots of a barrier.
type combine uint8

const (
	pool  combine = iota // one set of samples
	lower                // the lower root: the two disagree
	mean                 // the mean of the two medians: what one root adds the other takes away
)

// cellOf makes a cell of the series of one size, one a launch.
func cellOf(launches []*sample.Series, how combine, f facts, o Options) cell {
	c := cell{bytes: launches[0].Bytes}
	var whole stack
	roots := make([]stack, 2)
	parts := make([][]group, len(launches))
	for i, s := range launches {
		c.n += len(s.Times)
		parts[i] = c.split(s, f)
	}
	for i, s := range launches {
		groups := counted(parts[i], how)
		c.disagree = c.disagree || how == lower && len(parts[i]) == 2
		reps, value := make([]float64, o.Replicates), 0.0
		for j, g := range groups {
			r := g.resample(o.Replicates, source(s.Key, j, o.Seed))
			value += g.median / float64(len(groups))
			for b, x := range r {
				reps[b] += x / float64(len(groups))
			}
			roots[j].push(s.Launch, g.median, r)
		}
		whole.push(s.Launch, value, reps)
	}
	c.few, c.repeated = c.n < 20, c.n > 1
	c.value, c.reps = whole.acrossLaunches(o)
	c.launches = whole
	slack := f.resolution(launches...) / 2
	c.finish(slack, o.Level)
	if len(roots[1].values) == len(launches) {
		for _, r := range roots {
			x := cell{bytes: c.bytes, n: c.n / 2, few: c.few, repeated: c.repeated, launches: r}
			x.value, x.reps = r.acrossLaunches(o)
			x.finish(slack, o.Level)
			c.roots = append(c.roots, x)
		}
	}
	return c
}

// finish derives the standard error and the interval from the replicates. The interval is wider by slack on both sides.
func (c *cell) finish(slack, level float64) {
	sorted := slices.Clone(c.reps)
	slices.Sort(sorted)
	c.se = (quantile(sorted, 0.8413) - quantile(sorted, 0.1587)) / 2
	c.low, c.high = interval(sorted, c.value, level)
	c.low, c.high, c.slack = c.low-slack, c.high+slack, slack
}

// split sorts the samples of a launch into groups: one, or one a root.
func (c *cell) split(s *sample.Series, f facts) []group {
	var groups []group
	for _, times := range f.rooted(s) {
		groups = append(groups, c.group(times, s.Clock, f.resolution(s)))
	}
	c.odd = c.odd || f.roots == 2 && len(groups) == 1
	return groups
}

// counted returns the groups of a launch whose medians are averaged: all, if the mean of the roots is what counts; else one.
func counted(groups []group, how combine) []group {
	if how == mean || len(groups) == 1 {
		return groups
	}
	a, b := groups[0], groups[1]
	if how == pool {
		return []group{newGroup(merge(a.times, b.times))}
	}
	if b.median < a.median {
		a = b
	}
	return []group{a}
}

// disagree says whether the two roots of a cell do.
func disagree(launches []*sample.Series, f facts) bool {
	parts, least := make([][]group, len(launches)), f.resolution(launches...)
	for i, s := range launches {
		for _, times := range f.rooted(s) {
			x := sorted(times)
			least = min(least, step(x))
			parts[i] = append(parts[i], newGroup(asShown(x, s.Clock, f.resolution(s))))
		}
	}
	return !agree(parts, least)
}

// asShown returns sorted times as a clock shows them that has steps.
func asShown(times []unit.Time, clock string, resolution float64) []unit.Time {
	if clock != "real" {
		return times
	}
	return blur(times, unit.FromMicros(resolution))
}

// group sorts samples, after looking at their order.
func (c *cell) group(times []unit.Time, clock string, resolution float64) group {
	g := newGroup(sorted(times))
	c.drift = c.drift || drifts(times, g)
	c.tail = c.tail || g.tail()
	c.coarse = c.coarse || g.coarse(clock, resolution)
	return newGroup(asShown(g.times, clock, resolution))
}

// blur returns sorted times of which those that are alike are spread evenly over what the clock shows as the same: halfway to the next on both sides, and half a step at most. So a median is not one step
// or the next, by chance, but between them as there are more of the one or the other (the median of grouped data). Where all are alike they say no more than that it is a step.
func blur(times []unit.Time, step unit.Time) []unit.Time {
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
			for i := from; i < to; i++ { // at (i+½)/m from one end to the other
				out[i] += ((below+above)*(2*unit.Time(i-from)+1) - 2*m*below) / (4 * m)
			}
		}
		from = to
	}
	return out
}

func sorted(times []unit.Time) []unit.Time {
	s := slices.Clone(times)
	slices.Sort(s)
	return s
}

func newGroup(sorted []unit.Time) group { return group{sorted, at(sorted, 0.5)} }

func merge(a, b []unit.Time) []unit.Time {
	out := make([]unit.Time, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			a, b = b, a
		}
		out = append(out, a[0])
		a = a[1:]
	}
	return append(append(out, a...), b...)
}

// at returns the quantile u of sorted samples in microseconds, between two of them on the straight line.
func at(sorted []unit.Time, u float64) float64 {
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

// halfWidth returns the 68 % half width of the interval of the median by ranks: n/2 ± √n/2.
func (g group) halfWidth() float64 {
	d := 0.5 / math.Sqrt(float64(len(g.times)))
	return (at(g.times, 0.5+d) - at(g.times, 0.5-d)) / 2
}

// agree says whether the medians with the two roots differ by no more than their intervals allow: four standard errors, since a fit makes hundreds of such
// comparisons, and in any case a percent and a step. Many launches with few repetitions each show together what none shows alone.
func agree(launches [][]group, step float64) bool {
	a, b, size := apart(launches)
	if a.times == nil {
		return true
	}
	d := math.Abs(a.median - b.median)
	return d <= 4*math.Hypot(a.halfWidth(), b.halfWidth()) || d <= 0.01*size+step
}

// apart returns the samples of all launches that have two roots, with each of them, and how long they take. Of several launches it is by how much each sample is longer than the
// median of its launch.
func apart(launches [][]group) (a, b group, size float64) {
	var with [2][]unit.Time
	for _, g := range launches {
		if len(g) != 2 {
			continue
		}
		size = math.Max(size, math.Max(math.Abs(g[0].median), math.Abs(g[1].median)))
		if len(launches) == 1 {
			return g[0], g[1], size
		}
		middle := unit.FromMicros(at(merge(g[0].times, g[1].times), 0.5))
		for root := range with {
			for _, t := range g[root].times {
				with[root] = append(with[root], t-middle)
			}
		}
	}
	if with[0] == nil {
		return group{}, group{}, 0
	}
	return newGroup(sorted(with[0])), newGroup(sorted(with[1])), size
}

// step returns the smallest difference between sorted times, in microseconds: of batches it is a part of the clock's step. It is infinite where all are alike.
func step(times []unit.Time) float64 {
	least := math.Inf(1)
	for i := 1; i < len(times); i++ {
		if d := times[i] - times[i-1]; d > 0 {
			least = min(least, d.Micros())
		}
	}
	return least
}

// tail says whether more than one sample, and more than one in a hundred, is far off on the high side.
func (g group) tail() bool {
	limit := math.Max(2*g.median, g.median+10*(at(g.times, 0.75)-at(g.times, 0.25)))
	i, _ := slices.BinarySearch(g.times, unit.FromMicros(limit)+1)
	far := len(g.times) - i
	return far > 1 && far*100 > len(g.times)
}

// coarse says whether the steps of the timer show: it is known to be coarse, or a real clock shows few different times.
func (g group) coarse(clock string, resolution float64) bool {
	if resolution > 0 && g.median < 20*resolution {
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

// drifts says whether the later half of the repetitions is slower or faster than the earlier: by counting samples above
// the median on both sides, at five standard deviations, and by more than a percent.
func drifts(times []unit.Time, g group) bool {
	n := len(times)
	if n < 40 {
		return false
	}
	middle := unit.FromMicros(g.median)
	early, late := above(times[:n/2], middle), above(times[n/2:], middle)
	m := early + late
	spread := float64(m) * (1 - float64(m)/float64(n))
	if d := float64(late - early); d*d <= 25*spread {
		return false
	}
	a, b := at(sorted(times[:n/2]), 0.5), at(sorted(times[n/2:]), 0.5)
	return math.Abs(b-a) > 0.01*math.Abs(g.median)
}

func above(times []unit.Time, limit unit.Time) int {
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
// The median of n draws with replacement from n sorted samples is the sample of rank ⌊nU⌋, where U is the median of n uniform
// numbers: Beta((n+1)/2, (n+1)/2). So one draw of U does for n draws of samples. U is made by Ulrich's formula
// (1984) for the symmetric beta distribution,
//
//	½ + ½ √(1 − V^(2/(2a−1))) cos 2πW
//
// with a = (n+1)/2 and V, W uniform.
func (g group) resample(replicates int, rng *rand.Rand) []float64 {
	n := len(g.times)
	if g.times[0] == g.times[n-1] {
		return slices.Repeat([]float64{g.median}, replicates)
	}
	reps := make([]float64, replicates)
	power := 2 / float64(n)
	for i := range reps {
		radius := math.Sqrt(1 - math.Pow(rng.Float64(), power))
		u := 0.5 + 0.5*radius*math.Cos(2*math.Pi*rng.Float64())
		reps[i] = at(g.times, u)
	}
	return reps
}

// source returns random numbers that depend on what was measured and on nothing else, so that the order of work
// does not matter.
func source(k sample.Key, part int, seed uint64) *rand.Rand {
	h := fnv.New64a()
	for _, s := range []string{k.Platform, k.Library, k.Clock, k.Place, k.Mode, k.Protocol, k.Timer} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(k.Bytes)<<32^uint64(k.Launch)<<1^uint64(part)))
}

// median sorts x and returns its median.
func median(x []float64) float64 {
	slices.Sort(x)
	return quantile(x, 0.5)
}

// quantile returns the quantile u of sorted numbers.
func quantile(sorted []float64, u float64) float64 {
	pos := u * float64(len(sorted)-1)
	i := int(pos)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (pos-float64(i))*(sorted[i+1]-sorted[i])
}

// interval returns the percentile interval of sorted replicates, which holds the value.
func interval(sorted []float64, value, level float64) (low, high float64) {
	tail := (1 - level) / 2
	return min(value, quantile(sorted, tail)), max(value, quantile(sorted, 1-tail))
}
