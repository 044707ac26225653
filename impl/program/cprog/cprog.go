// Package cprog runs C and Fortran programs that call MPI on the worlds of this module, by package
// mpi.
//
// Package toolchain compiles a program as a shared object. Each rank has a private copy (template),
// so that its global variables are private, and runs it on a stack of its own, both in memory that
// is reserved for all ranks at once (arena):
//
//	program in C → stub in the program → loggp_swap → rank.runCurrentThread (Go) → handler → mpi
//
// A stub stores the number and the arguments of its function and switches to the stack of the
// thread that has resumed the program. That thread is in loggp_resume, called from Go, which now
// returns. So a function of MPI costs one call from Go to C and none from C to Go. The handler
// carries out the function by package mpi. It runs in the rank's goroutine and may block there. If
// a function calls back into the program, as user-defined operations, error handlers and attribute
// copy functions do, the rank is resumed with the callback, which runs on the program's stack and
// may call MPI.
//
// A handler has the name of its function without the prefix: cartCreate carries out
// MPI_Cart_create, pvarRead MPI_T_pvar_read. A name that begins with i, as ibcast, starts the
// operation for its non-blocking, persistent and intercommunicator forms; a name that ends with
// Handler returns a handler. Arguments are words. Methods of rank convert them: rank.comm and
// rank.datatype return the object of a handle, rank.buffer the memory at an address, and storeAt
// stores a result.
//
// Buffers are used in place. rank.serveCall catches the errors of the library and hands them to the
// communicator's error handler.
//
// Ranks share the heap, the current directory, environment variables, open files and the locale.
// toolchain/c/runtime.c has the parts of the C library that are private to a rank.
package cprog

import (
	"context"
	"io"
	"time"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Program is a compiled C program and how it is to run. It is for one run.
type Program struct {
	Path      string
	Arguments []string // without the name of the program

	StackBytes int     // bytes of a rank's stack; 0: DefaultStackBytes
	Compute    Compute // the virtual time of computing between calls

	// RanksAreProcesses says that the ranks are processes of this machine, where sleeping takes
	// real time.
	RanksAreProcesses bool

	Stdout, Stderr io.Writer
	TagOutput      bool // begin each line of output with the rank

	// StallLimit ends the run with an error if a rank computes for longer without a call, or if
	// ranks do nothing for longer but look whether something has happened, or read clocks; 0: no
	// limit.
	StallLimit time.Duration

	// Context ends the run when it is done, also while a rank computes without a call; nil: no
	// context.
	Context context.Context

	// AvailableMemory returns how much memory this process may still use, or -1; nil: it is not
	// known, and what ranks and messages take is not compared with it.
	AvailableMemory func() int64

	program // fields that need cgo
}

// DefaultStackBytes is the default stack size of Linux. Memory is allocated when it is used.
const DefaultStackBytes = 8 << 20

// Compute says how much virtual time computing between calls of MPI takes. The zero value is none,
// so that a run is the same every time.
type Compute struct {
	Factor float64 // times the time that it takes here
	Rate   float64 // as many cycles as it takes here, at this number of cycles a second; Main sets Factor to this
}

// IsMeasured reports whether computing takes a time that is measured here.
func (c Compute) IsMeasured() bool { return c.Factor > 0 || c.Rate > 0 }

// Main returns the function that mpi.Run calls for each rank. It checks the file first: an error
// says what is wrong with it, or what this loggp lacks. Call Close after the run.
func (p *Program) Main() (func(*mpi.Comm) error, error) { return p.main() }

// ReserveRanks reserves the memory of emulated ranks before the run, which else begins with it. It
// is an error if there is less than they need.
func (p *Program) ReserveRanks(ranks int) error { return p.reserveRanks(ranks) }

// InterruptedShare returns which part of the time of measured computing other work had the
// processor of a rank. It is not charged, but caches and clock rates suffer.
func (p *Program) InterruptedShare() float64 { return p.interruptedShare() }

// ExitError returns the error of the first rank whose program has ended with a status other than 0
// after MPI_Finalize, when the run has ended well: such a rank lets the others go on. Where ranks
// are processes the process of rank 0 knows it.
func (p *Program) ExitError() error { return p.exitError() }

// Close releases what Main has set up.
func (p *Program) Close() { p.close() }
