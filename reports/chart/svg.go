package chart

import (
	"bytes"
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

// svg is a canvas that writes SVG with colours as attributes, which style rules can exchange. Gonum's own writes them
// where no rule reaches, and repeats the font with every word.
type svg struct {
	width, height vg.Length
	body          bytes.Buffer
	states        []svgState
}

type svgState struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	groups int
}

func newSVG(width, height vg.Length) *svg {
	s := &svg{width: width, height: height, states: []svgState{{}}}
	vg.Initialize(s)
	return s
}

func (s *svg) top() *svgState { return &s.states[len(s.states)-1] }

// Size returns the size of the picture.
func (s *svg) Size() (w, h vg.Length) { return s.width, s.height }

// SetLineWidth sets the width of lines.
func (s *svg) SetLineWidth(w vg.Length) { s.top().width = w }

// SetLineDash sets the dashes of lines. The offset is not used by any chart.
func (s *svg) SetLineDash(dashes []vg.Length, _ vg.Length) { s.top().dashes = dashes }

// SetColor sets the colour.
func (s *svg) SetColor(c color.Color) {
	if c == nil {
		c = Black
	}
	s.top().color = c
}

// Rotate turns what follows.
func (s *svg) Rotate(rad float64) { s.transform("rotate(" + decimal(-rad*180/math.Pi) + ")") }

// Translate moves what follows.
func (s *svg) Translate(p vg.Point) {
	s.transform("translate(" + decimal(p.X.Points()) + " " + decimal(-p.Y.Points()) + ")")
}

// Scale scales what follows.
func (s *svg) Scale(x, y float64) { s.transform("scale(" + decimal(x) + " " + decimal(y) + ")") }

func (s *svg) transform(t string) {
	s.body.WriteString(`<g transform="` + t + `">`)
	s.top().groups++
}

// Push keeps the state.
func (s *svg) Push() {
	state := *s.top()
	state.groups = 0
	s.states = append(s.states, state)
}

// Pop returns to the state kept last.
func (s *svg) Pop() {
	s.body.WriteString(strings.Repeat("</g>", s.top().groups))
	s.states = s.states[:len(s.states)-1]
}

// Stroke draws a line.
func (s *svg) Stroke(p vg.Path) {
	t := s.top()
	if t.width <= 0 {
		return
	}
	fmt.Fprintf(&s.body, `<path fill="none" %s stroke-width="%s"`, paint("stroke", t.color), decimal(t.width.Points()))
	if len(t.dashes) > 0 {
		var d []string
		for _, x := range t.dashes {
			d = append(d, decimal(x.Points()))
		}
		fmt.Fprintf(&s.body, ` stroke-dasharray="%s"`, strings.Join(d, " "))
	}
	fmt.Fprintf(&s.body, " d=\"%s\"/>\n", path(p))
}

// Fill fills an area.
func (s *svg) Fill(p vg.Path) {
	fmt.Fprintf(&s.body, "<path %s d=\"%s\"/>\n", paint("fill", s.top().color), path(p))
}

// FillString writes text.
func (s *svg) FillString(f font.Face, p vg.Point, text string) {
	if f.Font.Size == 0 {
		return
	}
	weight := ""
	if f.Font.Weight > xfont.WeightNormal {
		weight = ` font-weight="bold"`
	}
	// Readers who have none of the fonts get others, which would be too wide without textLength.
	fmt.Fprintf(&s.body, `<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"%s %s>%s</text>`+"\n",
		decimal(p.X.Points()), decimal(-p.Y.Points()), decimal(f.Font.Size.Points()), decimal(f.Width(text).Points()), weight,
		paint("fill", s.top().color), html.EscapeString(text))
}

// DrawImage is used by no chart.
func (s *svg) DrawImage(vg.Rectangle, image.Image) { panic("chart: an image in a chart") }

// WriteTo writes the picture as a file of its own.
func (s *svg) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, s.picture("", `<style>`+DarkRules("")+"</style>\n"))
	return int64(n), err
}

// picture returns the element, with attributes more and something before the drawing.
func (s *svg) picture(attributes, before string) string {
	w, h := decimal(s.width.Points()), decimal(s.height.Points())
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 -%s %s %s" font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif"%s>`,
		w, h, h, w, h, attributes) + "\n" + before + s.body.String() + "</svg>\n"
}

// paint returns the attribute of a colour.
func paint(attribute string, c color.Color) string {
	r := color.NRGBAModel.Convert(c).(color.NRGBA)
	out := fmt.Sprintf(`%s="%s"`, attribute, hex(color.RGBA{r.R, r.G, r.B, 0xff}))
	if r.A != 0xff {
		out += fmt.Sprintf(` %s-opacity="%s"`, attribute, decimal(float64(r.A)/0xff))
	}
	return out
}

// path returns the data of a path. Arcs are whole circles, as in glyphs.
func path(p vg.Path) string {
	var b strings.Builder
	for _, c := range p {
		x, y := c.Pos.X.Points(), -c.Pos.Y.Points()
		switch c.Type {
		case vg.MoveComp:
			fmt.Fprintf(&b, "M%s %s", decimal(x), decimal(y))
		case vg.LineComp:
			fmt.Fprintf(&b, "L%s %s", decimal(x), decimal(y))
		case vg.ArcComp:
			r := c.Radius.Points()
			fmt.Fprintf(&b, "M%s %sa%s %[3]s 0 1 0 %s 0a%[3]s %[3]s 0 1 0 %[5]s 0", decimal(x+r), decimal(y), decimal(r), decimal(-2*r), decimal(2*r))
		case vg.CloseComp:
			b.WriteString("Z")
		default:
			panic("chart: a curve in a chart")
		}
	}
	return b.String()
}

// decimal returns a coordinate with as many places as an eye can see.
func decimal(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}
