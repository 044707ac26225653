package program

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// columnsProgram multiplies matrices of single precision that are distributed by columns, as the
// server of Husbands and Hoe 1998, table 4, does: a command reaches all ranks, each rank in turn
// broadcasts its columns of the first matrix, and all add what these contribute to their columns of
// the product.
var columnsProgram = Program{
	Name:        "columns",
	Description: "product of two matrices by broadcasts of columns",
	SizeUnit:    "rows of a square matrix",
	Defaults:    Settings{Size: 96, Rounds: 1},
	Parameters:  operationParameters, Run: withoutResult(runColumns),
}

// maxFullMatrixOrder is the largest matrix that is multiplied element by element. Larger ones have
// rank one, A = u·v and B = x·y, so that their product follows from v·x, and the run itself is
// fast. The time of computing is charged in the same way.
const maxFullMatrixOrder = 256

func leftFactorElement(i int) float32         { return float32(i%5 - 2) }
func rightFactorElement(i int) float32        { return float32(i%7 - 3) }
func secondMatrixFactorElement(i int) float32 { return float32(i%3 - 1) }

// elementA and elementB return elements of the matrices: small whole numbers, whose products and
// sums single precision has exactly.
func elementA(n, i, j int) float32 {
	if n > maxFullMatrixOrder {
		return leftFactorElement(i) * rightFactorElement(j)
	}
	return float32((7*i+3*j)%11 - 5)
}

func elementB(i, j int) float32 { return float32((5*i+2*j)%13 - 6) }

// commandWords is what the server broadcasts of a command before all ranks carry it out, in 4-byte
// words: two names behind their lengths, how many operands and results there are, and of these
// three the number, type, rows, columns and distribution. The source says that the protocol of the
// server has short messages, and not which.
var commandWords = []int{1, 4, 1, 8, 1, 1, 5, 5, 5}

// broadcastCommand broadcasts a command and reports whether it has arrived.
func broadcastCommand(c *mpi.Comm) (ok bool) {
	ok = true
	for i, words := range commandWords {
		x := make([]int32, words)
		if c.Rank() == 0 {
			x[words-1] = int32(i + 1)
		}
		mpi.Bcast(c, x, 0)
		ok = ok && x[words-1] == int32(i+1)
	}
	return ok
}

func runColumns(c *mpi.Comm, s *Settings) error {
	n := s.Size
	first, end := splitRange(n, c.Size(), c.Rank())
	widest := 0
	for r := range c.Size() {
		a, b := splitRange(n, c.Size(), r)
		widest = max(widest, b-a)
	}
	block := make([]float32, n*widest)
	var err error
	for range s.Rounds {
		var product []float32 // by columns
		var dot float32       // v·x
		if n <= maxFullMatrixOrder {
			product = make([]float32, n*(end-first))
		}
		if !broadcastCommand(c) && err == nil {
			err = resultError(c, "the command is another one")
		}
		for root := range c.Size() {
			from, to := splitRange(n, c.Size(), root)
			a := block[:n*(to-from)]
			if root == c.Rank() {
				for k := from; k < to; k++ {
					for i := range n {
						a[n*(k-from)+i] = elementA(n, i, k)
					}
				}
			}
			mpi.Bcast(c, a, root)
			loops := (to - from) * (end - first)
			chargeOperations(c, s, 2*n*loops)
			c.Compute((s.LoopStartTime + s.Cache.ReloadTime(4*n, 4*n)).Times(loops)) // comes back to a column, and passes another
			for k := from; k < to; k++ {
				column := a[n*(k-from):][:n]
				if n > maxFullMatrixOrder {
					vk := column[3] // u(3) is 1
					dot += vk * secondMatrixFactorElement(k)
					for i, e := range column {
						if e != leftFactorElement(i)*vk && err == nil {
							err = resultError(c, "row %d, column %d of the first matrix is %v, want %v", i, k, e, leftFactorElement(i)*vk)
						}
					}
					continue
				}
				for j := first; j < end; j++ {
					b := elementB(k, j)
					sum := product[n*(j-first):][:n]
					for i, e := range column {
						sum[i] += e * b
					}
				}
			}
		}
		if err == nil {
			err = checkColumns(c, n, first, end, product, dot)
		}
	}
	return agreeOnError(c, err)
}

// checkColumns compares columns of a product with what their elements are, each by itself.
func checkColumns(c *mpi.Comm, n, first, end int, product []float32, dot float32) error {
	if n > maxFullMatrixOrder {
		want := float32(0)
		for k := range n {
			want += rightFactorElement(k) * secondMatrixFactorElement(k)
		}
		if dot != want {
			return resultError(c, "the product of the vectors is %v, want %v", dot, want)
		}
		return nil
	}
	for j := first; j < end; j++ {
		for i := range n {
			want := float32(0)
			for k := range n {
				want += elementA(n, i, k) * elementB(k, j)
			}
			if got := product[n*(j-first)+i]; got != want {
				return resultError(c, "row %d, column %d of the product is %v, want %v", i, j, got, want)
			}
		}
	}
	return nil
}
