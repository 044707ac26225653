// Package mpi is the message-passing interface that programs see: communicators, sends in four modes, receives, requests, probes
// and barriers, with the semantics of MPI.
//
// A program is a function that every rank of a job runs with its own Comm. Communication does not return errors: a failure ends
// the rank, and Run returns it, with the MPI error class, the rank and the call.
package mpi

import (
	"encoding/binary"
	"slices"

	"github.com/loggp/loggp/impl/proto"
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
	e       *proto.Engine
	rank    int
	size    int
	context uint32  // of what the program sends; the one above it is for collective operations
	members []int   // ranks of the job; nil: the same
	ranks   []int32 // by rank of the job, the rank here, or −1; nil: the same
	last    *uint32 // the highest context that this rank has used
}

// Rank returns the rank of the caller, from 0 to Size()−1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.size }

// Wtime returns the time of this rank's clock. On an emulated machine all clocks show the same.
func (c *Comm) Wtime() unit.Time { return c.e.Port().Now() }

// Compute keeps the processor busy for d. Transfers go on meanwhile.
func (c *Comm) Compute(d unit.Time) { c.e.Port().Delay(d) }

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

// Create returns a communicator of some ranks of c, in the order given, or nil to a rank that is not among them. All ranks
// of c call it with the same list.
//
// Note: each member keeps a table of the job's ranks, which is the fastest way from a message's sender to its rank. Jobs of a million
// ranks should not be divided in many ways.
func (c *Comm) Create(ranks []int) *Comm {
	c.e.Enter("Create")
	seen := make(map[int]bool, len(ranks))
	for _, r := range ranks {
		c.checkRank(r)
		if seen[r] {
			c.e.Fail(proto.ErrRank, "rank %d is named twice", r)
		}
		seen[r] = true
	}
	*c.last = c.agree(*c.last+2) &^ 1
	n := &Comm{e: c.e, rank: slices.Index(ranks, c.rank), size: len(ranks), context: *c.last, last: c.last}
	if n.rank < 0 {
		return nil
	}
	n.members = make([]int, len(ranks))
	n.ranks = slices.Repeat([]int32{-1}, c.e.Port().Size())
	for i, r := range ranks {
		n.members[i] = c.world(r)
		n.ranks[n.members[i]] = int32(i)
	}
	return n
}

// agree returns the largest of the values that the ranks give.
func (c *Comm) agree(v uint32) uint32 {
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
	if r < 0 || r >= c.size {
		c.e.Fail(proto.ErrRank, "rank %d is not in a communicator of %d", r, c.size)
	}
}

func (c *Comm) checkTag(tag int) {
	if tag < 0 || tag > MaxTag {
		c.e.Fail(proto.ErrTag, "tag %d: tags are from 0 to %d", tag, MaxTag)
	}
}

// MaxTag is the largest tag (MPI_TAG_UB).
const MaxTag = 1<<31 - 1
