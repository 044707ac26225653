package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Row is a number as it was published, with the measurement that answers to it.
type Row struct {
	Name   string // as platform files name it where a number was fitted to it: table-3 T3D o_s low
	Source string // where it is printed: Table 3

	Platform, Library, Place, Mode string // of the measurement
	Quantity                       string // that the fit finds: L o_s o_r G H P
	Parameter                      string // as the source calls it
	Bytes                          int    // size of the message; -1: none

	Printed   string // as printed; a range as low to high
	Low, High float64
	Unit      string // us, us/B, or "" for a count
	Note      string

	Contradiction string // what the source says against it
	Refuted       bool   // the printed number itself cannot be right
}

// Published is the published numbers of any platforms.
type Published []Row

// against is the table of the published numbers of this place, if it has any.
func (p *place) against(rows Published, of *platform.Platform) *doc.Table {
	t := &doc.Table{Name: "published", Title: "Published and measured parameters of " + p.String(), Columns: []doc.Column{
		{Head: "", Key: true}, {Head: "mode", Key: true}, {Head: "bytes", Kind: doc.Number, Key: true}, {Head: "published", Kind: doc.Number},
		{Head: "measured", Kind: doc.Number}, {Head: "differs\n%", Kind: doc.Number}, {Head: "basis"}}}
	var against, sources []string
	for _, r := range rows {
		if r.Platform != p.platform || r.Library != p.library || r.Place != p.place {
			continue
		}
		if !slices.Contains(sources, r.Source) {
			sources = append(sources, r.Source)
		}
		found, difference := p.answer(t, r)
		bytes := doc.None
		if r.Bytes >= 0 {
			bytes = doc.Count(r.Bytes)
		}
		mark := ""
		if r.Contradiction != "" {
			i := slices.Index(against, r.Contradiction)
			if i < 0 {
				i = len(against)
				against = append(against, r.Contradiction)
			}
			mark = fmt.Sprintf("%s(%d)", format.Glue, i+1)
		}
		call := doc.Words(r.Mode)
		if r.Mode == "" {
			call = doc.None
		}
		t.Add(doc.Words(strings.TrimSpace(r.Parameter+" "+r.Unit)), call, bytes, doc.Words(r.Printed), found, doc.Words(difference), basis(r, of, found, mark))
	}
	if t.Rows() > 0 {
		t.Note("published is %s; it differs by (measured − published) / published. within: the measured value is in the published range, or a bound (≤) that the published value is not above.", strings.Join(sources, ", "))
		t.Note("calibration: some number of the platform was fitted to this one, so that agreement proves nothing; the others are validation.")
	}
	for i, c := range against {
		t.Note("(%d) The source contradicts itself: %s", i+1, c)
	}
	return t
}

// answer returns what was measured, and how far that is from what was published.
func (p *place) answer(t *doc.Table, r Row) (doc.Cell, string) {
	x := p.first(r.Mode, r.Quantity)
	if x == nil || math.IsNaN(x.Value) {
		return doc.None, format.None
	}
	c, v := cell(t, x), x.Value
	if r.Bytes >= 0 {
		var ok bool
		c = p.overhead(t, r.Mode, r.Quantity, r.Bytes)
		if v, ok = p.at(r.Mode, r.Quantity, r.Bytes); !ok {
			return doc.None, format.None
		}
	}
	switch {
	case v >= r.Low && v <= r.High && r.Low < r.High, x.Bound() && x.High >= r.Low:
		return c, "within"
	case v > r.High:
		return c, format.Percent(100 * (v - r.High) / r.High)
	}
	return c, format.Percent(100 * (v - r.Low) / r.Low)
}

// basis says whether agreement means something.
func basis(r Row, of *platform.Platform, found doc.Cell, mark string) doc.Cell {
	switch {
	case of == nil || found.Is(doc.None):
		return doc.Words(format.None + mark).In(doc.Faint)
	case of.Calibrated(r.Name):
		return doc.Words(compare.Calibration + mark).In(doc.Faint)
	}
	return doc.Words(compare.Validation + mark)
}
