package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RatioPlot is rows of dots on a logarithmic axis of ratios with 1 in its middle, such as measured
// over published values.
type RatioPlot struct {
	XLabel        string   // what the axis shows
	AgreementBand float64  // ratios from 1 − Near to 1 + Near lie in a shaded band
	DotKinds      []Series // the kinds of dots with their styles, as the legend names them
	Rows          []RatioRow
}

// RatioRow is the dots of one row.
type RatioRow struct {
	Name, Note string // before and behind the axis
	Dots       []RatioDot
}

// RatioDot is a dot of a ratio plot.
type RatioDot struct {
	Ratio   float64 // positive; beyond the ends of the axis it stands at the end
	Kind    int     // index in RatioPlot.DotKinds
	Tooltip string  // shown when the reader points at the dot
}

const ratioHeight = vg.Length(24)

// ratioTicks are the ratios that an axis names, and at which it may end.
var ratioTicks = []float64{0.1, 0.2, 0.5, 0.8, 1, 1.2, 2, 5, 10}

// Chart returns the chart, or nil if it has no rows.
func (r RatioPlot) Chart(name, title, text string) *Chart {
	if len(r.Rows) == 0 {
		return nil
	}
	return &Chart{Name: name, Title: title, Text: text,
		height: func(width vg.Length) vg.Length {
			return r.legendSeries().drawLegend(width, nil, vg.Point{}) + ratioHeight*vg.Length(len(r.Rows)) + 2*lineHeight + 12
		},
		draw: r.draw,
	}
}

func (r RatioPlot) legendSeries() SizePlot { return SizePlot{Series: r.DotKinds} }

// axisEnd returns where the axis ends: at a named ratio from 2 to 10 that none exceeds, in either
// direction, if there is one.
func (r RatioPlot) axisEnd() float64 {
	far := 0.0
	for _, row := range r.Rows {
		for _, d := range row.Dots {
			far = math.Max(far, math.Abs(math.Log(d.Ratio)))
		}
	}
	for _, e := range []float64{2, 5} {
		if far <= math.Log(e) {
			return e
		}
	}
	return 10
}

func (r RatioPlot) draw(c draw.Canvas) {
	used := r.legendSeries().drawLegend(c.Max.X-c.Min.X, &c, vg.Point{X: c.Min.X, Y: c.Max.Y})
	left, right := vg.Length(0), vg.Length(0)
	for _, row := range r.Rows {
		left, right = max(left, labelStyle.Width(row.Name)), max(right, labelStyle.Width(row.Note))
	}
	from, to := c.Min.X+pictureMargin+left+12, c.Max.X-pictureMargin-right-12
	top, bottom := c.Max.Y-used-2, c.Min.Y+2*lineHeight+6
	edge := math.Log(r.axisEnd())
	tx := func(v float64) vg.Length {
		part := (math.Log(math.Max(v, 1e-9))/edge + 1) / 2
		return from + (to-from)*vg.Length(min(max(part, 0), 1))
	}
	band := []vg.Point{{X: tx(1 - r.AgreementBand), Y: bottom}, {X: tx(1 + r.AgreementBand), Y: bottom}, {X: tx(1 + r.AgreementBand), Y: top}, {X: tx(1 - r.AgreementBand), Y: top}}
	c.FillPolygon(timeShades[0], band)
	last := from - 100
	for _, t := range ratioTicks {
		if math.Abs(math.Log(t)) > edge*1.001 {
			continue
		}
		line := draw.LineStyle{Color: gridColor, Width: 0.75}
		if t == 1 {
			line = draw.LineStyle{Color: Gray, Width: 1}
		}
		c.StrokeLine2(line, tx(t), bottom, tx(t), top)
		words := strconv.FormatFloat(t, 'g', -1, 64) + "×"
		if half := minorTextStyle.Width(words) / 2; tx(t)-half > last+4 {
			c.FillText(minorTextStyle, vg.Point{X: tx(t), Y: bottom - 4}, words)
			last = tx(t) + half
		}
	}
	c.FillText(withAlignment(axisNameStyle, draw.XCenter, draw.YBottom), vg.Point{X: (from + to) / 2, Y: c.Min.Y + 4}, r.XLabel)
	y := top
	for _, row := range r.Rows {
		c.StrokeLine2(draw.LineStyle{Color: gridColor, Width: 0.75}, from, y-ratioHeight, to, y-ratioHeight)
		c.FillText(withAlignment(labelStyle, draw.XRight, draw.YCenter), vg.Point{X: from - 12, Y: y - ratioHeight/2}, row.Name)
		c.FillText(labelStyle, vg.Point{X: to + 12, Y: y - ratioHeight/2}, row.Note)
		r.drawDots(c, row, tx, y-ratioHeight/2)
		y -= ratioHeight
	}
}

// drawDots draws the dots of a row about a height. Dots that would cover each other are moved up
// and down, as far as the row goes.
func (r RatioPlot) drawDots(c draw.Canvas, row RatioRow, tx func(float64) vg.Length, y vg.Length) {
	dots := slices.Clone(row.Dots)
	slices.SortStableFunc(dots, func(a, b RatioDot) int {
		if a.Ratio < b.Ratio {
			return -1
		}
		if a.Ratio > b.Ratio {
			return 1
		}
		return 0
	})
	var placed []vg.Point
	for _, d := range dots {
		x := tx(d.Ratio)
		best, room := vg.Point{}, vg.Length(-1)
		for _, dy := range []vg.Length{0, 4, -4, 8, -8} {
			free := vg.Length(math.Inf(1))
			for _, p := range placed {
				free = min(free, vg.Length(math.Hypot(float64(p.X-x), float64(p.Y-y-dy))))
			}
			if room < 6.5 && free > room {
				best, room = vg.Point{X: x, Y: y + dy}, free
			}
		}
		placed = append(placed, best)
		k := r.DotKinds[d.Kind]
		drawWithAttributes(c, attributeText("data-series", k.Name), func() {
			drawWithTooltip(c, d.Tooltip, func() { k.Style.drawPoint(&c, best, nil) })
		})
	}
}
