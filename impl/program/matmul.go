package program

import (
	"errors"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

var matmulProgram = Program{
	Name: "matmul", Description: "product of two square matrices; each rank has rows of all matrices, and the rows of the second rotate through the ranks",
	SizeUnit: "rows", Defaults: Settings{Size: 64, Rounds: 1}, Parameters: append(operationParameters, dataParameter), Run: withoutResult(runMatmul),
}

func runMatmul(c *mpi.Comm, s *Settings) error {
	n := s.Size
	first, end := splitRange(n, c.Size(), c.Rank())
	a, product := make([]float64, (end-first)*n), make([]float64, (end-first)*n)
	for i := range a {
		a[i] = matrixElement(0, first+i/n, i%n)
	}
	var err error
	for range s.Rounds {
		clear(product)
		multiplyRows(c, s, a, product)
		if !s.SizeOnlyMessages {
			err = errors.Join(err, checkProduct(c, s, product, first))
		}
	}
	return agreeOnError(c, err)
}

// matrixElement is an element of a matrix, a small whole number so that sums are exact.
func matrixElement(matrix, i, j int) float64 { return float64((i*7+j*13+matrix*29)%17 - 8) }

// multiplyRows adds up the rank's rows of the product. The rows of the second matrix pass around a
// ring: a rank computes with those of one rank while it sends them on and receives the next.
func multiplyRows(c *mpi.Comm, s *Settings, a, product []float64) {
	n, p := s.Size, c.Size()
	most := (n + p - 1) / p * n
	have, coming := make([]float64, most), make([]float64, most)
	first, end := splitRange(n, p, c.Rank())
	for i := range (end - first) * n {
		have[i] = matrixElement(1, first+i/n, i%n)
	}
	haveBytes, comingBytes := device.SizeOnlyIf(s.SizeOnlyMessages, mpi.BytesOf(have)), device.SizeOnlyIf(s.SizeOnlyMessages, mpi.BytesOf(coming))
	next, before := (c.Rank()+1)%p, (c.Rank()+p-1)%p
	for turn := range p {
		owner := (c.Rank() - turn + p) % p
		lo, hi := splitRange(n, p, owner)
		var moves []mpi.Request
		if turn < p-1 {
			l, h := splitRange(n, p, (owner-1+p)%p)
			moves = []mpi.Request{mpi.Irecv(c, comingBytes[:8*(h-l)*n], before, turn), mpi.Isend(c, haveBytes[:8*(hi-lo)*n], next, turn)}
		}
		for i := range len(a) / n {
			for k := lo; k < hi; k++ {
				x := a[i*n+k]
				for j, y := range have[(k-lo)*n : (k-lo+1)*n] {
					product[i*n+j] += x * y
				}
			}
		}
		chargeOperations(c, s, 2*len(a)*(hi-lo))
		mpi.WaitAll(moves, nil)
		have, coming, haveBytes, comingBytes = coming, have, comingBytes, haveBytes
	}
}

// checkProduct computes the rank's rows from the definition.
func checkProduct(c *mpi.Comm, s *Settings, product []float64, first int) error {
	n := s.Size
	for at, got := range product {
		i, j := first+at/n, at%n
		want := 0.0
		for k := range n {
			want += matrixElement(0, i, k) * matrixElement(1, k, j)
		}
		if got != want {
			return resultError(c, "element %d, %d is %v, not %v", i, j, got, want)
		}
	}
	return nil
}
