package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Chart returns the time line of the ranks that did anything, with the messages between them, and of the parts of the network that were
// taken longest. What is too short to be seen is drawn together with its neighbours.
func (t Trace) Chart() *Chart {
	l := newLanes(t)
	return &Chart{Name: fileName("trace", t.Name), Title: t.Title, Text: l.words(),
		height: func(width vg.Length) vg.Length { return -l.draw(nil, width, vg.Point{}) },
		draw:   func(c draw.Canvas) { l.draw(&c, c.Max.X-c.Min.X, vg.Point{X: c.Min.X, Y: c.Max.Y}) },
	}
}

// lanes is a recording with the lanes that are drawn.
type lanes struct {
	*timeline
	all       []model.Track // ranks
	ranks     []model.Track // that are drawn
	resources []model.Track
	flights   []model.Flight
	hidden    int // flights that are not drawn
	more      []string
}

// mostFlights is how many arrows are drawn.
const mostFlights = 300

func newLanes(t Trace) *lanes {
	l := &lanes{all: t.Recording.Ranks, ranks: t.busyRanks(), resources: t.busiest()}
	l.timeline = &timeline{end: max(t.Recording.End(), 1), total: map[string]unit.Time{}, count: map[string]int{}}
	for _, r := range l.ranks {
		for _, s := range r.Spans {
			if s.Activity != model.Waiting {
				l.mention(s)
			}
		}
	}
	for _, f := range t.Recording.Flights {
		switch {
		case l.row(f.From) < 0 || l.row(f.To) < 0 || f.From == f.To || !f.Arrived():
		case len(l.flights) == mostFlights:
			l.hidden++
		default:
			l.flights = append(l.flights, f)
		}
	}
	if n := len(t.Recording.Resources) - len(l.resources); n > 0 {
		l.more = append(l.more, plural(n, "part")+" of the network that were taken for a shorter time")
	}
	busy := 0
	for _, r := range t.Recording.Ranks {
		if len(r.Spans) > 0 {
			busy++
		}
	}
	if n := busy - len(l.ranks); n > 0 {
		l.more = append(l.more, plural(n, "rank"))
	}
	if l.hidden > 0 {
		l.more = append(l.more, plural(l.hidden, "message"))
	}
	if t.Recording.Omitted > 0 {
		l.more = append(l.more, fmt.Sprintf("all after %s us", number(t.Recording.Cut.Micros())))
	}
	return l
}

// mention counts what is busy.
func (l *timeline) mention(s model.Span) {
	name := spanName(s)
	if l.count[name] == 0 {
		l.names = append(l.names, name)
	}
	l.count[name] += max(s.Count, 1)
	l.total[name] += s.Time()
}

// row returns the place of a rank among those that are drawn, or -1.
func (l *lanes) row(rank int) int {
	return slices.IndexFunc(l.ranks, func(t model.Track) bool { return t.Name == l.all[rank].Name })
}

// words say how to read the picture, and what is not in it.
func (l *lanes) words() string {
	s := "Time runs from left to right. Boxes are what keeps a processor busy, with their numbers in the list; dashed lines are waits; brackets are calls; arrows go from the departure of a message's first byte to the arrival of its last"
	if len(l.resources) > 0 {
		s += ". Below, when each part of the network is taken"
	}
	uses := map[model.Activity]bool{}
	for _, r := range l.resources {
		for _, x := range r.Spans {
			uses[x.Activity] = true
		}
	}
	if uses[model.Colliding] || uses[model.Silent] {
		s += ": by what it carries (violet), by collisions (orange), and by waiting after them (gray)"
	}
	s += "."
	for i, x := range l.more {
		s += map[bool]string{true: " Left out: ", false: ", "}[i == 0] + x
	}
	if len(l.more) > 0 {
		s += "."
	}
	return s
}

// Heights of the parts.
const (
	callHeight = vg.Length(14)
	thin       = vg.Length(9) // of a part of the network
	smallType  = 10.0
)

var fine = style(gray, smallType, false, draw.XLeft, draw.YCenter)

// between is the room for arrows between two ranks.
func (l *lanes) between() vg.Length {
	switch n := len(l.ranks); {
	case n <= 2:
		return 74
	case n <= 4:
		return 46
	}
	return 26
}

// draw draws from a point down and returns the height where it ends. Without a canvas it only measures.
func (l *lanes) draw(c *draw.Canvas, width vg.Length, at vg.Point) vg.Length {
	d := &drawing{timeline: l.timeline, c: c, left: at.X + 2*margin, width: width - 4*margin}
	y := at.Y
	var lower []vg.Length // edges of the lanes
	for i := range l.ranks {
		if i > 0 {
			y -= l.between()
		}
		y -= lineHeight + callHeight + laneHeight
		lower = append(lower, y)
	}
	if c != nil {
		l.arrows(d, lower)
		for i, r := range l.ranks {
			l.rank(d, r, lower[i])
		}
		l.nameArrows(d, lower)
	}
	y -= lineHeight / 2
	if len(l.resources) > 0 {
		y -= lineHeight / 2
		if c != nil {
			d.text(aligned(heading11, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y}, "network")
		}
		y -= lineHeight / 2
	}
	for _, r := range l.resources {
		y -= lineHeight + 2 + thin
		if c != nil {
			l.resource(d, r, y)
		}
	}
	y -= 8
	y = d.axis(y)
	return d.list(y, width, at.X)
}

// rank draws what a rank does: its name, its calls, its processor. y is the lower edge.
func (l *lanes) rank(d *drawing, t model.Track, y vg.Length) {
	d.over(aligned(heading11, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y + laneHeight + callHeight + lineHeight/2}, t.Name)
	var last vg.Length
	for _, c := range t.Calls {
		from, to := d.x(c.From), d.x(c.To)
		edge := y + laneHeight + 2
		d.c.StrokeLines(draw.LineStyle{Color: gray, Width: 0.9}, []vg.Point{{X: from, Y: edge}, {X: from, Y: edge + 3}, {X: to, Y: edge + 3}, {X: to, Y: edge}})
		half := fine.Width(c.Name) / 2
		x := min(max((from+to)/2, d.left+half), d.left+d.width-half)
		if x-half > last && (to-from > half || len(t.Calls) < 4) {
			d.over(aligned(fine, draw.XCenter, draw.YCenter), vg.Point{X: x, Y: edge + 3 + smallType/2}, c.Name)
			last = x + half + 3
		}
	}
	d.lane(l.lane(d, t), y)
}

// lane returns what a rank does as a lane that can be drawn: steps too short to be seen become one, named for the longest of them.
func (l *lanes) lane(d *drawing, t model.Track) (out []model.Span) {
	least := unit.Time(float64(l.end) / float64(d.width)) // what a point shows
	var run []model.Span
	flush := func() {
		if len(run) > 0 {
			longest := slices.MaxFunc(run, func(a, b model.Span) int { return int(min(max(a.Time()-b.Time(), -1), 1)) })
			out = append(out, model.Span{Name: spanName(longest), Activity: longest.Activity, From: run[0].From, To: run[len(run)-1].To})
			run = run[:0]
		}
	}
	for _, s := range t.Spans {
		if s.Activity == model.Waiting {
			flush()
			out = append(out, model.Span{Name: s.Name, Activity: s.Activity, From: s.From, To: s.To})
			continue
		}
		if len(run) > 0 && s.To-run[0].From >= 2*least {
			flush()
		}
		run = append(run, s)
	}
	flush()
	return out
}

// arrows draws the messages between the lanes, of which the lower edges are given.
func (l *lanes) arrows(d *drawing, lower []vg.Length) {
	dense := len(l.flights) > crowd
	for _, f := range l.flights {
		from, to := l.way(d, f, lower)
		i, s := kindOfArrow(f)
		if dense && f.Hardware {
			s.Width /= 2
		}
		clipped, whole := d.clip(from, to)
		d.c.StrokeLines(s, clipped)
		if whole && (!dense || !f.Hardware) {
			d.head(i, from, to)
		}
	}
}

// nameArrows writes the names of messages where they leave, between the lane of their sender and the next. Of many alike it names one.
func (l *lanes) nameArrows(d *drawing, lower []vg.Length) {
	named := map[string]int{}
	for _, f := range l.flights {
		named[f.Name]++
	}
	count := map[string]int{}
	for _, f := range l.flights {
		n := named[f.Name]
		count[f.Name]++
		text := f.Name
		if n > crowd {
			if count[f.Name] != (n+1)/2 {
				continue
			}
			text = fmt.Sprintf("%s ×%d", f.Name, n)
		}
		from, to := l.way(d, f, lower)
		edge := from.Y - l.between()
		if to.Y > from.Y {
			edge = from.Y + l.between()
		}
		if to.Y != from.Y {
			to.X, to.Y = from.X+(to.X-from.X)*(edge-from.Y)/(to.Y-from.Y), edge
		}
		from.X, to.X = min(max(from.X, d.left), d.left+d.width), min(max(to.X, d.left), d.left+d.width)
		d.name(text, from, to, len(l.ranks) == 2 && count[f.Name] == 1 || n > crowd)
	}
}

// way returns where the arrow of a message begins and ends.
func (l *lanes) way(d *drawing, f model.Flight, lower []vg.Length) (from, to vg.Point) {
	const clear = 6 // of the brackets of calls
	a, b := l.row(f.From), l.row(f.To)
	from, to = vg.Point{X: d.x(f.Depart), Y: lower[a]}, vg.Point{X: d.x(f.Arrive), Y: lower[b] + laneHeight + clear}
	if a > b {
		from.Y, to.Y = lower[a]+laneHeight+clear, lower[b]
	}
	return from, to
}

// clip cuts an arrow at the edges of time, and says whether its head is left.
func (d *drawing) clip(from, to vg.Point) (line []vg.Point, whole bool) {
	low, high := d.left, d.left+d.width
	at := func(x vg.Length) vg.Point {
		return vg.Point{X: x, Y: from.Y + (to.Y-from.Y)*(x-from.X)/(to.X-from.X)}
	}
	a, b := from, to
	if from.X < low {
		a = at(low)
	}
	if to.X > high+0.01 {
		b = at(high)
	}
	return []vg.Point{a, b}, b == to
}

// resource draws by what a part of the network is taken. y is the lower edge.
func (l *lanes) resource(d *drawing, t model.Track, y vg.Length) {
	var busy unit.Time
	d.c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1}, d.left, y, d.left+d.width, y)
	for at := 0; at < len(t.Spans); {
		s := t.Spans[at]
		busy += s.Time()
		from, to := d.x(s.From), d.x(s.To)
		for at++; at < len(t.Spans) && t.Spans[at].Activity == s.Activity && d.x(t.Spans[at].From)-to < 0.5; at++ { // what nobody can tell apart
			busy += t.Spans[at].Time()
			to = d.x(t.Spans[at].To)
		}
		d.c.SetColor(kindOfUse(s.Activity))
		box := vg.Rectangle{Min: vg.Point{X: from, Y: y}, Max: vg.Point{X: max(to, from+1), Y: y + thin}}
		d.c.Fill(box.Path())
	}
	d.text(aligned(fine, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y + thin + smallType/2 + 4}, fmt.Sprintf("%s, %s %%", t.Name, share(busy, l.end)))
}

// kindOfUse returns the ink of what a part of the network is taken by.
func kindOfUse(a model.Activity) ink {
	switch a {
	case model.Colliding:
		return orange
	case model.Silent:
		return gray
	}
	return violet
}
