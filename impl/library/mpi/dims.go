package mpi

import (
	"math"
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// CreateDims divides ranks among dimensions as evenly as possible, larger numbers first
// (MPI_Dims_create). Elements of dims that are not 0 are kept. ranks is at most 2³¹−1.
func (c *Comm) CreateDims(ranks int, dims []int) []int {
	c.enterCall("CreateDims")
	out := slices.Clone(dims)
	rest, free := ranks, 0
	for _, d := range dims {
		switch {
		case d == 0:
			free++
		case d < 0 || rest%d != 0:
			c.engine.Fail(engine.ErrDims, "%d ranks cannot be divided among dimensions %v", ranks, dims)
		default:
			rest /= d
		}
	}
	if free == 0 && rest != 1 || ranks < 1 || ranks > math.MaxInt32 {
		c.engine.Fail(engine.ErrDims, "%d ranks do not fill dimensions %v", ranks, dims)
	}
	parts := balancedFactors(rest, free)
	for i := range out {
		if out[i] == 0 {
			out[i], parts = parts[0], parts[1:]
		}
	}
	return out
}

// balancedFactors returns n factors of ranks, the largest first. It minimizes the difference
// between the largest and the smallest factor, then maximizes the smallest factor, then the next,
// and so on. MPICH returns the same, and Open MPI does with few exceptions.
func balancedFactors(ranks, n int) []int {
	const most = 31 // a number of ranks has fewer prime factors
	ones := max(n-most, 0)
	n -= ones
	if n <= 1 {
		return append([]int{ranks}, slices.Repeat([]int{1}, ones)...)[:n+ones]
	}
	divisors := divisorsOf(ranks)
	var best []int
	for _, largest := range divisors {
		if isPowerAtMost(largest, n, ranks-1) { // the product is too small, whatever the other factors are
			continue
		}
		if best != nil && !isPowerAtMost(largest-(best[0]-best[n-1]), n, ranks) {
			break // the smallest is at most the n-th root, so they differ by more
		}
		x := boundedFactors{divisors, largest, map[[2]int][]int{}}
		if f := x.largestFactors(ranks, n); f != nil && (best == nil || f[0]-f[n-1] <= best[0]-best[n-1]) {
			best = f
		}
	}
	return append(best, slices.Repeat([]int{1}, ones)...)
}

// boundedFactors finds factors of a number that do not exceed a bound.
type boundedFactors struct {
	divisors []int // of all products, in increasing order
	bound    int
	memo     map[[2]int][]int // factors by product and number of factors; nil: none exist
}

// largestFactors returns n factors of a product, the largest first, or nil if there are none. It
// maximizes the smallest factor, then the next, and so on.
func (x *boundedFactors) largestFactors(product, n int) []int {
	if n == 1 {
		if product > x.bound {
			return nil
		}
		return []int{product}
	}
	key := [2]int{product, n}
	if f, ok := x.memo[key]; ok {
		return f
	}
	var found []int
	for _, smallest := range slices.Backward(x.divisors) {
		if product%smallest != 0 || !isPowerAtMost(smallest, n, product) {
			continue
		}
		if rest := x.largestFactors(product/smallest, n-1); rest != nil && rest[n-2] >= smallest {
			found = append(slices.Clone(rest), smallest)
			break
		}
	}
	x.memo[key] = found
	return found
}

// isPowerAtMost reports whether xⁿ ≤ product.
func isPowerAtMost(x, n, product int) bool {
	if x < 1 {
		return product >= 0
	}
	for range n {
		product /= x
	}
	return product > 0
}

// divisorsOf returns the divisors of n in increasing order.
func divisorsOf(n int) (all []int) {
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			all = append(all, d)
			if d != n/d {
				all = append(all, n/d)
			}
		}
	}
	slices.Sort(all)
	return all
}
