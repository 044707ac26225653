package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// StackedPlot is a chart of two parts, one below the other, on one axis of sizes: what was
// measured, and how far it is from what was fitted to it. Between them lies a lane for each
// subject, which shows where its pieces end.
type StackedPlot struct {
	Upper, Lower SizePlot
	Lanes        []SizeRangeLane
}

// SizeRangeLane shows the ranges of sizes in which the line of a subject is divided.
type SizeRangeLane struct {
	Color          Color
	SizeRanges     [][2]float64 // of the pieces of the line
	DeclaredLimits []float64    // sizes that the library itself names
}

const laneRowHeight = vg.Length(13)

// Chart returns the chart, or nil if nothing was measured.
func (p StackedPlot) Chart(name, title, text string) *Chart {
	if len(p.Upper.Series) == 0 {
		return nil
	}
	p.Upper.removeUnshowablePoints()
	if n := p.Lower.clipOutliers(); n > 0 {
		text += fmt.Sprintf(" Hollow marks at the edge lie beyond it: %d.", n)
	}
	text += p.Upper.limitPoints()
	p.Lower.limitPoints()
	first, last, _, _ := p.Upper.dataRange()
	p.Lower.MinSize, p.Lower.MaxSize = first, last
	return &Chart{Name: name, Title: title, Text: text,
		height: func(width vg.Length) vg.Length {
			return p.Upper.drawLegend(width, nil, vg.Point{}) + p.upperHeight(width) + p.lanesHeight() + p.lowerHeight(width) + 3*lineHeight + 16
		},
		draw:  p.draw,
		plots: []plotValues{p.Upper.plotValues(), p.Lower.plotValues()},
	}
}

func (p StackedPlot) upperHeight(width vg.Length) vg.Length { return min(0.62*width, 380) }
func (p StackedPlot) lowerHeight(width vg.Length) vg.Length { return min(0.34*width, 190) }

// lanesHeight is the height of the lanes with their heading.
func (p StackedPlot) lanesHeight() vg.Length {
	if len(p.Lanes) == 0 {
		return 0
	}
	return laneRowHeight*vg.Length(len(p.Lanes)) + lineHeight + 10
}

func (p StackedPlot) draw(c draw.Canvas) {
	width, y := c.Max.X-c.Min.X, c.Max.Y
	y -= p.Upper.drawLegend(width, &c, vg.Point{X: c.Min.X, Y: y})
	part := func(height vg.Length) draw.Canvas {
		out := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: c.Min.X + pictureMargin, Y: y - height}, Max: vg.Point{X: c.Max.X - pictureMargin, Y: y}}}
		y -= height
		return out
	}
	named := func(what string) {
		c.FillText(axisNameStyle, vg.Point{X: c.Min.X + pictureMargin, Y: y - 2}, what)
		y -= lineHeight + 4
	}
	named(p.Upper.YLabel)
	upper := part(p.upperHeight(width))
	lanes := part(p.lanesHeight())
	named(p.Lower.YLabel)
	lower := part(p.lowerHeight(width))
	a, b := p.Upper.newAxesPlot(upper.Size()), p.Lower.newAxesPlot(lower.Size())
	if p.Upper.hasEmptyMessages() { // both axes have a place for messages without bytes, or none
		b.X.Min = a.X.Min
	}
	b.X.Tick.Marker = a.X.Tick.Marker
	left := func(p *axesPlot, c draw.Canvas) vg.Length { return p.DataCanvas(c).Min.X - c.Min.X }
	need := max(left(a, upper), left(b, lower))
	upper = draw.Crop(upper, need-left(a, upper), 0, 0, 0)
	lower = draw.Crop(lower, need-left(b, lower), 0, 0, 0)
	a.draw(upper)
	b.draw(lower)
	p.drawLanes(lanes, a.Plot, a.DataCanvas(upper))
	c.FillText(withAlignment(axisNameStyle, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: c.Min.Y + 4}, cmp.Or(p.Upper.XLabel, "message size"))
}

// drawLanes draws the ranges of pieces on the axis of a plot.
func (p StackedPlot) drawLanes(c draw.Canvas, over *plot.Plot, data draw.Canvas) {
	if len(p.Lanes) == 0 {
		return
	}
	tx, _ := over.Transforms(&data)
	zero := over.X.Min * 1.3
	at := func(k float64) vg.Length { return tx(math.Max(k, zero)) }
	y := c.Max.Y - lineHeight/2 - 2
	c.FillText(withAlignment(axisNameStyle, draw.XLeft, draw.YCenter), vg.Point{X: c.Min.X, Y: y}, "linear pieces")
	y -= lineHeight/2 + laneRowHeight/2 + 2
	for _, l := range p.Lanes {
		drawWithAttributes(c, `class="lanes"`, func() {
			for _, r := range l.SizeRanges {
				from, to := at(r[0]), at(r[1])
				c.FillPolygon(l.Color, []vg.Point{{X: from - 1, Y: y - 3}, {X: to + 1, Y: y - 3}, {X: to + 1, Y: y + 3}, {X: from - 1, Y: y + 3}})
			}
			for _, k := range l.DeclaredLimits {
				c.StrokeLine2(draw.LineStyle{Color: Black, Width: 1.6}, at(k), y-laneRowHeight/2, at(k), y+laneRowHeight/2)
			}
		})
		y -= laneRowHeight
	}
}

// clipOutliers moves the few points of a signed axis that are far off to its edge, so that the
// others can be seen, and makes them hollow. It returns how many.
func (x *SizePlot) clipOutliers() int {
	var all []float64
	for _, s := range x.Series {
		for _, p := range s.Points {
			all = append(all, math.Abs(p.Y))
		}
	}
	edge := clippedEnd(all)
	n := 0
	var out []Series
	for _, s := range x.Series {
		far := Series{Name: s.Name, Style: s.Style}
		far.Style.Glyph = HollowGlyphs[max(s.ShapeIndex, 0)]
		var near []Point
		for _, p := range s.Points {
			if math.Abs(p.Y) <= edge {
				near = append(near, p)
				continue
			}
			y := math.Copysign(edge, p.Y)
			far.Points = append(far.Points, Point{X: p.X, Y: y})
			n++
		}
		s.Points = near
		out = append(out, s)
		if len(far.Points) > 0 {
			out = append(out, far)
		}
	}
	x.Series, x.axisLimit = out, edge
	return n
}

// clippedEnd returns where an axis ends: at a round number from 2 to 200 that nine of ten values do
// not exceed, if there is one.
func clippedEnd(values []float64) float64 {
	if len(values) == 0 {
		return 2
	}
	slices.Sort(values)
	return min(max(roundUp(values[(9*len(values)+9)/10-1]), 2), 200)
}
