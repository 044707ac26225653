package programs

import (
	"math"

	"github.com/loggp/loggp/impl/mpi"
	"gonum.org/v1/gonum/mat"
)

// svd finds the five largest singular values of a sparse random matrix, as PARPACK does for Husbands
// and Hoe 1998, table 5: by Lanczos steps with AᵀA. Each round is a run of the steps.
var svd = Program{
	Name:  "svd",
	What:  "leading singular values of a sparse matrix, by Lanczos steps with AᵀA",
	Size:  "rows of a square matrix",
	Usual: Settings{Size: 200, Rounds: 1},
	Run: func(c *mpi.Comm, s Settings) error {
		var err error
		for range s.Rounds {
			if _, e := newLanczos(c, s).leading(); e != nil && err == nil {
				err = e
			}
		}
		return agreed(c, err)
	},
}

const (
	perRow      = 100 // most elements of a row that are not zero
	lanczosMost = 30  // steps: the basis of PARPACK is no larger for five triplets
	triplets    = 5
)

// lanczos is a rank's rows of the matrix, and its part of vectors.
type lanczos struct {
	c          *mpi.Comm
	s          Settings
	n          int
	first, end int
	columns    []int32
	values     []float64
	row        int // elements of each row
	counts, at []int
	whole      []float64 // a vector of all ranks
	sum        []float64
}

func newLanczos(c *mpi.Comm, s Settings) *lanczos {
	y := &lanczos{c: c, s: s, n: s.Size, row: min(s.Size, perRow), whole: make([]float64, s.Size), sum: make([]float64, s.Size)}
	y.first, y.end = share(y.n, c.Size(), c.Rank())
	for r := range c.Size() {
		a, b := share(y.n, c.Size(), r)
		y.counts, y.at = append(y.counts, b-a), append(y.at, a)
	}
	for i := y.first; i < y.end; i++ {
		for j := range y.row {
			column, value := element(y.n, i, j)
			y.columns, y.values = append(y.columns, int32(column)), append(y.values, value)
		}
	}
	return y
}

// element returns where the j-th element of a row is, and its value. Elements in one place add up.
func element(n, i, j int) (column int, value float64) {
	h := (uint64(i)*perRow + uint64(j) + 1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return int(h % uint64(n)), float64(int(h>>40%17)-8) / 8
}

// apply returns the rank's part of AᵀA v, of whose v it has the part.
func (y *lanczos) apply(v []float64) []float64 {
	y.c.Allgatherv(mpi.Of(v), mpi.Of(y.whole), y.counts, y.at)
	clear(y.sum)
	for i := range y.end - y.first {
		columns, values := y.columns[i*y.row:][:y.row], y.values[i*y.row:][:y.row]
		sum := 0.0
		for k, j := range columns {
			sum += values[k] * y.whole[j]
		}
		for k, j := range columns {
			y.sum[j] += values[k] * sum
		}
	}
	compute(y.c, y.s, 4*len(y.values))
	w := make([]float64, len(v))
	y.c.ReduceScatter(mpi.Of(y.sum), mpi.Of(w), y.counts, mpi.Sum)
	return w
}

// dots returns the products of w with vectors.
func (y *lanczos) dots(w []float64, vectors ...[]float64) []float64 {
	mine, all := make([]float64, len(vectors)), make([]float64, len(vectors))
	for k, v := range vectors {
		for i, x := range v {
			mine[k] += x * w[i]
		}
	}
	compute(y.c, y.s, 2*len(w)*len(vectors))
	mpi.Allreduce(y.c, mine, all, mpi.Sum)
	return all
}

// add adds multiples of vectors to w.
func (y *lanczos) add(w []float64, factors []float64, vectors ...[]float64) {
	for k, v := range vectors {
		for i, x := range v {
			w[i] += factors[k] * x
		}
	}
	compute(y.c, y.s, 2*len(w)*len(vectors))
}

func (y *lanczos) norm(w []float64) float64 { return math.Sqrt(y.dots(w, w)[0]) }

// leading returns the largest singular values that were found, the largest first. Two ways to the
// residual of the first have to agree.
func (y *lanczos) leading() ([]float64, error) {
	v := make([]float64, y.end-y.first)
	for i := range v {
		v[i] = 1 + float64((y.first+i)%7)/7
	}
	scale := func(v []float64, f float64) {
		for i := range v {
			v[i] *= f
		}
	}
	scale(v, 1/y.norm(v))
	basis := [][]float64{v}
	var alpha, beta []float64
	for steps := min(y.n, lanczosMost); ; {
		w := y.apply(basis[len(basis)-1])
		for pass := range 2 { // Gram and Schmidt, twice, so that the basis stays orthogonal
			h := y.dots(w, basis...)
			if pass == 0 {
				alpha = append(alpha, h[len(h)-1])
			}
			for i := range h {
				h[i] = -h[i]
			}
			y.add(w, h, basis...)
		}
		b := y.norm(w)
		beta = append(beta, b)
		if len(basis) == steps || b < 1e-9*math.Abs(alpha[0]) {
			break
		}
		scale(w, 1/b)
		basis = append(basis, w)
	}
	m := len(alpha)
	t := mat.NewSymDense(m, nil)
	for i, a := range alpha {
		t.SetSym(i, i, a)
		if i+1 < m {
			t.SetSym(i, i+1, beta[i])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(t, true) {
		return nil, wrong(y.c, "the tridiagonal matrix of %d steps has no eigenvalues", m)
	}
	theta := eigen.Values(nil) // the smallest first
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	x := make([]float64, len(v))
	y.add(x, mat.Col(nil, m-1, &vectors), basis...)
	r := y.apply(x)
	y.add(r, []float64{-theta[m-1]}, x)
	if got, want := y.norm(r), beta[m-1]*math.Abs(vectors.At(m-1, m-1)); math.Abs(got-want) > 1e-8*(1+theta[m-1]) {
		return nil, wrong(y.c, "the residual of the largest singular value is %v, by the steps %v", got, want)
	}
	var values []float64
	for i := m - 1; i >= max(m-triplets, 0); i-- {
		values = append(values, math.Sqrt(max(theta[i], 0)))
	}
	return values, nil
}
