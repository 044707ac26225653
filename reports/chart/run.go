package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
)

// RunChart returns the view of all ranks of a run: a row for each rank, or for a few, in the colour
// of what it does longest in each part of the time. A page has the calls and messages too, as far
// as they were recorded and are not too many, and shows them when the reader zooms in.
func RunChart(name, title string, r *model.Timeline) *Chart {
	o := r.Overview
	if o.Width == 0 {
		o = model.OverviewOf(r)
	}
	d := newRunDetail(r, o)
	v := &runView{overview: o, ranks: len(r.Ranks), picture: overviewImage(o)}
	if d.until < d.end {
		limit := "as recorded"
		if r.OmittedCount == 0 || d.until < min(r.OmittedFrom, d.end) {
			limit = "as many as a page holds"
		}
		title += fmt.Sprintf(" (colours: the whole run; calls and messages: until %s, %s)", format.MicrosWithUnit(d.until.Micros()), limit)
	}
	return &Chart{Name: name, Title: title, Text: v.caption(), detail: d.json(),
		height: func(width vg.Length) vg.Length { return -v.draw(nil, width, vg.Point{}) },
		draw:   func(c draw.Canvas) { v.draw(&c, c.Max.X-c.Min.X, vg.Point{X: c.Min.X, Y: c.Max.Y}) },
	}
}

// kindColors are the colours of the kinds of activity, which are the same in light and dark: an
// image has no style rules.
var kindColors = [model.NumOverviewKinds]Color{
	model.ComputeKind:  {rgbColor(0x2f9e5b), rgbColor(0x2f9e5b)},
	model.OverheadKind: {rgbColor(0x3f7fd0), rgbColor(0x3f7fd0)},
	model.WaitKind:     {rgbColor(0xe0953a), rgbColor(0xe0953a)},
	model.BlockedKind:  {rgbColor(0xc2417c), rgbColor(0xc2417c)},
}

var kindNames = [model.NumOverviewKinds]string{
	model.ComputeKind: "computes", model.OverheadKind: "works for communication", model.WaitKind: "waits", model.BlockedKind: "held up by the network",
}

// overviewImage returns a picture with a pixel for each row and part of an overview.
func overviewImage(o model.Overview) *image.Paletted {
	colors := color.Palette{color.RGBA{}}
	for _, c := range kindColors {
		colors = append(colors, c.light)
	}
	img := image.NewPaletted(image.Rect(0, 0, max(o.Parts, 1), max(len(o.Rows), 1)), colors)
	for row := range o.Rows {
		for part := range o.Parts {
			if kind, active := o.Kind(row, part); active {
				img.SetColorIndex(part, row, 1+uint8(kind))
			}
		}
	}
	return img
}

// pngBytes returns a picture as a file.
func pngBytes(img image.Image) []byte {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, img); err != nil {
		panic("chart: " + err.Error())
	}
	return b.Bytes()
}

// runView is the picture of an overview.
type runView struct {
	overview model.Overview
	ranks    int
	picture  *image.Paletted
}

// Heights of the picture of an overview.
const (
	minRunViewHeight = vg.Length(60)
	maxRunViewHeight = vg.Length(512)
	maxRankHeight    = vg.Length(18)
)

// draw draws from a point down and returns the height where it ends. Without a canvas it only
// measures.
func (v *runView) draw(c *draw.Canvas, width vg.Length, at vg.Point) vg.Length {
	left := at.X + 2*pictureMargin + labelStyle.Width(strconv.Itoa(v.ranks)) + 4
	d := &timelineCanvas{spanStatistics: &spanStatistics{endTime: max(v.overview.EndTime, 1)}, canvas: c, left: left, width: at.X + width - 2*pictureMargin - left, top: at.Y - lineHeight}
	height := min(max(maxRankHeight*vg.Length(v.ranks), minRunViewHeight), maxRunViewHeight)
	bottom := d.top - height
	if c != nil {
		c.FillText(withAlignment(smallHeadingStyle, draw.XLeft, draw.YCenter), vg.Point{X: at.X + pictureMargin, Y: at.Y - lineHeight/2}, "rank")
		whole := d.width * vg.Length(float64(v.overview.Width)*float64(v.overview.Parts)/float64(d.endTime))
		d.drawZoomable(func() {
			c.DrawImage(vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: left + whole, Y: d.top}}, v.picture)
		})
		drawWithAttributes(*c, fmt.Sprintf(`class="ranks" data-ranks="%d"`, v.ranks), func() { v.drawRankNames(c, left, d.top, height) })
	}
	return v.drawLegend(c, d.drawAxis(bottom-2), width, at.X)
}

// drawRankNames names as many ranks at the left as there is room for.
func (v *runView) drawRankNames(c *draw.Canvas, left, top, height vg.Length) {
	step := max(1, int(tickStep(float64(v.ranks), int(height/lineHeight))))
	for rank := 0; rank < v.ranks; rank += step {
		y := top - height*vg.Length(float64(rank)+0.5)/vg.Length(v.ranks)
		c.FillText(withAlignment(minorTextStyle, draw.XRight, draw.YCenter), vg.Point{X: left - 4, Y: y}, strconv.Itoa(rank))
	}
}

// drawLegend names the colours, and returns where it ends.
func (v *runView) drawLegend(c *draw.Canvas, y, width, left vg.Length) vg.Length {
	x := left + 2*pictureMargin
	for kind, name := range kindNames {
		long := labelStyle.Width(name) + 28
		if x+long > left+width {
			x, y = left+2*pictureMargin, y-lineHeight
		}
		if c != nil {
			c.SetColor(kindColors[kind])
			box := vg.Rectangle{Min: vg.Point{X: x, Y: y - lineHeight/2 - 4}, Max: vg.Point{X: x + 8, Y: y - lineHeight/2 + 4}}
			c.Fill(box.Path())
			c.FillText(labelStyle, vg.Point{X: x + 13, Y: y - lineHeight/2}, name)
		}
		x += long
	}
	return y - lineHeight - pictureMargin
}

// caption says how to read the picture, and what is not in it.
func (v *runView) caption() string {
	row := "a rank"
	if v.overview.Group > 1 {
		row = fmt.Sprintf("%d ranks", v.overview.Group)
	}
	s := fmt.Sprintf("Time runs from left to right. Each row is %s, in the colour of what it does longest in each %s.", row, format.MicrosWithUnit(v.overview.Width.Micros()))
	return s + " Drag over a part to zoom in until calls and messages can be seen; a double click, or the key 0, shows all again."
}

// runDetail is the calls, waits and messages of a run, in the form in which a page has them: rows
// of numbers of base 36, each time as the number of ticks since the end of the last one.
type runDetail struct {
	Tick     float64  `json:"tick"`  // in the unit of the axis
	Names    []string `json:"names"` // of calls
	Calls    []string `json:"calls"` // by rank: name, gap, duration
	Waits    []string `json:"waits"` // by rank: gap, duration
	Messages string   `json:"messages"`
	Until    float64  `json:"until"` // of the axis: what is known

	tick, until, end unit.Time
}

// Bounds of what a page has of a run.
const (
	maxCallBytes    = 900_000
	maxMessageBytes = 900_000
)

func newRunDetail(r *model.Timeline, o model.Overview) *runDetail {
	d := &runDetail{end: max(o.EndTime, 1), tick: unit.Nanosecond, Names: []string{}, Calls: []string{}, Waits: []string{}}
	for d.end/d.tick > 50_000_000 {
		d.tick *= 10
	}
	for d.end/d.tick < 100_000 && d.tick > 1 {
		d.tick /= 10
	}
	d.until = d.end
	if r.OmittedCount > 0 {
		d.until = min(d.until, r.OmittedFrom)
	}
	names := map[string]int{}
	for ; ; d.until = d.until / 2 {
		d.Calls, d.Waits = d.Calls[:0], d.Waits[:0]
		size := 0
		for _, t := range r.Ranks {
			calls, waits := d.encodeRank(t, names)
			d.Calls, d.Waits = append(d.Calls, calls), append(d.Waits, waits)
			if size += len(calls) + len(waits); size > maxCallBytes {
				break
			}
		}
		if d.Messages = d.encodeMessages(r); size <= maxCallBytes && len(d.Messages) <= maxMessageBytes || d.until < d.end>>20 {
			break
		}
	}
	scale, _ := (&timelineCanvas{spanStatistics: &spanStatistics{endTime: d.end}}).axisScale()
	d.Tick, d.Until = scale*float64(d.tick)/float64(d.end), scale*float64(d.until)/float64(d.end)
	return d
}

// encodeRank returns the calls and the waits of a rank.
func (d *runDetail) encodeRank(t model.Track, names map[string]int) (calls, waits string) {
	var b []byte
	last := unit.Time(0)
	for _, c := range t.Calls {
		from, to := c.From/d.tick, c.To/d.tick
		if c.To > d.until {
			break
		}
		if to == from {
			continue
		}
		i, ok := names[c.Name]
		if !ok {
			i = len(d.Names)
			names[c.Name], d.Names = i, append(d.Names, c.Name)
		}
		b = appendNumbers(b, int64(i), int64(from-last), int64(to-from))
		last = to
	}
	calls, b, last = string(b), b[:0], 0
	for _, s := range t.Spans {
		if s.To > d.until {
			break
		}
		from, to := s.From/d.tick, s.To/d.tick
		if k := s.Activity.OverviewKind(); k != model.WaitKind && k != model.BlockedKind || to == from {
			continue
		}
		b = appendNumbers(b, int64(from-last), int64(to-from))
		last = to
	}
	return calls, string(b)
}

// encodeMessages returns the data that was sent from one rank to another: from, to, gap since the
// last one departed, duration, bytes.
func (d *runDetail) encodeMessages(r *model.Timeline) string {
	var b []byte
	last := unit.Time(0)
	for _, f := range r.Flights {
		if f.Bytes == 0 || f.From == f.To || !f.Arrived() || f.Depart < 0 || f.Depart > d.until {
			continue
		}
		at := f.Depart / d.tick
		b = appendNumbers(b, int64(f.From), int64(f.To), int64(at-last), int64(f.Arrive/d.tick-at), int64(f.Bytes))
		last = at
	}
	return string(b)
}

// appendNumbers appends numbers as texts that end with a comma, empty for 0.
func appendNumbers(b []byte, all ...int64) []byte {
	for _, x := range all {
		if x != 0 {
			b = strconv.AppendInt(b, x, 36)
		}
		b = append(b, ',')
	}
	return b
}

func (d *runDetail) json() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic("chart: " + err.Error())
	}
	return string(text)
}
