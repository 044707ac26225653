package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// Of each subject its fastest algorithm enters, by the timer that all have, and what only one has is no contest.
func TestContests(t *testing.T) {
	of := func(library, operation, algorithm string, bytes int, most, last float64) Collective {
		return Collective{Platform: "p", Library: library, Place: "intra", Operation: operation, Algorithm: algorithm, Ranks: 4, Bytes: bytes, Max: most, Last: last}
	}
	ours := []Collective{
		of("ours", "bcast", "linear", 8, 1, 5), of("ours", "bcast", "binomial", 8, 2, 4), of("ours", "bcast", "ring", 8, 3, 6),
		of("ours", "bcast", "linear", 64, 1, 5), of("ours", "bcast", "binomial", 64, 2, 4), of("ours", "scan", "linear", 8, 1, 5),
	}
	theirs := []Collective{of("theirs", "bcast", "vendor", 8, 7, 3), of("theirs", "bcast", "vendor", 64, 7, math.NaN()), of("theirs", "scan", "vendor", 16, 7, 3)}
	entrants, all := Contests([][]Collective{ours, theirs})
	if want := []Entrant{{0, "p", "ours", "intra"}, {1, "p", "theirs", "intra"}}; !slices.Equal(entrants, want) {
		t.Errorf("entrants %+v", entrants)
	}
	if len(all) != 2 {
		t.Fatalf("%d contests: %+v", len(all), all)
	}
	if x := all[0]; x.Bytes != 8 || x.Timer != sample.CollLast || x.Fastest[0].Algorithm != "binomial" || x.Micros(0) != 4 || x.Micros(1) != 3 {
		t.Errorf("%+v", x)
	}
	if x := all[1]; x.Bytes != 64 || x.Timer != sample.CollMax || x.Fastest[0].Algorithm != "linear" || x.Micros(0) != 1 || x.Micros(1) != 7 {
		t.Errorf("%+v", x)
	}
	// One and the same library on two machines is two entrants.
	_, all = Contests([][]Collective{{of("a", "bcast", "x", 8, 1, 1)}, {of("b", "scan", "x", 8, 1, 1)}, {of("b", "scan", "x", 8, 1, 2)}})
	if len(all) != 1 || !math.IsNaN(all[0].Micros(0)) || all[0].Micros(1) != 1 || all[0].Micros(2) != 2 {
		t.Errorf("%+v", all)
	}
}
