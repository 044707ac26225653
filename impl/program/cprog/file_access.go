//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Reading and writing of files. Every access completes at once, including those of nonblocking and
// split calls.

// fileAccess is an access at a file pointer or at an offset.
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

// external carries out the access to a file with the representation external32, of a buffer with
// elements of a datatype. The status counts bytes in memory.
func (access fileAccess) external(f *mpi.File, offset int, b mpi.Buffer, of componentType, writes bool) mpi.Status {
	f.CheckBuffer(b, !writes)
	data := make([]byte, b.Count*of.externalSize())
	if writes {
		of.encode(data[:0], b)
	}
	s := access(f, offset, mpi.BufferOf(data))
	if writes {
		s.Bytes = b.Len() // less is an error
	} else {
		s.Bytes = of.decode(b, data[:s.Bytes])
	}
	return s
}

// splitAccess is a split collective access between its begin and its end call.
type splitAccess struct {
	beginFunction string // the function that began it
	status        mpi.Status
}

// fileAccessHandler returns the handler of a function that accesses a file, or nil for other
// functions. Collective forms are carried out like the others.
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
		b := r.bufferAt(a, at)
		s := mpi.Status{}
		if f.isExternal {
			s = access.external(f.File, int(a[1]), b, r.componentTypeOf(a[at+2]), strings.Contains(name, "write"))
		} else {
			s = access(f.File, int(a[1]), b)
		}
		switch {
		case begins:
			f.splitAccess = &splitAccess{function, s}
		case nonblocking:
			r.startedCollectives++ // request lists are now processed one by one
			(&pendingOperation{rank: r, isComplete: true, status: &s}).storeHandle(a[at+3])
		default:
			storeStatus(a[at+3], s)
		}
	}
}

// endSplitAccessHandler returns the handler of the function that ends the access of a begin
// function.
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

// seekBase converts whence to a seek base.
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
