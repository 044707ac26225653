package paper

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/testdata"
)

// Rows that are measured alone have the values that the whole study has. On NOW, where stations
// draw lots, they are near.
func TestMeasureRows(t *testing.T) {
	p := read(t)
	o := Options{Seed: 1, Reps: 2}
	study, err := p.Reproduce(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{} // by the name of the row
	for i, a := range study.Artefacts {
		for j, f := range a.Rows {
			found[p.Artefacts[i].rows[j].Name] = f.Measured
		}
	}
	values := p.PrintedNumbers()
	if len(values) < 25 {
		t.Fatalf("%d values", len(values))
	}
	var names []string
	values = slices.DeleteFunc(values, func(v PrintedNumber) bool { return v.Unit == "" }) // counts, which take all pairs of ranks
	for _, v := range values {
		names = append(names, v.Name)
	}
	together, err := p.Measure(context.Background(), o, names, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		alone, err := p.Measure(context.Background(), o, names[i:i+1], nil)
		if err != nil {
			t.Fatal(err)
		}
		tolerance, step := 1e-4, 0.01 // clocks show steps of up to 8.3 ns, in other phases
		if v.Platform == "now" {
			tolerance = 0.03
		}
		if v.Unit == "us/B" {
			step = 0
		}
		for _, x := range []float64{alone[0], together[i]} {
			if !(math.Abs(x-found[v.Name]) <= tolerance*math.Abs(x)+step) {
				t.Errorf("%s is %g alone, %g with the others, and %g in the study", v.Name, alone[0], together[i], found[v.Name])
			}
		}
	}
	if _, err := p.Measure(context.Background(), o, []string{"table-3 T3D o_s middle"}, nil); err == nil {
		t.Error("a row that does not exist is measured")
	}
}

// Rows are measured on the platforms that are given, and only those that they need are asked for.
func TestMeasureElsewhere(t *testing.T) {
	p := read(t)
	var asked []string
	values, err := p.Measure(context.Background(), Options{Reps: 2}, []string{"table-3 T3D o_s low", "table-3 T3D L low"}, func(name string) (*platform.Platform, error) {
		asked = append(asked, name)
		file, text, err := platform.Text(name)
		if err != nil {
			return nil, err
		}
		return platform.Parse(file, []byte(strings.Replace(string(text), "standard: {value: 19.46us", "standard: {value: 119.46us", 1)))
	})
	if err != nil || !slices.Equal(slices.Compact(asked), []string{"t3d"}) || math.Abs(values[0]-129.975) > 0.1 || math.Abs(values[1]-3.04) > 0.1 {
		t.Errorf("%v, %v on %v", values, err, asked)
	}
}

// Single numbers of the paper on ACLMPL are measured without the rest of its experiments: the
// latency of one word, and the broadcast of 1 KiB to 32 PEs. No number of the platform was fitted
// to them.
func TestMeasurePatterns(t *testing.T) {
	p, err := Read(testdata.Published, "aclmpl")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	got, err := p.Measure(t.Context(), Options{Seed: 1, Progress: func(_, total int) { runs = total }}, []string{"table-1 ACLMPL sync latency_us", "table-2 bcast ACLMPL sync value"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if runs > 3 { // the second is of two experiments
		t.Errorf("%d measurements for two numbers", runs)
	}
	for i, published := range []float64{4.5, 76e-6} {
		if d := got[i]/published - 1; !(math.Abs(d) <= []float64{0.15, 0.35}[i]) {
			t.Errorf("value %d is %v, published is %v", i, got[i], published)
		}
	}
}

// A row of a routine measures that routine alone, and not those of other sizes or by a scheduler.
func TestMeasureRoutines(t *testing.T) {
	p, err := Read(testdata.Published, "cc-mpi")
	if err != nil {
		t.Fatal(err)
	}
	for row, published := range map[string]float64{"table-4.1 MPICH NA 16 1024 time_ms": 5, "table-4.3 CC-MPI greedy 1 16 time_ms": 125.5} {
		runs := 0
		got, err := p.Measure(t.Context(), Options{Seed: 1, Progress: func(_, total int) { runs = total }}, []string{row}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if runs != 1 {
			t.Errorf("%s: %d measurements for one number", row, runs)
		}
		if d := got[0]/published - 1; !(math.Abs(d) <= 0.35) {
			t.Errorf("%s is %v, published is %v", row, got[0], published)
		}
	}
}
