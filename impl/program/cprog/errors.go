//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include "host.h"
*/
import "C"

import (
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Error classes, codes and handlers.

// classNumbers has the numbers of the error classes of MPI-1.
var classNumbers = map[mpi.Class]int32{
	mpi.Success: 0, mpi.ErrBuffer: 1, mpi.ErrCount: 2, mpi.ErrType: 3, mpi.ErrTag: 4, mpi.ErrComm: 5, mpi.ErrRank: 6, mpi.ErrRequest: 7, mpi.ErrRoot: 8,
	mpi.ErrGroup: 9, mpi.ErrOp: 10, mpi.ErrTopology: 11, mpi.ErrDims: 12, mpi.ErrArg: 13, mpi.ErrUnknown: 14, mpi.ErrTruncate: 15, mpi.ErrOther: 16,
	mpi.ErrIntern: 17, mpi.ErrPending: 18, mpi.ErrInStatus: 19,
}

// mpi2Classes are the error classes of MPI-2 and later, numbered from 20. The library raises few of
// them.
var mpi2Classes = [...]struct {
	class mpi.Class
	text  string
}{
	{"MPI_ERR_ACCESS", "permission denied"}, {"MPI_ERR_AMODE", "the mode in which a file is opened"}, {"MPI_ERR_ASSERT", "an assertion about one-sided communication"},
	{"MPI_ERR_BAD_FILE", "the name of a file"}, {"MPI_ERR_BASE", "the address of memory to be freed"}, {"MPI_ERR_CONVERSION", "the conversion of data"},
	{"MPI_ERR_DISP", "a displacement in a window"}, {"MPI_ERR_DUP_DATAREP", "a data representation that is defined already"}, {"MPI_ERR_FILE_EXISTS", "the file exists"},
	{"MPI_ERR_FILE_IN_USE", "the file is in use"}, {"MPI_ERR_FILE", "a file handle"}, {errInfoKey, "the key of an info is empty or too long"},
	{errInfoNoKey, "the info has no such key"}, {errInfoValue, "the value of an info is too long"}, {errInfo, "an info is none, or was freed"},
	{"MPI_ERR_IO", "input or output"}, {errKeyval, "an attribute key is none, or was freed"}, {"MPI_ERR_LOCKTYPE", "the type of a lock"},
	{"MPI_ERR_NAME", "the name of a service"}, {errNoMem, "no memory"}, {"MPI_ERR_NOT_SAME", "an argument that must be the same on all ranks"},
	{"MPI_ERR_NO_SPACE", "no space"}, {"MPI_ERR_NO_SUCH_FILE", "no such file"}, {"MPI_ERR_PORT", "the name of a port"},
	{"MPI_ERR_QUOTA", "a quota is exceeded"}, {"MPI_ERR_READ_ONLY", "the file or file system is read-only"}, {"MPI_ERR_RMA_ATTACH", "memory cannot be attached to a window"},
	{"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"}, {"MPI_ERR_RMA_RANGE", "memory outside of a window"}, {"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
	{"MPI_ERR_RMA_SYNC", "the synchronization of a window"}, {"MPI_ERR_SERVICE", "a service name"}, {"MPI_ERR_SIZE", "the size of a window"},
	{"MPI_ERR_SPAWN", "processes cannot be started"}, {"MPI_ERR_UNSUPPORTED_DATAREP", "an unsupported data representation"}, {"MPI_ERR_UNSUPPORTED_OPERATION", "an unsupported operation"},
	{"MPI_ERR_WIN", "a window"}, {"MPI_ERR_RMA_FLAVOR", "a window of another flavor"}, {"MPI_ERR_PROC_ABORTED", "a process has aborted"},
	{"MPI_ERR_VALUE_TOO_LARGE", "a value is too large"}, {errSession, "a session is none, or was finalized"}, {"MPI_ERR_ERRHANDLER", "an error handler"}, {"MPI_ERR_ABI", "the ABI"},
}

func init() {
	for i, l := range mpi2Classes {
		classNumbers[l.class] = int32(20 + i)
	}
}

// describeClass returns the description of an error class.
func describeClass(c mpi.Class) string {
	if i := classNumbers[c] - 20; i >= 0 {
		return mpi2Classes[i].text
	}
	return mpi.ErrorString(c)
}

// Error classes of MPI-2 that only this package raises.
const (
	errInfoKey   mpi.Class = "MPI_ERR_INFO_KEY"
	errInfoNoKey mpi.Class = "MPI_ERR_INFO_NOKEY"
	errInfoValue mpi.Class = "MPI_ERR_INFO_VALUE"
	errInfo      mpi.Class = "MPI_ERR_INFO"
	errKeyval    mpi.Class = "MPI_ERR_KEYVAL"
	errNoMem     mpi.Class = "MPI_ERR_NO_MEM"
	errSession   mpi.Class = "MPI_ERR_SESSION"
)

const lastCode = 0x3fff // MPI_ERR_LASTCODE

// errorCodeOf returns the number of an error's class, for the function's return value.
func (r *rank) errorCodeOf(err error) int32 {
	switch {
	case r.currentCall.handled:
		return r.currentCall.handlerCode
	case r.currentCall.userErrorCode != 0:
		return r.currentCall.userErrorCode
	case r.currentCall.callbackCode != 0:
		return r.currentCall.callbackCode
	case r.currentCall.errorInStatuses:
		return classNumbers[mpi.ErrInStatus]
	}
	if n, ok := classNumbers[mpi.ErrorClass(err)]; ok {
		return n
	}
	return classNumbers[mpi.ErrOther]
}

func classOf(code int) mpi.Class {
	for c, n := range classNumbers {
		if int(n) == code {
			return c
		}
	}
	return mpi.ErrUnknown
}

// userErrorCode is an error code or an error class that the program has added.
type userErrorCode struct {
	class   int
	text    string
	removed bool
}

// userError returns the error class or code that the program has added with a number, or nil.
func (r *rank) userError(n int) *userErrorCode {
	if i := n - lastCode - 1; i >= 0 && i < len(r.userErrorCodes) && !r.userErrorCodes[i].removed {
		return &r.userErrorCodes[i]
	}
	return nil
}

// requireUserError is userError that fails if there is none.
func (r *rank) requireUserError(n int) *userErrorCode {
	e := r.userError(n)
	if e == nil {
		r.raiseError(mpi.ErrArg, "the program has not added error code %d, or has removed it", n)
	}
	return e
}

func removeErrorClass(r *rank, a args) {
	n := int(a[0])
	e := r.requireUserError(n)
	for i, other := range r.userErrorCodes {
		if code := lastCode + 1 + i; code != n && other.class == n && !other.removed {
			r.raiseError(mpi.ErrArg, "error class %d has code %d: remove that first", n, code)
		}
	}
	if e.class != n {
		r.raiseError(mpi.ErrArg, "%d is an error code, not a class", n)
	}
	e.removed = true
}

func removeErrorCode(r *rank, a args) {
	e := r.requireUserError(int(a[0]))
	if e.class == int(a[0]) {
		r.raiseError(mpi.ErrArg, "%d is an error class, not a code", int(a[0]))
	}
	e.removed = true
}

func removeErrorString(r *rank, a args) { r.requireUserError(int(a[0])).text = "" }

func (r *rank) addError(class int, at uintptr) {
	r.userErrorCodes = append(r.userErrorCodes, userErrorCode{class: class})
	n := lastCode + len(r.userErrorCodes)
	if class < 0 {
		r.userErrorCodes[len(r.userErrorCodes)-1].class = n
	}
	storeAt(at, int32(n))
	storeAt(r.libraryAttribute(lastUsedCode), int32(n))
}

func addErrorClass(r *rank, a args) { r.addError(-1, a[0]) }

func addErrorCode(r *rank, a args) {
	if n := int(a[0]); n < 0 || n > lastCode && r.userError(n) == nil {
		r.raiseError(mpi.ErrArg, "%d is not an error class", n)
	}
	r.addError(int(a[0]), a[1])
}

func addErrorString(r *rank, a args) {
	r.requireUserError(int(a[0])).text = r.stringAt(a[1])
}

func errorString(r *rank, a args) {
	if e := r.userError(int(a[0])); e != nil {
		storeText(a[1], e.text, 512, a[2])
		return
	}
	c := classOf(int(a[0]))
	if c == mpi.ErrUnknown && int(a[0]) != 14 {
		r.raiseError(mpi.ErrArg, "%d is not an error code", int(a[0]))
	}
	storeText(a[1], string(c)+": "+describeClass(c), 512, a[2])
}

func errorClass(r *rank, a args) {
	n := int(a[0])
	if e := r.userError(n); e != nil {
		n = e.class
	} else if n < 0 || n > lastCode {
		r.raiseError(mpi.ErrArg, "%d is not an error code", n)
	}
	storeAt(a[1], int32(n))
}

func errhandlerCreate(r *rank, a args) {
	f := a[0]
	h := mpi.NewErrorHandler(func(c *mpi.Comm, err *mpi.Error) {
		r.withScratch(func(s *scratch) {
			s[0], s[1] = C.intptr_t(r.handleOf(c)), C.intptr_t(r.errorCodeOf(err))
			r.callback(f, uintptr(unsafe.Pointer(&s[0])), uintptr(unsafe.Pointer(&s[1])))
			r.currentCall.handlerCode, r.currentCall.handled = int32(s[1]), true
		})
	})
	storeAt(a[1], r.handlers.add(kindErrhandler, &errorHandler{h, 1}))
}

// handleOf returns the handle of a communicator, or of the session, window or file whose error
// handler it holds.
func (r *rank) handleOf(c *mpi.Comm) uintptr {
	if r.selfComm != nil && r.selfComm.Comm == c {
		return commSelf
	}
	for _, s := range r.comms.slots {
		if s.inUse && s.value.Comm == c {
			return s.value.handle
		}
	}
	for i, s := range r.sessions.slots {
		if s.inUse && s.value.comm == c {
			return kindSession<<kindShift | uintptr(s.generation)<<20 | uintptr(i)
		}
	}
	for _, s := range r.windows.slots {
		if s.inUse && s.value.Comm() == c {
			return s.value.handle
		}
	}
	for _, s := range r.files.slots {
		if s.inUse && s.value.Comm() == c {
			return s.value.handle
		}
	}
	if c == r.world.NullFileComm() {
		return fileNull
	}
	return commWorld
}

// errorTargetFunc returns the communicator that holds the error handler of the object with a
// handle.
type errorTargetFunc func(r *rank, h uintptr) *mpi.Comm

func commErrorTarget(r *rank, h uintptr) *mpi.Comm    { return r.comm(h).Comm }
func sessionErrorTarget(r *rank, h uintptr) *mpi.Comm { return r.session(h).comm }

func errhandlerSetHandler(of errorTargetFunc) handler {
	return func(r *rank, a args) { of(r, a[0]).SetErrorHandler(r.errorHandlerOf(a[1])) }
}

// commSetErrhandler also accepts a communicator whose MPI_Comm_idup is not complete: mpi4py sets
// the handler of each new communicator at once.
func commSetErrhandler(r *rank, a args) {
	c, handler := r.commOrPending(a[0]), r.errorHandlerOf(a[1])
	if c.Comm == nil {
		c.pendingHandler = handler
		return
	}
	c.SetErrorHandler(handler)
}

// errorHandlerOf returns the error handler with a handle.
func (r *rank) errorHandlerOf(h uintptr) *mpi.ErrorHandler {
	switch h {
	case errorsAreFatal, errorsAbort:
		return mpi.ErrorsAreFatal
	case errorsReturn:
		return mpi.ErrorsReturn
	}
	x := r.handlers.get(kindErrhandler, h)
	if x == nil {
		r.raiseError(mpi.ErrArg, "invalid error handler: it is MPI_ERRHANDLER_NULL, or was freed")
	}
	return (*x).ErrorHandler
}

func errhandlerGetHandler(of errorTargetFunc) handler {
	return func(r *rank, a args) { storeAt(a[1], r.handlerHandle(of(r, a[0]).ErrorHandler())) }
}

// handlerHandle returns a handle for an error handler.
func (r *rank) handlerHandle(h *mpi.ErrorHandler) uintptr {
	switch h {
	case mpi.ErrorsAreFatal:
		return errorsAreFatal
	case mpi.ErrorsReturn:
		return errorsReturn
	}
	for i, s := range r.handlers.slots {
		if s.inUse && s.value.ErrorHandler == h {
			s.value.uses++
			return kindErrhandler<<kindShift | uintptr(s.generation)<<20 | uintptr(i)
		}
	}
	return r.handlers.add(kindErrhandler, &errorHandler{h, 1}) // the program has freed the handler, but the communicator still uses it
}

func errhandlerFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	if x := r.handlers.get(kindErrhandler, h); x == nil {
		if h != errorsAreFatal && h != errorsReturn && h != errorsAbort {
			r.raiseError(mpi.ErrArg, "invalid error handler: it is MPI_ERRHANDLER_NULL, or was freed")
		}
	} else if (*x).uses--; (*x).uses == 0 {
		r.handlers.remove(h)
	}
	storeAt(a[0], uintptr(errhandlerNull))
}

func callErrhandlerHandler(of errorTargetFunc) handler {
	return func(r *rank, a args) {
		c := of(r, a[0])
		if c.ErrorHandler() == mpi.ErrorsReturn {
			return
		}
		r.currentCall.userErrorCode = int32(a[1])
		c.Raise(classOf(int(a[1])), "the program calls the error handler with code %d", int(a[1]))
	}
}
