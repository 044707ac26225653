package tiers

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/model/quantile"
)

// partition is the group of each item, numbered from 0 without a gap.
type partition []int

func singletonPartition(n int) partition {
	p := make(partition, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func singleGroupPartition(n int) partition { return make(partition, n) }

// rankDistance is a pair of items, and how far they are from each other, as a logarithm of times.
type rankDistance struct {
	a, b        int
	logDistance float64
}

// bipartition divides edges into a near and a far tier: items that are near each other form groups,
// all edges inside a group are near, all between groups far. The groups are those of average
// linkage (UPGMA; Sokal and Michener 1958) after the join that makes the edges most likely, of
// those before the widest gaps. So the tier of an edge depends on its groups, not on the edge
// alone.
type bipartition struct {
	edges      []rankDistance
	priorSigma float64 // prior deviation

	group                 partition
	nearMedian, farMedian float64 // medians of the tiers
	sigma                 float64 // deviation of the edges of one tier
	outliers              []bool  // by edge: it is nearer to the other tier
	evidenceGain          float64 // nats of evidence for two tiers rather than one
}

// Evidence. A natural unit, or nat, is a factor of e in odds.
const (
	// minDecisiveGain is the least evidence for two tiers, net of the cost of their description:
	// odds of 150 to 1.
	minDecisiveGain = 5

	// priorDeviation is the prior deviation of pairs of one tier, with the weight of priorPairCount
	// pairs.
	priorDeviation = 0.02
	priorPairCount = 4

	// A pair that is more than bend deviations from its tier costs less than half their square
	// (Huber 1964), and at most dearest: it was delayed, or its groups force it into this tier.
	huberThreshold   = 3
	maxDeviationCost = 4 * huberThreshold * huberThreshold / 2.0
)

// deviationCost returns the cost of a deviation in units of sigma, in nats.
func deviationCost(r float64) float64 {
	if r = math.Abs(r); r <= huberThreshold {
		return r * r / 2
	}
	return min(huberThreshold*r-huberThreshold*huberThreshold/2.0, maxDeviationCost)
}

// bestBipartition returns the best division of edges among n items, or nil if there is none.
func bestBipartition(n int, edges []rankDistance, known float64) *bipartition {
	c := &bipartition{edges: edges, priorSigma: known}
	one := func(rankDistance) int { return 0 }
	_, _, alone := c.fitTiers(1, one)
	best := math.Inf(1)
	joins := averageLinkage(n, edges)
	if len(joins) == 0 {
		return nil
	}
	connected := joins[len(joins)-1].groups
	slices.SortStableFunc(joins, func(a, b mergeStep) int { return cmp.Compare(b.distanceGap, a.distanceGap) })
	for _, j := range joins[:min(len(joins), maxTriedJoins)] {
		group := j.groups
		tier := func(e rankDistance) int {
			if group[e.a] == group[e.b] {
				return 0
			}
			return 1
		}
		middles, sigma, cost := c.fitTiers(2, tier)
		if cost += c.descriptionCost(connected, group); middles[0] < middles[1] && cost < best {
			best = cost
			c.group, c.nearMedian, c.farMedian, c.sigma = group, middles[0], middles[1], sigma
		}
	}
	if c.group == nil {
		return nil
	}
	c.evidenceGain = alone - best
	c.outliers = make([]bool, len(edges))
	for i, e := range edges {
		own, other := c.farMedian, c.nearMedian
		if c.isInside(e) {
			own, other = other, own
		}
		c.outliers[i] = math.Abs(e.logDistance-own) > max(huberThreshold*c.sigma, math.Abs(e.logDistance-other))
	}
	return c
}

func (c *bipartition) isInside(e rankDistance) bool { return c.group[e.a] == c.group[e.b] }

// fitTiers returns the median of each tier, the deviation of the edges from these, and the cost:
// minus the logarithm of the likelihood of the edges and of the prior of the deviation. The median
// of a tier without edges is NaN.
func (c *bipartition) fitTiers(tiers int, tier func(rankDistance) int) (middles []float64, sigma, cost float64) {
	of := make([][]float64, tiers)
	for _, e := range c.edges {
		of[tier(e)] = append(of[tier(e)], e.logDistance)
	}
	var off, far []float64
	for _, x := range of {
		m := math.NaN()
		if len(x) > 0 {
			m = quantile.Median(x)
		}
		middles = append(middles, m)
		for _, v := range x {
			off, far = append(off, v-m), append(far, math.Abs(v-m))
		}
	}
	cost = math.Inf(1)
	for _, start := range []float64{1.4826 * quantile.Median(far), math.Inf(1)} { // few pairs far off, or none
		s := math.Hypot(c.priorSigma, start)
		for range 10 {
			sum, n := priorPairCount*c.priorSigma*c.priorSigma, float64(priorPairCount)
			for _, d := range off {
				if math.Abs(d) <= huberThreshold*s {
					sum += d * d
					n++
				}
			}
			s = math.Sqrt(sum / n)
		}
		x := float64(len(off)+priorPairCount)*math.Log(s) + priorPairCount*c.priorSigma*c.priorSigma/(2*s*s)
		for _, d := range off {
			x += deviationCost(d / s)
		}
		if x < cost {
			sigma, cost = s, x
		}
	}
	return middles, sigma, cost
}

// descriptionCost returns the cost of describing the groups of ranks and the second tier: for each
// connected part the number of groups, and the choice among all divisions into groups of these
// sizes; and half the logarithm of the number of edges for the median, as in BIC.
//
//	½ ln edges + Σ [ ln items + ln( items! / (Π size! · Π (groups of one size)!) ) ]
func (c *bipartition) descriptionCost(connected, group partition) float64 {
	sum := math.Log(float64(len(c.edges))) / 2
	parts := make([][]int, slices.Max(connected)+1)
	for i, p := range connected {
		parts[p] = append(parts[p], i)
	}
	for _, part := range parts {
		if len(part) == 1 {
			continue
		}
		sizes := make(map[int]int)
		for _, i := range part {
			sizes[group[i]]++
		}
		same := make(map[int]int)
		ways := logFactorial(len(part))
		for _, n := range sizes {
			same[n]++
			ways -= logFactorial(n)
		}
		for _, n := range same {
			ways -= logFactorial(n)
		}
		sum += math.Log(float64(len(part))) + ways
	}
	return sum
}

// logFactorial is the logarithm of n!.
func logFactorial(n int) float64 {
	x, _ := math.Lgamma(float64(n + 1))
	return x
}

// mergeStep is a step of average linkage: the groups after it, and the gap to the distance of the
// next.
type mergeStep struct {
	groups      partition
	distanceGap float64
}

// maxTriedJoins bounds how many joins are tried: those before the widest gaps.
const maxTriedJoins = 32

// averageLinkage joins the two nearest groups, by the mean of the edges between them, until one is
// left.
func averageLinkage(n int, edges []rankDistance) []mergeStep {
	sum, count := make([][]float64, n), make([][]float64, n)
	for i := range n {
		sum[i], count[i] = make([]float64, n), make([]float64, n)
	}
	for _, e := range edges {
		for _, p := range [2][2]int{{e.a, e.b}, {e.b, e.a}} {
			sum[p[0]][p[1]] += e.logDistance
			count[p[0]][p[1]]++
		}
	}
	first, of := singletonPartition(n), singletonPartition(n) // the first items of groups, and that of each item's group
	var out []mergeStep
	last := 0.0
	for {
		a, b, least := 0, 0, math.Inf(1)
		for i, g := range first {
			for _, h := range first[i+1:] {
				if mean := sum[g][h] / count[g][h]; mean < least {
					a, b, least = g, h, mean
				}
			}
		}
		if len(out) > 0 {
			out[len(out)-1].distanceGap = least - last
		}
		if last = least; a == b {
			return out
		}
		for _, g := range first {
			sum[a][g], count[a][g] = sum[a][g]+sum[b][g], count[a][g]+count[b][g]
			sum[g][a], count[g][a] = sum[a][g], count[a][g]
		}
		first = slices.DeleteFunc(first, func(g int) bool { return g == b })
		groups := make(partition, n)
		for i := range of {
			if of[i] == b {
				of[i] = a
			}
			groups[i], _ = slices.BinarySearch(first, of[i])
		}
		out = append(out, mergeStep{groups: groups})
	}
}
