package tiers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/table"
)

// groupsFact is the fact of a file of parameters that lists the groups of ranks.
const groupsFact = "groups"

// GroupFacts returns the groups of each tier as facts of a file of parameters:
//
//	groups: PLATFORM; LIBRARY; PLACE; 0 1 2 3; 4 5 6 7
//
// a fact for each tier, the nearest first.
func GroupFacts(tiers []Tiers) []table.Fact {
	var facts []table.Fact
	for _, t := range tiers {
		for _, l := range t.Levels {
			words := []string{t.Platform, t.Library, l.Place}
			for _, g := range l.Groups {
				words = append(words, strings.Trim(fmt.Sprint(g), "[]"))
			}
			facts = append(facts, table.Fact{Key: groupsFact, Value: strings.Join(words, "; ")})
		}
	}
	return facts
}

// ParseGroupFacts returns the tiers in facts that GroupFacts made, with places, groups and ranks.
func ParseGroupFacts(facts []table.Fact) ([]Tiers, error) {
	var all []Tiers
	for _, f := range facts {
		if f.Key != groupsFact {
			continue
		}
		words := strings.Split(f.Value, "; ")
		if len(words) < 4 {
			return nil, fmt.Errorf("fact %q is %q, not PLATFORM; LIBRARY; PLACE and the ranks of each group, such as 0 1 2 3", f.Key, f.Value)
		}
		l := Tier{Place: words[2]}
		var ranks []int
		for _, group := range words[3:] {
			var g []int
			for _, word := range strings.Fields(group) {
				rank, err := strconv.Atoi(word)
				if err != nil || rank < 0 || slices.Contains(ranks, rank) {
					return nil, fmt.Errorf("fact %q: %q is not a rank, or stands in two groups", f.Key, word)
				}
				g, ranks = append(g, rank), append(ranks, rank)
			}
			l.Groups = append(l.Groups, g)
		}
		slices.Sort(ranks)
		i := slices.IndexFunc(all, func(t Tiers) bool { return t.Platform == words[0] && t.Library == words[1] })
		if i < 0 {
			i = len(all)
			all = append(all, Tiers{Platform: words[0], Library: words[1]})
		}
		all[i].Levels, all[i].Ranks = append(all[i].Levels, l), ranks
	}
	return all, nil
}

// Place returns the place of messages between two ranks: that of the nearest tier in which they are
// in one group. It is "" for ranks that were not measured.
func (t Tiers) Place(a, b int) string {
	for _, l := range t.Levels {
		for _, g := range l.Groups {
			if slices.Contains(g, a) && slices.Contains(g, b) {
				return l.Place
			}
		}
	}
	return ""
}
