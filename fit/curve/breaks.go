package curve

import (
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// Rise returns how much more a message costs beside its bytes after piece i than on it, and what three quarters of the replicates exceed.
func (c *Fitted) Rise(i int) (value, mostly float64) {
	base := func(piece int, l Line) float64 { return l.Value - l.Slope*float64(c.Pieces[piece].From) }
	reps := make([]float64, len(c.Replicate[i]))
	for b := range reps {
		reps[b] = base(i+1, c.Replicate[i+1][b]) - base(i, c.Replicate[i][b])
	}
	slices.Sort(reps)
	p, q := c.Pieces[i], c.Pieces[i+1]
	return base(i+1, Line{q.Value, q.Slope}) - base(i, Line{p.Value, p.Slope}), clean.Quantile(reps, 0.25)
}

// Borders returns the cells between which piece i may end: the last that belongs to it in any case, and the first that does not.
func (c *Fitted) Borders(i int) (before, after int) {
	index := func(bytes int) int {
		return slices.IndexFunc(c.Cells, func(x clean.Cell) bool { return x.Bytes == bytes })
	}
	from, end, to := index(c.Pieces[i].From), index(c.Pieces[i+1].From), index(c.Pieces[i+1].To)+1
	cost := func(end int) float64 { return c.fitted.cut(from, end).cost() + c.fitted.cut(end, to).cost() }
	limit := cost(end) + worse
	before, after = end-1, end
	for e := end - 1; e-from >= Fewest && cost(e) <= limit; e-- {
		before = e - 1
	}
	for e := end + 1; to-e >= Fewest && cost(e) <= limit; e++ {
		after = e
	}
	return before, after
}
