package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The shapes of points, each solid and hollow. Eight can be told apart without colours.
var (
	SolidGlyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, polygonGlyph{corners: diamond},
		polygonGlyph{corners: downwardTriangle}, polygonGlyph{corners: cross}, polygonGlyph{corners: hourglass}, polygonGlyph{corners: sidewaysTriangle}}
	HollowGlyphs = []draw.GlyphDrawer{ringGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, polygonGlyph{diamond, true},
		polygonGlyph{downwardTriangle, true}, polygonGlyph{cross, true}, polygonGlyph{hourglass, true}, polygonGlyph{sidewaysTriangle, true}}
)

// ringGlyph is a circle filled with the background colour.
type ringGlyph struct{}

// DrawGlyph draws it.
func (ringGlyph) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	p.Move(vg.Point{X: at.X + s.Radius, Y: at.Y})
	p.Arc(at, s.Radius, 0, 2*math.Pi)
	p.Close()
	c.SetColor(backgroundColor)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 1.2})
	c.Stroke(p)
}

// polygonGlyph is a polygon, with its corners for a radius of 1.
type polygonGlyph struct {
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
func (p polygonGlyph) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
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
