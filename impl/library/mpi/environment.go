package mpi

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/unit"
)

// Version returns the version of the standard that programs in C and Fortran see (MPI_Get_version).
// docs/c-reference.md lists what is missing.
func Version() (version, subversion int) { return 4, 1 }

// Initialized reports whether c can be used (MPI_Initialized): from the beginning of a rank's
// program to its end, as Run does what MPI_Init and MPI_Finalize do. A nil c cannot, so that a
// function may be called with a communicator or without.
func (c *Comm) Initialized() bool { return c != nil && !c.state.programEnded }

// ProcessorName names the hardware that the rank runs on: the node of an emulated machine, or the
// host (MPI_Get_processor_name). Ranks that are near each other have the same.
func (c *Comm) ProcessorName() string {
	c.engine.Enter("ProcessorName")
	return c.engine.Port().Node()
}

// Wtick returns the resolution of the clock that Wtime reads: that of the emulated machine's timer,
// or the measured one of this machine's clock (MPI_Wtick).
func (c *Comm) Wtick() unit.Time { return c.engine.Port().Tick() }

// Abort ends the job, all of its ranks, with an *AbortError (MPI_Abort). It does not return.
func (c *Comm) Abort(code int) {
	c.engine.Enter("Abort")
	panic(&AbortError{Rank: c.engine.Port().Rank(), Code: code})
}

// AbortError is what Run returns when a rank has called Abort. Where ranks are processes, the
// others get its text.
type AbortError struct {
	Rank   int    // in the job
	Code   int    // that the program gave
	Reason string `json:",omitempty"` // why the job ends, if the program has not called Abort
}

// Error names rank and code, or the reason.
func (e *AbortError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("rank %d: %s", e.Rank, e.Reason)
	}
	return fmt.Sprintf("rank %d: Abort: the program ends the job with code %d", e.Rank, e.Code)
}

// Pcontrol tells Options.OnCall that the program is here (MPI_Pcontrol). The library ignores the
// level, as the standard says: a profiler that wraps the communicator defines it, by convention 0
// for off, 1 for on, and 2 for writing out what was collected.
func (c *Comm) Pcontrol(_ int) { c.enterCall("Pcontrol") }

// Class is a class of errors.
type Class = engine.ErrorClass

// The error classes of MPI-1.2, §7.4. The library makes no errors of the last four.
const (
	Success     Class = "MPI_SUCCESS"
	ErrBuffer         = engine.ErrBuffer
	ErrCount          = engine.ErrCount
	ErrType           = engine.ErrType
	ErrTag            = engine.ErrTag
	ErrComm           = engine.ErrComm
	ErrRank           = engine.ErrRank
	ErrRequest        = engine.ErrRequest
	ErrRoot           = engine.ErrRoot
	ErrGroup          = engine.ErrGroup
	ErrOp             = engine.ErrOp
	ErrTopology       = engine.ErrTopology
	ErrDims           = engine.ErrDims
	ErrArg            = engine.ErrArg
	ErrTruncate       = engine.ErrTruncate
	ErrOther          = engine.ErrOther
	ErrUnknown  Class = "MPI_ERR_UNKNOWN"
	ErrIntern   Class = "MPI_ERR_INTERN"
	ErrInStatus Class = "MPI_ERR_IN_STATUS"
	ErrPending  Class = "MPI_ERR_PENDING"

	// Of one-sided communication.
	ErrWin         Class = "MPI_ERR_WIN"
	ErrSize        Class = "MPI_ERR_SIZE"
	ErrDisp        Class = "MPI_ERR_DISP"
	ErrAssert      Class = "MPI_ERR_ASSERT"
	ErrLockType    Class = "MPI_ERR_LOCKTYPE"
	ErrRMASync     Class = "MPI_ERR_RMA_SYNC"
	ErrRMARange    Class = "MPI_ERR_RMA_RANGE"
	ErrRMAAttach   Class = "MPI_ERR_RMA_ATTACH"
	ErrRMAShared   Class = "MPI_ERR_RMA_SHARED"
	ErrRMAFlavor   Class = "MPI_ERR_RMA_FLAVOR"
	ErrRMAConflict Class = "MPI_ERR_RMA_CONFLICT"

	// Of processes that a program starts or connects to.
	ErrSpawn   Class = "MPI_ERR_SPAWN"
	ErrPort    Class = "MPI_ERR_PORT"
	ErrName    Class = "MPI_ERR_NAME"
	ErrService Class = "MPI_ERR_SERVICE"

	// Of files.
	ErrFile                 Class = "MPI_ERR_FILE"
	ErrAccess               Class = "MPI_ERR_ACCESS"
	ErrAmode                Class = "MPI_ERR_AMODE"
	ErrBadFile              Class = "MPI_ERR_BAD_FILE"
	ErrFileExists           Class = "MPI_ERR_FILE_EXISTS"
	ErrFileInUse            Class = "MPI_ERR_FILE_IN_USE"
	ErrNoSuchFile           Class = "MPI_ERR_NO_SUCH_FILE"
	ErrNoSpace              Class = "MPI_ERR_NO_SPACE"
	ErrQuota                Class = "MPI_ERR_QUOTA"
	ErrReadOnly             Class = "MPI_ERR_READ_ONLY"
	ErrIO                   Class = "MPI_ERR_IO"
	ErrNotSame              Class = "MPI_ERR_NOT_SAME"
	ErrUnsupportedDatarep   Class = "MPI_ERR_UNSUPPORTED_DATAREP"
	ErrUnsupportedOperation Class = "MPI_ERR_UNSUPPORTED_OPERATION"
)

// classMeanings describe the error classes.
var classMeanings = map[Class]string{
	Success:     "no error",
	ErrBuffer:   "a buffer does not have the data that it should, or no room for it",
	ErrCount:    "a count is negative, or another than it must be",
	ErrType:     "a datatype is none, is not committed, was freed, or is another than the message's",
	ErrTag:      "a tag is negative or too large",
	ErrComm:     "a communicator was freed, or is of the other sort: of one group, or between two",
	ErrRank:     "a rank is none of the communicator's or the group's, or is named twice",
	ErrRequest:  "a request was completed before, or cannot be used so",
	ErrRoot:     "a root is none of the ranks, or ranks name different ones",
	ErrGroup:    "a group was freed, is none, or is not of the communicator's ranks",
	ErrOp:       "an operation was freed, or is not for such elements, or ranks name different ones",
	ErrTopology: "a topology is none, or does not fit the ranks",
	ErrDims:     "dimensions of a grid do not fit the ranks",
	ErrArg:      "an argument of another kind is wrong",
	ErrTruncate: "a message is longer than the room that there is for it",
	ErrOther:    "a ready message without its receive, collective calls that do not go together, a deadlock or an abort",
	ErrUnknown:  "an error that is none of the library's",
	ErrIntern:   "an error within the library",
	ErrInStatus: "an error that a status has",
	ErrPending:  "an operation that is neither complete nor has failed",

	ErrWin:         "a window was freed, or is none",
	ErrSize:        "the size of a window is negative",
	ErrDisp:        "a displacement, or its unit, is negative",
	ErrAssert:      "an assertion is none, or is not for the call",
	ErrLockType:    "the type of a lock is none",
	ErrRMASync:     "calls that begin and end accesses to a window do not go together",
	ErrRMARange:    "an access is not within the memory of a window",
	ErrRMAAttach:   "memory cannot be attached to a window, or detached",
	ErrRMAShared:   "memory cannot be shared",
	ErrRMAConflict: "accesses to a window conflict",
	ErrRMAFlavor:   "the call is for windows of another flavor",

	ErrSpawn:   "processes cannot be started",
	ErrPort:    "a port was closed, or is none",
	ErrName:    "the name of a service was not published",
	ErrService: "the name of a service cannot be published, or withdrawn",

	ErrFile:                 "a file was closed, or is none",
	ErrAccess:               "the rights of the user, or the mode of the file, do not allow the access",
	ErrAmode:                "the mode in which a file is opened is none",
	ErrBadFile:              "the name of a file is none",
	ErrFileExists:           "the file exists",
	ErrFileInUse:            "the file is in use",
	ErrNoSuchFile:           "there is no such file",
	ErrNoSpace:              "the device of the file is full",
	ErrQuota:                "the user's quota is exceeded",
	ErrReadOnly:             "the file, or its file system, can only be read",
	ErrIO:                   "the system reports an error of a file",
	ErrNotSame:              "ranks give different arguments, which must be the same",
	ErrUnsupportedDatarep:   "files have no such data representation",
	ErrUnsupportedOperation: "the file does not support the operation",
}

// ErrorClass returns the class of an error that Run or Catch has returned (MPI_Error_class):
// Success for nil, ErrUnknown for one that the library has not made.
func ErrorClass(err error) Class {
	var (
		failed  *Error
		waits   *DeadlockError
		aborted *AbortError
	)
	switch {
	case err == nil:
		return Success
	case errors.As(err, &failed):
		return failed.Class
	case errors.As(err, &waits), errors.As(err, &aborted):
		return ErrOther
	}
	return ErrUnknown
}

// ErrorString describes an error class (MPI_Error_string); the text of one is its Error. For a
// value that is not a class it says so.
func ErrorString(c Class) string {
	if s, ok := classMeanings[c]; ok {
		return s
	}
	return "no class of errors"
}

// ErrorHandler determines how errors of calls on a communicator are handled
// (MPI_Errhandler_create). Ranks may have different handlers on one communicator.
type ErrorHandler struct {
	name     string
	function func(c *Comm, err *Error) // nil: none
	freed    atomic.Bool
}

// The handlers that there are. With ErrorsAreFatal, which communicators have unless another is set,
// an error ends the rank, and with it the job. With ErrorsReturn, and with those that are made,
// Catch returns it.
var (
	ErrorsAreFatal = &ErrorHandler{name: "ErrorsAreFatal"}
	ErrorsReturn   = &ErrorHandler{name: "ErrorsReturn"}
)

// NewErrorHandler makes a handler from a function. It is called with the error and the communicator
// before Catch, or Run if there is no Catch, returns the error.
func NewErrorHandler(call func(c *Comm, err *Error)) *ErrorHandler {
	return &ErrorHandler{function: call}
}

// Free ends the use of a handler for other communicators (MPI_Errhandler_free). Those that have it
// keep it. One of the library's cannot be freed.
func (h *ErrorHandler) Free() error {
	if h.name != "" {
		return fmt.Errorf("%s is no handler that was made", h.name)
	}
	h.freed.Store(true)
	return nil
}

// SetErrorHandler sets the handler of errors of later calls on c (MPI_Errhandler_set).
// Communicators that are created from c inherit it. Errors of calls without a communicator, such as
// Vector, are those of the communicator that Run gives.
func (c *Comm) SetErrorHandler(h *ErrorHandler) {
	c.enterCall("SetErrorHandler")
	if h == nil || h.freed.Load() {
		c.engine.Fail(engine.ErrArg, "the error handler was freed, or is none")
	}
	if h != ErrorsAreFatal {
		c.engine.SetHandlesErrors()
	}
	c.setHandler(h)
}

// StoreErrorsInStatus leaves what is wrong with a message that was received to Status.Err, where
// the caller raises it when it has used the status: it is for program interfaces whose statuses
// have errors. It holds for all calls of the rank that return statuses.
func (c *Comm) StoreErrorsInStatus() { c.engine.SetReceiveErrorsInStatus() }

// ErrorHandler returns the handler of errors of calls on c (MPI_Errhandler_get).
func (c *Comm) ErrorHandler() *ErrorHandler {
	if x, ok := c.state.errorHandlers[c.context]; ok {
		return x.handler
	}
	return ErrorsAreFatal
}

// Raise makes an error of the program's own, as a call on c that fails (MPI_Comm_call_errhandler).
func (c *Comm) Raise(class Class, format string, args ...any) {
	c.enterCall("Raise")
	c.engine.Fail(class, format, args...)
}

// DrainOperations blocks until the rank's sends from an attached buffer, and the requests that it
// has freed or left open, are complete, or use no memory of the program. It is for programs that
// release their memory before the job ends (part of MPI_Finalize).
func (c *Comm) DrainOperations() {
	c.enterCall("DrainOperations")
	c.closeWindows()
	c.closeFiles()
	if c.engine.CheckMode() != CheckStrict { // the end of the job makes an error of them
		c.freeOpenRequests()
	}
	c.engine.FinishDetached()
}

// commHandler is a communicator with another handler than ErrorsAreFatal.
type commHandler struct {
	comm    *Comm
	handler *ErrorHandler
}

// setHandler notes the handler of a communicator.
func (c *Comm) setHandler(h *ErrorHandler) {
	if h == ErrorsAreFatal {
		delete(c.state.errorHandlers, c.context)
		return
	}
	if c.state.errorHandlers == nil {
		c.state.errorHandlers = make(map[uint32]commHandler)
	}
	c.state.errorHandlers[c.context] = commHandler{c, h}
}

// callHandler calls the handler of an error of this rank, and reports whether Catch returns the
// error.
func (c *Comm) callHandler(err *Error) bool {
	if err.Rank == NoRank {
		err.Rank = c.engine.Port().Rank()
	}
	x, ok := c.state.errorHandlers[err.Context()]
	if ok && x.handler.function != nil {
		x.handler.function(x.comm, err)
	}
	return ok
}

// Catch calls f and returns the *Error of a call in it, if the call was on a communicator whose
// handler is not ErrorsAreFatal. The rest of f is not executed. Other errors, and panics,
// propagate. c is any communicator of the rank.
//
// An error of arguments (a rank, a tag, a root, a count, a datatype, a buffer, an operation, a
// group, a topology, an attribute) leaves things as they were for calls that make one message, or
// none. After others, and where other ranks take part in the call, MPI does not say what holds.
func (c *Comm) Catch(f func()) (err error) {
	defer func() {
		v := recover()
		if e, ok := v.(*Error); ok && c.callHandler(e) {
			err = e
		} else if v != nil {
			panic(v)
		}
	}()
	f()
	return nil
}
