// Package mpi is the message-passing interface that programs see: communicators, sends in four modes, receives, requests, probes
// and barriers, with the semantics of MPI.
//
// A program is a function that every rank of a job runs with its own Comm. Communication does not return errors: a failure ends
// the rank, and Run returns it, with the MPI error class, the rank and the call.
package mpi

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/unit"
)

// Wildcards of receives and probes, and the rank to which sending is nothing.
const (
	AnySource = -1
	AnyTag    = -1
	ProcNull  = -2
)

// Comm is a communicator: ranks that talk among themselves. It belongs to one rank of the job.
type Comm struct {
	e       *engine.Rank
	rank    int
	size    int     // of those that can be addressed
	context uint32  // of what the program sends; the one above it is for collective operations
	members []int   // ranks of the job; nil: the same
	ranks   []int32 // by rank of the job, the rank here, or −1; nil: the same
	last    *uint32 // the highest context that this rank has used
	own     *own    // what the rank has beside its engine
	more    *more   // what few communicators have; nil: nothing
}

// Rank returns the rank of the caller, from 0 to Size()−1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks; of a communicator between two groups, of those on this side.
func (c *Comm) Size() int {
	if x := c.inter(); x != nil {
		return len(x.own)
	}
	return c.size
}

// Wtime returns the time of this rank's clock. On an emulated machine all clocks show the same.
func (c *Comm) Wtime() unit.Time {
	c.e.CheckGoroutine("Wtime")
	return c.e.Port().Now()
}

// Compute keeps the processor busy for d. Transfers go on meanwhile.
func (c *Comm) Compute(d unit.Time) {
	c.e.CheckGoroutine("Compute")
	c.e.Port().Delay(d)
}

// world returns the rank in the job.
func (c *Comm) world(rank int) int {
	if c.members == nil || rank < 0 {
		return rank
	}
	return c.members[rank]
}

// local returns the rank here of a rank of the job.
func (c *Comm) local(world int) int {
	if c.ranks == nil || world < 0 {
		return world
	}
	return int(c.ranks[world])
}

// agree returns the largest of the values that the ranks give.
func (c *Comm) agree(v uint32) uint32 {
	c.together(0)
	var mine, theirs [4]byte
	binary.LittleEndian.PutUint32(mine[:], v)
	c.converge(mine[:], theirs[:], func() {
		if binary.LittleEndian.Uint32(theirs[:]) > binary.LittleEndian.Uint32(mine[:]) {
			mine = theirs
		}
	})
	return binary.LittleEndian.Uint32(mine[:])
}

func (c *Comm) checkRank(r int) {
	if uint(r) >= uint(c.size) {
		c.noRank(r)
	}
}

// noRank and noTag fail. They are apart so that the checks are inlined.
func (c *Comm) noRank(r int) {
	c.alive()
	c.e.Fail(engine.ErrRank, "rank %d is not in a communicator of %d", r, c.size)
}

func (c *Comm) noTag(tag int) {
	c.e.Fail(engine.ErrTag, "tag %d: tags are from 0 to %d", tag, MaxTag)
}

func (c *Comm) checkTag(tag int) {
	if uint(tag) > MaxTag {
		c.noTag(tag)
	}
}

// MaxTag is the largest tag (MPI_TAG_UB).
const MaxTag = 1<<31 - 1
