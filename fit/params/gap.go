package params

import (
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

// addGap adds g: the interval between the sends of a burst at the smallest size, if it is longer
// than either overhead. Otherwise an overhead is the limit, and only an upper bound of g is known:
// o_s by the paper's rule. A receiver that is busy for longer than the sender delays the burst in
// any case, so again only a bound is known.
func (m Mode) addGap() {
	train := m.GapCurve()
	if train == nil {
		m.addGapBoundOfStream()
		return
	}
	t := train.Cells[0]
	row := m.NewRow(Gap, train.Timer, t.Bytes, t.Bytes, t.SampleCount)
	s, r := m.SendOverheadCurve().CellOf(t.Bytes), m.ReceiveOverheadCurve().CellOf(t.Bytes)
	if s == nil {
		m.addWarning("g", clean.CodeFewSizes, "no o_s at %d bytes to compare the interval of the burst with", t.Bytes)
		if row = m.fillPositiveRow(row, t.Value, t.Low, t.High, true); row.Verdict == GoodVerdict {
			row.Verdict = WeakVerdict
		}
		m.addRow(row, t.Replicates, t.FewestSamples)
		return
	}
	switch {
	case s.IsShorterThan(t, m.Options) && (r == nil || r.IsShorterThan(t, m.Options)):
		row = m.fillPositiveRow(row, t.Value, t.Low, t.High, t.HasFewSamples() || t.HasDisagreeingRoots || s.HasDisagreeingRoots)
	case s.IsShorterThan(t, m.Options):
		m.addWarning("g", clean.CodeUnidentified, "the sends of a burst follow each other in %s, longer than o_s, but not than o_r, which is %s: the receiver may be what holds them up, and g is anything up to that interval",
			formatMicros(t.Value), formatMicros(r.Value))
		row = m.fillUpperBoundRow(row, train.Timer+upperBoundMethodSuffix, t)
	default: // hidden by the overhead
		t, row.SampleCount = *s, s.SampleCount
		row = m.fillUpperBoundRow(row, MethodGapAtMostSendOverhead, t)
	}
	m.addRow(row, t.Replicates, t.FewestSamples)
}

// addGapBoundOfStream adds a bound of g if only windows of sends were measured: the time of each
// message includes a part of the answer.
func (m Mode) addGapBoundOfStream() {
	stream := m.TimerCurve(sample.TimerStream)
	if stream == nil {
		return
	}
	t := stream.Cells[0]
	m.addWarning("g", clean.CodeUnidentified, "a message of a window takes %s, in which there is a part of the answer that ends the window, and maybe the receiver: g is anything up to that",
		formatMicros(t.Value))
	row := m.NewRow(Gap, "", t.Bytes, t.Bytes, t.SampleCount)
	m.addRow(m.fillUpperBoundRow(row, stream.Timer+upperBoundMethodSuffix, t), t.Replicates, t.FewestSamples)
}

// fillUpperBoundRow fills a row for which only an upper bound is known.
func (m Mode) fillUpperBoundRow(row Parameter, method string, c clean.Cell) Parameter {
	row.Method, row.Verdict = method, UnidentifiableVerdict
	if c.Value <= 0 { // none
		row.Method = strings.TrimSuffix(method, upperBoundMethodSuffix)
		return m.fillUnidentifiableRow(row)
	}
	row.Value, row.Low, row.High = clean.RoundDigits(c.Value), clean.RoundDigits(max(c.Low, 0)), clean.RoundDigits(c.High)
	return row
}
