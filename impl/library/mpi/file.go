package mpi

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
)

// File is a file on this computer that the ranks of a communicator have opened together (MPI-4.1,
// chapter 14). Like a Comm, a File value belongs to one rank of the job.
//
// Each rank accesses the file by itself, also in collective calls. An access takes virtual time if
// the platform states the cost of files. Calls that all ranks must make, such as OpenFile, exchange
// messages.
type File struct {
	comm          *Comm // carries the messages of file calls, and has the file's error handler
	osFile        *os.File
	path          string
	mode          FileMode
	view          fileView
	position      int           // the individual file pointer, in elementary types from the start of the view
	sharedPointer *atomic.Int64 // the shared file pointer, in the same unit
	unmapShared   func()        // unmaps the memory of sharedPointer; nil: it is not mapped
	isAtomic      bool          // accesses are atomic
	stagingBuffer []byte        // for data that is not contiguous in memory
	closed        bool
}

// FileMode is the set of bits that says how a file is opened. The bits have the values of the mpi.h
// of package toolchain.
type FileMode int

// The bits of a FileMode.
const (
	FileAppend FileMode = 1 << iota // the file pointers start at the end of the file
	FileCreate
	FileDeleteOnClose
	FileExclusive // the file must not exist
	FileReadOnly
	FileReadWrite
	FileSequential // only the shared file pointer is used
	FileUniqueOpen
	FileWriteOnly
)

// noFileContext is the context of the communicators of errors that belong to no file.
const noFileContext = selfContext + 2

// NullFileComm returns a communicator of this rank alone whose error handler gets errors of calls
// without a file, such as OpenFile (MPI_FILE_NULL). Files that are opened inherit the handler,
// which is ErrorsReturn by default.
func (c *Comm) NullFileComm() *Comm {
	if c.state.nullFileComm == nil {
		c.state.nullFileComm = c.newComm([]int{c.engine.Port().Rank()}, noFileContext)
		c.state.nullFileComm.setHandler(ErrorsReturn)
	}
	return c.state.nullFileComm
}

// check returns an error if the mode is invalid.
func (m FileMode) check() error {
	wrong := func(text string) error { return &fileError{ErrAmode, text} }
	access := m & (FileReadOnly | FileReadWrite | FileWriteOnly)
	switch {
	case m < 0 || m >= FileWriteOnly<<1:
		return wrong("the mode has unknown bits")
	case access == 0 || access&(access-1) != 0:
		return wrong("the mode must have one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY")
	case access == FileReadOnly && m&(FileCreate|FileExclusive) != 0:
		return wrong("a file that is only read is neither created nor exclusive")
	case access == FileReadWrite && m&FileSequential != 0:
		return wrong("a sequential file is either read or written")
	}
	return nil
}

// OpenFile opens a file (MPI_File_open). All ranks of c call it with the same mode. Errors have the
// classes of MPI-4.1, section 14.8, such as ErrNoSuchFile.
func (c *Comm) OpenFile(path string, mode FileMode) *File {
	none := c.NullFileComm()
	c.engine.EnterOn("OpenFile", none.context)
	c.checkNotFreed()
	c.checkIntra()
	f := &File{comm: c.newComm(c.jobRanks(), c.newContext()), path: path, mode: mode, view: initialFileView}
	f.comm.setHandler(none.ErrorHandler())
	err := mode.check()
	all, oneProcess := f.comm.allgatherInts(int(mode), processID), true
	for i := range f.comm.size {
		if all[2*i] != all[0] && err == nil {
			err = &fileError{ErrNotSame, "ranks open the file with different modes"}
		}
		oneProcess = oneProcess && all[2*i+1] == processID
	}
	class := f.agreeOnError(err)
	for _, first := range []bool{true, false} { // the first rank creates the file
		if class == "" {
			if (f.comm.rank == 0) == first {
				f.osFile, err = os.OpenFile(path, mode.systemFlags(first), 0o666)
			}
			class = f.agreeOnError(err)
		}
	}
	if class != "" {
		f.closeLocally()
		f.failCall(class, err)
	}
	var memory []byte
	if oneProcess {
		memory = f.comm.shareWithinProcess(8, func(int) []byte { return BytesOf(make([]int64, 1)) }).memory
	} else {
		if memory, err = f.comm.mapSharedFile(8); err != nil {
			f.comm.engine.Fail(ErrRMAShared, "the shared file pointer: 8 bytes of memory cannot be shared: %v", err)
		}
		f.unmapShared = func() { syscall.Munmap(memory) }
	}
	f.sharedPointer = (*atomic.Int64)(unsafe.Pointer(unsafe.SliceData(memory)))
	c.state.files = append(c.state.files, f)
	f.chargeAccess(0)
	if mode&FileAppend != 0 {
		f.position = f.endPosition()
		f.setSharedPosition(f.position)
	}
	return f
}

// systemFlags returns the flags of open(2). first is true on the rank that creates the file.
func (m FileMode) systemFlags(first bool) int {
	flags := os.O_RDWR
	switch {
	case m&FileReadOnly != 0:
		flags = os.O_RDONLY
	case m&FileWriteOnly != 0:
		flags = os.O_WRONLY
	}
	if first && m&FileCreate != 0 {
		flags |= os.O_CREATE
	}
	if first && m&FileCreate != 0 && m&FileExclusive != 0 {
		flags |= os.O_EXCL
	}
	return flags
}

// DeleteFile deletes a file (MPI_File_delete).
func (c *Comm) DeleteFile(path string) {
	none := c.NullFileComm()
	c.engine.EnterOn("DeleteFile", none.context)
	if err := os.Remove(path); err != nil {
		c.engine.Fail(classOfFileError(err), "%v", err)
	}
}

// Close closes the file (MPI_File_close). All its ranks call it.
func (f *File) Close() {
	f.enterCall("File.Close")
	err := f.closeLocally()
	f.comm.barrier()
	if f.comm.rank == 0 && f.mode&FileDeleteOnClose != 0 {
		err = errors.Join(err, os.Remove(f.path))
	}
	if class := f.agreeOnError(err); class != "" {
		f.failCall(class, err)
	}
	f.comm.setHandler(ErrorsAreFatal)
}

// closeFiles reports the files that the program has left open, and closes them on this rank only:
// after an error that the program has handled, other ranks may not call Close.
func (c *Comm) closeFiles() {
	if n := len(c.state.files); n > 0 && !c.engine.HasFailed() {
		c.engine.ReportViolation(engine.FilesLeftOpen, ErrFile, "%d %s not closed; the first is %s", n, check.Plural(n, "file was", "files were"), c.state.files[0].path)
	}
	for len(c.state.files) > 0 {
		f := c.state.files[0]
		f.closeLocally()
		if f.comm.rank == 0 && f.mode&FileDeleteOnClose != 0 {
			os.Remove(f.path)
		}
	}
}

// closeLocally closes the file on this rank, without messages.
func (f *File) closeLocally() (err error) {
	if f.osFile != nil {
		err = f.osFile.Close()
	}
	if f.unmapShared != nil {
		f.unmapShared()
	}
	delete(f.comm.state.callHistory, f.comm.context)
	s := f.comm.state
	s.files = slices.DeleteFunc(s.files, func(x *File) bool { return x == f })
	f.closed = true
	return err
}

// enterCall records a call on the file.
func (f *File) enterCall(call string) {
	f.comm.engine.EnterOn(call, f.comm.context)
	if f.closed {
		f.comm.engine.Fail(ErrFile, "%s was closed", f.path)
	}
}

// fileError is an error of a file call that does not come from the system.
type fileError struct {
	class Class
	text  string
}

func (e *fileError) Error() string { return e.text }

// systemErrorClasses maps errors of the system to error classes.
var systemErrorClasses = []struct {
	err   error
	class Class
}{
	{syscall.EROFS, ErrReadOnly}, {syscall.ENOSPC, ErrNoSpace}, {syscall.EDQUOT, ErrQuota}, {syscall.ETXTBSY, ErrFileInUse},
	{syscall.EISDIR, ErrBadFile}, {syscall.ENOTDIR, ErrBadFile}, {syscall.ENAMETOOLONG, ErrBadFile},
	{fs.ErrNotExist, ErrNoSuchFile}, {fs.ErrExist, ErrFileExists}, {fs.ErrPermission, ErrAccess},
}

func classOfFileError(err error) Class {
	var own *fileError
	if errors.As(err, &own) {
		return own.class
	}
	for _, x := range systemErrorClasses {
		if errors.Is(err, x.err) {
			return x.class
		}
	}
	return ErrIO
}

// agreedErrorClasses are the error classes that ranks report to each other, by their number in the
// message.
var agreedErrorClasses = []Class{"", ErrIO, ErrBadFile, ErrAccess, ErrReadOnly, ErrNoSpace, ErrQuota, ErrFileInUse, ErrNoSuchFile, ErrFileExists,
	ErrUnsupportedDatarep, ErrUnsupportedOperation, ErrArg, ErrType, ErrAmode, ErrNotSame}

// agreeOnError returns the same error class on all ranks if err is not nil on any of them. All
// ranks call it.
func (f *File) agreeOnError(err error) Class {
	mine := uint32(0)
	if err != nil {
		mine = 1
		for i, c := range agreedErrorClasses {
			if c == classOfFileError(err) {
				mine = uint32(i)
			}
		}
	}
	return agreedErrorClasses[f.comm.allreduceMax(mine)]
}

// failCall ends the call with an error. err is nil if the error is another rank's.
func (f *File) failCall(class Class, err error) {
	if err == nil {
		f.comm.engine.Fail(class, "%s: the call has failed on another rank", f.path)
	}
	var system *fs.PathError
	if errors.As(err, &system) { // a PathError contains the path
		f.comm.engine.Fail(class, "%v", err)
	}
	f.comm.engine.Fail(class, "%s: %v", f.path, err)
}

// failCallIf ends the call if err is not nil.
func (f *File) failCallIf(err error) {
	if err != nil {
		f.failCall(classOfFileError(err), err)
	}
}

// Comm returns the communicator whose error handler is that of the file (MPI_File_set_errhandler).
// Do not use it for messages.
func (f *File) Comm() *Comm { return f.comm }

// Mode returns the mode in which the file was opened (MPI_File_get_amode).
func (f *File) Mode() FileMode { return f.mode }

// Group returns the ranks that have opened the file (MPI_File_get_group).
func (f *File) Group() Group {
	f.enterCall("File.Group")
	return f.comm.group()
}

// Size returns the size of the file in bytes (MPI_File_get_size).
func (f *File) Size() int {
	f.enterCall("File.Size")
	return f.size()
}

func (f *File) size() int {
	info, err := f.osFile.Stat()
	f.failCallIf(err)
	return int(info.Size())
}

// SetSize truncates the file, or extends it with zeros, to size bytes (MPI_File_set_size). All
// ranks call it.
func (f *File) SetSize(size int) { f.resize("File.SetSize", size, true) }

// Preallocate extends the file to at least size bytes (MPI_File_preallocate). All ranks call it.
func (f *File) Preallocate(size int) { f.resize("File.Preallocate", size, false) }

func (f *File) resize(call string, size int, shorten bool) {
	f.enterCall(call)
	var err error
	switch {
	case size < 0:
		err = &fileError{ErrArg, "a size is not negative"}
	case f.mode&FileReadOnly != 0:
		err = &fileError{ErrReadOnly, "the file was opened with MPI_MODE_RDONLY"}
	}
	class := f.agreeOnError(err)
	if class == "" {
		if f.comm.rank == 0 && (shorten || size > f.size()) {
			err = f.osFile.Truncate(int64(size))
		}
		class = f.agreeOnError(err)
	}
	if class != "" {
		f.failCall(class, err)
	}
}

// Sync flushes the file to its storage device (MPI_File_sync). All ranks call it.
func (f *File) Sync() {
	f.enterCall("File.Sync")
	var err error
	if f.mode&FileReadOnly == 0 {
		err = f.osFile.Sync()
		f.chargeAccess(0)
	}
	if errors.Is(err, syscall.EINVAL) { // the file is not on a device
		err = nil
	}
	if class := f.agreeOnError(err); class != "" {
		f.failCall(class, err)
	}
}

// SetAtomicity sets whether each access is atomic with respect to those of other ranks
// (MPI_File_set_atomicity). All ranks call it. Ranks in one process run one at a time, so their
// accesses are always atomic.
func (f *File) SetAtomicity(atomic bool) {
	f.enterCall("File.SetAtomicity")
	f.comm.barrier()
	f.isAtomic = atomic
}

// Atomicity reports whether accesses are atomic (MPI_File_get_atomicity).
func (f *File) Atomicity() bool { return f.isAtomic }

// checkPointers fails for a file opened with FileSequential, which has only the shared file
// pointer.
func (f *File) checkPointers() {
	if f.mode&FileSequential != 0 {
		f.comm.engine.Fail(ErrUnsupportedOperation, "%s was opened with MPI_MODE_SEQUENTIAL: only its shared file pointer can be used", f.path)
	}
}

// checkOffset fails if offset is negative or too large for a file.
func (f *File) checkOffset(offset int) {
	if offset < 0 || offset > f.view.lastOffset() {
		f.comm.engine.Fail(engine.ErrArg, "%s: offset %d is not within a file", f.path, offset)
	}
}
