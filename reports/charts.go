package reports

import (
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// placeCharts returns the charts of fits, and of comparisons, for each platform, library and place
// in turn. What was not measured is not there.
func placeCharts(ps []*fittedPlace, cs []compare.Comparison) []*chart.Chart {
	var all []*chart.Chart
	for _, p := range ps {
		charts := p.drawCharts(cs)
		for _, c := range charts {
			if len(ps) > 1 {
				c.Name = format.FileName(p.platform, p.library, p.place, c.Name)
				c.Title += ", " + p.String()
			}
		}
		all = append(all, charts...)
	}
	return all
}

// callPairs are the blocking and the non-blocking call of each send mode.
var callPairs = []struct {
	name, blocking, nonblocking string
	color                       chart.Color
}{
	{"standard", "send", "isend", chart.Blue},
	{"synchronous", "ssend", "issend", chart.Orange},
	{"ready", "rsend", "irsend", chart.Green},
	{"buffered", "bsend", "ibsend", chart.Violet},
}

// callStyle is how a call looks in all charts: its colour is its send mode, what blocks is solid.
func callStyle(mode string) chart.Style {
	for i, p := range callPairs {
		switch mode {
		case p.blocking:
			return chart.Style{Color: p.color, Glyph: chart.SolidGlyphs[i]}
		case p.nonblocking:
			return chart.Style{Color: p.color, Glyph: chart.HollowGlyphs[i], IsDashed: true}
		}
	}
	return chart.Style{Color: chart.Teal, Glyph: chart.SolidGlyphs[0]}
}

func (p *fittedPlace) drawCharts(cs []compare.Comparison) []*chart.Chart {
	var all []*chart.Chart
	add := func(x chart.SizePlot, name, title, text string) {
		x.Series = slices.DeleteFunc(x.Series, func(s chart.Series) bool { return len(s.Points) == 0 })
		if len(x.Series) > 0 {
			all = append(all, x.Chart(name, title, text))
		}
	}
	const intervals = " Points are medians with their 95 % intervals, lines the linear pieces fitted to them, which bend on logarithmic axes."
	var blocking, nonblocking []chart.Series
	for _, m := range callPairs {
		blocking = append(blocking, p.overheadSeries(m.blocking))
		nonblocking = append(nonblocking, p.overheadSeries(m.nonblocking))
	}
	add(chart.SizePlot{YLabel: "o_s (us)", Series: blocking}, "send-blocking", "Send overhead of blocking calls", "How long the call keeps the sender busy."+intervals)
	add(chart.SizePlot{YLabel: "o_s (us)", Series: nonblocking}, "send-nonblocking", "Send overhead of non-blocking calls", "How long the call keeps the sender busy; the message travels on by itself."+intervals)
	for _, m := range callPairs {
		a, b := p.overheadSeries(m.blocking), p.overheadSeries(m.nonblocking)
		if len(a.Points) > 0 && len(b.Points) > 0 {
			add(overlapChart(a, b, "o_s (us)"), "overlap-"+m.name, "Where non-blocking "+m.name+" sends pay",
				"The shaded area between blocking and non-blocking call is time that the sender can compute in.")
		}
	}
	add(p.receiveChart(), "receive", "Receive times",
		"o_r of a blocking receive is measured when the message is there already. Begun together with the send, it also waits for the message."+intervals)
	add(p.bandwidthChart(), "bandwidth-by-mode", "Bandwidth of one-way messages by mode", "Bytes over the time that they take one way, which is half a round trip; for remote access, over the time of the call.")
	add(p.burstChart(), "bursts", "Interval of sends in a burst", "If the interval between the sends of a burst is longer than the overhead of one send, the network holds the sender up: that is the gap. Points are medians with their 95 % intervals.")
	add(p.messageChart(), "messages", "Low-level messages", "What the library's protocols are made of: packets, and remote reads and writes where the machine has them."+intervals)
	for _, q := range []struct{ quantity, title, text string }{
		{sample.TimerSender, "T_s: when the sender may go on", "By protocol."},
		{sample.TimerOneWay, "T_s-r: when the receiver has the message", "By protocol."},
	} {
		x, predicted := p.protocolChart(q.quantity, cs)
		if predicted {
			q.text += " Points are measured, lines predicted: by equations (1) to (7), which leave out what calls and copies cost, and, where the platform is known, by adding up every step."
		} else {
			q.text += intervals
		}
		add(x, "protocol-"+q.quantity, q.title, q.text)
	}
	return all
}

// timerCurve returns what a timer shows in a mode with the library's protocol, or nil.
func (p *fittedPlace) timerCurve(mode, timer string) *curve.Curve {
	for i := range p.curves {
		if c := &p.curves[i]; c.Mode == mode && c.Timer == timer && isLibraryChoice(*c) {
			return c
		}
	}
	return nil
}

// timerSeries returns what a timer shows in a mode, with its fit.
func (p *fittedPlace) timerSeries(mode, timer string) chart.Series {
	s := chart.Series{Name: mode, Style: callStyle(mode)}
	if c := p.timerCurve(mode, timer); c != nil {
		s.Points, s.Lines = chartPoints(c.Points), pieceLines(c)
	}
	return s
}

// overheadSeries returns o_s of a mode, by the timer that it is from.
func (p *fittedPlace) overheadSeries(mode string) chart.Series {
	if x := p.firstRow(mode, "o_s"); x != nil && p.timerCurve(mode, x.Method) != nil {
		return p.timerSeries(mode, x.Method)
	}
	return p.timerSeries(mode, sample.Timer11)
}

func chartPoints(ps []curve.Point) []chart.Point {
	var out []chart.Point
	for _, p := range ps {
		out = append(out, chart.Point{X: float64(p.Bytes), Y: p.Value, Low: p.Low, High: p.High})
	}
	return out
}

// pieceLines returns the straight pieces of a curve, with so many points that they look right on
// logarithmic axes.
func pieceLines(c *curve.Curve) [][]chart.Point {
	const steps = 24
	var all [][]chart.Point
	for _, q := range c.Pieces {
		var l []chart.Point
		if q.From == 0 {
			l = append(l, chart.Point{X: 0, Y: c.ValueAt(0)})
		}
		first := math.Max(float64(q.From), 1)
		ratio := math.Pow(float64(q.To)/first, 1.0/steps)
		last := -1
		for i, x := 0, first; i <= steps; i, x = i+1, x*ratio {
			if k := int(math.Round(x)); k > last && k <= q.To {
				l = append(l, chart.Point{X: float64(k), Y: q.Value + q.Slope*float64(k-q.From)})
				last = k
			}
		}
		all = append(all, l)
	}
	return all
}

// overlapChart sets a blocking call beside a non-blocking one.
func overlapChart(a, b chart.Series, y string) chart.SizePlot {
	for _, p := range a.Points {
		for _, q := range b.Points {
			if p.X == q.X && p.Y > q.Y {
				a.ShadedUpTo = append(a.ShadedUpTo, q)
			} else if p.X == q.X {
				a.ShadedUpTo = append(a.ShadedUpTo, p)
			}
		}
	}
	if len(a.ShadedUpTo) != len(a.Points) {
		a.ShadedUpTo = nil
	}
	for _, s := range []*chart.Series{&a, &b} { // through the points, so that shade and line agree
		s.Lines = [][]chart.Point{s.Points}
	}
	return chart.SizePlot{YLabel: y, Series: []chart.Series{a, b}}
}

func (p *fittedPlace) receiveChart() chart.SizePlot {
	ready, start, wait := p.timerSeries("send", sample.Timer12), p.timerSeries("isend", sample.Timer21), p.timerSeries("send", sample.Timer21)
	ready.Name, ready.Style = "blocking, message there", chart.Style{Color: chart.Blue, Glyph: chart.SolidGlyphs[0]}
	start.Name, start.Style = "non-blocking call", chart.Style{Color: chart.Green, Glyph: chart.HollowGlyphs[2], IsDashed: true}
	wait.Name, wait.Style = "blocking, begun with the send", chart.Style{Color: chart.Orange, Glyph: chart.SolidGlyphs[1]}
	return chart.SizePlot{YLabel: "receive time (us)", Series: []chart.Series{wait, ready, start}}
}

// bandwidthChart is k/T against k.
func (p *fittedPlace) bandwidthChart() chart.SizePlot {
	x := chart.SizePlot{YLabel: "bandwidth (MB/s)"}
	for _, q := range []struct {
		mode, timer, name string
		half              float64
		style             chart.Style
	}{
		{"send", sample.TimerRTT, "send", 2, callStyle("send")},
		{"ssend", sample.TimerRTT, "ssend", 2, callStyle("ssend")},
		{"bsend", sample.TimerRTT, "bsend", 2, callStyle("bsend")},
		{"message", sample.TimerRTT, "message", 2, callStyle("message")},
		{"message", sample.TimerGet, "get", 1, chart.Style{Color: chart.Green, Glyph: chart.HollowGlyphs[2], IsDashed: true}},
		{"message", sample.TimerPut, "put", 1, chart.Style{Color: chart.Violet, Glyph: chart.HollowGlyphs[3], IsDashed: true}},
	} {
		c := p.timerCurve(q.mode, q.timer)
		if c == nil {
			continue
		}
		s := chart.Series{Name: q.name, Style: q.style}
		for _, y := range c.Points {
			if k := q.half * float64(y.Bytes); k > 0 && y.Value > 0 && !(y.Low <= 0) {
				s.Points = append(s.Points, chart.Point{X: float64(y.Bytes), Y: k / y.Value, Low: k / y.High, High: k / y.Low})
			}
		}
		s.Lines = [][]chart.Point{s.Points}
		x.Series = append(x.Series, s)
	}
	return x
}

func (p *fittedPlace) burstChart() chart.SizePlot {
	x := chart.SizePlot{YLabel: "time (us)"}
	for _, q := range []struct {
		mode  string
		color chart.Color
	}{{"send", chart.Blue}, {"isend", chart.Orange}, {"message", chart.Teal}} {
		train, send := p.timerSeries(q.mode, sample.TimerTrain), p.overheadSeries(q.mode)
		if len(train.Points) == 0 {
			continue
		}
		train.Name, send.Name = q.mode+" in a burst", "o_s of "+q.mode
		train.Style, send.Style = chart.Style{Color: q.color, Glyph: chart.SolidGlyphs[0]}, chart.Style{Color: q.color, Glyph: chart.HollowGlyphs[1], IsDashed: true}
		train.Lines, send.Lines = [][]chart.Point{train.Points}, [][]chart.Point{send.Points}
		x.Series = append(x.Series, train, send)
	}
	return x
}

func (p *fittedPlace) messageChart() chart.SizePlot {
	x := chart.SizePlot{YLabel: "time (us)"}
	for i, q := range []struct{ timer, name string }{{sample.Timer11, "o_s"}, {sample.Timer12, "o_r"}, {sample.TimerGet, "get"}, {sample.TimerPut, "put"}} {
		s := p.timerSeries("message", q.timer)
		s.Name, s.Style = q.name, chart.Style{Color: []chart.Color{chart.Blue, chart.Orange, chart.Green, chart.Violet}[i], Glyph: chart.SolidGlyphs[i]}
		if i >= 2 {
			s.Style.Glyph, s.Style.IsDashed = chart.HollowGlyphs[i], true
		}
		x.Series = append(x.Series, s)
	}
	return x
}

// StepsQuantitySuffix ends the quantity of a comparison whose prediction adds up every step of a
// platform instead of using equations.
const StepsQuantitySuffix = " by steps"

// LogGPQuantitySuffix ends the quantity of a comparison whose prediction has LogGP parameters
// alone, and no time of the whole way.
const LogGPQuantitySuffix = " by LogGP"

// protocolChart returns T_s or T_sr of each protocol that was forced: with what was predicted, or
// else with what was fitted.
func (p *fittedPlace) protocolChart(quantity string, cs []compare.Comparison) (x chart.SizePlot, predicted bool) {
	x.YLabel = map[string]string{sample.TimerSender: "T_s (us)", sample.TimerOneWay: "T_s-r (us)"}[quantity]
	for i := range p.curves {
		c := &p.curves[i]
		if c.Timer != quantity {
			continue
		}
		s := chart.Series{Name: c.Protocol, Points: chartPoints(c.Points)}
		if slices.ContainsFunc(x.Series, func(o chart.Series) bool { return o.Name == c.Protocol }) {
			s.Name += " (" + c.Mode + ")"
		}
		name := quantity + "(" + c.Mode + ")"
		s.Lines = slices.DeleteFunc([][]chart.Point{p.predictedPoints(c, name, cs), p.predictedPoints(c, name+StepsQuantitySuffix, cs)}, func(l []chart.Point) bool { return len(l) == 0 })
		if len(s.Lines) > 0 {
			predicted = true
		} else {
			s.Lines = pieceLines(c)
		}
		x.Series = append(x.Series, s)
	}
	slices.SortStableFunc(x.Series, func(a, b chart.Series) int { return protocolRank(a.Name) - protocolRank(b.Name) })
	for i := range x.Series {
		x.Series[i].Style = chart.Style{Color: []chart.Color{chart.Blue, chart.Green, chart.Orange, chart.Violet, chart.Teal}[i%5], Glyph: chart.SolidGlyphs[i%len(chart.SolidGlyphs)]}
	}
	return x, predicted
}

// predictedPoints returns what was predicted for a curve.
func (p *fittedPlace) predictedPoints(c *curve.Curve, quantity string, cs []compare.Comparison) (line []chart.Point) {
	for _, y := range cs {
		if y.Platform == p.platform && y.Library == p.library && y.Place == p.place && y.Protocol == c.Protocol && y.Quantity == quantity {
			line = append(line, chart.Point{X: float64(y.Bytes), Y: y.Predicted})
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
