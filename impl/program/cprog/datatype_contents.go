//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// How programs have made their datatypes (MPI-4.0, 5.1.13).

// Combiners of mpi.h.
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
	_ // of Fortran 90's kinds
	_
	_
	combinerResized
)

// recipe is how a datatype was made.
type recipe struct {
	combiner  int
	integers  []int
	addresses []int
	types     []ingredient
}

// addDatatype stores the handle of a new datatype at an address, and keeps how it was made: of the
// types of handles, and the arguments of its constructor.
func (r *rank) addDatatype(at uintptr, t *mpi.Datatype, combiner int, integers, addresses []int, of ...uintptr) {
	m := &madeType{Datatype: t, recipe: recipe{combiner: combiner, integers: integers, addresses: addresses}}
	for _, h := range of {
		i := ingredient{handle: h}
		if x := r.types.get(kindType, h); x != nil {
			i.made = *x
		}
		m.recipe.types = append(m.recipe.types, i)
	}
	storeAt(at, r.types.add(kindType, m))
}

// intsOf returns arguments that are of type int in C.
func intsOf(words ...uintptr) []int {
	out := make([]int, len(words))
	for i, w := range words {
		out[i] = int(int32(w))
	}
	return out
}

func typeEnvelope(r *rank, a args) {
	x := r.typeOf(a[0]).recipe
	storeAt(a[1], int32(len(x.integers)))
	storeAt(a[2], int32(len(x.addresses)))
	storeAt(a[3], int32(len(x.types)))
	storeAt(a[4], int32(x.combiner))
}

func typeContents(r *rank, a args) {
	x := r.typeOf(a[0]).recipe
	switch {
	case x.combiner == combinerNamed:
		r.raiseError(mpi.ErrType, "%s is not made of other datatypes", basicNames[a[0]-datatypeNull])
	case int(a[1]) < len(x.integers) || int(a[2]) < len(x.addresses) || int(a[3]) < len(x.types):
		r.raiseError(mpi.ErrArg, "the arrays have room for %d integers, %d addresses and %d datatypes of %d, %d and %d",
			int(a[1]), int(a[2]), int(a[3]), len(x.integers), len(x.addresses), len(x.types))
	}
	setInts(a[4], x.integers, len(x.integers))
	copy(sliceAt[int](a[5], len(x.addresses)), x.addresses)
	for i, t := range x.types {
		h := t.handle
		if t.made != nil {
			h = r.types.add(kindType, &madeType{Datatype: t.made.Copy(), recipe: t.made.recipe})
		}
		sliceAt[uintptr](a[6], len(x.types))[i] = h
	}
}
