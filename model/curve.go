package model

import (
	"slices"
	"sort"

	"github.com/loggp/loggp/model/unit"
)

// Curve is a time that depends on a size, piecewise linear with steps where there are steps. Pieces are in ascending order.
// The empty curve is zero everywhere.
type Curve []Piece

// Piece is a line from a size on, up to the next piece.
type Piece struct {
	From    int       // bytes
	At      unit.Time // the time there
	PerByte unit.PerByte
}

// Constant returns a curve that does not depend on the size.
func Constant(t unit.Time) Curve { return Curve{{At: t}} }

// Time returns the time at k bytes, to the nearest picosecond. Before the first piece it is that of its beginning.
func (c Curve) Time(k int) unit.Time {
	if len(c) == 0 {
		return 0
	}
	return c.piece(k).time(k)
}

func (c Curve) piece(k int) Piece {
	i := sort.Search(len(c), func(i int) bool { return c[i].From > k })
	if i == 0 {
		return Piece{From: k, At: c[0].At}
	}
	return c[i-1]
}

func (p Piece) time(k int) unit.Time { return p.At + p.PerByte.Time(k-p.From) }

// plus returns the curve moved up by t.
func (c Curve) plus(t unit.Time) Curve {
	if len(c) == 0 {
		return Constant(t)
	}
	c = slices.Clone(c)
	for i := range c {
		c[i].At += t
	}
	return c
}

// sum returns the sum of two curves.
func (c Curve) sum(d Curve) Curve {
	var s Curve
	for _, k := range edges(c, d) {
		p, q := start(c, k), start(d, k)
		s = append(s, Piece{k, p.At + q.At, p.PerByte + q.PerByte})
	}
	return s
}

// edges returns where the pieces of two curves begin, and 0, in order.
func edges(a, b Curve) []int {
	from := []int{0}
	for _, p := range slices.Concat(a, b) {
		from = append(from, p.From)
	}
	slices.Sort(from)
	return slices.Compact(from)
}

// upper returns the larger of two curves at every size.
func upper(a, b Curve) Curve {
	from := edges(a, b)
	var c Curve
	for i, k := range from {
		p, q := start(a, k), start(b, k)
		if q.At > p.At {
			p, q = q, p
		}
		c = append(c, p)
		if q.PerByte > p.PerByte { // q may overtake p in this piece
			x := k + 1 + int(float64(p.At-q.At)/float64(q.PerByte-p.PerByte))
			if i+1 == len(from) || x < from[i+1] {
				c = append(c, Piece{x, q.time(x), q.PerByte})
			}
		}
	}
	return c
}

// start returns the piece of a curve that begins at k.
func start(c Curve, k int) Piece {
	if len(c) == 0 {
		return Piece{From: k}
	}
	p := c.piece(k)
	return Piece{k, p.time(k), p.PerByte}
}
