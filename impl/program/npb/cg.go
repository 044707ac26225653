package npb

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

var cgBenchmark = Benchmark{
	Name: "npb-cg", Description: "conjugate gradients: the smallest eigenvalue of a random sparse matrix, by sums along rows of ranks and an exchange across the diagonal", Classes: "SWA", Run: runCG,
}

const (
	cgIterations          = 15
	cgStepsPerIteration   = 25  // of conjugate gradients in an iteration
	cgReciprocalCondition = 0.1 // rcond: reciprocal of the matrix's condition number
	cgSeed                = 314159265
	cgTolerance           = 1e-10
)

// cgClass is a class of CG: order of the matrix, non-zeros of each vector that it is made of, shift
// of its eigenvalues, and the result zeta.
type cgClass struct {
	order, nonzeros int
	shift, zeta     float64
}

// cgRank is a rank's part of the matrix, rows and columns from 0 on, and where it sends vectors.
type cgRank struct {
	comm *mpi.Comm
	s    Settings

	rowStart    []int32 // of each row in column and value
	columnIndex []int32
	value       []float64

	rows, cols                         int
	partners                           []int    // for sums along the row of ranks, in order
	sentRanges, receivedRanges         [][2]int // what is sent to a partner and received from it of a vector of rows: start, length
	rankAcrossDiagonal                 int      // rank across the diagonal
	rangeSentAcross                    [2]int   // what is sent across
	x, z, p, q, r                      []float64
	w, receivedVector                  []float64
	dotProductSend, dotProductReceived []float64
}

// runCG is the kernel of RNR-94-007, section 2.2.3, on the ranks as a rectangle of NAS-95-020: as
// many rows as columns, or half as many.
func runCG(c *mpi.Comm, s Settings) (Result, error) {
	// zeta: cg.f90 of NPB 3.4.
	k, err := classOf(s, "npb-cg", cgClass{1400, 7, 10, 8.5971775078648}, cgClass{7000, 8, 12, 10.362595087124}, cgClass{14000, 11, 20, 17.130235054029})
	if err != nil {
		return Result{}, err
	}
	log, err := log2Ranks(c, "npb-cg", 256)
	if err != nil {
		return Result{}, err
	}
	y := &cgRank{comm: c, s: s, dotProductSend: make([]float64, 2), dotProductReceived: make([]float64, 2)}
	y.placeRank(k, log)
	zeta := y.iterateInversePowerMethod(k.shift) // touches all data once, as NPB does before it measures
	time := timeSection(c, func() {
		for i := range y.x {
			y.x[i] = 1
		}
		for range cgIterations {
			zeta = y.iterateInversePowerMethod(k.shift)
		}
	})
	per := float64(k.nonzeros * (k.nonzeros + 1))
	return Result{
		Class: s.classLetter(), Size: fmt.Sprint(k.order), Iterations: cgIterations, Time: time,
		Operations: 2 * cgIterations * float64(k.order) * (3 + per + cgStepsPerIteration*(5+per) + 3), OperationKind: "floating point",
		IsVerified: isClose(zeta, k.zeta, cgTolerance),
	}, nil
}

// splitRange returns the i-th of n parts of a length; if they differ, the first parts are longer.
func splitRange(length, n, i int) (first, size int) {
	size = length / n
	long := length % n
	first = i*size + min(i, long)
	if i < long {
		size++
	}
	return first, size
}

// placeRank makes the rank's part of the matrix and finds its partners.
func (y *cgRank) placeRank(k cgClass, log int) {
	me := y.comm.Rank()
	height, width := 1<<(log/2), 1<<(log-log/2)
	row, column := me/width, me%width
	firstRow, rows := splitRange(k.order, height, row)
	firstCol, cols := splitRange(k.order, width, column)
	y.rangeSentAcross = [2]int{0, rows}
	if width == height {
		y.rankAcrossDiagonal = column*width + row
	} else { // two ranks share a column of the square and the vector that belongs to it
		firstCol, cols = splitRange(k.order, height, column/2)
		half := (cols + 1) / 2
		y.rangeSentAcross = [2]int{0, (rows + 1) / 2}
		if me%2 == 1 {
			firstCol, half = firstCol+half, cols-half
			y.rangeSentAcross = [2]int{(rows + 1) / 2, rows / 2}
		}
		cols = half
		y.rankAcrossDiagonal = 2*(column/2*height+row) + me%2
	}
	for div := 2; div <= width; div *= 2 {
		send := y.rangeSentAcross
		if div == 2 && width != height { // the neighbour keeps the other half
			send = [2]int{(rows + 1) / 2, rows / 2}
			if me%2 == 1 {
				send = [2]int{0, (rows + 1) / 2}
			}
		}
		y.partners = append(y.partners, row*width+(column+div/2)%div+column/div*div)
		y.sentRanges, y.receivedRanges = append(y.sentRanges, send), append(y.receivedRanges, y.rangeSentAcross)
	}
	y.rows, y.cols = rows, cols
	y.fillMatrix(k, firstRow, firstCol)
	n := max(rows, cols)
	for _, v := range []*[]float64{&y.x, &y.z, &y.p, &y.q, &y.r} {
		*v = make([]float64, cols)
	}
	y.w, y.receivedVector = make([]float64, n), make([]float64, n)
	for i := range y.x {
		y.x[i] = 1
	}
}

// fillMatrix makes the rank's part of
//
//	Σ ω_i x_i x_iᵀ + (rcond − shift)·I
//
// with sparse random vectors x_i and weights ω_i that fall from 1 to rcond. RNR-94-007, section
// 2.2.3.
func (y *cgRank) fillMatrix(k cgClass, firstRow, firstCol int) {
	type element struct {
		col   int32
		value float64
	}
	rows := make([][]element, y.rows)
	add := func(row, col int, v float64) {
		row, col = row-firstRow, col-firstCol
		if row < 0 || row >= y.rows || col < 0 || col >= y.cols {
			return
		}
		for i := range rows[row] {
			if rows[row][i].col == int32(col) {
				rows[row][i].value += v
				return
			}
		}
		rows[row] = append(rows[row], element{int32(col), v})
	}
	r := randomNumbers{cgSeed}
	r.nextNumber() // NPB draws the first guess of zeta before
	weight, ratio := 1.0, math.Pow(cgReciprocalCondition, 1/float64(k.order))
	for i := range k.order {
		at, v := sparseVector(&r, k.order, k.nonzeros, i)
		for a, col := range at {
			if col < firstCol || col >= firstCol+y.cols {
				continue
			}
			for b, row := range at {
				add(row, col, v[b]*(weight*v[a]))
			}
		}
		weight *= ratio
	}
	for i := range k.order {
		add(i, i, cgReciprocalCondition-k.shift)
	}
	y.rowStart = append(y.rowStart, 0)
	for _, row := range rows {
		slices.SortFunc(row, func(a, b element) int { return int(a.col - b.col) })
		for _, e := range row {
			y.columnIndex, y.value = append(y.columnIndex, e.col), append(y.value, e.value)
		}
		y.rowStart = append(y.rowStart, int32(len(y.columnIndex)))
	}
}

// sparseVector returns places and values of a sparse random vector with 0.5 at place i.
func sparseVector(r *randomNumbers, order, nonzeros, i int) (at []int, v []float64) {
	power := 1
	for power < order {
		power *= 2
	}
	for len(at) < nonzeros {
		value := r.nextNumber()
		place := int(float64(power) * r.nextNumber())
		if place < order && !slices.Contains(at, place) {
			at, v = append(at, place), append(v, value)
		}
	}
	if j := slices.Index(at, i); j >= 0 {
		v[j] = 0.5
	} else {
		at, v = append(at, i), append(v, 0.5)
	}
	return at, v
}

// iterateInversePowerMethod is a step of the inverse power method. It returns the estimate of the
// eigenvalue.
func (y *cgRank) iterateInversePowerMethod(shift float64) float64 {
	y.solveByConjugateGradients()
	norms := y.dotProductSend
	clear(norms)
	for i, z := range y.z {
		norms[0] += y.x[i] * z
		norms[1] += z * z
	}
	for _, p := range y.partners {
		sendAndReceive(y.comm, norms, p, y.dotProductReceived, p, 0)
		norms[0] += y.dotProductReceived[0]
		norms[1] += y.dotProductReceived[1]
	}
	scale := 1 / math.Sqrt(norms[1])
	for i, z := range y.z {
		y.x[i] = scale * z
	}
	y.s.chargeOperations(y.comm, 5*y.cols)
	return shift + 1/norms[0]
}

// solveByConjugateGradients finds z with A·z = x by conjugate gradients, and computes the residual.
func (y *cgRank) solveByConjugateGradients() {
	clear(y.z)
	copy(y.r, y.x)
	copy(y.p, y.x)
	rho := y.dotProduct(y.r, y.r)
	for range cgStepsPerIteration {
		y.applyMatrix(y.p, y.q)
		alpha := rho / y.dotProduct(y.p, y.q)
		for i := range y.z {
			y.z[i] += alpha * y.p[i]
			y.r[i] -= alpha * y.q[i]
		}
		before := rho
		rho = y.dotProduct(y.r, y.r)
		beta := rho / before
		for i := range y.p {
			y.p[i] = y.r[i] + beta*y.p[i]
		}
		y.s.chargeOperations(y.comm, 6*y.cols)
	}
	y.applyMatrix(y.z, y.r)
	for i := range y.r {
		y.r[i] = y.x[i] - y.r[i]
	}
	y.s.chargeOperations(y.comm, y.cols)
	y.dotProduct(y.r, y.r)
}

// applyMatrix sets result to A·v: the sum along each row of ranks, and from there to the columns.
func (y *cgRank) applyMatrix(v, result []float64) {
	for i := range y.rows {
		sum := 0.0
		for j := y.rowStart[i]; j < y.rowStart[i+1]; j++ {
			sum += y.value[j] * v[y.columnIndex[j]]
		}
		y.w[i] = sum
	}
	sums := 0
	for i, p := range y.partners {
		out, in := y.sentRanges[i], y.receivedRanges[i]
		sendAndReceive(y.comm, y.w[out[0]:out[0]+out[1]], p, y.receivedVector[in[0]:in[0]+in[1]], p, 1)
		for j := in[0]; j < in[0]+in[1]; j++ {
			y.w[j] += y.receivedVector[j]
		}
		sums += in[1]
	}
	y.s.chargeOperations(y.comm, 2*len(y.value)+sums)
	if len(y.partners) == 0 {
		copy(result, y.w)
		return
	}
	sendAndReceive(y.comm, y.w[y.rangeSentAcross[0]:y.rangeSentAcross[0]+y.rangeSentAcross[1]], y.rankAcrossDiagonal, result, y.rankAcrossDiagonal, 2)
}

// dotProduct returns the scalar product over the row of ranks, which together have the whole
// vectors.
func (y *cgRank) dotProduct(a, b []float64) float64 {
	sum, got := y.dotProductSend[:1], y.dotProductReceived[:1]
	sum[0] = 0
	for i, v := range a {
		sum[0] += v * b[i]
	}
	for _, p := range y.partners {
		sendAndReceive(y.comm, sum, p, got, p, 3)
		sum[0] += got[0]
	}
	y.s.chargeOperations(y.comm, 2*len(a))
	return sum[0]
}
