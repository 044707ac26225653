package main

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// What adds up the steps of a platform does so on the way that was measured, also where files of
// several ways are read together.
func TestWays(t *testing.T) {
	t.Chdir(t.TempDir())
	base := "measure --platform t3d --ranks 8 --noise off --modes send --sizes 16,1000 --protocol RTA --reps 2 -o "
	mustRun(t, strings.Fields(base+"intra.csv --place intra")...)
	mustRun(t, strings.Fields(base+"far.csv --place 6,1")...)
	r, err := report([]string{"intra.csv", "far.csv"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range r.Comparisons {
		if strings.HasPrefix(c.Quantity, sample.TimerOneWay) {
			seen[c.Place]++
			// To the steps of the clock, of 6.7 ns; a link is 33 ns.
			if math.Abs(c.Predicted-c.Measured) > 0.014 {
				t.Errorf("%s of %d bytes, %s: the sum of steps is %v, measured %v", c.Quantity, c.Bytes, c.Place, c.Predicted, c.Measured)
			}
		}
	}
	if seen["intra"] != 2 || seen["inter"] != 2 {
		t.Errorf("compared %v", seen)
	}
	if n := len(r.Charts); n != 2*len(model.Protocols) {
		t.Errorf("%d time lines of %d protocols on two ways", n, len(model.Protocols))
	}
}

// Two pairs of one place are not one measurement.
func TestOtherPair(t *testing.T) {
	t.Chdir(t.TempDir())
	base := "measure --platform t3d --sizes 16 --reps 2 -o "
	mustRun(t, strings.Fields(base+"a.csv --modes send --place 0,2")...)
	mustRun(t, strings.Fields(base+"b.csv --modes isend --place 0,3")...)
	if _, err := sample.ReadFile("a.csv", "b.csv"); err == nil || !strings.Contains(err.Error(), `"pair" is "0 3", but "0 2"`) {
		t.Errorf("samples of two pairs were joined: %v", err)
	}
}
