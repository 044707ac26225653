package fit

import (
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

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
			m.latencyRow(ByReceive, combination([]cell{x, *y}, []float64{1, -1}, m.o.Level))
			if m.late(x, *y) {
				m.widen(x, *y)
			}
			return
		}
	}
	m.warn("L", FewSizes, "timer21 and timer12 have no size in common")
}

// widen makes the interval of the last row one that holds both roots' differences, from zero on, and the row weak. The root with which
// the receive is late shows no latency, the other as much as skew and latency together.
func (m mode) widen(x, y cell) {
	row := &m.parameters[len(m.parameters)-1]
	if row.Verdict == NotIdentifiable {
		return
	}
	for _, r := range x.roots {
		d := combination([]cell{r, y}, []float64{1, -1}, m.o.Level)
		row.Low, row.High = max(min(row.Low, rounded(d.low)), 0), max(row.High, rounded(d.high))
	}
	row.Verdict = Weak
	m.warn("L", Skew, "with one root of the barrier the receive begins after the message has come: L is somewhere from %s to %s, and the value no more than the middle",
		us(row.Low), us(row.High))
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
// at the smallest size, but not of synchronous sends, and two other readings of L: rtt/2 and rtt/2 − g.
func (m mode) byRoundTrip() {
	rtt, send, receive := m.timer(sample.RTT), m.sendOverhead(), m.receiveOverhead()
	if rtt == nil {
		return
	}
	if m.name != "ssend" { // its o_s contains the way already
		m.lessOverheads(rtt, send, receive)
	}
	half := combination(rtt.cells[:1], []float64{0.5}, m.o.Level)
	m.latencyRow(ByHalfTrip, half)
	if g := m.burst().at(half.bytes); g != nil {
		m.latencyRow(ByHalfTripGap, combination([]cell{rtt.cells[0], *g}, []float64{0.5, -1}, m.o.Level))
	}
}

func (m mode) lessOverheads(rtt, send, receive *curve) {
	if send == nil || receive == nil {
		m.onlyTheSum(rtt, send, receive)
		return
	}
	for _, x := range rtt.cells {
		if s, r := send.at(x.bytes), receive.at(x.bytes); s != nil && r != nil {
			c := combination([]cell{x, *s, *r}, []float64{0.5, -1, -1}, m.o.Level)
			m.withoutBytes(&c, rtt)
			m.latencyRow(ByRoundTrip, c)
			return
		}
	}
	m.warn("L", FewSizes, "rtt, o_s and o_r have no size in common")
}

// onlyTheSum adds L without a number: of a round trip alone it cannot be told from an overhead that was not measured.
func (m mode) onlyTheSum(rtt, send, receive *curve) {
	var missing []string
	for _, x := range []struct {
		name string
		of   *curve
	}{{"o_s", send}, {"o_r", receive}} {
		if x.of == nil {
			missing = append(missing, x.name)
		}
	}
	x := rtt.cells[0]
	m.warn("L", Unidentified, "half a round trip is o_s + L + o_r, and there are no samples of %s: what is known at %d bytes is rtt/2, %s",
		strings.Join(missing, " and "), x.bytes, us(x.value/2))
	row := m.row("L", ByRoundTrip, x.bytes, x.bytes, x.n)
	row.Unit = Micros
	m.add(m.unknown(row), x.reps)
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
	m.add(m.judged(row, c.value, c.low, c.high, c.few || c.disagree), c.reps)
	if c.bytes > smallMessage {
		m.warn("L", FewSizes, "%s at %d bytes: the smallest size should be %d bytes or less", method, c.bytes, smallMessage)
	}
}
