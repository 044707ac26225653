package fit

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// sendOverhead returns the timer that shows o_s: timer11, but idle where what went before hinders the send of timer11, as
// the barrier's last message does on a machine with a long gap, if it was measured at more than a few sizes. A synchronous send waits for its peer, of which idle shows less. Without
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
	if y := send.at(x.bytes); y != nil && x.slower(*y, m.o) && 2*len(idle.cells) > len(send.cells) {
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
	if trains := m.trainsOf(m.name).send; trains != send { // another reading
		m.ranges("o_s", trains)
	}
	m.ranges("o_r", m.receiveOverhead())
	m.directions()
}

// ranges adds a parameter that depends on size: for each piece its value at the first size, and its slope.
func (m mode) ranges(name string, c *curve) {
	if c == nil {
		return
	}
	for i := range c.pieces {
		m.rangeRows(name, c, i)
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

// rangeRows adds the rows of a piece. A time that falls with length is no overhead a byte, and is taken for constant; one that is not above nothing is no number.
func (m mode) rangeRows(name string, c *curve, piece int) {
	p, lines := c.pieces[piece], c.replicate[piece]
	falls := -p.Slope*float64(p.To-p.From) > m.o.Tolerance*p.Value
	if p.Slope < 0 {
		p, lines = c.levelled(piece, m.o)
	}
	if falls {
		m.warn(name, Falls, "%s: from %d to %d bytes the times fall with length, and are taken for one", c.timer, p.From, p.To)
	}
	row := m.row(name, c.timer, p.From, p.To, p.Samples)
	row.Unit, row.Off, row.Most = Micros, rounded(c.off[piece].middle), rounded(c.off[piece].most)
	values, slopes := draw(lines, func(l line) float64 { return l.value }), draw(lines, func(l line) float64 { return l.slope })
	if p.Value <= 0 {
		m.warn(name, Unidentified, "%s: from %d bytes on %s, which is too short to be told from nothing", c.timer, p.From, us(p.Value))
		m.add(m.unknown(row), values)
		return
	}
	row.Value, row.Low, row.High = p.Value, max(p.Low, 0), p.High
	row.Verdict = c.verdict(piece, (row.High-row.Low)/2, p.Value)
	if falls && row.Verdict == Good {
		row.Verdict = Weak
	}
	m.add(row, values)
	if p.From == p.To {
		return
	}
	row.Value, row.Low, row.High, row.Unit = p.Slope, p.SlopeLow, p.SlopeHigh, PerByte
	length := float64(p.To - p.From)
	if !falls {
		row.Verdict = c.verdict(piece, length*(p.SlopeHigh-p.SlopeLow)/2, p.Value+length*p.Slope)
	}
	m.add(row, slopes)
}

// levelled returns a piece, and its replicates, without slope.
func (c *curve) levelled(piece int, o Options) (Piece, []line) {
	p := c.pieces[piece]
	from, to := -1, 0
	for i, x := range c.cells {
		if p.From <= x.bytes && x.bytes <= p.To {
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	points := c.fitted.cut(from, to)
	l := fitLevel(points)
	lines, values := make([]line, o.Replicates), make([]float64, o.Replicates)
	again := points
	again.y = make([]float64, len(points.y))
	for b := range lines {
		for i := range again.y {
			again.y[i] = c.cells[from+i].reps[b]
		}
		lines[b] = fitLevel(again)
		values[b] = lines[b].value
	}
	slices.Sort(values)
	slack := c.cells[from].slack
	p.Low, p.High = interval(values, l.value, o.Level)
	p.Value, p.Low, p.High = rounded(l.value), rounded(p.Low-slack), rounded(p.High+slack)
	p.Slope, p.SlopeLow, p.SlopeHigh = 0, 0, 0
	return p, lines
}

// draw returns what lines say.
func draw(lines []line, of func(line) float64) []float64 {
	out := make([]float64, len(lines))
	for b, l := range lines {
		out[b] = of(l)
	}
	return out
}

// verdict judges an interval of a half width, around a value, by that and by what is wrong with its piece.
func (c *curve) verdict(piece int, half, value float64) Verdict {
	if c.off[piece].middle > badFit {
		return Bad
	}
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
	m.warn(name, NotLinear, "%s: from %d to %d bytes some medians are more than 5 %% away from the line, beyond their intervals: half of them more than %.2g %%, one %.2g %%",
		c.timer, p.From, p.To, 100*c.off[piece].middle, 100*c.off[piece].most)
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
