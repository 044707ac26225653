package mpi

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Version returns the version of the standard that this is an implementation of (MPI_Get_version).
func Version() (version, subversion int) { return 1, 2 }

// Initialized reports whether c can be used (MPI_Initialized): from the beginning of a rank's program to its end, as Run does what MPI_Init and MPI_Finalize
// do. A nil c cannot, so that a function may be called with a communicator or without.
func (c *Comm) Initialized() bool { return c != nil && !c.own.ended }

// ProcessorName names the hardware that the rank runs on: the node of an emulated machine, or the host (MPI_Get_processor_name). Ranks that are near each
// other have the same.
func (c *Comm) ProcessorName() string {
	c.e.Enter("ProcessorName")
	return c.e.Port().Node()
}

// Wtick returns the step of the clock that Wtime reads: the timer of an emulated machine, or what was measured of this one's (MPI_Wtick).
func (c *Comm) Wtick() unit.Time { return c.e.Port().Tick() }

// Abort ends the job, all of its ranks, with an *AbortError (MPI_Abort). It does not return.
func (c *Comm) Abort(code int) {
	c.e.Enter("Abort")
	panic(&AbortError{c.e.Port().Rank(), code})
}

// AbortError is what Run returns when a rank has called Abort. Where ranks are processes, the others get its text.
type AbortError struct {
	Rank int // in the job
	Code int // that the program gave
}

// Error names rank and code.
func (e *AbortError) Error() string {
	return fmt.Sprintf("rank %d: Abort: the program ends the job with code %d", e.Rank, e.Code)
}

// Pcontrol tells whoever looks on, through Options.Enter, that the program has come here (MPI_Pcontrol). The library makes nothing of it, as the standard says: a
// profile that wraps the communicator says what levels mean, 0 for off, 1 for on, 2 for what it has so far to be written.
func (c *Comm) Pcontrol(_ int) { c.enter("Pcontrol") }
