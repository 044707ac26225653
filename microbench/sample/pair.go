package sample

import (
	"github.com/loggp/loggp/model/table"
	"strconv"
	"strings"
)

// If all pairs of ranks are measured, it is not known which of them are in one node: the place of
// their samples is the pair itself, such as 0-7. Package fit finds the tiers.

// AllPairsValue is the value of the fact PairFact of a file that holds all of them.
const AllPairsValue = "all"

// PairPlace returns the place of samples of two ranks, the lower first.
func PairPlace(a, b int) string {
	return strconv.Itoa(min(a, b)) + "-" + strconv.Itoa(max(a, b))
}

// ParsePairPlace returns the ranks that a place names, the lower first, if it names two as
// PairPlace does.
func ParsePairPlace(place string) (a, b int, ok bool) {
	first, second, ok := strings.Cut(place, "-")
	if !ok {
		return 0, 0, false
	}
	a, aOK := table.ParseWhole([]byte(first))
	b, bOK := table.ParseWhole([]byte(second))
	return a, b, aOK && bOK && a < b && PairPlace(a, b) == place
}
