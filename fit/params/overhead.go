package params

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// SendOverheadCurve returns the timer for o_s. It is timer11, or idle if an earlier message delays
// the send of timer11, as the barrier's last message does on a machine with a long gap, and idle
// was measured at more than half of the sizes. A synchronous send waits for its peer, which idle
// does not show. Without either, o_s comes from round-trip trains with waits.
func (m Mode) SendOverheadCurve() *curve.Curve {
	send, idle := m.TimerCurve(sample.Timer11), m.TimerCurve(sample.TimerIdle)
	switch {
	case send == nil && idle == nil:
		return m.DeriveRoundTripTrainResults(m.Name).SendOverhead
	case send == nil || idle == nil || m.Name == "ssend":
		return send
	}
	x := &idle.Cells[0]
	if y := send.CellOf(x.Bytes); y != nil && x.IsShorterThan(*y, m.Options) && 2*len(idle.Cells) > len(send.Cells) {
		return idle
	}
	return send
}

// ReceiveOverheadCurve returns the timer for o_r. For a blocking receive it is the one with the
// message already there.
func (m Mode) ReceiveOverheadCurve() *curve.Curve {
	if sample.IsBlockingMode(m.Name) {
		return m.TimerCurve(sample.Timer12)
	}
	return m.TimerCurve(sample.Timer21)
}

func (m Mode) addOverheads() {
	if sample.IsOneSidedMode(m.Name) {
		m.addRMAParameters()
		return
	}
	send := m.SendOverheadCurve()
	m.addSizeRanges(SendOverhead, send)
	if send != nil && send.Timer == sample.TimerIdle {
		m.addWarning("o_s", clean.CodeHindered, "timer11 is longer than the same call after a wait, %s at %d bytes: an earlier message delays it, and o_s is from the call after a wait",
			formatMicros(send.Cells[0].Value), send.Cells[0].Bytes)
	}
	if trains := m.DeriveRoundTripTrainResults(m.Name).SendOverhead; trains != send { // a second estimate
		m.addSizeRanges(SendOverhead, trains)
	}
	m.addSizeRanges(RecvOverhead, m.ReceiveOverheadCurve())
	if rtt := m.TimerCurve(sample.TimerRTT); rtt != nil {
		m.addSizeRanges(OneWayTime, rtt.ScaledBy(0.5, MethodHalfRoundTrip, m.Options.ConfidenceLevel))
	}
	m.warnIfSendOverheadsOfP1AndP2Differ()
}

// addSizeRanges adds a parameter that depends on size: for each piece its value at the first size,
// and its slope.
func (m Mode) addSizeRanges(kind Kind, c *curve.Curve) {
	if c == nil {
		return
	}
	for i := range c.Pieces {
		m.addPieceRows(kind, c, i)
	}
	for i := range c.Pieces {
		if c.IsPieceBent[i] {
			m.warnIfPieceNotStraight(kind.Name(), c, i)
		}
	}
	if n := len(c.Cells); n < curve.MinPieceSizes {
		m.addWarning(kind.Name(), clean.CodeFewSizes, "%d of at least %d sizes that are needed to see whether %s is linear", n, curve.MinPieceSizes, c.Timer)
	}
}

// addPieceRows adds the rows of a piece. A time that decreases with length is treated as constant;
// one that is not positive has no number.
func (m Mode) addPieceRows(kind Kind, c *curve.Curve, piece int) {
	p, lines := c.Pieces[piece], c.LineReplicates[piece]
	if p.IsFalling {
		m.addWarning(kind.Name(), clean.CodeFallingTimes, "%s: from %d to %d bytes the times fall with length: one number stands for all", c.Timer, p.From, p.To)
	}
	row := m.NewRow(kind, c.Timer, p.From, p.To, p.SampleCount)
	row.MedianFitDeviation, row.LargestFitDeviation = clean.RoundDigits(c.PieceDeviations[piece].MedianDeviation), clean.RoundDigits(c.PieceDeviations[piece].LargestDeviation)
	values, slopes := curve.LineReplicates(lines, func(l curve.Line) float64 { return l.Value }), curve.LineReplicates(lines, func(l curve.Line) float64 { return l.Slope })
	if p.Value <= 0 {
		m.addWarning(kind.Name(), clean.CodeUnidentified, "%s: from %d bytes on %s, which cannot be distinguished from zero", c.Timer, p.From, formatMicros(p.Value))
		m.addRow(m.fillUnidentifiableRow(row), values, p.FewestSamples)
		return
	}
	row.Value, row.Low, row.High = p.Value, max(p.Low, 0), p.High
	row.Verdict = PieceVerdict(c, piece, (row.High-row.Low)/2, p.Value)
	if p.IsFalling && row.Verdict == GoodVerdict {
		row.Verdict = WeakVerdict
	}
	m.addRow(row, values, p.FewestSamples)
	if p.From == p.To {
		return
	}
	row.Value, row.Low, row.High, row.Unit = p.Slope, p.SlopeLow, p.SlopeHigh, kindTable[kind].slope.Unit()
	length := float64(p.To - p.From)
	if !p.IsFalling {
		row.Verdict = PieceVerdict(c, piece, length*(p.SlopeHigh-p.SlopeLow)/2, p.Value+length*p.Slope)
	}
	m.addRow(row, slopes, p.FewestSamples)
}

// warnIfPieceNotStraight warns of a piece that is not straight.
func (m Mode) warnIfPieceNotStraight(name string, c *curve.Curve, piece int) {
	p := c.Pieces[piece]
	m.addWarning(name, clean.CodeNotLinear, "%s: from %d to %d bytes some medians are more than 5 %% away from the line, beyond their intervals: half of them more than %s %%, one %s %%",
		c.Timer, p.From, p.To, unit.Rounded(100*c.PieceDeviations[piece].MedianDeviation, 2), unit.Rounded(100*c.PieceDeviations[piece].LargestDeviation, 2))
}

// warnIfSendOverheadsOfP1AndP2Differ warns if the send overheads of the two processors differ. P1
// does not receive at once what P2 sends: it waits delta, more than twice the time of a send and a
// receive. A send that takes so long has waited for its receive, and shows no overhead.
func (m Mode) warnIfSendOverheadsOfP1AndP2Differ() {
	a, b := m.TimerCurve(sample.Timer11), m.TimerCurve(sample.Timer22)
	if a == nil || b == nil || m.Name == "ssend" {
		return
	}
	x := &a.Cells[0]
	y := b.CellOf(x.Bytes)
	if y == nil {
		return
	}
	if r := m.TimerCurve(sample.Timer12).CellOf(x.Bytes); r != nil && y.Value > 2*(x.Value+r.Value) {
		return
	}
	apart := x.Low > y.High || y.Low > x.High
	if apart && math.Abs(x.Value-y.Value) > 0.1*max(math.Abs(x.Value), math.Abs(y.Value)) {
		m.addWarning("o_s", clean.CodeDirectionsDiffer, "%s of P1 (timer11) and %s of P2 (timer22) at %d bytes: the two processors are not alike",
			formatMicros(x.Value), formatMicros(y.Value), x.Bytes)
	}
}

// PieceVerdict returns the verdict on a value with the given half width of its interval,
// considering the problems of its piece.
func PieceVerdict(c *curve.Curve, piece int, half, value float64) Verdict {
	if c.PieceDeviations[piece].MedianDeviation > badMedianFitDeviation {
		return BadVerdict
	}
	if half > WeakRelativeHalfWidth*math.Abs(value) || c.IsPieceBent[piece] || len(c.Cells) < curve.MinPieceSizes {
		return WeakVerdict
	}
	if slices.ContainsFunc(c.PieceCells(piece), func(x clean.Cell) bool { return x.HasFewSamples() }) || c.HasDisagreeingRoots(piece) {
		return WeakVerdict
	}
	return GoodVerdict
}
