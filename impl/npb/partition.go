package npb

import (
	"fmt"

	"github.com/loggp/loggp/impl/mpi"
)

var sp = Benchmark{
	Name: "npb-sp", What: "exchange skeleton of SP: faces of cells, and scalar line solvers that pass from cell to cell", Classes: "SWA", Skeleton: true,
	Run: func(c *mpi.Comm, s Settings) (Result, error) {
		k, err := classOf(s, "npb-sp", partitionClass{12, 100}, partitionClass{36, 400}, partitionClass{64, 400})
		if err != nil {
			return Result{}, err
		}
		n := float64(k.side)
		// Operations of an iteration: sp.f90 of NPB 3.4.
		return runPartition(c, s, "npb-sp", k, 881.174*n*n*n-4683.91*n*n+11484.5*n-19272.4, func(y *partition, cell, axis int) (int, int) {
			inner := 1
			for a := range 3 {
				if a != axis {
					inner *= y.inner(cell, a)
				}
			}
			return 22 * inner, 10 * inner
		})
	},
}

var bt = Benchmark{
	Name: "npb-bt", What: "exchange skeleton of BT: faces of cells, and block line solvers that pass from cell to cell", Classes: "SWA", Skeleton: true,
	Run: func(c *mpi.Comm, s Settings) (Result, error) {
		k, err := classOf(s, "npb-bt", partitionClass{12, 60}, partitionClass{24, 200}, partitionClass{64, 200})
		if err != nil {
			return Result{}, err
		}
		n := float64(k.side)
		// Operations of an iteration: bt.f90 of NPB 3.4. All cells send what the largest might need.
		return runPartition(c, s, "npb-bt", k, 3478.8*n*n*n-17655.7*n*n+28023.7*n, func(y *partition, _, _ int) (int, int) {
			layer := (y.side/y.width + 1) * (y.side/y.width + 1)
			return 30 * layer, 5 * layer
		})
	},
}

// partitionClass is a class of SP or BT: points on a side, and iterations.
type partitionClass struct{ side, iterations int }

// Which part of the operations of an iteration is in the right-hand side (the rest is in the lines
// of the three axes), and which part of those is in the elimination. Assumed.
const (
	partitionRight = 0.25
	partitionDown  = 0.8
)

// partition is a rank's part of the cube by multi-partitioning: the cube has width³ cells, and each
// rank has one in each layer of each axis, so that no rank waits while a line is solved.
// NAS-95-020, section 4.
type partition struct {
	c                      *mpi.Comm
	s                      Settings
	side, width            int
	cells                  [][3]int // of the rank, by the third axis
	successor, predecessor [3]int
	operations             float64                                           // of an iteration, of a point
	passed                 func(y *partition, cell, axis int) (down, up int) // how many numbers pass to the next cell of a line, and back
	out, in                [6][]float64
}

func runPartition(c *mpi.Comm, s Settings, name string, k partitionClass, total float64, passed func(y *partition, cell, axis int) (down, up int)) (Result, error) {
	width := 1
	for width*width < c.Size() {
		width++
	}
	if width*width != c.Size() || k.side/width < 3 {
		return Result{}, fmt.Errorf("%s of class %s runs on a square number of ranks, at most %d: not on %d", name, s.letter(), (k.side/3)*(k.side/3), c.Size())
	}
	y := &partition{c: c, s: s, side: k.side, width: width, operations: total / float64(k.side*k.side*k.side), passed: passed}
	y.place()
	y.step() // touches all data once, as NPB does before it measures
	time := timed(c, func() {
		for range k.iterations {
			y.step()
		}
	})
	y.faces() // for the norm of the right-hand side
	return Result{
		Class: s.letter(), Size: fmt.Sprintf("%dx%dx%d", k.side, k.side, k.side), Iterations: k.iterations, Time: time,
		Operations: total * float64(k.iterations), Kind: "floating point",
	}, nil
}

// place finds the rank's cells and its neighbours, which are the same for all cells.
func (y *partition) place() {
	w := y.width
	wrap := func(i int) int { return (i%w + w) % w }
	row, column := y.c.Rank()%w, y.c.Rank()/w
	rank := func(i, j int) int { return wrap(i) + w*wrap(j) }
	for k := range w {
		y.cells = append(y.cells, [3]int{wrap(row + k), wrap(column - k), k})
	}
	y.successor = [3]int{rank(row+1, column), rank(row, column+1), rank(row-1, column+1)}
	y.predecessor = [3]int{rank(row-1, column), rank(row, column-1), rank(row+1, column-1)}
	most := y.side/w + 1
	for i := range y.out {
		y.out[i], y.in[i] = make([]float64, max(30, 10*w)*most*most), make([]float64, max(30, 10*w)*most*most)
	}
}

// size returns a cell's points in an axis.
func (y *partition) size(cell, axis int) int {
	_, n := part(y.side, y.width, y.cells[cell][axis])
	return n
}

// inner returns a cell's points in an axis that are not at the border of the cube.
func (y *partition) inner(cell, axis int) int {
	n := y.size(cell, axis)
	if y.cells[cell][axis] == 0 {
		n--
	}
	if y.cells[cell][axis] == y.width-1 {
		n--
	}
	return n
}

// step is an iteration.
func (y *partition) step() {
	y.faces()
	for cell := range y.cells {
		y.compute(cell, partitionRight)
	}
	for axis := range 3 {
		y.solve(axis)
	}
}

// compute charges a share of an iteration's operations of a cell.
func (y *partition) compute(cell int, share float64) {
	y.s.compute(y.c, int(share*y.operations*float64(y.size(cell, 0)*y.size(cell, 1)*y.size(cell, 2))))
}

// faces exchanges two layers of points of all cells, in a message to each neighbour.
func (y *partition) faces() {
	if y.width == 1 {
		return
	}
	var requests [12]mpi.Request
	for axis := range 3 {
		down, up := 0, 0
		for cell, at := range y.cells {
			face := 10
			for a := range 3 {
				if a != axis {
					face *= y.size(cell, a)
				}
			}
			if at[axis] < y.width-1 {
				up += face
			}
			if at[axis] > 0 {
				down += face
			}
		}
		requests[2*axis] = mpi.Irecv(y.c, y.in[2*axis][:up], y.successor[axis], 2*axis)
		requests[2*axis+1] = mpi.Irecv(y.c, y.in[2*axis+1][:down], y.predecessor[axis], 2*axis+1)
		requests[6+2*axis] = mpi.Isend(y.c, y.out[2*axis][:up], y.successor[axis], 2*axis+1)
		requests[6+2*axis+1] = mpi.Isend(y.c, y.out[2*axis+1][:down], y.predecessor[axis], 2*axis)
	}
	mpi.WaitAll(requests[:], nil)
}

// solve solves the lines of an axis: elimination from cell to cell, and substitution back.
func (y *partition) solve(axis int) {
	const tag = 6
	share := (1 - partitionRight) / 3
	at := func(layer int) int {
		for cell, where := range y.cells {
			if where[axis] == layer {
				return cell
			}
		}
		panic("npb: a rank has no cell in a layer")
	}
	var sent mpi.Request // all ranks send around a ring at the same time
	for layer := range y.width {
		cell := at(layer)
		down, _ := y.passed(y, cell, axis)
		if layer > 0 {
			mpi.Recv(y.c, y.in[0][:down], y.predecessor[axis], tag)
			sent.Wait()
		}
		y.compute(cell, share*partitionDown)
		if layer < y.width-1 {
			sent = mpi.Isend(y.c, y.out[0][:down], y.successor[axis], tag)
		}
	}
	for layer := y.width - 1; layer >= 0; layer-- {
		cell := at(layer)
		_, up := y.passed(y, cell, axis)
		if layer < y.width-1 {
			mpi.Recv(y.c, y.in[0][:up], y.successor[axis], tag+1)
			sent.Wait()
		}
		y.compute(cell, share*(1-partitionDown))
		if layer > 0 {
			sent = mpi.Isend(y.c, y.out[0][:up], y.predecessor[axis], tag+1)
		}
	}
	sent.Wait()
}
