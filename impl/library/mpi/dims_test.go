package mpi_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
)

// The first five results are in MPI-1.2, section 6.5.2, or follow from it. The others are from
// MPICH 4.0; Open MPI 4.1 differs for 72, 180 and 336.
func TestDims(t *testing.T) {
	locally(t, 1, func(c *mpi.Comm) error {
		for _, x := range []struct {
			ranks      int
			dims, want []int
		}{
			{6, []int{0, 0}, []int{3, 2}}, {7, []int{0, 0}, []int{7, 1}}, {6, []int{0, 3, 0}, []int{2, 3, 1}}, {64, []int{0, 0, 0}, []int{4, 4, 4}}, {24, []int{0, 0, 0}, []int{4, 3, 2}},
			{72, []int{0, 0}, []int{9, 8}}, {180, []int{0, 0}, []int{15, 12}}, {336, []int{0, 0}, []int{21, 16}},
			{360, []int{0, 0, 0}, []int{10, 6, 6}}, {1, []int{0, 0, 0}, []int{1, 1, 1}}, {1440, []int{0, 0, 0}, []int{12, 12, 10}}, {1008, []int{0, 0, 0}, []int{12, 12, 7}}, {1800, []int{0, 0, 0, 0}, []int{9, 8, 5, 5}},
			{1_000_000_007, []int{0, 0, 0}, []int{1_000_000_007, 1, 1}}, {1 << 30, []int{0, 0, 0}, []int{1024, 1024, 1024}}, {2_147_483_647, []int{0, 0}, []int{2_147_483_647, 1}},
			{735_134_400, []int{0, 0, 0, 0, 0}, nil}, // 1344 divisors
		} {
			got := c.CreateDims(x.ranks, x.dims)
			product := 1
			for _, d := range got {
				product *= d
			}
			if product != x.ranks || x.want != nil && !slices.Equal(got, x.want) {
				return fmt.Errorf("%d ranks in %v: %v, not %v", x.ranks, x.dims, got, x.want)
			}
		}
		if got := c.CreateDims(12, make([]int, 1000)); !slices.Equal(got[:4], []int{3, 2, 2, 1}) || got[999] != 1 {
			return fmt.Errorf("12 ranks in 1000 dimensions: %v ...", got[:8])
		}
		return nil
	})
}

// The difference between the largest and the smallest factor is minimal. Among such divisions the
// smallest factor is maximal, then the next.
func TestDimsAreBalanced(t *testing.T) {
	var best []int // in increasing order
	var divide func(rest int, tail []int, n int)
	divide = func(rest int, tail []int, n int) {
		if n == 1 {
			if all := append(slices.Clone(tail), rest); slices.IsSorted(all) && (best == nil || cmp.Or(cmp.Compare(all[len(all)-1]-all[0], best[len(best)-1]-best[0]), slices.Compare(best, all)) < 0) {
				best = all
			}
			return
		}
		for d := 1; d <= rest; d++ {
			if rest%d == 0 {
				divide(rest/d, append(slices.Clone(tail), d), n-1)
			}
		}
	}
	locally(t, 1, func(c *mpi.Comm) error {
		for ranks := 1; ranks <= 400; ranks++ {
			for n := 1; n <= 4; n++ {
				best = nil
				divide(ranks, nil, n)
				slices.Reverse(best)
				if got := c.CreateDims(ranks, make([]int, n)); !slices.Equal(got, best) {
					return fmt.Errorf("%d ranks in %d dimensions: %v, not %v", ranks, n, got, best)
				}
			}
		}
		return nil
	})
}
