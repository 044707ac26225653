package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/model/topology"
)

// MaxDrawnCables is how many cables of a graph can be drawn.
const MaxDrawnCables = 20_000

// NetworkChart returns the picture of a graph of hosts, switches and links. load is the share of a
// time in which each link was busy, by the name of the link; nil: nothing is known of it. The half
// of a cable that is nearer to an end shows the link that leads away from there.
func NetworkChart(name, title string, g *topology.Graph, load map[string]float64) *Chart {
	n := &networkDrawing{Graph: g, load: load, positions: make([]vg.Point, g.Hosts+g.Switches)}
	text := "Large squares are switches, small ones are hosts."
	if load != nil {
		text += " The stronger the colour of a cable, the longer it was busy; the half at an end is of the link that leads away from there."
	}
	return &Chart{Name: name, Title: title, Text: text, draw: n.draw, height: func(width vg.Length) vg.Length { return n.placeVertices(width) + 2*lineHeight }}
}

// networkDrawing is a graph with the places of its vertices.
type networkDrawing struct {
	*topology.Graph
	load      map[string]float64
	positions []vg.Point // from the top left corner, downward
}

// placeVertices determines the positions of vertices in a width, and returns the height. Trees are
// drawn in rows by the distance from the hosts, other graphs on a circle.
func (n *networkDrawing) placeVertices(width vg.Length) (height vg.Length) {
	switch n.Kind {
	case "star", "fattree", "rails":
		return n.placeVerticesInRows(width)
	}
	return n.placeVerticesOnCircle(width)
}

// switchRowHeight is the distance between two rows of switches.
const switchRowHeight = vg.Length(90)

func (n *networkDrawing) placeVerticesInRows(width vg.Length) (height vg.Length) {
	rows := n.distancesFromHosts()
	var counts []int
	for _, row := range rows {
		for len(counts) <= row {
			counts = append(counts, 0)
		}
		counts[row]++
	}
	height = switchRowHeight*vg.Length(len(counts)-1) + 4*pictureMargin
	placed := make([]int, len(counts))
	for v, row := range rows {
		x := (vg.Length(placed[row]) + 0.5) / vg.Length(counts[row])
		n.positions[v] = vg.Point{X: pictureMargin + x*(width-2*pictureMargin), Y: height - 2*pictureMargin - vg.Length(row)*switchRowHeight}
		placed[row]++
	}
	return height
}

// distancesFromHosts returns how many links each vertex is away from the nearest host.
func (n *networkDrawing) distancesFromHosts() []int {
	rows := make([]int, n.Hosts+n.Switches)
	for v := n.Hosts; v < len(rows); v++ {
		rows[v] = math.MaxInt
	}
	for changed := true; changed; {
		changed = false
		for link := range int32(n.Links()) {
			if from, to := n.From(link), n.To(link); rows[from] < math.MaxInt && rows[from]+1 < rows[to] {
				rows[to], changed = rows[from]+1, true
			}
		}
	}
	return rows
}

// maxCircleDiameter is the largest diameter of a circle of hosts.
const maxCircleDiameter = vg.Length(560)

func (n *networkDrawing) placeVerticesOnCircle(width vg.Length) (height vg.Length) {
	size := min(width-4*pictureMargin, maxCircleDiameter)
	around := func(i, count int, radius float64) vg.Point {
		angle := 2 * math.Pi * (float64(i) + 0.5) / float64(count)
		return vg.Point{X: width/2 + size*vg.Length(radius*math.Sin(angle)), Y: 2*pictureMargin + size*vg.Length(0.5-radius*math.Cos(angle))}
	}
	for s := range n.Switches {
		n.positions[n.Hosts+s] = around(s, n.Switches, 0.36)
	}
	order := make([]int, 0, n.Hosts) // of the hosts, by their switches
	if n.Switches == 0 {
		for h := range n.Hosts {
			order = append(order, h)
		}
	} else {
		bySwitch := make([][]int, n.Switches)
		for link := range int32(n.Links()) {
			if from, to := n.From(link), n.To(link); n.IsHost(from) && !n.IsHost(to) {
				bySwitch[int(to)-n.Hosts] = append(bySwitch[int(to)-n.Hosts], int(from))
			}
		}
		for _, hosts := range bySwitch {
			order = append(order, hosts...)
		}
	}
	for i, h := range order {
		n.positions[h] = around(i, n.Hosts, 0.48)
	}
	return size + 4*pictureMargin
}

// loadColor is the colour of a link that was busy for a share of the time.
func loadColor(share float64) Color {
	return timeShades[min(int(share*float64(len(timeShades))), len(timeShades)-1)]
}

func (n *networkDrawing) draw(c draw.Canvas) {
	width := c.Max.X - c.Min.X
	n.placeVertices(width)
	at := func(v int32) vg.Point {
		p := n.positions[v]
		return vg.Point{X: c.Min.X + p.X, Y: c.Max.Y - p.Y}
	}
	for i, name := range n.LinkNames() {
		link := int32(i)
		a, b := at(n.From(link)), at(n.To(link))
		middle := vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}
		style := draw.LineStyle{Color: Gray, Width: 0.75}
		tip := name
		if n.load != nil {
			share := n.load[name]
			style = draw.LineStyle{Color: loadColor(share), Width: vg.Length(1 + 2.5*min(share, 1))}
			tip = fmt.Sprintf("%s: busy for %.3g %% of the time", name, 100*share)
		}
		drawWithTooltip(c, tip, func() { c.StrokeLine2(style, a.X, a.Y, middle.X, middle.Y) })
	}
	for v := range int32(len(n.positions)) {
		p, half, color := at(v), vg.Length(2.2), Black
		if !n.IsHost(v) {
			half, color = 4.5, Orange
		}
		r := vg.Rectangle{Min: vg.Point{X: p.X - half, Y: p.Y - half}, Max: vg.Point{X: p.X + half, Y: p.Y + half}}
		drawWithTooltip(c, n.VertexName(v), func() {
			c.SetColor(color)
			c.Fill(r.Path())
		})
	}
	n.drawLegend(c, c.Min.Y+lineHeight)
}

// drawLegend says what the colours mean.
func (n *networkDrawing) drawLegend(c draw.Canvas, y vg.Length) {
	x := c.Min.X + pictureMargin
	write := func(text string) {
		c.FillText(labelStyle, vg.Point{X: x, Y: y}, text)
		x += labelStyle.Width(text) + pictureMargin
	}
	if n.load == nil {
		write(n.Description)
		return
	}
	write("busy 0 %")
	for _, shade := range timeShades {
		r := vg.Rectangle{Min: vg.Point{X: x, Y: y - 4}, Max: vg.Point{X: x + 16, Y: y + 4}}
		c.SetColor(shade)
		c.Fill(r.Path())
		x += 18
	}
	x += pictureMargin
	write("100 %, " + n.Description)
}
