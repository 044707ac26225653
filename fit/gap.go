package fit

import (
	"math"

	"github.com/loggp/loggp/microbench/sample"
)

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
