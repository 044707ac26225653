package sample

import (
	"strconv"
	"strings"
)

// LinesOf returns the fact Lines of some launches: how long a cache line took before and after each, in nanoseconds; 0 where that is not known, which is
// written as a question mark. Where nothing is known there is no fact.
func LinesOf(launches [][2]float64) []Fact {
	var words []string
	known := false
	for _, l := range launches {
		known = known || l != [2]float64{}
		words = append(words, lineText(l[0])+"/"+lineText(l[1]))
	}
	if !known {
		return nil
	}
	return []Fact{{Lines, strings.Join(words, " ")}}
}

func lineText(ns float64) string {
	if ns == 0 {
		return "?"
	}
	return strconv.FormatFloat(ns, 'f', 1, 64)
}
