package fit

import (
	"fmt"
	"slices"
)

// What is too long for a line is no part of a curve: a cell of which most samples were held up by something else, as by other load. Delays are one-sided,
// so that what is too short is none.
const (
	heldUp    = 2 // times as long as the line, and beyond its uncertainty
	shrinking = 5 // times as long as a longer message, on a whole piece: no protocol is so much faster than the one before it
)

// cut finds the straight pieces of the curve and fits each, and its replicates. Cells that were held up are set aside first, as long as others are left.
func (c *curve) cut(o Options) {
	for {
		c.pieces, c.replicate, c.bent, c.off = nil, nil, nil, nil
		c.divide(o)
		bad := c.tooLong()
		if !slices.Contains(bad, true) || len(c.cells)-count(bad) < fewest {
			return
		}
		var cells []cell
		var scales []float64
		for i, x := range c.cells {
			if bad[i] {
				c.held = append(c.held, x)
				continue
			}
			cells, scales = append(cells, x), append(scales, c.scales[i])
		}
		c.cells, c.scales = cells, scales
	}
}

// tooLong says of each cell whether it was held up.
func (c *curve) tooLong() []bool {
	bad := make([]bool, len(c.cells))
	for i, p := range c.pieces {
		end := p.Value + p.Slope*float64(p.To-p.From)
		shrinks := slices.ContainsFunc(c.pieces[i+1:], func(q Piece) bool { return q.Value > 0 && end > shrinking*q.Value })
		for j, x := range c.cells {
			if x.bytes < p.From || x.bytes > p.To {
				continue
			}
			line := p.Value + p.Slope*float64(x.bytes-p.From)
			bad[j] = shrinks || line > 0 && x.value > heldUp*line && x.value-line > outlier*c.fitted.s[j]
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

// heldWarning says which sizes were set aside.
func (c *curve) heldWarning() []Warning {
	if len(c.held) == 0 {
		return nil
	}
	var at []int
	for _, x := range c.held {
		at = append(at, x.bytes)
	}
	slices.Sort(at)
	w := c.warning(c.name(), Disturbed, fmt.Sprintf("the times are %d times those of the other sizes' line, or more, at %s: left out", heldUp, sizes(at, len(c.cells)+len(at))))
	w.Sizes, w.Of = len(at), len(c.cells)+len(at)
	return []Warning{w}
}
