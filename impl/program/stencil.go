package program

import (
	"math"

	"github.com/loggp/loggp/impl/library/mpi"
)

var stencil = Program{
	Name: "stencil", Description: "heat equation on a square: each point becomes the mean of its four neighbours; ranks exchange the borders of their tiles",
	SizeUnit: "points on a side", Defaults: Settings{Size: 64, Rounds: 10}, Parameters: withOperations, Run: onlyChecked(runStencil),
}

// tile is a rank's part of the square, with a border of the neighbours' points around it.
type tile struct {
	c             *mpi.Comm
	rows, columns int // of its own points
	top, left     int // of its first point in the square
	wide          int // a row with both borders
	now, next     []float64
	above, below  int // ranks, or mpi.ProcNull
	before, after int
	column        *mpi.Datatype
}

func runStencil(c *mpi.Comm, s Settings) error {
	up, across := rankGrid(c.Size())
	if err := checkLines(s.Size, max(up, across)); err != nil {
		return err
	}
	t := newTile(c, s.Size, up, across)
	for range s.Rounds {
		t.exchangeBorders()
		for i := range t.rows {
			for j := range t.columns {
				at := t.index(i, j)
				t.next[at] = (t.now[at-t.wide] + t.now[at+t.wide] + t.now[at-1] + t.now[at+1]) / 4
			}
		}
		t.now, t.next = t.next, t.now
		compute(c, s, 4*t.rows*t.columns)
	}
	return shareError(c, t.checkPoints(s))
}

// rankGrid returns the most nearly square arrangement of ranks.
func rankGrid(ranks int) (up, across int) {
	up = int(math.Sqrt(float64(ranks)))
	for ranks%up != 0 {
		up--
	}
	return up, ranks / up
}

// newTile divides the square among a grid of ranks.
func newTile(c *mpi.Comm, n, up, across int) *tile {
	row, col := c.Rank()/across, c.Rank()%across
	neighbour := func(r, k int) int {
		if r < 0 || r >= up || k < 0 || k >= across {
			return mpi.ProcNull
		}
		return r*across + k
	}
	t := &tile{c: c, above: neighbour(row-1, col), below: neighbour(row+1, col), before: neighbour(row, col-1), after: neighbour(row, col+1)}
	var bottom, right int
	t.top, bottom = splitRange(n, up, row)
	t.left, right = splitRange(n, across, col)
	t.rows, t.columns = bottom-t.top, right-t.left
	t.wide = t.columns + 2
	t.now, t.next = make([]float64, (t.rows+2)*t.wide), make([]float64, (t.rows+2)*t.wide)
	for i := range t.rows {
		for j := range t.columns {
			t.now[t.index(i, j)] = initialHeat(t.top+i, t.left+j)
		}
	}
	t.column = mpi.Vector(t.rows, 1, t.wide, mpi.Float64).Commit()
	return t
}

// index returns the index of a point of the tile; the first point is 0, 0.
func (t *tile) index(i, j int) int { return (i+1)*t.wide + j + 1 }

// initialHeat returns the initial temperature of a point. Outside of the square it is 0.
func initialHeat(i, j int) float64 { return float64((i*31+j*17)%101) / 101 }

// exchangeBorders receives the neighbours' points into the borders: rows as contiguous data,
// columns by a datatype.
func (t *tile) exchangeBorders() {
	row := func(i int) []float64 { return t.now[t.index(i, 0):t.index(i, t.columns)] }
	mpi.Sendrecv(t.c, row(0), t.above, 0, row(t.rows), t.below, 0)
	mpi.Sendrecv(t.c, row(t.rows-1), t.below, 1, row(-1), t.above, 1)
	t.exchangeColumn(0, t.before, t.columns, t.after, 2)
	t.exchangeColumn(t.columns-1, t.after, -1, t.before, 3)
}

// exchangeColumn sends column j to a rank, and receives another one.
func (t *tile) exchangeColumn(j, to, into, from, tag int) {
	column := func(j int) mpi.Buffer {
		return mpi.Buffer{Bytes: mpi.Raw(t.now), Origin: 8 * t.index(0, j), Count: 1, Type: t.column}
	}
	t.c.Sendrecv(column(j), to, tag, column(into), from, tag)
}

// checkPoints computes the whole square on this rank, and compares.
func (t *tile) checkPoints(s Settings) error {
	n, wide := s.Size, s.Size+2
	now, next := make([]float64, wide*wide), make([]float64, wide*wide)
	for i := range n {
		for j := range n {
			now[(i+1)*wide+j+1] = initialHeat(i, j)
		}
	}
	for range s.Rounds {
		for i := 1; i <= n; i++ {
			for j := 1; j <= n; j++ {
				at := i*wide + j
				next[at] = (now[at-wide] + now[at+wide] + now[at-1] + now[at+1]) / 4
			}
		}
		now, next = next, now
	}
	for i := range t.rows {
		for j := range t.columns {
			if got, want := t.now[t.index(i, j)], now[(t.top+i+1)*wide+t.left+j+1]; got != want {
				return resultError(t.c, "point %d, %d is %v, not %v", t.top+i, t.left+j, got, want)
			}
		}
	}
	return nil
}
