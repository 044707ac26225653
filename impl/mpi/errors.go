package mpi

import (
	"errors"

	"github.com/loggp/loggp/impl/engine"
)

// Class is a class of errors.
type Class = engine.Class

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
)

// meanings say what errors of a class are about.
var meanings = map[Class]string{
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
}

// ErrorClass returns the class of an error that Run or Catch has returned (MPI_Error_class): Success for nil, ErrUnknown for one that the library has
// not made.
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

// ErrorString says what errors of a class are about (MPI_Error_string); the text of one is its Error. Of what is no class it says that.
func ErrorString(c Class) string {
	if s, ok := meanings[c]; ok {
		return s
	}
	return "no class of errors"
}
