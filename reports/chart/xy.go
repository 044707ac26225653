package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/reports/format"
)

// SizePlot is a chart of times or rates against message sizes, both logarithmic unless it says
// otherwise. Its legend stands above the data, never on it.
type SizePlot struct {
	XLabel            string   // what the horizontal axis shows, with its unit, so that its numbers have none; default: message size
	XNames            []string // the values 1, 2, 3, ... of the horizontal axis, which is not logarithmic; nil: they are sizes
	YLabel            string   // what the vertical axis shows, with its unit
	IsLinear          bool     // the vertical axis begins at 0 and is not logarithmic
	IsSigned          bool     // it has 0 in its middle and is not logarithmic
	ShowsAllIntervals bool     // it has room for all intervals, and not only for those of framed points
	Series            []Series
	LegendRows        [][]Series // what the legend names, each part in lines of its own; default: the series

	MinSize, MaxSize float64 // the least and the largest size but zero; default: of the series
	axisLimit        float64 // where a signed axis ends; default: behind the values
}

// Series is points and lines of one name.
type Series struct {
	Name       string
	HiddenWith string // without a name: the series that it belongs to, with which it is hidden
	Kind       string // what its points are, such as published, where a chart has several kinds under one name
	ShapeIndex int    // of its glyph in SolidGlyphs and HollowGlyphs, where a chart chooses between them
	Style      Style
	Points     []Point
	Lines      [][]Point // intervals of their points are not drawn
	IsOptional bool      // a page shows it when the reader switches it on in the legend
	ShadedUpTo []Point   // the area between the series' points and these is shaded
}

// Style is how a series is drawn.
type Style struct {
	Color    Color
	Glyph    draw.GlyphDrawer
	IsDashed bool
	HasRing  bool // each point has a ring, and its interval has end marks
}

// Point is a value with its interval, which is empty where Low is not below High. Of, if not 0, is
// the size that it is of where it stands beside that.
type Point struct{ X, Y, Low, High, Bytes float64 }

// JoinedSeries returns a series of points that are joined by a line.
func JoinedSeries(name string, s Style, points []Point) Series {
	return Series{Name: name, Style: s, Points: points, Lines: [][]Point{points}}
}

// canShow says whether the vertical axis has a place for a value.
func (x SizePlot) canShow(y float64) bool { return y > 0 || x.IsLinear && y == 0 || x.IsSigned }

// Chart returns the chart, or nil if no series has points. Values that are not positive cannot be
// shown; the text says how many there are.
func (x SizePlot) Chart(name, title, text string) *Chart {
	x.Series = slices.DeleteFunc(slices.Clone(x.Series), func(s Series) bool { return len(s.Points) == 0 })
	if len(x.Series) == 0 {
		return nil
	}
	hidden := x.removeUnshowablePoints()
	if hidden > 0 {
		text += fmt.Sprintf(" %d values that are not positive are left out.", hidden)
	}
	text += x.limitPoints()
	return &Chart{Name: name, Title: title, Text: text,
		height: func(width vg.Length) vg.Length {
			return x.drawLegend(width, nil, vg.Point{}) + min(0.62*width, 380) + 2*lineHeight + 4
		},
		draw: func(c draw.Canvas) {
			width := c.Max.X - c.Min.X
			used := x.drawLegend(width, &c, vg.Point{X: c.Min.X, Y: c.Max.Y})
			// Note: gonum would place the names of logarithmic axes as if they were linear, and
			// make room for them there.
			c.FillText(axisNameStyle, vg.Point{X: c.Min.X + pictureMargin, Y: c.Max.Y - used - 4}, x.YLabel)
			c.FillText(withAlignment(axisNameStyle, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: c.Min.Y + 4}, cmp.Or(x.XLabel, "message size"))
			area := draw.Crop(c, pictureMargin, -pictureMargin, lineHeight+4, -used-lineHeight-8)
			x.newAxesPlot(area.Size()).draw(area)
		},
		plots: []plotValues{x.plotValues()},
	}
}

// removeUnshowablePoints removes points that the vertical axis cannot show, and returns how many.
func (x *SizePlot) removeUnshowablePoints() int {
	n := 0
	for i := range x.Series {
		s := &x.Series[i]
		var points []Point
		for _, p := range s.Points {
			if x.canShow(p.Y) {
				points = append(points, p)
			} else {
				n++
			}
		}
		s.Points = points
	}
	return n
}

// Of very many points a chart shows some: so many of all series, but of each no more and no fewer
// than these.
const (
	maxPoints       = 600
	maxSeriesPoints = 64
	minSeriesPoints = 20
)

// limitPoints omits points of series that have too many, and returns a sentence that says so.
func (x *SizePlot) limitPoints() string {
	most := min(max(maxPoints/len(x.Series), minSeriesPoints), maxSeriesPoints)
	left := false
	for i := range x.Series {
		s := &x.Series[i]
		left = left || len(s.Points) > most
		if len(s.ShadedUpTo) == len(s.Points) {
			s.ShadedUpTo = selectPoints(s.ShadedUpTo, most)
		}
		s.Points = selectPoints(s.Points, most)
		s.Lines = slices.Clone(s.Lines)
		for j, l := range s.Lines {
			s.Lines[j] = selectPoints(l, most)
		}
	}
	if !left {
		return ""
	}
	return fmt.Sprintf(" Of each series no more than %d points are shown.", most)
}

// selectPoints returns the first point of each of a number of ranges of sizes, which are equal on a
// logarithmic axis, and the last point.
func selectPoints(points []Point, most int) []Point {
	if len(points) <= most {
		return points
	}
	place := func(p Point) float64 { return math.Log(math.Max(p.X, 0.5)) }
	first, last := place(points[0]), place(points[len(points)-1])
	var out []Point
	before := -1
	for i, p := range points {
		at := int((place(p) - first) / (last - first) * float64(most-1))
		if i == len(points)-1 || at > before {
			out, before = append(out, p), at
		}
	}
	return out
}

// dataRange returns the ranges of sizes and values. first is the smallest size but zero.
func (x SizePlot) dataRange() (first, last, low, high float64) {
	first, low = math.Inf(1), math.Inf(1)
	see := func(p Point) {
		if p.X > 0 {
			first = math.Min(first, p.X)
		}
		last = math.Max(last, p.X)
		if p.Y > 0 {
			low, high = math.Min(low, p.Y), math.Max(high, p.Y)
		}
	}
	for _, s := range x.Series {
		for _, p := range s.Points {
			see(p)
			if (x.ShowsAllIntervals || s.Style.HasRing) && p.Low < p.High {
				see(Point{X: p.X, Y: p.Low})
				see(Point{X: p.X, Y: p.High})
			}
		}
		for _, l := range s.Lines {
			for _, p := range l {
				see(p)
			}
		}
	}
	if math.IsInf(first, 1) {
		first, last = 1, 1
	}
	if math.IsInf(low, 1) {
		low, high = 1, 1
	}
	if x.MaxSize > 0 {
		first, last = x.MinSize, x.MaxSize
	}
	return first, last, low, high
}

// largestMagnitude returns the largest value without its sign.
func (x SizePlot) largestMagnitude() float64 {
	far := 0.0
	for _, s := range x.Series {
		for _, p := range s.Points {
			far = math.Max(far, math.Abs(p.Y))
		}
	}
	return far
}

// axesPlot is a plot with the marks of its axes.
type axesPlot struct {
	*plot.Plot
	x, y   axisScaleInfo
	series []seriesPainter
}

// draw draws it: the axes, which a script can exchange, and then the series.
func (p *axesPlot) draw(c draw.Canvas) {
	data := p.DataCanvas(c)
	drawWithAttributes(c, axisAttributes(data.Rectangle, p.x, p.y), func() { p.Draw(c) })
	for _, s := range p.series {
		attributes := attributeText("data-series", cmp.Or(s.Name, s.HiddenWith))
		if s.Kind != "" {
			attributes += " " + attributeText("data-kind", s.Kind)
		}
		drawWithAttributes(c, attributes, func() { s.Plot(data, p.Plot) })
	}
}

// newAxesPlot returns the plot below the legend, for an area of a size.
func (x SizePlot) newAxesPlot(room vg.Point) *axesPlot {
	first, last, low, high := x.dataRange()
	zero := first / math.Sqrt(10) // where messages without bytes stand
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Scale, a.Color, a.Padding = plot.LogScale{}, Gray, 0
		a.LineStyle.Color, a.LineStyle.Width = Gray, 0.75
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width, a.Tick.Length = Gray, 0.75, 4
	}
	p.X.Tick.Label = minorTextStyle
	p.Y.Tick.Label = withAlignment(minorTextStyle, draw.XRight, draw.YCenter)
	p.X.Min, p.X.Max = first/1.3, math.Max(last, first*10)*1.3
	if x.hasEmptyMessages() {
		p.X.Min = zero / 1.3
	}
	xKind := "log"
	if x.XNames != nil {
		xKind, p.X.Scale = "linear", plot.LinearScale{}
		p.X.Min, p.X.Max = 0.5, float64(len(x.XNames))+0.5
	}
	name := format.Size
	if x.XLabel != "" {
		name = strconv.Itoa
	}
	p.X.Tick.Marker = plot.TickerFunc(func(min, max float64) []plot.Tick {
		if x.XNames != nil {
			return namedTicks(x.XNames, int(room.X/60))
		}
		return sizeTicks(min, max, zero, x.hasEmptyMessages(), int(room.X/60), name)
	})
	if rows := int(room.Y / 18); x.IsSigned {
		far := math.Max(x.largestMagnitude(), 1)
		step := tickStep(far, max(rows/2, 2))
		p.Y.Scale = plot.LinearScale{}
		p.Y.Max = step * math.Ceil(far*1.02/step)
		if x.axisLimit > 0 {
			step = x.axisLimit / 2
			p.Y.Max = x.axisLimit * 1.08
		}
		p.Y.Min = -p.Y.Max
		p.Y.Tick.Marker = plot.TickerFunc(func(_, max float64) []plot.Tick { return signedTicks(max, step) })
	} else if x.IsLinear {
		step := tickStep(high, rows)
		p.Y.Scale = plot.LinearScale{}
		p.Y.Min, p.Y.Max = 0, step*math.Ceil(high*1.02/step)
		p.Y.Tick.Marker = plot.TickerFunc(func(_, max float64) []plot.Tick { return linearTicks(max, step) })
	} else {
		p.Y.Min, p.Y.Max = axisEnds(low, high)
		p.Y.Tick.Marker = plot.TickerFunc(func(min, max float64) []plot.Tick { return valueTicks(min, max, rows) })
	}
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = gridColor, gridColor
	g.Vertical.Width, g.Horizontal.Width = 0.75, 0.75
	p.Add(g)
	out := &axesPlot{Plot: p, x: axisScaleInfo{p.X.Min, p.X.Max, xKind, 0}, y: axisScaleInfo{p.Y.Min, p.Y.Max, "log", 0}}
	if x.hasEmptyMessages() {
		out.x.zero = zero
	}
	if x.IsSigned || x.IsLinear {
		out.y.kind = "linear"
	}
	for _, s := range x.Series {
		out.series = append(out.series, seriesPainter{s, zero})
	}
	return out
}

// hasEmptyMessages says whether there are messages without bytes.
func (x SizePlot) hasEmptyMessages() bool {
	for _, s := range x.Series {
		for _, p := range s.Points {
			if p.X == 0 {
				return true
			}
		}
	}
	return false
}

// seriesPainter draws a series.
type seriesPainter struct {
	Series
	zero float64
}

// Plot draws it.
func (s seriesPainter) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	at := func(q Point) vg.Point {
		if q.X <= 0 {
			q.X = s.zero
		}
		return vg.Point{X: tx(q.X), Y: ty(q.Y)}
	}
	if len(s.ShadedUpTo) > 0 {
		var area []vg.Point
		for _, q := range s.Points {
			area = append(area, at(q))
		}
		for i := range s.ShadedUpTo {
			q := s.ShadedUpTo[len(s.ShadedUpTo)-1-i]
			q.Y = math.Max(q.Y, p.Y.Min) // an axis may have no place for what took no time
			area = append(area, at(q))
		}
		c.FillPolygon(translucentColor{s.Style.Color}, c.ClipPolygonXY(area))
	}
	for _, l := range s.Lines {
		var line []vg.Point
		for _, q := range l {
			if q.Y > 0 {
				line = append(line, at(q))
			}
		}
		c.StrokeLines(s.Style.lineStyle(), c.ClipLinesXY(line)...)
	}
	drawMerged(c, func() {
		for _, q := range s.Points {
			var ends []vg.Length
			if q.Low < q.High && s.Style.Color != Gray { // which is one of many
				ends = []vg.Length{ty(math.Max(q.Low, p.Y.Min)), ty(q.High)}
			}
			s.Style.drawPoint(&c, at(q), ends)
		}
	})
}

// drawPoint draws a point, and the interval of its value between two ends, if it has any.
func (l Style) drawPoint(c *draw.Canvas, at vg.Point, ends []vg.Length) {
	anchor := func(shape func()) { drawAnchored(*c, at, shape) }
	if l.HasRing {
		anchor(func() { drawCircle(c, at, draw.LineStyle{Color: backgroundColor, Width: 4.5}) }) // stands out from what is below
	}
	bar := draw.LineStyle{Color: l.Color, Width: 1}
	if l.HasRing {
		bar = draw.LineStyle{Color: Black, Width: 1.5}
	}
	if ends != nil {
		c.StrokeLines(bar, c.ClipLinesXY([]vg.Point{{X: at.X, Y: ends[0]}, {X: at.X, Y: ends[1]}})...)
	}
	if l.HasRing {
		const half = 4
		for _, y := range ends {
			drawAnchored(*c, vg.Point{X: at.X, Y: y}, func() {
				c.StrokeLines(bar, c.ClipLinesXY([]vg.Point{{X: at.X - half, Y: y}, {X: at.X + half, Y: y}})...)
			})
		}
		anchor(func() { drawCircle(c, at, bar) })
	}
	if l.Glyph != nil {
		anchor(func() { c.DrawGlyph(draw.GlyphStyle{Color: l.Color, Radius: 3, Shape: l.Glyph}, at) })
	}
}

// translucentColor is a colour that lets through what is below.
type translucentColor struct{ Color }

// RGBA returns the colour with its opacity.
func (s translucentColor) RGBA() (r, g, b, a uint32) {
	const opacity = 6 // of 64ths
	r, g, b, a = s.Color.RGBA()
	return r * opacity / 64, g * opacity / 64, b * opacity / 64, a * opacity / 64
}

func (l Style) lineStyle() draw.LineStyle {
	s := draw.LineStyle{Color: l.Color, Width: 1.5}
	if l.Color == Gray { // one of many
		s.Width = 0.75
	}
	if l.IsDashed {
		s.Dashes = []vg.Length{5, 3}
	}
	return s
}

// drawLegend draws the names of the series from a point on, in rows, and returns the height that it
// takes. Without a canvas it only measures.
func (x SizePlot) drawLegend(width vg.Length, c *draw.Canvas, at vg.Point) vg.Length {
	const sample, gap = 24, 14
	left, y := pictureMargin, lineHeight/2+2
	down := func() { left, y = pictureMargin, y+lineHeight+1 }
	parts := x.LegendRows
	if parts == nil {
		parts = [][]Series{x.Series}
	}
	for _, part := range parts {
		if left > pictureMargin {
			down()
		}
		for _, s := range part {
			if s.Name == "" {
				continue
			}
			need := sample + 5 + labelStyle.Width(s.Name)
			if left > pictureMargin && left+need > width-pictureMargin {
				down()
			}
			if c != nil {
				attributes := `class="entry" ` + attributeText("data-series", s.Name)
				if s.IsOptional {
					attributes += ` data-optional="true"`
				}
				drawWithAttributes(*c, attributes, func() { s.drawLegendEntry(c, vg.Point{X: at.X + left, Y: at.Y - y}, sample) })
			}
			left += need + gap
		}
	}
	return y + lineHeight/2 + 2
}

// drawLegendEntry draws a series' entry in the legend.
func (s Series) drawLegendEntry(c *draw.Canvas, at vg.Point, width vg.Length) {
	if len(s.Lines) > 0 {
		c.StrokeLine2(s.Style.lineStyle(), at.X, at.Y, at.X+width, at.Y)
	}
	if len(s.Points) > 0 {
		s.Style.drawPoint(c, vg.Point{X: at.X + width/2, Y: at.Y}, nil)
	}
	c.FillText(labelStyle, vg.Point{X: at.X + width + 5, Y: at.Y}, s.Name)
}
