package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// extraction derives the parameters of one place by the paper's rules.
type extraction struct {
	subject
	curves []*curve
	o      Options

	parameters []Parameter
	warnings   []Warning
	derived    []Curve
}

// run goes through the modes in the order of results.
func (e *extraction) run() {
	var seen []string
	for _, c := range e.curves {
		if slices.Contains(seen, c.mode) {
			continue
		}
		seen = append(seen, c.mode)
		m := mode{e, c.mode}
		m.overheads()
		m.latency()
		m.gap()
		m.bandwidth()
	}
}

// mode derives the parameters of one mode.
type mode struct {
	*extraction
	name string
}

// curve returns what a timer shows in a mode with the library's choice of protocol, or nil.
func (e *extraction) curve(mode, timer string) *curve {
	var found *curve
	for _, c := range e.curves {
		if c.mode == mode && c.timer == timer && chosen(mode, c.protocol) && (found == nil || c.protocol == "auto") {
			found = c
		}
	}
	return found
}

func (m mode) timer(timer string) *curve { return m.curve(m.name, timer) }

// sendOverhead returns the timer that shows o_s: timer11, but idle where what went before hinders the send of timer11, as
// the barrier's last message does on a machine with a long gap. A synchronous send waits for its peer, of which idle shows less.
func (m mode) sendOverhead() *curve {
	send, idle := m.timer(sample.Timer11), m.timer(sample.Idle)
	if send == nil || idle == nil || m.name == "ssend" {
		return send
	}
	x := &idle.cells[0]
	if y := send.at(x.bytes); y != nil && x.slower(*y, m.o) {
		return idle
	}
	return send
}

// receiveOverhead returns the timer that shows o_r: of a blocking receive, the one with which the message is there already.
func (m mode) receiveOverhead() *curve {
	if blocking(m.name) {
		return m.timer(sample.Timer12)
	}
	return m.timer(sample.Timer21)
}

func (m mode) overheads() {
	send := m.sendOverhead()
	m.ranges("o_s", send)
	if send != nil && send.timer == sample.Idle {
		m.warn("o_s", Hindered, "timer11 is longer than the same call after a wait, %s at %d bytes: what went before hinders it, o_s is from the latter",
			us(send.cells[0].value), send.cells[0].bytes)
	}
	m.ranges("o_r", m.receiveOverhead())
	m.directions()
}

// ranges adds a parameter that depends on size: for each piece its value at the first size, and its slope.
func (m mode) ranges(name string, c *curve) {
	if c == nil {
		return
	}
	for i, p := range c.pieces {
		row := m.row(name, c.timer, p.From, p.To, p.Samples)
		row.Value, row.Low, row.High, row.Unit = p.Value, p.Low, p.High, Micros
		row.Verdict = c.verdict(i, (p.High-p.Low)/2, p.Value)
		m.parameters = append(m.parameters, row)
		if p.From == p.To {
			continue
		}
		row.Value, row.Low, row.High, row.Unit = p.Slope, p.SlopeLow, p.SlopeHigh, PerByte
		length := float64(p.To - p.From)
		row.Verdict = c.verdict(i, length*(p.SlopeHigh-p.SlopeLow)/2, p.Value+length*p.Slope)
		m.parameters = append(m.parameters, row)
	}
	if n := len(c.cells); n < fewest {
		m.warn(name, FewSizes, "%d sizes, at least %d are needed to see whether %s is linear", n, fewest, c.timer)
	}
}

// verdict judges an interval of a half width, around a value, by that and by what is wrong with its piece.
func (c *curve) verdict(piece int, half, value float64) Verdict {
	if half > weakWidth*math.Abs(value) || c.bent[piece] || len(c.cells) < fewest {
		return Weak
	}
	n, disagree := 0, 0
	for _, x := range c.cells {
		if p := c.pieces[piece]; x.bytes < p.From || x.bytes > p.To {
			continue
		}
		n++
		if x.few {
			return Weak
		}
		if x.disagree {
			disagree++
		}
	}
	if 4*disagree > n {
		return Weak
	}
	return Good
}

// directions compares the send overheads of the two processors. P1 does not wait for a synchronous send of P2, it waits delta.
func (m mode) directions() {
	a, b := m.timer(sample.Timer11), m.timer(sample.Timer22)
	if a == nil || b == nil || m.name == "ssend" {
		return
	}
	x := &a.cells[0]
	y := b.at(x.bytes)
	if y == nil {
		return
	}
	apart := x.low > y.high || y.low > x.high
	if apart && math.Abs(x.value-y.value) > 0.1*max(math.Abs(x.value), math.Abs(y.value)) {
		m.warn("o_s", DirectionsDiffer, "%s of P1 (timer11) and %s of P2 (timer22) at %d bytes: the two processors are not alike",
			us(x.value), us(y.value), x.bytes)
	}
}

func us(x float64) string { return fmt.Sprintf("%.6g us", x) }

// latency adds L: as the paper has it for synchronous sends, and by round trip.
func (m mode) latency() {
	if m.name == "ssend" {
		m.byReceive()
	}
	m.byRoundTrip()
}

// byReceive adds
//
//	L = timer21 − timer12
//
// of synchronous sends at the smallest size: the receive with its wait less the receive without. It is an upper bound, which contains the
// sender's time until the first packet leaves.
func (m mode) byReceive() {
	wait, ready := m.timer(sample.Timer21), m.timer(sample.Timer12)
	if wait == nil || ready == nil {
		return
	}
	for _, x := range wait.cells {
		if y := ready.at(x.bytes); y != nil {
			if m.late(x, *y) {
				m.warn("L", Skew, "with one root of the barrier the receive begins after the message has come: %s is a wide bound", ByReceive)
			}
			m.latencyRow(ByReceive, combination([]cell{x, *y}, []float64{1, -1}, m.o.Level))
			return
		}
	}
	m.warn("L", FewSizes, "timer21 and timer12 have no size in common")
}

// late says whether timer21 with one of the roots is no longer than timer12, y: the skew of the barrier is longer than the way, so that
// the receive finds its message, and the mean of the roots is not free of the skew.
func (m mode) late(x, y cell) bool {
	if x.roots == nil {
		return false
	}
	lower := x.roots[0]
	if x.roots[1].value < lower.value {
		lower = x.roots[1]
	}
	return !y.slower(lower, m.o)
}

// byRoundTrip adds
//
//	L = rtt/2 − o_s − o_r − (k−1)·G
//
// at the smallest size, and two other readings of L: rtt/2 and rtt/2 − g.
func (m mode) byRoundTrip() {
	rtt, send, receive := m.timer(sample.RTT), m.sendOverhead(), m.receiveOverhead()
	if rtt == nil {
		return
	}
	done := false
	for i := range rtt.cells {
		s, r := send.at(rtt.cells[i].bytes), receive.at(rtt.cells[i].bytes)
		if done = s != nil && r != nil; done {
			c := combination([]cell{rtt.cells[i], *s, *r}, []float64{0.5, -1, -1}, m.o.Level)
			m.withoutBytes(&c, rtt)
			m.latencyRow(ByRoundTrip, c)
			break
		}
	}
	if !done {
		m.warn("L", FewSizes, "rtt, o_s and o_r have no size in common")
	}
	half := combination(rtt.cells[:1], []float64{0.5}, m.o.Level)
	m.latencyRow(ByHalfTrip, half)
	if g := m.timer(sample.Train).at(half.bytes); g != nil {
		m.latencyRow(ByHalfTripGap, combination([]cell{rtt.cells[0], *g}, []float64{0.5, -1}, m.o.Level))
	}
}

// withoutBytes takes (k−1)·G from a latency, G being the slope of rtt/2 where it begins, if there is one.
func (m mode) withoutBytes(c *cell, rtt *curve) {
	k := float64(c.bytes - 1)
	if k <= 0 || len(rtt.pieces) == 0 || rtt.pieces[0].SlopeLow <= 0 {
		return
	}
	c.value -= k * rtt.pieces[0].Slope / 2
	for b := range c.reps {
		c.reps[b] -= k * rtt.replicate[0][b].slope / 2
	}
	c.finish(c.slack, m.o.Level)
}

// latencyRow adds L as a cell shows it, if it is more than nothing.
func (m mode) latencyRow(method string, c cell) {
	row := m.row("L", method, c.bytes, c.bytes, c.n)
	row.Unit = Micros
	m.parameters = append(m.parameters, m.judged(row, c.value, c.low, c.high, c.few || c.disagree))
	if c.bytes > smallMessage {
		m.warn("L", FewSizes, "%s at %d bytes: the smallest size should be %d bytes or less", method, c.bytes, smallMessage)
	}
}

// judged completes a row of which the value can only be positive.
func (m mode) judged(row Parameter, value, low, high float64, doubtful bool) Parameter {
	if low <= 0 {
		code := Unidentified
		if row.Name == "L" && value < 0 {
			code = NegativeLatency
		}
		if row.Method != ByHalfTripGap { // of which nothing remains on many a sound machine
			m.warn(row.Name, code, "%s is %.6g %s, with an interval from %.6g to %.6g: not identifiable", row.Method, value, row.Unit, low, high)
		}
		row.Value, row.Low, row.High = math.NaN(), math.NaN(), math.NaN()
		row.Method += unidentifiable
		row.Verdict = NotIdentifiable
		return row
	}
	row.Value, row.Low, row.High, row.Verdict = rounded(value), rounded(low), rounded(high), Good
	if doubtful || (high-low)/2 > weakWidth*value {
		row.Verdict = Weak
	}
	return row
}

// gap adds g: the interval between the sends of a burst at the smallest size, if it is longer than either overhead. If not, the
// network is never the limit, and g is o_s by the paper's rule.
func (m mode) gap() {
	train := m.timer(sample.Train)
	if train == nil {
		return
	}
	t := train.cells[0]
	row := m.row("g", ByTrain, t.bytes, t.bytes, t.n)
	row.Unit = Micros
	s, r := m.sendOverhead().at(t.bytes), m.receiveOverhead().at(t.bytes)
	if s == nil {
		m.warn("g", FewSizes, "no o_s at %d bytes to compare the interval of the burst with", t.bytes)
		row = m.judged(row, t.value, t.low, t.high, true)
		row.Verdict = Weak
		m.parameters = append(m.parameters, row)
		return
	}
	if s.slower(t, m.o) && (r == nil || r.slower(t, m.o)) {
		m.parameters = append(m.parameters, m.judged(row, t.value, t.low, t.high, t.few || t.disagree || s.disagree))
		return
	}
	limit, longest := "o_s", s
	if r != nil && r.value > s.value {
		limit, longest = "o_r", r
	}
	m.warn("g", Unidentified, "the burst's interval of %s is not longer than %s, which is %s: the overhead hides the gap, g is about o_s",
		us(t.value), limit, us(longest.value))
	row.Method, row.Samples, row.Verdict = ByOverhead, s.n, NotIdentifiable
	row.Value, row.Low, row.High = rounded(s.value), rounded(s.low), rounded(s.high)
	m.parameters = append(m.parameters, row)
}

// slower says whether t is longer than c, by more than the interval of the difference and twice the tolerance.
func (c *cell) slower(t cell, o Options) bool {
	d := combination([]cell{t, *c}, []float64{1, -1}, o.Level)
	return d.low > 2*o.Tolerance*math.Abs(c.value)
}

// bandwidth adds G, always of the longest messages: the slope of the last piece of a curve.
//
// For MPI calls the curve is what a blocking receive takes longer than a non-blocking one,
//
//	timer21(send) − timer21(isend)
//
// For messages it is the one-way time, rtt/2, so that o_s + L + (k−1)·G + o_r with the overheads of a small message is the
// one-way time of k bytes; and the times of get and put.
func (m mode) bandwidth() {
	if m.name == "message" {
		if rtt := m.timer(sample.RTT); rtt != nil {
			m.slope(rtt.times(0.5, ByHalfTrip, m.o.Level))
		}
		for _, timer := range []string{sample.Get, sample.Put} {
			if c := m.timer(timer); c != nil {
				m.lastPiece(c)
			}
		}
		return
	}
	wait, start := m.timer(sample.Timer21), m.curve("i"+m.name, sample.Timer21)
	if wait != nil && start != nil {
		wait = m.early(wait)
		m.slope(wait.minus(start, ByBlocking, m.o.Level))
	}
}

// early returns timer21 with the root with which the receive begins early, if with the other it is late at some size. The skew is
// then part of every time, and of no slope.
func (m mode) early(wait *curve) *curve {
	ready := m.timer(sample.Timer12)
	late, sum := 0, [2]float64{}
	for _, x := range wait.cells {
		if y := ready.at(x.bytes); y != nil && m.late(x, *y) {
			late++
		}
		for j, r := range x.roots {
			sum[j] += r.value
		}
	}
	if late == 0 || slices.ContainsFunc(wait.cells, func(x cell) bool { return x.roots == nil }) {
		return wait
	}
	root := 0
	if sum[1] > sum[0] {
		root = 1
	}
	out := *wait
	out.cells, out.scales = nil, nil
	for _, x := range wait.cells {
		out.cells, out.scales = append(out.cells, x.roots[root]), append(out.scales, math.Abs(x.roots[root].value))
	}
	m.warn("G", Skew, "with one root of the barrier the receive begins after the message has come, at %d of %d sizes: only the other counts",
		late, len(wait.cells))
	return &out
}

// slope fits a curve made of others and adds G.
func (m mode) slope(c *curve) {
	c.cut(m.o)
	m.derived = append(m.derived, c.public())
	m.lastPiece(c)
}

func (m mode) lastPiece(c *curve) {
	if n := len(c.cells); n < 2 {
		m.warn("G", FewSizes, "%s: %d sizes have no slope", c.timer, n)
		return
	} else if n < fewest {
		m.warn("G", FewSizes, "%s: %d sizes, at least %d are needed to see whether it is linear", c.timer, n, fewest)
	}
	last := len(c.pieces) - 1
	if c.bent[last] {
		m.warn("G", NotLinear, "%s: some medians are more than 5 %% away from the straight pieces, beyond their intervals", c.timer)
	}
	p := c.pieces[last]
	row := m.row("G", c.timer, p.From, p.To, p.Samples)
	row.Unit = PerByte
	m.parameters = append(m.parameters, m.judged(row, p.Slope, p.SlopeLow, p.SlopeHigh, c.verdict(last, 0, 1) != Good))
}

func (m mode) row(name, method string, from, to, samples int) Parameter {
	return Parameter{Platform: m.platform, Library: m.library, Place: m.place, Mode: m.name,
		Name: name, Method: method, From: from, To: to, Samples: samples}
}

func (m mode) warn(parameter, code, format string, args ...any) {
	m.warnings = append(m.warnings, Warning{m.platform, m.library, m.place, m.name, parameter, code, fmt.Sprintf(format, args...)})
}
