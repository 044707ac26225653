package mpi

import (
	"unsafe"

	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/reduction"
)

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

// NewOp makes an operation of a function that leaves in ∘ inout in inout, of which each has the same number of elements of one type (MPI_Op_create). It is
// associative; commutes says that its operands may be exchanged, too.
func NewOp(combine func(in, inout Buffer), commutes bool) *Op {
	return reduction.New(combine, commutes)
}

// Element is a Go type that is a basic datatype.
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64 | complex64 | complex128
}

// TypeOf returns the datatype of Go's T. Those of int and uint have 64 bits, and that of byte, which Go also calls uint8, is Byte.
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

// Of returns the elements of a slice as a buffer. Nothing is copied.
func Of[T Element](x []T) Buffer {
	return Buffer{Bytes: Raw(x), Count: len(x), Type: TypeOf[T]()}
}

// Raw returns the memory of a slice as bytes. Its elements may be structs, whose layout a datatype describes, without pointers.
func Raw[T any](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

// View returns bytes as elements, the inverse of Raw.
func View[T Element](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}
