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

// freeSizes are the sizes at which the table shows what is free, or the nearest that were measured.
var freeSizes = []int{8, 1024, 8192, 65536, 1 << 20}

// freeTable is how much of a way is free, at some sizes.
func freeTable(table *compare.Table, all []subject) *doc.Table {
	t := &doc.Table{Name: "free", Title: "Free while a message is on its way", Columns: []doc.Column{{Head: "", Key: true}, {Head: "size", Key: true, Kind: doc.Number},
		{Head: "half round\ntrip us", Kind: doc.Number}, {Head: "send\nus", Kind: doc.Number}, {Head: "processor\nbusy us", Kind: doc.Number}, {Head: "free\nus", Kind: doc.Number}, {Head: "free\n%", Kind: doc.Number}}}
	for i := range all {
		var of []compare.Overlap
		for _, x := range table.Free {
			if x.Subject == i {
				of = append(of, x)
			}
		}
		var sizes []int
		for _, x := range of {
			sizes = append(sizes, x.Bytes)
		}
		for _, k := range slices.Compact(nearest(sizes, freeSizes...)) {
			for _, x := range of {
				if x.Bytes == k {
					t.Add(freeRow(t, all[i].name, x)...)
				}
			}
		}
	}
	return t
}

func freeRow(t *doc.Table, name string, x compare.Overlap) []doc.Cell {
	value := func(p curve.Point) doc.Cell { return measured(t, p.Value, p.Low, p.High, p.Samples) }
	blocks, bound := doc.None, ""
	if x.Blocks != nil {
		blocks = value(*x.Blocks)
	}
	if x.Bound {
		bound = "≤"
		t.Note("≤ is a bound: the library's work for the message inside the waiting call is unknown.")
	}
	left, share := doc.Words(bound+format.Measured(x.Free.Value, x.Free.Low, x.Free.High)), doc.Words(bound+format.Measured(x.Share.Value, x.Share.Low, x.Share.High))
	if x.Free.Value <= 0 {
		left, share = doc.Words("none").In(doc.Faint), doc.Words("none").In(doc.Faint)
		t.Note("none: the processor is busy for as long as the transfer takes, or longer.")
	}
	return []doc.Cell{doc.Words(name), doc.Bytes(x.Bytes), value(x.Way), blocks, value(x.Call), left, share}
}

// launchTable is what launches differ by, in numbers.
func (s *Transports) launchTable(all []subject) *doc.Table {
	t := &doc.Table{Name: "launches", Title: "Launches", Columns: []doc.Column{{Head: "", Key: true}, {Head: "", Key: true}, {Head: "launches", Kind: doc.Number},
		{Head: "median", Kind: doc.Number}, {Head: "least", Kind: doc.Number}, {Head: "most", Kind: doc.Number}, {Head: "unit"}, {Head: "variation\n%", Kind: doc.Number}}}
	for i := range s.Table.Scatters {
		q := &s.Table.Scatters[i]
		least, most := q.Span()
		in := scaleOf(q.Unit, q.Middle)
		variation := doc.None
		if !math.IsNaN(q.Variation) {
			variation = doc.Words(format.Fixed(100*q.Variation, 1))
			t.Note("variation: standard deviation of the launches over their mean.")
		}
		t.Add(doc.Words(all[q.Subject].name), doc.Words(quantityWords(q.Quantity, q.Mode, q.Bytes)), doc.Count(len(q.Values)),
			doc.Num(q.Middle*in.factor), doc.Num(least*in.factor), doc.Num(most*in.factor), doc.Words(in.unit).In(doc.Faint), variation)
	}
	return t
}

// filled returns the tables that have rows.
func filled(ts ...*doc.Table) []*doc.Table {
	return slices.DeleteFunc(ts, func(t *doc.Table) bool { return t.Rows() == 0 })
}

// tailTable is how single samples are distributed.
func (s *Transports) tailTable(all []subject) *doc.Table {
	t := &doc.Table{Name: "tails", Title: "Tails", Columns: []doc.Column{{Head: "", Key: true}, {Head: "", Key: true}, {Head: "samples", Kind: doc.Number},
		{Head: "p50", Kind: doc.Number}, {Head: "p95", Kind: doc.Number}, {Head: "p99", Kind: doc.Number}, {Head: "most", Kind: doc.Number}, {Head: "unit"}, {Head: "p99/p50", Kind: doc.Number}}}
	for _, q := range s.Table.Tails {
		if all[q.Subject].imported() && q.Samples <= all[q.Subject].launches { // one mean of each launch has no tail
			continue
		}
		in := scaleOf(params.Micros, q.Median)
		cells := []doc.Cell{doc.Words(all[q.Subject].name), doc.Words(quantityWords(q.Quantity, q.Mode, q.Bytes)), doc.Count(q.Samples)}
		for _, v := range []float64{q.Median, q.P95, q.P99, q.Most} {
			cells = append(cells, doc.Num(v*in.factor))
		}
		t.Add(append(cells, doc.Words(in.unit).In(doc.Faint), doc.Num(q.P99/q.Median))...)
	}
	t.Note("All launches together. A sample may be the mean of several round trips (see the fact timer), so its tail is shorter than that of single ones.")
	return t
}
