package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"

	"github.com/loggp/loggp/reports/format"
)

// spanStatistics counts spans by name, and has the end of the time axis.
type spanStatistics struct {
	endTime     unit.Time
	namesByTime []string             // of what is busy, in the order of time
	timeByName  map[string]unit.Time // by name
	countByName map[string]int       // likewise
}

// processorLaneHeight is the height of the lane of a rank's processor.
const processorLaneHeight = vg.Length(22)

// maxNamedArrows is how many arrows can still be told apart.
const maxNamedArrows = 16

// timelineCanvas is a diagram under way.
type timelineCanvas struct {
	*spanStatistics
	canvas      *draw.Canvas // nil: nothing is drawn, only the size is computed
	left, width vg.Length    // of the time axis
	top         vg.Length    // of all lanes
	labels      []vg.Rectangle
}

func (d *timelineCanvas) timePosition(t unit.Time) vg.Length {
	return d.left + d.width*vg.Length(float64(t)/float64(d.endTime))
}

// drawText writes, and keeps the place for others not to write there.
func (d *timelineCanvas) drawText(s draw.TextStyle, p vg.Point, text string) {
	if d.canvas != nil {
		d.canvas.FillText(s, p, text)
		r := s.Rectangle(text).Add(p)
		d.labels = append(d.labels, r)
	}
}

// drawSpans draws what a side does. y is its lower edge.
func (d *timelineCanvas) drawSpans(spans []model.Span, y vg.Length) {
	if d.canvas == nil {
		return
	}
	middle := y + processorLaneHeight/2
	d.canvas.StrokeLine2(draw.LineStyle{Color: gridColor, Width: 1}, d.left, middle, d.left+d.width, middle)
	for _, w := range spans {
		if w.Activity != model.WaitActivity {
			continue
		}
		drawWithTooltip(*d.canvas, timeRangeText("waits for "+w.Name, w.From, w.To), func() {
			d.canvas.StrokeLine2(draw.LineStyle{Color: Gray, Width: 1.2, Dashes: []vg.Length{3, 3}}, d.timePosition(w.From), middle, d.timePosition(w.To), middle)
		})
		if text := "waits for " + w.Name; labelStyle.Width(text)+8 < d.timePosition(w.To)-d.timePosition(w.From) {
			d.drawTextOnBackground(withAlignment(minorTextStyle, draw.XCenter, draw.YCenter), vg.Point{X: (d.timePosition(w.From) + d.timePosition(w.To)) / 2, Y: middle}, text)
		}
	}
	for _, b := range spans {
		if b.Activity == model.WaitActivity {
			continue
		}
		r := vg.Rectangle{Min: vg.Point{X: d.timePosition(b.From), Y: y}, Max: vg.Point{X: d.timePosition(b.To), Y: y + processorLaneHeight}}
		name := b.Name
		if b.Count > 1 {
			name = fmt.Sprintf("%d steps, the longest %s", b.Count, name)
		}
		drawWithTooltip(*d.canvas, timeRangeText(name, b.From, b.To), func() {
			d.canvas.SetColor(activityColor(b.Name))
			d.canvas.Fill(r.Path())
			if r.Size().X > 4 {
				d.canvas.SetLineStyle(draw.LineStyle{Color: backgroundColor, Width: 0.75})
				d.canvas.Stroke(r.Path())
			}
		})
		n := strconv.Itoa(slices.Index(d.namesByTime, b.Name) + 1)
		inside := labelStyle
		inside.Color = backgroundColor
		for _, text := range []string{n + " " + shortName(b.Name), n} {
			if inside.Width(text)+3 < r.Size().X {
				d.drawText(withAlignment(inside, draw.XCenter, draw.YCenter), vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: middle}, text)
				break
			}
		}
	}
}

// timeRangeText says from when to when something takes place.
func timeRangeText(what string, from, to unit.Time) string {
	return format.SingleLine(fmt.Sprintf("%s: %s to %s, %s", what, format.MicrosWithUnit(from.Micros()), format.MicrosWithUnit(to.Micros()), format.MicrosWithUnit((to - from).Micros())))
}

// drawTextOnBackground draws a text on a filled rectangle.
func (d *timelineCanvas) drawTextOnBackground(s draw.TextStyle, p vg.Point, text string) {
	r := s.Rectangle(text).Add(p)
	r.Min.X, r.Max.X = r.Min.X-2, r.Max.X+2
	drawAnchored(*d.canvas, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: p.Y}, func() {
		d.canvas.SetColor(backgroundColor)
		d.canvas.Fill(r.Path())
	})
	d.drawText(s, p, text)
}

// drawArrowName writes the name of an arrow on it where there is room. It must be written if
// nothing says otherwise.
func (d *timelineCanvas) drawArrowName(text string, from, to vg.Point, must bool) {
	places := []vg.Length{0.5, 0.35, 0.65, 0.22, 0.78}
	for i, t := range append(places, 0.5) {
		p := vg.Point{X: from.X + t*(to.X-from.X), Y: from.Y + t*(to.Y-from.Y)}
		half := labelStyle.Width(text)/2 + 2
		p.X = min(max(p.X, d.left+half-pictureMargin), d.left+d.width-half+pictureMargin)
		s := withAlignment(labelStyle, draw.XCenter, draw.YCenter)
		r := s.Rectangle(text).Add(p)
		r.Min.X, r.Max.X = r.Min.X-3, r.Max.X+3
		free := !slices.ContainsFunc(d.labels, func(o vg.Rectangle) bool {
			return r.Min.X < o.Max.X && o.Min.X < r.Max.X && r.Min.Y < o.Max.Y && o.Min.Y < r.Max.Y
		})
		if free || must && i == len(places) {
			d.drawTextOnBackground(s, p, text)
			return
		}
	}
}

// drawArrowHead draws the head of an arrow.
func (d *timelineCanvas) drawArrowHead(i Color, from, to vg.Point) {
	angle := math.Atan2(float64(to.Y-from.Y), float64(to.X-from.X))
	corner := func(a float64) vg.Point {
		s, c := math.Sincos(angle + a)
		return vg.Point{X: to.X - vg.Length(7*c), Y: to.Y - vg.Length(7*s)}
	}
	drawAnchored(*d.canvas, to, func() { d.canvas.FillPolygon(i, []vg.Point{to, corner(0.35), corner(-0.35)}) })
}

// arrowStyle returns the colour and the line of a message: one that no processor sends is thin.
func arrowStyle(a model.Flight) (Color, draw.LineStyle) {
	switch {
	case a.IsRemoteAccess && a.Bytes == 0:
		return Gray, draw.LineStyle{Color: Gray, Width: 0.8, Dashes: []vg.Length{2, 2}}
	case a.IsRemoteAccess:
		return Violet, draw.LineStyle{Color: Violet, Width: 1.4}
	}
	return Black, draw.LineStyle{Color: Black, Width: 1.4}
}

// activityColor returns the colour of what is busy: software, copies, the program itself, or the
// way into and out of the network.
func activityColor(name string) Color {
	switch {
	case strings.HasPrefix(name, "software."):
		return Blue
	case strings.HasPrefix(name, "processor."):
		return Green
	case name == "computes":
		return Teal
	case strings.HasPrefix(name, "interrupt"):
		return Violet
	case strings.HasPrefix(name, "held up"):
		return Gray
	}
	return Orange
}

// shortName returns a name without the part of the file that it is from.
func shortName(name string) string {
	_, s, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	return s
}

// drawAxis draws the axis of time and returns where it ends.
func (d *timelineCanvas) drawAxis(y vg.Length) vg.Length {
	if d.canvas != nil {
		room := vg.Rectangle{Min: vg.Point{X: d.left, Y: y}, Max: vg.Point{X: d.left + d.width, Y: d.top}}
		end, unit := d.axisScale()
		drawWithAttributes(*d.canvas, axisAttributes(room, axisScaleInfo{0, end, "linear", 0}, axisScaleInfo{0, 0, "none", 0}), func() { d.drawTicks(y) })
		d.canvas.FillText(withAlignment(axisNameStyle, draw.XCenter, draw.YTop), vg.Point{X: d.left + d.width/2, Y: y - 5 - lineHeight}, "time ("+unit+")")
	}
	return y - 2*lineHeight - 8
}

// axisScale returns where the axis ends, and the unit in which its numbers are short.
func (d *timelineCanvas) axisScale() (end float64, unit string) {
	switch end := d.endTime.Micros(); {
	case end >= 1e7:
		return end / 1e6, "s"
	case end >= 1e4:
		return end / 1e3, "ms"
	default:
		return end, "us"
	}
}

// drawTicks draws the line of the axis and what stands at it.
func (d *timelineCanvas) drawTicks(y vg.Length) {
	line := draw.LineStyle{Color: Gray, Width: 0.75}
	d.canvas.StrokeLine2(line, d.left, y, d.left+d.width, y)
	end, _ := d.axisScale()
	for _, t := range linearTicks(end, tickStep(end, 1+int(max(3, d.width/80)))) {
		x := d.left + d.width*vg.Length(min(t.Value/end, 1))
		d.canvas.StrokeLine2(line, x, y, x, y-4)
		d.canvas.FillText(minorTextStyle, vg.Point{X: x, Y: y - 5}, t.Label)
	}
}

// drawBusyList names what is busy, in columns, and returns where it ends.
func (d *timelineCanvas) drawBusyList(y, width, left vg.Length) vg.Length {
	var lines []string
	widest := vg.Length(0)
	for i, n := range d.namesByTime {
		s := fmt.Sprintf("%d %s", i+1, n)
		if d.countByName[n] > 1 {
			s += fmt.Sprintf(" ×%d", d.countByName[n])
		}
		s += " " + format.SingleLine(format.MicrosWithUnit(d.timeByName[n].Micros()))
		lines = append(lines, s)
		widest = max(widest, labelStyle.Width(s)+24)
	}
	columns := max(1, int((width-2*pictureMargin)/widest))
	rows := (len(lines) + columns - 1) / columns
	if d.canvas != nil {
		for i, s := range lines {
			p := vg.Point{X: left + 2*pictureMargin + vg.Length(i/rows)*widest, Y: y - vg.Length(i%rows)*lineHeight - lineHeight/2}
			d.canvas.SetColor(activityColor(d.namesByTime[i]))
			box := vg.Rectangle{Min: vg.Point{X: p.X, Y: p.Y - 4}, Max: vg.Point{X: p.X + 8, Y: p.Y + 4}}
			d.canvas.Fill(box.Path())
			d.canvas.FillText(labelStyle, vg.Point{X: p.X + 13, Y: p.Y}, s)
		}
	}
	return y - vg.Length(rows)*lineHeight - pictureMargin
}
