package mpi

import (
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

// Pairs of a value and an index, for MaxLoc and MinLoc.
var (
	Float32Int32 = datatype.Float32Int32
	Float64Int32 = datatype.Float64Int32
	Int16Int32   = datatype.Int16Int32
	Int32Int32   = datatype.Int32Int32
	Int64Int32   = datatype.Int64Int32
	Int64Int64   = datatype.Int64Int64
	Float64Int64 = datatype.Float64Int64
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

// NewOp makes an operation of a function that leaves in ∘ inout in inout, of which each has the same number of elements of one type (MPI_Op_create). It is
// associative; commutes says that its operands may be exchanged, too.
func NewOp(combine func(in, inout Buffer), commutes bool) *Op {
	return reduction.New(combine, commutes)
}
