package mpi

import (
	"unsafe"

	"github.com/loggp/loggp/impl/engine"
)

// Displacement returns how many bytes behind the beginning of an object one of its parts begins, for Struct and Hindexed:
//
//	var p particle
//	at := []int{mpi.Displacement(&p, &p.kind), mpi.Displacement(&p, &p.place)}
//
// It is what the difference of two addresses is in C (MPI_Address). What is no part of the object is an error of class MPI_ERR_ARG.
//
// Note: there is no address of a Go object that could be kept, as MPI_BOTTOM wants it: an address keeps nothing alive, and memory may move. So displacements count
// from where a buffer begins, and what lies in several objects is sent by Pack.
func Displacement[T, P any](object *T, part *P) int {
	at := int(uintptr(unsafe.Pointer(part)) - uintptr(unsafe.Pointer(object)))
	if room := int(unsafe.Sizeof(*object)) - int(unsafe.Sizeof(*part)); object == nil || at < 0 || at > room {
		fail("Displacement", engine.ErrArg, "the %T does not point into what the %T points to", part, object)
	}
	return at
}
