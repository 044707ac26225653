package curve

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// FewLong says whether too few of the longest messages count, as others of them do not, for those
// that do to show what a byte costs: shorter ones may go another way.
func (c *Curve) FewLong() bool {
	lost, most := c.Lost(0), c.Cells[len(c.Cells)-1].Bytes
	if len(lost) == 0 || c.Clock != "real" {
		return false
	}
	most = max(most, lost[len(lost)-1])
	n := 0
	for _, x := range c.Cells {
		if x.Bytes*Spans[0] >= most {
			n++
		}
	}
	return n < Fewest && lost[len(lost)-1]*Spans[0] >= most
}

// Longest returns a curve of no messages but those, if real time was measured. A line through a
// whole piece follows the many short ones, which are known to the same part of less time, and
// whether a piece ends among them changes from run to run.
func (c *Curve) Longest(o clean.Options) *Curve {
	if c.Clock != "real" {
		return c
	}
	last := c.Pieces[len(c.Pieces)-1]
	begin := slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes == last.From })
	to := 1 + slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes == last.To })
	for _, span := range Spans {
		from := slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes*span >= last.To })
		from = max(begin, min(from, to-Fewest))
		p := c.fitted.cut(from, to)
		if span == Spans[len(Spans)-1] || len(p.x) <= crowd || 5*p.strays(fitLine(p)) <= len(p.x) {
			return c.only(from, to, o)
		}
	}
	return c
}

// only returns a curve of some of the cells, of one piece.
func (c *Curve) only(from, to int, o clean.Options) *Curve {
	part := *c
	part.Cells, part.Scales = c.Cells[from:to], c.Scales[from:to]
	part.segments, part.Pieces, part.Replicate, part.Bent, part.Misfit = nil, nil, nil, nil, nil
	known := part.points(o.Tolerance).s
	part.fitted = c.fitted.cut(from, to)
	part.fitted.s = slices.Clone(part.fitted.s)
	part.fitted.loosen(part.Scales)
	part.piece(part.fitted, known, 0, to-from, o)
	return &part
}

// What a byte costs in long messages is shown by those that are no more than so many times shorter
// than the longest, or by as many as make a piece; where more than a fifth of these stray from
// their line, by more.
var Spans = []int{3, 8}
