//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"math"
	"slices"
)

// Array arguments of functions with two forms, in which counts are MPI_Count or int, and of
// persistent collective operations, which read their arrays once.

// countsAt returns n counts at an address.
func (r *rank) countsAt(at uintptr, n int) []int {
	return r.resolveArray(at, func() []int {
		if r.currentCall.hasLargeCounts {
			return aintsAt(at, n)
		}
		return intsAt(at, n)
	})
}

// countsOrAintsAt returns n values of MPI_Aint or MPI_Count at an address.
func (r *rank) countsOrAintsAt(at uintptr, n int) []int {
	return r.resolveArray(at, func() []int { return aintsAt(at, n) })
}

// handlesAt returns n handles at an address.
func (r *rank) handlesAt(at uintptr, n int) []uintptr {
	k := r.currentCall.persistent
	if k != nil && !k.resolved.recording {
		return k.resolved.handles[at]
	}
	all := sliceAt[uintptr](at, n)
	if k != nil {
		k.resolved.handles[at] = slices.Clone(all)
	}
	return all
}

// resolveArray returns the values that a persistent operation read from an address when it was
// initialized. For other calls it reads them now.
func (r *rank) resolveArray(at uintptr, read func() []int) []int {
	k := r.currentCall.persistent
	if k == nil {
		return read()
	}
	if k.resolved.recording {
		k.resolved.arrays[at] = read()
	}
	return k.resolved.arrays[at]
}

// countAt returns the count at an address.
func (r *rank) countAt(at uintptr) int {
	if r.currentCall.hasLargeCounts {
		return *pointerAt[int](at)
	}
	return int(*pointerAt[int32](at))
}

// storeCount stores a count, or MPI_UNDEFINED if the result type cannot represent it.
func (r *rank) storeCount(at uintptr, n int) {
	switch {
	case r.currentCall.hasLargeCounts:
		storeAt(at, countForC(n))
	case n > math.MaxInt32:
		storeAt(at, int32(undefined))
	default:
		storeAt(at, int32(countForC(n)))
	}
}
