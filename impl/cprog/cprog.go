// Package cprog runs C programs that call MPI on worlds of this module, by package mpi.
//
// Package toolchain compiles a program as a shared object. Each rank loads a private copy of it, so that its global
// variables are its own, and runs it on a stack of its own:
//
//	program in C  →  stubs in the program  →  loggp_swap  →  rank.run (Go)  →  handler of the function  →  mpi
//
// A function that the program calls writes its number and its arguments to a record and switches to the stack of the
// thread that has resumed the program. That is in a call of Go's, loggp_resume, which returns now: so a function of MPI
// takes one call from Go to C and no call from C to Go. The handler does what the function says by package mpi, in the
// rank's own goroutine, which may wait in it as any program of Go's. Where the function needs the program (an operation
// of the user's, a handler of errors, a copy of an attribute), the rank is resumed with a callback, which it runs on its
// stack, and in which it may call functions again.
//
// Buffers are used where they lie. Errors of the library are caught in rank.serve, and become what the communicator's
// error handler says.
//
// Ranks share what a process has once: the heap, the current directory, environment variables, open files, the locale.
// What of the C library is private is in toolchain/c/runtime.c.
package cprog

import (
	"context"
	"io"
	"time"

	"github.com/loggp/loggp/impl/mpi"
)

// Program is a compiled C program and how it is to run. It is for one run.
type Program struct {
	Path      string
	Arguments []string // without the name of the program

	Stack   int     // bytes of a rank's stack; 0: UsualStack
	Compute Compute // what computing between calls takes

	// Real says that the ranks are processes of this machine, where sleeping takes real time.
	Real bool

	Stdout, Stderr io.Writer
	Tag            bool // begin each line of output with the rank

	// Limit ends the run with an error if a rank computes for longer without a call; 0: no limit.
	Limit time.Duration

	// Context ends the run when it is done, also while a rank computes without a call; nil: no context.
	Context context.Context

	program // what is the same where there is cgo and where there is not
}

// UsualStack is as large as that of a process on Linux usually is. Memory is taken when it is used.
const UsualStack = 8 << 20

// Compute says how much virtual time computing between calls of MPI takes. The zero value is none, so that a run is the
// same every time.
type Compute struct {
	Factor float64 // times the time that it takes here
	Rate   float64 // as many cycles as it takes here, at this number of cycles a second; Main sets Factor to this
}

// Main returns what a rank does, for mpi.Run. Before the run the program is checked: an error says what is wrong with the
// file, or what is missing here. Close is to be called after the run.
func (p *Program) Main() (func(*mpi.Comm) error, error) { return p.main() }

// Close ends the use of the program.
func (p *Program) Close() { p.close() }
