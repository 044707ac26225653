package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// tiersTable says which ranks are near each other.
func tiersTable(x tiers.Tiers) *doc.Table {
	t := &doc.Table{Name: "tiers", Title: fmt.Sprintf("Tiers of %s: %s of %d ranks", where(x.Platform, x.Library, ""), format.Plural(len(x.Pairs), "pair"), len(x.Ranks)),
		Columns: []doc.Column{{Head: "tier", Key: true}, {Head: "pairs", Kind: doc.Number}, {Head: "time,\nnearest 1", Kind: doc.Number},
			{Head: "groups", Kind: doc.Number}, {Head: "ranks\nof each", Kind: doc.Number}, {Head: "members", Kind: doc.Prose}}}
	for _, l := range x.Levels {
		t.Add(doc.Words(l.Place), doc.Count(l.Pairs), doc.Words(fmt.Sprintf("%.3g", l.Times)), doc.Count(len(l.Groups)), doc.Words(extent(l.Groups)), doc.Words(company(l.Groups)))
	}
	switch {
	case len(x.Pairs) == 1:
		t.Note("One pair shows no tiers: measure more ranks (--ranks).")
	case len(x.Levels) == 1:
		t.Note("One tier: no two ranks are nearer to each other than any others, as far as these samples show.")
	case len(x.Levels) == 2:
		t.Note("H is the number of groups of tier intra, P the ranks of each.")
	default:
		t.Note("Groups are of ranks that are no farther from each other than their tier: each is made of whole groups of the one above.")
	}
	return t
}

// extent says how large groups are.
func extent(groups [][]int) string {
	low, high := len(groups[0]), len(groups[0])
	for _, g := range groups {
		low, high = min(low, len(g)), max(high, len(g))
	}
	return format.Span(low, high)
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
