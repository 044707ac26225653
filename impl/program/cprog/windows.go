//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"math"
	"slices"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// Windows: memory, attributes, names and hints.

const winNull = 0x110

// window is a window and its state in this package.
type window struct {
	*mpi.Window
	handle           uintptr
	name             string
	attributes       attributes
	hints            info
	baseAddress      uintptr // of its memory
	allocatedAddress uintptr // of memory that was allocated for it; 0: none
	attributeValues  windowValues
}

// windowValues are the values to which predefined attributes of a window point.
type windowValues struct {
	size                int64
	unit, flavor, model int32
}

// window returns the window with a handle. Errors of the call are then raised on the window.
func (r *rank) window(h uintptr) *window {
	w := r.windows.get(kindWindow, h)
	switch {
	case w != nil:
		r.currentCall.comm = (*w).Comm()
		return *w
	case h == winNull:
		r.raiseError(mpi.ErrWin, "the window is MPI_WIN_NULL")
	}
	r.raiseError(mpi.ErrWin, "invalid window%s: it was freed, or never created", describeHandle(h))
	return nil
}

func windowErrorTarget(r *rank, h uintptr) *mpi.Comm { return r.window(h).Comm() }

// addWindow stores the handle of a new window.
func (r *rank) addWindow(at, hints uintptr, x *window) {
	x.SubstituteOp = func(op *mpi.Op, t *mpi.Datatype) *mpi.Op { return opsInC[t][op] }
	x.attributeValues = windowValues{int64(len(x.Memory())), int32(min(x.DisplacementUnit(), math.MaxInt32)), flavorCreate + int32(x.Flavor()-mpi.CreatedWindow), modelUnified}
	x.hints.set(defaultHints)
	if hints != infoNull {
		x.setHints(r.info(hints))
	}
	x.handle = r.windows.add(kindWindow, x)
	storeAt(at, x.handle)
}

const (
	flavorCreate = 311 // MPI_WIN_FLAVOR_CREATE, the first flavor
	modelUnified = 321 // MPI_WIN_UNIFIED
)

// checkHints fails for an invalid info handle, before the rank waits for others.
func (r *rank) checkHints(h uintptr) {
	if h != infoNull {
		r.info(h)
	}
}

func winCreate(r *rank, a args) {
	c, size := r.comm(a[4]), int(a[1])
	r.checkHints(a[3])
	if size < 0 {
		r.raiseError(mpi.ErrSize, "a window of %d bytes: a size is not negative", size)
	}
	b := r.bufferInRange(a[0], 0, size, size, mpi.Byte)
	r.addWindow(a[5], a[3], &window{Window: c.CreateWindow(b.Bytes, int(a[2])), baseAddress: a[0]})
}

// allocate returns an allocation function for memory of the program, which stores the address in
// at.
func (r *rank) allocate(at *uintptr) func(size int) []byte {
	return func(size int) []byte {
		p := r.callbackWord(uintptr(C.loggp_allocate), uintptr(max(size, 1)))
		if p == 0 {
			r.raiseError(errNoMem, "cannot allocate %d bytes", size)
		}
		*at = p
		return unsafe.Slice(pointerAt[byte](p), size)
	}
}

func winAllocate(r *rank, a args) {
	c := r.comm(a[3])
	r.checkHints(a[2])
	x := &window{}
	x.Window = c.AllocateWindow(int(a[0]), int(a[1]), r.allocate(&x.allocatedAddress))
	x.baseAddress = datatype.Address(x.Memory())
	storeAt(a[4], x.baseAddress)
	r.addWindow(a[5], a[2], x)
}

func winAllocateShared(r *rank, a args) {
	c := r.comm(a[3])
	r.checkHints(a[2])
	x := &window{}
	x.Window = c.AllocateSharedWindow(int(a[0]), int(a[1]), r.allocate(&x.allocatedAddress))
	x.baseAddress = datatype.Address(x.Memory())
	storeAt(a[4], x.baseAddress)
	r.addWindow(a[5], a[2], x)
}

func winCreateDynamic(r *rank, a args) {
	c := r.comm(a[1])
	r.checkHints(a[0])
	r.addWindow(a[2], a[0], &window{Window: c.CreateDynamicWindow()})
}

func winAttach(r *rank, a args) {
	w, size := r.window(a[0]), int(a[2])
	if size < 0 {
		r.raiseError(mpi.ErrSize, "%d bytes of memory: a size is not negative", size)
	}
	b := r.bufferInRange(a[1], 0, size, size, mpi.Byte).Bytes
	if size == 0 && a[1] >= minValidAddress { // detached by its address, even if it is empty
		b = unsafe.Slice(pointerAt[byte](a[1]), 0)
	}
	w.Attach(b)
}

func winDetach(r *rank, a args) {
	w := r.window(a[0])
	w.Detach(int(a[1]))
}

func winSharedQuery(r *rank, a args) {
	w := r.window(a[0])
	b, unit := w.SharedMemory(destinationRank(int(a[1])))
	storeAt(a[2], len(b))
	if r.currentCall.hasLargeCounts {
		storeAt(a[3], unit)
	} else {
		storeAt(a[3], int32(min(unit, math.MaxInt32)))
	}
	base := uintptr(0) // of a part without memory
	if len(b) > 0 {
		base = datatype.Address(b)
	}
	storeAt(a[4], base)
}

func winFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	w := r.window(h)
	r.deleteAttributes(h, &w.attributes)
	w.Free()
	if w.allocatedAddress != 0 {
		r.callbackWord(uintptr(C.loggp_release), w.allocatedAddress)
	}
	r.currentCall.comm = r.world
	r.windows.remove(h)
	storeAt(a[0], uintptr(winNull))
}

// winGetAttr handles the predefined attributes itself: the address of the memory, and the addresses
// of its size and other numbers.
func winGetAttr(r *rank, a args) {
	w := r.window(a[0])
	var value uintptr
	switch int(a[1]) {
	case 601: // MPI_WIN_BASE
		value = w.baseAddress
	case 602: // MPI_WIN_DISP_UNIT
		value = uintptr(unsafe.Pointer(&w.attributeValues.unit))
	case 603: // MPI_WIN_SIZE
		value = uintptr(unsafe.Pointer(&w.attributeValues.size))
	case 604: // MPI_WIN_CREATE_FLAVOR
		value = uintptr(unsafe.Pointer(&w.attributeValues.flavor))
	case 605: // MPI_WIN_MODEL
		value = uintptr(unsafe.Pointer(&w.attributeValues.model))
	default:
		attrGetHandler(windows)(r, a)
		return
	}
	storeAt(a[2], value)
	storeAt(a[3], int32(1))
}

// defaultHints are the hints that every window has. The library ignores all of them.
var defaultHints = &info{
	[]string{"no_locks", "accumulate_ordering", "accumulate_ops", "same_size", "same_disp_unit"},
	[]string{"false", "rar,raw,war,waw", "same_op_no_op", "false", "false"},
}

// setHints sets hints of the window. It drops keys that MPI does not define.
func (x *window) setHints(other *info) {
	known := &info{}
	for i, key := range other.keys {
		if slices.Contains(defaultHints.keys, key) || slices.Contains(laterHints, key) {
			known.keys, known.values = append(known.keys, key), append(known.values, other.values[i])
		}
	}
	x.hints.set(known)
}

// laterHints are hints without a default value.
var laterHints = []string{"alloc_shared_noncontig", "mpi_accumulate_granularity", "mpi_minimum_memory_alignment"}

// set sets keys to the values of another info.
func (x *info) set(other *info) {
	for i, key := range other.keys {
		if k := slices.Index(x.keys, key); k >= 0 {
			x.values[k] = other.values[i]
		} else {
			x.keys, x.values = append(x.keys, key), append(x.values, other.values[i])
		}
	}
}

func winSetInfo(r *rank, a args) {
	if w := r.window(a[0]); a[1] != infoNull {
		w.setHints(r.info(a[1]))
	}
}

func winGetInfo(r *rank, a args) {
	w := r.window(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{slices.Clone(w.hints.keys), slices.Clone(w.hints.values)}))
}
