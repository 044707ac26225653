package reports

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Comparison is subjects side by side: their overheads at some sizes and their parameters with ratios to the first subject, from which
// size on calls that do not block pay, and which subject is faster up to which size. Without sizes it takes those nearest to
// 16 bytes, 1 and 10 KB.
func Comparison(c *compare.Table, sizes []int) *doc.Document {
	d := &doc.Document{Title: "Comparison", Files: []doc.File{tableFile(c)}}
	c = named(c)
	parameters := parameterTable(c)
	if slices.ContainsFunc(c.Rows, func(r compare.Row) bool {
		return slices.ContainsFunc(r.Values, func(v compare.Value) bool { return v.Verdict != params.Good })
	}) {
		parameters.Note("loggp fit prints the warnings of each file.")
	}
	d.AddTables("comparison", "Side by side", sizedTable(c, sizes), parameters, overlapTable(c), fasterTable(c))
	return d
}

func tableFile(c *compare.Table) doc.File {
	return doc.File{Name: "comparison.csv", Write: func(w io.Writer) error { return compare.WriteTable(w, c) }}
}

// named returns a comparison whose subjects have the names of transports: those of MPIs are their libraries'.
func named(c *compare.Table) *compare.Table {
	out := *c
	out.Subjects = slices.Clone(c.Subjects)
	for i, x := range out.Subjects {
		out.Subjects[i].Name = transport(x.Platform, x.Library, x.Name)
	}
	return &out
}

// headings say what the quantities of rows are.
var headings = map[string]string{
	"o_s": "o_s: send overhead, us", "o_r": "o_r: receive overhead, us", compare.OneWay: "one-way: half a round trip, us",
	"L": "L: latency, us", "g": "g: gap, us", "G": "G: gap a byte, us/B", compare.Bandwidth: "1/G: bandwidth, MB/s",
}

// sizedTable has the rows of some sizes that two subjects have.
func sizedTable(c *compare.Table, sizes []int) *doc.Table {
	if len(sizes) == 0 {
		sizes = slices.Compact(nearest(c.Sizes(), small, 1000, large))
	}
	t := sideBySide(c, "comparison-overheads", "Overheads side by side", doc.Column{Head: "mode", Key: true}, doc.Column{Head: "bytes", Key: true, Kind: doc.Number})
	for _, r := range c.Rows {
		if r.Sized() && len(r.Values) > 1 && slices.Contains(sizes, r.Bytes) {
			t.Group(headings[r.Name])
			addSubjects(t, c, &r, scale{r.Unit, 1}, doc.Words(r.Mode), doc.Cell{Text: strconv.Itoa(r.Bytes), Exact: []float64{float64(r.Bytes)}})
		}
	}
	return t
}

// parameterTable has the parameters that two subjects have.
func parameterTable(c *compare.Table) *doc.Table {
	t := sideBySide(c, "comparison-parameters", "Parameters side by side", doc.Column{Head: "mode", Key: true})
	in := scale{params.PerByte, 1}
	if least := leastGap(c); least < 1e-3 { // of memory it is some picoseconds
		in = scaleOf(params.PerByte, least)
	}
	for _, r := range c.Rows {
		if heading := headings[r.Name]; !r.Sized() && len(r.Values) > 1 && r.Method == "" && heading != "" {
			unit := scale{r.Unit, 1}
			if r.Name == "G" {
				t.Note("G is of the longest messages: each subject's is the slope of its last straight piece, whose sizes are in the CSV file.")
				unit = in
			}
			t.Group(strings.Replace(heading, params.PerByte, in.unit, 1))
			addSubjects(t, c, &r, unit, doc.Words(r.Mode))
		}
	}
	if slices.ContainsFunc(c.Subjects, func(s compare.Subject) bool { return s.Place == "intra" }) {
		t.Note("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	return t
}

// leastGap returns the least G of all subjects.
func leastGap(c *compare.Table) float64 {
	least := math.Inf(1)
	for _, r := range c.Rows {
		for _, v := range r.Values {
			if r.Name == "G" && v.Value > 0 {
				least = math.Min(least, v.Value)
			}
		}
	}
	return least
}

// sideBySide returns a table with a column for each subject, and for its ratio to the reference.
func sideBySide(c *compare.Table, name, title string, keys ...doc.Column) *doc.Table {
	t := &doc.Table{Name: name, Title: title, Columns: keys}
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, doc.Column{Head: s.Name, Kind: doc.Number})
	}
	for i, s := range c.Subjects {
		switch {
		case len(c.Subjects) == 1:
		case c.Best:
			t.Columns = append(t.Columns, doc.Column{Head: "to the best\n" + s.Name, Kind: doc.Number})
		case i > 0:
			t.Columns = append(t.Columns, doc.Column{Head: "ratio of\n" + s.Name, Kind: doc.Number})
		}
	}
	switch {
	case len(c.Subjects) == 1 || c.Best:
		t.Note("± is the 95 %% interval; - means not applicable or not measured.")
	default:
		t.Note("± is the 95 %% interval; ratios are to %s.", c.Subjects[0].Name)
	}
	return t
}

// addSubjects adds a row: the values of the subjects and their ratios.
func addSubjects(t *doc.Table, c *compare.Table, r *compare.Row, in scale, keys ...doc.Cell) {
	values, ratios := slices.Repeat([]doc.Cell{doc.None}, len(c.Subjects)), slices.Repeat([]doc.Cell{doc.None}, len(c.Subjects))
	for i, v := range r.Values {
		p := in.of(v.Parameter)
		values[v.Subject] = cell(t, &p)
		if ratios[v.Subject] = ratioCell(t, v); c.Best && i == r.Reference && len(r.Values) > 1 {
			ratios[v.Subject] = doc.Words("best").In(doc.Good)
		}
	}
	if !c.Best || len(c.Subjects) == 1 {
		ratios = ratios[1:]
	}
	t.Add(slices.Concat(keys, values, ratios)...)
}

// ratioCell is a ratio, marked where no difference is shown, or it is undecided.
func ratioCell(t *doc.Table, v compare.Value) doc.Cell {
	if v.Outcome == "" || math.IsNaN(v.Ratio) {
		return doc.None
	}
	c := doc.Interval(v.Ratio, v.Least, v.Most)
	if math.IsInf(v.Most, 0) {
		c = doc.Num(v.Ratio)
	}
	switch v.Outcome {
	case compare.NoDifference:
		t.Note("≈: no difference is shown. The ratio is within 1 %% of one, interval and all.")
		c.Text += format.Glue + "≈"
		return c.In(doc.Faint)
	case compare.Unclear:
		t.Note("? behind a ratio: undecided. Its interval contains one, so that there may be no difference.")
		c.Text += format.Glue + "?"
		return c.In(doc.Faint)
	}
	return c
}
