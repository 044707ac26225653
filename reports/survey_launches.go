package reports

import (
	"math"
	"strconv"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// launchTable is what launches differ by, in numbers.
func (s *Survey) launchTable(all []subject) *Table {
	t := &Table{Name: "launches", Title: "Launches", Columns: []Column{{Head: "", Key: true}, {Head: "", Key: true}, {Head: "launches", Right: true},
		{Head: "median", Right: true}, {Head: "least", Right: true}, {Head: "most", Right: true}, {Head: "unit"}, {Head: "variation\n%", Right: true}}}
	for i := range s.Fit.Scatters {
		q := &s.Fit.Scatters[i]
		least, most := q.Span()
		in := scaleOf(q.Unit, q.Middle)
		variation := none
		if !math.IsNaN(q.Variation) {
			variation = text(fixed(100*q.Variation, 1))
			t.note("variation: the standard deviation of launches over their mean.")
		}
		t.add(text(all[q.Subject].name), text(quantityWords(q.Quantity, q.Mode, q.Bytes)), text(strconv.Itoa(len(q.Values))),
			text(number(q.Middle*in.factor)), text(number(least*in.factor)), text(number(most*in.factor)), Cell{in.unit, Faint}, variation)
	}
	return t
}

// tailTable is how single samples are distributed.
func (s *Survey) tailTable(all []subject) *Table {
	t := &Table{Name: "tails", Title: "Tails", Columns: []Column{{Head: "", Key: true}, {Head: "", Key: true}, {Head: "samples", Right: true},
		{Head: "p50", Right: true}, {Head: "p95", Right: true}, {Head: "p99", Right: true}, {Head: "most", Right: true}, {Head: "unit"}, {Head: "p99/p50", Right: true}}}
	for _, q := range s.Fit.Tails {
		in := scaleOf(params.Micros, q.Median)
		cells := []Cell{text(all[q.Subject].name), text(quantityWords(q.Quantity, q.Mode, q.Bytes)), text(strconv.Itoa(q.Samples))}
		for _, v := range []float64{q.Median, q.P95, q.P99, q.Most} {
			cells = append(cells, text(number(v*in.factor)))
		}
		t.add(append(cells, Cell{in.unit, Faint}, text(number(q.P99/q.Median)))...)
	}
	t.note("Of all launches together. A sample of a round trip may be the mean of several, as the fact timer says, which makes its tail shorter than that of a single one.")
	return t
}

// launchesOf returns how many launches a library has in a place of a machine; "": in any.
func launchesOf(m sample.Machine, platform, library, place string) int {
	n := 1
	for _, y := range m.Series {
		if y.Platform == platform && y.Library == library && (y.Place == place || place == "") {
			n = max(n, y.Launch+1)
		}
	}
	return n
}
