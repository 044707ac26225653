//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// typeDarray creates the datatype for one rank's part of an array that is distributed over a grid
// of ranks. Consecutive ranks are neighbours in the last dimension of the grid.
func typeDarray(r *rank, a args) {
	n := r.checkedCount(a[2])
	sizes, kinds, blocks, grid, order := r.countsAt(a[3], n), intsAt(a[4], n), intsAt(a[5], n), intsAt(a[6], n), int(a[7])
	rank, ranks := int(a[1]), 1
	for _, g := range grid {
		if g < 1 {
			r.raiseError(mpi.ErrArg, "the grid has %d ranks in one dimension: it has at least 1", g)
		}
		ranks *= g
	}
	switch {
	case n < 1:
		r.raiseError(mpi.ErrArg, "the array has %d dimensions", n)
	case ranks != int(a[0]):
		r.raiseError(mpi.ErrArg, "the grid has %d ranks, and the job %d", ranks, int(a[0]))
	case rank < 0 || rank >= ranks:
		r.raiseError(mpi.ErrArg, "rank %d is not in a grid of %d", rank, ranks)
	case order != orderC && order != orderFortran:
		r.raiseError(mpi.ErrArg, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN")
	}
	at := make([]int, n)
	for d, rest := n-1, rank; d >= 0; d-- {
		at[d], rest = rest%grid[d], rest/grid[d]
	}
	dimensions := make([]int, n) // the fastest varying one first
	for i := range dimensions {
		dimensions[i] = i
	}
	if order == orderC {
		slices.Reverse(dimensions)
	}
	build := func(t *mpi.Datatype) *mpi.Datatype {
		stride, part := t.Extent(), t
		for _, d := range dimensions {
			lengths, starts := r.darrayBlocks(d, sizes[d], kinds[d], blocks[d], grid[d], at[d])
			for i := range starts {
				starts[i] *= stride
			}
			stride = r.nextStride(stride, sizes[d])
			part = mpi.Resized(mpi.Hindexed(lengths, starts, part), 0, stride)
		}
		return part
	}
	r.addDatatype(a[9], ofOne(build), combinerDarray, slices.Concat(intArguments(a[0], a[1], a[2]), sizes, kinds, blocks, grid, []int{order}), nil, a[8])
}

// Constants of mpi.h.
const (
	orderC, orderFortran                                             = 12, 15
	distributeNone, distributeBlock, distributeCyclic, distributeArg = 16, 17, 18, 19
)

// maxDarrayBlocks is the largest number of blocks that a rank may have in one dimension.
const maxDarrayBlocks = 1 << 24

// darrayBlocks returns the blocks, in a dimension of n elements, of the rank at position at of
// ranks.
func (r *rank) darrayBlocks(dimension, n, kind, block, ranks, at int) (lengths, starts []int) {
	switch {
	case n < 1:
		r.raiseError(mpi.ErrArg, "dimension %d has %d elements", dimension, n)
	case kind == distributeNone:
		if ranks != 1 {
			r.raiseError(mpi.ErrArg, "dimension %d is not distributed, and has %d ranks", dimension, ranks)
		}
		return []int{n}, []int{0}
	case kind == distributeBlock:
		if block == distributeArg {
			block = (n + ranks - 1) / ranks
		}
		if block > 0 && block*ranks < n {
			r.raiseError(mpi.ErrArg, "dimension %d: %d blocks of %d elements are less than %d", dimension, ranks, block, n)
		}
	case kind == distributeCyclic:
		if block == distributeArg {
			block = 1
		}
	default:
		r.raiseError(mpi.ErrArg, "dimension %d: %d is not a distribution", dimension, kind)
	}
	if block < 1 {
		r.raiseError(mpi.ErrArg, "dimension %d: blocks of %d elements: a block has at least 1", dimension, block)
	}
	if n/block/ranks > maxDarrayBlocks {
		r.raiseError(mpi.ErrArg, "dimension %d has %d blocks: a rank may have %d", dimension, n/block, maxDarrayBlocks)
	}
	for from := at * block; from < n; from += block * ranks {
		lengths, starts = append(lengths, min(block, n-from)), append(starts, from)
	}
	return lengths, starts
}
