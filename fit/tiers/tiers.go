// Package tiers groups ranks by distance, from the times of all their pairs, and derives the
// parameters H and P.
package tiers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// Tiers are the distances between the ranks of a job, found from the times of all pairs alone.
type Tiers struct {
	Platform, Library string

	Ranks  []int  // in order
	Levels []Tier // the nearest first; at least one
	Pairs  []Pair // in order

	Mode  string // of the round trips of OneWay; "": there are none
	Bytes int
}

// Tier is a set of pairs of ranks at the same distance. Ranks that are at most that far apart form
// a group, and each group consists of whole groups of the tier before.
type Tier struct {
	Place  string  // of its samples: for one tier inter, or the place of all samples; for two intra and inter; for more tier1 tier2 …
	Groups [][]int // of ranks, each in order, by their first rank; the last tier has one group of all
	Pairs  int     // that were measured
	Times  float64 // the median of all times, relative to the nearest tier
	OneWay float64 // the median of its pairs
}

// Pair is two ranks.
type Pair struct {
	A, B      int     // A < B
	Tier      int     // index in Levels
	Times     float64 // relative to the nearest tier
	OneWay    float64 // half a round trip in microseconds; NaN if there is none
	IsOutlier bool    // its times differ from those of its tier
}

// maxRanks bounds the work, which grows with the third power of the ranks.
const maxRanks = 512

// AssignTiers returns a set in which the samples of pairs of ranks have the place of their tier,
// each pair as a launch, with the tiers. A set without such samples is returned as it is.
func AssignTiers(set *sample.Set) (*sample.Set, []*tierSearch, error) {
	f, err := set.Runs()
	if err != nil {
		return nil, nil, err
	}
	var found []*tierSearch
	pooled := &sample.Set{Facts: set.Facts}
	of := make(map[clean.Subject][]*sample.Series) // pairs
	var order []clean.Subject
	own := make(map[clean.Subject]bool) // places with samples of their own
	for i := range set.Series {
		s := &set.Series[i]
		if _, _, pair := sample.ParsePairPlace(s.Place); !pair {
			own[clean.Subject{Platform: s.Platform, Library: s.Library, Place: s.Place}] = true
			pooled.Series = append(pooled.Series, *s)
			continue
		}
		where := clean.Subject{Platform: s.Platform, Library: s.Library, Place: ""}
		if of[where] == nil {
			order = append(order, where)
		}
		of[where] = append(of[where], s)
	}
	if len(order) == 0 {
		return set, nil, nil
	}
	slices.SortFunc(order, func(a, b clean.Subject) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Library, b.Library))
	})
	for _, where := range order {
		t := newTierSearch(where, of[where], f)
		if n := len(t.ranks); n > maxRanks {
			return nil, nil, fmt.Errorf("fit: %s, %s has pairs of %d ranks, and tiers are found among %d at most: take the samples of fewer", where.Platform, where.Library, n, maxRanks)
		}
		t.divideTiers()
		for _, s := range t.poolPairs(of[where]) {
			if !own[clean.Subject{Platform: s.Platform, Library: s.Library, Place: s.Place}] {
				pooled.Series = append(pooled.Series, s)
			}
		}
		found = append(found, t)
	}
	return pooled, found, nil
}

// tierSearch finds the tiers of one platform and library.
type tierSearch struct {
	pairTable
	clean.Subject
	groupsOfTier  []partition    // the groups of each tier
	bipartitions  []*bipartition // one less than tiers, the first found first
	tierOfPair    []int          // of each pair
	timeOfPair    []float64      // of each pair, the nearest tier being 1
	outliers      []bool         // by pair
	rejectedSplit *bipartition   // of one tier: the best that was not good enough, or nil
	onlyTierPlace string         // the place of the only tier
}

func newTierSearch(where clean.Subject, series []*sample.Series, f sample.Runs) *tierSearch {
	return &tierSearch{Subject: where, pairTable: newPairTable(series, f), onlyTierPlace: f.PlaceOf(series[0])}
}

// divideTiers divides the tier of all pairs into two, and each of these again, as long as the
// evidence is decisive.
func (t *tierSearch) divideTiers() {
	n, all := len(t.ranks), make([]int, len(t.pairs))
	for i := range all {
		all[i] = i
	}
	t.outliers = make([]bool, len(t.pairs))
	t.groupsOfTier = append(t.partitionsBetween(singletonPartition(n), singleGroupPartition(n), all), singleGroupPartition(n))
	t.tierOfPair = make([]int, len(t.pairs))
	for i, p := range t.pairs {
		t.tierOfPair[i] = slices.IndexFunc(t.groupsOfTier, func(g partition) bool { return g[p[0]] == g[p[1]] })
	}
	score, _ := t.pairDistances(all)
	var nearest []float64
	for i, s := range score {
		if t.tierOfPair[i] == 0 {
			nearest = append(nearest, s)
		}
	}
	t.timeOfPair = make([]float64, len(score))
	if len(nearest) == 0 {
		return
	}
	base := quantile.Median(nearest)
	for i, s := range score {
		t.timeOfPair[i] = math.Exp(s - base)
	}
}

// partitionsBetween returns the partitions between a finer and a coarser one, the finest first,
// from the pairs that are in one group of the coarser and in two of the finer.
func (t *tierSearch) partitionsBetween(finer, coarser partition, pairs []int) []partition {
	c := t.bestCut(finer, pairs)
	if c == nil || c.evidenceGain < minDecisiveGain {
		if len(t.bipartitions) == 0 {
			t.rejectedSplit = c
		}
		t.markOutliers(pairs)
		return nil
	}
	t.bipartitions = append(t.bipartitions, c)
	middle := make(partition, len(finer))
	for rank, item := range finer {
		middle[rank] = c.group[item]
	}
	var near, far []int
	for i, p := range pairs {
		a, b := t.pairs[p][0], t.pairs[p][1]
		if middle[a] == middle[b] {
			near = append(near, p)
		} else {
			far = append(far, p)
		}
		t.outliers[p] = t.outliers[p] || c.outliers[i]
	}
	out := append(t.partitionsBetween(finer, middle, near), middle)
	return append(out, t.partitionsBetween(middle, coarser, far)...)
}

// markOutliers marks the pairs of one tier that are far from the others.
func (t *tierSearch) markOutliers(pairs []int) {
	if len(pairs) == 0 {
		return
	}
	score, _ := t.pairDistances(pairs)
	c := bipartition{priorSigma: priorDeviation}
	for _, s := range score {
		c.edges = append(c.edges, rankDistance{logDistance: s})
	}
	m, sigma, _ := c.fitTiers(1, func(rankDistance) int { return 0 })
	for i, p := range pairs {
		t.outliers[p] = t.outliers[p] || math.Abs(score[i]-m[0]) > 2*huberThreshold*sigma
	}
}

// bestCut returns the best division of some pairs into two tiers, or nil if there are too few. It
// does not divide groups of finer.
func (t *tierSearch) bestCut(finer partition, pairs []int) *bipartition {
	if len(pairs) < 2 {
		return nil
	}
	score, se := t.pairDistances(pairs)
	edges := make([]rankDistance, len(pairs))
	for i, p := range pairs {
		edges[i] = rankDistance{finer[t.pairs[p][0]], finer[t.pairs[p][1]], score[i]}
	}
	return bestBipartition(slices.Max(finer)+1, edges, math.Max(priorDeviation, se))
}

// tierPlace names a tier.
func (t *tierSearch) tierPlace(i int) string {
	switch n := len(t.groupsOfTier); {
	case n > 2:
		return fmt.Sprintf("tier%d", i+1)
	case n == 2 && i == 0:
		return "intra"
	case n == 2:
		return "inter"
	}
	return t.onlyTierPlace
}

// poolPairs returns the samples of the pairs under the place of their tier, each pair as a launch.
func (t *tierSearch) poolPairs(series []*sample.Series) []sample.Series {
	launches := 1
	for _, s := range series {
		launches = max(launches, s.Launch+1)
	}
	index := make(map[string]int)
	for i, p := range t.pairs {
		index[sample.PairPlace(t.ranks[p[0]], t.ranks[p[1]])] = i
	}
	var out []sample.Series
	for _, s := range series {
		i, ok := index[s.Place]
		if !ok {
			continue
		}
		pooled := *s
		pooled.Place = t.tierPlace(t.tierOfPair[i])
		pooled.Launch = i*launches + s.Launch
		out = append(out, pooled)
	}
	return out
}

// Exported returns the tiers in exported form.
func (t *tierSearch) Exported() Tiers {
	trips, ways := t.roundTrips()
	out := Tiers{Platform: t.Platform, Library: t.Library, Ranks: t.ranks, Mode: trips.Mode, Bytes: trips.Bytes}
	times, oneWay := make([][]float64, len(t.groupsOfTier)), make([][]float64, len(t.groupsOfTier))
	for i, p := range t.pairs {
		l := t.tierOfPair[i]
		times[l] = append(times[l], t.timeOfPair[i])
		if way := ways[i]; way == way {
			oneWay[l] = append(oneWay[l], way)
		}
		out.Pairs = append(out.Pairs, Pair{t.ranks[p[0]], t.ranks[p[1]], l, clean.RoundDigits(t.timeOfPair[i]), ways[i], t.outliers[i]})
	}
	for i, g := range t.groupsOfTier {
		tier := Tier{Place: t.tierPlace(i), Groups: t.ranksOfGroups(g), Pairs: len(times[i]), OneWay: math.NaN()}
		if len(oneWay[i]) > 0 {
			tier.OneWay = quantile.Median(oneWay[i])
		}
		if len(times[i]) > 0 {
			tier.Times = clean.RoundDigits(quantile.Median(times[i]))
		}
		out.Levels = append(out.Levels, tier)
	}
	return out
}

// ranksOfGroups returns the ranks of each group, by their first.
func (t *tierSearch) ranksOfGroups(g partition) [][]int {
	out := make([][]int, slices.Max(g)+1)
	for i, rank := range t.ranks {
		out[g[i]] = append(out[g[i]], rank)
	}
	slices.SortFunc(out, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// Parameters returns H and P: how many groups a tier joins, and how many processors are in a group
// of it. Each tier but the last has a P, each but the first an H.
func (t *tierSearch) Parameters() []params.Parameter {
	tiers := t.Exported()
	var out []params.Parameter
	row := func(name string, i, value, low, high int) {
		p := params.Parameter{Platform: t.Platform, Library: t.Library, Place: tiers.Levels[i].Place, Name: name, From: -1, To: -1,
			Value: float64(value), Low: float64(low), High: float64(high), Unit: params.UnitCount, Method: params.MethodCountByPairTiers, SampleCount: len(t.pairs), Verdict: params.GoodVerdict}
		if t.isUnclear() {
			p.Verdict = params.WeakVerdict
		}
		if len(t.groupsOfTier) == 1 {
			p.Value, p.Low, p.High, p.Verdict = math.NaN(), math.NaN(), math.NaN(), params.UnidentifiableVerdict
			p.Method += params.UnidentifiableMethodSuffix
		}
		out = append(out, p)
	}
	if len(t.groupsOfTier) == 1 {
		row("H", 0, 0, 0, 0)
		row("P", 0, 0, 0, 0)
	}
	for i, level := range tiers.Levels[:len(tiers.Levels)-1] {
		var sizes []int
		for _, g := range level.Groups {
			sizes = append(sizes, len(g))
		}
		slices.Sort(sizes)
		row("P", i, quantile.UpperMedian(sizes), sizes[0], sizes[len(sizes)-1])
		row("H", i+1, len(sizes), len(sizes), len(sizes))
	}
	return out
}
