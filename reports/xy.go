package reports

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// xy is a chart of times or rates against sizes, both logarithmic unless it says otherwise. Its legend stands above the data,
// never on it.
type xy struct {
	x      string // what the horizontal axis shows, with its unit, so that its numbers have none; default: message size
	y      string // what the vertical axis shows, with its unit
	linear bool   // the vertical axis begins at 0 and is not logarithmic
	signed bool   // it has 0 in its middle and is not logarithmic
	spans  bool   // it has room for all intervals, and not only for those of framed points
	series []series
	key    [][]series // what the legend names, each part in lines of its own; default: the series

	from, to float64 // the least and the largest size but zero; default: of the series
	edge     float64 // where a signed axis ends; default: behind the values
}

// series is what belongs together in a chart.
type series struct {
	name   string
	shape  int // of its glyph, where that matters
	look   look
	points []point
	lines  [][]point // of which only x and y count
	over   []point   // the area between the series' points and these is shaded
}

// look is how a series looks.
type look struct {
	ink    ink
	glyph  draw.GlyphDrawer
	dashed bool
	framed bool // a ring is about each point, and its interval has ends
}

// point is a value with its interval.
type point struct{ x, y, low, high float64 }

// shows says whether the vertical axis has a place for a value.
func (x xy) shows(y float64) bool { return y > 0 || x.linear && y == 0 || x.signed }

// chart returns the chart. Values that are not positive cannot be shown; the text says how many there are.
func (x xy) chart(name, title, text string) *Chart {
	hidden := x.hide()
	if hidden > 0 {
		text += fmt.Sprintf(" %d values that are not positive are left out.", hidden)
	}
	return &Chart{Name: name, Title: title, Text: text,
		height: func(width vg.Length) vg.Length {
			return x.legend(width, nil, vg.Point{}) + min(0.62*width, 380) + 2*lineHeight + 4
		},
		draw: func(c draw.Canvas) {
			width := c.Max.X - c.Min.X
			used := x.legend(width, &c, vg.Point{X: c.Min.X, Y: c.Max.Y})
			// Note: gonum would place the names of logarithmic axes as if they were linear, and make room for them there.
			c.FillText(axisName, vg.Point{X: c.Min.X + margin, Y: c.Max.Y - used - 4}, x.y)
			c.FillText(aligned(axisName, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: c.Min.Y + 4}, cmp.Or(x.x, "message size"))
			area := draw.Crop(c, margin, -margin, lineHeight+4, -used-lineHeight-8)
			x.plot(area.Size()).Draw(area)
		},
	}
}

// hide removes what the vertical axis cannot show.
func (x *xy) hide() int {
	n := 0
	for i := range x.series {
		s := &x.series[i]
		var points []point
		for _, p := range s.points {
			if x.shows(p.y) {
				points = append(points, p)
			} else {
				n++
			}
		}
		s.points = points
	}
	return n
}

// extent returns the ranges of sizes and values. first is the smallest size but zero.
func (x xy) extent() (first, last, low, high float64) {
	first, low = math.Inf(1), math.Inf(1)
	see := func(p point) {
		if p.x > 0 {
			first = math.Min(first, p.x)
		}
		last = math.Max(last, p.x)
		if p.y > 0 {
			low, high = math.Min(low, p.y), math.Max(high, p.y)
		}
	}
	for _, s := range x.series {
		for _, p := range s.points {
			see(p)
			if (x.spans || s.look.framed) && p.low < p.high {
				see(point{x: p.x, y: p.low})
				see(point{x: p.x, y: p.high})
			}
		}
		for _, l := range s.lines {
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
	if x.to > 0 {
		first, last = x.from, x.to
	}
	return first, last, low, high
}

// farthest returns the largest value without its sign.
func (x xy) farthest() float64 {
	far := 0.0
	for _, s := range x.series {
		for _, p := range s.points {
			far = math.Max(far, math.Abs(p.y))
		}
	}
	return far
}

// plot returns the part below the legend, for so much room.
func (x xy) plot(room vg.Point) *plot.Plot {
	first, last, low, high := x.extent()
	zero := first / math.Sqrt(10) // where messages without bytes stand
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Scale, a.Color, a.Padding = plot.LogScale{}, gray, 0
		a.LineStyle.Color, a.LineStyle.Width = gray, 0.75
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width, a.Tick.Length = gray, 0.75, 4
	}
	p.X.Tick.Label = minor
	p.Y.Tick.Label = aligned(minor, draw.XRight, draw.YCenter)
	p.X.Min, p.X.Max = first/1.3, math.Max(last, first*10)*1.3
	if x.zero() {
		p.X.Min = zero / 1.3
	}
	name := size
	if x.x != "" {
		name = strconv.Itoa
	}
	p.X.Tick.Marker = plot.TickerFunc(func(min, max float64) []plot.Tick {
		return sizeTicks(min, max, zero, x.zero(), int(room.X/60), name)
	})
	if rows := int(room.Y / 18); x.signed {
		far := math.Max(x.farthest(), 1)
		step := even(far, max(rows/2, 2))
		p.Y.Scale = plot.LinearScale{}
		p.Y.Max = step * math.Ceil(far*1.02/step)
		if x.edge > 0 {
			step = x.edge / 2
			p.Y.Max = x.edge * 1.08
		}
		p.Y.Min = -p.Y.Max
		p.Y.Tick.Marker = plot.TickerFunc(func(_, max float64) []plot.Tick { return signedTicks(max, step) })
	} else if x.linear {
		step := even(high, rows)
		p.Y.Scale = plot.LinearScale{}
		p.Y.Min, p.Y.Max = 0, step*math.Ceil(high*1.02/step)
		p.Y.Tick.Marker = plot.TickerFunc(func(_, max float64) []plot.Tick { return evenTicks(max, step) })
	} else {
		p.Y.Min, p.Y.Max = around(low, high)
		p.Y.Tick.Marker = plot.TickerFunc(func(min, max float64) []plot.Tick { return valueTicks(min, max, rows) })
	}
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = grid, grid
	g.Vertical.Width, g.Horizontal.Width = 0.75, 0.75
	p.Add(g)
	for _, s := range x.series {
		p.Add(painter{s, zero})
	}
	return p
}

// zero says whether there are messages without bytes.
func (x xy) zero() bool {
	for _, s := range x.series {
		for _, p := range s.points {
			if p.x == 0 {
				return true
			}
		}
	}
	return false
}

// around returns the ends of an axis: 1, 2 or 5 times a power of ten, at some distance.
func around(low, high float64) (bottom, top float64) {
	bottom, top = math.Pow10(magnitude(low)), math.Pow10(magnitude(high))
	for _, f := range []float64{2, 5} {
		if base := math.Pow10(magnitude(low)); base*f < low/1.15 {
			bottom = base * f
		}
	}
	if bottom > low/1.05 {
		bottom /= 2
	}
	for _, f := range []float64{2, 5, 10, 20} {
		if top < high*1.15 {
			top = math.Pow10(magnitude(high)) * f
		}
	}
	return bottom, top
}

// even returns the distance of ticks from 0 to high, which is 1, 2 or 5 times a power of ten, for at most room of them.
func even(high float64, room int) float64 {
	step := math.Pow10(magnitude(high) - 2)
	for _, f := range []float64{2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2} {
		if high <= step*float64(max(room, 2)-1) {
			break
		}
		step *= f
	}
	return step
}

// evenTicks puts ticks at equal distances.
func evenTicks(max, step float64) []plot.Tick {
	var ticks []plot.Tick
	for i := 0; float64(i)*step <= max*1.001; i++ {
		y := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: y, Label: strconv.FormatFloat(y, 'f', -min(magnitude(step), 0), 64)})
	}
	return ticks
}

// signedTicks puts them on both sides of 0, with their signs.
func signedTicks(max, step float64) []plot.Tick {
	ticks := evenTicks(max, step)
	for _, t := range ticks[1:] {
		ticks = append(ticks, plot.Tick{Value: -t.Value, Label: "−" + t.Label})
	}
	for i := range ticks {
		if ticks[i].Value > 0 {
			ticks[i].Label = "+" + ticks[i].Label
		}
	}
	return ticks
}

// sizeTicks puts a tick at each power of ten, and names as many as there is room for.
func sizeTicks(min, max, zero float64, withZero bool, room int, name func(int) string) []plot.Tick {
	var ticks []plot.Tick
	if withZero {
		ticks = append(ticks, plot.Tick{Value: zero, Label: "0"})
	}
	every := sparse(min, max, room)
	for e := 0; math.Pow10(e) <= max; e++ {
		for f := 1.0; f < 10; f++ {
			t := plot.Tick{Value: math.Pow10(e) * f}
			if f == 1 && e%every == 0 {
				t.Label = name(int(t.Value))
			}
			if t.Value >= min && t.Value <= max && (!withZero || t.Value > zero*1.5) && (f == 1 || every == 1) {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// sparse returns which powers of ten are named, every so many, for at most room of them.
func sparse(min, max float64, room int) int {
	decades := int(math.Log10(max/min)) + 1
	for every := 1; ; every++ {
		if decades <= every*room || every > decades {
			return every
		}
	}
}

// valueTicks puts a tick at each power of ten, and names as many as there is room for; if these are few, 2 and 5 times them too.
func valueTicks(min, max float64, room int) []plot.Tick {
	every := sparse(min, max, room)
	few := 3*int(math.Log10(max/min)+1) <= room
	var ticks []plot.Tick
	for e := magnitude(min); math.Pow10(e) <= max*1.001; e++ {
		places := 0
		if e < 0 {
			places = -e
		}
		for f := 1.0; f < 10; f++ {
			t := plot.Tick{Value: math.Pow10(e) * f}
			if f == 1 && e%every == 0 || few && (f == 2 || f == 5) {
				t.Label = strconv.FormatFloat(t.Value, 'f', places, 64)
			}
			if t.Value >= min*0.999 && t.Value <= max*1.001 && (f == 1 || every == 1) {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// painter draws a series.
type painter struct {
	series
	zero float64
}

// Plot draws it.
func (s painter) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	at := func(q point) vg.Point {
		if q.x <= 0 {
			q.x = s.zero
		}
		return vg.Point{X: tx(q.x), Y: ty(q.y)}
	}
	if len(s.over) > 0 {
		var area []vg.Point
		for _, q := range s.points {
			area = append(area, at(q))
		}
		for i := range s.over {
			q := s.over[len(s.over)-1-i]
			q.y = math.Max(q.y, p.Y.Min) // an axis may have no place for what took no time
			area = append(area, at(q))
		}
		c.FillPolygon(shade{s.look.ink}, c.ClipPolygonXY(area))
	}
	for _, l := range s.lines {
		var line []vg.Point
		for _, q := range l {
			if q.y > 0 {
				line = append(line, at(q))
			}
		}
		c.StrokeLines(s.look.line(), c.ClipLinesXY(line)...)
	}
	for _, q := range s.points {
		var ends []vg.Length
		if q.low < q.high {
			ends = []vg.Length{ty(math.Max(q.low, p.Y.Min)), ty(q.high)}
		}
		s.look.draw(&c, at(q), ends)
	}
}

// draw draws a point, and the interval of its value between two ends, if it has any.
func (l look) draw(c *draw.Canvas, at vg.Point, ends []vg.Length) {
	if l.framed {
		circle(c, at, draw.LineStyle{Color: paper, Width: 4.5}) // stands out from what is below
	}
	bar := draw.LineStyle{Color: l.ink, Width: 1}
	if l.framed {
		bar = draw.LineStyle{Color: black, Width: 1.5}
	}
	if ends != nil {
		c.StrokeLines(bar, c.ClipLinesXY([]vg.Point{{X: at.X, Y: ends[0]}, {X: at.X, Y: ends[1]}})...)
	}
	if l.framed {
		const half = 4
		for _, y := range ends {
			c.StrokeLines(bar, c.ClipLinesXY([]vg.Point{{X: at.X - half, Y: y}, {X: at.X + half, Y: y}})...)
		}
		circle(c, at, bar)
	}
	if l.glyph != nil {
		c.DrawGlyph(draw.GlyphStyle{Color: l.ink, Radius: 3, Shape: l.glyph}, at)
	}
}

// DataRange is given by the axes.
func (s painter) DataRange() (xmin, xmax, ymin, ymax float64) {
	return math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
}

// shade is an ink that lets through what is below.
type shade struct{ ink }

// RGBA returns the colour with its opacity.
func (s shade) RGBA() (r, g, b, a uint32) {
	const opacity = 6 // of 64ths
	r, g, b, a = s.ink.RGBA()
	return r * opacity / 64, g * opacity / 64, b * opacity / 64, a * opacity / 64
}

func (l look) line() draw.LineStyle {
	s := draw.LineStyle{Color: l.ink, Width: 1.5}
	if l.dashed {
		s.Dashes = []vg.Length{5, 3}
	}
	return s
}

// legend draws the names of the series from a point on, in rows, and returns the height that it takes. Without a canvas it only measures.
func (x xy) legend(width vg.Length, c *draw.Canvas, at vg.Point) vg.Length {
	const sample, gap = 24, 14
	left, y := margin, lineHeight/2+2
	down := func() { left, y = margin, y+lineHeight+1 }
	parts := x.key
	if parts == nil {
		parts = [][]series{x.series}
	}
	for _, part := range parts {
		if left > margin {
			down()
		}
		for _, s := range part {
			if s.name == "" {
				continue
			}
			need := sample + 5 + label.Width(s.name)
			if left > margin && left+need > width-margin {
				down()
			}
			if c != nil {
				s.entry(c, vg.Point{X: at.X + left, Y: at.Y - y}, sample)
			}
			left += need + gap
		}
	}
	return y + lineHeight/2 + 2
}

// entry draws a series' entry in the legend.
func (s series) entry(c *draw.Canvas, at vg.Point, width vg.Length) {
	if len(s.lines) > 0 {
		c.StrokeLine2(s.look.line(), at.X, at.Y, at.X+width, at.Y)
	}
	if len(s.points) > 0 {
		s.look.draw(c, vg.Point{X: at.X + width/2, Y: at.Y}, nil)
	}
	c.FillText(label, vg.Point{X: at.X + width + 5, Y: at.Y}, s.name)
}
