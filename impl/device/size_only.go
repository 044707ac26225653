package device

import (
	"math/bits"
	"unsafe"
)

// Size-only data has a length, but its contents do not matter: a user who wants only the times of a
// run marks the buffers of the messages, and nothing below copies them. The mark is a bit of a
// slice's capacity that no memory needs. So it stays with each part of the slice ([i:j], not
// [i:j:k]), and with what is put into a packet or exposed. The slice still refers to its memory,
// which keeps its address and may be read, but has no message in it. Never append to it.
//
// Note: a flag next to each slice would be an argument of every function between a program and a
// network.

// sizeOnlyMark is the bit.
const sizeOnlyMark = 1 << (bits.UintSize - 2)

// sliceHeader is a slice in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// SizeOnly returns b as size-only data. An empty slice has no mark. If b has no capacity beyond its
// length, SizeOnly returns new memory: the part b[len(b):] of marked data has capacity, so that it
// points behind b, and if nothing of b were there, the garbage collector would take the next object
// in memory for used, and fail if it is free.
func SizeOnly(b []byte) []byte {
	if len(b) > 0 {
		if cap(b) == len(b) {
			b = make([]byte, len(b), len(b)+1)
		}
		(*sliceHeader)(unsafe.Pointer(&b)).cap |= sizeOnlyMark
	}
	return b
}

// SizeOnlyIf returns b, as size-only data if sizeOnly is true.
func SizeOnlyIf(sizeOnly bool, b []byte) []byte {
	if sizeOnly {
		return SizeOnly(b)
	}
	return b
}

// IsSizeOnly reports whether x is size-only data. Only bytes can be.
func IsSizeOnly[T any](x []T) bool { return uint64(cap(x)) >= sizeOnlyMark }

// ClearSizeOnly returns b without the mark.
func ClearSizeOnly(b []byte) []byte {
	(*sliceHeader)(unsafe.Pointer(&b)).cap &^= sizeOnlyMark
	return b
}

// NewBytes allocates n bytes, which are size-only if like is.
func NewBytes(n int, like []byte) []byte {
	if IsSizeOnly(like) {
		return SizeOnly(make([]byte, n, n+1))
	}
	return make([]byte, n)
}

// CloneBytes returns a copy of b.
func CloneBytes(b []byte) []byte {
	x := NewBytes(len(b), b)
	CopyBytes(x, b)
	return x
}

// CopyBytes copies like the built-in copy, but nothing from or to size-only data.
func CopyBytes(dst, src []byte) int {
	if IsSizeOnly(dst) || IsSizeOnly(src) {
		return min(len(dst), len(src))
	}
	return copy(dst, src)
}
