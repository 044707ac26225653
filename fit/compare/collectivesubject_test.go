package compare

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

// Of each subject its fastest algorithm enters, by the timer that all have, and what only one has
// is not compared.
func TestCollect(t *testing.T) {
	of := func(library, operation, algorithm string, bytes int, most, last float64) CollectiveTimes {
		return CollectiveTimes{Platform: "p", Library: library, Place: "intra", Operation: operation, Algorithm: algorithm, Ranks: 4, Bytes: bytes, Max: most, LastRankEnd: last, Low: last, High: last}
	}
	ours := []CollectiveTimes{
		of("ours", "bcast", "linear", 8, 1, 5), of("ours", "bcast", "binomial", 8, 2, 4), of("ours", "bcast", "ring", 8, 3, 6),
		of("ours", "bcast", "linear", 64, 1, 5), of("ours", "bcast", "binomial", 64, 2, 4), of("ours", "scan", "linear", 8, 1, 5),
	}
	theirs := []CollectiveTimes{of("theirs", "bcast", "vendor", 8, 7, 3), of("theirs", "bcast", "vendor", 64, 7, math.NaN()), of("theirs", "scan", "vendor", 16, 7, 3)}
	all := CompareCollectives([]CollectiveSubject{{Times: ours, Machines: []int{0}}, {Times: theirs, Machines: []int{1}}}, clean.Options{}).Rows
	if len(all) != 2 {
		t.Fatalf("%d rows: %+v", len(all), all)
	}
	if x := all[0]; x.Bytes != 8 || x.Timer != sample.TimerCollLast || x.Values[0].Algorithm != "binomial" || x.Values[0].Value != 4 || x.Values[1].Value != 3 || x.Values[1].Ratio != 0.75 {
		t.Errorf("%+v", x)
	}
	if x := all[1]; x.Bytes != 64 || x.Timer != sample.TimerCollMax || x.Values[0].Algorithm != "linear" || x.Values[0].Value != 1 || x.Values[1].Value != 7 || x.Values[1].Outcome != "" {
		t.Errorf("%+v", x)
	}
	// What one has not measured is no number.
	one := func(c CollectiveTimes) CollectiveSubject {
		return CollectiveSubject{Times: []CollectiveTimes{c}, Machines: []int{0}}
	}
	all = CompareCollectives([]CollectiveSubject{one(of("a", "bcast", "x", 8, 1, 1)), one(of("b", "scan", "x", 8, 1, 1)), one(of("b", "scan", "x", 8, 1, 2))}, clean.Options{}).Rows
	if len(all) != 1 || all[0].ValueOf(0) != nil || all[0].ValueOf(1).Value != 1 || all[0].ValueOf(2).Value != 2 {
		t.Errorf("%+v", all)
	}
	// Intervals that have nothing in common decide.
	x, y := of("a", "bcast", "x", 8, 1, 10), of("b", "bcast", "x", 8, 1, 12)
	for _, c := range []struct {
		low, high float64
		want      Outcome
	}{{11.8, 12.2, WorseOutcome}, {9, 15, UndecidedOutcome}} {
		x.Low, x.High, y.Low, y.High = 9.9, 10.1, c.low, c.high
		if v := CompareCollectives([]CollectiveSubject{one(x), one(y)}, clean.Options{}).Rows[0].Values[1]; v.Outcome != c.want || v.Ratio != 1.2 {
			t.Errorf("%+v, want %s", v, c.want)
		}
	}
}

// ranked is a machine that has measured a broadcast, among so many ranks.
func ranked(file, library, ranks string, facts ...sample.Fact) sample.Machine {
	s := bcast("linear", sample.TimerCollLast, 0, 10)
	s.Library = library
	return sample.Machine{Files: []string{file}, Set: &sample.Set{Facts: append(facts, sample.Fact{Key: sample.RanksFact, Value: ranks}), Series: []sample.Series{s}}}
}

// Machines of one library are together if they differ in the number of ranks alone, and have names
// that tell them apart if not.
func TestCollectiveSubjects(t *testing.T) {
	spin, block := sample.Fact{Key: sample.WaitFact, Value: "spin"}, sample.Fact{Key: sample.WaitFact, Value: "block"}
	subjects, err := GroupCollectiveSubjects([]sample.Machine{ranked("a", "l", "4", spin), ranked("b", "m", "4"), ranked("c", "l", "8", spin), ranked("d", "l", "16", block), ranked("e", "m", "4")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range subjects {
		ranks := ""
		for _, c := range e.Times {
			ranks += fmt.Sprint(" ", c.Ranks)
		}
		got = append(got, fmt.Sprint(e.Name, " ", e.Files, e.Machines, ranks))
	}
	if want := []string{"p/l/spin [a c] [0 2] 4 8", "p/m/b [b] [1] 4", "p/l/block [d] [3] 16", "p/m/e [e] [4] 4"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := GroupCollectiveSubjects([]sample.Machine{ranked("a", "l", "many")}); err == nil {
		t.Error("a file that does not say of how many ranks is taken")
	}
}
