package mpi

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/unit"
)

// Version returns the version of the MPI standard that C and Fortran programs see
// (MPI_Get_version).
func Version() (version, subversion int) { return 4, 1 }

// Initialized reports whether c can be used (MPI_Initialized). It is true from the start of a
// rank's program to its end, because Run does what MPI_Init and MPI_Finalize do. It is false for a
// nil c, so a function can be called with or without a communicator.
func (c *Comm) Initialized() bool { return c != nil && !c.state.programEnded }

// ProcessorName returns the node of an emulated machine or the host name on which the rank runs
// (MPI_Get_processor_name). Ranks of one node have the same name.
func (c *Comm) ProcessorName() string {
	c.engine.Enter("ProcessorName")
	return c.engine.Port().Node()
}

// Wtick returns the resolution of the clock that Wtime reads (MPI_Wtick): that of the emulated
// machine's timer, or the measured one of this computer's clock.
func (c *Comm) Wtick() unit.Time { return c.engine.Port().Tick() }

// Abort ends all ranks of the job with an *AbortError (MPI_Abort). It does not return.
func (c *Comm) Abort(code int) {
	c.engine.Enter("Abort")
	panic(&AbortError{Rank: c.engine.Port().Rank(), Code: code})
}

// AbortError is the error of Run after a rank has called Abort. If ranks are processes, the other
// processes get its text only.
type AbortError struct {
	Rank   int    // in the job
	Code   int    // passed by the program
	Reason string `json:",omitempty"` // why the job ends, if the program has not called Abort
}

// Error names the rank and the code, or the reason.
func (e *AbortError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("rank %d: %s", e.Rank, e.Reason)
	}
	return fmt.Sprintf("rank %d: Abort: the program ends the job with code %d", e.Rank, e.Code)
}

// Pcontrol calls Options.OnCall (MPI_Pcontrol). The library ignores the level: the standard leaves
// its meaning to a profiler that wraps the communicator. By convention 0 is off, 1 is on, and 2
// writes the collected data.
func (c *Comm) Pcontrol(_ int) { c.enterCall("Pcontrol") }

// Class is an MPI error class.
type Class = engine.ErrorClass

// The error classes of MPI-1.2, section 7.4. The library does not raise the last four.
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

	// Errors of one-sided communication.
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

	// Errors of starting and connecting processes.
	ErrSpawn   Class = "MPI_ERR_SPAWN"
	ErrPort    Class = "MPI_ERR_PORT"
	ErrName    Class = "MPI_ERR_NAME"
	ErrService Class = "MPI_ERR_SERVICE"

	// Errors of files.
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

// classMeanings describes each error class.
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
	ErrPort:    "a port was closed, or is none, or nobody accepts at it",
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

// ErrorClass returns the class of an error of Run or Catch (MPI_Error_class). It is Success for nil
// and ErrUnknown for an error of another package.
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

// ErrorString describes an error class (MPI_Error_string), or says that c is not a class. The text
// of an individual error is its Error method.
func ErrorString(c Class) string {
	if s, ok := classMeanings[c]; ok {
		return s
	}
	return "no class of errors"
}

// ErrorHandler determines how errors of calls on a communicator are handled
// (MPI_Comm_create_errhandler). Each rank of a communicator may set a different handler.
type ErrorHandler struct {
	name     string
	function func(c *Comm, err *Error) // nil: none
	freed    atomic.Bool
}

// Predefined handlers. ErrorsAreFatal, the default, ends the rank and with it the job. With
// ErrorsReturn, and with handlers of NewErrorHandler, Catch returns the error.
var (
	ErrorsAreFatal = &ErrorHandler{name: "ErrorsAreFatal"}
	ErrorsReturn   = &ErrorHandler{name: "ErrorsReturn"}
)

// NewErrorHandler returns a handler that calls a function with the communicator and the error. The
// call precedes the return of the error by Catch, or by Run without Catch.
func NewErrorHandler(call func(c *Comm, err *Error)) *ErrorHandler {
	return &ErrorHandler{function: call}
}

// Free ends the use of a handler for other communicators (MPI_Errhandler_free). Communicators that
// already use it keep it. Predefined handlers cannot be freed.
func (h *ErrorHandler) Free() error {
	if h.name != "" {
		return fmt.Errorf("%s is no handler that was made", h.name)
	}
	h.freed.Store(true)
	return nil
}

// SetErrorHandler sets the handler for errors of later calls on c (MPI_Comm_set_errhandler).
// Communicators created from c inherit it. Errors of calls without a communicator, such as Vector,
// go to the handler of the communicator that Run passes to the program.
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

// StoreErrorsInStatus makes calls of this rank that return a status store an error of the received
// message in Status.Err, and not raise it. The caller raises it when it has used the status.
// Language bindings whose statuses have an error field use this.
func (c *Comm) StoreErrorsInStatus() { c.engine.SetReceiveErrorsInStatus() }

// ErrorHandler returns the handler for errors of calls on c (MPI_Comm_get_errhandler).
func (c *Comm) ErrorHandler() *ErrorHandler {
	if x, ok := c.state.errorHandlers[c.context]; ok {
		return x.handler
	}
	return ErrorsAreFatal
}

// Raise reports an error of the program as if a call on c had failed (MPI_Comm_call_errhandler).
func (c *Comm) Raise(class Class, format string, args ...any) {
	c.enterCall("Raise")
	c.engine.Fail(class, format, args...)
}

// DrainOperations blocks until the rank's buffered sends, and the requests that it has freed or
// left open, are complete or no longer use the program's memory. It is for programs that release
// their memory before the job ends (part of MPI_Finalize).
func (c *Comm) DrainOperations() {
	c.enterCall("DrainOperations")
	c.closeWindows()
	c.closeFiles()
	if c.engine.CheckMode() != CheckStrict { // the end of the job reports them as errors
		c.freeOpenRequests()
	}
	c.engine.FinishDetached()
}

// commHandler is a communicator with an error handler other than ErrorsAreFatal.
type commHandler struct {
	comm    *Comm
	handler *ErrorHandler
}

// setHandler records the handler of a communicator.
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

// callHandler calls the handler for an error of this rank, and reports whether Catch returns the
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

// Catch calls f. If a call in f fails on a communicator whose handler is not ErrorsAreFatal, Catch
// skips the rest of f and returns the *Error. Other errors and panics propagate. c is any
// communicator of the rank.
//
// A call with a wrong argument (rank, tag, root, count, datatype, buffer, operation, group,
// topology or attribute) has no effect if it would send at most one message. After other errors,
// and after errors of collective calls, the state is undefined, as in MPI.
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
