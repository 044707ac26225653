package npb

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

var luBenchmark = Benchmark{
	Name: "npb-lu", Description: "exchange skeleton of LU: sweeps across a rectangle of ranks with many small messages", Classes: "SWA", IsSkeleton: true, Run: runLU,
}

// luClass is a class of LU: points on a side, and iterations.
type luClass struct{ side, iterations int }

// luRightSideShare is the fraction of the operations of an iteration that is in the right-hand
// side. The rest is in the two sweeps; the fraction luJacobianShare of a sweep is done before data
// from other ranks is needed. Assumed.
const (
	luRightSideShare = 0.25
	luJacobianShare  = 0.5
)

// luRank is a rank's part of the problem: columns of points on a rectangle of ranks.
type luRank struct {
	comm                                     *mpi.Comm
	s                                        Settings
	nx, ny, nz                               int
	innerPoints                              [2]int // points in x and in y that are not at the border of the cube
	north, south, west, east                 int    // neighbours, or ProcNull: lower and upper in x, lower and upper in y
	isAtTop, isAtBottom, isAtLeft, isAtRight bool   // whether there is none
	operations                               float64
	sendBuffer, receiveBuffer                []float64
}

// runLU sends the messages of the application of RNR-94-007, section 3.3.1, on the ranks as a
// rectangle: as many rows as columns, or twice as many.
func runLU(c *mpi.Comm, s Settings) (Result, error) {
	k, err := classOf(s, "npb-lu", luClass{12, 50}, luClass{33, 300}, luClass{64, 250})
	if err != nil {
		return Result{}, err
	}
	log, err := log2Ranks(c, "npb-lu", 1<<30)
	if err != nil {
		return Result{}, err
	}
	rows, columns := 1<<(log-log/2), 1<<(log/2)
	if k.side/rows < 3 {
		return Result{}, fmt.Errorf("npb-lu of class %s has %d points on a side, too few for %d ranks: each needs three", s.classLetter(), k.side, c.Size())
	}
	y := &luRank{comm: c, s: s, nz: k.side}
	y.placeRank(k, rows, columns)
	n := float64(k.side)
	total := 1984.77*n*n*n - 10923.3*n*n + 27770.9*n - 144010                               // operations of an iteration: lu.f90 of NPB 3.4
	y.operations = total * float64(y.innerPoints[0]*y.innerPoints[1]) / ((n - 2) * (n - 2)) // the work is at the inner points
	y.exchangeFaces()                                                                       // for the right-hand side of the exact solution
	y.runIterations(1, false)
	time := y.runIterations(k.iterations, true)
	y.integrateSurface()
	return Result{
		Class: s.classLetter(), Size: fmt.Sprintf("%dx%dx%d", k.side, k.side, k.side), Iterations: k.iterations, Time: time,
		Operations: total * float64(k.iterations), OperationKind: "floating point", IsSkeleton: true,
	}, nil
}

func (y *luRank) placeRank(k luClass, rows, columns int) {
	row, column := y.comm.Rank()%rows, y.comm.Rank()/rows
	_, y.nx = splitRange(k.side, rows, row)
	_, y.ny = splitRange(k.side, columns, column)
	y.isAtTop, y.isAtBottom, y.isAtLeft, y.isAtRight = row == 0, row == rows-1, column == 0, column == columns-1
	y.north, y.south, y.west, y.east = mpi.ProcNull, mpi.ProcNull, mpi.ProcNull, mpi.ProcNull
	y.innerPoints = [2]int{y.nx, y.ny}
	for _, n := range []struct {
		none       bool
		axis, rank int
		neighbour  *int
	}{{y.isAtTop, 0, y.comm.Rank() - 1, &y.north}, {y.isAtBottom, 0, y.comm.Rank() + 1, &y.south}, {y.isAtLeft, 1, y.comm.Rank() - rows, &y.west}, {y.isAtRight, 1, y.comm.Rank() + rows, &y.east}} {
		if n.none {
			y.innerPoints[n.axis]--
		} else {
			*n.neighbour = n.rank
		}
	}
	most := 10 * k.side * k.side
	y.sendBuffer, y.receiveBuffer = make([]float64, most), make([]float64, most)
}

// runIterations is the solver: the right-hand side, and then iterations. The last one of all has
// two norms. NPB stops the time of one iteration, to touch all data, and then that of all; the
// recorded messages are those of both.
func (y *luRank) runIterations(iterations int, norms bool) unit.Time {
	y.exchangeRightSide()
	return timeSection(y.comm, func() {
		for i := range iterations {
			y.sweepPlanes(y.north, y.south, y.west, y.east)
			y.sweepPlanes(y.south, y.north, y.east, y.west)
			if norms && i == iterations-1 {
				y.exchangeNorm()
			}
			y.exchangeRightSide()
			if norms && i == iterations-1 {
				y.exchangeNorm()
			}
		}
	})
}

// sweepPlanes solves plane after plane, from the corner of two neighbours to that of the others.
func (y *luRank) sweepPlanes(fromX, toX, fromY, toY int) {
	x, z := 5*y.innerPoints[1], 5*y.innerPoints[0]
	plane := y.operations * (1 - luRightSideShare) / 2 / float64(y.nz-2)
	for range y.nz - 2 {
		y.s.chargeOperations(y.comm, int(plane*luJacobianShare))
		mpi.Recv(y.comm, y.receiveBuffer[:x], fromX, 0)
		mpi.Recv(y.comm, y.receiveBuffer[:z], fromY, 1)
		y.s.chargeOperations(y.comm, int(plane*(1-luJacobianShare)))
		mpi.Send(y.comm, y.sendBuffer[:x], toX, 0)
		mpi.Send(y.comm, y.sendBuffer[:z], toY, 1)
	}
}

// exchangeNorm is the norm of the five variables.
func (y *luRank) exchangeNorm() {
	y.s.chargeOperations(y.comm, 10*y.nx*y.ny*y.nz)
	mpi.Allreduce(y.comm, y.sendBuffer[:5], y.receiveBuffer[:5], mpi.Sum)
}

// exchangeRightSide exchanges two layers of points and computes the right-hand side.
func (y *luRank) exchangeRightSide() {
	y.exchangeFaces()
	y.s.chargeOperations(y.comm, int(y.operations*luRightSideShare))
}

// exchangeFaces exchanges two layers of points with all neighbours.
func (y *luRank) exchangeFaces() {
	x, z := 10*y.ny*y.nz, 10*y.nx*y.nz
	for tag, f := range []struct{ n, to, from int }{{x, y.south, y.north}, {x, y.north, y.south}, {z, y.east, y.west}, {z, y.west, y.east}} {
		if f.from == mpi.ProcNull {
			mpi.Send(y.comm, y.sendBuffer[:f.n], f.to, 5+tag)
			continue
		}
		sendAndReceive(y.comm, y.sendBuffer[:f.n], f.to, y.receiveBuffer[:f.n], mpi.AnySource, 5+tag) // the tag says whose it is
	}
}

// integrateSurface exchanges what the surface integral needs: of two faces across each axis, the
// points at the lower neighbours.
func (y *luRank) integrateSurface() {
	pass := func(n, to, from int) {
		mpi.Recv(y.comm, y.receiveBuffer[:n], from, 4)
		mpi.Send(y.comm, y.sendBuffer[:n], to, 4)
	}
	pass(2*y.nx, y.west, y.east)
	pass(2*(y.ny+2), y.north, y.south)
	for _, at := range []bool{y.isAtLeft, y.isAtRight} {
		if at {
			pass(y.nz, y.north, y.south)
		}
	}
	for _, at := range []bool{y.isAtTop, y.isAtBottom} {
		if at {
			pass(y.nz, y.west, y.east)
		}
	}
}
