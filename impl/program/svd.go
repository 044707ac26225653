package program

import (
	"math"

	"github.com/loggp/loggp/impl/library/mpi"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// svdProgram finds the five largest singular values of a sparse random matrix, as PARPACK does for
// Husbands and Hoe 1998, table 5: by a Lanczos iteration with AᵀA that is restarted. Each round is
// an iteration.
var svdProgram = Program{
	Name:        "svd",
	Description: "leading singular values of a sparse matrix, by a restarted Lanczos iteration with AᵀA",
	SizeUnit:    "rows of a square matrix",
	Defaults:    Settings{Size: 200, Rounds: 1},
	Parameters:  operationParameters, Run: withoutResult(runSVD),
}

func runSVD(c *mpi.Comm, s *Settings) error {
	var err error
	for range s.Rounds {
		if _, e := newLanczos(c, s).leadingSingularValues(); e != nil && err == nil {
			err = e
		}
	}
	return agreeOnError(c, err)
}

const (
	maxRowElements  = 100 // most elements of a row that are not zero
	singularValues  = 5
	maxBasisVectors = 2 * singularValues // vectors of a basis: what the guide of ARPACK asks for at least

	// maxHeldRows is how many rows a matrix has at most whose elements are held. For larger ones
	// the ranks exchange as much data, and are charged as many operations, for so many products
	// with AᵀA: a sample of an iteration.
	maxHeldRows             = 2000
	productsWithoutElements = 31
)

// lanczosRank is a rank's rows of the matrix, and its part of vectors.
type lanczosRank struct {
	c                     *mpi.Comm
	s                     *Settings
	n                     int
	first, end            int
	holdsElements         bool // elements and vectors are computed, and not charged alone
	columns               []int32
	values                []float64
	elementsPerRow        int // elements of each row
	counts, displacements []int
	wholeVector           []float64 // a vector of all ranks
	sum                   []float64
	productCount          int // with AᵀA
}

func newLanczos(c *mpi.Comm, s *Settings) *lanczosRank {
	y := &lanczosRank{c: c, s: s, n: s.Size, elementsPerRow: min(s.Size, maxRowElements), holdsElements: s.Size <= maxHeldRows, wholeVector: make([]float64, s.Size), sum: make([]float64, s.Size)}
	y.first, y.end = splitRange(y.n, c.Size(), c.Rank())
	for r := range c.Size() {
		a, b := splitRange(y.n, c.Size(), r)
		y.counts, y.displacements = append(y.counts, b-a), append(y.displacements, a)
	}
	if y.holdsElements {
		y.fillRows()
	}
	return y
}

// fillRows computes the rank's rows.
func (y *lanczosRank) fillRows() {
	y.holdsElements = true
	for i := y.first; i < y.end; i++ {
		for j := range y.elementsPerRow {
			column, value := sparseElement(y.n, i, j)
			y.columns, y.values = append(y.columns, int32(column)), append(y.values, value)
		}
	}
}

// sparseElement returns where the j-th element of a row is, and its value, from 0 to 1. Elements in
// one place add up.
func sparseElement(n, i, j int) (column int, value float64) {
	h := (uint64(i)*maxRowElements + uint64(j) + 1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return int(h % uint64(n)), float64(h>>40&0xffff) / 0x10000
}

// applyNormalMatrix returns the rank's part of AᵀA v, of whose v it has the part.
func (y *lanczosRank) applyNormalMatrix(v []float64) []float64 {
	y.productCount++
	y.c.Allgatherv(mpi.BufferOf(v), mpi.BufferOf(y.wholeVector), y.counts, y.displacements)
	if y.holdsElements {
		clear(y.sum)
		for i := range y.end - y.first {
			columns, values := y.columns[i*y.elementsPerRow:][:y.elementsPerRow], y.values[i*y.elementsPerRow:][:y.elementsPerRow]
			sum := 0.0
			for k, j := range columns {
				sum += values[k] * y.wholeVector[j]
			}
			for k, j := range columns {
				y.sum[j] += values[k] * sum
			}
		}
	}
	elements := (y.end - y.first) * y.elementsPerRow
	chargeOperations(y.c, y.s, 4*elements)
	y.c.Compute(y.s.IndirectAccessTime.Times(2 * elements))
	w := make([]float64, len(v))
	y.c.ReduceScatter(mpi.BufferOf(y.sum), mpi.BufferOf(w), y.counts, mpi.Sum)
	return w
}

// dotProducts returns the products of w with vectors.
func (y *lanczosRank) dotProducts(w []float64, vectors ...[]float64) []float64 {
	mine, all := make([]float64, len(vectors)), make([]float64, len(vectors))
	if y.holdsElements {
		for k, v := range vectors {
			mine[k] = floats.Dot(v, w)
		}
	}
	chargeOperations(y.c, y.s, 2*len(w)*len(vectors))
	mpi.Allreduce(y.c, mine, all, mpi.Sum)
	return all
}

// addScaled adds multiples of vectors to w.
func (y *lanczosRank) addScaled(w []float64, factors []float64, vectors ...[]float64) {
	if y.holdsElements {
		for k, v := range vectors {
			floats.AddScaled(w, factors[k], v)
		}
	}
	chargeOperations(y.c, y.s, 2*len(w)*len(vectors))
}

func (y *lanczosRank) norm(w []float64) float64 { return math.Sqrt(y.dotProducts(w, w)[0]) }

// orthogonalize makes w orthogonal to vectors, by Gram and Schmidt, twice, so that it stays so. It
// returns the product with the last vector.
func (y *lanczosRank) orthogonalize(w []float64, vectors [][]float64) (last float64) {
	for pass := range 2 {
		h := y.dotProducts(w, vectors...)
		if pass == 0 {
			last = h[len(h)-1]
		}
		floats.Scale(-1, h)
		y.addScaled(w, h, vectors...)
	}
	return last
}

// leadingSingularValues returns the largest singular values, the largest first. Two ways to the
// residual of the first have to agree.
//
// The iteration is the thick restart of Wu and Simon 2000, which for a symmetric matrix finds what
// the implicit restart of ARPACK finds, in the same number of products.
func (y *lanczosRank) leadingSingularValues() ([]float64, error) {
	v := make([]float64, y.end-y.first)
	for i := range v {
		v[i] = 1 + float64((y.first+i)%7)/7
	}
	floats.Scale(1/y.norm(v), v)
	m, kept := min(y.n, maxBasisVectors), 0 // vectors of the basis, and those that a restart has kept
	basis, t := [][]float64{v}, mat.NewSymDense(m, nil)
	for {
		var beta float64 // of the vector behind the basis
		var next []float64
		for j := kept; j < m; j++ {
			next = y.applyNormalMatrix(basis[j])
			t.SetSym(j, j, y.orthogonalize(next, basis))
			beta = y.norm(next)
			if y.holdsElements && beta <= 1e-9*math.Abs(t.At(0, 0)) { // the basis has all that can be found
				m, t = j+1, mat.NewSymDense(j+1, t.SliceSym(0, j+1).(*mat.SymDense).RawSymmetric().Data)
			}
			if beta > 0 {
				floats.Scale(1/beta, next)
			}
			if j+1 < m {
				t.SetSym(j, j+1, beta)
				basis = append(basis, next)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(t, true) {
			return nil, resultError(y.c, "the matrix of a basis of %d vectors has no eigenvalues", m)
		}
		theta := eigen.Values(nil) // the smallest first
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		converged := 0
		for i := m - 1; i >= max(m-singularValues, 0); i-- {
			if beta*math.Abs(vectors.At(m-1, i)) <= machineEpsilon*theta[i] {
				converged++
			}
		}
		switch {
		case !y.holdsElements && y.productCount >= productsWithoutElements:
			return nil, nil
		case !y.holdsElements:
			converged = singularValues // as in most restarts of an iteration
		case converged == singularValues || m < maxBasisVectors:
			return y.singularValuesOfBasis(theta, &vectors, basis, beta)
		}
		kept = singularValues + min(converged, (m-singularValues)/2) // as ARPACK
		ritz := make([][]float64, kept)
		t = mat.NewSymDense(m, nil)
		for i := range kept {
			ritz[i] = make([]float64, len(v))
			y.addScaled(ritz[i], mat.Col(nil, m-1-i, &vectors), basis...)
			t.SetSym(i, i, theta[m-1-i])
			t.SetSym(i, kept, beta*vectors.At(m-1, m-1-i))
		}
		basis = append(ritz, next)
	}
}

// machineEpsilon is the tolerance of ARPACK where none is given: that of the arithmetic.
const machineEpsilon = 0x1p-53

// singularValuesOfBasis returns the singular values of a basis that has converged.
func (y *lanczosRank) singularValuesOfBasis(theta []float64, vectors *mat.Dense, basis [][]float64, beta float64) ([]float64, error) {
	m := len(theta)
	x := make([]float64, y.end-y.first)
	y.addScaled(x, mat.Col(nil, m-1, vectors), basis...)
	r := y.applyNormalMatrix(x)
	y.addScaled(r, []float64{-theta[m-1]}, x)
	if got, want := y.norm(r), beta*math.Abs(vectors.At(m-1, m-1)); math.Abs(got-want) > 1e-8*(1+theta[m-1]) {
		return nil, resultError(y.c, "the residual of the largest singular value is %v, by the iteration %v", got, want)
	}
	var values []float64
	for i := m - 1; i >= max(m-singularValues, 0); i-- {
		values = append(values, math.Sqrt(max(theta[i], 0)))
	}
	return values, nil
}
