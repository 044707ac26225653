package npb

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/library/mpi"
)

var epBenchmark = Benchmark{
	Name: "npb-ep", Description: "embarrassingly parallel: pairs of Gaussian deviates, and three sums at the end", Classes: "SWA", Run: runEP,
}

// epClass is a class of EP: 2^log pairs, and the sums of their deviates.
type epClass struct {
	logPairs int
	sx, sy   float64
}

const (
	epPairsPerBatch        = 1 << 16 // pairs that a rank generates at once
	epOperationsPerPair    = 14      // operations of a pair: two numbers, scaled, and whether they lie in the circle
	epOperationsPerDeviate = 12      // further operations of a pair in the circle, a logarithm and a root are one each
	epSeed                 = 271828183
	epAnnuli               = 10
	epTolerance            = 1e-8
	epIterations           = 0 // NPB prints 0
)

// runEP is the kernel of RNR-94-007, section 2.2.1. The batches are distributed in blocks.
func runEP(c *mpi.Comm, s Settings) (Result, error) {
	// Sums: ep.f90 of NPB 3.4, verification.
	k, err := classOf(s, "npb-ep", epClass{24, -3.247834652034740e3, -6.958407078382297e3},
		epClass{25, -2.863319731645753e3, -6.320053679109499e3}, epClass{28, -4.295875165629892e3, -1.580732573678431e4})
	if err != nil {
		return Result{}, err
	}
	batches := 1 << k.logPairs / epPairsPerBatch
	if c.Size() > batches {
		return Result{}, fmt.Errorf("npb-ep has %d batches of numbers, too few for %d ranks", batches, c.Size())
	}
	var sums [2]float64
	var counts [epAnnuli]float64
	time := timeSection(c, func() {
		var x, y [1]float64
		var q [epAnnuli]float64
		for b := c.Rank() * batches / c.Size(); b < (c.Rank()+1)*batches/c.Size(); b++ {
			inside := countDeviates(b, &x[0], &y[0], &q)
			s.chargeOperations(c, epPairsPerBatch*epOperationsPerPair+inside*epOperationsPerDeviate)
		}
		mpi.Allreduce(c, x[:], sums[:1], mpi.Sum)
		mpi.Allreduce(c, y[:], sums[1:], mpi.Sum)
		mpi.Allreduce(c, q[:], counts[:], mpi.Sum)
	})
	return Result{
		Class: s.classLetter(), Size: fmt.Sprint(1 << (k.logPairs + 1)), Iterations: epIterations, Time: time,
		Operations: float64(int(1) << (k.logPairs + 1)), OperationKind: "random numbers generated",
		IsVerified: isClose(sums[0], k.sx, epTolerance) && isClose(sums[1], k.sy, epTolerance),
	}, nil
}

// countDeviates adds up the Gaussian deviates of a batch, and counts them by the larger of their
// absolute values. It returns how many pairs lie in the unit circle.
func countDeviates(batch int, sx, sy *float64, counts *[epAnnuli]float64) int {
	r := randomNumbers{epSeed}
	r.skipNumbers(2 * epPairsPerBatch * batch)
	inside := 0
	for range epPairsPerBatch {
		x := 2*r.nextNumber() - 1
		y := 2*r.nextNumber() - 1
		t := x*x + y*y
		if t > 1 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(t) / t)
		x, y = x*f, y*f
		counts[int(max(math.Abs(x), math.Abs(y)))]++
		*sx += x
		*sy += y
		inside++
	}
	return inside
}
