//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Reading and writing of files. Every access is carried out at once, also that of a non-blocking or
// a split call.

// fileAccess is an access by one of the file pointers, or at an offset.
type fileAccess func(f *mpi.File, offset int, b mpi.Buffer) mpi.Status

// fileAccesses has the accesses by the names of their blocking functions.
var fileAccesses = map[string]fileAccess{
	"read_at":       (*mpi.File).ReadAt,
	"write_at":      (*mpi.File).WriteAt,
	"read":          func(f *mpi.File, _ int, b mpi.Buffer) mpi.Status { return f.Read(b) },
	"write":         func(f *mpi.File, _ int, b mpi.Buffer) mpi.Status { return f.Write(b) },
	"read_shared":   func(f *mpi.File, _ int, b mpi.Buffer) mpi.Status { return f.ReadShared(b) },
	"write_shared":  func(f *mpi.File, _ int, b mpi.Buffer) mpi.Status { return f.WriteShared(b) },
	"read_ordered":  func(f *mpi.File, _ int, b mpi.Buffer) mpi.Status { return f.ReadOrdered(b) },
	"write_ordered": func(f *mpi.File, _ int, b mpi.Buffer) mpi.Status { return f.WriteOrdered(b) },
}

// splitAccess is a collective access between the call that begins and the one that ends it.
type splitAccess struct {
	beginFunction string // the function
	status        mpi.Status
}

// fileAccessHandler returns the handler of a function that accesses a file; nil: the function does
// not. Collective forms do what the others do.
func fileAccessHandler(function string) handler {
	name, ok := strings.CutPrefix(function, "MPI_File_")
	if !ok {
		return nil
	}
	if operation, ends := strings.CutSuffix(name, "_end"); ends {
		return endSplitAccessHandler("MPI_File_" + operation + "_begin")
	}
	name, begins := strings.CutSuffix(name, "_begin")
	name = strings.TrimSuffix(name, "_all")
	access := fileAccesses[name]
	nonblocking := access == nil
	if nonblocking {
		name = strings.TrimPrefix(name, "i")
		access = fileAccesses[name]
	}
	if access == nil {
		return nil
	}
	at := 1
	if strings.HasSuffix(name, "_at") {
		at = 2
	}
	return func(r *rank, a args) {
		f := r.file(a[0])
		if begins && f.splitAccess != nil {
			r.raiseError(mpi.ErrOther, "%s was begun and not ended", f.splitAccess.beginFunction)
		}
		s := access(f.File, int(a[1]), r.bufferAt(a, at))
		switch {
		case begins:
			f.splitAccess = &splitAccess{function, s}
		case nonblocking:
			r.startedCollectives++ // lists are looked at one by one
			(&pendingOperation{rank: r, isComplete: true, status: &s}).storeHandle(a[at+3])
		default:
			storeStatus(a[at+3], s)
		}
	}
}

// endSplitAccessHandler returns the handler of the function that ends what another one has begun.
func endSplitAccessHandler(begin string) handler {
	return func(r *rank, a args) {
		f := r.file(a[0])
		if f.splitAccess == nil || f.splitAccess.beginFunction != begin {
			r.raiseError(mpi.ErrOther, "%s was not called before", begin)
		}
		storeStatus(a[2], f.splitAccess.status)
		f.splitAccess = nil
	}
}

// seekBase returns what the offset of a seek counts from.
func (r *rank) seekBase(whence uintptr) int {
	switch int(whence) {
	case 401: // MPI_SEEK_SET
		return mpi.SeekSet
	case 402: // MPI_SEEK_CUR
		return mpi.SeekCurrent
	case 403: // MPI_SEEK_END
		return mpi.SeekEnd
	}
	r.raiseError(mpi.ErrArg, "%d is neither MPI_SEEK_SET, MPI_SEEK_CUR nor MPI_SEEK_END", int(whence))
	return 0
}
