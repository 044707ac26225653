package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/platform"
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
func (p *place) against(rows Published, of *platform.Platform) *Table {
	t := &Table{Name: "published", Title: "Published and measured parameters of " + p.String(), Columns: []Column{
		{Head: "", Key: true}, {Head: "mode", Key: true}, {Head: "bytes", Right: true, Key: true}, {Head: "published", Right: true},
		{Head: "measured", Right: true}, {Head: "differs\n%", Right: true}, {Head: "basis"}}}
	var against []string
	var sources []string
	for _, r := range rows {
		if r.Platform != p.platform || r.Library != p.library || r.Place != p.place {
			continue
		}
		if !slices.Contains(sources, r.Source) {
			sources = append(sources, r.Source)
		}
		found, difference := p.answer(t, r)
		bytes := none
		if r.Bytes >= 0 {
			bytes = text(strconv.Itoa(r.Bytes))
		}
		mark := ""
		if r.Contradiction != "" {
			i := slices.Index(against, r.Contradiction)
			if i < 0 {
				i = len(against)
				against = append(against, r.Contradiction)
			}
			mark = fmt.Sprintf("%s(%d)", glue, i+1)
		}
		call := text(r.Mode)
		if r.Mode == "" {
			call = none
		}
		t.add(text(strings.TrimSpace(r.Parameter+" "+r.Unit)), call, bytes, text(r.Printed), found, text(difference), basis(r, of, found, mark))
	}
	if t.rows() > 0 {
		t.note("published is %s; it differs by (measured − published) / published.", strings.Join(sources, ", "))
		t.note("calibration: some number of the platform was fitted to this one, so that agreement proves nothing; the others are validation.")
	}
	for i, c := range against {
		t.note("(%d) The source contradicts itself: %s", i+1, c)
	}
	return t
}

// answer returns what was measured, and how far that is from what was published.
func (p *place) answer(t *Table, r Row) (Cell, string) {
	x := p.first(r.Mode, r.Quantity)
	if x == nil || math.IsNaN(x.Value) {
		return none, none.Text
	}
	c, v := cell(t, x), x.Value
	if r.Bytes >= 0 {
		var ok bool
		c = p.overhead(t, r.Mode, r.Quantity, r.Bytes)
		if v, ok = p.at(r.Mode, r.Quantity, r.Bytes); !ok {
			return none, none.Text
		}
	}
	switch {
	case v >= r.Low && v <= r.High && r.Low < r.High:
		return c, "within"
	case v > r.High:
		return c, percent(100 * (v - r.High) / r.High)
	}
	return c, percent(100 * (v - r.Low) / r.Low)
}

// basis says whether agreement means something.
func basis(r Row, of *platform.Platform, found Cell, mark string) Cell {
	switch {
	case of == nil || found == none:
		return Cell{none.Text + mark, Faint}
	case of.Calibrated(r.Name):
		return Cell{compare.Calibration + mark, Faint}
	}
	return text(compare.Validation + mark)
}
