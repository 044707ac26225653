package chart

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a canvas that writes SVG with colours as attributes, which style rules can exchange.
// Gonum's own writes them where no rule reaches, and repeats the font with every word.
type svgCanvas struct {
	width, height vg.Length
	body          bytes.Buffer
	states        []svgState
	anchor        *vg.Point // what is drawn keeps its form when this point moves
	isMerging     bool      // shapes with equal attributes become one element
	mergedShapes  []mergedShapes
}

// mergedShapes is shapes that are drawn alike.
type mergedShapes struct {
	attributes string
	data       []byte
}

type svgState struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	groups int
}

func newSVG(width, height vg.Length) *svgCanvas {
	s := &svgCanvas{width: width, height: height, states: []svgState{{}}}
	vg.Initialize(s)
	return s
}

func (s *svgCanvas) state() *svgState { return &s.states[len(s.states)-1] }

// Size returns the size of the picture.
func (s *svgCanvas) Size() (w, h vg.Length) { return s.width, s.height }

// SetLineWidth sets the width of lines.
func (s *svgCanvas) SetLineWidth(w vg.Length) { s.state().width = w }

// SetLineDash sets the dashes of lines. The offset is not used by any chart.
func (s *svgCanvas) SetLineDash(dashes []vg.Length, _ vg.Length) { s.state().dashes = dashes }

// SetColor sets the colour.
func (s *svgCanvas) SetColor(c color.Color) {
	if c == nil {
		c = Black
	}
	s.state().color = c
}

// Rotate turns what follows.
func (s *svgCanvas) Rotate(rad float64) {
	s.addTransform("rotate(" + formatCoordinate(-rad*180/math.Pi) + ")")
}

// Translate moves what follows.
func (s *svgCanvas) Translate(p vg.Point) {
	s.addTransform("translate(" + formatCoordinate(p.X.Points()) + " " + formatCoordinate(-p.Y.Points()) + ")")
}

// Scale scales what follows.
func (s *svgCanvas) Scale(x, y float64) {
	s.addTransform("scale(" + formatCoordinate(x) + " " + formatCoordinate(y) + ")")
}

func (s *svgCanvas) addTransform(t string) {
	s.body.WriteString(`<g transform="` + t + `">`)
	s.state().groups++
}

// Push keeps the state.
func (s *svgCanvas) Push() {
	state := *s.state()
	state.groups = 0
	s.states = append(s.states, state)
}

// Pop returns to the state kept last.
func (s *svgCanvas) Pop() {
	s.body.WriteString(strings.Repeat("</g>", s.state().groups))
	s.states = s.states[:len(s.states)-1]
}

// Stroke draws a line.
func (s *svgCanvas) Stroke(p vg.Path) {
	t := s.state()
	if t.width <= 0 {
		return
	}
	attributes := fmt.Sprintf(`fill="none" %s stroke-width="%s"`, colorAttribute("stroke", t.color), formatCoordinate(t.width.Points()))
	if len(t.dashes) > 0 {
		var d []string
		for _, x := range t.dashes {
			d = append(d, formatCoordinate(x.Points()))
		}
		attributes += ` stroke-dasharray="` + strings.Join(d, " ") + `"`
	}
	s.addPath(attributes, p)
}

// Fill fills an area.
func (s *svgCanvas) Fill(p vg.Path) {
	s.addPath(colorAttribute("fill", s.state().color), p)
}

// addPath adds a path, to those that are drawn alike if shapes are merged.
func (s *svgCanvas) addPath(attributes string, p vg.Path) {
	data := pathData(p, s.anchor)
	if !s.isMerging {
		s.body.WriteString("<path " + attributes + ` d="` + data + "\"/>\n")
		return
	}
	for i := range s.mergedShapes {
		if s.mergedShapes[i].attributes == attributes {
			s.mergedShapes[i].data = append(s.mergedShapes[i].data, data...)
			return
		}
	}
	s.mergedShapes = append(s.mergedShapes, mergedShapes{attributes, []byte(data)})
}

// FillString writes text.
func (s *svgCanvas) FillString(f font.Face, p vg.Point, text string) {
	if f.Font.Size == 0 {
		return
	}
	weight := ""
	if f.Font.Weight > xfont.WeightNormal {
		weight = ` font-weight="bold"`
	}
	// Readers who have none of the fonts get others, which would be too wide without textLength.
	fmt.Fprintf(&s.body, `<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"%s %s>%s</text>`+"\n",
		formatCoordinate(p.X.Points()), formatCoordinate(-p.Y.Points()), formatCoordinate(f.Font.Size.Points()), formatCoordinate(f.Width(text).Points()), weight,
		colorAttribute("fill", s.state().color), html.EscapeString(text))
}

// DrawImage draws a picture of pixels, which are stretched and keep their edges.
func (s *svgCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	fmt.Fprintf(&s.body, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`+"\n",
		formatCoordinate(r.Min.X.Points()), formatCoordinate(-r.Max.Y.Points()), formatCoordinate(r.Size().X.Points()), formatCoordinate(r.Size().Y.Points()),
		base64.StdEncoding.EncodeToString(pngBytes(img)))
}

// WriteTo writes the picture as a file of its own.
func (s *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, s.svgElement("", `<style>`+DarkStyleRules("")+"</style>\n"))
	return int64(n), err
}

// svgElement returns the element, with attributes more and something before the drawing.
func (s *svgCanvas) svgElement(attributes, before string) string {
	w, h := formatCoordinate(s.width.Points()), formatCoordinate(s.height.Points())
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 -%s %s %s" font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif"%s>`,
		w, h, h, w, h, attributes) + "\n" + before + s.body.String() + "</svg>\n"
}

// colorAttribute returns the attribute of a colour.
func colorAttribute(attribute string, c color.Color) string {
	r := color.NRGBAModel.Convert(c).(color.NRGBA)
	out := fmt.Sprintf(`%s="%s"`, attribute, hexColor(color.RGBA{r.R, r.G, r.B, 0xff}))
	if r.A != 0xff {
		out += fmt.Sprintf(` %s-opacity="%s"`, attribute, formatCoordinate(float64(r.A)/0xff))
	}
	return out
}

// pathData returns the data of a path. Arcs are whole circles, as in glyphs. With an anchor all but
// the anchor is relative to it.
func pathData(p vg.Path, anchor *vg.Point) string {
	var b []byte
	var from, begin vg.Point // where the pen is, and where the part began, for relative steps
	if anchor != nil {
		from = *anchor
		b = fmt.Appendf(b, "M%s %s", formatCoordinate(from.X.Points()), formatCoordinate(-from.Y.Points()))
	}
	to := func(absolute, relative string, at vg.Point) {
		x, y := at.X.Points(), -at.Y.Points()
		if anchor != nil {
			x, y, absolute = x-from.X.Points(), y+from.Y.Points(), relative
		}
		b = append(b, absolute...)
		b = append(b, formatCoordinate(x)...)
		b = append(b, ' ')
		b = append(b, formatCoordinate(y)...)
		from = at
	}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			to("M", "m", c.Pos)
			begin = c.Pos
		case vg.LineComp:
			to("L", "l", c.Pos)
		case vg.ArcComp:
			if edge := (vg.Point{X: c.Pos.X + c.Radius, Y: c.Pos.Y}); edge != from || anchor == nil {
				to("M", "m", edge)
			}
			r := c.Radius.Points()
			b = fmt.Appendf(b, "a%s %[1]s 0 1 0 %s 0a%[1]s %[1]s 0 1 0 %[3]s 0", formatCoordinate(r), formatCoordinate(-2*r), formatCoordinate(2*r))
		case vg.CloseComp:
			b = append(b, 'Z')
			from = begin
		default:
			panic("chart: a curve in a chart")
		}
	}
	return string(b)
}

// formatCoordinate returns a coordinate with as many places as an eye can see.
func formatCoordinate(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}
