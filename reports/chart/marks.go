package chart

import (
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An SVG picture says what its parts are, so that the script of a page (reports/render/page.js) can
// show values, hide series and change axes. The marks are attributes of groups:
//
//	data-x, data-y   the axes of a plot: from, to, log or linear, the place of empty messages;
//	                 data-room has the plot's edges
//	data-series      what is drawn of a series, and its entry in the legend
//	data-optional    of an entry: its series is hidden until the reader switches it on
//	data-kind        the kind of a series, which may have an entry in the legend too
//	class zoom       what moves when a time line is zoomed
//	class lanes      what follows the horizontal axis of the first plot, and keeps its height
//	data-tip         what a part is, in words
//
// On other canvases they draw the same without marks.

// drawWithAttributes draws in a group with attributes.
func drawWithAttributes(c draw.Canvas, attributes string, draw func()) {
	s := svgOf(c)
	if s == nil {
		draw()
		return
	}
	s.body.WriteString("<g " + attributes + ">")
	draw()
	s.body.WriteString("</g>\n")
}

// svgOf returns the SVG picture that a canvas is part of, or nil.
func svgOf(c draw.Canvas) *svgCanvas {
	for in := c.Canvas; ; {
		switch x := in.(type) {
		case draw.Canvas:
			in = x.Canvas
		case *svgCanvas:
			return x
		default:
			return nil
		}
	}
}

// attributeText returns an attribute with a text as its value.
func attributeText(name, text string) string { return name + `="` + html.EscapeString(text) + `"` }

// drawWithTooltip draws a part that has a description.
func drawWithTooltip(c draw.Canvas, text string, draw func()) {
	drawWithAttributes(c, attributeText("data-tip", text), draw)
}

// drawMerged draws the shapes of each colour as one element: many points make a small picture.
func drawMerged(c draw.Canvas, draw func()) {
	s := svgOf(c)
	if s == nil {
		draw()
		return
	}
	s.isMerging = true
	draw()
	s.isMerging = false
	for _, m := range s.mergedShapes {
		fmt.Fprintf(&s.body, "<path %s d=\"%s\"/>\n", m.attributes, m.data)
	}
	s.mergedShapes = s.mergedShapes[:0]
}

// drawAnchored draws a shape that keeps its form when the point that it stands at moves.
func drawAnchored(c draw.Canvas, at vg.Point, draw func()) {
	s := svgOf(c)
	if s == nil {
		draw()
		return
	}
	s.anchor = &at
	draw()
	s.anchor = nil
}

// axisAttributes returns the attributes of the axes in a part of a picture. kind is log or linear.
func axisAttributes(room vg.Rectangle, x, y axisScaleInfo) string {
	edges := []string{formatCoordinate(room.Min.X.Points()), formatCoordinate(room.Max.X.Points()), formatCoordinate(-room.Max.Y.Points()), formatCoordinate(-room.Min.Y.Points())}
	return `class="axes" data-room="` + strings.Join(edges, " ") + `" data-x="` + x.String() + `" data-y="` + y.String() + `"`
}

// axisScaleInfo has the scale of an axis, for the script of the page.
type axisScaleInfo struct {
	from, to float64
	kind     string
	zero     float64 // where values of 0 stand on a logarithmic axis; 0: nowhere
}

func (m axisScaleInfo) String() string {
	return strings.Join([]string{formatNumber(m.from), formatNumber(m.to), m.kind, formatNumber(m.zero)}, " ")
}

// formatNumber returns a value with the digits that a reader is shown.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

// plotValues is what a script shows of the points of a plot.
type plotValues struct {
	X      string         `json:"x"`
	Y      string         `json:"y"`
	Series []seriesValues `json:"series"`
}

type seriesValues struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind,omitempty"`
	Points [][]any `json:"points"` // x, y, both ends of the interval if there is one, and the size that it is of unless that is x
}

// plotValues returns the points of a chart's series, each name once for each kind of points.
func (x SizePlot) plotValues() plotValues {
	p := plotValues{X: x.XLabel, Y: x.YLabel, Series: []seriesValues{}}
	at := map[[2]string]int{}
	for _, s := range x.Series {
		if s.Name == "" || len(s.Points) == 0 {
			continue
		}
		key := [2]string{s.Name, s.Kind}
		i, ok := at[key]
		if !ok {
			i = len(p.Series)
			at[key] = i
			p.Series = append(p.Series, seriesValues{Name: s.Name, Kind: s.Kind})
		}
		for _, q := range s.Points {
			v := []any{json.Number(formatNumber(q.X)), json.Number(formatNumber(q.Y))}
			if q.Low < q.High {
				v = append(v, json.Number(formatNumber(q.Low)), json.Number(formatNumber(q.High)))
			}
			if q.Bytes > 0 {
				v = append(v, []any{nil, nil}[len(v)-2:]...)
				v = append(v, json.Number(formatNumber(q.Bytes)))
			}
			p.Series[i].Points = append(p.Series[i].Points, v)
		}
	}
	return p
}

// DetailJSON returns what a page shows of a run when the reader zooms in, as JSON, or "".
func (c *Chart) DetailJSON() string { return c.detail }

// ValuesJSON returns the points of the chart's plots as JSON, from above, or "" if it has none.
func (c *Chart) ValuesJSON() string {
	if c.plots == nil {
		return ""
	}
	text, err := json.Marshal(c.plots)
	if err != nil {
		panic("chart: " + err.Error())
	}
	return string(text)
}
