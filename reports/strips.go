package reports

import (
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// strips is a chart of rows of marks on one straight axis: what launches say, one row a quantity.
type strips struct {
	x      string  // what the axis shows, with its unit
	signed bool    // 0 is in its middle; else at its left
	end    float64 // where it ends; 0: behind the last mark
	groups []stripGroup
}

// stripGroup is rows under a heading.
type stripGroup struct {
	name string
	ink  ink
	rows []stripRow
}

// stripRow is the marks of one row.
type stripRow struct {
	name, note string // before and behind the axis
	marks      []float64
}

const stripHeight = vg.Length(17)

func (s strips) chart(name, title, text string) *Chart {
	return &Chart{Name: name, Title: title, Text: text,
		height: func(vg.Length) vg.Length {
			h := 2*lineHeight + 12
			for _, g := range s.groups {
				if g.name != "" {
					h += lineHeight + 2
				}
				h += stripHeight * vg.Length(len(g.rows))
			}
			return h
		},
		draw: s.draw,
	}
}

// far returns the largest value without its sign.
func (s strips) far() float64 {
	far := 0.0
	for _, g := range s.groups {
		for _, r := range g.rows {
			for _, m := range r.marks {
				far = math.Max(far, math.Abs(m))
			}
		}
	}
	return far
}

func (s strips) draw(c draw.Canvas) {
	left, right := vg.Length(0), vg.Length(0)
	for _, g := range s.groups {
		for _, r := range g.rows {
			left, right = max(left, label.Width(r.name)), max(right, label.Width(r.note))
		}
	}
	from, to := c.Min.X+margin+left+10, c.Max.X-margin-right-10
	bottom := c.Min.Y + 2*lineHeight + 6
	step := even(math.Max(s.far(), 1e-9), max(int((to-from)/42), 2))
	if s.signed {
		step = even(math.Max(s.far(), 1), max(int((to-from)/84), 2))
	}
	most := step * math.Max(math.Ceil(s.far()*1.02/step), 1)
	least := 0.0
	if s.signed {
		least = -most
	}
	tx := func(v float64) vg.Length { return from + (to-from)*vg.Length((v-least)/(most-least)) }
	s.axis(c, tx, least, most, step, bottom)
	y := c.Max.Y - 2
	for _, g := range s.groups {
		if g.name != "" {
			c.FillText(aligned(heading11, draw.XLeft, draw.YCenter), vg.Point{X: c.Min.X + margin, Y: y - lineHeight/2}, g.name)
			y -= lineHeight + 2
		}
		for _, r := range g.rows {
			h := stripHeight
			c.FillText(aligned(label, draw.XRight, draw.YCenter), vg.Point{X: from - 10, Y: y - h/2}, r.name)
			c.FillText(label, vg.Point{X: to + 10, Y: y - h/2}, r.note)
			g.draw(c, r, tx, y-h/2)
			y -= h
		}
	}
}

// axis draws the lines of the grid, and their names at the bottom.
func (s strips) axis(c draw.Canvas, tx func(float64) vg.Length, least, most, step float64, bottom vg.Length) {
	for i := int(math.Round(least / step)); i <= int(math.Round(most/step)); i++ {
		v := float64(i) * step
		line := draw.LineStyle{Color: grid, Width: 0.75}
		if i == 0 {
			line = draw.LineStyle{Color: gray, Width: 1}
		}
		c.StrokeLine2(line, tx(v), bottom, tx(v), c.Max.Y-2)
		name := strconv.FormatFloat(math.Abs(v), 'f', max(-magnitude(step), 0), 64)
		switch {
		case s.signed && i > 0:
			name = "+" + name
		case i < 0:
			name = "−" + name
		}
		c.FillText(minor, vg.Point{X: tx(v), Y: bottom - 4}, name)
	}
	c.FillText(aligned(axisName, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: c.Min.Y + 4}, s.x)
}

// draw draws the marks of a row around a height.
func (g stripGroup) draw(c draw.Canvas, r stripRow, tx func(float64) vg.Length, at vg.Length) {
	for _, m := range r.marks {
		c.StrokeLine2(draw.LineStyle{Color: g.ink, Width: 1.8}, tx(m), at-5, tx(m), at+5)
	}
}
