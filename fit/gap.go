package fit

import (
	"math"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// gap adds g: the interval between the sends of a burst at the smallest size, if it is longer than either overhead. If not, an
// overhead is the limit. Where that is o_s, g is about o_s by the paper's rule. A receiver that is busy for longer than the sender holds
// the burst up whatever the network could do, and nothing but a bound is known of g.
func (m mode) gap() {
	train := m.burst()
	if train == nil {
		m.streamGap()
		return
	}
	t := train.cells[0]
	row := m.row("g", train.timer, t.bytes, t.bytes, t.n)
	row.Unit = Micros
	s, r := m.sendOverhead().at(t.bytes), m.receiveOverhead().at(t.bytes)
	if s == nil {
		m.warn("g", FewSizes, "no o_s at %d bytes to compare the interval of the burst with", t.bytes)
		if row = m.judged(row, t.value, t.low, t.high, true); row.Verdict == Good {
			row.Verdict = Weak
		}
		m.add(row, t.reps)
		return
	}
	switch {
	case s.slower(t, m.o) && (r == nil || r.slower(t, m.o)):
		row = m.judged(row, t.value, t.low, t.high, t.few || t.disagree || s.disagree)
	case s.slower(t, m.o):
		m.warn("g", Unidentified, "the sends of a burst follow each other in %s, longer than o_s, but not than o_r, which is %s: the receiver may be what holds them up, and g is anything up to that interval",
			us(t.value), us(r.value))
		row = m.bound(row, train.timer+upperBound, t)
	default: // the paper's rule
		row.Samples = s.n
		row = m.bound(row, ByOverhead, *s)
	}
	m.add(row, t.reps)
}

// streamGap adds a bound of g where there are only windows of sends: each message has a part of the answer in it.
func (m mode) streamGap() {
	stream := m.timer(sample.Stream)
	if stream == nil {
		return
	}
	t := stream.cells[0]
	m.warn("g", Unidentified, "a message of a window takes %s, in which there is a part of the answer that ends the window, and maybe the receiver: g is anything up to that",
		us(t.value))
	row := m.row("g", "", t.bytes, t.bytes, t.n)
	row.Unit = Micros
	m.add(m.bound(row, stream.timer+upperBound, t), t.reps)
}

// bound completes a row of which all that is known is a number that it does not exceed.
func (m mode) bound(row Parameter, method string, c cell) Parameter {
	row.Method, row.Verdict = method, NotIdentifiable
	if c.value <= 0 { // none
		row.Method = strings.TrimSuffix(method, upperBound)
		return m.unknown(row)
	}
	row.Value, row.Low, row.High = rounded(c.value), rounded(max(c.low, 0)), rounded(c.high)
	return row
}

// slower says whether t is longer than c, by more than the interval of the difference and twice the tolerance.
func (c *cell) slower(t cell, o Options) bool {
	d := combination([]cell{t, *c}, []float64{1, -1}, o.Level)
	return d.low > 2*o.Tolerance*math.Abs(c.value)
}
