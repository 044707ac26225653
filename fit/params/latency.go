package params

import (
	"math"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// latency adds L: as the paper has it for synchronous sends, and by round trip.
func (m Mode) latency() {
	if m.Name == "ssend" {
		m.byReceive()
	}
	m.byRoundTrip()
}

// byReceive adds
//
//	L = timer21 − timer12
//
// of synchronous sends at the smallest size: the receive with its wait less the receive without. It
// is an upper bound, which contains the sender's time until the first packet leaves.
func (m Mode) byReceive() {
	wait, ready := m.Timer(sample.Timer21), m.Timer(sample.Timer12)
	if wait == nil || ready == nil {
		return
	}
	for _, x := range wait.Cells {
		if y := ready.Cell(x.Bytes); y != nil {
			m.receiveRow(clean.Combine([]clean.Cell{x, *y}, []float64{1, -1}, m.O.Level), x, *y)
			return
		}
	}
	m.warn("L", clean.FewSizes, "timer21 and timer12 have no size in common")
}

// receiveRow adds the bound of L that timer21, x, less timer12, y, is. With one root of the barrier
// the receive may be late and find its message; that root shows no latency, and the other as much
// as skew and latency together, which then is the bound.
func (m Mode) receiveRow(d, x, y clean.Cell) {
	if m.late(x, y) {
		for _, r := range x.Roots {
			if c := clean.Combine([]clean.Cell{r, y}, []float64{1, -1}, m.O.Level); c.Value > d.Value {
				d = c
			}
		}
		m.warn("L", clean.Skew, "with one root of the barrier the receive begins after the message has come: L is anything up to %s", us(d.High))
	}
	row := m.bound(m.Row(Latency, "", d.Bytes, d.Bytes, d.N), ByReceive, d)
	if row.Verdict == NotIdentifiable && math.IsNaN(row.Value) {
		m.warn("L", clean.NegativeLatency, "timer21 - timer12 is %s: not identifiable", us(d.Value))
	}
	m.add(row, d.Reps, d.Least)
}

// late says whether timer21 with one of the roots is no longer than timer12, y: the skew of the
// barrier is longer than the way, so that the receive finds its message, and the mean of the roots
// is not free of the skew.
func (m Mode) late(x, y clean.Cell) bool {
	if x.Roots == nil {
		return false
	}
	lower := x.Roots[0]
	if x.Roots[1].Value < lower.Value {
		lower = x.Roots[1]
	}
	return !y.Slower(lower, m.O)
}

// byRoundTrip adds
//
//	L = rtt/2 − o_s − o_r − (k−1)·G
//
// at the smallest size, but not of synchronous sends, and two other readings of L: rtt/2 and rtt/2
// − g.
func (m Mode) byRoundTrip() {
	rtt, send, receive := m.Timer(sample.RTT), m.SendOverhead(), m.ReceiveOverhead()
	if rtt == nil {
		return
	}
	if m.Name != "ssend" { // its o_s contains the way already
		m.lessOverheads(rtt, send, receive)
	}
	half := clean.Combine(rtt.Cells[:1], []float64{0.5}, m.O.Level)
	m.latencyRow(ByHalfTrip, half)
	if g := m.Burst().Cell(half.Bytes); g != nil {
		m.latencyRow(ByHalfTripGap, clean.Combine([]clean.Cell{rtt.Cells[0], *g}, []float64{0.5, -1}, m.O.Level))
	}
}

func (m Mode) lessOverheads(rtt, send, receive *curve.Curve) {
	if send == nil || receive == nil {
		m.onlyTheSum(rtt, send, receive)
		return
	}
	for _, x := range rtt.Cells {
		if s, r := send.Cell(x.Bytes), receive.Cell(x.Bytes); s != nil && r != nil {
			c := clean.Combine([]clean.Cell{x, *s, *r}, []float64{0.5, -1, -1}, m.O.Level)
			m.withoutBytes(&c, rtt)
			m.latencyRow(ByRoundTrip, c)
			return
		}
	}
	m.warn("L", clean.FewSizes, "rtt, o_s and o_r have no size in common")
}

// onlyTheSum adds L without a number: a round trip alone does not separate it from an overhead that
// was not measured.
func (m Mode) onlyTheSum(rtt, send, receive *curve.Curve) {
	var missing []string
	for _, x := range []struct {
		name string
		of   *curve.Curve
	}{{"o_s", send}, {"o_r", receive}} {
		if x.of == nil {
			missing = append(missing, x.name)
		}
	}
	x := rtt.Cells[0]
	m.warn("L", clean.Unidentified, "half a round trip is o_s + L + o_r, and there are no samples of %s: what is known at %d bytes is rtt/2, %s",
		strings.Join(missing, " and "), x.Bytes, us(x.Value/2))
	m.add(m.unknown(m.Row(Latency, ByRoundTrip, x.Bytes, x.Bytes, x.N)), x.Reps, x.Least)
}

// withoutBytes takes (k−1)·G from a latency, G being the slope of rtt/2 where it begins, if there
// is one.
func (m Mode) withoutBytes(c *clean.Cell, rtt *curve.Curve) {
	k := float64(c.Bytes - 1)
	if k <= 0 || len(rtt.Pieces) == 0 || rtt.Pieces[0].SlopeLow <= 0 {
		return
	}
	c.Value -= k * rtt.Pieces[0].Slope / 2
	for b := range c.Reps {
		c.Reps[b] -= k * rtt.Replicate[0][b].Slope / 2
	}
	c.Finish(c.Slack, m.O.Level)
}

// latencyRow adds L as a cell shows it, if it is more than nothing.
func (m Mode) latencyRow(method string, c clean.Cell) {
	row := m.Row(Latency, method, c.Bytes, c.Bytes, c.N)
	m.add(m.judged(row, c.Value, c.Low, c.High, c.Few() || c.Disagree), c.Reps, c.Least)
	if c.Bytes > smallMessage {
		m.warn("L", clean.FewSizes, "%s at %d bytes: the smallest size should be %d bytes or less", method, c.Bytes, smallMessage)
	}
}
