package params

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench/sample"
)

// bandwidth adds G, always of the longest messages: the slope of the last piece of a curve, or of
// the longest messages of it.
//
// For MPI calls the curve is what a blocking receive takes longer than a non-blocking one,
//
//	timer21(send) − timer21(isend)
//
// For messages it is the one-way time, rtt/2, so that o_s + L + (k−1)·G + o_r with the overheads of
// a small message is the one-way time of k bytes; and the times of get and put.
func (m Mode) bandwidth() {
	if m.Name == sample.Message {
		if rtt := m.Timer(sample.RTT); rtt != nil {
			m.slope(rtt.Times(0.5, ByHalfTrip, m.O.Level), false)
		}
		for _, timer := range []string{sample.Get, sample.Put} {
			if c := m.Timer(timer); c != nil {
				m.lastPiece(c, false)
			}
		}
		return
	}
	wait, start := m.Timer(sample.Timer21), m.Curve("i"+m.Name, sample.Timer21)
	if wait == nil {
		m.withoutReceives()
	}
	if wait != nil && start != nil {
		wait, late := m.early(wait)
		m.slope(wait.Minus(start, ByBlocking, m.O.Level), late)
	}
	if wait != nil && m.TrainsOf(m.Name).interval != nil { // other readings
		m.withoutReceives()
	}
}

// withoutReceives adds G of samples in which no receive is timed beside its send, as those of other
// tools: the slope of what a message adds to a train, to a window or to a burst, and that of half
// the round trip, which has the slopes of the overheads in it.
func (m Mode) withoutReceives() {
	for _, c := range []*curve.Curve{m.TrainsOf(m.Name).interval, m.Timer(sample.Stream), m.Timer(sample.Train)} {
		if c != nil && len(c.Cells) > 1 {
			m.lastPiece(c, false)
		}
	}
	if rtt := m.Timer(sample.RTT); rtt != nil && len(rtt.Cells) > 1 {
		m.slope(rtt.Times(0.5, ByHalfTrip, m.O.Level), false)
	}
}

// missed is the part of a receive that waits which one that finds its message takes at most. Where
// it takes more, data comes only when the receiver asks for it, and neither finds any.
const missed = 0.8

// slowest returns the longer one of the times with the two roots.
func slowest(x clean.Cell) float64 { return math.Max(x.Roots[0].Value, x.Roots[1].Value) }

// early returns timer21 with the root with which the receive begins early, if with the other it is
// late at some size. The skew is then part of every time, and of no slope. It also says whether
// that was necessary: what is left is doubtful.
func (m Mode) early(wait *curve.Curve) (root *curve.Curve, late bool) {
	if len(wait.Cells) == 0 {
		return wait, false
	}
	ready := m.Timer(sample.Timer12)
	found, sum := 0, [2]float64{}
	most := wait.Cells[len(wait.Cells)-1].Bytes
	for _, x := range wait.Cells {
		counts := wait.Clock != "real" || x.Bytes*curve.Spans[0] >= most
		if y := ready.Cell(x.Bytes); y != nil && counts && m.late(x, *y) && y.Value < missed*slowest(x) {
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
	out.Cells, out.Scales = nil, nil
	for _, x := range wait.Cells {
		out.Cells, out.Scales = append(out.Cells, x.Roots[j]), append(out.Scales, math.Abs(x.Roots[j].Value))
	}
	m.warn("G", clean.Skew, "with one root of the barrier the receive begins after the message has come, at %d of %d sizes: only the other counts",
		found, len(wait.Cells))
	return &out, true
}

// slope fits a curve made of others and adds G.
func (m Mode) slope(c *curve.Curve, doubtful bool) {
	if c.Pieces == nil {
		c.Cut(m.O)
	}
	m.Derived = append(m.Derived, *c)
	m.lastPiece(c, doubtful)
}

func (m Mode) lastPiece(c *curve.Curve, doubtful bool) {
	if n := len(c.Cells); n < 2 {
		m.warn("G", clean.FewSizes, "%s: no slope from fewer than two sizes", c.Timer)
		return
	} else if n < curve.Fewest {
		m.warn("G", clean.FewSizes, "%s: %d of at least %d sizes that are needed to see whether it is linear", c.Timer, n, curve.Fewest)
	}
	few := c.FewLong()
	c = c.Longest(m.O)
	last := len(c.Pieces) - 1
	if c.Bent[last] {
		m.bent("G", c, last)
	}
	p := c.Pieces[last]
	if lost := c.Lost(p.From); len(lost) > 0 {
		doubtful = true
		m.warn("G", clean.FewSizes, "%s: from %d to %d bytes, and too few samples count of %s: with them it may be something else", c.Timer, p.From, p.To, curve.Sizes(lost, len(lost)+len(c.Cells)))
	}
	row := m.Row(GapPerByte, c.Timer, p.From, p.To, p.Samples)
	row.Off, row.Most = clean.Rounded(c.Misfit[last].Middle), clean.Rounded(c.Misfit[last].Most)
	verdict := VerdictOf(c, last, 0, 1)
	switch row = m.judged(row, p.Slope, p.SlopeLow, p.SlopeHigh, doubtful || verdict != Good); {
	case few:
		row = m.unknown(row)
	case verdict == Bad && row.Verdict == Weak:
		row.Verdict = Bad
	}
	m.add(row, curve.Draw(c.Replicate[last], func(l curve.Line) float64 { return l.Slope }), p.Least)
}
