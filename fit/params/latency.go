package params

import (
	"math"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// addLatency adds L: for synchronous sends as in the paper, and from round trips.
func (m Mode) addLatency() {
	if m.Name == "ssend" {
		m.addLatencyFromReceive()
	}
	m.addLatencyFromRoundTrip()
}

// addLatencyFromReceive adds
//
//	L = timer21 − timer12
//
// for synchronous sends at the smallest size: the receive with its wait minus the receive without.
// It is an upper bound, because it includes the sender's time until the first packet leaves.
func (m Mode) addLatencyFromReceive() {
	wait, ready := m.TimerCurve(sample.Timer21), m.TimerCurve(sample.Timer12)
	if wait == nil || ready == nil {
		return
	}
	for _, x := range wait.Cells {
		if y := ready.CellOf(x.Bytes); y != nil {
			m.addLatencyBoundFromReceive(clean.LinearCombination([]clean.Cell{x, *y}, []float64{1, -1}, m.Options.ConfidenceLevel), x, *y)
			return
		}
	}
	m.addWarning("L", clean.CodeFewSizes, "timer21 and timer12 have no size in common")
}

// addLatencyBoundFromReceive adds the bound timer21 − timer12 of L, from x and y. With one root of
// the barrier the receive may be late and find its message. That root shows no latency. The other
// then shows the sum of skew and latency, which is the bound.
func (m Mode) addLatencyBoundFromReceive(d, x, y clean.Cell) {
	if m.isReceiveLate(x, y) {
		for _, r := range x.Roots {
			if c := clean.LinearCombination([]clean.Cell{r, y}, []float64{1, -1}, m.Options.ConfidenceLevel); c.Value > d.Value {
				d = c
			}
		}
		m.addWarning("L", clean.CodeSkew, "with one root of the barrier the receive begins after the message has come: L is anything up to %s", formatMicros(d.High))
	}
	row := m.fillUpperBoundRow(m.NewRow(Latency, "", d.Bytes, d.Bytes, d.SampleCount), MethodReceiveDifference, d)
	if row.Verdict == UnidentifiableVerdict && math.IsNaN(row.Value) {
		m.addWarning("L", clean.CodeNegativeLatency, "timer21 - timer12 is %s: not identifiable", formatMicros(d.Value))
	}
	m.addRow(row, d.Replicates, d.FewestSamples)
}

// isReceiveLate reports whether timer21 with one of the roots is no longer than timer12, y. The
// skew of the barrier is then longer than the one-way time, so the receive finds its message, and
// the mean of the roots includes skew.
func (m Mode) isReceiveLate(x, y clean.Cell) bool {
	if x.Roots == nil {
		return false
	}
	lower := x.Roots[0]
	if x.Roots[1].Value < lower.Value {
		lower = x.Roots[1]
	}
	return !y.IsShorterThan(lower, m.Options)
}

// addLatencyFromRoundTrip adds
//
//	L = rtt/2 − o_s − o_r − (k−1)·G
//
// at the smallest size, except for synchronous sends, and two other estimates of L: rtt/2 and rtt/2
// − g.
func (m Mode) addLatencyFromRoundTrip() {
	rtt, send, receive := m.TimerCurve(sample.TimerRTT), m.SendOverheadCurve(), m.ReceiveOverheadCurve()
	if rtt == nil {
		return
	}
	if m.Name != "ssend" { // its o_s already includes the one-way time
		m.addHalfRoundTripLessOverheads(rtt, send, receive)
	}
	half := clean.LinearCombination(rtt.Cells[:1], []float64{0.5}, m.Options.ConfidenceLevel)
	m.addLatencyRow(MethodHalfRoundTrip, half)
	if g := m.GapCurve().CellOf(half.Bytes); g != nil {
		m.addLatencyRow(MethodHalfRoundTripLessGap, clean.LinearCombination([]clean.Cell{rtt.Cells[0], *g}, []float64{0.5, -1}, m.Options.ConfidenceLevel))
	}
}

func (m Mode) addHalfRoundTripLessOverheads(rtt, send, receive *curve.Curve) {
	if send == nil || receive == nil {
		m.addUndeterminedLatency(rtt, send, receive)
		return
	}
	for _, x := range rtt.Cells {
		if s, r := send.CellOf(x.Bytes), receive.CellOf(x.Bytes); s != nil && r != nil {
			c := clean.LinearCombination([]clean.Cell{x, *s, *r}, []float64{0.5, -1, -1}, m.Options.ConfidenceLevel)
			m.subtractByteTime(&c, rtt)
			m.addLatencyRow(MethodHalfRoundTripLessOverheads, c)
			return
		}
	}
	m.addWarning("L", clean.CodeFewSizes, "rtt, o_s and o_r have no size in common")
}

// addUndeterminedLatency adds L without a number: a round trip alone does not separate it from an
// overhead that was not measured.
func (m Mode) addUndeterminedLatency(rtt, send, receive *curve.Curve) {
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
	m.addWarning("L", clean.CodeUnidentified, "half a round trip is o_s + L + o_r, and there are no samples of %s: what is known at %d bytes is rtt/2, %s",
		strings.Join(missing, " and "), x.Bytes, formatMicros(x.Value/2))
	m.addRow(m.fillUnidentifiableRow(m.NewRow(Latency, MethodHalfRoundTripLessOverheads, x.Bytes, x.Bytes, x.SampleCount)), x.Replicates, x.FewestSamples)
}

// subtractByteTime subtracts (k−1)·G from a latency, where G is the initial slope of rtt/2, if
// there is one.
func (m Mode) subtractByteTime(c *clean.Cell, rtt *curve.Curve) {
	k := float64(c.Bytes - 1)
	if k <= 0 || len(rtt.Pieces) == 0 || rtt.Pieces[0].SlopeLow <= 0 {
		return
	}
	c.Value -= k * rtt.Pieces[0].Slope / 2
	for b := range c.Replicates {
		c.Replicates[b] -= k * rtt.LineReplicates[0][b].Slope / 2
	}
	c.SetInterval(c.ResolutionError, m.Options.ConfidenceLevel)
}

// addLatencyRow adds L from a cell if it is positive.
func (m Mode) addLatencyRow(method string, c clean.Cell) {
	row := m.NewRow(Latency, method, c.Bytes, c.Bytes, c.SampleCount)
	m.addRow(m.fillPositiveRow(row, c.Value, c.Low, c.High, c.HasFewSamples() || c.HasDisagreeingRoots), c.Replicates, c.FewestSamples)
	if c.Bytes > maxSmallMessageBytes {
		m.addWarning("L", clean.CodeFewSizes, "%s at %d bytes: the smallest size should be %d bytes or less", method, c.Bytes, maxSmallMessageBytes)
	}
}
