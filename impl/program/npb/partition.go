package npb

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
)

var spBenchmark = Benchmark{
	Name: "npb-sp", Description: "exchange skeleton of SP: faces of cells, and scalar line solvers that pass from cell to cell", Classes: "SWA", IsSkeleton: true,
	Run: func(c *mpi.Comm, s Settings) (Result, error) {
		k, err := classOf(s, "npb-sp", partitionClass{12, 100}, partitionClass{36, 400}, partitionClass{64, 400})
		if err != nil {
			return Result{}, err
		}
		n := float64(k.side)
		// Operations of an iteration: sp.f90 of NPB 3.4.
		return runPartition(c, s, "npb-sp", k, 881.174*n*n*n-4683.91*n*n+11484.5*n-19272.4, func(y *partitionRank, cell, axis int) (int, int) {
			inner := 1
			for a := range 3 {
				if a != axis {
					inner *= y.innerSize(cell, a)
				}
			}
			return 22 * inner, 10 * inner
		}, spProductShare)
	},
}

var btBenchmark = Benchmark{
	Name: "npb-bt", Description: "exchange skeleton of BT: faces of cells, and block line solvers that pass from cell to cell", Classes: "SWA", IsSkeleton: true,
	Run: func(c *mpi.Comm, s Settings) (Result, error) {
		k, err := classOf(s, "npb-bt", partitionClass{12, 60}, partitionClass{24, 200}, partitionClass{64, 200})
		if err != nil {
			return Result{}, err
		}
		n := float64(k.side)
		// Operations of an iteration: bt.f90 of NPB 3.4. All cells send what the largest might
		// need.
		return runPartition(c, s, "npb-bt", k, 3478.8*n*n*n-17655.7*n*n+28023.7*n, func(y *partitionRank, _, _ int) (int, int) {
			layer := (y.side/y.width + 1) * (y.side/y.width + 1)
			return 30 * layer, 5 * layer
		}, 0)
	},
}

// partitionClass is a class of SP or BT: points on a side, and iterations.
type partitionClass struct{ side, iterations int }

// Shares of the operations of an iteration. The right-hand side has partitionRightSideShare, and
// the lines of the three axes have the rest. Of that the left-hand side, the elimination and the
// back substitution have these shares. In SP half of the last is a product with a matrix in each
// point, which follows. Assumed.
const (
	partitionRightSideShare    = 0.25
	partitionLeftSideShare     = 0.25
	partitionEliminationShare  = 0.55
	partitionSubstitutionShare = 0.2
	spProductShare             = 0.1
)

// partitionRank is a rank's part of the cube by multi-partitioning: the cube has width³ cells, and
// each rank has one in each layer of each axis, so that no rank waits while a line is solved.
// NAS-95-020, section 4.
type partitionRank struct {
	comm                        *mpi.Comm
	s                           Settings
	side, width                 int
	cells                       [][3]int // of the rank, by the third axis
	successor, predecessor      [3]int
	operations                  float64                                               // of an iteration
	numbersPassed               func(y *partitionRank, cell, axis int) (down, up int) // how many numbers pass to the next cell of a line, and back
	productShare                float64                                               // share of the operations of lines
	sendBuffers, receiveBuffers [6][]float64
}

func runPartition(c *mpi.Comm, s Settings, name string, k partitionClass, total float64, passed func(y *partitionRank, cell, axis int) (down, up int), product float64) (Result, error) {
	width := 1
	for width*width < c.Size() {
		width++
	}
	if width*width != c.Size() || k.side/width < 3 {
		return Result{}, fmt.Errorf("%s of class %s runs on a square number of ranks, at most %d: not on %d", name, s.classLetter(), (k.side/3)*(k.side/3), c.Size())
	}
	y := &partitionRank{comm: c, s: s, side: k.side, width: width, operations: total, numbersPassed: passed, productShare: product}
	y.placeCells()
	y.runStep() // touches all data once, as NPB does before it measures
	time := timeSection(c, func() {
		for range k.iterations {
			y.runStep()
		}
	})
	y.exchangeFaces() // for the norm of the right-hand side
	return Result{
		Class: s.classLetter(), Size: fmt.Sprintf("%dx%dx%d", k.side, k.side, k.side), Iterations: k.iterations, Time: time,
		Operations: total * float64(k.iterations), OperationKind: "floating point", IsSkeleton: true,
	}, nil
}

// placeCells finds the rank's cells and its neighbours, which are the same for all cells.
func (y *partitionRank) placeCells() {
	w := y.width
	wrap := func(i int) int { return (i%w + w) % w }
	row, column := y.comm.Rank()%w, y.comm.Rank()/w
	rank := func(i, j int) int { return wrap(i) + w*wrap(j) }
	for k := range w {
		y.cells = append(y.cells, [3]int{wrap(row + k), wrap(column - k), k})
	}
	y.successor = [3]int{rank(row+1, column), rank(row, column+1), rank(row-1, column+1)}
	y.predecessor = [3]int{rank(row-1, column), rank(row, column-1), rank(row+1, column-1)}
	most := y.side/w + 1
	for i := range y.sendBuffers {
		y.sendBuffers[i], y.receiveBuffers[i] = make([]float64, max(30, 10*w)*most*most), make([]float64, max(30, 10*w)*most*most)
	}
}

// cellSize returns a cell's points in an axis.
func (y *partitionRank) cellSize(cell, axis int) int {
	_, n := splitRange(y.side, y.width, y.cells[cell][axis])
	return n
}

// innerSize returns a cell's points in an axis that are not at the border of the cube.
func (y *partitionRank) innerSize(cell, axis int) int {
	n := y.cellSize(cell, axis)
	if y.cells[cell][axis] == 0 {
		n--
	}
	if y.cells[cell][axis] == y.width-1 {
		n--
	}
	return n
}

// runStep is an iteration.
func (y *partitionRank) runStep() {
	y.exchangeFaces()
	for cell := range y.cells {
		y.chargeCell(cell, noLinesSolved, partitionRightSideShare)
	}
	for axis := range 3 {
		y.solveLines(axis)
	}
}

// noLinesSolved in place of an axis means that lines are not solved.
const noLinesSolved = -1

// chargeCell charges a cell's part of a share of an iteration's operations. The work is at the
// inner points of the cube, and in the axis of lines also at their ends, so that cells at the
// border have less.
func (y *partitionRank) chargeCell(cell, axis int, share float64) {
	for a := range 3 {
		mine, all := y.innerSize(cell, a), y.side-2
		if a == axis {
			mine, all = y.cellSize(cell, a), y.side
		}
		share *= float64(mine) / float64(all)
	}
	y.s.chargeOperations(y.comm, int(share*y.operations))
}

// exchangeFaces exchanges two layers of points of all cells, in a message to each neighbour.
func (y *partitionRank) exchangeFaces() {
	if y.width == 1 {
		return
	}
	var requests [12]mpi.Request // receives first, as in copy_faces.f
	for axis := range 3 {
		up, down := y.neighbourLayers(axis)
		requests[2*axis] = mpi.Irecv(y.comm, y.receiveBuffers[2*axis][:up], y.successor[axis], 2*axis)
		requests[2*axis+1] = mpi.Irecv(y.comm, y.receiveBuffers[2*axis+1][:down], y.predecessor[axis], 2*axis+1)
	}
	for axis := range 3 {
		up, down := y.neighbourLayers(axis)
		requests[6+2*axis] = mpi.Isend(y.comm, y.sendBuffers[2*axis][:up], y.successor[axis], 2*axis+1)
		requests[6+2*axis+1] = mpi.Isend(y.comm, y.sendBuffers[2*axis+1][:down], y.predecessor[axis], 2*axis)
	}
	mpi.WaitAll(requests[:], nil)
}

// neighbourLayers returns how many numbers two layers of points of all cells have, next to the
// successor and next to the predecessor in an axis.
func (y *partitionRank) neighbourLayers(axis int) (up, down int) {
	for cell, at := range y.cells {
		face := 10
		for a := range 3 {
			if a != axis {
				face *= y.cellSize(cell, a)
			}
		}
		if at[axis] < y.width-1 {
			up += face
		}
		if at[axis] > 0 {
			down += face
		}
	}
	return up, down
}

// solveLines solves the lines of an axis: elimination from cell to cell, and substitution back. A
// receive is posted before the work that does not need its data: the left-hand side of the cell,
// and on the way back in SP that of the cell before. All ranks send around a ring at the same time.
func (y *partitionRank) solveLines(axis int) {
	const tag = 6
	share := (1 - partitionRightSideShare) / 3
	at := func(layer int) int {
		for cell, where := range y.cells {
			if where[axis] == layer {
				return cell
			}
		}
		panic("npb: a rank has no cell in a layer")
	}
	var sent mpi.Request
	for layer := range y.width {
		cell := at(layer)
		down, _ := y.numbersPassed(y, cell, axis)
		var received mpi.Request
		if layer > 0 {
			received = mpi.Irecv(y.comm, y.receiveBuffers[0][:down], y.predecessor[axis], tag)
		}
		y.chargeCell(cell, axis, share*partitionLeftSideShare)
		if layer > 0 {
			sent.Wait()
			received.Wait()
		}
		y.chargeCell(cell, axis, share*partitionEliminationShare)
		if layer < y.width-1 {
			sent = mpi.Isend(y.comm, y.sendBuffers[0][:down], y.successor[axis], tag)
		}
	}
	for layer := y.width - 1; layer >= 0; layer-- {
		cell := at(layer)
		_, up := y.numbersPassed(y, cell, axis)
		if layer < y.width-1 {
			received := mpi.Irecv(y.comm, y.receiveBuffers[0][:up], y.successor[axis], tag+1)
			y.chargeCell(at(layer+1), axis, share*y.productShare)
			sent.Wait()
			received.Wait()
		}
		y.chargeCell(cell, axis, share*(partitionSubstitutionShare-y.productShare))
		if layer > 0 {
			sent = mpi.Isend(y.comm, y.sendBuffers[0][:up], y.predecessor[axis], tag+1)
		}
	}
	y.chargeCell(at(0), axis, share*y.productShare)
	sent.Wait()
}
