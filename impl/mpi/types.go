package mpi

import (
	"fmt"

	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/engine"
)

// Datatypes that a program makes. They are for messages once they are committed:
//
//	column := mpi.Vector(rows, 1, width, mpi.Float64).Commit()
//
// No communicator takes part, so they may be made before Run and be shared by ranks. What is wrong ends the rank as in other calls; outside of a
// rank's program it is a panic with an *Error whose Rank is NoRank.

// Contiguous makes a type of count elements of t one after another (MPI_Type_contiguous).
func Contiguous(count int, t *Datatype) *Datatype {
	return construct("Contiguous", []int{count}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Contiguous(count, t) })
}

// Vector makes a type of count blocks of length elements each, whose beginnings are stride extents of t apart (MPI_Type_vector).
func Vector(count, length, stride int, t *Datatype) *Datatype {
	return construct("Vector", []int{count, length}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Vector(count, length, stride, t) })
}

// Hvector is Vector with the stride in bytes (MPI_Type_hvector).
func Hvector(count, length, stride int, t *Datatype) *Datatype {
	return construct("Hvector", []int{count, length}, []*Datatype{t}, func() (*Datatype, error) { return datatype.Hvector(count, length, stride, t) })
}

// Indexed makes a type of blocks of lengths[i] elements at displacements of offsets[i] extents of t (MPI_Type_indexed).
func Indexed(lengths, offsets []int, t *Datatype) *Datatype {
	return construct("Indexed", lengths, []*Datatype{t}, func() (*Datatype, error) { return datatype.Indexed(lengths, offsets, t) })
}

// Hindexed is Indexed with displacements in bytes (MPI_Type_hindexed).
func Hindexed(lengths, offsets []int, t *Datatype) *Datatype {
	return construct("Hindexed", lengths, []*Datatype{t}, func() (*Datatype, error) { return datatype.Hindexed(lengths, offsets, t) })
}

// Struct makes a type of blocks, each of lengths[i] elements of types[i] at displacement offsets[i] in bytes (MPI_Type_struct). Displacement has those of
// a Go struct's fields.
func Struct(lengths, offsets []int, types []*Datatype) *Datatype {
	return construct("Struct", lengths, types, func() (*Datatype, error) { return datatype.Struct(lengths, offsets, types) })
}

// construct makes a type, whose counts and types it checks.
func construct(call string, counts []int, of []*Datatype, build func() (*Datatype, error)) *Datatype {
	for _, n := range counts {
		if n < 0 {
			fail(call, engine.ErrCount, "%d elements: counts are not negative", n)
		}
	}
	for _, t := range of {
		if t == nil || t.Freed() {
			fail(call, engine.ErrType, "the type would be made of one that was freed, or of none")
		}
	}
	t, err := build()
	if err != nil {
		fail(call, engine.ErrArg, "%v", err)
	}
	return t
}

// NoRank is the rank of an error that no rank of a job has made.
const NoRank = engine.NoRank

// fail ends a call in which no communicator takes part. Run says which rank made it.
func fail(call string, c engine.Class, format string, args ...any) {
	panic(&Error{Class: c, Rank: NoRank, Call: call, At: where(0), Text: fmt.Sprintf(format, args...)})
}
