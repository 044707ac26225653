package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// StripPlot is a strip plot: rows of marks on one linear axis, such as what launches say, one row a
// quantity; or, with bars, a tornado chart.
type StripPlot struct {
	XLabel   string // what the axis shows, with its unit
	IsSigned bool   // the axis has 0 in its middle, not at its left
	Groups   []StripGroup
}

// StripGroup is rows under a heading.
type StripGroup struct {
	Name  string
	Color Color
	Rows  []StripRow
}

// StripRow is the marks of one row, or its bars.
type StripRow struct {
	Name, Note string // before and behind the axis
	Marks      []float64
	Bars       []Bar
}

// Bar goes from 0 to a value.
type Bar struct {
	End   float64
	Color Color
}

const stripHeight = vg.Length(17)

// Chart returns the chart.
func (s StripPlot) Chart(name, title, text string) *Chart {
	return &Chart{Name: name, Title: title, Text: text,
		height: func(vg.Length) vg.Length {
			h := 2*lineHeight + 12
			for _, g := range s.Groups {
				if g.Name != "" {
					h += lineHeight + 2
				}
				h += stripHeight * vg.Length(len(g.Rows))
			}
			return h
		},
		draw: s.draw,
	}
}

// largestMagnitude returns the largest value without its sign.
func (s StripPlot) largestMagnitude() float64 {
	far := 0.0
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			for _, m := range r.Marks {
				far = math.Max(far, math.Abs(m))
			}
			for _, b := range r.Bars {
				far = math.Max(far, math.Abs(b.End))
			}
		}
	}
	return far
}

func (s StripPlot) draw(c draw.Canvas) {
	left, right := vg.Length(0), vg.Length(0)
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			left, right = max(left, labelStyle.Width(r.Name)), max(right, labelStyle.Width(r.Note))
		}
	}
	from, to := c.Min.X+pictureMargin+left+10, c.Max.X-pictureMargin-right-10
	bottom := c.Min.Y + 2*lineHeight + 6
	far, room, ticks := math.Max(s.largestMagnitude(), 1e-9), int((to-from)/42), linearTicks
	if s.IsSigned {
		far, room, ticks = math.Max(s.largestMagnitude(), 1), int((to-from)/84), signedTicks
	}
	step := tickStep(far, room)
	most := step * math.Max(math.Ceil(s.largestMagnitude()*1.02/step), 1)
	tx := func(v float64) vg.Length {
		if s.IsSigned {
			v = (v + most) / 2
		}
		return from + (to-from)*vg.Length(v/most)
	}
	for _, t := range ticks(most, step) {
		line := draw.LineStyle{Color: gridColor, Width: 0.75}
		if t.Value == 0 {
			line = draw.LineStyle{Color: Gray, Width: 1}
		}
		c.StrokeLine2(line, tx(t.Value), bottom, tx(t.Value), c.Max.Y-2)
		c.FillText(minorTextStyle, vg.Point{X: tx(t.Value), Y: bottom - 4}, t.Label)
	}
	c.FillText(withAlignment(axisNameStyle, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: c.Min.Y + 4}, s.XLabel)
	y := c.Max.Y - 2
	for _, g := range s.Groups {
		if g.Name != "" {
			c.FillText(withAlignment(smallHeadingStyle, draw.XLeft, draw.YCenter), vg.Point{X: c.Min.X + pictureMargin, Y: y - lineHeight/2}, g.Name)
			y -= lineHeight + 2
		}
		for _, r := range g.Rows {
			h := stripHeight
			c.FillText(withAlignment(labelStyle, draw.XRight, draw.YCenter), vg.Point{X: from - 10, Y: y - h/2}, r.Name)
			c.FillText(labelStyle, vg.Point{X: to + 10, Y: y - h/2}, r.Note)
			for _, b := range r.Bars {
				square := []vg.Point{{X: tx(0), Y: y - h/2 - 5}, {X: tx(b.End), Y: y - h/2 - 5}, {X: tx(b.End), Y: y - h/2 + 5}, {X: tx(0), Y: y - h/2 + 5}}
				drawWithTooltip(c, s.markText(r, b.End), func() { c.FillPolygon(b.Color, square) })
			}
			for _, m := range r.Marks {
				drawWithTooltip(c, s.markText(r, m), func() {
					c.StrokeLine2(draw.LineStyle{Color: g.Color, Width: 1.8}, tx(m), y-h/2-5, tx(m), y-h/2+5)
				})
			}
			y -= h
		}
	}
}

// markText describes a mark of a row.
func (s StripPlot) markText(r StripRow, v float64) string {
	words := strconv.FormatFloat(v, 'g', 4, 64)
	if s.IsSigned && v > 0 {
		words = "+" + words
	}
	return r.Name + ": " + words + ", " + s.XLabel
}
