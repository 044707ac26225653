//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Groups.

func translate(r *rank, a args) {
	g, h := r.group(a[0]), r.group(a[3])
	in, out := slice[int32](a[2], r.count(a[1])), slice[int32](a[4], r.count(a[1]))
	var ranks []int
	for _, n := range in {
		if n != procNull {
			ranks = append(ranks, int(n))
		}
	}
	there := g.Translate(ranks, h)
	for i, n := range in {
		if out[i] = procNull; n != procNull {
			out[i], there = rankOut(there[0]), there[1:]
		}
	}
}

var comparisons = map[mpi.Comparison]int32{mpi.Identical: 201, mpi.Congruent: 202, mpi.Similar: 203, mpi.Unequal: 204}

func groupRanges(f func(g mpi.Group, ranges []mpi.Range) mpi.Group) handler {
	return func(r *rank, a args) {
		n := r.count(a[1])
		ranges := make([]mpi.Range, n)
		for i, x := range slice[[3]int32](a[2], n) {
			ranges[i] = mpi.Range{First: int(x[0]), Last: int(x[1]), Stride: int(x[2])}
		}
		set(a[3], r.addGroup(f(r.group(a[0]), ranges)))
	}
}

func groupFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	r.group(h)
	if h != groupEmpty {
		r.groups.remove(h)
	}
	set(a[0], uintptr(groupNull))
}
