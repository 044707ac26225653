package program

import (
	"math"

	"github.com/loggp/loggp/impl/library/mpi"
)

var stencilProgram = Program{
	Name: "stencil", Description: "heat equation on a square: each point becomes the mean of its four neighbours; ranks exchange the borders of their tiles",
	SizeUnit: "points on a side", Defaults: Settings{Size: 64, Rounds: 10}, Parameters: append(operationParameters, dataParameter), Run: withoutResult(runStencil),
}

// tile is a rank's part of the square, with a border of the neighbours' points around it.
type tile struct {
	c                     *mpi.Comm
	rows, columns         int       // of its own points
	top, left             int       // of its first point in the square
	rowStride             int       // a row with both borders
	currentHeat, nextHeat []float64 // nil: the run has no data
	messageMemory         []byte    // that of currentHeat, or size-only data
	rankAbove, rankBelow  int       // ranks, or mpi.ProcNull
	rankLeft, rankRight   int
	columnType            *mpi.Datatype
}

func runStencil(c *mpi.Comm, s *Settings) error {
	up, across := rankGrid(c.Size())
	if err := checkLinesPerRank(s.Size, max(up, across)); err != nil {
		return err
	}
	t := newTile(c, s, up, across)
	for range s.Rounds {
		t.exchangeBorders()
		if !s.SizeOnlyMessages {
			t.computeMeans()
		}
		chargeOperations(c, s, 4*t.rows*t.columns)
	}
	var err error
	if !s.SizeOnlyMessages {
		err = t.checkPoints(s)
	}
	return agreeOnError(c, err)
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
func newTile(c *mpi.Comm, s *Settings, up, across int) *tile {
	row, col := c.Rank()/across, c.Rank()%across
	neighbour := func(r, k int) int {
		if r < 0 || r >= up || k < 0 || k >= across {
			return mpi.ProcNull
		}
		return r*across + k
	}
	t := &tile{c: c, rankAbove: neighbour(row-1, col), rankBelow: neighbour(row+1, col), rankLeft: neighbour(row, col-1), rankRight: neighbour(row, col+1)}
	var bottom, right int
	t.top, bottom = splitRange(s.Size, up, row)
	t.left, right = splitRange(s.Size, across, col)
	t.rows, t.columns = bottom-t.top, right-t.left
	t.rowStride = t.columns + 2
	t.columnType = mpi.Vector(t.rows, 1, t.rowStride, mpi.Float64).Commit()
	points := (t.rows + 2) * t.rowStride
	if s.SizeOnlyMessages {
		t.messageMemory = mpi.NewSizeOnlyBytes(8 * points)
		return t
	}
	t.currentHeat, t.nextHeat = make([]float64, points), make([]float64, points)
	t.messageMemory = mpi.BytesOf(t.currentHeat)
	for i := range t.rows {
		for j := range t.columns {
			t.currentHeat[t.index(i, j)] = initialHeat(t.top+i, t.left+j)
		}
	}
	return t
}

// index returns the index of a point of the tile; the first point is 0, 0.
func (t *tile) index(i, j int) int { return (i+1)*t.rowStride + j + 1 }

// initialHeat returns the initial temperature of a point. Outside of the square it is 0.
func initialHeat(i, j int) float64 { return float64((i*31+j*17)%101) / 101 }

// exchangeBorders receives the neighbours' points into the borders: rows as contiguous data,
// columns by a datatype.
func (t *tile) exchangeBorders() {
	row := func(i int) mpi.Buffer { return t.bufferAt(i, 0, t.columns, mpi.Float64) }
	t.c.Sendrecv(row(0), t.rankAbove, 0, row(t.rows), t.rankBelow, 0)
	t.c.Sendrecv(row(t.rows-1), t.rankBelow, 1, row(-1), t.rankAbove, 1)
	t.exchangeColumn(0, t.rankLeft, t.columns, t.rankRight, 2)
	t.exchangeColumn(t.columns-1, t.rankRight, -1, t.rankLeft, 3)
}

// exchangeColumn sends column j to a rank, and receives another one.
func (t *tile) exchangeColumn(j, to, into, from, tag int) {
	column := func(j int) mpi.Buffer { return t.bufferAt(0, j, 1, t.columnType) }
	t.c.Sendrecv(column(j), to, tag, column(into), from, tag)
}

// bufferAt returns elements of the tile from a point on.
func (t *tile) bufferAt(i, j, count int, of *mpi.Datatype) mpi.Buffer {
	return mpi.Buffer{Bytes: t.messageMemory, Origin: 8 * t.index(i, j), Count: count, Type: of}
}

// computeMeans makes each point the mean of its neighbours.
func (t *tile) computeMeans() {
	for i := range t.rows {
		for j := range t.columns {
			at := t.index(i, j)
			t.nextHeat[at] = (t.currentHeat[at-t.rowStride] + t.currentHeat[at+t.rowStride] + t.currentHeat[at-1] + t.currentHeat[at+1]) / 4
		}
	}
	t.currentHeat, t.nextHeat = t.nextHeat, t.currentHeat
	t.messageMemory = mpi.BytesOf(t.currentHeat)
}

// checkPoints computes the whole square on this rank, and compares.
func (t *tile) checkPoints(s *Settings) error {
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
			if got, want := t.currentHeat[t.index(i, j)], now[(t.top+i+1)*wide+t.left+j+1]; got != want {
				return resultError(t.c, "point %d, %d is %v, not %v", t.top+i, t.left+j, got, want)
			}
		}
	}
	return nil
}
