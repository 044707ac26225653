package curve

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// HasFewLongSizes reports whether too many of the longest messages are excluded to determine the
// cost per byte: shorter ones may use another protocol.
func (c *Curve) HasFewLongSizes() bool {
	lost, most := c.ExcludedSizes(0), c.Cells[len(c.Cells)-1].Bytes
	if len(lost) == 0 || c.Clock != "real" {
		return false
	}
	most = max(most, lost[len(lost)-1])
	n := 0
	for _, x := range c.Cells {
		if x.Bytes*LongSizeRatios[0] >= most {
			n++
		}
	}
	return n < MinPieceSizes && lost[len(lost)-1]*LongSizeRatios[0] >= most
}

// LongMessages returns a curve of only the longest messages, if real time was measured. A line
// through a whole piece follows its many short messages, which are known to the same relative
// precision of a smaller time, and it changes from run to run whether a piece ends among the long
// ones.
func (c *Curve) LongMessages(o clean.Options) *Curve {
	if c.Clock != "real" {
		return c
	}
	last := c.Pieces[len(c.Pieces)-1]
	begin := slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes == last.From })
	to := 1 + slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes == last.To })
	for _, span := range LongSizeRatios {
		from := slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes*span >= last.To })
		from = max(begin, min(from, to-MinPieceSizes))
		p := c.fitted.slice(from, to)
		if span == LongSizeRatios[len(LongSizeRatios)-1] || len(p.x) <= minCrowdPoints || 5*p.countStrays(fitLine(p)) <= len(p.x) {
			return c.restrictTo(from, to, o)
		}
	}
	return c
}

// restrictTo returns a curve of a range of cells, with one piece.
func (c *Curve) restrictTo(from, to int, o clean.Options) *Curve {
	part := *c
	part.Cells, part.Magnitudes = c.Cells[from:to], c.Magnitudes[from:to]
	part.segments, part.Pieces, part.LineReplicates, part.IsPieceBent, part.PieceDeviations = nil, nil, nil, nil, nil
	known := part.pointsOf(o.Tolerance).uncertainty
	part.fitted = c.fitted.slice(from, to)
	part.fitted.uncertainty = slices.Clone(part.fitted.uncertainty)
	part.fitted.relaxUncertainty(part.Magnitudes)
	part.addPiece(part.fitted, known, 0, to-from, o)
	return &part
}

// LongSizeRatios are the factors by which a message may be shorter than the longest to determine
// the cost per byte, if these are enough for a piece. If more than a fifth of the messages stray
// from their line, the next factor is used.
var LongSizeRatios = []int{3, 8}
