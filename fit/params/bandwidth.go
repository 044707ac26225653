package params

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// addGapPerByte adds G, always of the longest messages: the slope of the last piece of a curve, or
// of the longest messages of it.
//
// For MPI calls the curve is what a blocking receive takes longer than a non-blocking one,
//
//	timer21(send) − timer21(isend)
//
// For messages it is the one-way time, rtt/2, so that o_s + L + (k−1)·G + o_r with the overheads of
// a small message is the one-way time of k bytes; and the times of get and put.
func (m Mode) addGapPerByte() {
	if sample.IsOneSidedMode(m.Name) {
		return // addAccessTimes has
	}
	if m.Name == sample.LowLevelMode {
		if rtt := m.TimerCurve(sample.TimerRTT); rtt != nil {
			m.addGapPerByteFromCurve(rtt.ScaledBy(0.5, MethodHalfRoundTrip, m.Options.ConfidenceLevel), false)
		}
		for _, timer := range []string{sample.TimerGet, sample.TimerPut} {
			if c := m.TimerCurve(timer); c != nil {
				m.addGapPerByteFromLastPiece(c, false)
			}
		}
		return
	}
	wait, start := m.TimerCurve(sample.Timer21), m.Curve("i"+m.Name, sample.Timer21)
	if wait == nil {
		m.addGapPerByteWithoutTimedReceives()
	}
	if wait != nil && start != nil {
		wait, late := m.selectEarlyReceiveCurve(wait)
		m.addGapPerByteFromCurve(wait.Minus(start, MethodReceiveLessWaitDifference, m.Options.ConfidenceLevel), late)
	}
	if wait != nil && m.DeriveRoundTripTrainResults(m.Name).messageInterval != nil { // other readings
		m.addGapPerByteWithoutTimedReceives()
	}
}

// addGapPerByteWithoutTimedReceives adds G of samples in which no receive is timed beside its send,
// as those of other tools: the slope of what a message adds to a train, to a window or to a burst,
// and that of half the round trip, which has the slopes of the overheads in it.
func (m Mode) addGapPerByteWithoutTimedReceives() {
	for _, c := range []*curve.Curve{m.DeriveRoundTripTrainResults(m.Name).messageInterval, m.TimerCurve(sample.TimerStream), m.TimerCurve(sample.TimerTrain)} {
		if c != nil && len(c.Cells) > 1 {
			m.addGapPerByteFromLastPiece(c, false)
		}
	}
	if rtt := m.TimerCurve(sample.TimerRTT); rtt != nil && len(rtt.Cells) > 1 {
		m.addGapPerByteFromCurve(rtt.ScaledBy(0.5, MethodHalfRoundTrip, m.Options.ConfidenceLevel), false)
	}
}

// maxReadyReceiveOverWaitingReceive is the largest time of a receive that finds its message over
// that of one that waits. Above it, data comes only when the receiver asks for it, and neither
// finds any.
const maxReadyReceiveOverWaitingReceive = 0.8

// maxBarrierRootTime returns the longer one of the times with the two roots of the barrier.
func maxBarrierRootTime(x clean.Cell) float64 {
	return math.Max(x.Roots[0].Value, x.Roots[1].Value)
}

// selectEarlyReceiveCurve returns timer21 with the root with which the receive begins early, if
// with the other it is late at some size. The skew is then part of every time, and of no slope. It
// also says whether that was necessary: what is left is doubtful.
func (m Mode) selectEarlyReceiveCurve(wait *curve.Curve) (root *curve.Curve, late bool) {
	if len(wait.Cells) == 0 {
		return wait, false
	}
	ready := m.TimerCurve(sample.Timer12)
	found, sum := 0, [2]float64{}
	most := wait.Cells[len(wait.Cells)-1].Bytes
	for _, x := range wait.Cells {
		counts := wait.Clock != "real" || x.Bytes*curve.LongSizeRatios[0] >= most
		if y := ready.CellOf(x.Bytes); y != nil && counts && m.isReceiveLate(x, *y) && y.Value < maxReadyReceiveOverWaitingReceive*maxBarrierRootTime(x) {
			found++
		}
		for j, r := range x.Roots {
			sum[j] += r.Value
		}
	}
	if found == 0 || slices.ContainsFunc(wait.Cells, func(x clean.Cell) bool { return x.Roots == nil }) {
		return wait, false
	}
	j := 0
	if sum[1] > sum[0] {
		j = 1
	}
	out := *wait
	out.Cells, out.Magnitudes = nil, nil
	for _, x := range wait.Cells {
		out.Cells, out.Magnitudes = append(out.Cells, x.Roots[j]), append(out.Magnitudes, math.Abs(x.Roots[j].Value))
	}
	m.addWarning("G", clean.CodeSkew, "with one root of the barrier the receive begins after the message has come, at %d of %d sizes: only the other counts",
		found, len(wait.Cells))
	return &out, true
}

// addGapPerByteFromCurve fits a curve made of others and adds G.
func (m Mode) addGapPerByteFromCurve(c *curve.Curve, doubtful bool) {
	if c.Pieces == nil {
		c.CutIntoPieces(m.Options)
	}
	m.DerivedCurves = append(m.DerivedCurves, *c)
	m.addGapPerByteFromLastPiece(c, doubtful)
}

func (m Mode) addGapPerByteFromLastPiece(c *curve.Curve, doubtful bool) {
	if n := len(c.Cells); n < 2 {
		m.addWarning("G", clean.CodeFewSizes, "%s: no slope from fewer than two sizes", c.Timer)
		return
	} else if n < curve.MinPieceSizes {
		m.addWarning("G", clean.CodeFewSizes, "%s: %d of at least %d sizes that are needed to see whether it is linear", c.Timer, n, curve.MinPieceSizes)
	}
	few := c.HasFewLongSizes()
	c = c.LongMessages(m.Options)
	last := len(c.Pieces) - 1
	if c.IsPieceBent[last] {
		m.warnIfPieceNotStraight("G", c, last)
	}
	p := c.Pieces[last]
	if p.From == p.To && last > 0 {
		m.addWarning("G", clean.CodeFewSizes, "%s: the protocol changes between %d and %d bytes, and no slope from one size: measure longer messages", c.Timer, c.Pieces[last-1].To, p.From)
		m.addRow(m.fillUnidentifiableRow(m.NewRow(GapPerByte, c.Timer, p.From, p.To, p.SampleCount)), nil, p.FewestSamples)
		return
	}
	if lost := c.ExcludedSizes(p.From); len(lost) > 0 {
		doubtful = true
		m.addWarning("G", clean.CodeFewSizes, "%s: from %d to %d bytes, and too few samples count of %s: with them it may be something else", c.Timer, p.From, p.To, curve.FormatSizes(lost, len(lost)+len(c.Cells)))
	}
	row := m.NewRow(GapPerByte, c.Timer, p.From, p.To, p.SampleCount)
	row.MedianFitDeviation, row.LargestFitDeviation = clean.RoundDigits(c.PieceDeviations[last].MedianDeviation), clean.RoundDigits(c.PieceDeviations[last].LargestDeviation)
	verdict := PieceVerdict(c, last, 0, 1)
	switch row = m.fillPositiveRow(row, p.Slope, p.SlopeLow, p.SlopeHigh, doubtful || verdict != GoodVerdict); {
	case few:
		row = m.fillUnidentifiableRow(row)
	case verdict == BadVerdict && row.Verdict == WeakVerdict:
		row.Verdict = BadVerdict
	}
	m.addRow(row, curve.LineReplicates(c.LineReplicates[last], func(l curve.Line) float64 { return l.Slope }), p.FewestSamples)
}
