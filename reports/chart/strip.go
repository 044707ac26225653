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
	X      string // what the axis shows, with its unit
	Signed bool   // 0 is in its middle; else at its left
	Groups []StripGroup
}

// StripGroup is rows under a heading.
type StripGroup struct {
	Name  string
	Color Color
	Rows  []StripRow
}

// StripRow is the marks of one row.
type StripRow struct {
	Name, Note string // before and behind the axis
	Marks      []float64
}

const stripHeight = vg.Length(17)

// Chart returns the chart.
func (s Strip) Chart(name, title, text string) *Chart {
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

// far returns the largest value without its sign.
func (s Strip) far() float64 {
	far := 0.0
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			for _, m := range r.Marks {
				far = math.Max(far, math.Abs(m))
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
			h := stripHeight
			c.FillText(aligned(label, draw.XRight, draw.YCenter), vg.Point{X: from - 10, Y: y - h/2}, r.Name)
			c.FillText(label, vg.Point{X: to + 10, Y: y - h/2}, r.Note)
			for _, m := range r.Marks {
				c.StrokeLine2(draw.LineStyle{Color: g.Color, Width: 1.8}, tx(m), y-h/2-5, tx(m), y-h/2+5)
			}
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
