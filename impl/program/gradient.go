package program

import (
	"math"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

var gradientProgram = Program{
	Name: "cg", Description: "conjugate gradients for Poisson's equation on a square; ranks exchange borders, and each iteration has two sums over all ranks",
	SizeUnit: "points on a side", Defaults: Settings{Size: 32, Rounds: 40}, Parameters: append(operationParameters, dataParameter), Run: withoutResult(runGradient),
}

// poissonRows is a rank's rows of points of the square. Vectors that are multiplied also have a row
// of each neighbour.
type poissonRows struct {
	c                    *mpi.Comm
	s                    *Settings
	n, rows              int
	first                int
	rankAbove, rankBelow int
	sizeOnlyRows         []byte // instead of those of a vector; nil: the run has data
}

func runGradient(c *mpi.Comm, s *Settings) error {
	if err := checkLinesPerRank(s.Size, c.Size()); err != nil {
		return err
	}
	first, end := splitRange(s.Size, c.Size(), c.Rank())
	y := &poissonRows{c: c, s: s, n: s.Size, rows: end - first, first: first, rankAbove: c.Rank() - 1, rankBelow: c.Rank() + 1}
	if y.rankAbove < 0 {
		y.rankAbove = mpi.ProcNull
	}
	if y.rankBelow == c.Size() {
		y.rankBelow = mpi.ProcNull
	}
	if s.SizeOnlyMessages {
		y.sizeOnlyRows = mpi.NewSizeOnlyBytes(8 * (y.rows + 2) * y.n)
	}
	x, r := y.newVector(), y.newVector()
	y.forEachPoint(func(i int) { r[i] = y.rightHandSide(i) })
	before := y.dotProduct(r, r)
	left := y.solve(x, r, before)
	return agreeOnError(c, y.checkSolution(x, before, left))
}

// newVector returns a vector of the rank's points and its neighbours' rows.
func (y *poissonRows) newVector() []float64 { return make([]float64, (y.rows+2)*y.n) }

// forEachPoint calls do for the index of each of the rank's own points, if the run has data.
func (y *poissonRows) forEachPoint(do func(i int)) {
	if y.s.SizeOnlyMessages {
		return
	}
	for i := y.n; i < (y.rows+1)*y.n; i++ {
		do(i)
	}
}

// rightHandSide returns the right-hand side of the system at a point.
func (y *poissonRows) rightHandSide(i int) float64 {
	row, column := y.first+i/y.n-1, i%y.n
	return float64((row*13+column*7)%11) - 5
}

// solve runs conjugate gradients. r is the residual and rr its square. It returns the last square.
// A residual of zero does not end it: what ranks do must not depend on data.
func (y *poissonRows) solve(x, r []float64, rr float64) float64 {
	p, q := append([]float64(nil), r...), y.newVector()
	for range y.s.Rounds {
		y.applyMatrix(p, q)
		alpha := ratioOrZero(rr, y.dotProduct(p, q))
		y.forEachPoint(func(i int) {
			x[i] += alpha * p[i]
			r[i] -= alpha * q[i]
		})
		next := y.dotProduct(r, r)
		beta := ratioOrZero(next, rr)
		y.forEachPoint(func(i int) { p[i] = r[i] + beta*p[i] })
		chargeOperations(y.c, y.s, 6*y.rows*y.n)
		rr = next
	}
	return rr
}

// ratioOrZero returns a/b, or zero if a is zero.
func ratioOrZero(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}

// applyMatrix sets q to A·p: four times each point minus its neighbours.
func (y *poissonRows) applyMatrix(p, q []float64) {
	n := y.n
	memory := y.sizeOnlyRows
	if memory == nil {
		memory = mpi.BytesOf(p)
	}
	row := func(i int) []byte { return memory[8*i*n : 8*(i+1)*n] }
	mpi.Sendrecv(y.c, row(1), y.rankAbove, 0, row(y.rows+1), y.rankBelow, 0)
	mpi.Sendrecv(y.c, row(y.rows), y.rankBelow, 1, row(0), y.rankAbove, 1)
	y.forEachPoint(func(i int) {
		q[i] = 4*p[i] - p[i-n] - p[i+n]
		if i%n > 0 {
			q[i] -= p[i-1]
		}
		if i%n < n-1 {
			q[i] -= p[i+1]
		}
	})
	chargeOperations(y.c, y.s, 5*y.rows*n)
}

// dotProduct returns the scalar product over all ranks.
func (y *poissonRows) dotProduct(a, b []float64) float64 {
	sum, all := []float64{0}, []float64{0}
	y.forEachPoint(func(i int) { sum[0] += a[i] * b[i] })
	chargeOperations(y.c, y.s, 2*y.rows*y.n)
	give, take := mpi.BufferOf(sum), mpi.BufferOf(all)
	give.Bytes, take.Bytes = device.SizeOnlyIf(y.s.SizeOnlyMessages, give.Bytes), device.SizeOnlyIf(y.s.SizeOnlyMessages, take.Bytes)
	y.c.Allreduce(give, take, mpi.Sum)
	return all[0]
}

// checkSolution computes the residual from the solution. It must equal the one of the iteration,
// and be smaller than the first.
func (y *poissonRows) checkSolution(x []float64, before, left float64) error {
	q := y.newVector()
	y.applyMatrix(x, q)
	r := y.newVector()
	y.forEachPoint(func(i int) { r[i] = y.rightHandSide(i) - q[i] })
	got := y.dotProduct(r, r)
	if y.s.SizeOnlyMessages {
		return nil
	}
	if math.Abs(math.Sqrt(got)-math.Sqrt(left)) > 1e-9*math.Sqrt(before) {
		return resultError(y.c, "the residual is %.3g, and the iteration has %.3g", math.Sqrt(got), math.Sqrt(left))
	}
	if y.s.Rounds >= 4 && before > 0 && got >= before {
		return resultError(y.c, "after %d rounds the residual is %.3g, no less than %.3g at first", y.s.Rounds, math.Sqrt(got), math.Sqrt(before))
	}
	return nil
}
