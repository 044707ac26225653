package proto

import "fmt"

// Class is an error class of MPI.
type Class string

// The error classes of MPI-1 that can occur.
const (
	ErrBuffer   Class = "MPI_ERR_BUFFER"
	ErrCount    Class = "MPI_ERR_COUNT"
	ErrTag      Class = "MPI_ERR_TAG"
	ErrRank     Class = "MPI_ERR_RANK"
	ErrComm     Class = "MPI_ERR_COMM"
	ErrGroup    Class = "MPI_ERR_GROUP"
	ErrTopology Class = "MPI_ERR_TOPOLOGY"
	ErrDims     Class = "MPI_ERR_DIMS"
	ErrArg      Class = "MPI_ERR_ARG"
	ErrRoot     Class = "MPI_ERR_ROOT"
	ErrOp       Class = "MPI_ERR_OP"
	ErrType     Class = "MPI_ERR_TYPE"
	ErrRequest  Class = "MPI_ERR_REQUEST"
	ErrTruncate Class = "MPI_ERR_TRUNCATE"
	ErrOther    Class = "MPI_ERR_OTHER"
)

// Error is a failure of a communication. It ends the rank.
type Error struct {
	Class Class
	Rank  int    // in the job; NoRank: it was made by none, or it is not known yet by whom
	Call  string // the call in which it was found
	Text  string
}

// NoRank is in place of the rank of an error where none made it.
const NoRank = -1

func (e *Error) Error() string {
	if e.Rank == NoRank {
		return fmt.Sprintf("%s: %s: %s", e.Call, e.Class, e.Text)
	}
	return fmt.Sprintf("rank %d: %s: %s: %s", e.Rank, e.Call, e.Class, e.Text)
}

func (e *Engine) fault(c Class, format string, args ...any) *Error {
	return &Error{Class: c, Rank: e.port.Rank(), Call: e.call, Text: fmt.Sprintf(format, args...)}
}

// Fail ends the rank with an error of its current call.
func (e *Engine) Fail(c Class, format string, args ...any) { panic(e.fault(c, format, args...)) }
