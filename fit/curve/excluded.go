package curve

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// Cells that are too long for a line are excluded: other load delayed most of their samples. Delays
// are one-sided, so no cell is too short.
const (
	heldUp    = 2 // times as long as the line, beyond its uncertainty
	shrinking = 5 // times as long as a longer message, on a whole piece: no protocol is so much faster than the one before it
)

// Cut finds the straight pieces of the curve and fits each, and its replicates. Several sizes at
// the end that are too long are a piece of their own: another protocol begins there, even if they
// are too few for a line that is found by itself. Other cells that are too long were held up, and
// are set aside as long as others are left.
func (c *Curve) Cut(o clean.Options) {
	defer c.show()
	tail := 0 // cells at the end that are a piece of their own
	for {
		c.segments, c.Pieces, c.Replicate, c.Bent, c.Misfit = nil, nil, nil, nil, nil
		c.divide(o, tail)
		bad, n := c.tooLong(), 0
		for n < len(bad) && bad[len(bad)-1-n] {
			n++
		}
		if c.borrows() {
			n = Fewest - 1
		}
		switch {
		case tail == 0 && n > 1 && n < len(bad):
			tail = n
			continue
		case !slices.Contains(bad, true), len(c.Cells)-count(bad) < Fewest:
			return
		}
		tail = 0
		var cells []clean.Cell
		var scales []float64
		for i, x := range c.Cells {
			if bad[i] {
				c.Excluded = append(c.Excluded, x)
				continue
			}
			cells, scales = append(cells, x), append(scales, c.Scales[i])
		}
		c.Cells, c.Scales = cells, scales
	}
}

// borrows says whether the last piece, of the fewest sizes, is not straight because it took the
// first of them from the piece before.
func (c *Curve) borrows() bool {
	last := len(c.Pieces) - 1
	if last < 1 || !c.Bent[last] || len(c.Of(last)) != Fewest {
		return false
	}
	p, i := c.Pieces[last-1], len(c.Cells)-Fewest
	line := p.Value + p.Slope*float64(c.Cells[i].Bytes-p.From)
	return math.Abs(c.Cells[i].Value-line) <= outlier*c.fitted.s[i]
}

// tooLong says of each cell whether it was held up.
func (c *Curve) tooLong() []bool {
	bad := make([]bool, len(c.Cells))
	for i, p := range c.Pieces {
		end := p.Value + p.Slope*float64(p.To-p.From)
		shrinks := slices.ContainsFunc(c.Pieces[i+1:], func(q Piece) bool { return q.Value > 0 && end > shrinking*q.Value })
		for j, x := range c.Cells {
			if x.Bytes < p.From || x.Bytes > p.To {
				continue
			}
			line := p.Value + p.Slope*float64(x.Bytes-p.From)
			bad[j] = shrinks || line > 0 && x.Value > heldUp*line && x.Value-line > outlier*c.fitted.s[j]
		}
	}
	return bad
}

func count(all []bool) int {
	n := 0
	for _, x := range all {
		if x {
			n++
		}
	}
	return n
}

// excludedWarning says which sizes were set aside.
func (c *Curve) excludedWarning() []clean.Warning {
	if len(c.Excluded) == 0 {
		return nil
	}
	var at []int
	for _, x := range c.Excluded {
		at = append(at, x.Bytes)
	}
	slices.Sort(at)
	w := c.Warning(c.name(), clean.Disturbed, fmt.Sprintf("the times are %d times those of the other sizes' line, or more, at %s: left out", heldUp, Sizes(at, len(c.Cells)+len(at))))
	w.Sizes, w.Of = len(at), len(c.Cells)+len(at)
	return []clean.Warning{w}
}
