package study

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// The kinds of curves, in the order in which they are drawn: what comes later covers what came
// before.
const (
	PredictedCurve = "predicted"
	MeasuredCurve  = "measured"
	PublishedCurve = "published"
)

var curveKinds = []struct{ kind, text string }{
	{MeasuredCurve, "Solid shapes and lines are measured, with 95 % intervals."},
	{PredictedCurve, "Dashed lines are predicted from the platform's file; at their ends stands the shape of what they predict."},
	{PublishedCurve, "In rings stands what is published; a bar with ends shows a range."}, // where it is few points
}

// charts returns what is drawn of an artefact: its curves, or those of its rows by size, and
// other pictures.
func (a *Artefact) charts() []*chart.Chart {
	if len(a.Curves) == 0 {
		return append(a.sizeCharts(), a.Charts...)
	}
	return append([]*chart.Chart{curveChart(a.Curves, a.XAxis, a.YAxis, format.FileName(a.ID), a.fullTitle())}, a.Charts...)
}

// minCurveSizes is of how many sizes a table must print values so that they are drawn, and
// maxLegendCurves how many of them one chart can hold.
const (
	minCurveSizes   = 3
	maxLegendCurves = 6
)

// sizeCharts returns a chart for each quantity that a table prints for several sizes; and if there
// were too many curves in one, for each mode.
func (a *Artefact) sizeCharts() []*chart.Chart {
	type quantity struct{ parameter, unit, mode string }
	var quantities []quantity
	rows := map[quantity][]*Finding{}
	add := func(q quantity, r *Finding) {
		if rows[q] == nil {
			quantities = append(quantities, q)
		}
		rows[q] = append(rows[q], r)
	}
	subject := func(r *Finding) string { return format.PlaceName(r.Platform, r.Library, r.Place) }
	for i := range a.Rows {
		if r := &a.Rows[i]; r.Bytes >= 0 && !r.isTextual() {
			add(quantity{parameter: r.Parameter, unit: r.Unit}, r)
		}
	}
	for _, q := range slices.Clone(quantities) {
		if countDistinct(rows[q], func(r *Finding) string { return subject(r) + " " + r.Mode }) > maxLegendCurves && countDistinct(rows[q], func(r *Finding) string { return r.Mode }) > 1 {
			for _, r := range rows[q] {
				add(quantity{q.parameter, q.unit, r.Mode}, r)
			}
			delete(rows, q)
		}
	}
	var out []*chart.Chart
	for _, q := range quantities {
		of := rows[q]
		printed := slices.DeleteFunc(slices.Clone(of), func(r *Finding) bool { return math.IsNaN(r.Low) })
		if countDistinct(printed, func(r *Finding) string { return strconv.Itoa(r.Bytes) }) < minCurveSizes {
			continue
		}
		what := strings.TrimSpace(q.mode + " " + q.parameter)
		y := q.parameter
		if q.unit != "" {
			y += " (" + q.unit + ")"
		}
		out = append(out, curveChart(curvesOfRows(of), "", y, format.FileName(a.ID, what), a.paperName()+": "+what+" by size, published and measured"))
	}
	return out
}

// countDistinct counts the names that rows have.
func countDistinct(rows []*Finding, name func(*Finding) string) int {
	seen := map[string]bool{}
	for _, r := range rows {
		seen[name(r)] = true
	}
	return len(seen)
}

// curvesOfRows returns the curves of rows that differ in size, named by what else they differ in.
func curvesOfRows(rows []*Finding) []Curve {
	parts := []func(*Finding) string{
		func(r *Finding) string { return r.Platform },
		func(r *Finding) string { return r.Library },
		func(r *Finding) string {
			return map[string]string{"inter": "between nodes", "intra": "within a node"}[r.Place]
		},
		func(r *Finding) string { return r.modeColumn() },
	}
	parts = slices.DeleteFunc(parts, func(part func(*Finding) string) bool { return countDistinct(rows, part) < 2 })
	var out []Curve
	for _, r := range rows {
		var words []string
		for _, part := range parts {
			if w := part(r); w != "" {
				words = append(words, w)
			}
		}
		name := strings.Join(words, ", ")
		for _, v := range []struct {
			kind         string
			y, low, high float64
		}{{MeasuredCurve, r.Measured, r.MeasuredLow, r.MeasuredHigh}, {PredictedCurve, r.Predicted, r.Predicted, r.Predicted}, {PublishedCurve, r.Low, r.Low, r.High}} {
			if math.IsNaN(v.y) {
				continue
			}
			i := slices.IndexFunc(out, func(c Curve) bool { return c.Name == name && c.Kind == v.kind })
			if i < 0 {
				i = len(out)
				out = append(out, Curve{Name: name, Kind: v.kind})
			}
			out[i].Points = append(out[i].Points, chart.Point{X: float64(r.Bytes), Y: v.y, Low: v.low, High: v.high})
		}
	}
	return out
}

// sizeAxis matches the axes of message sizes, which charts name themselves.
var sizeAxis = regexp.MustCompile(`^message (size|length) \(bytes\)$`)

// maxRingPoints is how many published points are drawn in rings. More of them would hide what was
// measured.
const maxRingPoints = 8

// curveChart returns curves in their axes, or nil if there are none. Curves of one name have one
// colour and one shape: solid on a line where measured, hollow at the ends of a dashed line where
// predicted, hollow in a ring where published.
func curveChart(curves []Curve, xAxis, yAxis, name, title string) *chart.Chart {
	if sizeAxis.MatchString(xAxis) {
		xAxis = ""
	}
	x := chart.SizePlot{XLabel: xAxis, YLabel: yAxis, LegendRows: make([][]chart.Series, 2)}
	var names, kinds, texts []string
	for _, c := range curves {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
			at := Curve{Name: c.Name, Kind: MeasuredCurve, Points: make([]chart.Point, 1)}
			x.LegendRows[0] = append(x.LegendRows[0], at.series(len(names)-1))
		}
	}
	published := 0
	for _, c := range curves {
		if c.Kind == PublishedCurve {
			published += len(c.Points)
		}
	}
	for _, kind := range []string{PredictedCurve, MeasuredCurve, PublishedCurve} {
		for _, c := range curves {
			if s := c.series(slices.Index(names, c.Name)); c.Kind == kind && len(s.Points) > 0 {
				s.Style.HasRing = s.Style.HasRing && published <= maxRingPoints
				x.Series = append(x.Series, s)
				kinds = append(kinds, kind)
			}
		}
	}
	for _, k := range curveKinds {
		if slices.Contains(kinds, k.kind) {
			text := k.text
			if k.kind == PublishedCurve && published > maxRingPoints {
				text = "Hollow shapes are published; a bar shows a range."
			}
			texts = append(texts, text)
			key := Curve{Name: k.kind, Kind: k.kind, Points: make([]chart.Point, 1)}.series(0)
			key.Style.Color = chart.Gray
			key.Style.HasRing = key.Style.HasRing && published <= maxRingPoints
			if k.kind == PredictedCurve {
				key.Points, key.Lines = nil, [][]chart.Point{nil}
			}
			x.LegendRows[1] = append(x.LegendRows[1], key)
		}
	}
	switch { // what is the same everywhere needs no legend
	case len(x.LegendRows[1]) > 1:
	case len(names) > 1:
		x.LegendRows = x.LegendRows[:1]
	default:
		x.LegendRows = [][]chart.Series{nil}
	}
	return x.Chart(name, title, strings.Join(texts, " "))
}

// series returns a curve as a series, in the i-th colour and shape.
func (c Curve) series(i int) chart.Series {
	line := slices.DeleteFunc(slices.Clone(c.Points), func(p chart.Point) bool { return math.IsNaN(p.X) || math.IsNaN(p.Y) })
	s := chart.JoinedSeries(c.Name, chart.Style{Color: chart.Palette[i%len(chart.Palette)], Glyph: chart.HollowGlyphs[i%len(chart.HollowGlyphs)]}, line)
	s.Kind = c.Kind
	switch {
	case c.Kind == MeasuredCurve:
		s.Style.Glyph = chart.SolidGlyphs[i%len(chart.SolidGlyphs)]
	case c.Kind == PublishedCurve:
		s.Style.HasRing, s.Lines = true, nil
	case len(line) > 1:
		s.Style.IsDashed, s.Points = true, []chart.Point{line[0], line[len(line)-1]}
	}
	return s
}

// The kinds of dots in the chart of all values, in its order.
var dotKinds = []struct {
	basis, name string
	style       chart.Style
}{
	{BlindClass, "predicted blind", chart.Style{Color: chart.Violet, Glyph: chart.SolidGlyphs[3]}},
	{compare.ValidationBasis, "nothing fitted", chart.Style{Color: chart.Blue, Glyph: chart.SolidGlyphs[0]}},
	{BasisAssumed, "decided by assumed numbers", chart.Style{Color: chart.Orange, Glyph: chart.SolidGlyphs[1]}},
	{BasisUnexamined, "nothing fitted, not examined", chart.Style{Color: chart.Teal, Glyph: chart.SolidGlyphs[2]}},
	{compare.CalibrationBasis, "fitted to it", chart.Style{Color: chart.Gray, Glyph: chart.HollowGlyphs[0]}},
	{VerdictContradicted, "contradicted by the source", chart.Style{Color: chart.Gray, Glyph: chart.SolidGlyphs[5]}},
}

// ratioChart draws each measured value over the published one, a row for each table and figure, or
// returns nil if no number is published.
func (s *Study) ratioChart() *chart.Chart {
	x := chart.RatioPlot{XLabel: "measured / published", AgreementBand: agreementPercent / 100.0}
	kinds := map[string]int{}
	for _, k := range dotKinds {
		all := s.countNumbers(k.basis)
		if all.all > 0 {
			kinds[k.basis] = len(x.DotKinds)
			x.DotKinds = append(x.DotKinds, chart.Series{Name: k.name, Style: k.style, Points: make([]chart.Point, 1)})
		}
	}
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		row := chart.RatioRow{Name: a.paperName()}
		close := 0
		for j := range a.Rows {
			r := &a.Rows[j]
			name, off := r.errorKindAndPercent()
			kind, known := kinds[name]
			ratio := 1 + off/100
			if !known || r.isTextual() || r.IsRepeated || !(ratio > 0) || math.IsInf(ratio, 0) {
				continue
			}
			if math.Abs(off) <= agreementPercent {
				close++
			}
			row.Dots = append(row.Dots, chart.RatioDot{Ratio: ratio, Kind: kind, Tooltip: r.describe(a)})
		}
		if len(row.Dots) > 0 {
			row.Note = strconv.Itoa(close) + "/" + strconv.Itoa(len(row.Dots))
			x.Rows = append(x.Rows, row)
		}
	}
	return x.Chart("ratios", "Measured over published values, by table and figure", fmt.Sprintf("Each dot is a published value: at 1× it was measured as it is printed. In the shaded band the difference is no more than %d %%; at the right is how many of a row lie there.", agreementPercent))
}

// describe describes a finding in a line.
func (r *Finding) describe(a *Artefact) string {
	what := strings.TrimSpace(r.modeColumn() + " " + r.Parameter)
	if r.Bytes >= 0 {
		what += " of " + format.SingleLine(format.Size(r.Bytes))
	}
	published := format.FileNumber(r.Low)
	if r.High > r.Low {
		published += " to " + format.FileNumber(r.High)
	}
	words := fmt.Sprintf("%s: %s, %s: published %s %s, measured %s %s (%s %%)", a.paperName(), what, format.PlaceName(r.Platform, r.Library, r.Place), published, r.Unit, format.Number(r.Measured), r.Unit, format.Percent(r.ErrorPercent()))
	if r.Blind != nil {
		words += fmt.Sprintf("; predicted blind %s (%s %%)", format.Number(r.Blind.Value), format.Percent(r.BlindErrorPercent()))
	}
	return strings.ReplaceAll(words, "  ", " ")
}
