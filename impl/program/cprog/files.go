//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Files: opening, size, hints, views and error handlers.

const fileNull = 0x118

// file is an open file.
type file struct {
	*mpi.File
	handle          uintptr
	hints           info
	etype, filetype viewType
	isExternal      bool         // the view has the representation external32
	splitAccess     *splitAccess // begun and not ended; nil: none
}

// viewType is a datatype of a file view. The program may free its own datatype, and gets a copy of
// it.
type viewType struct {
	handle   uintptr   // if it is predefined
	userType *userType // if the program created it; nil: it is predefined
}

// file returns the file with a handle. Errors of the call are then raised on the file.
func (r *rank) file(h uintptr) *file {
	if f := r.files.get(kindFile, h); f != nil {
		r.currentCall.comm = (*f).Comm()
		return *f
	}
	r.currentCall.comm = r.world.NullFileComm()
	if h == fileNull {
		r.raiseError(mpi.ErrFile, "the file is MPI_FILE_NULL")
	}
	r.raiseError(mpi.ErrFile, "invalid file%s: it was closed, or never opened", describeHandle(h))
	return nil
}

// fileErrorTarget returns the communicator with a file's error handler. For MPI_FILE_NULL it is
// that of calls without a file.
func fileErrorTarget(r *rank, h uintptr) *mpi.Comm {
	if h == fileNull {
		r.currentCall.comm = r.world.NullFileComm()
		return r.currentCall.comm
	}
	return r.file(h).Comm()
}

func fileOpen(r *rank, a args) {
	c := r.comm(a[0])
	r.currentCall.comm = r.world.NullFileComm()
	storeAt(a[4], uintptr(fileNull)) // the value there after an error
	r.checkInfo(a[3])
	f := &file{File: c.OpenFile(r.absolutePath(r.stringAt(a[1])), mpi.FileMode(int(a[2])))}
	f.etype = r.keepViewType(datatypeByte)
	f.filetype = f.etype
	r.setFileHints(f, a[3])
	f.handle = r.files.add(kindFile, f)
	storeAt(a[4], f.handle)
}

const datatypeByte = 0x247 // MPI_BYTE

func fileClose(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	f := r.file(h)
	if f.splitAccess != nil {
		r.raiseError(mpi.ErrOther, "%s was begun and not ended", f.splitAccess.beginFunction)
	}
	r.files.remove(h)
	storeAt(a[0], uintptr(fileNull))
	f.Close()
}

func fileDelete(r *rank, a args) {
	r.currentCall.comm = r.world.NullFileComm()
	r.checkInfo(a[1])
	r.world.DeleteFile(r.absolutePath(r.stringAt(a[0])))
}

// setFileHints sets hints. The library ignores all of them.
func (r *rank) setFileHints(f *file, h uintptr) {
	if h != infoNull {
		f.hints.set(r.info(h))
	}
}

func fileSetInfo(r *rank, a args) { r.setFileHints(r.file(a[0]), a[1]) }

func fileGetInfo(r *rank, a args) {
	f := r.file(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{slices.Clone(f.hints.keys), slices.Clone(f.hints.values)}))
}

// keepViewType returns a datatype in the form that a view keeps.
func (r *rank) keepViewType(h uintptr) viewType {
	if m := r.types.get(kindType, h); m != nil && !(*m).isSelected() {
		return viewType{userType: *m}
	}
	return viewType{handle: h}
}

// handleOfView returns a handle for a datatype of a view.
func (r *rank) handleOfView(t viewType) uintptr {
	if t.userType == nil {
		return t.handle
	}
	return r.types.add(kindType, &userType{Datatype: t.userType.Copy().Commit(), constructor: t.userType.constructor})
}

func fileSetView(r *rank, a args) {
	f := r.file(a[0])
	etype, filetype := r.datatype(a[2]), r.datatype(a[3])
	r.checkInfo(a[5])
	representation := r.stringAt(a[4])
	isExternal := representation == mpi.External32
	if isExternal {
		etype, filetype = r.layoutInExternal(a[2]), r.layoutInExternal(a[3])
	}
	f.SetView(int(a[1]), etype, filetype, representation)
	f.isExternal = isExternal
	f.etype, f.filetype = r.keepViewType(a[2]), r.keepViewType(a[3])
	r.setFileHints(f, a[5])
}

func fileGetView(r *rank, a args) {
	f := r.file(a[0])
	displacement, _, _, representation := f.View()
	storeAt(a[1], displacement)
	storeAt(a[2], r.handleOfView(f.etype))
	storeAt(a[3], r.handleOfView(f.filetype))
	storeText(a[4], representation, maxRepresentation, 0)
}

const maxRepresentation = 128 // MPI_MAX_DATAREP_STRING

// layoutInExternal returns the datatype with a handle in a file with the representation external32.
// It is committed if the datatype is.
func (r *rank) layoutInExternal(h uintptr) *mpi.Datatype {
	t := r.componentTypeOf(h).layoutInExternal()
	if r.datatype(h).CheckUsable() == nil {
		t.Commit()
	}
	return t
}

func fileGetTypeExtent(r *rank, a args) {
	f, t := r.file(a[0]), r.datatype(a[1])
	if f.isExternal {
		t = r.layoutInExternal(a[1])
	}
	storeAt(a[2], f.TypeExtent(t))
}

// registerDatarep fails: representations are those of the standard.
func registerDatarep(r *rank, a args) {
	r.currentCall.comm = r.world.NullFileComm()
	r.raiseError(mpi.ErrUnsupportedDatarep, "data representation %q: files have native, internal or external32", r.stringAt(a[0]))
}
