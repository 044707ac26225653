package reports

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/fit/tiers"
)

// Matrix returns the chart of how near each two ranks are, with the groups that were found.
func Matrix(x tiers.Tiers) *Chart {
	m := &matrix{Tiers: x, order: neighbours(x), odd: map[[2]int]bool{}, times: map[[2]int]float64{}}
	m.low, m.high = math.Inf(1), 0
	for _, p := range x.Pairs {
		m.times[[2]int{p.A, p.B}] = p.Times
		m.odd[[2]int{p.A, p.B}] = p.Odd
		if !p.Odd {
			m.low, m.high = min(m.low, p.Times), max(m.high, p.Times)
		}
	}
	return &Chart{
		Name: fileName("tiers", x.Platform, x.Library), Title: "How near ranks are to each other, " + where(x.Platform, x.Library, ""),
		Text: "Each square is a pair of ranks: the stronger, the less time it takes, on a logarithmic scale. Frames are the groups of the tiers, " +
			"by which the ranks are sorted. A cross marks a pair whose times are not those of its groups; what was not measured is empty.",
		height: func(width vg.Length) vg.Length { return m.side(width) + 3*lineHeight + 2*margin },
		draw:   m.draw,
	}
}

// matrix is the pairs of ranks in the order of their groups.
type matrix struct {
	tiers.Tiers
	order     []int
	times     map[[2]int]float64
	odd       map[[2]int]bool
	low, high float64 // times of pairs that are not odd
}

// widest is the largest square of a pair.
const widest = vg.Length(26)

// side is the length of all squares, gutter the room for the names of ranks at the left.
func (m *matrix) side(width vg.Length) vg.Length {
	return min(width-2*margin-m.gutter(), widest*vg.Length(len(m.order)))
}

func (m *matrix) gutter() vg.Length {
	return label.Width(strconv.Itoa(m.Ranks[len(m.Ranks)-1])) + margin
}

func (m *matrix) draw(c draw.Canvas) {
	side := m.side(c.Max.X - c.Min.X)
	a := area{c, c.Min.X + margin + m.gutter(), c.Max.Y - margin - lineHeight, side / vg.Length(len(m.order))}
	for i, p := range m.order {
		for j, q := range m.order {
			if t, ok := m.times[[2]int{min(p, q), max(p, q)}]; ok && i != j {
				a.fill(m.shade(t), i, j)
				if m.odd[[2]int{min(p, q), max(p, q)}] {
					a.cross(i, j)
				}
			}
		}
	}
	a.frame(grid, 0.5, 0, len(m.order))
	for l := len(m.Levels) - 2; l >= 0; l-- {
		m.frames(a, m.Levels[l], vg.Length(1+l))
	}
	m.names(a)
	m.legend(a, a.top-side-margin)
}

// frames draws a frame around each group of a tier.
func (m *matrix) frames(a area, l tiers.Tier, width vg.Length) {
	begin := 0
	for begin < len(m.order) {
		end := begin
		for _, g := range l.Groups {
			for _, rank := range g {
				if rank == m.order[begin] {
					end = begin + len(g)
				}
			}
		}
		if end > begin+1 {
			a.frame(black, width, begin, end)
		}
		begin = max(end, begin+1)
	}
}

// names writes the ranks above and at the left, as many as there is room for.
func (m *matrix) names(a area) {
	room := max(label.Width(strconv.Itoa(m.Ranks[len(m.Ranks)-1]))+4, lineHeight-2)
	step := max(1, int(math.Ceil(float64(room/a.square))))
	for i := 0; i < len(m.order); i += step {
		name, at := strconv.Itoa(m.order[i]), a.square*(vg.Length(i)+0.5)
		a.FillText(aligned(label, draw.XCenter, draw.YBottom), vg.Point{X: a.left + at, Y: a.top + 3}, name)
		a.FillText(aligned(label, draw.XRight, draw.YCenter), vg.Point{X: a.left - 4, Y: a.top - at}, name)
	}
}

// legend shows the shades from near to far.
func (m *matrix) legend(a area, y vg.Length) {
	x := a.left
	write := func(s string) {
		a.FillText(aligned(label, draw.XLeft, draw.YCenter), vg.Point{X: x, Y: y - lineHeight/2}, s)
		x += label.Width(s) + 5
	}
	write(fmt.Sprintf("×%.3g", m.low))
	for i := range shades {
		a.box(shades[len(shades)-1-i], x, y-lineHeight+2, 11)
		x += 12
	}
	x += 4
	write(fmt.Sprintf("×%.3g", m.high))
	if len(m.Levels) > 1 {
		x = a.left
		y -= lineHeight
		write(fmt.Sprintf("frames: groups of %s", m.framed()))
	}
}

func (m *matrix) framed() string {
	s := ""
	for i, l := range m.Levels[:len(m.Levels)-1] {
		if i > 0 {
			s += ", thicker of "
		}
		s += l.Place
	}
	return s
}

// shade returns the ink of a pair that takes so long: the last for the nearest.
func (m *matrix) shade(t float64) ink {
	if m.high <= m.low {
		return shades[len(shades)/2]
	}
	x := math.Log(min(max(t, m.low), m.high)/m.low) / math.Log(m.high/m.low)
	return shades[len(shades)-1-min(int(x*float64(len(shades))), len(shades)-1)]
}

// area is where squares are drawn, from its left and top.
type area struct {
	draw.Canvas
	left, top, square vg.Length
}

func (a area) fill(c ink, i, j int) {
	a.box(c, a.left+a.square*vg.Length(j)+0.5, a.top-a.square*vg.Length(i+1)+0.5, a.square-1)
}

func (a area) box(c ink, x, y, side vg.Length) {
	a.FillPolygon(c, []vg.Point{{X: x, Y: y}, {X: x + side, Y: y}, {X: x + side, Y: y + side}, {X: x, Y: y + side}})
}

// cross strikes a square out.
func (a area) cross(i, j int) {
	x, y, d := a.left+a.square*vg.Length(j), a.top-a.square*vg.Length(i), a.square/4
	line := draw.LineStyle{Color: orange, Width: 1.6}
	a.StrokeLine2(line, x+d, y-d, x+3*d, y-3*d)
	a.StrokeLine2(line, x+d, y-3*d, x+3*d, y-d)
}

// frame draws one around the squares from begin to end on the diagonal.
func (a area) frame(c ink, width vg.Length, begin, end int) {
	x, y, side := a.left+a.square*vg.Length(begin), a.top-a.square*vg.Length(begin), a.square*vg.Length(end-begin)
	a.StrokeLines(draw.LineStyle{Color: c, Width: width}, []vg.Point{{X: x, Y: y}, {X: x + side, Y: y}, {X: x + side, Y: y - side}, {X: x, Y: y - side}, {X: x, Y: y}})
}
