package chart

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"

	"github.com/loggp/loggp/reports/format"
)

// TimelineChart returns the time line of the ranks that did anything, with the messages between
// them, and of the parts of the network that were busy longest. Steps too short to be seen are
// drawn together with their neighbours.
func TimelineChart(name, title string, r *model.Timeline) *Chart {
	l := newLanes(r)
	return &Chart{Name: name, Title: title, Text: l.caption(),
		height: func(width vg.Length) vg.Length { return -l.draw(nil, width, vg.Point{}) },
		draw:   func(c draw.Canvas) { l.draw(&c, c.Max.X-c.Min.X, vg.Point{X: c.Min.X, Y: c.Max.Y}) },
	}
}

// TransferChart returns the time line of one message, without the network: what both sides do, when
// they wait, and the packets between them, as in figures 3 to 5 of Al-Tawil and Moritz. Calls are
// named with their times.
func TransferChart(name, title string, r *model.Timeline) *Chart {
	x := &model.Timeline{Flights: r.Flights}
	for _, t := range r.Ranks {
		t.Calls = slices.Clone(t.Calls)
		for i := range t.Calls {
			t.Calls[i].Name += fmt.Sprintf(" = %s us", format.Number(t.Calls[i].To.Micros()))
		}
		x.Ranks = append(x.Ranks, t)
	}
	return TimelineChart(format.FileName("timeline", name), title, x)
}

// MaxTracks is how many ranks, and how many parts of the network, are shown in tables and charts
// of a recording.
const MaxTracks = 16

// BusyRanks returns the first ranks that did anything, and how many others did.
func BusyRanks(r *model.Timeline) (shown []model.Track, more int) {
	for _, x := range r.Ranks {
		switch {
		case len(x.Spans) == 0:
		case len(shown) == MaxTracks:
			more++
		default:
			shown = append(shown, x)
		}
	}
	return shown, more
}

// BusyResources returns the parts of the network that were busy longest, in their own order, and
// how many others there are.
func BusyResources(r *model.Timeline) (shown []model.Track, more int) {
	busy := func(x model.Track) (sum unit.Time) {
		for _, s := range x.Spans {
			sum += s.Duration()
		}
		return sum
	}
	order := slices.DeleteFunc(slices.Clone(r.Resources), func(x model.Track) bool { return len(x.Spans) == 0 })
	more = max(len(order)-MaxTracks, 0)
	slices.SortStableFunc(order, func(a, b model.Track) int { return cmp.Compare(busy(b), busy(a)) })
	for _, x := range r.Resources {
		if slices.ContainsFunc(order[:len(order)-more], func(y model.Track) bool { return x.Name == y.Name }) {
			shown = append(shown, x)
		}
	}
	return shown, more
}

// SpanName says what a processor does.
func SpanName(s model.Span) string {
	switch s.Activity {
	case model.WaitActivity:
		return "waits for " + s.Name
	case model.BlockedActivity:
		return "held up by the " + s.Name
	case model.ComputeActivity:
		return "computes"
	case model.InterruptActivity:
		return "interrupt: " + s.Name
	}
	return s.Name
}

// timelineLanes is a recording with the lanes that are drawn.
type timelineLanes struct {
	*spanStatistics
	allRanks     []model.Track // ranks
	ranks        []model.Track // that are drawn
	resources    []model.Track
	flights      []model.Flight
	omittedTexts []string
}

// maxArrows is how many arrows are drawn.
const maxArrows = 300

func newLanes(r *model.Timeline) *timelineLanes {
	ranks, moreRanks := BusyRanks(r)
	resources, moreResources := BusyResources(r)
	l := &timelineLanes{allRanks: r.Ranks, ranks: ranks, resources: resources}
	l.spanStatistics = &spanStatistics{endTime: max(r.End(), 1), timeByName: map[string]unit.Time{}, countByName: map[string]int{}}
	for _, x := range l.ranks {
		for _, s := range x.Spans {
			if s.Activity != model.WaitActivity {
				l.countSpan(s)
			}
		}
	}
	hidden := 0
	for _, f := range r.Flights {
		switch {
		case l.rowOf(f.From) < 0 || l.rowOf(f.To) < 0 || f.From == f.To || !f.Arrived():
		case len(l.flights) == maxArrows:
			hidden++
		default:
			l.flights = append(l.flights, f)
		}
	}
	if moreResources > 0 {
		l.omittedTexts = append(l.omittedTexts, format.Plural(moreResources, "part")+" of the network that were busy for a shorter time")
	}
	if moreRanks += r.OtherRanks; moreRanks > 0 {
		l.omittedTexts = append(l.omittedTexts, format.Plural(moreRanks, "rank"))
	}
	if hidden > 0 {
		l.omittedTexts = append(l.omittedTexts, format.Plural(hidden, "message"))
	}
	if r.OmittedCount > 0 {
		l.omittedTexts = append(l.omittedTexts, fmt.Sprintf("all after %s us", format.Number(r.OmittedFrom.Micros())))
	}
	return l
}

// countSpan counts what is busy.
func (l *spanStatistics) countSpan(s model.Span) {
	name := SpanName(s)
	if l.countByName[name] == 0 {
		l.namesByTime = append(l.namesByTime, name)
	}
	l.countByName[name] += max(s.Count, 1)
	l.timeByName[name] += s.Duration()
}

// rowOf returns the place of a rank among those that are drawn, or -1.
func (l *timelineLanes) rowOf(rank int) int {
	return slices.IndexFunc(l.ranks, func(t model.Track) bool { return t.Name == l.allRanks[rank].Name })
}

// caption say how to read the picture, and what is not in it.
func (l *timelineLanes) caption() string {
	s := "Time runs from left to right. Boxes are what keeps a processor busy, with their numbers in the list; dashed lines are waits; brackets are calls; arrows go from the departure of a message's first byte to the arrival of its last"
	if len(l.resources) > 0 {
		s += ". Below, when each part of the network is busy"
	}
	uses := map[model.Activity]bool{}
	for _, r := range l.resources {
		for _, x := range r.Spans {
			uses[x.Activity] = true
		}
	}
	if uses[model.CollisionActivity] || uses[model.BackoffActivity] {
		s += ": by what it carries (violet), by collisions (orange), and by waiting after them (gray)"
	}
	s += "."
	for i, x := range l.omittedTexts {
		s += map[bool]string{true: " Left out: ", false: ", "}[i == 0] + x
	}
	if len(l.omittedTexts) > 0 {
		s += "."
	}
	return s
}

// Heights of the parts.
const (
	callBracketHeight = vg.Length(14)
	resourceHeight    = vg.Length(9) // of a part of the network
	smallFontSize     = 10.0
)

var smallTextStyle = textStyle(Gray, smallFontSize, false, draw.XLeft, draw.YCenter)

// arrowRoom is the room for arrows between two ranks.
func (l *timelineLanes) arrowRoom() vg.Length {
	switch n := len(l.ranks); {
	case n <= 2:
		return 74
	case n <= 4:
		return 46
	}
	return 26
}

// draw draws from a point down and returns the height where it ends. Without a canvas it only
// measures.
func (l *timelineLanes) draw(c *draw.Canvas, width vg.Length, at vg.Point) vg.Length {
	d := &timelineCanvas{spanStatistics: l.spanStatistics, canvas: c, left: at.X + 2*pictureMargin, width: width - 4*pictureMargin, top: at.Y}
	y := at.Y
	var lower []vg.Length // edges of the lanes
	for i := range l.ranks {
		if i > 0 {
			y -= l.arrowRoom()
		}
		y -= lineHeight + callBracketHeight + processorLaneHeight
		lower = append(lower, y)
	}
	if c != nil {
		d.drawZoomable(func() { l.drawArrows(d, lower) })
		for i, r := range l.ranks {
			l.drawRank(d, r, lower[i])
		}
		d.drawZoomable(func() { l.drawArrowNames(d, lower) })
	}
	y -= lineHeight / 2
	if len(l.resources) > 0 {
		y -= lineHeight / 2
		if c != nil {
			d.drawText(withAlignment(smallHeadingStyle, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y}, "network")
		}
		y -= lineHeight / 2
	}
	for _, r := range l.resources {
		y -= lineHeight + 2 + resourceHeight
		if c != nil {
			l.drawResource(d, r, y)
		}
	}
	y -= 8
	y = d.drawAxis(y)
	return d.drawBusyList(y, width, at.X)
}

// drawRank draws what a rank does: its name, its calls, its processor. y is the lower edge.
func (l *timelineLanes) drawRank(d *timelineCanvas, t model.Track, y vg.Length) {
	d.drawTextOnBackground(withAlignment(smallHeadingStyle, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y + processorLaneHeight + callBracketHeight + lineHeight/2}, t.Name)
	d.drawZoomable(func() {
		l.drawCalls(d, t, y)
		d.drawSpans(l.drawableSpans(d, t), y)
	})
}

// drawCalls draws a bracket over each call.
func (l *timelineLanes) drawCalls(d *timelineCanvas, t model.Track, y vg.Length) {
	var last vg.Length
	for _, c := range t.Calls {
		from, to := d.timePosition(c.From), d.timePosition(c.To)
		edge := y + processorLaneHeight + 2
		drawWithTooltip(*d.canvas, timeRangeText(t.Name+", "+c.Name, c.From, c.To), func() {
			d.canvas.StrokeLines(draw.LineStyle{Color: Gray, Width: 0.9}, []vg.Point{{X: from, Y: edge}, {X: from, Y: edge + 3}, {X: to, Y: edge + 3}, {X: to, Y: edge}})
		})
		half := smallTextStyle.Width(c.Name) / 2
		x := min(max((from+to)/2, d.left+half), d.left+d.width-half)
		if x-half > last && (to-from > half || len(t.Calls) < 4) {
			d.drawTextOnBackground(withAlignment(smallTextStyle, draw.XCenter, draw.YCenter), vg.Point{X: x, Y: edge + 3 + smallFontSize/2}, c.Name)
			last = x + half + 3
		}
	}
}

// drawableSpans returns what a rank does as a lane that can be drawn: steps too short to be seen
// become one, named for the longest of them.
func (l *timelineLanes) drawableSpans(d *timelineCanvas, t model.Track) (out []model.Span) {
	least := unit.Time(float64(l.endTime) / float64(d.width)) // what a point shows
	var run []model.Span
	flush := func() {
		if len(run) > 0 {
			longest := slices.MaxFunc(run, func(a, b model.Span) int { return int(min(max(a.Duration()-b.Duration(), -1), 1)) })
			out = append(out, model.Span{Name: SpanName(longest), Activity: longest.Activity, From: run[0].From, To: run[len(run)-1].To, Count: len(run)})
			run = run[:0]
		}
	}
	for _, s := range t.Spans {
		if s.Activity == model.WaitActivity {
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

// drawArrows draws the messages between the lanes, of which the lower edges are given.
func (l *timelineLanes) drawArrows(d *timelineCanvas, lower []vg.Length) {
	dense := len(l.flights) > maxNamedArrows
	for _, f := range l.flights {
		from, to := l.arrowEnds(d, f, lower)
		i, s := arrowStyle(f)
		if dense && f.IsRemoteAccess {
			s.Width /= 2
		}
		clipped, whole := d.clipArrow(from, to)
		drawWithTooltip(*d.canvas, timeRangeText(fmt.Sprintf("%s, %s to %s", f.Name, l.allRanks[f.From].Name, l.allRanks[f.To].Name), f.Depart, f.Arrive), func() {
			d.canvas.StrokeLines(s, clipped)
			if whole && (!dense || !f.IsRemoteAccess) {
				d.drawArrowHead(i, from, to)
			}
		})
	}
}

// drawArrowNames writes the names of messages where they leave, between the lane of their sender
// and the next. Of many alike it names one.
func (l *timelineLanes) drawArrowNames(d *timelineCanvas, lower []vg.Length) {
	named := map[string]int{}
	for _, f := range l.flights {
		named[f.Name]++
	}
	count := map[string]int{}
	for _, f := range l.flights {
		n := named[f.Name]
		count[f.Name]++
		text := f.Name
		if n > maxNamedArrows {
			if count[f.Name] != (n+1)/2 {
				continue
			}
			text = fmt.Sprintf("%s ×%d", f.Name, n)
		}
		from, to := l.arrowEnds(d, f, lower)
		edge := from.Y - l.arrowRoom()
		if to.Y > from.Y {
			edge = from.Y + l.arrowRoom()
		}
		if to.Y != from.Y {
			to.X, to.Y = from.X+(to.X-from.X)*(edge-from.Y)/(to.Y-from.Y), edge
		}
		from.X, to.X = min(max(from.X, d.left), d.left+d.width), min(max(to.X, d.left), d.left+d.width)
		d.drawArrowName(text, from, to, len(l.ranks) == 2 && count[f.Name] == 1 || n > maxNamedArrows)
	}
}

// arrowEnds returns where the arrow of a message begins and ends.
func (l *timelineLanes) arrowEnds(d *timelineCanvas, f model.Flight, lower []vg.Length) (from, to vg.Point) {
	const clear = 6 // of the brackets of calls
	a, b := l.rowOf(f.From), l.rowOf(f.To)
	from, to = vg.Point{X: d.timePosition(f.Depart), Y: lower[a]}, vg.Point{X: d.timePosition(f.Arrive), Y: lower[b] + processorLaneHeight + clear}
	if a > b {
		from.Y, to.Y = lower[a]+processorLaneHeight+clear, lower[b]
	}
	return from, to
}

// clipArrow cuts an arrow at the edges of time, and says whether its head is left.
func (d *timelineCanvas) clipArrow(from, to vg.Point) (line []vg.Point, whole bool) {
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

// drawResource draws by what a part of the network is taken. y is the lower edge.
func (l *timelineLanes) drawResource(d *timelineCanvas, t model.Track, y vg.Length) {
	var busy unit.Time
	d.canvas.StrokeLine2(draw.LineStyle{Color: gridColor, Width: 1}, d.left, y, d.left+d.width, y)
	d.drawZoomable(func() { busy = l.drawOccupancy(d, t, y) })
	d.drawText(withAlignment(smallTextStyle, draw.XLeft, draw.YCenter), vg.Point{X: d.left, Y: y + resourceHeight + smallFontSize/2 + 4}, fmt.Sprintf("%s, %s %%", t.Name, format.WithDecimals(100*busy.Micros()/l.endTime.Micros(), 1)))
}

// drawOccupancy draws when a part of the network is busy, and returns for how long it is.
func (l *timelineLanes) drawOccupancy(d *timelineCanvas, t model.Track, y vg.Length) (busy unit.Time) {
	for at := 0; at < len(t.Spans); {
		s := t.Spans[at]
		busy += s.Duration()
		from, to := d.timePosition(s.From), d.timePosition(s.To)
		for at++; at < len(t.Spans) && t.Spans[at].Activity == s.Activity && d.timePosition(t.Spans[at].From)-to < 0.5; at++ { // too near to be told apart
			busy += t.Spans[at].Duration()
			to = d.timePosition(t.Spans[at].To)
		}
		box := vg.Rectangle{Min: vg.Point{X: from, Y: y}, Max: vg.Point{X: max(to, from+1), Y: y + resourceHeight}}
		drawWithTooltip(*d.canvas, timeRangeText(t.Name+", busy", s.From, t.Spans[at-1].To), func() {
			d.canvas.SetColor(occupancyColor(s.Activity))
			d.canvas.Fill(box.Path())
		})
	}
	return busy
}

// drawZoomable draws what moves when the reader looks at a part of the time.
func (d *timelineCanvas) drawZoomable(draw func()) {
	drawWithAttributes(*d.canvas, `class="zoom"`, draw)
}

// occupancyColor returns the colour of the activity that occupies a part of the network.
func occupancyColor(a model.Activity) Color {
	switch a {
	case model.CollisionActivity:
		return Orange
	case model.BackoffActivity:
		return Gray
	}
	return Violet
}
