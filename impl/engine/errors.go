package engine

import (
	"fmt"
	"path/filepath"
)

// ErrorClass is an error class of MPI.
type ErrorClass string

// The error classes of MPI-1 that can occur.
const (
	ErrBuffer   ErrorClass = "MPI_ERR_BUFFER"
	ErrCount    ErrorClass = "MPI_ERR_COUNT"
	ErrTag      ErrorClass = "MPI_ERR_TAG"
	ErrRank     ErrorClass = "MPI_ERR_RANK"
	ErrComm     ErrorClass = "MPI_ERR_COMM"
	ErrGroup    ErrorClass = "MPI_ERR_GROUP"
	ErrTopology ErrorClass = "MPI_ERR_TOPOLOGY"
	ErrDims     ErrorClass = "MPI_ERR_DIMS"
	ErrArg      ErrorClass = "MPI_ERR_ARG"
	ErrRoot     ErrorClass = "MPI_ERR_ROOT"
	ErrOp       ErrorClass = "MPI_ERR_OP"
	ErrType     ErrorClass = "MPI_ERR_TYPE"
	ErrRequest  ErrorClass = "MPI_ERR_REQUEST"
	ErrTruncate ErrorClass = "MPI_ERR_TRUNCATE"
	ErrOther    ErrorClass = "MPI_ERR_OTHER"
)

// Error is a failure of communication. It ends the rank.
type Error struct {
	Class     ErrorClass
	Rank      int      // in the job; NoRank: outside of all ranks, or not known yet
	Call      string   // the call that detected it
	CallSite  CallSite // source line of the call
	Text      string
	OtherCall *CallPlace // if the calls of two ranks differ, the other one; Call is "" if it is unknown

	context uint32
}

// CallPlace is a call of a rank.
type CallPlace struct {
	Rank int // in the job
	Call string
	Site CallSite
}

// Context returns the context of the communicator of the call; 0: the world communicator, or none.
func (e *Error) Context() uint32 { return e.context }

// NoRank is the rank of an error that occurred outside of all ranks.
const NoRank = -1

func (e *Error) Error() string {
	s := fmt.Sprintf("%s%s: %s: %s", e.Call, e.CallSite.Parenthesized(), e.Class, e.Text)
	if o := e.OtherCall; o != nil && o.Call != "" {
		s += fmt.Sprintf("; rank %d: %s%s", o.Rank, o.Call, o.Site.Parenthesized())
	}
	if e.Rank == NoRank {
		return s
	}
	return fmt.Sprintf("rank %d: %s", e.Rank, s)
}

// CallSite is the source line from which a program makes a call. The zero value is an unknown line.
type CallSite struct {
	File string // with its path
	Line int
}

// String returns the file name without its path, and the line.
func (s CallSite) String() string {
	if s == (CallSite{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)
}

// Parenthesized returns the site in parentheses, to follow the name of a call.
func (s CallSite) Parenthesized() string {
	if s == (CallSite{}) {
		return ""
	}
	return " (" + s.String() + ")"
}

// callSite returns the source line of the current call.
func (r *Rank) callSite() CallSite {
	if r.overlapChecker != nil {
		return r.cfg.stackSite(r.CallStack().Frames())
	}
	return r.cfg.callSite()
}

// RecordCallStack records where the current call was made, before its steps are carried out in
// another goroutine. In a program that is not checked, LocateError does so after an error.
func (r *Rank) RecordCallStack() {
	if r.overlapChecker != nil && r.callLocator == nil {
		r.CallStack()
	}
}

// LocateError sets the source line of an error of the current call that may have occurred in
// another goroutine. It returns v, a panic value.
func (r *Rank) LocateError(v any) any {
	if err, ok := v.(*Error); ok && err.Rank == r.port.Rank() {
		err.CallSite = r.callSite()
	}
	return v
}

// newError returns an error of the rank's current call.
func (r *Rank) newError(c ErrorClass, format string, args ...any) *Error {
	r.hasFailedCall = true
	return &Error{Class: c, Rank: r.port.Rank(), Call: r.call, CallSite: r.callSite(), context: r.context, Text: fmt.Sprintf(format, args...)}
}

// FailWithOtherCall ends the rank with an error of its current call, which differs from the call of
// another rank.
func (r *Rank) FailWithOtherCall(other int, c ErrorClass, format string, args ...any) {
	panic(r.NewErrorWithOtherCall(other, c, format, args...))
}

// NewErrorWithOtherCall returns an error of the rank's current call, which differs from the call of
// another rank.
func (r *Rank) NewErrorWithOtherCall(other int, c ErrorClass, format string, args ...any) *Error {
	f := r.newError(c, format, args...)
	f.OtherCall = &CallPlace{Rank: other}
	return f
}

// FailCall ends the rank with an error of a call that it has not entered.
func (r *Rank) FailCall(call string, c ErrorClass, format string, args ...any) {
	f := r.newError(c, format, args...)
	f.Call = call
	panic(f)
}

// Fail ends the rank with an error of its current call.
func (r *Rank) Fail(c ErrorClass, format string, args ...any) { panic(r.newError(c, format, args...)) }
