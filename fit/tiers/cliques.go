package tiers

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// partition is the group of each item, numbered from 0 without a gap.
type partition []int

func singles(n int) partition {
	p := make(partition, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func whole(n int) partition { return make(partition, n) }

// number numbers the groups by their first item.
func (p partition) number() partition {
	names := make(map[int]int)
	for i, g := range p {
		name, ok := names[g]
		if !ok {
			name = len(names)
			names[g] = name
		}
		p[i] = name
	}
	return p
}

// edge is a pair of items, and how far they are from each other, as a logarithm of times.
type edge struct {
	a, b int
	far  float64
}

// cut divides edges into a near and a far tier: items that are near each other form groups, all
// edges inside a group are near, all between groups far. So near edges make cliques, and an edge
// counts by the company it is in, not for itself.
type cut struct {
	n     int
	edges []edge
	known float64 // deviation that is expected beforehand

	group     partition
	near, far float64
	sigma     float64
	odd       []bool  // by edge: it is nearer to the other tier
	gain      float64 // nats of evidence for two tiers rather than one
}

// Evidence. A natural unit, or nat, is a factor of e in odds.
const (
	// decisive is how much two tiers must explain better than one, after what they cost to
	// describe: odds of 150 to 1.
	decisive = 5

	// likely is the deviation of pairs of one tier that is expected, and believed as if priorPairs
	// had shown it.
	likely     = 0.02
	priorPairs = 4

	// Deviations beyond bend count less than their squares. A pair that takes longer than its tier
	// may have been held up: beyond bend it counts no more. Nothing makes one faster than it can
	// be, so that the other bound is wider.
	bend     = 3
	slowBend = bend * bend / 2.0
	fastBend = 4 * bend * bend / 2.0
)

// cost is what a deviation in units of sigma costs, in nats.
func deviationCost(r float64) float64 {
	switch {
	case math.Abs(r) <= bend:
		return r * r / 2
	case r > 0:
		return slowBend
	}
	return math.Min(-bend*r-bend*bend/2.0, fastBend)
}

// weight is how much a deviation counts for the middle of its tier.
func weight(r float64) float64 {
	switch {
	case math.Abs(r) <= bend:
		return 1
	case r > 0:
		return 0
	}
	return bend / -r
}

// newCut returns the best division of edges among n items, or nil if there is none.
func newCut(n int, edges []edge, known float64) *cut {
	c := &cut{n: n, edges: edges, known: known}
	best := math.Inf(1)
	for _, t := range c.thresholds() {
		if trial := c.from(t); trial != nil {
			if cost := trial.cost() + trial.description(); cost < best {
				best = cost
				c.group, c.near, c.far, c.sigma = trial.group, trial.near, trial.far, trial.sigma
			}
		}
	}
	if c.group == nil {
		return nil
	}
	c.gain = c.alone() - best
	c.odd = make([]bool, len(edges))
	for i, e := range edges {
		own, other := c.far, c.near
		if c.inside(e) {
			own, other = other, own
		}
		c.odd[i] = math.Abs(e.far-own) > max(bend*c.sigma, math.Abs(e.far-other))
	}
	return c
}

func (c *cut) inside(e edge) bool { return c.group[e.a] == c.group[e.b] }

// prefers is what an edge costs as a near one more than as a far one. It never prefers the tier
// whose middle is farther off, although what is a little fast for the far tier may cost as much as
// what is very slow for the near one.
func (c *cut) prefers(e edge) float64 {
	d := deviationCost((e.far-c.near)/c.sigma) - deviationCost((e.far-c.far)/c.sigma)
	if e.far > (c.near+c.far)/2 {
		return max(d, 0)
	}
	return min(d, 0)
}

// thresholds are distances between a near and a far tier from which to begin: in the widest gaps,
// and where two means fit best.
func (c *cut) thresholds() []float64 {
	x := make([]float64, len(c.edges))
	for i, e := range c.edges {
		x[i] = e.far
	}
	slices.Sort(x)
	type gap struct{ at, width, between float64 }
	var gaps []gap
	total, below := 0.0, 0.0
	for _, v := range x {
		total += v
	}
	for i := 1; i < len(x); i++ {
		below += x[i-1]
		if x[i] > x[i-1] {
			k, rest := float64(i), float64(len(x)-i)
			d := below/k - (total-below)/rest
			gaps = append(gaps, gap{(x[i] + x[i-1]) / 2, x[i] - x[i-1], d * d * k * rest})
		}
	}
	var out []float64
	take := func(n int, by func(gap) float64) {
		slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(by(b), by(a)) })
		for _, g := range gaps[:min(n, len(gaps))] {
			if !slices.Contains(out, g.at) {
				out = append(out, g.at)
			}
		}
	}
	take(8, func(g gap) float64 { return g.width })
	take(1, func(g gap) float64 { return g.between })
	return out
}

// from finds groups and tiers from a threshold: groups as the tiers ask for them, tiers as the
// groups divide the edges, until nothing changes.
func (c *cut) from(threshold float64) *cut {
	t := &cut{n: c.n, edges: c.edges, known: c.known}
	var tiers [2][]float64
	for _, e := range c.edges {
		i := 0
		if e.far > threshold {
			i = 1
		}
		tiers[i] = append(tiers[i], e.far)
	}
	t.near, t.far = clean.Median(tiers[0]), clean.Median(tiers[1])
	t.sigma = math.Hypot(c.known, (t.far-t.near)/8)
	for range 20 {
		group := t.cluster()
		if t.group != nil && slices.Equal(group, t.group) {
			break
		}
		t.group = group
		if !t.settle() {
			return nil
		}
	}
	return t
}

// settle moves the middles and the deviation to what the groups make of the edges. It is false
// where the groups leave one tier.
func (c *cut) settle() bool {
	var tiers [2][]float64
	for _, e := range c.edges {
		i := 1
		if c.inside(e) {
			i = 0
		}
		tiers[i] = append(tiers[i], e.far)
	}
	if len(tiers[0]) == 0 || len(tiers[1]) == 0 {
		return false
	}
	c.near, c.far = clean.Median(tiers[0]), clean.Median(tiers[1])
	c.sigma = spread(c.known, tiers[0], c.near, tiers[1], c.far)
	for range 30 {
		c.near, c.far = middle(tiers[0], c.near, c.sigma), middle(tiers[1], c.far, c.sigma)
		c.sigma = deviation(c.known, c.sigma, tiers[:], []float64{c.near, c.far})
	}
	return c.near < c.far
}

// spread is a first guess of a deviation: from the median distance to the middles.
func spread(known float64, near []float64, a float64, far []float64, b float64) float64 {
	var d []float64
	for _, x := range near {
		d = append(d, math.Abs(x-a))
	}
	for _, x := range far {
		d = append(d, math.Abs(x-b))
	}
	return math.Hypot(known, 1.4826*clean.Median(d))
}

// middle is the weighted mean of numbers around another.
func middle(x []float64, around, sigma float64) float64 {
	sum, n := 0.0, 0.0
	for _, v := range x {
		w := weight((v - around) / sigma)
		sum += w * v
		n += w
	}
	if n == 0 {
		return around
	}
	return sum / n
}

// deviation is that of the numbers of some tiers around their middles, and of the prior.
func deviation(known, sigma float64, tiers [][]float64, middles []float64) float64 {
	sum, n := priorPairs*known*known, float64(priorPairs)
	for i, x := range tiers {
		for _, v := range x {
			if w := weight((v - middles[i]) / sigma); w > 0 {
				sum += w * (v - middles[i]) * (v - middles[i])
				n++
			}
		}
	}
	return math.Sqrt(sum / n)
}

// cost is how unlikely the edges are in two tiers: minus the logarithm of the likelihood, and of
// the prior of the deviation.
func (c *cut) cost() float64 {
	sum := c.prior(c.sigma)
	for _, e := range c.edges {
		if c.inside(e) {
			sum += deviationCost((e.far - c.near) / c.sigma)
		} else {
			sum += deviationCost((e.far - c.far) / c.sigma)
		}
	}
	return sum
}

func (c *cut) prior(sigma float64) float64 {
	return float64(len(c.edges)+priorPairs)*math.Log(sigma) + priorPairs*c.known*c.known/(2*sigma*sigma)
}

// alone is the cost of one tier.
func (c *cut) alone() float64 {
	x := make([]float64, len(c.edges))
	for i, e := range c.edges {
		x[i] = e.far
	}
	least := math.Inf(1)
	m := clean.Median(x)
	for _, sigma := range []float64{spread(c.known, x, m, nil, 0), deviation(c.known, math.Inf(1), [][]float64{x}, []float64{m})} {
		m := m
		for range 30 {
			m = middle(x, m, sigma)
			sigma = deviation(c.known, sigma, [][]float64{x}, []float64{m})
		}
		cost := c.prior(sigma)
		for _, v := range x {
			cost += deviationCost((v - m) / sigma)
		}
		least = min(least, cost)
	}
	return least
}

// description is what it costs to describe the groups of ranks, and the second tier: for the items
// of each connected part the number of groups, and which division into groups of these sizes it is
// among all; and half a logarithm of the edges for the middle, as BIC has it.
//
//	½ ln edges + Σ [ ln items + ln( items! / (Π size! · Π (groups of one size)!) ) ]
func (c *cut) description() float64 {
	sum := math.Log(float64(len(c.edges))) / 2
	for _, part := range c.parts() {
		sizes := make(map[int]int)
		for _, i := range part {
			sizes[c.group[i]]++
		}
		same := make(map[int]int)
		ways := factorial(len(part))
		for _, n := range sizes {
			same[n]++
			ways -= factorial(n)
		}
		for _, n := range same {
			ways -= factorial(n)
		}
		sum += math.Log(float64(len(part))) + ways
	}
	return sum
}

// factorial is the logarithm of n!.
func factorial(n int) float64 {
	x, _ := math.Lgamma(float64(n + 1))
	return x
}

// parts returns the items that edges connect, of more than one.
func (c *cut) parts() [][]int {
	root := singles(c.n)
	var find func(i int) int
	find = func(i int) int {
		if root[i] != i {
			root[i] = find(root[i])
		}
		return root[i]
	}
	for _, e := range c.edges {
		root[find(e.a)] = find(e.b)
	}
	by := make([][]int, c.n)
	for i := range c.n {
		by[find(i)] = append(by[find(i)], i)
	}
	return slices.DeleteFunc(by, func(p []int) bool { return len(p) < 2 })
}

// cluster returns the groups that the tiers ask for: those that make the sum of prefers over the
// edges inside groups least, as far as joining groups and then moving items gets.
func (c *cut) cluster() partition {
	w := make([][]float64, c.n)
	for i := range w {
		w[i] = make([]float64, c.n)
	}
	for _, e := range c.edges {
		if e.a != e.b {
			d := c.prefers(e)
			w[e.a][e.b] += d
			w[e.b][e.a] += d
		}
	}
	return move(w, join(w)).number()
}

// join joins groups, always the two that are nearest by the mean of their edges, as long as that
// lowers the sum.
func join(w [][]float64) partition {
	n := len(w)
	sum := make([][]float64, n)
	size := make([]float64, n)
	for i := range sum {
		sum[i] = slices.Clone(w[i])
		size[i] = 1
	}
	p := singles(n)
	for {
		a, b, least := -1, -1, 0.0
		for i := range n {
			for j := i + 1; j < n && size[i] > 0; j++ {
				if mean := sum[i][j] / (size[i] * size[j]); size[j] > 0 && mean < least {
					a, b, least = i, j, mean
				}
			}
		}
		if a < 0 {
			return p
		}
		for i := range n {
			sum[a][i] += sum[b][i]
			sum[i][a] += sum[i][b]
		}
		size[a] += size[b]
		size[b] = 0
		for i, g := range p {
			if g == b {
				p[i] = a
			}
		}
	}
}

// move moves single items to where they lower the sum most, until none does.
func move(w [][]float64, p partition) partition {
	n := len(p)
	to := make([]float64, n)
	for range 20 {
		moved := false
		for i := range n {
			clear(to)
			used := make([]bool, n)
			for j, g := range p {
				used[g] = used[g] || j != i
				if j != i {
					to[g] += w[i][j]
				}
			}
			best := p[i]
			for g := range n {
				if to[g] < to[best]-1e-9 {
					best = g
				}
			}
			if to[best] > 1e-9 { // better alone
				best = slices.Index(used, false)
			}
			if best != p[i] {
				p[i], moved = best, true
			}
		}
		if !moved {
			break
		}
	}
	return p
}
