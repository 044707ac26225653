package fit

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// bandwidth adds G, always of the longest messages: the slope of the last piece of a curve.
//
// For MPI calls the curve is what a blocking receive takes longer than a non-blocking one,
//
//	timer21(send) − timer21(isend)
//
// For messages it is the one-way time, rtt/2, so that o_s + L + (k−1)·G + o_r with the overheads of a small message is the
// one-way time of k bytes; and the times of get and put.
func (m mode) bandwidth() {
	if m.name == "message" {
		if rtt := m.timer(sample.RTT); rtt != nil {
			m.slope(rtt.times(0.5, ByHalfTrip, m.o.Level))
		}
		for _, timer := range []string{sample.Get, sample.Put} {
			if c := m.timer(timer); c != nil {
				m.lastPiece(c)
			}
		}
		return
	}
	wait, start := m.timer(sample.Timer21), m.curve("i"+m.name, sample.Timer21)
	if wait != nil && start != nil {
		wait = m.early(wait)
		m.slope(wait.minus(start, ByBlocking, m.o.Level))
	}
}

// early returns timer21 with the root with which the receive begins early, if with the other it is late at some size. The skew is
// then part of every time, and of no slope.
func (m mode) early(wait *curve) *curve {
	ready := m.timer(sample.Timer12)
	late, sum := 0, [2]float64{}
	for _, x := range wait.cells {
		if y := ready.at(x.bytes); y != nil && m.late(x, *y) {
			late++
		}
		for j, r := range x.roots {
			sum[j] += r.value
		}
	}
	if late == 0 || slices.ContainsFunc(wait.cells, func(x cell) bool { return x.roots == nil }) {
		return wait
	}
	root := 0
	if sum[1] > sum[0] {
		root = 1
	}
	out := *wait
	out.cells, out.scales = nil, nil
	for _, x := range wait.cells {
		out.cells, out.scales = append(out.cells, x.roots[root]), append(out.scales, math.Abs(x.roots[root].value))
	}
	m.warn("G", Skew, "with one root of the barrier the receive begins after the message has come, at %d of %d sizes: only the other counts",
		late, len(wait.cells))
	return &out
}

// slope fits a curve made of others and adds G.
func (m mode) slope(c *curve) {
	c.cut(m.o)
	m.derived = append(m.derived, c.public())
	m.lastPiece(c)
}

func (m mode) lastPiece(c *curve) {
	if n := len(c.cells); n < 2 {
		m.warn("G", FewSizes, "%s: %d sizes have no slope", c.timer, n)
		return
	} else if n < fewest {
		m.warn("G", FewSizes, "%s: %d sizes, at least %d are needed to see whether it is linear", c.timer, n, fewest)
	}
	last := len(c.pieces) - 1
	if c.bent[last] {
		m.warn("G", NotLinear, "%s: some medians are more than 5 %% away from the straight pieces, beyond their intervals", c.timer)
	}
	p := c.pieces[last]
	row := m.row("G", c.timer, p.From, p.To, p.Samples)
	row.Unit = PerByte
	m.parameters = append(m.parameters, m.judged(row, p.Slope, p.SlopeLow, p.SlopeHigh, c.verdict(last, 0, 1) != Good))
}
