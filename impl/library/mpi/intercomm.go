package mpi

import (
	"encoding/binary"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// interComm has the additional field of an intercommunicator. An intercommunicator addresses ranks
// of the remote group.
type interComm struct{ comm *Comm } // of the local group

// CreateInter returns an intercommunicator between this group and a remote one
// (MPI_Intercomm_create). The leaders of the groups exchange their members. Each leader names the
// other by its rank remote in peer, a communicator that contains both. peer and remote are
// significant at the leaders only.
func (c *Comm) CreateInter(leader int, peer *Comm, remote, tag int) *Comm {
	c.enterCall("CreateInter")
	c.checkIntra()
	c.checkRank(leader)
	mine := c.dupWithContext(c.noteContext(c.allreduceMax(c.unusedContext()))) // separate from the program's communicator
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

// newInterComm returns an intercommunicator whose local group is that of own. other has the ranks
// in the job of the remote group.
func newInterComm(c, own *Comm, other []int, context uint32) *Comm {
	n := &Comm{engine: c.engine, rank: own.rank, context: context, lastContext: c.lastContext, state: c.state, outerBuffers: c.outerBuffers}
	if n.outerBuffers != 0 {
		c.engine.InheritAttachedBuffer(context, n.outerBuffers)
	}
	n.setMembers(other)
	n.setHandler(c.ErrorHandler())
	n.ensureOptional().inter = &interComm{own}
	return n
}

// Merge returns a communicator of both groups of an intercommunicator (MPI_Intercomm_merge). The
// group that passes high comes second. If both pass the same value, the group whose first rank is
// lower in the job comes first. All ranks of a group must pass the same value.
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

// IsInter reports whether the communicator is an intercommunicator (MPI_Comm_test_inter).
func (c *Comm) IsInter() bool { return c.interFields() != nil }

// IsLowerGroup reports whether the first rank of the local group is lower in the job than the first
// rank of the remote group.
func (c *Comm) IsLowerGroup() bool {
	c.enterCall("IsLowerGroup")
	c.checkInter()
	return c.isLowerGroup()
}

func (c *Comm) isLowerGroup() bool { return c.interFields().comm.jobRank(0) < c.members[0] }

// RemoteSize returns the size of the remote group (MPI_Comm_remote_size).
func (c *Comm) RemoteSize() int {
	c.enterCall("RemoteSize")
	c.checkInter()
	return c.size
}

// RemoteGroup returns the remote group (MPI_Comm_remote_group).
func (c *Comm) RemoteGroup() Group {
	c.enterCall("RemoteGroup")
	c.checkInter()
	return Group{c.engine, c.members}
}

func (c *Comm) checkInter() {
	if c.interFields() == nil {
		c.engine.Fail(engine.ErrComm, "the communicator is an intracommunicator, and this call takes an intercommunicator")
	}
}

// interFields returns the fields of an intercommunicator, or nil for an intracommunicator.
func (c *Comm) interFields() *interComm {
	if c.optional == nil {
		return nil
	}
	return c.optional.inter
}

// newContext returns a context that no rank of either group has used. The first ranks of the groups
// exchange their groups' proposals.
func (x *interComm) newContext(c *Comm) uint32 {
	context := x.comm.allreduceMax(c.proposeContext())
	other := decodeInts(x.exchangeAcross(c, encodeInts([]int{int(context)})))
	return c.noteContext(max(context, uint32(other[0])))
}

// exchangeAcross exchanges data between the two groups. The first rank of this group sends mine to
// the first rank of the other, and all ranks get the data of the other group.
func (x *interComm) exchangeAcross(c *Comm, mine []byte) []byte {
	var theirs []byte
	if x.comm.rank == 0 {
		theirs = c.exchangeBytesInContext(c.context+1, mine, 0, 0)
	}
	return x.comm.broadcastBytes(theirs, 0)
}

// exchangeBytes exchanges byte strings of different lengths with another rank, within a call.
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

// broadcastBytes broadcasts a byte string whose length only the root knows.
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
