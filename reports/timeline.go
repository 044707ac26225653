package reports

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
)

// Timeline returns the chart of a transfer in time: what both sides do, when they wait, and the messages between them, as in
// figures 3 to 5 of Al-Tawil and Moritz. name becomes part of its files' names, title stands above it.
func Timeline(name, title string, d model.Diagram) *Chart {
	l := newTimeline(d)
	return &Chart{Name: fileName("timeline", name), Title: title,
		Text:   "Time runs from left to right. Boxes are what keeps a processor busy, with their numbers in the list; dashed lines are waits; arrows go from the departure of a message's first byte to the arrival of its last.",
		height: func(width vg.Length) vg.Length { return -l.draw(nil, width, vg.Point{}) },
		draw:   func(c draw.Canvas) { l.draw(&c, c.Max.X-c.Min.X, vg.Point{X: c.Min.X, Y: c.Max.Y}) },
	}
}

// timeline is a diagram with the numbers of what is busy in it.
type timeline struct {
	model.Diagram
	end   unit.Time
	names []string             // of what is busy, in the order of time
	total map[string]unit.Time // by name
	count map[string]int       // likewise
}

func newTimeline(d model.Diagram) *timeline {
	l := &timeline{Diagram: d, end: max(d.Sender.End, d.Receiver.End, 1), total: map[string]unit.Time{}, count: map[string]int{}}
	busy := slices.Concat(d.Sender.Busy, d.Receiver.Busy)
	slices.SortStableFunc(busy, func(a, b model.Interval) int { return int(min(max(a.From-b.From, -1), 1)) })
	for _, b := range busy {
		if l.count[b.Name] == 0 {
			l.names = append(l.names, b.Name)
		}
		l.count[b.Name]++
		l.total[b.Name] += b.To - b.From
	}
	for _, a := range d.Arrows {
		l.end = max(l.end, a.Arrive)
	}
	return l
}

// Heights of the parts of a diagram.
const (
	laneHeight = vg.Length(22)
	flight     = vg.Length(92) // between the lanes
)

// crowd is how many arrows can still be told apart.
const crowd = 16

// drawing is a diagram under way.
type drawing struct {
	*timeline
	c           *draw.Canvas // nil: only measure
	left, width vg.Length    // of the time axis
	labels      []vg.Rectangle
}

// draw draws from a point down and returns the height where it ends. Without a canvas it only measures.
func (l *timeline) draw(c *draw.Canvas, width vg.Length, at vg.Point) vg.Length {
	d := &drawing{timeline: l, c: c, left: at.X + 2*margin, width: width - 4*margin}
	y := at.Y - lineHeight/2 - 2
	d.mark(y, "T_s", l.Sender.Call, "sender")
	sender := y - lineHeight/2 - 5 - laneHeight
	d.lane(l.Sender, sender)
	receiver := sender - flight - laneHeight
	d.lane(l.Receiver, receiver)
	d.ends(l.Sender.Call, sender+laneHeight, 5)
	d.ends(l.Receiver.End, receiver, -5)
	d.arrows(sender, receiver+laneHeight)
	y = receiver - lineHeight/2 - 7
	d.mark(y, "T_s-r", l.Receiver.End, "receiver")
	y -= lineHeight
	y = d.axis(y)
	return d.list(y, width, at.X)
}

func (d *drawing) x(t unit.Time) vg.Length {
	return d.left + d.width*vg.Length(float64(t)/float64(d.end))
}

// text writes, and keeps the place for others not to write there.
func (d *drawing) text(s draw.TextStyle, p vg.Point, text string) {
	if d.c != nil {
		d.c.FillText(s, p, text)
		r := s.Rectangle(text).Add(p)
		d.labels = append(d.labels, r)
	}
}

// mark names a lane at the left, and says at the right when its side is done: at the time's own place if there is room.
func (d *drawing) mark(y vg.Length, symbol string, t unit.Time, lane string) {
	if d.c == nil {
		return
	}
	d.text(aligned(heading11, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y}, lane)
	text := fmt.Sprintf("%s = %s us", symbol, number(t.Micros()))
	half := label.Width(text) / 2
	x := max(d.x(t), d.left+heading11.Width(lane)+10+half)
	x = min(x, d.left+d.width-half+margin)
	d.text(aligned(label, draw.XCenter, draw.YCenter), vg.Point{X: x, Y: y}, text)
}

// ends puts a short thick line where a side is done.
func (d *drawing) ends(t unit.Time, y, by vg.Length) {
	if d.c != nil {
		d.c.StrokeLine2(draw.LineStyle{Color: black, Width: 2}, d.x(t), y-by*0.2, d.x(t), y+by)
	}
}

// lane draws what a side does. y is its lower edge.
func (d *drawing) lane(l model.Lane, y vg.Length) {
	if d.c == nil {
		return
	}
	middle := y + laneHeight/2
	d.c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1}, d.left, middle, d.left+d.width, middle)
	for _, w := range l.Waits {
		d.c.StrokeLine2(draw.LineStyle{Color: gray, Width: 1.2, Dashes: []vg.Length{3, 3}}, d.x(w.From), middle, d.x(w.To), middle)
		if text := "waits for " + w.Name; label.Width(text)+8 < d.x(w.To)-d.x(w.From) {
			d.over(aligned(minor, draw.XCenter, draw.YCenter), vg.Point{X: (d.x(w.From) + d.x(w.To)) / 2, Y: middle}, text)
		}
	}
	for _, b := range l.Busy {
		r := vg.Rectangle{Min: vg.Point{X: d.x(b.From), Y: y}, Max: vg.Point{X: d.x(b.To), Y: y + laneHeight}}
		i := kindOf(b.Name)
		d.c.SetColor(i)
		d.c.Fill(r.Path())
		if r.Size().X > 4 {
			d.c.SetLineStyle(draw.LineStyle{Color: paper, Width: 0.75})
			d.c.Stroke(r.Path())
		}
		n := strconv.Itoa(slices.Index(d.names, b.Name) + 1)
		inside := label
		inside.Color = paper
		for _, text := range []string{n + " " + short(b.Name), n} {
			if inside.Width(text)+3 < r.Size().X {
				d.text(aligned(inside, draw.XCenter, draw.YCenter), vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: middle}, text)
				break
			}
		}
	}
}

// over writes on a ground of its own.
func (d *drawing) over(s draw.TextStyle, p vg.Point, text string) {
	r := s.Rectangle(text).Add(p)
	r.Min.X, r.Max.X = r.Min.X-2, r.Max.X+2
	d.c.SetColor(paper)
	d.c.Fill(r.Path())
	d.text(s, p, text)
}

// arrows draws the messages between the lower edge of the upper lane and the upper edge of the lower one.
func (d *drawing) arrows(top, bottom vg.Length) {
	if d.c == nil {
		return
	}
	type named struct {
		from, to vg.Point
	}
	var names []string
	byName := map[string][]named{}
	dense := len(d.Arrows) > crowd
	for _, a := range d.Arrows {
		from, to := vg.Point{X: d.x(a.Depart), Y: top}, vg.Point{X: d.x(a.Arrive), Y: bottom}
		if a.From == model.Receiver {
			from.Y, to.Y = bottom, top
		}
		name := d.arrowName(a)
		i, s := kindOfArrow(a)
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], named{from, to})
		if dense && a.Hardware {
			s.Width /= 2
		}
		d.c.StrokeLines(s, []vg.Point{from, to})
		if !dense || !a.Hardware {
			d.head(i, from, to)
		}
	}
	for _, name := range names {
		all := byName[name]
		if n := len(all); n > crowd/2 {
			middle := all[n/2]
			d.name(fmt.Sprintf("%s ×%d", name, n), middle.from, middle.to, true)
			continue
		}
		for i, n := range all {
			d.name(name, n.from, n.to, i == 0)
		}
	}
}

// name writes the name of an arrow on it where there is room. It must be written if nothing says otherwise.
func (d *drawing) name(text string, from, to vg.Point, must bool) {
	places := []vg.Length{0.5, 0.35, 0.65, 0.22, 0.78}
	for i, t := range append(places, 0.5) {
		p := vg.Point{X: from.X + t*(to.X-from.X), Y: from.Y + t*(to.Y-from.Y)}
		half := label.Width(text)/2 + 2
		p.X = min(max(p.X, d.left+half-margin), d.left+d.width-half+margin)
		s := aligned(label, draw.XCenter, draw.YCenter)
		r := s.Rectangle(text).Add(p)
		r.Min.X, r.Max.X = r.Min.X-3, r.Max.X+3
		free := !slices.ContainsFunc(d.labels, func(o vg.Rectangle) bool {
			return r.Min.X < o.Max.X && o.Min.X < r.Max.X && r.Min.Y < o.Max.Y && o.Min.Y < r.Max.Y
		})
		if free || must && i == len(places) {
			d.over(s, p, text)
			return
		}
	}
}

// head draws the head of an arrow.
func (d *drawing) head(i ink, from, to vg.Point) {
	angle := math.Atan2(float64(to.Y-from.Y), float64(to.X-from.X))
	corner := func(a float64) vg.Point {
		s, c := math.Sincos(angle + a)
		return vg.Point{X: to.X - vg.Length(7*c), Y: to.Y - vg.Length(7*s)}
	}
	d.c.FillPolygon(i, []vg.Point{to, corner(0.35), corner(-0.35)})
}

// kindOfArrow returns how a message looks: what no processor sends is thin.
func kindOfArrow(a model.Arrow) (ink, draw.LineStyle) {
	switch {
	case a.Hardware && a.Bytes == 0:
		return gray, draw.LineStyle{Color: gray, Width: 0.8, Dashes: []vg.Length{2, 2}}
	case a.Hardware:
		return violet, draw.LineStyle{Color: violet, Width: 1.4}
	}
	return black, draw.LineStyle{Color: black, Width: 1.4}
}

// arrowName names a message. What a remote access sends beside the data asks for it, or confirms it.
func (d *drawing) arrowName(a model.Arrow) string {
	if !a.Hardware || a.Bytes > 0 {
		return string(a.Step)
	}
	for _, s := range d.Protocol.Steps {
		if s.Kind == a.Step && s.By == model.ByGet {
			return "get"
		}
	}
	return "done"
}

// kindOf returns the ink of what is busy: software, copies, the program itself, or the way into and out of the network.
func kindOf(name string) ink {
	switch {
	case strings.HasPrefix(name, "software."):
		return blue
	case strings.HasPrefix(name, "processor."):
		return green
	case name == "computes":
		return teal
	case strings.HasPrefix(name, "interrupt"):
		return violet
	case strings.HasPrefix(name, "held up"):
		return gray
	}
	return orange
}

// short returns a name without the part of the file that it is from.
func short(name string) string {
	_, s, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	return s
}

// axis draws the axis of time and returns where it ends.
func (d *drawing) axis(y vg.Length) vg.Length {
	if d.c != nil {
		line := draw.LineStyle{Color: gray, Width: 0.75}
		d.c.StrokeLine2(line, d.left, y, d.left+d.width, y)
		step := round(d.end.Micros() / float64(max(3, d.width/80)))
		for i := 0; ; i++ {
			t := unit.FromMicros(float64(i) * step)
			if t > d.end {
				break
			}
			d.c.StrokeLine2(line, d.x(t), y, d.x(t), y-4)
			d.c.FillText(minor, vg.Point{X: d.x(t), Y: y - 5}, strconv.FormatFloat(float64(i)*step, 'f', max(-magnitude(step), 0), 64))
		}
		d.c.FillText(aligned(axisName, draw.XCenter, draw.YTop), vg.Point{X: d.left + d.width/2, Y: y - 5 - lineHeight}, "time (us)")
	}
	return y - 2*lineHeight - 8
}

// round returns the next of 1, 2 and 5 times a power of ten.
func round(x float64) float64 {
	base := math.Pow10(magnitude(x))
	for _, f := range []float64{1, 2, 5} {
		if base*f >= x*(1-1e-9) {
			return base * f
		}
	}
	return base * 10
}

// list names what is busy, in columns, and returns where it ends.
func (d *drawing) list(y, width, left vg.Length) vg.Length {
	var lines []string
	widest := vg.Length(0)
	for i, n := range d.names {
		s := fmt.Sprintf("%d %s", i+1, n)
		if d.count[n] > 1 {
			s += fmt.Sprintf(" ×%d", d.count[n])
		}
		s += fmt.Sprintf(" %s us", number(d.total[n].Micros()))
		lines = append(lines, s)
		widest = max(widest, label.Width(s)+24)
	}
	columns := max(1, int((width-2*margin)/widest))
	rows := (len(lines) + columns - 1) / columns
	if d.c != nil {
		for i, s := range lines {
			p := vg.Point{X: left + 2*margin + vg.Length(i/rows)*widest, Y: y - vg.Length(i%rows)*lineHeight - lineHeight/2}
			d.c.SetColor(kindOf(d.names[i]))
			box := vg.Rectangle{Min: vg.Point{X: p.X, Y: p.Y - 4}, Max: vg.Point{X: p.X + 8, Y: p.Y + 4}}
			d.c.Fill(box.Path())
			d.c.FillText(label, vg.Point{X: p.X + 13, Y: p.Y}, s)
		}
	}
	return y - vg.Length(rows)*lineHeight - margin
}
