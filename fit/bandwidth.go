package fit

import (
	"math"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// bandwidth adds G, always of the longest messages: the slope of the last piece of a curve, or of the longest messages of it.
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
			m.slope(rtt.times(0.5, ByHalfTrip, m.o.Level), false)
		}
		for _, timer := range []string{sample.Get, sample.Put} {
			if c := m.timer(timer); c != nil {
				m.lastPiece(c, false)
			}
		}
		return
	}
	wait, start := m.timer(sample.Timer21), m.curve("i"+m.name, sample.Timer21)
	if wait == nil {
		m.withoutReceives()
	}
	if wait != nil && start != nil {
		wait, late := m.early(wait)
		m.slope(wait.minus(start, ByBlocking, m.o.Level), late)
	}
	if wait != nil && m.trainsOf(m.name).interval != nil { // other readings
		m.withoutReceives()
	}
}

// withoutReceives adds G of samples in which no receive is timed beside its send, as those of other tools: the slope of what a message adds
// to a train, to a window or to a burst, and that of half the round trip, which has the slopes of the overheads in it.
func (m mode) withoutReceives() {
	for _, c := range []*curve{m.trainsOf(m.name).interval, m.timer(sample.Stream), m.timer(sample.Train)} {
		if c != nil && len(c.cells) > 1 {
			m.lastPiece(c, false)
		}
	}
	if rtt := m.timer(sample.RTT); rtt != nil && len(rtt.cells) > 1 {
		m.slope(rtt.times(0.5, ByHalfTrip, m.o.Level), false)
	}
}

// missed is the part of a receive that waits which one that finds its message takes at most. Where it takes more, data comes only when the receiver asks for it, and neither finds any.
const missed = 0.8

// slowest returns the longer one of the times with the two roots.
func slowest(x cell) float64 { return math.Max(x.roots[0].value, x.roots[1].value) }

// early returns timer21 with the root with which the receive begins early, if with the other it is late at some size. The skew is
// then part of every time, and of no slope. It also says whether that was necessary: what is left is doubtful.
func (m mode) early(wait *curve) (root *curve, late bool) {
	if len(wait.cells) == 0 {
		return wait, false
	}
	ready := m.timer(sample.Timer12)
	found, sum := 0, [2]float64{}
	most := wait.cells[len(wait.cells)-1].bytes
	for _, x := range wait.cells {
		counts := wait.clock != "real" || x.bytes*spans[0] >= most
		if y := ready.at(x.bytes); y != nil && counts && m.late(x, *y) && y.value < missed*slowest(x) {
			found++
		}
		for j, r := range x.roots {
			sum[j] += r.value
		}
	}
	if found == 0 || slices.ContainsFunc(wait.cells, func(x cell) bool { return x.roots == nil }) {
		return wait, false
	}
	j := 0
	if sum[1] > sum[0] {
		j = 1
	}
	out := *wait
	out.cells, out.scales = nil, nil
	for _, x := range wait.cells {
		out.cells, out.scales = append(out.cells, x.roots[j]), append(out.scales, math.Abs(x.roots[j].value))
	}
	m.warn("G", Skew, "with one root of the barrier the receive begins after the message has come, at %d of %d sizes: only the other counts",
		found, len(wait.cells))
	return &out, true
}

// slope fits a curve made of others and adds G.
func (m mode) slope(c *curve, doubtful bool) {
	c.cut(m.o)
	m.derived = append(m.derived, c.public())
	m.lastPiece(c, doubtful)
}

func (m mode) lastPiece(c *curve, doubtful bool) {
	if n := len(c.cells); n < 2 {
		m.warn("G", FewSizes, "%s: no slope from fewer than two sizes", c.timer)
		return
	} else if n < fewest {
		m.warn("G", FewSizes, "%s: %d of at least %d sizes that are needed to see whether it is linear", c.timer, n, fewest)
	}
	few := c.fewLong()
	c = c.longest(m.o)
	last := len(c.pieces) - 1
	if c.bent[last] {
		m.bent("G", c, last)
	}
	p := c.pieces[last]
	if lost := c.lost(p.From); len(lost) > 0 {
		doubtful = true
		m.warn("G", FewSizes, "%s: from %d to %d bytes, and too few samples count of %s: with them it may be something else", c.timer, p.From, p.To, sizes(lost, len(lost)+len(c.cells)))
	}
	row := m.row("G", c.timer, p.From, p.To, p.Samples)
	row.Unit, row.Off, row.Most = PerByte, rounded(c.off[last].middle), rounded(c.off[last].most)
	verdict := c.verdict(last, 0, 1)
	switch row = m.judged(row, p.Slope, p.SlopeLow, p.SlopeHigh, doubtful || verdict != Good); {
	case few:
		row = m.unknown(row)
	case verdict == Bad && row.Verdict == Weak:
		row.Verdict = Bad
	}
	m.add(row, draw(c.replicate[last], func(l line) float64 { return l.slope }))
}

// What a byte costs in long messages is shown by those that are no more than so many times shorter than the longest, or by as many as make a piece; where more than a fifth of these stray from
// their line, by more.
var spans = []int{3, 8}

// fewLong says whether too few of the longest messages count, as others of them do not, for those that do to show what a byte costs: shorter ones may go another way.
func (c *curve) fewLong() bool {
	lost, most := c.lost(0), c.cells[len(c.cells)-1].bytes
	if len(lost) == 0 || c.clock != "real" {
		return false
	}
	most = max(most, lost[len(lost)-1])
	n := 0
	for _, x := range c.cells {
		if x.bytes*spans[0] >= most {
			n++
		}
	}
	return n < fewest && lost[len(lost)-1]*spans[0] >= most
}

// longest returns a curve of no messages but those, if real time was measured. A line through a whole piece follows the many short ones, which are known to the same part of less time, and
// whether a piece ends among them changes from run to run.
func (c *curve) longest(o Options) *curve {
	if c.clock != "real" {
		return c
	}
	last := c.pieces[len(c.pieces)-1]
	begin := slices.IndexFunc(c.cells, func(x cell) bool { return x.bytes == last.From })
	to := 1 + slices.IndexFunc(c.cells, func(x cell) bool { return x.bytes == last.To })
	for _, span := range spans {
		from := slices.IndexFunc(c.cells, func(x cell) bool { return x.bytes*span >= last.To })
		from = max(begin, min(from, to-fewest))
		p := c.fitted.cut(from, to)
		if span == spans[len(spans)-1] || len(p.x) <= crowd || 5*p.strays(fitLine(p)) <= len(p.x) {
			return c.only(from, to, o)
		}
	}
	return c
}

// only returns a curve of some of the cells, of one piece.
func (c *curve) only(from, to int, o Options) *curve {
	part := *c
	part.cells, part.scales = c.cells[from:to], c.scales[from:to]
	part.pieces, part.replicate, part.bent, part.off = nil, nil, nil, nil
	known := part.points(o.Tolerance).s
	part.fitted = c.fitted.cut(from, to)
	part.fitted.s = slices.Clone(part.fitted.s)
	part.fitted.loosen(part.scales)
	part.piece(part.fitted, known, 0, to-from, o)
	return &part
}
