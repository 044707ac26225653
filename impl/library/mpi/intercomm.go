package mpi

import (
	"encoding/binary"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// interComm has the fields of communicators between two groups. Such a communicator addresses ranks
// of the other group.
type interComm struct{ comm *Comm } // of this group

// CreateInter returns a communicator between this group and another. The leaders of the two groups
// exchange the members. Each leader names the other one by its rank remote in peer, a communicator
// that contains both. peer and remote are significant at the leaders only (MPI_Intercomm_create).
func (c *Comm) CreateInter(leader int, peer *Comm, remote, tag int) *Comm {
	c.enterCall("CreateInter")
	c.checkIntra()
	c.checkRank(leader)
	mine := c.dupWithContext(c.noteContext(c.allreduceMax(c.unusedContext()))) // is not the program's
	list := c.jobRanks()
	context := c.allreduceMax(c.proposeContext())
	text := encodeInts(append([]int{int(context)}, list...))
	var there []byte
	if c.rank == leader {
		there = peer.exchangeBytes(text, remote, tag)
	}
	other := decodeInts(mine.broadcastBytes(there, leader))
	context = c.noteContext(max(context, uint32(other[0])))
	if i := slices.IndexFunc(other[1:], func(m int) bool { return slices.Contains(list, m) }); i >= 0 {
		c.engine.Fail(engine.ErrComm, "rank %d of the job is in both groups", other[1+i])
	}
	return newInterComm(c, mine, other[1:], context)
}

// newInterComm returns a communicator between two groups: that of the communicator own, and other
// ranks of the job.
func newInterComm(c, own *Comm, other []int, context uint32) *Comm {
	n := &Comm{engine: c.engine, rank: own.rank, context: context, lastContext: c.lastContext, state: c.state, outerBuffers: c.outerBuffers}
	if n.outerBuffers != 0 {
		c.engine.NestBufferScope(context, n.outerBuffers)
	}
	n.setMembers(other)
	n.setHandler(c.ErrorHandler())
	n.ensureOptional().inter = &interComm{own}
	return n
}

// Merge merges both groups into one. The group that passes high is ordered after the other; if both
// pass the same value, the group whose first rank is lower in the job is first. All ranks of a
// group pass the same value (MPI_Intercomm_merge).
func (c *Comm) Merge(high bool) *Comm {
	c.enterCall("Merge")
	c.checkInter()
	x := c.interFields()
	context := x.newContext(c)
	mine := []byte{0}
	if high {
		mine[0] = 1
	}
	local, first := x.comm.jobRanks(), high
	if other := x.exchangeAcross(c, mine)[0] == 1; other == high {
		first = !c.isLowerGroup()
	}
	if first {
		return c.newComm(slices.Concat(c.members, local), context)
	}
	return c.newComm(slices.Concat(local, c.members), context)
}

// IsInter reports whether the communicator is between two groups (MPI_Comm_test_inter).
func (c *Comm) IsInter() bool { return c.interFields() != nil }

// IsLowerGroup reports whether the first rank of the caller's group is before that of the other one
// in the job.
func (c *Comm) IsLowerGroup() bool {
	c.enterCall("IsLowerGroup")
	c.checkInter()
	return c.isLowerGroup()
}

func (c *Comm) isLowerGroup() bool { return c.interFields().comm.jobRank(0) < c.members[0] }

// RemoteSize returns how many ranks the other group has.
func (c *Comm) RemoteSize() int {
	c.enterCall("RemoteSize")
	c.checkInter()
	return c.size
}

// RemoteGroup returns the other group.
func (c *Comm) RemoteGroup() Group {
	c.enterCall("RemoteGroup")
	c.checkInter()
	return Group{c.engine, c.members}
}

func (c *Comm) checkInter() {
	if c.interFields() == nil {
		c.engine.Fail(engine.ErrComm, "the communicator is of one group")
	}
}

// interFields returns the fields of a communicator between two groups, or nil.
func (c *Comm) interFields() *interComm {
	if c.optional == nil {
		return nil
	}
	return c.optional.inter
}

// newContext returns a context that no rank of either group has used: the first ranks of the groups
// exchange the next free ones.
func (x *interComm) newContext(c *Comm) uint32 {
	context := x.comm.allreduceMax(c.proposeContext())
	other := decodeInts(x.exchangeAcross(c, encodeInts([]int{int(context)})))
	return c.noteContext(max(context, uint32(other[0])))
}

// exchangeAcross exchanges data between the first ranks of the two groups: that of this group gives
// mine, and across returns the other's.
func (x *interComm) exchangeAcross(c *Comm, mine []byte) []byte {
	var theirs []byte
	if x.comm.rank == 0 {
		theirs = c.exchangeBytesInContext(c.context+1, mine, 0, 0)
	}
	return x.comm.broadcastBytes(theirs, 0)
}

// exchangeBytes exchanges byte strings of any lengths with a rank, within a call.
func (c *Comm) exchangeBytes(b []byte, with, tag int) []byte {
	c.checkRank(with)
	c.checkTag(tag)
	return c.exchangeBytesInContext(c.context, b, with, tag)
}

func (c *Comm) exchangeBytesInContext(context uint32, b []byte, with, tag int) []byte {
	out := c.engine.Isend(model.StandardMode, b, engine.Signature(Byte.KindSign()), c.jobRank(with), context, tag)
	st, _ := c.engine.Probe(c.jobRank(with), context, tag, true)
	theirs := make([]byte, st.Bytes)
	if got := c.engine.Recv(theirs, engine.Signature(Byte.KindSign()), c.jobRank(with), context, tag); got.Err != nil {
		panic(got.Err)
	}
	c.engine.Wait(out)
	c.engine.Release(out)
	return theirs
}

// broadcastBytes sends a byte string of any length from a rank to all.
func (c *Comm) broadcastBytes(b []byte, root int) []byte {
	n := []int64{int64(len(b))}
	c.bcast(BufferOf(n), root)
	if c.rank != root {
		b = make([]byte, n[0])
	}
	c.bcast(BufferOf(b), root)
	return b
}

func encodeInts(x []int) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decodeInts(b []byte) []int {
	x := make([]int, len(b)/8)
	for i := range x {
		x[i] = int(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x
}
