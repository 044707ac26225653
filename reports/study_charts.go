package reports

import (
	"math"
	"slices"
)

// The kinds of curves.
const (
	MeasuredCurve  = "measured"
	PredictedCurve = "predicted"
	PublishedCurve = "published"
)

// curveInks are the colours of curves, in their order.
var curveInks = []ink{blue, orange, green, violet, teal, rose, olive, black}

// chart returns the curves of an artefact as a chart in its axes, or nil if it has none. Curves of one name have one colour and
// one shape: measured points are solid on a solid line, predictions are a dashed line with the shape hollow at its ends, and about
// published points, whose shape is hollow too, is a ring.
func (a *Artefact) chart() *Chart {
	x := xy{x: a.XAxis, y: a.YAxis, linear: a.Linear}
	names := a.curveNames()
	var kinds, shown []string
	for _, kind := range []string{PredictedCurve, MeasuredCurve, PublishedCurve} { // what comes later covers what came before
		for _, c := range a.Curves {
			s := c.series(slices.Index(names, c.Name))
			if c.Kind != kind || len(s.points) == 0 {
				continue
			}
			x.series = append(x.series, s)
			shown = append(shown, c.Name)
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(x.series) == 0 {
		return nil
	}
	x.key = make([][]series, 2)
	for i, n := range names {
		if slices.Contains(shown, n) {
			x.key[0] = append(x.key[0], StudyCurve{Name: n, Kind: MeasuredCurve, Points: make([]StudyPoint, 1)}.series(i))
		}
	}
	text := ""
	for _, k := range curveKinds {
		if slices.Contains(kinds, k.kind) {
			x.key[1] = append(x.key[1], keyOf(k.kind))
			text += k.text + " "
		}
	}
	return x.chart(fileName(a.ID), a.title(), text[:len(text)-1])
}

// curveNames returns the names of the curves, in the order in which they first come.
func (a *Artefact) curveNames() []string {
	var names []string
	for _, c := range a.Curves {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// series returns a curve as a series, in the i-th colour and shape.
func (c StudyCurve) series(i int) series {
	s := series{name: c.Name, look: look{ink: curveInks[i%len(curveInks)], glyph: hollowGlyphs[i%len(hollowGlyphs)]}}
	var line []point
	for _, p := range c.Points {
		if !math.IsNaN(p.X) && !math.IsNaN(p.Y) {
			line = append(line, point{p.X, p.Y, p.Low, p.High})
		}
	}
	s.points, s.lines = line, [][]point{line}
	switch {
	case c.Kind == MeasuredCurve:
		s.look.glyph = solidGlyphs[i%len(solidGlyphs)]
	case c.Kind == PublishedCurve:
		s.look.framed, s.lines = true, nil
	case len(line) > 1:
		s.look.dashed, s.points = true, []point{line[0], line[len(line)-1]}
	}
	return s
}

// curveKinds say how the kinds of curves look.
var curveKinds = []struct{ kind, text string }{
	{MeasuredCurve, "Solid shapes and lines are measured, with 95 % intervals."},
	{PredictedCurve, "Dashed lines are predicted from the platform's file; at their ends stands the shape of what they predict."},
	{PublishedCurve, "In rings stands what is published; a bar with ends shows a range."},
}

// keyOf returns the entry of the legend for a kind.
func keyOf(kind string) series {
	s := series{name: kind, look: look{ink: gray}, lines: [][]point{nil}}
	switch kind {
	case MeasuredCurve:
		s.points, s.look.glyph = make([]point, 1), solidGlyphs[0]
	case PredictedCurve:
		s.look.dashed = true
	case PublishedCurve:
		s.points, s.lines, s.look.framed, s.look.glyph = make([]point, 1), nil, true, hollowGlyphs[0]
	}
	return s
}
