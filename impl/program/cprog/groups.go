//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Groups.

func groupTranslateRanks(r *rank, a args) {
	g, h := r.group(a[0]), r.group(a[3])
	in, out := sliceAt[int32](a[2], r.checkedCount(a[1])), sliceAt[int32](a[4], r.checkedCount(a[1]))
	var ranks []int
	for _, n := range in {
		if n != procNull {
			ranks = append(ranks, int(n))
		}
	}
	there := g.TranslateRanks(ranks, h)
	for i, n := range in {
		if out[i] = procNull; n != procNull {
			out[i], there = rankForC(there[0]), there[1:]
		}
	}
}

var comparisonCodes = map[mpi.Comparison]int32{mpi.Identical: 201, mpi.Congruent: 202, mpi.Similar: 203, mpi.Unequal: 204}

func groupRangesHandler(f func(g mpi.Group, ranges []mpi.Range) mpi.Group) handler {
	return func(r *rank, a args) {
		all := sliceAt[[3]int32](a[2], r.checkedCount(a[1]))
		ranges := make([]mpi.Range, len(all))
		for i, x := range all {
			ranges[i] = mpi.Range{First: int(x[0]), Last: int(x[1]), Stride: int(x[2])}
		}
		storeAt(a[3], r.addGroup(f(r.group(a[0]), ranges)))
	}
}

func groupFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	r.group(h)
	if h != groupEmpty {
		r.groups.remove(h)
		delete(r.groupSessions, h)
	}
	storeAt(a[0], uintptr(groupNull))
}
