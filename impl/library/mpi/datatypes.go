package mpi

import (
	"fmt"
	"unsafe"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/impl/library/reduction"
)

// Element is a Go type that is a basic datatype.
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64 | complex64 | complex128
}

// TypeOf returns the datatype of Go's T. Those of int and uint have 64 bits, and that of byte,
// which Go also calls uint8, is Byte.
func TypeOf[T Element]() *Datatype {
	var x T
	switch any(x).(type) {
	case bool:
		return Bool
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64, int:
		return Int64
	case byte:
		return Byte
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64, uint:
		return Uint64
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}

// BufferOf returns the elements of a slice as a buffer. Nothing is copied.
func BufferOf[T Element](x []T) Buffer {
	return Buffer{Bytes: BytesOf(x), Count: len(x), Type: TypeOf[T]()}
}

// BytesOf returns the memory of a slice as bytes. Its elements may be structs, whose layout a
// datatype describes, without pointers.
func BytesOf[T any](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

// SliceOf returns bytes as elements, the inverse of BytesOf.
func SliceOf[T Element](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// The basic datatypes.
var (
	Byte       = datatype.Byte
	Packed     = datatype.Packed
	Bool       = datatype.Bool
	Int8       = datatype.Int8
	Int16      = datatype.Int16
	Int32      = datatype.Int32
	Int64      = datatype.Int64
	Uint8      = datatype.Uint8
	Uint16     = datatype.Uint16
	Uint32     = datatype.Uint32
	Uint64     = datatype.Uint64
	Float32    = datatype.Float32
	Float64    = datatype.Float64
	Complex64  = datatype.Complex64
	Complex128 = datatype.Complex128

	// Those of C or Fortran alone: no operation of this package is for them.
	LongDouble  = datatype.LongDouble
	LongComplex = datatype.LongComplex
	Float16     = datatype.Float16
	Float128    = datatype.Float128
	Complex32   = datatype.Complex32
	Complex256  = datatype.Complex256
	Int128      = datatype.Int128
)

// Pairs of a value and an index, for MaxLoc and MinLoc.
var (
	Float32Int32 = datatype.Float32Int32
	Float64Int32 = datatype.Float64Int32
	Int16Int32   = datatype.Int16Int32
	Int32Int32   = datatype.Int32Int32
	Int64Int32   = datatype.Int64Int32
	Int64Int64   = datatype.Int64Int64
	Float64Int64 = datatype.Float64Int64

	Float32Float32 = datatype.Float32Float32 // of Fortran
	Float64Float64 = datatype.Float64Float64

	LongDoubleInt32 = datatype.LongDoubleInt32 // of C
)

// LB and UB hold no data: in a Struct they say where it begins and ends, whatever else it has.
var (
	LB = datatype.LB
	UB = datatype.UB
)

// The operations.
var (
	Max    = reduction.Max
	Min    = reduction.Min
	Sum    = reduction.Sum
	Prod   = reduction.Prod
	Land   = reduction.Land
	Lor    = reduction.Lor
	Lxor   = reduction.Lxor
	Band   = reduction.Band
	Bor    = reduction.Bor
	Bxor   = reduction.Bxor
	MaxLoc = reduction.MaxLoc
	MinLoc = reduction.MinLoc
)

// NewOp makes an operation of a function that leaves in ∘ inout in inout. Both have the
// same number of elements of one type (MPI_Op_create). It is associative; commutes says that its
// operands may be exchanged, too.
func NewOp(combine func(in, inout Buffer), commutes bool) *Op {
	return reduction.New(combine, commutes)
}

// Datatypes that a program makes. They are for messages once they are committed:
//
//	column := mpi.Vector(rows, 1, width, mpi.Float64).Commit()
//
// No communicator takes part, so they may be made before Run and be shared by ranks. Errors
// end the rank as in other calls; outside of a rank's program it is a panic with an *Error whose
// Rank is NoRank.

// Contiguous makes a type of count elements of t one after another (MPI_Type_contiguous).
func Contiguous(count int, t *Datatype) *Datatype {
	return buildType("Contiguous", []int{count}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Contiguous(count, t) })
}

// Vector makes a type of count blocks of length elements each, whose beginnings are stride extents
// of t apart (MPI_Type_vector).
func Vector(count, length, stride int, t *Datatype) *Datatype {
	return buildType("Vector", []int{count, length}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Vector(count, length, stride, t) })
}

// Hvector is Vector with the stride in bytes (MPI_Type_hvector).
func Hvector(count, length, stride int, t *Datatype) *Datatype {
	return buildType("Hvector", []int{count, length}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Hvector(count, length, stride, t) })
}

// Indexed makes a type of blocks of lengths[i] elements at displacements of offsets[i] extents of t
// (MPI_Type_indexed).
func Indexed(lengths, offsets []int, t *Datatype) *Datatype {
	return buildType("Indexed", lengths, []*Datatype{t}, func() (*Datatype, error) { return datatype.Indexed(lengths, offsets, t) })
}

// Hindexed is Indexed with displacements in bytes (MPI_Type_hindexed).
func Hindexed(lengths, offsets []int, t *Datatype) *Datatype {
	return buildType("Hindexed", lengths, []*Datatype{t}, func() (*Datatype, error) { return datatype.Hindexed(lengths, offsets, t) })
}

// Struct makes a type of blocks, each of lengths[i] elements of types[i] at displacement offsets[i]
// in bytes (MPI_Type_struct). Displacement has those of a Go struct's fields.
func Struct(lengths, offsets []int, types []*Datatype) *Datatype {
	return buildType("Struct", lengths, types, func() (*Datatype, error) { return datatype.Struct(lengths, offsets, types) })
}

// Resized makes a type of the data of t with another lower bound and extent
// (MPI_Type_create_resized).
func Resized(t *Datatype, lower, extent int) *Datatype {
	return buildType("Resized", nil, []*Datatype{t}, func() (*Datatype, error) { return datatype.Resized(t, lower, extent) })
}

// buildType makes a type, whose counts and types it checks.
func buildType(call string, counts []int, of []*Datatype, build func() (*Datatype, error)) *Datatype {
	for _, n := range counts {
		if n < 0 {
			failCall(call, engine.ErrCount, "%d elements: counts are not negative", n)
		}
	}
	for _, t := range of {
		if t == nil || t.IsFreed() {
			failCall(call, engine.ErrType, "the type would be made of one that was freed, or of none")
		}
	}
	t, err := build()
	if err != nil {
		failCall(call, engine.ErrArg, "%v", err)
	}
	return t
}

// NoRank is the rank of an error that no rank of a job has made.
const NoRank = engine.NoRank

// failCall ends a call in which no communicator takes part. Run says which rank made it.
func failCall(call string, c engine.ErrorClass, format string, args ...any) {
	panic(&Error{Class: c, Rank: NoRank, Call: call, CallSite: check.CurrentCallSite(0), Text: fmt.Sprintf(format, args...)})
}

// Displacement returns how many bytes behind the beginning of an object one of its parts begins,
// for Struct and Hindexed:
//
//	var p particle
//	at := []int{mpi.Displacement(&p, &p.kind), mpi.Displacement(&p, &p.place)}
//
// It is what the difference of two addresses is in C (MPI_Address). A part that is not in the
// object is an error of class MPI_ERR_ARG.
//
// Note: there is no address of a Go object that could be kept, as MPI_BOTTOM wants it: an address
// keeps nothing alive, and memory may move. So displacements count from where a buffer begins, and
// what lies in several objects is sent by Pack.
func Displacement[T, P any](object *T, part *P) int {
	at := int(uintptr(unsafe.Pointer(part)) - uintptr(unsafe.Pointer(object)))
	if room := int(unsafe.Sizeof(*object)) - int(unsafe.Sizeof(*part)); object == nil || at < 0 || at > room {
		failCall("Displacement", engine.ErrArg, "the %T does not point into what the %T points to", part, object)
	}
	return at
}
