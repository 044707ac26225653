//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"math/bits"
	"sort"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

// Conversion of C arguments to values of package mpi, and back.

// maxMemoryBytes is the size of a process's address space.
const maxMemoryBytes = 1 << 47

// buffer returns the buffer of a message with count elements of a datatype at an address.
func (r *rank) buffer(at uintptr, count int, h uintptr) mpi.Buffer {
	b := r.localBuffer(at, count, h)
	b.Bytes = r.markMessageData(b.Bytes)
	return b
}

// markMessageData marks the data of a message as size-only if that is all that the run is to have.
// SizeOnly wants a byte behind it, which need not be the program's.
func (r *rank) markMessageData(b []byte) []byte {
	if !r.program.SizeOnlyMessages {
		return b
	}
	return device.SizeOnly(unsafe.Slice(unsafe.SliceData(b), len(b)+1)[:len(b)])
}

// localBuffer is buffer for data that is not that of a message.
func (r *rank) localBuffer(at uintptr, count int, h uintptr) mpi.Buffer {
	if count == 0 && h == datatypeNull { // MPICH accepts this
		return mpi.Buffer{Type: mpi.Byte}
	}
	t := r.datatype(h)
	r.checkCount(count, t)
	if r.currentCall.sections != 0 && r.isSection(at) {
		at, count, t = r.placeInSection(at, count, t)
	}
	var low, end int
	if t.IsContiguous() {
		low = t.TrueLowerBound()
		end = low + count*t.Size()
	} else {
		low, end = mpi.Buffer{Count: count, Type: t}.DataRange()
	}
	return r.bufferInRange(at, low, end, count, t)
}

// checkCount fails if a count is negative or more than the address space can hold.
func (r *rank) checkCount(count int, t *mpi.Datatype) {
	if count < 0 {
		r.raiseError(mpi.ErrCount, "%d elements: a count is not negative", count)
	}
	if productExceedsMemory(count, max(t.Size(), t.Extent(), -t.Extent())) {
		r.raiseError(mpi.ErrCount, "%d elements of %d bytes are more than memory can have", count, t.Extent())
	}
}

// productExceedsMemory reports whether a·b bytes are more than the address space. a and b are not
// negative.
func productExceedsMemory(a, b int) bool {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return high > 0 || low > maxMemoryBytes
}

// bufferInRange returns a buffer at an address, with data at offsets low to end.
func (r *rank) bufferInRange(at uintptr, low, end, count int, t *mpi.Datatype) mpi.Buffer {
	if end <= low {
		return mpi.Buffer{Count: count, Type: t}
	}
	if at == 0 && int(int32(low)) == low {
		at = r.addressOrigin // relative addresses are small
	}
	first := at + uintptr(low)
	if first < minValidAddress {
		r.raiseError(mpi.ErrBuffer, "the buffer is a null pointer: %d bytes are expected", end-low)
	}
	b := unsafe.Slice(pointerAt[byte](first), end-low)
	mapped := isMapped(first, uintptr(end-low))
	if !mapped {
		r.checkRunsMapped(at, count, t)
	}
	r.checkAvailable(b, count*t.Size())
	if mapped && r.program.RanksAreProcesses {
		readPages(b) // if ranks are processes, system calls of other ranks would fail
	}
	return mpi.Buffer{Bytes: b, Origin: -low, Count: count, Type: t}
}

// checkRunsMapped fails if data of a buffer at an address lies where no memory is. Between the
// variables that a type holds by their addresses, there need not be any.
func (r *rank) checkRunsMapped(at uintptr, count int, t *mpi.Datatype) {
	ranges := readableRanges()
	t.RunsOfData(0, count*t.Size(), func(offset, size int) bool {
		first := at + uintptr(offset)
		i := sort.Search(len(ranges), func(i int) bool { return ranges[i].end > first })
		if i == len(ranges) || first < ranges[i].start || first+uintptr(size) > ranges[i].end {
			r.raiseError(mpi.ErrBuffer, "the buffer is to have %d bytes, and the program has not as much memory at its address", size)
		}
		return true
	})
}

// readPages reads a byte of each page. If the memory is not readable, the error then belongs to
// this rank and this call.
//
//go:noinline
func readPages(b []byte) (x byte) {
	for i := 0; i < len(b); i += 4096 {
		x |= b[i]
	}
	return x | b[len(b)-1]
}

// cloneBuffer returns a copy of a buffer, for in-place operations.
func cloneBuffer(b mpi.Buffer) mpi.Buffer {
	b.Bytes = device.CloneBytes(b.Bytes)
	return b
}

func destinationRank(n int) int {
	switch {
	case n == procNull:
		return mpi.ProcNull
	case n < 0:
		return -99 // none
	}
	return n
}

func sourceRank(n int) int {
	if n == anySource {
		return mpi.AnySource
	}
	return destinationRank(n)
}

// countForC returns a count as the value that a C int gets.
func countForC(n int) int {
	if n == mpi.Undefined {
		return undefined
	}
	return n
}

func rankForC(n int) int32 {
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
