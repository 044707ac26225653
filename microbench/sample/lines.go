package sample

import (
	"strconv"
	"strings"
)

// LinesOf returns the fact Lines of some launches: how long a cache line took before and after each, in nanoseconds; 0 where that is not known, which is
// written as a question mark. Where nothing is known there is no fact.
func LinesOf(launches [][2]float64) []Fact { return pairsOf(Lines, launches) }

// PacesOf returns the fact Paces of some launches, likewise: for each the time of P1's processor, and that of P2's.
func PacesOf(launches [][2]float64) []Fact { return pairsOf(Paces, launches) }

// pairsOf returns a fact that has two times for each launch.
func pairsOf(key string, launches [][2]float64) []Fact {
	var words []string
	known := false
	for _, l := range launches {
		known = known || l != [2]float64{}
		words = append(words, nanoseconds(l[0])+"/"+nanoseconds(l[1]))
	}
	if !known {
		return nil
	}
	return []Fact{{key, strings.Join(words, " ")}}
}

func nanoseconds(ns float64) string {
	if ns == 0 {
		return "?"
	}
	return strconv.FormatFloat(ns, 'f', 1, 64)
}
