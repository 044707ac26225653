package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// main is the mode of which a transport is shown first: blocking standard sends, or else low-level messages.
func (s *subject) main() string {
	for _, timer := range []string{sample.RTT, sample.Timer11, sample.Stream, sample.Train} {
		if s.curve("send", timer) != nil {
			return "send"
		}
	}
	return "message"
}

// ways is the chart of half round trips over sizes, with what was fitted to them and what that leaves.
func (s *Survey) ways(all []subject) *Chart {
	p, declared := s.wayPanels(all)
	if len(p.upper.series) == 0 {
		return nil
	}
	text := "Points are medians with their 95 % intervals, lines the straight pieces that were fitted; on logarithmic axes these bend. Bars in the middle show from which to which measured size each piece goes: in a gap between two something changes, such as the protocol."
	if declared {
		text += " A stroke across a bar is a limit that the library itself names."
	}
	return p.chart("ways", "Half a round trip, and what is left of it beside the fit", text+" Below, how far each median is from its line.")
}

// wayPanels returns the parts of that chart, and whether a library names a limit.
func (s *Survey) wayPanels(all []subject) (p panels, declared bool) {
	p = panels{upper: xy{y: "half round trip (us)"}, lower: xy{y: "measured above fitted (%)", signed: true}}
	for i := range all {
		t := &all[i]
		c := t.curve(t.main(), sample.RTT)
		if c == nil {
			continue
		}
		half := c.Half()
		p.upper.series = append(p.upper.series, series{name: t.name, look: t.look(), points: points(half.Points), lines: lines(&half)})
		off := series{name: t.name, shape: t.shape, look: t.look()}
		for _, r := range half.Residuals() { // without intervals: what launches differ by moves the line as well
			off.points = append(off.points, point{x: float64(r.Bytes), y: r.Value})
		}
		p.lower.series = append(p.lower.series, off)
		if len(half.Pieces) > 0 {
			l := lane{name: t.name, ink: t.ink, marks: t.limits()}
			for _, q := range half.Pieces {
				l.ranges = append(l.ranges, [2]float64{float64(q.From), float64(q.To)})
			}
			p.lanes, declared = append(p.lanes, l), declared || len(l.marks) > 0
		}
	}
	return p, declared
}

// limits returns the sizes from which on a library says that it changes its protocol, as far as they are known to be of the transport that it uses.
func (s *subject) limits() []float64 {
	var out []float64
	for _, w := range strings.Fields(s.fact("eager_limits")) {
		name, value, ok := strings.Cut(w, "=")
		var k int
		if _, err := fmt.Sscanf(value, "%d", &k); ok && name != "" && err == nil && k > 0 && s.carries(name) {
			out = append(out, float64(k))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// carries says whether a limit of Open MPI is of what carries messages inside a node: its names begin with btl_ and that of the component.
func (s *subject) carries(limit string) bool {
	if !strings.HasPrefix(limit, "btl_") {
		return true
	}
	return s.place.place == "intra" && (strings.HasPrefix(limit, "btl_vader_eager") || strings.HasPrefix(limit, "btl_sm_eager"))
}

// rates is the chart of bandwidths: of one way, and of bursts.
func (s *Survey) rates(all []subject) *Chart {
	x := xy{y: "bandwidth (MB/s)"}
	for i := range all {
		t := &all[i]
		if c := t.curve(t.main(), sample.RTT); c != nil {
			half := c.Half()
			at := points(half.Bandwidth())
			x.series = append(x.series, series{name: t.name, look: t.look(), points: at, lines: [][]point{at}})
		}
		if c := t.burst(); c != nil {
			at := points(c.Bandwidth())
			x.series = append(x.series, series{name: t.name + ", burst of " + c.Mode, look: t.open(), points: at, lines: [][]point{at}})
		}
	}
	return x.orNone("bandwidth", "Bandwidth",
		"Bytes over half a round trip, and, dashed, over the time that a message takes in a burst: more, where several are on their way at once. Lines join what was measured.")
}

// orNone returns the chart, or nil if it would be empty.
func (x xy) orNone(name, title, text string) *Chart {
	x.series = slices.DeleteFunc(x.series, func(s series) bool { return len(s.points) == 0 })
	if len(x.series) == 0 {
		return nil
	}
	return x.chart(name, title, text)
}

// burst returns the curve of what a message takes among others that are on their way, or nil. Of calls that do not block, the time between two calls says nothing of
// when messages arrive: what does is a round-trip train, or a window that an answer ends.
func (s *subject) burst() *curve.Curve {
	ends := func(c *curve.Curve) bool { return c.Timer == sample.Stream || params.Interval(c.Timer) }
	blocks := func(c *curve.Curve) bool { return c.Timer == sample.Train }
	for _, q := range []struct {
		mode string
		is   func(*curve.Curve) bool
	}{{"isend", ends}, {"send", ends}, {"message", ends}, {"send", blocks}, {"message", blocks}} {
		for i := range s.curves {
			if c := &s.curves[i]; c.Mode == q.mode && chosen(*c) && q.is(c) {
				return c
			}
		}
	}
	return nil
}

// overheads is the chart of o_s or o_r over sizes: of calls that block, and of those that do not.
func (s *Survey) overheads(all []subject, name string) *Chart {
	x := xy{y: name + " (us)"}
	for i := range all {
		t := &all[i]
		for _, mode := range []string{t.main(), "isend"} {
			first := t.first(mode, name)
			if first == nil {
				continue
			}
			c := t.curve(mode, first.Method)
			if c == nil {
				continue
			}
			l, call := t.look(), mode
			if mode == "isend" {
				l = t.open()
			}
			if name == "o_r" && mode != "message" {
				call = map[bool]string{true: "irecv", false: "recv"}[mode == "isend"]
			}
			at := points(c.Points)
			x.series = append(x.series, series{name: t.name + ", " + call, look: l, points: at, lines: [][]point{at}})
		}
	}
	if name == "o_s" {
		return x.orNone("send-overhead", "Send overhead", "How long the processor is in the call that sends: one that blocks, and, dashed, one that does not.")
	}
	return x.orNone("receive-overhead", "Receive overhead", "How long the processor is in the call that receives: of one that blocks when the message is there already, and, dashed, of one that only starts the receive.")
}

// overlaps are charts, one a transport, of what a send that does not block leaves of the time of a way.
func (s *Survey) overlaps(all []subject) []*Chart {
	var out []*Chart
	for i := range all {
		t := &all[i]
		way, call := series{name: "half round trip", look: t.look()}, series{name: "isend", look: t.open()}
		bound := true
		for _, x := range s.Fit.Overlaps {
			if x.Subject != i {
				continue
			}
			bound = x.Bound
			a, b := points([]curve.Point{x.Way})[0], points([]curve.Point{x.Call})[0]
			way.points, call.points = append(way.points, a), append(call.points, b)
			way.over = append(way.over, point{a.x, math.Min(a.y, b.y), 0, 0})
		}
		if len(way.points) == 0 {
			continue
		}
		way.lines, call.lines = [][]point{way.points}, [][]point{call.points}
		text := "The shaded time is free for the program at most: what the library does in the call that waits is not known here."
		if !bound {
			call.name = "processor busy for an isend"
			text = "The shaded time is free for the program: what the processor does for a message, whenever it does it, is taken out."
		}
		out = append(out, xy{y: "time (us)", series: []series{way, call}}.chart(fileName("free", t.name), "Free while a message is on its way, "+t.name, text))
	}
	return out
}

// launches is the chart of what launches say.
func (s *Survey) launches(all []subject) *Chart {
	x := strips{x: "above the median of all launches (%)", signed: true}
	several := false
	for i := range all {
		g := stripGroup{name: all[i].name, ink: all[i].ink}
		for j := range s.Fit.Scatters {
			q := &s.Fit.Scatters[j]
			if q.Subject != i {
				continue
			}
			r := stripRow{name: quantityWords(q.Quantity, q.Mode, q.Bytes), note: amount(q.Middle, q.Unit)}
			for _, d := range q.Deviations() {
				r.marks = append(r.marks, d)
			}
			several = several || len(q.Values) > 1
			g.rows = append(g.rows, r)
		}
		if len(g.rows) > 0 {
			x.groups = append(x.groups, g)
		}
	}
	if !several {
		return nil
	}
	return x.chart("launches", "What launches differ by", "Each mark is the median of one launch; at the right stands the median of them.")
}

// quantityWords names a quantity.
func quantityWords(quantity, mode string, bytes int) string {
	at := ", " + size(bytes)
	switch quantity {
	case compare.OneWay:
		return "half round trip" + at
	case compare.Achieved:
		return "bandwidth" + at
	case "o_r":
		if mode == "isend" {
			return "o_r of irecv" + at
		}
		if mode == "send" {
			return "o_r of recv" + at
		}
	case "g":
		return "burst interval" + at
	}
	return quantity + " of " + mode + at
}
