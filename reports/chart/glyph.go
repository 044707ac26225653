package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The shapes of points, each solid and hollow. Eight can be told apart without colours.
var (
	Solid = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, polygon{corners: diamond},
		polygon{corners: downwardTriangle}, polygon{corners: cross}, polygon{corners: hourglass}, polygon{corners: sidewaysTriangle}}
	Hollow = []draw.GlyphDrawer{ring{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, polygon{diamond, true},
		polygon{downwardTriangle, true}, polygon{cross, true}, polygon{hourglass, true}, polygon{sidewaysTriangle, true}}
)

// ring is a circle that hides what is below.
type ring struct{}

// DrawGlyph draws it.
func (ring) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	p.Move(vg.Point{X: at.X + s.Radius, Y: at.Y})
	p.Arc(at, s.Radius, 0, 2*math.Pi)
	p.Close()
	c.SetColor(paper)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 1.2})
	c.Stroke(p)
}

// polygon is a shape by its corners, for a radius of 1.
type polygon struct {
	corners []vg.Point
	hollow  bool
}

var (
	diamond          = []vg.Point{{X: 1.25}, {Y: 1.25}, {X: -1.25}, {Y: -1.25}}
	downwardTriangle = []vg.Point{{X: -1.2, Y: 0.9}, {X: 1.2, Y: 0.9}, {Y: -1.3}}
	sidewaysTriangle = []vg.Point{{X: -0.9, Y: 1.2}, {X: -0.9, Y: -1.2}, {X: 1.3}}
	hourglass        = []vg.Point{{X: -1.1, Y: 1.2}, {X: 1.1, Y: 1.2}, {X: -1.1, Y: -1.2}, {X: 1.1, Y: -1.2}}
	cross            = []vg.Point{{X: -0.5, Y: 1.4}, {X: 0.5, Y: 1.4}, {X: 0.5, Y: 0.5}, {X: 1.4, Y: 0.5}, {X: 1.4, Y: -0.5}, {X: 0.5, Y: -0.5},
		{X: 0.5, Y: -1.4}, {X: -0.5, Y: -1.4}, {X: -0.5, Y: -0.5}, {X: -1.4, Y: -0.5}, {X: -1.4, Y: 0.5}, {X: -0.5, Y: 0.5}}
)

// DrawGlyph draws it.
func (p polygon) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	for i, q := range p.corners {
		q = at.Add(q.Scale(s.Radius))
		if i == 0 {
			path.Move(q)
		} else {
			path.Line(q)
		}
	}
	path.Close()
	if !p.hollow {
		c.SetColor(s.Color)
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 1.2})
	c.Stroke(path)
}

// drawCircle draws the ring about a point.
func drawCircle(c *draw.Canvas, at vg.Point, line draw.LineStyle) {
	const radius = 7
	var p vg.Path
	p.Move(vg.Point{X: at.X + radius, Y: at.Y})
	p.Arc(at, radius, 0, 2*math.Pi)
	p.Close()
	c.SetLineStyle(line)
	c.Stroke(p)
}
