package params

import (
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

// gap adds g: the interval between the sends of a burst at the smallest size, if it is longer than
// either overhead. If not, an overhead is the limit, and all that is known of g is that it is no
// longer: o_s by the paper's rule. A receiver that is busy for longer than the sender holds the
// burst up whatever the network could do, and nothing but a bound is known of g.
func (m Mode) gap() {
	train := m.Burst()
	if train == nil {
		m.streamGap()
		return
	}
	t := train.Cells[0]
	row := m.Row(Gap, train.Timer, t.Bytes, t.Bytes, t.N)
	s, r := m.SendOverhead().Cell(t.Bytes), m.ReceiveOverhead().Cell(t.Bytes)
	if s == nil {
		m.warn("g", clean.FewSizes, "no o_s at %d bytes to compare the interval of the burst with", t.Bytes)
		if row = m.judged(row, t.Value, t.Low, t.High, true); row.Verdict == Good {
			row.Verdict = Weak
		}
		m.add(row, t.Reps, t.Least)
		return
	}
	switch {
	case s.Slower(t, m.O) && (r == nil || r.Slower(t, m.O)):
		row = m.judged(row, t.Value, t.Low, t.High, t.Few() || t.Disagree || s.Disagree)
	case s.Slower(t, m.O):
		m.warn("g", clean.Unidentified, "the sends of a burst follow each other in %s, longer than o_s, but not than o_r, which is %s: the receiver may be what holds them up, and g is anything up to that interval",
			us(t.Value), us(r.Value))
		row = m.bound(row, train.Timer+upperBound, t)
	default: // the overhead hides it
		t, row.Samples = *s, s.N
		row = m.bound(row, ByOverhead, t)
	}
	m.add(row, t.Reps, t.Least)
}

// streamGap adds a bound of g where there are only windows of sends: each message has a part of the
// answer in it.
func (m Mode) streamGap() {
	stream := m.Timer(sample.Stream)
	if stream == nil {
		return
	}
	t := stream.Cells[0]
	m.warn("g", clean.Unidentified, "a message of a window takes %s, in which there is a part of the answer that ends the window, and maybe the receiver: g is anything up to that",
		us(t.Value))
	row := m.Row(Gap, "", t.Bytes, t.Bytes, t.N)
	m.add(m.bound(row, stream.Timer+upperBound, t), t.Reps, t.Least)
}

// bound completes a row whose value is only known not to exceed a number.
func (m Mode) bound(row Parameter, method string, c clean.Cell) Parameter {
	row.Method, row.Verdict = method, NotIdentifiable
	if c.Value <= 0 { // none
		row.Method = strings.TrimSuffix(method, upperBound)
		return m.unknown(row)
	}
	row.Value, row.Low, row.High = clean.Rounded(c.Value), clean.Rounded(max(c.Low, 0)), clean.Rounded(c.High)
	return row
}
