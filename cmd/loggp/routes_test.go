package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// A report adds up the steps of a platform on the route that was measured, also where it reads
// files of several routes.
func TestStepsAreSummedOnTheRouteThatWasMeasured(t *testing.T) {
	t.Chdir(t.TempDir())
	base := "measure --platform t3d --ranks 8 --noise off --modes send --sizes 16,1000 --protocol RTA --reps 2 -o "
	mustRun(t, strings.Fields(base+"intra.csv --place intra")...)
	mustRun(t, strings.Fields(base+"far.csv --place 6,1")...)
	mustRun(t, "report", "intra.csv", "far.csv", "-o", "page")
	f, err := os.Open(filepath.Join("page", "comparisons.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	seen := map[string]int{}
	for _, row := range rows[1:] {
		place, quantity := column(row, "place"), column(row, "quantity")
		if !strings.HasPrefix(quantity, sample.TimerOneWay) {
			continue
		}
		seen[place]++
		predicted, err := strconv.ParseFloat(column(row, "predicted_us"), 64)
		measured, err2 := strconv.ParseFloat(column(row, "measured_us"), 64)
		if err != nil || err2 != nil {
			t.Fatal(row)
		}
		// To the steps of the clock, of 6.7 ns; a link is 33 ns.
		if math.Abs(predicted-measured) > 0.014 {
			t.Errorf("%s of %s bytes, %s: the sum of steps is %v, measured %v", quantity, column(row, "bytes"), place, predicted, measured)
		}
	}
	if seen["intra"] != 2 || seen["inter"] != 2 {
		t.Errorf("compared %v", seen)
	}
	timelines, err := filepath.Glob("page/timeline-*.svg")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(timelines); n != 2*len(model.Protocols) {
		t.Errorf("%d time lines of %d protocols on two routes", n, len(model.Protocols))
	}
}
