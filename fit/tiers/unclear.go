package tiers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
)

// Limits below which a division into tiers is doubtful.
const (
	clearApart = 4            // deviations between the middles of two tiers
	clearGain  = 2 * decisive // nats
)

// unclear reports whether the division into tiers is doubtful.
func (t *tiering) unclear() bool {
	return slices.Contains(t.odd, true) || slices.ContainsFunc(t.splits, (*cut).unclear)
}

func (c *cut) unclear() bool {
	return c.apart() < clearApart || c.gain < clearGain || c.nearEdges() == 1
}

// apart returns the distance between the tiers in deviations.
func (c *cut) apart() float64 { return (c.far - c.near) / c.sigma }

func (c *cut) nearEdges() int {
	n := 0
	for _, e := range c.edges {
		if c.inside(e) {
			n++
		}
	}
	return n
}

// Warnings returns warnings about the tiers.
func (t *tiering) Warnings() []clean.Warning {
	var out []clean.Warning
	warn := func(parameter, code, format string, args ...any) {
		out = append(out, clean.Warning{Platform: t.Platform, Library: t.Library, Parameter: parameter, Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if len(t.levels) == 1 {
		text := fmt.Sprintf("one tier: no hierarchy is seen among %d ranks", len(t.ranks))
		if len(t.pairs) == 1 {
			text = "one pair shows no tiers: measure more ranks"
		}
		if c := t.lonely; c != nil && c.gain > 0 {
			text += fmt.Sprintf("; two tiers whose times differ by %.2g %% would explain the pairs better, but not by more than chance may", 100*(c.far-c.near))
		}
		warn("H", clean.OneTier, "%s: H and P are not known, and all pairs count as %s", text, t.alone)
	}
	for _, c := range t.splits {
		switch {
		case c.nearEdges() == 1:
			warn("H", clean.TiersUnclear, "one pair alone is nearer than others: a tier of its own, or a chance")
		case c.unclear():
			warn("H", clean.TiersUnclear, "two tiers differ by %.1f deviations of the pairs in them: the groups of ranks are uncertain", c.apart())
		}
	}
	if odd := t.names(t.odd); len(odd) > 0 {
		warn("H", clean.OddPairs, "%s: nearer or farther than the other pairs of these ranks say, whose tier counts", some(odd))
	}
	if missing := t.missing(); len(missing) > 0 {
		warn("H", clean.PairsMissing, "%s: not measured; where these ranks belong rests on their other pairs", some(missing))
	}
	t.unequal(warn)
	return out
}

// unequal warns of groups of unequal sizes, for which P is the median.
func (t *tiering) unequal(warn func(parameter, code, format string, args ...any)) {
	for _, p := range t.Parameters() {
		if p.Name == "P" && p.Low < p.High {
			warn("P", clean.UnequalGroups, "groups of %s have from %v to %v ranks: P is the median", p.Place, p.Low, p.High)
		}
	}
}

// names lists the pairs that satisfy a condition.
func (t *tiering) names(holds []bool) []string {
	var out []string
	for i, p := range t.pairs {
		if holds[i] {
			out = append(out, fmt.Sprintf("%d-%d", t.ranks[p[0]], t.ranks[p[1]]))
		}
	}
	return out
}

// missing lists the pairs of ranks without samples.
func (t *tiering) missing() []string {
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

// some lists the first of many pairs.
func some(pairs []string) string {
	const few = 4
	if n := len(pairs); n > few {
		return fmt.Sprintf("pairs %s and %d more", strings.Join(pairs[:few], ", "), n-few)
	}
	if len(pairs) == 1 {
		return "pair " + pairs[0]
	}
	return "pairs " + strings.Join(pairs, ", ")
}
