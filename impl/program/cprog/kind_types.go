//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"runtime"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Datatypes of Fortran kinds, selected by precision and range (MPI-4.1, section 19.1.5). They are
// predefined: committed, identical for identical arguments, and never freed.

// fortranKind is a kind of real or integer numbers, with its decimal digits and exponent range.
type fortranKind struct {
	precision, exponents int
	number, complex      uintptr // handles of the datatypes with this layout, relative to MPI_DATATYPE_NULL
}

// realKinds are the real kinds of gfortran, in its order of selection.
var realKinds = func() []fortranKind {
	kinds := []fortranKind{{6, 37, 0xd2, 0xdb}, {15, 307, 0xda, 0xe3}}
	if runtime.GOARCH == "amd64" {
		kinds = append(kinds, fortranKind{18, 4931, 0x20, 0x24})
	}
	return append(kinds, fortranKind{33, 4931, 0xe2, 0xeb})
}()

var integerKinds = []fortranKind{{exponents: 2, number: 0xc1}, {exponents: 4, number: 0xc9}, {exponents: 9, number: 0xd1}, {exponents: 18, number: 0xd9}, {exponents: 38, number: 0xe1}}

// selectedType identifies a datatype by the arguments of its selection.
type selectedType struct{ combiner, precision, exponents int }

// selectKind returns the first kind with at least the given precision and range. Either may be
// MPI_UNDEFINED.
func (r *rank) selectKind(kinds []fortranKind, precision, exponents int) fortranKind {
	switch {
	case precision < 0 && precision != undefined, exponents < 0 && exponents != undefined:
		r.raiseError(mpi.ErrArg, "a precision of %d digits and a range of %d: neither is negative", precision, exponents)
	case precision == undefined && exponents == undefined:
		r.raiseError(mpi.ErrArg, "the precision or the range must be given")
	}
	for _, k := range kinds {
		if precision <= k.precision && exponents <= k.exponents {
			return k
		}
	}
	last := kinds[len(kinds)-1]
	if precision != undefined && precision > last.precision {
		r.raiseError(mpi.ErrArg, "no kind has a precision of %d digits: the largest has %d", precision, last.precision)
	}
	r.raiseError(mpi.ErrArg, "no kind has a range of %d: the largest has %d", exponents, last.exponents)
	return fortranKind{}
}

// storeSelectedType stores the handle of a selected datatype with the layout of a predefined one.
func (r *rank) storeSelectedType(at uintptr, s selectedType, layout uintptr, integers ...int) {
	h, known := r.selectedTypes[s]
	if !known {
		m := &userType{Datatype: basicTypes[layout], constructor: typeConstructor{combiner: s.combiner, integers: integers, layout: layout}}
		h = r.types.add(kindType, m)
		if r.selectedTypes == nil {
			r.selectedTypes = map[selectedType]uintptr{}
		}
		r.selectedTypes[s] = h
	}
	storeAt(at, h)
}

// isSelected reports whether a datatype was selected by precision and range.
func (m *userType) isSelected() bool { return m.constructor.layout != 0 }

func typeCreateF90Integer(r *rank, a args) {
	digits := int(int32(a[0]))
	k := r.selectKind(integerKinds, undefined, digits)
	r.storeSelectedType(a[1], selectedType{combinerF90Integer, 0, digits}, k.number, digits)
}

func typeCreateF90Real(r *rank, a args) {
	precision, exponents := int(int32(a[0])), int(int32(a[1]))
	k := r.selectKind(realKinds, precision, exponents)
	r.storeSelectedType(a[2], selectedType{combinerF90Real, precision, exponents}, k.number, precision, exponents)
}

func typeCreateF90Complex(r *rank, a args) {
	precision, exponents := int(int32(a[0])), int(int32(a[1]))
	k := r.selectKind(realKinds, precision, exponents)
	r.storeSelectedType(a[2], selectedType{combinerF90Complex, precision, exponents}, k.complex, precision, exponents)
}
