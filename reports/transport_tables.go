package reports

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// overlapSizes are the sizes at which the table shows what is free, or the nearest that were
// measured.
var overlapSizes = []int{8, 1024, 8192, 65536, 1 << 20}

// overlapShareTable is how much of a way is free, at some sizes.
func overlapShareTable(table *compare.Table, all []reportSubject) *doc.Table {
	t := &doc.Table{Name: "free", Title: "Free while a message is on its way", Columns: []doc.Column{{Field: "transport", IsKey: true}, {Heading: "size", IsKey: true, Kind: doc.NumberColumn},
		{Heading: "half round\ntrip us", Kind: doc.NumberColumn}, {Heading: "send\nus", Kind: doc.NumberColumn}, {Heading: "processor\nbusy us", Kind: doc.NumberColumn}, {Heading: "free\nus", Kind: doc.NumberColumn}, {Heading: "free\n%", Kind: doc.NumberColumn}}}
	for i := range all {
		var of []compare.OverlapShare
		for _, x := range table.OverlapShares {
			if x.SubjectIndex == i {
				of = append(of, x)
			}
		}
		var sizes []int
		for _, x := range of {
			sizes = append(sizes, x.Bytes)
		}
		for _, k := range slices.Compact(nearestSizes(sizes, overlapSizes...)) {
			for _, x := range of {
				if x.Bytes == k {
					t.AddRow(overlapShareRow(t, all[i].name, x)...)
				}
			}
		}
	}
	return t
}

func overlapShareRow(t *doc.Table, name string, x compare.OverlapShare) []doc.Cell {
	value := func(p curve.Point) doc.Cell { return measuredCell(t, p.Value, p.Low, p.High, p.SampleCount) }
	blocks, bound := doc.EmptyCell, ""
	if x.BlockingOverhead != nil {
		blocks = value(*x.BlockingOverhead)
	}
	if x.IsUpperBound {
		bound = "≤"
		t.AddNote("≤ is a bound: the library's work for the message inside the waiting call is unknown.")
	}
	left, share := doc.TextCell(bound+format.WithInterval(x.FreeTime.Value, x.FreeTime.Low, x.FreeTime.High)), doc.TextCell(bound+format.WithInterval(x.FreeShare.Value, x.FreeShare.Low, x.FreeShare.High))
	if x.FreeTime.Value <= 0 {
		left = doc.QuantityCell("none", 0, "").WithTone(doc.FaintTone)
		share = left
		t.AddNote("none: the processor is busy for as long as the transfer takes, or longer.")
	}
	return []doc.Cell{doc.TextCell(name), doc.BytesCell(x.Bytes), value(x.OneWayTime), blocks, value(x.NonBlockingOverhead), left, share}
}

// launchTable is what launches differ by, in numbers.
func (s transportComparison) launchTable() *doc.Table {
	t := &doc.Table{Name: "launches", Title: "Launches", Columns: []doc.Column{{Field: "transport", IsKey: true}, {Field: "quantity", IsKey: true}, {Heading: "launches", Kind: doc.NumberColumn},
		{Heading: "median", Kind: doc.NumberColumn}, {Heading: "min", Kind: doc.NumberColumn}, {Heading: "max", Kind: doc.NumberColumn}, {Heading: "unit"}, {Heading: "variation\n%", Kind: doc.NumberColumn}}}
	for i := range s.Scatters {
		q := &s.Scatters[i]
		least, most := q.ValueRange()
		in := displayUnitOf(q.Unit, q.MedianOfLaunches)
		variation := doc.EmptyCell
		if !math.IsNaN(q.Variation) {
			variation = doc.TextCell(format.WithDecimals(100*q.Variation, 1))
			t.AddNote("variation: standard deviation of the launches over their mean.")
		}
		t.AddRow(doc.TextCell(s.subjects[q.SubjectIndex].name), doc.TextCell(quantityName(q.Quantity, q.Mode, q.Bytes)), doc.CountCell(len(q.Values)),
			doc.NumberCell(q.MedianOfLaunches*in.factor), doc.NumberCell(least*in.factor), doc.NumberCell(most*in.factor), doc.TextCell(in.unit).WithTone(doc.FaintTone), variation)
	}
	return t
}

// nonEmptyTables returns the tables that have rows.
func nonEmptyTables(ts ...*doc.Table) []*doc.Table {
	return slices.DeleteFunc(ts, func(t *doc.Table) bool { return t.CountRows() == 0 })
}

// tailTable is how single samples are distributed.
func (s transportComparison) tailTable() *doc.Table {
	t := &doc.Table{Name: "tails", Title: "Tails", Columns: []doc.Column{{Field: "transport", IsKey: true}, {Field: "quantity", IsKey: true}, {Heading: "samples", Kind: doc.NumberColumn},
		{Heading: "p50", Kind: doc.NumberColumn}, {Heading: "p95", Kind: doc.NumberColumn}, {Heading: "p99", Kind: doc.NumberColumn}, {Heading: "max", Kind: doc.NumberColumn}, {Heading: "unit"}, {Heading: "p99/p50", Kind: doc.NumberColumn}}}
	for _, q := range s.Tails {
		if s.subjects[q.SubjectIndex].isImported() && q.SampleCount <= s.subjects[q.SubjectIndex].launches { // one mean of each launch has no tail
			continue
		}
		in := displayUnitOf(params.UnitMicros, q.Median)
		cells := []doc.Cell{doc.TextCell(s.subjects[q.SubjectIndex].name), doc.TextCell(quantityName(q.Quantity, q.Mode, q.Bytes)), doc.CountCell(q.SampleCount)}
		for _, v := range []float64{q.Median, q.P95, q.P99, q.Longest} {
			cells = append(cells, doc.NumberCell(v*in.factor))
		}
		t.AddRow(append(cells, doc.TextCell(in.unit).WithTone(doc.FaintTone), doc.NumberCell(q.P99/q.Median))...)
	}
	t.AddNote("All launches together. A sample may be the mean of several round trips (see the fact timer), so its tail is shorter than that of single ones.")
	return t
}
