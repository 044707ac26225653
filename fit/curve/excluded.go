package curve

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// Cells of a real clock that are too long for a line are excluded: other load delayed most of their
// samples. Delays are one-sided, so no cell is too short. Virtual time has no other load: there
// such cells are another protocol's.
const (
	heldUpFactor    = 2 // times as long as the line, beyond its uncertainty
	shrinkingFactor = 5 // times as long as a longer message, on a whole piece: no protocol is so much faster than the one before it
)

// CutIntoPieces finds the straight pieces of the curve and fits each, and its replicates. Several
// sizes at the end that are too long are a piece of their own: another protocol begins there, even
// if they are too few for a line that is found by itself. Other cells of a real clock that are too
// long were held up, and are set aside as long as others are left.
func (c *Curve) CutIntoPieces(o clean.Options) {
	defer c.setPoints()
	if c.Clock == "virtual" {
		c.cutVirtual(o)
		return
	}
	tail := 0 // cells at the end that are a piece of their own
	for {
		c.splitPieces(o, tail)
		bad, n := c.countLongEnd()
		switch {
		case tail == 0 && n > 1 && n < len(bad):
			tail = n
			continue
		case !slices.Contains(bad, true), len(c.Cells)-countTrue(bad) < MinPieceSizes:
			return
		}
		tail = 0
		var cells []clean.Cell
		var scales []float64
		for i, x := range c.Cells {
			if bad[i] {
				c.ExcludedCells = append(c.ExcludedCells, x)
				continue
			}
			cells, scales = append(cells, x), append(scales, c.Magnitudes[i])
		}
		c.Cells, c.Magnitudes = cells, scales
	}
}

// cutVirtual cuts a curve of virtual time, of which all cells count. If some are too long for a
// line, the last sizes, which are too few for a piece that is found by itself, become one if the
// others then lie on their lines.
func (c *Curve) cutVirtual(o clean.Options) {
	c.splitPieces(o, 0)
	bad, n := c.countLongEnd()
	if n == 0 && !slices.Contains(bad, true) || !slices.Contains(c.IsPieceBent, true) {
		return
	}
	for _, tail := range []int{n, 1, MinPieceSizes - 1} {
		if tail == 0 || tail >= len(c.Cells) {
			continue
		}
		c.splitPieces(o, tail)
		if others := c.IsPieceBent[:len(c.IsPieceBent)-1]; !slices.Contains(others, true) {
			return
		}
	}
	c.splitPieces(o, 0)
}

// countLongEnd says of each cell whether it is too long, and how many cells at the end may be of
// another protocol.
func (c *Curve) countLongEnd() (tooLong []bool, n int) {
	tooLong = c.markTooLong()
	for n < len(tooLong) && tooLong[len(tooLong)-1-n] {
		n++
	}
	if c.lastPieceTookFirstSize() {
		n = MinPieceSizes - 1
	}
	return tooLong, n
}

// lastPieceTookFirstSize says whether the last piece, of the fewest sizes, is not straight because
// it took the first of them from the piece before.
func (c *Curve) lastPieceTookFirstSize() bool {
	last := len(c.Pieces) - 1
	if last < 1 || !c.IsPieceBent[last] || len(c.PieceCells(last)) != MinPieceSizes {
		return false
	}
	p, i := c.Pieces[last-1], len(c.Cells)-MinPieceSizes
	line := p.Value + p.Slope*float64(c.Cells[i].Bytes-p.From)
	return math.Abs(c.Cells[i].Value-line) <= outlierResidual*c.fitted.uncertainty[i]
}

// markTooLong says of each cell whether it is too long for its line.
func (c *Curve) markTooLong() []bool {
	bad := make([]bool, len(c.Cells))
	for i, p := range c.Pieces {
		end := p.Value + p.Slope*float64(p.To-p.From)
		shrinks := slices.ContainsFunc(c.Pieces[i+1:], func(q Piece) bool { return q.Value > 0 && end > shrinkingFactor*q.Value })
		for j, x := range c.Cells {
			if x.Bytes < p.From || x.Bytes > p.To {
				continue
			}
			line := p.Value + p.Slope*float64(x.Bytes-p.From)
			bad[j] = shrinks || line > 0 && x.Value > heldUpFactor*line && x.Value-line > outlierResidual*c.fitted.uncertainty[j]
		}
	}
	return bad
}

func countTrue(all []bool) int {
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
	if len(c.ExcludedCells) == 0 {
		return nil
	}
	var at []int
	for _, x := range c.ExcludedCells {
		at = append(at, x.Bytes)
	}
	slices.Sort(at)
	w := c.Warning(c.displayName(), clean.CodeDisturbed, fmt.Sprintf("the times are %d times those of the other sizes' line, or more, at %s: left out", heldUpFactor, FormatSizes(at, len(c.Cells)+len(at))))
	w.AffectedSizeCount, w.SizeCount = len(at), len(c.Cells)+len(at)
	return []clean.Warning{w}
}
