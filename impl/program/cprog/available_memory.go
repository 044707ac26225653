//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"os"
	"syscall"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/model/unit"
)

// availableMemory returns the number of bytes that this process may still allocate, or -1 if that
// is unknown.
func (p *Program) availableMemory() int64 {
	if p.AvailableMemory == nil {
		return -1
	}
	return p.AvailableMemory()
}

// minMessageBytesToCheck is the smallest message size that is compared with the available memory.
const minMessageBytesToCheck = 256 << 20

// checkAvailable fails if there is less memory than a call may use for a message of n bytes: a copy
// of the message, and pages of the program's buffer that do not exist yet. Otherwise the system
// would kill the process.
func (r *rank) checkAvailable(b []byte, n int) {
	if max(n, len(b)) < minMessageBytesToCheck {
		return
	}
	need, available := int64(n)+absentBytes(b, n), r.program.availableMemory()
	if available >= 0 && need > available {
		r.raiseError(errNoMem, "a message of %s takes up to %s of memory, and %s are available",
			unit.Bytes(n), unit.Bytes(int(need>>20<<20)), unit.Bytes(int(available>>20<<20)))
	}
}

// absentBytes returns how many of n bytes of a buffer are in pages that have not been touched.
func absentBytes(b []byte, n int) int64 {
	const piece = 1 << 30
	page := os.Getpagesize()
	inMemory := make([]byte, piece/page)
	at := datatype.Address(b)
	end := at + uintptr(len(b))
	absent := 0
	for from := at &^ uintptr(page-1); from < end && absent < n; from += piece {
		size := min(piece, end-from)
		if _, _, e := syscall.Syscall(syscall.SYS_MINCORE, from, size, uintptr(unsafe.Pointer(unsafe.SliceData(inMemory)))); e != 0 {
			break // an invalid address is found when it is used
		}
		for _, x := range inMemory[:(int(size)+page-1)/page] {
			absent += page * int(1-x&1)
		}
	}
	return int64(min(absent, n))
}
