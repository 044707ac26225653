package mpi

import (
	"fmt"
	"sync/atomic"

	"github.com/loggp/loggp/impl/engine"
)

// ErrorHandler says what becomes of an error that a call on a communicator makes (MPI_Errhandler_create). It is the rank's: others may have another on the
// same communicator.
type ErrorHandler struct {
	name  string
	call  func(c *Comm, err *Error) // nil: nobody is told
	freed atomic.Bool
}

// The handlers that there are. With ErrorsAreFatal, which communicators have unless another is set, an error ends the rank, and with it the job. With
// ErrorsReturn, and with those that are made, Catch returns it.
var (
	ErrorsAreFatal = &ErrorHandler{name: "ErrorsAreFatal"}
	ErrorsReturn   = &ErrorHandler{name: "ErrorsReturn"}
)

// NewErrorHandler makes a handler of a function that is told of the error and of the communicator, before Catch returns the error, or Run where there is no
// Catch.
func NewErrorHandler(call func(c *Comm, err *Error)) *ErrorHandler { return &ErrorHandler{call: call} }

// Free ends the use of a handler for other communicators (MPI_Errhandler_free). Those that have it keep it. One of the library's cannot be freed.
func (h *ErrorHandler) Free() error {
	if h.name != "" {
		return fmt.Errorf("%s is no handler that was made", h.name)
	}
	h.freed.Store(true)
	return nil
}

// SetErrorHandler says what becomes of errors of calls on c from now on (MPI_Errhandler_set). Communicators that are made of c have the same. Errors of
// calls without a communicator, such as Vector, are those of the communicator that Run gives.
func (c *Comm) SetErrorHandler(h *ErrorHandler) {
	c.enter("SetErrorHandler")
	if h == nil || h.freed.Load() {
		c.e.Fail(engine.ErrArg, "the error handler was freed, or is none")
	}
	c.handle(h)
}

// ErrorHandler returns what becomes of errors of calls on c (MPI_Errhandler_get).
func (c *Comm) ErrorHandler() *ErrorHandler {
	if x, ok := c.own.handlers[c.context]; ok {
		return x.by
	}
	return ErrorsAreFatal
}

// handled is a communicator of whose errors not all is over.
type handled struct {
	comm *Comm
	by   *ErrorHandler
}

// handle notes the handler of a communicator.
func (c *Comm) handle(h *ErrorHandler) {
	if h == ErrorsAreFatal {
		delete(c.own.handlers, c.context)
		return
	}
	if c.own.handlers == nil {
		c.own.handlers = make(map[uint32]handled)
	}
	c.own.handlers[c.context] = handled{c, h}
}

// tell tells the handler of an error that this rank has made, and reports whether Catch returns it.
func (c *Comm) tell(err *Error) bool {
	if err.Rank == NoRank {
		err.Rank = c.e.Port().Rank()
	}
	x, ok := c.own.handlers[err.Context()]
	if ok && x.by.call != nil {
		x.by.call(x.comm, err)
	}
	return ok
}

// Catch calls f and returns the *Error of a call in it, if the call was on a communicator whose handler is not ErrorsAreFatal. The rest of f is left out.
// Other errors, and panics, pass. c is any communicator of the rank.
//
// An error of arguments (a rank, a tag, a root, a count, a datatype, a buffer, an operation, a group, a topology, an attribute) leaves things as they were
// for calls that make one message, or none. After others, and where other ranks take part in the call, MPI does not say what holds.
func (c *Comm) Catch(f func()) (err error) {
	defer func() {
		v := recover()
		if e, ok := v.(*Error); ok && c.tell(e) {
			err = e
		} else if v != nil {
			panic(v)
		}
	}()
	f()
	return nil
}
