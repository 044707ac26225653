package fit

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// sendOverhead returns the timer that shows o_s: timer11, but idle where what went before hinders the send of timer11, as
// the barrier's last message does on a machine with a long gap. A synchronous send waits for its peer, of which idle shows less. Without
// either it is what round-trip trains with waits show.
func (m mode) sendOverhead() *curve {
	send, idle := m.timer(sample.Timer11), m.timer(sample.Idle)
	switch {
	case send == nil && idle == nil:
		return m.trainsOf(m.name).send
	case send == nil || idle == nil || m.name == "ssend":
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
		m.add(row, c.draw(i, func(l line) float64 { return l.value }))
		if p.From == p.To {
			continue
		}
		row.Value, row.Low, row.High, row.Unit = p.Slope, p.SlopeLow, p.SlopeHigh, PerByte
		length := float64(p.To - p.From)
		row.Verdict = c.verdict(i, length*(p.SlopeHigh-p.SlopeLow)/2, p.Value+length*p.Slope)
		m.add(row, c.draw(i, func(l line) float64 { return l.slope }))
	}
	for i := range c.pieces {
		if c.bent[i] {
			m.bent(name, c, i)
		}
	}
	if n := len(c.cells); n < fewest {
		m.warn(name, FewSizes, "%d of at least %d sizes that are needed to see whether %s is linear", n, fewest, c.timer)
	}
}

// draw returns the replicates of what a piece's line says.
func (c *curve) draw(piece int, of func(line) float64) []float64 {
	out := make([]float64, len(c.replicate[piece]))
	for b, l := range c.replicate[piece] {
		out[b] = of(l)
	}
	return out
}

// verdict judges an interval of a half width, around a value, by that and by what is wrong with its piece.
func (c *curve) verdict(piece int, half, value float64) Verdict {
	if half > weakWidth*math.Abs(value) || c.bent[piece] || len(c.cells) < fewest {
		return Weak
	}
	if slices.ContainsFunc(c.of(piece), func(x cell) bool { return x.few }) || c.divided(piece) {
		return Weak
	}
	return Good
}

// of returns the cells of a piece.
func (c *curve) of(piece int) []cell {
	p := c.pieces[piece]
	var out []cell
	for _, x := range c.cells {
		if p.From <= x.bytes && x.bytes <= p.To {
			out = append(out, x)
		}
	}
	return out
}

// divided says whether roots disagree at more than a quarter of the sizes of a piece.
func (c *curve) divided(piece int) bool {
	n := 0
	for _, x := range c.of(piece) {
		if x.disagree {
			n++
		}
	}
	return 4*n > len(c.of(piece))
}

// bent warns of a piece that is not straight.
func (m mode) bent(name string, c *curve, piece int) {
	p := c.pieces[piece]
	m.warn(name, NotLinear, "%s: from %d to %d bytes some medians are more than 5 %% away from the line, beyond their intervals", c.timer, p.From, p.To)
}

// directions compares the send overheads of the two processors. P1 does not receive what P2 sends at once, it waits delta, which is
// more than twice as long as a send and a receive. A send that takes so long has waited for its receive, and shows no overhead.
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
	if r := m.timer(sample.Timer12).at(x.bytes); r != nil && y.value > 2*(x.value+r.value) {
		return
	}
	apart := x.low > y.high || y.low > x.high
	if apart && math.Abs(x.value-y.value) > 0.1*max(math.Abs(x.value), math.Abs(y.value)) {
		m.warn("o_s", DirectionsDiffer, "%s of P1 (timer11) and %s of P2 (timer22) at %d bytes: the two processors are not alike",
			us(x.value), us(y.value), x.bytes)
	}
}
