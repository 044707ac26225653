package compare

import (
	"fmt"
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
	all := Contests([]Entrant{{Times: ours}, {Times: theirs}})
	if len(all) != 2 {
		t.Fatalf("%d contests: %+v", len(all), all)
	}
	if x := all[0]; x.Bytes != 8 || x.Timer != sample.CollLast || x.Fastest[0].Algorithm != "binomial" || x.Micros(0) != 4 || x.Micros(1) != 3 {
		t.Errorf("%+v", x)
	}
	if x := all[1]; x.Bytes != 64 || x.Timer != sample.CollMax || x.Fastest[0].Algorithm != "linear" || x.Micros(0) != 1 || x.Micros(1) != 7 {
		t.Errorf("%+v", x)
	}
	// What one has not measured is no number.
	all = Contests([]Entrant{{Times: []Collective{of("a", "bcast", "x", 8, 1, 1)}}, {Times: []Collective{of("b", "scan", "x", 8, 1, 1)}}, {Times: []Collective{of("b", "scan", "x", 8, 1, 2)}}})
	if len(all) != 1 || !math.IsNaN(all[0].Micros(0)) || all[0].Micros(1) != 1 || all[0].Micros(2) != 2 {
		t.Errorf("%+v", all)
	}
}

// ranked is a machine that has measured a broadcast, among so many ranks.
func ranked(file, library, ranks string, facts ...sample.Fact) sample.Machine {
	s := bcast("linear", sample.CollLast, 0, 10)
	s.Library = library
	return sample.Machine{Files: []string{file}, Set: &sample.Set{Facts: append(facts, sample.Fact{Key: sample.Ranks, Value: ranks}), Series: []sample.Series{s}}}
}

// Machines of one library are together if they differ in the number of ranks alone, and have names that tell them apart if not.
func TestEntrants(t *testing.T) {
	spin, block := sample.Fact{Key: sample.Wait, Value: "spin"}, sample.Fact{Key: sample.Wait, Value: "block"}
	entrants, err := Entrants([]sample.Machine{ranked("a", "l", "4", spin), ranked("b", "m", "4"), ranked("c", "l", "8", spin), ranked("d", "l", "16", block), ranked("e", "m", "4")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entrants {
		ranks := ""
		for _, c := range e.Times {
			ranks += fmt.Sprint(" ", c.Ranks)
		}
		got = append(got, fmt.Sprint(e.Name, " ", e.Files, e.Machines, ranks))
	}
	if want := []string{"p/l/spin [a c] [0 2] 4 8", "p/m/b [b] [1] 4", "p/l/block [d] [3] 16", "p/m/e [e] [4] 4"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := Entrants([]sample.Machine{ranked("a", "l", "many")}); err == nil {
		t.Error("a file that does not say of how many ranks is taken")
	}
}
