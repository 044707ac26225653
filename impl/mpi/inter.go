package mpi

import (
	"encoding/binary"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// inter is what a communicator between two groups has beside one of a group: ranks that are addressed are those of the other one.
type inter struct {
	own  []int // ranks of the job on this side
	mine *Comm // of this side, for what it must agree upon
}

// CreateInter returns a communicator between this group and another. The leaders of the two, of which each says who the other one is in
// a communicator that both are in, exchange who is there. peer and remote count at the leader only (MPI_Intercomm_create).
func (c *Comm) CreateInter(leader int, peer *Comm, remote, tag int) *Comm {
	c.enter("CreateInter")
	c.intra()
	c.checkRank(leader)
	mine := c.dup()
	list := c.list()
	*c.last = c.agree(*c.last + 2)
	text := encode(append([]int{int(*c.last)}, list...))
	var there []byte
	if c.rank == leader {
		there = peer.swap(text, remote, tag)
	}
	other := decode(mine.share(there, leader))
	*c.last = max(*c.last, uint32(other[0])) &^ 1
	if i := slices.IndexFunc(other[1:], func(m int) bool { return slices.Contains(list, m) }); i >= 0 {
		c.e.Fail(engine.ErrComm, "rank %d of the job is in both groups", other[1+i])
	}
	return (&inter{own: list, mine: mine}).between(c, list, other[1:], *c.last)
}

// swap exchanges bytes with a rank, however many they are, within a call.
func (c *Comm) swap(b []byte, with, tag int) []byte {
	c.checkRank(with)
	c.checkTag(tag)
	out := c.e.Isend(model.Standard, b, engine.Signature(Byte.Sign()), c.world(with), c.context, tag)
	st, _ := c.e.Probe(c.world(with), c.context, tag, true)
	theirs := make([]byte, st.Bytes)
	c.e.Recv(theirs, engine.Signature(Byte.Sign()), c.world(with), c.context, tag)
	c.e.Wait(out)
	c.e.Release(out)
	return theirs
}

// share brings bytes of a rank to all, however many they are.
func (c *Comm) share(b []byte, root int) []byte {
	n := []int64{int64(len(b))}
	c.bcast(Of(n), root)
	if c.rank != root {
		b = make([]byte, n[0])
	}
	c.bcast(Of(b), root)
	return b
}

func encode(x []int) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decode(b []byte) []int {
	x := make([]int, len(b)/8)
	for i := range x {
		x[i] = int(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x
}

// between returns a communicator between two groups.
func (x *inter) between(c *Comm, own, other []int, context uint32) *Comm {
	n := &Comm{e: c.e, rank: slices.Index(own, c.e.Port().Rank()), context: context, last: c.last, own: c.own}
	n.address(other)
	n.handle(c.ErrorHandler())
	n.extra().inter = &inter{own: own, mine: x.mine}
	return n
}

// agreeAcross returns a context that no rank of both groups has used: the first ranks exchange what their sides have come to.
func (c *Comm) agreeAcross(between *Comm) uint32 {
	*c.last = c.agree(*c.last + 2)
	mine, theirs := encode([]int{int(*c.last)}), make([]byte, 8)
	if c.rank == 0 {
		r := c.e.Irecv(theirs, 0, between.world(0), between.context+1, AnyTag)
		c.e.Send(model.Standard, mine, 0, between.world(0), between.context+1, 0)
		c.e.Wait(r)
		c.e.Release(r)
	}
	other := decode(c.share(theirs, 0))
	*c.last = max(*c.last, uint32(other[0])) &^ 1
	return *c.last
}

// IsInter reports whether the communicator is between two groups (MPI_Comm_test_inter).
func (c *Comm) IsInter() bool { return c.inter() != nil }

// RemoteSize returns how many ranks the other group has.
func (c *Comm) RemoteSize() int {
	c.enter("RemoteSize")
	c.mustInter()
	return c.size
}

// RemoteGroup returns the other group.
func (c *Comm) RemoteGroup() Group {
	c.enter("RemoteGroup")
	c.mustInter()
	return Group{c.e, c.members}
}

func (c *Comm) mustInter() {
	if c.inter() == nil {
		c.e.Fail(engine.ErrComm, "the communicator is of one group")
	}
}

// Merge makes one group of both. Those that say high come behind the others; where both say the same, the side comes first whose first rank is the
// lower one in the job. All ranks of a side say the same (MPI_Intercomm_merge).
func (c *Comm) Merge(high bool) *Comm {
	c.enter("Merge")
	c.mustInter()
	x := c.inter()
	context := x.mine.agreeAcross(c)
	if other := x.otherHigh(c, high); other != high {
		if high {
			return c.fresh(slices.Concat(c.members, x.own), context)
		}
		return c.fresh(slices.Concat(x.own, c.members), context)
	}
	if x.own[0] < c.members[0] {
		return c.fresh(slices.Concat(x.own, c.members), context)
	}
	return c.fresh(slices.Concat(c.members, x.own), context)
}

// otherHigh returns what the other side says.
func (x *inter) otherHigh(c *Comm, high bool) bool {
	mine, theirs := []byte{0}, []byte{0}
	if high {
		mine[0] = 1
	}
	if c.rank == 0 {
		r := c.e.Irecv(theirs, 0, c.world(0), c.context+1, AnyTag)
		c.e.Send(model.Standard, mine, 0, c.world(0), c.context+1, 0)
		c.e.Wait(r)
		c.e.Release(r)
	}
	return x.mine.share(theirs, 0)[0] == 1
}
