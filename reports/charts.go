package reports

import (
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// Charts returns the charts of a fit, and of comparisons, for each platform, library and place in turn. What was not measured is
// not there.
func Charts(r *fit.Result, cs []compare.Comparison) []*Chart {
	var all []*Chart
	ps := places(r)
	for _, p := range ps {
		charts := p.charts(cs)
		for _, c := range charts {
			if len(ps) > 1 {
				c.Name = fileName(p.platform, p.library, p.place, c.Name)
				c.Title += ", " + p.String()
			}
		}
		all = append(all, charts...)
	}
	return all
}

// fileName joins words to a name of a file.
func fileName(words ...string) string {
	var out []string
	for _, w := range words {
		w = strings.Trim(strings.Map(func(r rune) rune {
			if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.') {
				return r
			}
			return '-'
		}, w), "-.")
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, "-")
}

// pairs are the blocking and the non-blocking call of each send mode.
var pairs = []struct {
	name, blocking, nonblocking string
	ink                         ink
}{
	{"standard", "send", "isend", blue},
	{"synchronous", "ssend", "issend", orange},
	{"ready", "rsend", "irsend", green},
	{"buffered", "bsend", "ibsend", violet},
}

// looks is how a call looks in all charts: its colour is its send mode, what blocks is solid.
func looks(mode string) look {
	for i, p := range pairs {
		switch mode {
		case p.blocking:
			return look{ink: p.ink, glyph: solidGlyphs[i]}
		case p.nonblocking:
			return look{ink: p.ink, glyph: hollowGlyphs[i], dashed: true}
		}
	}
	return look{ink: teal, glyph: solidGlyphs[0]}
}

func (p *place) charts(cs []compare.Comparison) []*Chart {
	var all []*Chart
	add := func(x xy, name, title, text string) {
		x.series = slices.DeleteFunc(x.series, func(s series) bool { return len(s.points) == 0 })
		if len(x.series) > 0 {
			all = append(all, x.chart(name, title, text))
		}
	}
	const intervals = " Points are medians with their 95 % intervals, lines the straight pieces that were fitted; on logarithmic axes these bend."
	var blocking, nonblocking []series
	for _, m := range pairs {
		blocking = append(blocking, p.overheads(m.blocking))
		nonblocking = append(nonblocking, p.overheads(m.nonblocking))
	}
	add(xy{y: "o_s (us)", series: blocking}, "send-blocking", "Send overhead of blocking calls", "How long the call keeps the sender busy."+intervals)
	add(xy{y: "o_s (us)", series: nonblocking}, "send-nonblocking", "Send overhead of non-blocking calls", "How long the call keeps the sender busy; the message travels on by itself."+intervals)
	for _, m := range pairs {
		a, b := p.overheads(m.blocking), p.overheads(m.nonblocking)
		if len(a.points) > 0 && len(b.points) > 0 {
			add(overlap(a, b, "o_s (us)"), "overlap-"+m.name, "Where non-blocking "+m.name+" sends pay",
				"The shaded area between blocking and non-blocking call is time that the sender can compute in.")
		}
	}
	add(p.receives(), "receive", "Receive times",
		"o_r of a blocking receive is measured when the message is there already. Begun together with the send, it also waits for the message."+intervals)
	add(p.bandwidth(), "bandwidth", "Bandwidth of one-way messages", "Bytes over the time that they take one way, which is half a round trip; for remote access, over the time of the call.")
	add(p.bursts(), "bursts", "Interval of sends in a burst", "If the interval between the sends of a burst is longer than the overhead of one send, the network holds the sender up: that is the gap. Points are medians with their 95 % intervals.")
	add(p.messages(), "messages", "Low-level messages", "What the library's protocols are made of: packets, and remote reads and writes where the machine has them."+intervals)
	for _, q := range []struct{ quantity, title, text string }{
		{sample.Sender, "T_s: when the sender may go on", "By protocol."},
		{sample.OneWay, "T_s-r: when the receiver has the message", "By protocol."},
	} {
		x, predicted := p.protocols(q.quantity, cs)
		if predicted {
			q.text += " Points are measured, lines predicted: by equations (1) to (7), which leave out what calls and copies cost, and, where the platform is known, by adding up every step."
		} else {
			q.text += intervals
		}
		add(x, "protocol-"+q.quantity, q.title, q.text)
	}
	return all
}

// curve returns what a timer shows in a mode with the library's protocol, or nil.
func (p *place) curve(mode, timer string) *curve.Curve {
	for i := range p.curves {
		if c := &p.curves[i]; c.Mode == mode && c.Timer == timer && chosen(*c) {
			return c
		}
	}
	return nil
}

// series returns what a timer shows in a mode, with its fit.
func (p *place) series(mode, timer string) series {
	s := series{name: mode, look: looks(mode)}
	if c := p.curve(mode, timer); c != nil {
		s.points, s.lines = points(c.Points), lines(c)
	}
	return s
}

// overheads returns o_s of a mode, by the timer that it is from.
func (p *place) overheads(mode string) series {
	if x := p.first(mode, "o_s"); x != nil && p.curve(mode, x.Method) != nil {
		return p.series(mode, x.Method)
	}
	return p.series(mode, sample.Timer11)
}

func points(ps []curve.Point) []point {
	var out []point
	for _, p := range ps {
		out = append(out, point{float64(p.Bytes), p.Value, p.Low, p.High})
	}
	return out
}

// lines returns the straight pieces of a curve, with so many points that they look right on logarithmic axes.
func lines(c *curve.Curve) [][]point {
	const steps = 24
	var all [][]point
	for _, q := range c.Pieces {
		var l []point
		if q.From == 0 {
			l = append(l, point{x: 0, y: c.At(0)})
		}
		first := math.Max(float64(q.From), 1)
		ratio := math.Pow(float64(q.To)/first, 1.0/steps)
		last := -1
		for i, x := 0, first; i <= steps; i, x = i+1, x*ratio {
			if k := int(math.Round(x)); k > last && k <= q.To {
				l = append(l, point{x: float64(k), y: q.Value + q.Slope*float64(k-q.From)})
				last = k
			}
		}
		all = append(all, l)
	}
	return all
}

// overlap sets a blocking call beside a non-blocking one.
func overlap(a, b series, y string) xy {
	for _, p := range a.points {
		for _, q := range b.points {
			if p.x == q.x && p.y > q.y {
				a.over = append(a.over, q)
			} else if p.x == q.x {
				a.over = append(a.over, p)
			}
		}
	}
	if len(a.over) != len(a.points) {
		a.over = nil
	}
	for _, s := range []*series{&a, &b} { // through the points, so that shade and line agree
		s.lines = [][]point{s.points}
	}
	return xy{y: y, series: []series{a, b}}
}

func (p *place) receives() xy {
	ready, start, wait := p.series("send", sample.Timer12), p.series("isend", sample.Timer21), p.series("send", sample.Timer21)
	ready.name, ready.look = "blocking, message there", look{ink: blue, glyph: solidGlyphs[0]}
	start.name, start.look = "non-blocking call", look{ink: green, glyph: hollowGlyphs[2], dashed: true}
	wait.name, wait.look = "blocking, begun with the send", look{ink: orange, glyph: solidGlyphs[1]}
	return xy{y: "receive time (us)", series: []series{wait, ready, start}}
}

// bandwidth is k/T against k.
func (p *place) bandwidth() xy {
	x := xy{y: "bandwidth (MB/s)"}
	for _, q := range []struct {
		mode, timer, name string
		half              float64
		look              look
	}{
		{"send", sample.RTT, "send", 2, looks("send")},
		{"ssend", sample.RTT, "ssend", 2, looks("ssend")},
		{"bsend", sample.RTT, "bsend", 2, looks("bsend")},
		{"message", sample.RTT, "message", 2, looks("message")},
		{"message", sample.Get, "get", 1, look{ink: green, glyph: hollowGlyphs[2], dashed: true}},
		{"message", sample.Put, "put", 1, look{ink: violet, glyph: hollowGlyphs[3], dashed: true}},
	} {
		c := p.curve(q.mode, q.timer)
		if c == nil {
			continue
		}
		s := series{name: q.name, look: q.look}
		for _, y := range c.Points {
			if k := q.half * float64(y.Bytes); k > 0 && y.Low > 0 {
				s.points = append(s.points, point{float64(y.Bytes), k / y.Value, k / y.High, k / y.Low})
			}
		}
		s.lines = [][]point{s.points}
		x.series = append(x.series, s)
	}
	return x
}

func (p *place) bursts() xy {
	x := xy{y: "time (us)"}
	for _, q := range []struct {
		mode string
		ink  ink
	}{{"send", blue}, {"isend", orange}, {"message", teal}} {
		train, send := p.series(q.mode, sample.Train), p.overheads(q.mode)
		if len(train.points) == 0 {
			continue
		}
		train.name, send.name = q.mode+" in a burst", "o_s of "+q.mode
		train.look, send.look = look{ink: q.ink, glyph: solidGlyphs[0]}, look{ink: q.ink, glyph: hollowGlyphs[1], dashed: true}
		train.lines, send.lines = [][]point{train.points}, [][]point{send.points}
		x.series = append(x.series, train, send)
	}
	return x
}

func (p *place) messages() xy {
	x := xy{y: "time (us)"}
	for i, q := range []struct{ timer, name string }{{sample.Timer11, "o_s"}, {sample.Timer12, "o_r"}, {sample.Get, "get"}, {sample.Put, "put"}} {
		s := p.series("message", q.timer)
		s.name, s.look = q.name, look{ink: []ink{blue, orange, green, violet}[i], glyph: solidGlyphs[i]}
		if i >= 2 {
			s.look.glyph, s.look.dashed = hollowGlyphs[i], true
		}
		x.series = append(x.series, s)
	}
	return x
}

// BySteps ends the quantity of a comparison whose prediction adds up every step of a platform instead of using equations.
const BySteps = " by steps"

// protocols returns T_s or T_sr of each protocol that was forced: with what was predicted, or else with what was fitted.
func (p *place) protocols(quantity string, cs []compare.Comparison) (x xy, predicted bool) {
	x.y = map[string]string{sample.Sender: "T_s (us)", sample.OneWay: "T_s-r (us)"}[quantity]
	for i := range p.curves {
		c := &p.curves[i]
		if c.Timer != quantity {
			continue
		}
		s := series{name: c.Protocol, points: points(c.Points)}
		if slices.ContainsFunc(x.series, func(o series) bool { return o.name == c.Protocol }) {
			s.name += " (" + c.Mode + ")"
		}
		name := quantity + "(" + c.Mode + ")"
		s.lines = slices.DeleteFunc([][]point{p.predicted(c, name, cs), p.predicted(c, name+BySteps, cs)}, func(l []point) bool { return len(l) == 0 })
		if len(s.lines) > 0 {
			predicted = true
		} else {
			s.lines = lines(c)
		}
		x.series = append(x.series, s)
	}
	slices.SortStableFunc(x.series, func(a, b series) int { return protocolRank(a.name) - protocolRank(b.name) })
	for i := range x.series {
		x.series[i].look = look{ink: []ink{blue, green, orange, violet, teal}[i%5], glyph: solidGlyphs[i%len(solidGlyphs)]}
	}
	return x, predicted
}

// predicted returns what was predicted for a curve.
func (p *place) predicted(c *curve.Curve, quantity string, cs []compare.Comparison) (line []point) {
	for _, y := range cs {
		if y.Platform == p.platform && y.Library == p.library && y.Place == p.place && y.Protocol == c.Protocol && y.Quantity == quantity {
			line = append(line, point{x: float64(y.Bytes), y: y.Predicted})
		}
	}
	return line
}

// protocolRank orders protocols as the model does, others after them.
func protocolRank(name string) int {
	for i, p := range model.Protocols {
		if name == p.Name || strings.HasPrefix(name, p.Name+" ") {
			return i
		}
	}
	return len(model.Protocols)
}
