//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Initialization and finalization of MPI, and memory.

// libraryVersion is the result of MPI_Get_library_version.
const libraryVersion = "loggp: MPI 4.1 on emulated machines and on transports of this computer"

func (r *rank) initialize() {
	if r.initialized {
		r.raiseError(mpi.ErrOther, "it was already called")
	}
	r.initialized, r.initThreadNumber = true, r.current.number
}

func finalize(r *rank, _ args) {
	if r.wasSpawned {
		r.world.AnnounceExit()
	}
	if r.selfComm != nil {
		r.deleteAttributes(commSelf, &r.selfComm.attributes)
	}
	r.deleteAttributes(commWorld, &r.worldComm.attributes)
	r.world.DrainOperations()
	r.finalized = true
}

func allocMem(r *rank, a args) {
	n := int(a[0])
	if n < 0 {
		r.raiseError(mpi.ErrArg, "negative size: %d bytes", n)
	}
	p := r.callbackWord(uintptr(C.loggp_allocate), uintptr(max(n, 1)))
	if p == 0 {
		r.raiseError(errNoMem, "cannot allocate %d bytes", n)
	}
	storeAt(a[2], p)
}

func freeMem(r *rank, a args) { r.callbackWord(uintptr(C.loggp_release), a[0]) }
