// Package cprog runs C and Fortran programs that call MPI on the worlds of this module, by package
// mpi. The main type is Program: Main returns the function that mpi.Run executes for each rank.
//
// Package toolchain compiles a program to a shared object. Each rank has a private copy of it
// (template), hence its own global variables, and its own stack, both in memory reserved for all
// ranks at once (arena). It also has copies of shared libraries that call MPI (libraries). Heap,
// environment, open files and locale are shared.
//
//	program in C → stub → loggp_swap → rank.runCurrentThread (Go) → serveCall → handler → mpi
//
// A stub stores number and arguments of its function and switches from the program's stack to that
// of the thread in loggp_resume, which returns to Go. A call thus costs one call from Go to C and
// none from C to Go. The handler runs in the rank's goroutine and may block. For callbacks of the
// program, such as user-defined operations, the rank is resumed with the callback.
//
// Handler cartCreate carries out MPI_Cart_create. Names with prefix i start nonblocking operations;
// functions with suffix Handler return handlers. rank.comm and rank.buffer convert arguments,
// storeAt stores results.
package cprog

import (
	"context"
	"io"
	"time"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Program is a compiled program with the options of one run. toolchain/c/runtime.c has the parts of
// the C library that each rank has for itself.
type Program struct {
	Path      string
	Arguments []string // without the program's name

	StackBytes int     // stack size of a rank; 0: DefaultStackBytes
	Compute    Compute // virtual time of computing between calls

	// SizeOnlyMessages says that the data of sends, receives and collective operations is
	// size-only (device.SizeOnly). One-sided communication, files and what a rank does
	// alone have their data.
	SizeOnlyMessages bool

	// RanksAreProcesses says that the ranks are processes of this computer, where sleeping takes
	// real time.
	RanksAreProcesses bool

	Stdout, Stderr io.Writer
	TagOutput      bool // start each line of output with the rank

	// StallLimit ends the run with an error if a rank computes for longer than this real time
	// without a call, or if all ranks only poll or read clocks for longer; 0: no limit.
	StallLimit time.Duration

	// Context ends the run when it is done, even if a rank computes without making calls; nil: no
	// context.
	Context context.Context

	// AvailableMemory returns the number of bytes that this process may still allocate, or -1 if
	// unknown; nil: memory of ranks and messages is not checked.
	AvailableMemory func() int64

	program // fields that need cgo
}

// DefaultStackBytes is the default stack size of Linux. Pages are allocated at first use.
const DefaultStackBytes = 8 << 20

// Compute says how much virtual time computing between MPI calls takes. The zero value is no time,
// which makes runs reproducible.
type Compute struct {
	Factor float64 // virtual time per processor time on this computer
	Rate   float64 // emulated clock rate in Hz, at which the program takes as many cycles as here; Main sets Factor from it
}

// IsMeasured reports whether virtual time depends on measured computing time.
func (c Compute) IsMeasured() bool { return c.Factor > 0 || c.Rate > 0 }

// Main returns the function that mpi.Run calls for each rank. It checks the program's file first:
// the error says what is wrong with the file, or what this loggp lacks. Call Close after the run.
func (p *Program) Main() (func(*mpi.Comm) error, error) { return p.main() }

// ReserveRanks reserves the memory of emulated ranks before the run. Otherwise the run does so at
// its start. It fails if there is less memory than the ranks need.
func (p *Program) ReserveRanks(ranks int) error { return p.reserveRanks(ranks) }

// InterruptedShare returns the share, from 0 to 1, of measured computing time in which other work
// used the rank's processor. This time is not charged, but caches and clock rates may have
// suffered.
func (p *Program) InterruptedShare() float64 { return p.interruptedShare() }

// ExitError returns the error of the first rank whose program exited with a nonzero status after
// MPI_Finalize, if the run ended without another error. Such a rank does not stop the others. If
// ranks are processes, only the process of rank 0 has the error.
func (p *Program) ExitError() error { return p.exitError() }

// Close releases the resources of Main.
func (p *Program) Close() { p.close() }
