package curve

import (
	"slices"

	"github.com/loggp/loggp/model/quantile"
)

// protocolSegment is the range of cells of one protocol. Its last piece has most of its sizes;
// earlier ones are for small sizes that the last piece's line misses.
type protocolSegment struct{ from, to, piece int }

// Change is a change of protocol on a curve.
type Change struct {
	Last, Next              int     // in bytes: the last size of one protocol and the first of the next
	Before, After           int     // range of cells for the change: the last that certainly precedes it, and the first that certainly follows
	Rise, RiseLowerQuartile float64 // additional cost of a message after the change, apart from its bytes, and the value that three quarters of the replicates exceed
	SampleCount             int
}

// Changes returns the changes of a curve in order.
func (c *Curve) Changes() []Change {
	var out []Change
	for i := 0; i+1 < len(c.segments); i++ {
		a, b := c.segments[i], c.segments[i+1]
		base := func(piece int, l Line) float64 { return l.Value - l.Slope*float64(c.Pieces[piece].From) }
		p, q := c.Pieces[a.piece], c.Pieces[b.piece]
		x := Change{
			Last: c.Cells[a.to-1].Bytes, Next: c.Cells[b.from].Bytes, Before: a.to - 1, After: b.from,
			Rise: base(b.piece, Line{q.Value, q.Slope}) - base(a.piece, Line{p.Value, p.Slope}), SampleCount: p.SampleCount + q.SampleCount,
		}
		reps := make([]float64, len(c.LineReplicates[a.piece]))
		for r := range reps {
			reps[r] = base(b.piece, c.LineReplicates[b.piece][r]) - base(a.piece, c.LineReplicates[a.piece][r])
		}
		slices.Sort(reps)
		x.RiseLowerQuartile = quantile.Of(reps, 0.25)
		cost := func(end int) float64 {
			return c.fitted.slice(a.from, end).bestLineCost() + c.fitted.slice(end, b.to).bestLineCost()
		}
		limit := cost(a.to) + maxLikelihoodLoss
		for e := a.to - 1; e-a.from >= MinPieceSizes && cost(e) <= limit; e-- {
			x.Before = e - 1
		}
		for e := a.to + 1; b.to-e >= MinPieceSizes && cost(e) <= limit; e++ {
			x.After = e
		}
		out = append(out, x)
	}
	return out
}
