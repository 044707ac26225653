package microbench

import (
	"context"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// What is measured of every pair of ranks unless something else is asked for: enough to tell tiers apart and for the parameters of each,
// and little enough for thousands of pairs. Sizes are those at which the paper gives the overheads of its tiers, with more between
// them, since a line needs three.
var (
	PairModes = []string{"send", "ssend", "isend", "issend"}
	PairSizes = []int{16, 100, 1000, 4000, 10000}
)

// PairReps is how often, with each root of the barrier.
const PairReps = 10

// Pairs returns all pairs of so many ranks, a below b, in order.
func Pairs(ranks int) [][2]int {
	var pairs [][2]int
	for a := range ranks {
		for b := a + 1; b < ranks; b++ {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	return pairs
}

// SweepPairs measures all cells of a plan between each of some pairs of ranks, every pair in a job of its own, on all cores. The pair of the
// plan does not count. A world is opened with the number of its pair; the series are in the order of the pairs, and have their place set
// besides what Measure sets. Failures and done are as in Sweep.
func SweepPairs(ctx context.Context, p *Plan, pairs [][2]int, o mpi.Options, open func(ctx context.Context, pair int) (mpi.World, error), done func(n int)) ([]sample.Series, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	return inParallel(ctx, order, func(ctx context.Context, i int) ([]sample.Series, error) {
		one := *p
		one.Pair = pairs[i]
		series, err := one.alone(ctx, o, open, i, p.Cells())
		for j := range series {
			series[j].Place = sample.PlaceOf(pairs[i][0], pairs[i][1])
		}
		return series, err
	}, done)
}
