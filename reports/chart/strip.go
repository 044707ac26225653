package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/reports/format"
)

// Strip is a strip plot: rows of marks on one linear axis, such as what launches say, one row a quantity.
type Strip struct {
	X      string  // what the axis shows, with its unit
	Signed bool    // 0 is in its middle; else at its left
	End    float64 // where it ends; 0: behind the last mark
	Groups []StripGroup
}

// StripGroup is rows under a heading.
type StripGroup struct {
	Name  string
	Color Color
	Rows  []StripRow
}

// StripRow is the marks of one row. Those with an end are drawn as lines from a hollow to a solid mark, one below the other.
type StripRow struct {
	Name, Note string // before and behind the axis
	Marks      []StripMark
}

// StripMark is a value, or a change from one value to another.
type StripMark struct {
	At, End  float64 // End is NaN where there is none
	Excluded bool    // dotted: it does not count
}

const (
	stripHeight = vg.Length(17)
	stripStep   = vg.Length(9) // between marks with ends
)

// Chart returns the chart.
func (s Strip) Chart(name, title, text string) *Chart {
	return &Chart{Name: name, Title: title, Text: text,
		height: func(vg.Length) vg.Length {
			h := 2*lineHeight + 12
			for _, g := range s.Groups {
				if g.Name != "" {
					h += lineHeight + 2
				}
				for _, r := range g.Rows {
					h += r.height()
				}
			}
			return h
		},
		draw: s.draw,
	}
}

func (r StripRow) height() vg.Length {
	n := 0
	for _, m := range r.Marks {
		if !math.IsNaN(m.End) {
			n++
		}
	}
	return max(stripHeight, stripStep*vg.Length(n)+6)
}

// far returns the largest value without its sign.
func (s Strip) far() float64 {
	far := 0.0
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			for _, m := range r.Marks {
				far = math.Max(far, math.Abs(m.At))
				if !math.IsNaN(m.End) {
					far = math.Max(far, math.Abs(m.End))
				}
			}
		}
	}
	return far
}

func (s Strip) draw(c draw.Canvas) {
	left, right := vg.Length(0), vg.Length(0)
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			left, right = max(left, label.Width(r.Name)), max(right, label.Width(r.Note))
		}
	}
	from, to := c.Min.X+margin+left+10, c.Max.X-margin-right-10
	bottom := c.Min.Y + 2*lineHeight + 6
	step := even(math.Max(s.far(), 1e-9), max(int((to-from)/42), 2))
	if s.Signed {
		step = even(math.Max(s.far(), 1), max(int((to-from)/84), 2))
	}
	most := step * math.Max(math.Ceil(s.far()*1.02/step), 1)
	if s.End > 0 {
		step, most = s.End/5, s.End
	}
	least := 0.0
	if s.Signed {
		least = -most
	}
	tx := func(v float64) vg.Length { return from + (to-from)*vg.Length((v-least)/(most-least)) }
	s.axis(c, tx, least, most, step, bottom)
	y := c.Max.Y - 2
	for _, g := range s.Groups {
		if g.Name != "" {
			c.FillText(aligned(heading11, draw.XLeft, draw.YCenter), vg.Point{X: c.Min.X + margin, Y: y - lineHeight/2}, g.Name)
			y -= lineHeight + 2
		}
		for _, r := range g.Rows {
			h := r.height()
			c.FillText(aligned(label, draw.XRight, draw.YCenter), vg.Point{X: from - 10, Y: y - h/2}, r.Name)
			c.FillText(label, vg.Point{X: to + 10, Y: y - h/2}, r.Note)
			g.draw(c, r, tx, y, h)
			y -= h
		}
	}
}

// axis draws the lines of the grid, and their names at the bottom.
func (s Strip) axis(c draw.Canvas, tx func(float64) vg.Length, least, most, step float64, bottom vg.Length) {
	for i := int(math.Round(least / step)); i <= int(math.Round(most/step)); i++ {
		v := float64(i) * step
		line := draw.LineStyle{Color: grid, Width: 0.75}
		if i == 0 {
			line = draw.LineStyle{Color: Gray, Width: 1}
		}
		c.StrokeLine2(line, tx(v), bottom, tx(v), c.Max.Y-2)
		name := strconv.FormatFloat(math.Abs(v), 'f', max(-format.Magnitude(step), 0), 64)
		switch {
		case s.Signed && i > 0:
			name = "+" + name
		case i < 0:
			name = "−" + name
		}
		c.FillText(minor, vg.Point{X: tx(v), Y: bottom - 4}, name)
	}
	c.FillText(aligned(axisName, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: c.Min.Y + 4}, s.X)
}

// draw draws the marks of a row below y.
func (g StripGroup) draw(c draw.Canvas, r StripRow, tx func(float64) vg.Length, y, height vg.Length) {
	at := y - height/2
	for i, m := range r.Marks {
		if math.IsNaN(m.End) {
			line := draw.LineStyle{Color: g.Color, Width: 1.8}
			if m.Excluded {
				line.Dashes = []vg.Length{1.5, 2}
			}
			c.StrokeLine2(line, tx(m.At), at-5, tx(m.At), at+5)
			continue
		}
		row := y - 3 - stripStep*(vg.Length(i)+0.5)
		c.StrokeLine2(draw.LineStyle{Color: g.Color, Width: 1.2}, tx(m.At), row, tx(m.End), row)
		c.DrawGlyph(draw.GlyphStyle{Color: g.Color, Radius: 2.6, Shape: ring{}}, vg.Point{X: tx(m.At), Y: row})
		c.DrawGlyph(draw.GlyphStyle{Color: g.Color, Radius: 2.6, Shape: draw.CircleGlyph{}}, vg.Point{X: tx(m.End), Y: row})
	}
}
