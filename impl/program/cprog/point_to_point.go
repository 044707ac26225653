//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Sends, receives and probes.

func iprobe(r *rank, a args) {
	s, ok := r.comm(a[2]).Iprobe(source(int(a[0])), receiveTag(int(a[1])))
	storeAt(a[3], intOfBool(ok))
	if ok {
		setStatus(a[4], s)
	}
}

func setElements(r *rank, a args) {
	x := pointerAt[status](a[0])
	n := int(a[2]) * r.datatype(a[1]).Size()
	x.bytes = [2]int32{int32(n), int32(n >> 32)}
}

func (r *rank) any(q []mpi.Request, i int, s mpi.Status, requests, index, status uintptr) {
	if i < 0 {
		storeAt(index, int32(undefined))
	} else {
		storeAt(index, int32(i))
		r.storeRequest(requests+uintptr(i*pointer), q[i])
	}
	setStatus(status, s)
}

func bufferAttach(r *rank, a args) {
	n := int(a[1])
	if n < 0 {
		r.raiseError(mpi.ErrArg, "the buffer has %d bytes: a size is not negative", n)
	}
	r.world.AttachBuffer(sliceAt[byte](a[0], n))
	r.attached = a[0]
}

func bufferDetach(r *rank, a args) {
	b := r.world.DetachBuffer()
	storeAt(a[0], r.attached)
	storeAt(a[1], int32(len(b)))
	r.attached = 0
}
