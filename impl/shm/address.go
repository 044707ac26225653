package shm

import "unsafe"

// address returns where a word is.
func address(p *uint64) uintptr { return uintptr(unsafe.Pointer(p)) }

// start returns where the first byte of b is. Memory that Go has allocated and that is in use does not move.
func start(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// bytesAt returns the bytes of a word.
func bytesAt(p *uint64) *[8]byte { return (*[8]byte)(unsafe.Pointer(p)) }
