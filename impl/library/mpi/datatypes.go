package mpi

import (
	"fmt"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/impl/library/reduction"
)

// Element is the set of Go types that correspond to a basic datatype.
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64 | complex64 | complex128
}

// TypeOf returns the datatype of the Go type T. int and uint have 64 bits. byte, which is Go's
// uint8, is Byte.
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

// BufferOf returns the elements of a slice as a buffer, without copying.
func BufferOf[T Element](x []T) Buffer {
	return Buffer{Bytes: BytesOf(x), Count: len(x), Type: TypeOf[T]()}
}

// BytesOf returns the memory of a slice as bytes. Elements may be structs without pointers, whose
// layout a datatype describes.
func BytesOf[T any](x []T) []byte {
	if device.IsSizeOnly(x) { // they are bytes
		return *(*[]byte)(unsafe.Pointer(&x))
	}
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

// NewSizeOnlyBytes returns n bytes as size-only data (device.SizeOnly), for a benchmark on an
// emulated machine: messages take the same time, and nothing copies their contents.
func NewSizeOnlyBytes(n int) []byte { return device.SizeOnly(make([]byte, n, n+1)) }

// SliceOf converts bytes to elements. It is the inverse of BytesOf.
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

	// Types of C or Fortran only. No reduction of this package supports them.
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

	Float32Float32 = datatype.Float32Float32 // Fortran only
	Float64Float64 = datatype.Float64Float64

	LongDoubleInt32 = datatype.LongDoubleInt32 // C only
)

// LB and UB hold no data. In a Struct they set the lower and the upper bound explicitly.
var (
	LB = datatype.LB
	UB = datatype.UB
)

// The predefined reduction operations.
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

// NewOp returns an operation that calls combine, which must store in ∘ inout in inout
// (MPI_Op_create). Both buffers have the same number of elements of one type. The operation must be
// associative. commutes says that it is also commutative.
func NewOp(combine func(in, inout Buffer), commutes bool) *Op {
	return reduction.New(combine, commutes)
}

// Derived datatypes. They can be used for messages after Commit:
//
//	column := mpi.Vector(rows, 1, width, mpi.Float64).Commit()
//
// Constructors need no communicator. Types may be created before Run and shared by ranks. Errors
// end the rank as in other calls; outside of a rank's program they panic with an *Error whose Rank
// is NoRank.

// Contiguous returns a type of count consecutive elements of t (MPI_Type_contiguous).
func Contiguous(count int, t *Datatype) *Datatype {
	return buildType("Contiguous", []int{count}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Contiguous(count, t) })
}

// Vector returns a type of count blocks of length elements each (MPI_Type_vector). Blocks start
// stride extents of t apart.
func Vector(count, length, stride int, t *Datatype) *Datatype {
	return buildType("Vector", []int{count, length}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Vector(count, length, stride, t) })
}

// Hvector is Vector with the stride in bytes (MPI_Type_create_hvector).
func Hvector(count, length, stride int, t *Datatype) *Datatype {
	return buildType("Hvector", []int{count, length}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Hvector(count, length, stride, t) })
}

// Indexed returns a type of blocks of lengths[i] elements, offsets[i] extents of t from the start
// (MPI_Type_indexed).
func Indexed(lengths, offsets []int, t *Datatype) *Datatype {
	return buildType("Indexed", lengths, []*Datatype{t}, func() (*Datatype, error) { return datatype.Indexed(lengths, offsets, t) })
}

// Hindexed is Indexed with offsets in bytes (MPI_Type_create_hindexed).
func Hindexed(lengths, offsets []int, t *Datatype) *Datatype {
	return buildType("Hindexed", lengths, []*Datatype{t}, func() (*Datatype, error) { return datatype.Hindexed(lengths, offsets, t) })
}

// Struct returns a type of blocks of lengths[i] elements of types[i], offsets[i] bytes from the
// start (MPI_Type_create_struct). Displacement returns the offsets of fields of a Go struct.
func Struct(lengths, offsets []int, types []*Datatype) *Datatype {
	return buildType("Struct", lengths, types, func() (*Datatype, error) { return datatype.Struct(lengths, offsets, types) })
}

// Resized returns a type with the data of t and another lower bound and extent, in bytes
// (MPI_Type_create_resized).
func Resized(t *Datatype, lower, extent int) *Datatype {
	return buildType("Resized", nil, []*Datatype{t}, func() (*Datatype, error) { return datatype.Resized(t, lower, extent) })
}

// buildType checks counts and types, and builds a type of them.
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

// NoRank is the rank of an error that occurred outside of all ranks.
const NoRank = engine.NoRank

// failCall ends a call that has no communicator with an error. Run adds the rank.
func failCall(call string, c engine.ErrorClass, format string, args ...any) {
	panic(&Error{Class: c, Rank: NoRank, Call: call, CallSite: check.CurrentCallSite(0), Text: fmt.Sprintf(format, args...)})
}

// Displacement returns the offset in bytes of a part of an object from the object's start, for
// Struct and Hindexed:
//
//	var p particle
//	at := []int{mpi.Displacement(&p, &p.kind), mpi.Displacement(&p, &p.place)}
//
// In C it is the difference of two addresses (MPI_Get_address). A part outside of the object is an
// error of class MPI_ERR_ARG.
//
// Note: there is no MPI_BOTTOM, because a Go program cannot keep an absolute address: it would not
// keep the object alive, and memory may move. Displacements count from the start of the buffer. Use
// Pack to send data of several objects.
func Displacement[T, P any](object *T, part *P) int {
	at := int(uintptr(unsafe.Pointer(part)) - uintptr(unsafe.Pointer(object)))
	if room := int(unsafe.Sizeof(*object)) - int(unsafe.Sizeof(*part)); object == nil || at < 0 || at > room {
		failCall("Displacement", engine.ErrArg, "the %T does not point into what the %T points to", part, object)
	}
	return at
}
