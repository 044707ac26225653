package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/model/unit"
)

// DistanceMatrixChart returns the chart of how near each two ranks are, with the groups that were
// found.
func DistanceMatrixChart(name, title string, x tiers.Tiers) *Chart {
	m := &distanceMatrix{Tiers: x, rankOrder: sortedRanks(x), isOutlier: map[[2]int]bool{}, timeRatios: map[[2]int]float64{}, oneWayTimes: map[[2]int]float64{}}
	m.minTime, m.maxTime = math.Inf(1), 0
	for _, p := range x.Pairs {
		m.timeRatios[[2]int{p.A, p.B}] = p.Times
		m.isOutlier[[2]int{p.A, p.B}] = p.IsOutlier
		m.oneWayTimes[[2]int{p.A, p.B}] = p.OneWay
		if !p.IsOutlier {
			m.minTime, m.maxTime = min(m.minTime, p.Times), max(m.maxTime, p.Times)
		}
	}
	if m.maxTime > 0 {
		m.maxTime = max(m.maxTime, minShadeTimeRatio*m.minTime)
	}
	return &Chart{
		Name: name, Title: title,
		Text: "Each square is a pair of ranks: the stronger its colour, the shorter its time, on a logarithmic scale. Frames are the groups of the tiers, " +
			"by which the ranks are sorted. A cross marks a pair whose times are not those of its groups. Pairs that were not measured are empty.",
		height: func(width vg.Length) vg.Length { return m.squareSide(width) + 3*lineHeight + 2*pictureMargin },
		draw:   m.draw,
	}
}

// sortedRanks returns the ranks sorted so that those of one group stand side by side, in every
// tier.
func sortedRanks(x tiers.Tiers) []int {
	ranks := slices.Clone(x.Ranks)
	for _, l := range x.Levels { // stable: the farthest tier decides last
		slices.SortStableFunc(ranks, func(a, b int) int { return groupOfRank(l, a) - groupOfRank(l, b) })
	}
	return ranks
}

// groupOfRank returns the group of a rank in a tier.
func groupOfRank(l tiers.Tier, rank int) int {
	return slices.IndexFunc(l.Groups, func(g []int) bool { return slices.Contains(g, rank) })
}

// distanceMatrix is the pairs of ranks in the order of their groups.
type distanceMatrix struct {
	tiers.Tiers
	rankOrder        []int
	timeRatios       map[[2]int]float64
	oneWayTimes      map[[2]int]float64
	isOutlier        map[[2]int]bool
	minTime, maxTime float64 // times of pairs that are not odd
}

// minShadeTimeRatio is the least ratio of the times that the strongest and the weakest
// colour: pairs that are alike look alike.
const minShadeTimeRatio = 1.1

// maxRanksWithTooltips is the largest number of ranks for which each pair has a tooltip.
const maxRanksWithTooltips = 24

// maxSquareWidth is the largest square of a pair.
const maxSquareWidth = vg.Length(26)

// squareSide is the length of all squares, gutter the room for the names of ranks at the left.
func (m *distanceMatrix) squareSide(width vg.Length) vg.Length {
	return min(width-2*pictureMargin-m.nameWidth(), maxSquareWidth*vg.Length(len(m.rankOrder)))
}

func (m *distanceMatrix) nameWidth() vg.Length {
	return labelStyle.Width(strconv.Itoa(m.Ranks[len(m.Ranks)-1])) + pictureMargin
}

func (m *distanceMatrix) draw(c draw.Canvas) {
	side := m.squareSide(c.Max.X - c.Min.X)
	a := squareGrid{c, c.Min.X + pictureMargin + m.nameWidth(), c.Max.Y - pictureMargin - lineHeight, side / vg.Length(len(m.rankOrder))}
	for i, p := range m.rankOrder {
		for j, q := range m.rankOrder {
			if t, ok := m.timeRatios[[2]int{min(p, q), max(p, q)}]; ok && i != j {
				square := func() { a.fillSquare(m.pairColor(t), i, j) }
				if len(m.rankOrder) <= maxRanksWithTooltips {
					drawWithTooltip(c, fmt.Sprintf("ranks %d and %d: %s×%.3g, %s", p, q, m.oneWayText(min(p, q), max(p, q)), t, m.tierText(min(p, q), max(p, q))), square)
				} else {
					square()
				}
				if m.isOutlier[[2]int{min(p, q), max(p, q)}] {
					a.crossOutSquare(i, j)
				}
			}
		}
	}
	a.drawFrame(gridColor, 0.5, 0, len(m.rankOrder))
	for l := len(m.Levels) - 2; l >= 0; l-- {
		m.drawFrames(a, m.Levels[l], vg.Length(1+l))
	}
	m.drawNames(a)
	m.drawLegend(a, a.top-side-pictureMargin)
}

// oneWayText says how long a message takes one way between a pair.
func (m *distanceMatrix) oneWayText(p, q int) string {
	if t := m.oneWayTimes[[2]int{p, q}]; t > 0 {
		return fmt.Sprintf("%.3g us one way (%s, %s), ", t, m.Mode, unit.Bytes(m.Bytes))
	}
	return ""
}

// tierText says to which tier a pair belongs.
func (m *distanceMatrix) tierText(p, q int) string {
	for _, x := range m.Pairs {
		if x.A == p && x.B == q && x.Tier < len(m.Levels) {
			return "tier " + m.Levels[x.Tier].Place
		}
	}
	return ""
}

// drawFrames draws a frame around each group of a tier.
func (m *distanceMatrix) drawFrames(a squareGrid, l tiers.Tier, width vg.Length) {
	begin := 0
	for begin < len(m.rankOrder) {
		end := begin
		for _, g := range l.Groups {
			for _, rank := range g {
				if rank == m.rankOrder[begin] {
					end = begin + len(g)
				}
			}
		}
		if end > begin+1 {
			a.drawFrame(Black, width, begin, end)
		}
		begin = max(end, begin+1)
	}
}

// drawNames writes the ranks above and at the left, as many as there is room for.
func (m *distanceMatrix) drawNames(a squareGrid) {
	room := max(labelStyle.Width(strconv.Itoa(m.Ranks[len(m.Ranks)-1]))+4, lineHeight-2)
	step := max(1, int(math.Ceil(float64(room/a.squareSide))))
	for i := 0; i < len(m.rankOrder); i += step {
		name, at := strconv.Itoa(m.rankOrder[i]), a.squareSide*(vg.Length(i)+0.5)
		a.FillText(withAlignment(labelStyle, draw.XCenter, draw.YBottom), vg.Point{X: a.left + at, Y: a.top + 3}, name)
		a.FillText(withAlignment(labelStyle, draw.XRight, draw.YCenter), vg.Point{X: a.left - 4, Y: a.top - at}, name)
	}
}

// drawLegend shows the shades from near to far.
func (m *distanceMatrix) drawLegend(a squareGrid, y vg.Length) {
	x := a.left
	write := func(s string) {
		a.FillText(withAlignment(labelStyle, draw.XLeft, draw.YCenter), vg.Point{X: x, Y: y - lineHeight/2}, s)
		x += labelStyle.Width(s) + 5
	}
	write(fmt.Sprintf("×%.3g", m.minTime))
	for i := range timeShades {
		a.drawBox(timeShades[len(timeShades)-1-i], x, y-lineHeight+2, 11)
		x += 12
	}
	x += 4
	write(fmt.Sprintf("×%.3g", m.maxTime))
	if len(m.Levels) > 1 {
		x = a.left
		y -= lineHeight
		write(fmt.Sprintf("frames: groups of %s", m.frameText()))
	}
}

func (m *distanceMatrix) frameText() string {
	s := ""
	for i, l := range m.Levels[:len(m.Levels)-1] {
		if i > 0 {
			s += ", thicker of "
		}
		s += l.Place
	}
	return s
}

// pairColor returns the colour of a pair that takes so long: the last for the nearest.
func (m *distanceMatrix) pairColor(t float64) Color {
	if m.maxTime <= m.minTime {
		return timeShades[len(timeShades)/2]
	}
	x := math.Log(min(max(t, m.minTime), m.maxTime)/m.minTime) / math.Log(m.maxTime/m.minTime)
	return timeShades[len(timeShades)-1-min(int(x*float64(len(timeShades))), len(timeShades)-1)]
}

// squareGrid is where squares are drawn, from its left and top.
type squareGrid struct {
	draw.Canvas
	left, top, squareSide vg.Length
}

func (a squareGrid) fillSquare(c Color, i, j int) {
	a.drawBox(c, a.left+a.squareSide*vg.Length(j)+0.5, a.top-a.squareSide*vg.Length(i+1)+0.5, a.squareSide-1)
}

func (a squareGrid) drawBox(c Color, x, y, side vg.Length) {
	a.FillPolygon(c, []vg.Point{{X: x, Y: y}, {X: x + side, Y: y}, {X: x + side, Y: y + side}, {X: x, Y: y + side}})
}

// crossOutSquare draws a cross over a square.
func (a squareGrid) crossOutSquare(i, j int) {
	x, y, d := a.left+a.squareSide*vg.Length(j), a.top-a.squareSide*vg.Length(i), a.squareSide/4
	line := draw.LineStyle{Color: Orange, Width: 1.6}
	a.StrokeLine2(line, x+d, y-d, x+3*d, y-3*d)
	a.StrokeLine2(line, x+d, y-3*d, x+3*d, y-d)
}

// drawFrame draws one around the squares from begin to end on the diagonal.
func (a squareGrid) drawFrame(c Color, width vg.Length, begin, end int) {
	x, y, side := a.left+a.squareSide*vg.Length(begin), a.top-a.squareSide*vg.Length(begin), a.squareSide*vg.Length(end-begin)
	a.StrokeLines(draw.LineStyle{Color: c, Width: width}, []vg.Point{{X: x, Y: y}, {X: x + side, Y: y}, {X: x + side, Y: y - side}, {X: x, Y: y - side}, {X: x, Y: y}})
}
