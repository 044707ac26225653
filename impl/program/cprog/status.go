//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// MPI_Status.

// status is MPI_Status.
type status struct {
	source, tag, err int32
	bytes            [2]int32
	cancelled        int32
	_                [2]int32
}

// setStatus stores a status, unless it is MPI_STATUS_IGNORE. Its error is left as it is.
func setStatus(at uintptr, s mpi.Status) {
	if at == 0 {
		return
	}
	x := pointerAt[status](at)
	x.source, x.tag = rankOut(s.Source), int32(s.Tag)
	if s.Tag == mpi.AnyTag {
		x.tag = anyTag
	}
	x.bytes = [2]int32{int32(s.Bytes), int32(s.Bytes >> 32)}
	x.cancelled = 0
	if s.Cancelled {
		x.cancelled = 1
	}
}

// getStatus returns a status. It panics with an argumentError if a call cannot have given it.
func getStatus(at uintptr) mpi.Status {
	x := pointerAt[status](at)
	s := mpi.Status{Source: int(x.source), Tag: int(x.tag), Bytes: int(uint32(x.bytes[0])) | int(x.bytes[1])<<32, Cancelled: x.cancelled != 0}
	if s.Bytes < 0 {
		panic(argumentError("no call has given the status: its message has fewer than 0 bytes"))
	}
	return s
}
