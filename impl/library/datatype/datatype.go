// Package datatype says where the data of a message lies in memory: the datatypes of MPI, basic and
// derived.
//
// A type is a sequence of basic elements, each at a displacement from where a buffer begins
// (MPI-1.2, §3.12). It is kept as a tree of loops, so that its memory grows with how it was made
// and not with how many elements it has. Types never change; what is made of a type outlives it.
//
// The package knows bytes and displacements. Sending them, and the rule that a type must be
// committed before, belong to package mpi.
package datatype

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
)

// Kind is what a basic element is. Two sequences of elements that travel from one to the other have
// the same kinds.
type Kind uint8

// The kinds of basic elements.
const (
	KindByte Kind = 1 + iota // eight bits that are never converted
	KindPacked
	KindBool
	KindInt8
	KindInt16
	KindInt32
	KindInt64
	KindUint8
	KindUint16
	KindUint32
	KindUint64
	KindFloat32
	KindFloat64
	KindComplex64
	KindComplex128
	KindLongDouble
	KindLongComplex
	KindFloat16
	KindFloat128
	KindComplex32
	KindComplex256
	KindInt128
)

// NumKinds is one more than the last kind.
const NumKinds = KindInt128 + 1

// Type is a datatype. The nil Type is none. A type that a program makes may be used for messages
// from Commit to Free.
type Type struct {
	name string
	layout
	state        atomic.Uint32
	isContiguous bool   // data lies as it travels
	hasOneKind   bool   // and all elements are of one kind
	signOfKind   uint32 // of that kind
}

// The states of a type.
const (
	stateMade uint32 = iota
	stateCommitted
	stateFreed
)

// newType makes a type of a layout.
func newType(name string, l layout) *Type {
	t := &Type{name: name, layout: l}
	t.isContiguous = t.Size() == 0 || t.body.kind == kindRun && t.extent() == t.Size()
	t.hasOneKind = t.Size() > 0 && t.Size() <= maxPlainElementBytes && t.isContiguous && t.kinds.uniformKind() != 0
	t.signOfKind = signOfKind(t.kinds.uniformKind())
	if name != "" {
		t.state.Store(stateCommitted)
	}
	return t
}

// Commit makes a type fit for messages, and returns it (MPI_Type_commit). Basic types are from the
// beginning.
func (t *Type) Commit() *Type {
	t.state.CompareAndSwap(stateMade, stateCommitted)
	return t
}

// Free ends the use of a type (MPI_Type_free). Types made of it, and messages under way, are not
// affected. A basic type cannot be freed.
func (t *Type) Free() error {
	if t.name != "" {
		return fmt.Errorf("%v is no type that was made", t)
	}
	t.state.Store(stateFreed)
	return nil
}

// Copy returns a type of the same layout that was just made, also of one that was freed.
func (t *Type) Copy() *Type { return newType("", t.layout) }

// IsFreed reports whether the type was freed: nothing more is made of it.
func (t *Type) IsFreed() bool { return t.state.Load() == stateFreed }

// CheckUsable returns an error if the type is not committed, or was freed.
func (t *Type) CheckUsable() error {
	switch t.state.Load() {
	case stateMade:
		return fmt.Errorf("%v is not committed", t)
	case stateFreed:
		return fmt.Errorf("%v was freed", t)
	}
	return nil
}

// layout is what a sequence of elements comes to, without a name.
type layout struct {
	body     *dataNode // where the bytes are; nil: there are none
	kinds    signature // of the elements, in order
	low, end int       // of the first byte that holds data, and behind the last
	align    int       // the strictest of any element

	explicitLowerBound, explicitUpperBound optionalBound // bounds that were set by LB and UB
}

// optionalBound is an optional bound.
type optionalBound struct {
	isSet        bool
	displacement int
}

// The basic types. Elements are aligned to their size, complex ones to that of their parts.
var (
	Byte       = newBasicType("Byte", KindByte, 1, 1)
	Packed     = newBasicType("Packed", KindPacked, 1, 1)
	Bool       = newBasicType("Bool", KindBool, 1, 1)
	Int8       = newBasicType("Int8", KindInt8, 1, 1)
	Int16      = newBasicType("Int16", KindInt16, 2, 2)
	Int32      = newBasicType("Int32", KindInt32, 4, 4)
	Int64      = newBasicType("Int64", KindInt64, 8, 8)
	Uint8      = newBasicType("Uint8", KindUint8, 1, 1)
	Uint16     = newBasicType("Uint16", KindUint16, 2, 2)
	Uint32     = newBasicType("Uint32", KindUint32, 4, 4)
	Uint64     = newBasicType("Uint64", KindUint64, 8, 8)
	Float32    = newBasicType("Float32", KindFloat32, 4, 4)
	Float64    = newBasicType("Float64", KindFloat64, 8, 8)
	Complex64  = newBasicType("Complex64", KindComplex64, 8, 4)
	Complex128 = newBasicType("Complex128", KindComplex128, 16, 8)
)

// The basic types that C or Fortran has and Go has not: only operations of the user's are for them.
// LongDouble and LongComplex are C's long double, alone and as parts of a complex number.
var (
	LongDouble  = newBasicType("LongDouble", KindLongDouble, 16, 16)
	LongComplex = newBasicType("LongComplex", KindLongComplex, 32, 16)
	Float16     = newBasicType("Float16", KindFloat16, 2, 2)
	Float128    = newBasicType("Float128", KindFloat128, 16, 16)
	Complex32   = newBasicType("Complex32", KindComplex32, 4, 2)
	Complex256  = newBasicType("Complex256", KindComplex256, 32, 16)
	Int128      = newBasicType("Int128", KindInt128, 16, 16)
)

// LB and UB hold no data: in a Struct they say where it begins and ends, whatever else it has
// (MPI_LB, MPI_UB).
var (
	LB = newType("LB", layout{explicitLowerBound: optionalBound{isSet: true}})
	UB = newType("UB", layout{explicitUpperBound: optionalBound{isSet: true}})
)

func newBasicType(name string, k Kind, size, align int) *Type {
	return newType(name, layout{body: newRun(size), kinds: signatureOfElement(k, size), end: size, align: align})
}

// Size returns how many bytes of data an element of the type has (MPI_Type_size).
func (t *Type) Size() int { return t.body.countBytes() }

// LowerBound returns the lower bound of the type (MPI_Type_lb): the least displacement of its data,
// or what LB says.
func (t *Type) LowerBound() int { return t.lower() }

// UpperBound returns the upper bound (MPI_Type_ub): what UB says, or else the end of its data,
// moved up so that the extent is a multiple of the strictest alignment.
func (t *Type) UpperBound() int { return t.upper() }

// Extent returns how far apart consecutive elements of the type begin (MPI_Type_extent): upper less
// lower bound.
func (t *Type) Extent() int { return t.extent() }

// TrueLowerBound returns the least displacement of the type's data, without regard to LB.
func (t *Type) TrueLowerBound() int { return t.low }

// TrueExtent returns how many bytes there are from the first that holds data to the last.
func (t *Type) TrueExtent() int { return t.end - t.low }

// Elements returns of how many basic elements an element of the type consists.
func (t *Type) Elements() int { return t.kinds.elements }

// IsContiguous reports whether the data of consecutive elements lies in memory as it travels.
func (t *Type) IsContiguous() bool { return t.isContiguous }

// String returns the name of a basic type, and of others their size and extent.
func (t *Type) String() string {
	if t == nil {
		return "no datatype"
	}
	if t.name != "" {
		return t.name
	}
	return fmt.Sprintf("a type of %d bytes in %d", t.Size(), t.Extent())
}

func (l *layout) lower() int {
	switch {
	case l.explicitLowerBound.isSet:
		return l.explicitLowerBound.displacement
	case l.body == nil:
		return 0
	}
	return l.low
}

func (l *layout) upper() int {
	switch {
	case l.explicitUpperBound.isSet:
		return l.explicitUpperBound.displacement
	case l.body == nil:
		return 0
	}
	if l.align > 1 {
		if over := (l.end - l.lower()) % l.align; over > 0 {
			return l.end + l.align - over
		}
	}
	return l.end
}

func (l *layout) extent() int { return l.upper() - l.lower() }

// isEmpty reports whether there is neither data nor a bound.
func (l *layout) isEmpty() bool {
	return l.body == nil && !l.explicitLowerBound.isSet && !l.explicitUpperBound.isSet
}

// errTooLarge is what does not fit an int.
var errTooLarge = errors.New("the type is too large: a size or a displacement does not fit 63 bits")

// maxDisplacement bounds sizes and displacements so that sums of some of them do not overflow.
const maxDisplacement = math.MaxInt / 8

// multiplyChecked returns a·b, unless it is too large.
func multiplyChecked(a, b int) (int, error) {
	high, low := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
	if high != 0 || low > maxDisplacement {
		return 0, errTooLarge
	}
	return a * b, nil
}

func abs(a int) int {
	if a < 0 {
		return -a
	}
	return a
}
