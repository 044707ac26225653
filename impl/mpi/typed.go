package mpi

import "unsafe"

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
