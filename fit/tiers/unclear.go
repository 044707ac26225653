package tiers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
)

// Limits below which a division into tiers is doubtful.
const (
	minClearSeparation = 4                   // deviations between the middles of two tiers
	minClearGain       = 2 * minDecisiveGain // nats
)

// isUnclear reports whether the division into tiers is doubtful.
func (t *tierSearch) isUnclear() bool {
	return slices.Contains(t.outliers, true) || slices.ContainsFunc(t.bipartitions, (*bipartition).isUnclear)
}

func (c *bipartition) isUnclear() bool {
	return c.separation() < minClearSeparation || c.evidenceGain < minClearGain || c.countNearEdges() == 1
}

// separation returns the distance between the tiers in deviations.
func (c *bipartition) separation() float64 { return (c.farMedian - c.nearMedian) / c.sigma }

func (c *bipartition) countNearEdges() int {
	n := 0
	for _, e := range c.edges {
		if c.isInside(e) {
			n++
		}
	}
	return n
}

// Warnings returns warnings about the tiers.
func (t *tierSearch) Warnings() []clean.Warning {
	var out []clean.Warning
	warn := func(parameter, code, format string, args ...any) {
		out = append(out, clean.Warning{Platform: t.Platform, Library: t.Library, Parameter: parameter, Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if len(t.groupsOfTier) == 1 {
		text := fmt.Sprintf("one tier: no hierarchy is seen among %d ranks", len(t.ranks))
		if len(t.pairs) == 1 {
			text = "one pair shows no tiers: measure more ranks"
		}
		if c := t.rejectedSplit; c != nil && c.evidenceGain > 0 {
			text += fmt.Sprintf("; two tiers whose times differ by %.2g %% would explain the pairs better, but not by more than chance may", 100*(c.farMedian-c.nearMedian))
		}
		warn("H", clean.CodeOneTier, "%s: H and P are not known, and all pairs count as %s", text, t.onlyTierPlace)
	}
	for _, c := range t.bipartitions {
		switch {
		case c.countNearEdges() == 1:
			warn("H", clean.CodeTiersUnclear, "one pair alone is nearer than others: a tier of its own, or a chance")
		case c.isUnclear():
			warn("H", clean.CodeTiersUnclear, "two tiers differ by %.1f deviations of the pairs in them: the groups of ranks are uncertain", c.separation())
		}
	}
	if odd := t.pairNames(t.outliers); len(odd) > 0 {
		warn("H", clean.CodeOddPairs, "%s: nearer or farther than the other pairs of these ranks say, whose tier counts", listFirst(odd))
	}
	if missing := t.missingPairs(); len(missing) > 0 {
		warn("H", clean.CodePairsMissing, "%s: not measured; where these ranks belong rests on their other pairs", listFirst(missing))
	}
	t.warnOfUnequalGroups(warn)
	return out
}

// warnOfUnequalGroups warns of groups of unequal sizes, for which P is the median.
func (t *tierSearch) warnOfUnequalGroups(warn func(parameter, code, format string, args ...any)) {
	for _, p := range t.Parameters() {
		if p.Name == "P" && p.Low < p.High {
			warn("P", clean.CodeUnequalGroups, "groups of %s have from %v to %v ranks: P is the median", p.Place, p.Low, p.High)
		}
	}
}

// pairNames lists the pairs that satisfy a condition.
func (t *tierSearch) pairNames(holds []bool) []string {
	var out []string
	for i, p := range t.pairs {
		if holds[i] {
			out = append(out, fmt.Sprintf("%d-%d", t.ranks[p[0]], t.ranks[p[1]]))
		}
	}
	return out
}

// missingPairs lists the pairs of ranks without samples.
func (t *tierSearch) missingPairs() []string {
	var out []string
	next := 0
	for a := range t.ranks {
		for b := a + 1; b < len(t.ranks); b++ {
			if next < len(t.pairs) && t.pairs[next] == [2]int{a, b} {
				next++
				continue
			}
			out = append(out, fmt.Sprintf("%d-%d", t.ranks[a], t.ranks[b]))
		}
	}
	return out
}

// listFirst lists the first of many pairs.
func listFirst(pairs []string) string {
	const few = 4
	if n := len(pairs); n > few {
		return fmt.Sprintf("pairs %s and %d more", strings.Join(pairs[:few], ", "), n-few)
	}
	if len(pairs) == 1 {
		return "pair " + pairs[0]
	}
	return "pairs " + strings.Join(pairs, ", ")
}
