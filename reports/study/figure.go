package study

import (
	"math"
	"slices"
	"strings"

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
	{PublishedCurve, "In rings stands what is published; a bar with ends shows a range."},
}

// chart returns the curves of an artefact in its axes, or nil if it has none. Curves of one name have
// one colour and one shape: solid on a line where measured, hollow at the ends of a dashed line where
// predicted, hollow in a ring where published.
func (a *Artefact) chart() *chart.Chart {
	x := chart.XY{X: a.XAxis, Y: a.YAxis, Key: make([][]chart.Series, 2)}
	var names, kinds, texts []string
	for _, c := range a.Curves {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
			at := Curve{Name: c.Name, Kind: MeasuredCurve, Points: make([]chart.Point, 1)}
			x.Key[0] = append(x.Key[0], at.series(len(names)-1))
		}
	}
	for _, kind := range []string{PredictedCurve, MeasuredCurve, PublishedCurve} {
		for _, c := range a.Curves {
			if s := c.series(slices.Index(names, c.Name)); c.Kind == kind && len(s.Points) > 0 {
				x.Series = append(x.Series, s)
				kinds = append(kinds, kind)
			}
		}
	}
	for _, k := range curveKinds {
		if slices.Contains(kinds, k.kind) {
			texts = append(texts, k.text)
			key := Curve{Name: k.kind, Kind: k.kind, Points: make([]chart.Point, 1)}.series(0)
			key.Style.Color = chart.Gray
			if k.kind == PredictedCurve {
				key.Points, key.Lines = nil, [][]chart.Point{nil}
			}
			x.Key[1] = append(x.Key[1], key)
		}
	}
	return x.Chart(format.FileName(a.ID), a.title(), strings.Join(texts, " "))
}

// series returns a curve as a series, in the i-th colour and shape.
func (c Curve) series(i int) chart.Series {
	line := slices.DeleteFunc(slices.Clone(c.Points), func(p chart.Point) bool { return math.IsNaN(p.X) || math.IsNaN(p.Y) })
	s := chart.Joined(c.Name, chart.Style{Color: chart.Palette[i%len(chart.Palette)], Glyph: chart.Hollow[i%len(chart.Hollow)]}, line)
	switch {
	case c.Kind == MeasuredCurve:
		s.Style.Glyph = chart.Solid[i%len(chart.Solid)]
	case c.Kind == PublishedCurve:
		s.Style.Framed, s.Lines = true, nil
	case len(line) > 1:
		s.Style.Dashed, s.Points = true, []chart.Point{line[0], line[len(line)-1]}
	}
	return s
}
