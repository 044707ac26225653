//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
)

// Statuses.

// status has the layout of MPI_Status.
type status struct {
	source, tag, err int32
	bytes            [2]int32
	cancelled        int32
	_                [2]int32
}

// storeStatus stores a status unless at is MPI_STATUS_IGNORE. It does not change MPI_ERROR.
func storeStatus(at uintptr, s mpi.Status) {
	if at == 0 {
		return
	}
	x := pointerAt[status](at)
	x.source, x.tag = rankForC(s.Source), int32(s.Tag)
	if s.Tag == mpi.AnyTag {
		x.tag = anyTag
	}
	x.bytes = [2]int32{int32(s.Bytes), int32(s.Bytes >> 32)}
	x.cancelled = 0
	if s.Cancelled {
		x.cancelled = 1
	}
}

// storeStatusOrFail stores the status of a message, and fails if the message has an error.
func storeStatusOrFail(at uintptr, s mpi.Status) {
	storeStatus(at, s)
	if s.Err != nil {
		panic(s.Err)
	}
}

// storeStatusesOrFail stores the statuses of a list. MPI_ERROR of each says whether that message
// has an error.
func (r *rank) storeStatusesOrFail(at uintptr, list []mpi.Status) {
	var failed *mpi.Error
	for i, s := range list {
		if s.Err != nil && failed == nil {
			failed = s.Err
		}
		if at == 0 {
			continue
		}
		storeStatus(statusAt(at, i), s)
		x := pointerAt[status](statusAt(at, i))
		if x.err = 0; s.Err != nil {
			x.err = classNumbers[s.Err.Class]
		}
	}
	if failed == nil {
		return
	}
	r.currentCall.errorInStatuses = true
	panic(failed)
}

// loadStatus returns a status. It panics with an argumentError if no call can have returned it.
func loadStatus(at uintptr) mpi.Status {
	x := pointerAt[status](at)
	s := mpi.Status{Source: int(x.source), Tag: int(x.tag), Bytes: int(uint32(x.bytes[0])) | int(x.bytes[1])<<32, Cancelled: x.cancelled != 0}
	if s.Bytes < 0 {
		panic(argumentError("no call has given the status: its message has fewer than 0 bytes"))
	}
	return s
}
