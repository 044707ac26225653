package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/reports/format"
)

// tiersTable says which ranks are near each other.
func tiersTable(x tiers.Tiers) *Table {
	t := &Table{Name: "tiers", Title: fmt.Sprintf("Tiers of %s: %s of %d ranks", where(x.Platform, x.Library, ""), format.Plural(len(x.Pairs), "pair"), len(x.Ranks)),
		Columns: []Column{{Head: "tier", Key: true}, {Head: "pairs", Right: true}, {Head: "time,\nnearest 1", Right: true},
			{Head: "groups", Right: true}, {Head: "ranks\nof each", Right: true}, {Head: "members", Wrap: true}}}
	for _, l := range x.Levels {
		t.add(text(l.Place), text(strconv.Itoa(l.Pairs)), text(fmt.Sprintf("%.3g", l.Times)), text(strconv.Itoa(len(l.Groups))), text(extent(l.Groups)), text(company(l.Groups)))
	}
	switch {
	case len(x.Pairs) == 1:
		t.note("One pair shows no tiers: measure more ranks (--ranks).")
	case len(x.Levels) == 1:
		t.note("One tier: no two ranks are nearer to each other than any others, as far as these samples show.")
	case len(x.Levels) == 2:
		t.note("H is the number of groups of tier intra, P the ranks of each.")
	default:
		t.note("Groups are of ranks that are no farther from each other than their tier: each is made of whole groups of the one above.")
	}
	return t
}

// extent says how large groups are.
func extent(groups [][]int) string {
	low, high := len(groups[0]), len(groups[0])
	for _, g := range groups {
		low, high = min(low, len(g)), max(high, len(g))
	}
	return span(low, high)
}

func span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// company lists groups: 0-7; 8, 10, 12-15.
func company(groups [][]int) string {
	var all []string
	for _, g := range groups {
		var runs []string
		for i := 0; i < len(g); {
			j := i
			for j+1 < len(g) && g[j+1] == g[j]+1 {
				j++
			}
			switch {
			case j > i+1:
				runs = append(runs, fmt.Sprintf("%d-%d", g[i], g[j]))
			default:
				for _, rank := range g[i : j+1] {
					runs = append(runs, strconv.Itoa(rank))
				}
			}
			i = j + 1
		}
		all = append(all, strings.Join(runs, ", "))
	}
	return strings.Join(all, "; ")
}

// neighbours returns the ranks so that those of one group stand side by side, in every tier.
func neighbours(x tiers.Tiers) []int {
	ranks := slices.Clone(x.Ranks)
	group := func(l tiers.Tier, rank int) int {
		return slices.IndexFunc(l.Groups, func(g []int) bool { return slices.Contains(g, rank) })
	}
	for _, l := range x.Levels { // stable: the farthest tier decides last
		at := make(map[int]int)
		for _, rank := range ranks {
			at[rank] = group(l, rank)
		}
		slices.SortStableFunc(ranks, func(a, b int) int { return at[a] - at[b] })
	}
	return ranks
}
