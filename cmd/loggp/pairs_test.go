package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// All pairs are measured, each with all that a pair shows, and the same whatever the number of cores.
func TestAllPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	base := "measure --platform t3d --ranks 5 --pairs all --sizes 16,1000 --reps 3 -o "
	mustRun(t, strings.Fields(base+"a.csv")...)
	before := runtime.GOMAXPROCS(1)
	mustRun(t, strings.Fields(base+"b.csv")...)
	runtime.GOMAXPROCS(before)
	a, errA := os.ReadFile("a.csv")
	b, errB := os.ReadFile("b.csv")
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("one core wrote other samples (%v, %v)", errA, errB)
	}
	set, err := sample.ReadFile("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, s := range set.Series {
		series[s.Place]++
	}
	for i := range 5 {
		for j := range i {
			if n := series[sample.PlaceOf(i, j)]; n == 0 || n != series["0-1"] {
				t.Errorf("pair %d-%d has %d series, pair 0-1 %d", j, i, n, series["0-1"])
			}
		}
	}
	if len(series) != 10 {
		t.Errorf("places %v", series)
	}
	if v, _ := set.Fact(sample.Pair); v != sample.AllPairs {
		t.Errorf("the fact pair is %q", v)
	}
}
