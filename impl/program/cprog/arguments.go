//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Arguments of C as values of package mpi, and back.

// buffer returns count elements of a datatype at an address.
func (r *rank) buffer(at uintptr, count int, h uintptr) mpi.Buffer {
	t := r.datatype(h)
	if count < 0 {
		r.raiseError(mpi.ErrCount, "%d elements: a count is not negative", count)
	}
	var low, end int
	if t.Contiguous() {
		low = t.TrueLower()
		end = low + count*t.Size()
	} else {
		low, end = mpi.Buffer{Count: count, Type: t}.DataRange()
	}
	return r.memory(at, low, end, count, t)
}

// memory returns a buffer with data from offset low to end of an address.
func (r *rank) memory(at uintptr, low, end, count int, t *mpi.Datatype) mpi.Buffer {
	if end <= low {
		return mpi.Buffer{Count: count, Type: t}
	}
	first := at + uintptr(low)
	if first < 4096 {
		r.raiseError(mpi.ErrBuffer, "the buffer is a null pointer: %d bytes are expected", end-low)
	}
	return mpi.Buffer{Bytes: unsafe.Slice(pointerAt[byte](first), end-low), Origin: -low, Count: count, Type: t}
}

// cloneBuffer returns a copy of a buffer, for operations in place.
func cloneBuffer(b mpi.Buffer) mpi.Buffer {
	b.Bytes = append([]byte(nil), b.Bytes...)
	return b
}

func destination(n int) int {
	switch {
	case n == procNull:
		return mpi.ProcNull
	case n < 0:
		return -99 // none
	}
	return n
}

func source(n int) int {
	if n == anySource {
		return mpi.AnySource
	}
	return destination(n)
}

func rankOut(n int) int32 {
	switch n {
	case mpi.ProcNull:
		return procNull
	case mpi.Undefined:
		return undefined
	}
	return int32(n)
}

func receiveTag(n int) int {
	switch {
	case n == anyTag:
		return mpi.AnyTag
	case n < 0:
		return -99
	}
	return n
}

func sendTag(n int) int {
	if n < 0 {
		return -99
	}
	return n
}

func intOfBool(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
