//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Envelopes and contents: how programs have constructed their datatypes (MPI-4.0, section 5.1.13).

// Combiners, as in mpi.h.
const (
	combinerNamed = 101 + iota
	combinerDup
	combinerContiguous
	combinerVector
	combinerHvector
	combinerIndexed
	combinerHindexed
	combinerIndexedBlock
	combinerHindexedBlock
	combinerStruct
	combinerSubarray
	combinerDarray
	combinerF90Integer
	combinerF90Real
	combinerF90Complex
	combinerResized
)

// typeConstructor has the constructor call of a datatype.
type typeConstructor struct {
	combiner    int
	integers    []int
	addresses   []int
	largeCounts []int // arguments of type MPI_Count
	types       []componentType
	build       typeBuilder
	layout      uintptr // for a type selected by Fortran kind: the predefined datatype with the same layout, as in predefinedTypes
}

// typeBuilder makes a datatype of others.
type typeBuilder func(of []*mpi.Datatype) *mpi.Datatype

func ofOne(build func(of *mpi.Datatype) *mpi.Datatype) typeBuilder {
	return func(of []*mpi.Datatype) *mpi.Datatype { return build(of[0]) }
}

// addDatatype makes a datatype of those with the given handles, and stores its handle at an
// address. It records the constructor's arguments.
func (r *rank) addDatatype(at uintptr, build typeBuilder, combiner int, integers, addresses []int, of ...uintptr) {
	x := typeConstructor{combiner: combiner, integers: integers, addresses: addresses, build: build}
	if r.currentCall.hasLargeCounts {
		x.separateLargeCounts()
	}
	types := make([]*mpi.Datatype, len(of))
	for i, h := range of {
		types[i] = r.datatype(h)
		x.types = append(x.types, r.componentTypeOf(h))
	}
	storeAt(at, r.types.add(kindType, &userType{Datatype: build(types), constructor: x}))
}

// separateLargeCounts moves the arguments that are large counts to largeCounts.
func (x *typeConstructor) separateLargeCounts() {
	switch n := len(x.integers); x.combiner {
	case combinerSubarray: // number of dimensions; sizes, subsizes and starts; order
		x.integers, x.largeCounts = []int{x.integers[0], x.integers[n-1]}, x.integers[1:n-1]
	case combinerDarray: // number of ranks, rank, number of dimensions; sizes; three arrays, order
		d := x.integers[2]
		x.integers, x.largeCounts = slices.Concat(x.integers[:3], x.integers[3+d:]), x.integers[3:3+d]
	default:
		x.largeCounts, x.integers, x.addresses = slices.Concat(x.integers, x.addresses), nil, nil
	}
}

// intArguments converts arguments of type int.
func intArguments(words ...uintptr) []int {
	out := make([]int, len(words))
	for i, w := range words {
		out[i] = int(w)
	}
	return out
}

// constructorWithoutLargeCounts returns the constructor call of a datatype, and fails if it has
// large counts.
func (r *rank) constructorWithoutLargeCounts(h uintptr) typeConstructor {
	x := r.userTypeOf(h).constructor
	if len(x.largeCounts) > 0 {
		r.raiseError(mpi.ErrType, "the datatype was made with large counts: %s_c returns them", r.functionName())
	}
	return x
}

func typeEnvelope(r *rank, a args) {
	x := r.constructorWithoutLargeCounts(a[0])
	storeAt(a[1], int32(len(x.integers)))
	storeAt(a[2], int32(len(x.addresses)))
	storeAt(a[3], int32(len(x.types)))
	storeAt(a[4], int32(x.combiner))
}

func typeEnvelopeLarge(r *rank, a args) {
	x := r.userTypeOf(a[0]).constructor
	storeAt(a[1], len(x.integers))
	storeAt(a[2], len(x.addresses))
	storeAt(a[3], len(x.largeCounts))
	storeAt(a[4], len(x.types))
	storeAt(a[5], int32(x.combiner))
}

func typeContentsLarge(r *rank, a args) {
	x := r.userTypeOf(a[0]).constructor
	if int(a[3]) < len(x.largeCounts) {
		r.raiseError(mpi.ErrArg, "the array has room for %d large counts, and the datatype has %d", int(a[3]), len(x.largeCounts))
	}
	r.storeContents(a[0], x, a[1], a[2], a[4], a[5], a[6], a[8])
	copy(sliceAt[int](a[7], len(x.largeCounts)), x.largeCounts)
}

func typeContents(r *rank, a args) {
	r.storeContents(a[0], r.constructorWithoutLargeCounts(a[0]), a[1], a[2], a[3], a[4], a[5], a[6])
}

// storeContents stores the integers, addresses and datatypes of a constructor call in arrays of the
// given capacities.
func (r *rank) storeContents(h uintptr, x typeConstructor, maxIntegers, maxAddresses, maxTypes, integers, addresses, types uintptr) {
	switch {
	case x.combiner == combinerNamed:
		r.raiseError(mpi.ErrType, "%s is not made of other datatypes", basicNames[h-datatypeNull])
	case int(maxIntegers) < len(x.integers) || int(maxAddresses) < len(x.addresses) || int(maxTypes) < len(x.types):
		r.raiseError(mpi.ErrArg, "the arrays have room for %d integers, %d addresses and %d datatypes, and the datatype has %d, %d and %d",
			int(maxIntegers), int(maxAddresses), int(maxTypes), len(x.integers), len(x.addresses), len(x.types))
	}
	storeInts(integers, x.integers, len(x.integers))
	copy(sliceAt[int](addresses, len(x.addresses)), x.addresses)
	for i, t := range x.types {
		h := t.handle
		if t.userType != nil && !t.userType.isSelected() {
			h = r.types.add(kindType, &userType{Datatype: t.userType.Copy(), constructor: t.userType.constructor})
		}
		sliceAt[uintptr](types, len(x.types))[i] = h
	}
}
