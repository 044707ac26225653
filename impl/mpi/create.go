package mpi

import (
	"encoding/binary"
	"slices"
	"weak"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Create returns a communicator of the ranks of a group, in its order, or nil to a rank that is not
// in it. All ranks of c call it with the same group, which is of ranks of c (MPI_Comm_create).
//
// Note: each member keeps a table of the job's ranks, which is the fastest way from a message's
// sender to its rank. Jobs of a million ranks should not be divided in many ways.
func (c *Comm) Create(g Group) *Comm {
	c.enter("Create")
	c.checkIntra()
	for _, m := range g.valid("Create").members {
		if c.rankOf(m) < 0 || c.rankOf(m) >= c.size {
			c.e.Fail(engine.ErrGroup, "rank %d of the job is in the group and not in the communicator", m)
		}
	}
	return c.newComm(g.members, c.newContext())
}

// Dup returns a communicator of the same ranks whose messages are its own. Attributes and topology
// are copied (MPI_Comm_dup).
func (c *Comm) Dup() *Comm {
	c.enter("Dup")
	return c.dup()
}

// dup is Dup within a call.
func (c *Comm) dup() *Comm {
	var n *Comm
	if x := c.inter(); x != nil {
		n = x.newInter(c, x.local, c.members, x.comm.newContextAcross(c))
	} else {
		n = c.newComm(c.jobRanks(), c.newContext())
	}
	if c.extras != nil {
		n.extra().topology = c.extras.topology
		for _, x := range c.extras.attributes {
			if x.key.copy == nil {
				continue
			}
			if v, keep := x.key.copy(c, x.value); keep {
				n.extra().attributes = append(n.extra().attributes, attribute{x.key, v})
			}
		}
	}
	return n
}

// Split returns a communicator of the ranks that name the same colour, in the order of their keys,
// of equal ones in that of c. A rank that gives Undefined gets nil (MPI_Comm_split).
func (c *Comm) Split(colour, key int) *Comm {
	c.enter("Split")
	c.checkIntra()
	if colour < 0 && colour != Undefined {
		c.e.Fail(engine.ErrArg, "colour %d: colours are not negative, or Undefined", colour)
	}
	return c.split(colour, key)
}

// split is Split within a call.
func (c *Comm) split(colour, key int) *Comm {
	context := c.newContext()
	all := make([]int64, 2*c.size)
	mine := Of([]int64{int64(colour), int64(key)})
	into := Of(all)
	into.Count = 2
	c.allgather(mine, into)
	if colour == Undefined {
		return nil
	}
	var same []int
	for r := range c.size {
		if all[2*r] == int64(colour) {
			same = append(same, r)
		}
	}
	slices.SortStableFunc(same, func(a, b int) int { return int(all[2*a+1] - all[2*b+1]) })
	for i, r := range same {
		same[i] = c.world(r)
	}
	return c.newComm(same, context)
}

// selfContext is the context of communicators of one rank alone. No message of another rank has it.
const selfContext = 1 << 31

// Self returns a communicator of the caller alone (MPI_COMM_SELF). A rank makes one of them.
func (c *Comm) Self() *Comm {
	c.enter("Self")
	return c.newComm([]int{c.e.Port().Rank()}, selfContext)
}

// asideBit marks contexts of messages that are apart from the program's. Those of communicators are smaller.
const asideBit = 1 << 30

// Aside returns a communicator of the same ranks, whose messages are apart from those of c, for collective operations that
// are made of messages. It needs no message, and has no attributes and no topology. It is not freed.
func (c *Comm) Aside() *Comm {
	c.enter("Aside")
	n := *c
	n.context |= asideBit
	n.extras = nil
	if h := c.ErrorHandler(); h != n.ErrorHandler() {
		n.setHandler(h)
	}
	return &n
}

// Compare compares two communicators of this rank (MPI_Comm_compare).
func (c *Comm) Compare(d *Comm) Comparison {
	c.enter("Compare")
	c.e.SetContext(d.context)
	d.checkNotFreed()
	c.e.SetContext(c.context)
	switch {
	case c.context == d.context:
		return Identical
	case (c.inter() == nil) != (d.inter() == nil):
		return Unequal
	}
	groups := c.group().Compare(d.group())
	if x := c.inter(); x != nil {
		groups = max(groups, Group{c.e, c.members}.Compare(Group{d.e, d.members}))
	}
	if groups == Identical {
		return Congruent
	}
	return groups
}

// Free ends the use of the communicator: a call with it is an error from now on. Messages that are
// under way arrive (MPI_Comm_free).
func (c *Comm) Free() {
	c.enter("Free")
	if o := c.state.own; o != nil && c.inter() == nil {
		o.Free(&Call{r: c.round(collective.Barrier, 0, Packed)})
	}
	if c.extras != nil {
		for _, x := range slices.Backward(c.extras.attributes) {
			c.callDelete(x.key, x.value)
		}
	}
	x := c.extra()
	*x = extras{freed: true}
	c.setHandler(ErrorsAreFatal)
	delete(c.state.calls, c.context)
	c.size = 0 // so that no rank can be addressed
}

// newContext returns a context that no rank of c has used.
func (c *Comm) newContext() uint32 {
	*c.last = c.allreduceMax(*c.last+2) &^ 1
	return *c.last
}

// newComm returns a communicator of ranks of the job, or nil if this one is not among them.
func (c *Comm) newComm(members []int, context uint32) *Comm {
	me := slices.Index(members, c.e.Port().Rank())
	if me < 0 {
		return nil
	}
	n := &Comm{e: c.e, rank: me, context: context, last: c.last, state: c.state}
	n.setMembers(members)
	n.setHandler(c.ErrorHandler())
	return n
}

// setMembers lets the communicator send to ranks of the job.
func (c *Comm) setMembers(members []int) {
	s := c.state
	if len(s.comms) == cap(s.comms) { // forget those that are not used any more
		s.comms = slices.DeleteFunc(s.comms, func(p weak.Pointer[Comm]) bool { return p.Value() == nil })
	}
	s.comms = append(s.comms, weak.Make(c))
	c.members, c.size = members, len(members)
	c.ranks = slices.Repeat([]int32{-1}, c.e.Port().Size())
	for i, m := range members {
		c.ranks[m] = int32(i)
	}
}

// extras are what few communicators have.
type extras struct {
	freed      bool
	attributes attributes
	topology   topology
	inter      *inter
	tuning     *collective.Tuning // nil: the job's
	nodes      *collective.Nodes  // which ranks are near each other; nil: not known yet
}

// extra returns the extras of a communicator, and makes them if there are none.
func (c *Comm) extra() *extras {
	if c.extras == nil {
		c.extras = &extras{}
	}
	return c.extras
}

// inter returns what a communicator between two groups has, or nil.
func (c *Comm) inter() *inter {
	if c.extras == nil {
		return nil
	}
	return c.extras.inter
}

// enter notes a call, and fails if the communicator was freed.
func (c *Comm) enter(call string) {
	c.e.EnterOn(call, c.context)
	c.checkNotFreed()
}

// checkNotFreed fails if the communicator was freed.
func (c *Comm) checkNotFreed() {
	if c.extras != nil && c.extras.freed {
		c.e.Fail(engine.ErrComm, "the communicator was freed")
	}
}

// checkIntra fails for a communicator between two groups, on which the call cannot be made.
func (c *Comm) checkIntra() {
	if c.inter() != nil {
		c.e.Fail(engine.ErrComm, "the communicator is between two groups: merge them first")
	}
}

// inter is what only a communicator between two groups has. It addresses ranks of the other group.
type inter struct {
	local []int // ranks of the job in this group
	comm  *Comm // of this group, to agree on contexts
}

// CreateInter returns a communicator between this group and another. The leaders of the two, of
// which each says who the other one is in a communicator that both are in, exchange who is there.
// peer and remote count at the leader only (MPI_Intercomm_create).
func (c *Comm) CreateInter(leader int, peer *Comm, remote, tag int) *Comm {
	c.enter("CreateInter")
	c.checkIntra()
	c.checkRank(leader)
	mine := c.dup()
	list := c.jobRanks()
	*c.last = c.allreduceMax(*c.last + 2)
	text := encode(append([]int{int(*c.last)}, list...))
	var there []byte
	if c.rank == leader {
		there = peer.exchange(text, remote, tag)
	}
	other := decode(mine.broadcast(there, leader))
	*c.last = max(*c.last, uint32(other[0])) &^ 1
	if i := slices.IndexFunc(other[1:], func(m int) bool { return slices.Contains(list, m) }); i >= 0 {
		c.e.Fail(engine.ErrComm, "rank %d of the job is in both groups", other[1+i])
	}
	return (&inter{local: list, comm: mine}).newInter(c, list, other[1:], *c.last)
}

// exchange exchanges byte strings of any lengths with a rank, within a call.
func (c *Comm) exchange(b []byte, with, tag int) []byte {
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

// broadcast sends a byte string of any length from a rank to all.
func (c *Comm) broadcast(b []byte, root int) []byte {
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

// newInter returns a communicator between two groups.
func (x *inter) newInter(c *Comm, own, other []int, context uint32) *Comm {
	n := &Comm{e: c.e, rank: slices.Index(own, c.e.Port().Rank()), context: context, last: c.last, state: c.state}
	n.setMembers(other)
	n.setHandler(c.ErrorHandler())
	n.extra().inter = &inter{local: own, comm: x.comm}
	return n
}

// newContextAcross returns a context that no rank of either group has used: the first ranks of the
// groups exchange the next free ones.
func (c *Comm) newContextAcross(between *Comm) uint32 {
	*c.last = c.allreduceMax(*c.last + 2)
	mine, theirs := encode([]int{int(*c.last)}), make([]byte, 8)
	if c.rank == 0 {
		r := c.e.Irecv(theirs, 0, between.world(0), between.context+1, AnyTag)
		c.e.Send(model.Standard, mine, 0, between.world(0), between.context+1, 0)
		c.e.Wait(r)
		c.e.Release(r)
	}
	other := decode(c.broadcast(theirs, 0))
	*c.last = max(*c.last, uint32(other[0])) &^ 1
	return *c.last
}

// IsInter reports whether the communicator is between two groups (MPI_Comm_test_inter).
func (c *Comm) IsInter() bool { return c.inter() != nil }

// RemoteSize returns how many ranks the other group has.
func (c *Comm) RemoteSize() int {
	c.enter("RemoteSize")
	c.checkInter()
	return c.size
}

// RemoteGroup returns the other group.
func (c *Comm) RemoteGroup() Group {
	c.enter("RemoteGroup")
	c.checkInter()
	return Group{c.e, c.members}
}

func (c *Comm) checkInter() {
	if c.inter() == nil {
		c.e.Fail(engine.ErrComm, "the communicator is of one group")
	}
}

// Merge makes one group of both. Those that say high come behind the others; where both say the
// same, the side comes first whose first rank is the lower one in the job. All ranks of a side say
// the same (MPI_Intercomm_merge).
func (c *Comm) Merge(high bool) *Comm {
	c.enter("Merge")
	c.checkInter()
	x := c.inter()
	context := x.comm.newContextAcross(c)
	if other := x.otherHigh(c, high); other != high {
		if high {
			return c.newComm(slices.Concat(c.members, x.local), context)
		}
		return c.newComm(slices.Concat(x.local, c.members), context)
	}
	if x.local[0] < c.members[0] {
		return c.newComm(slices.Concat(x.local, c.members), context)
	}
	return c.newComm(slices.Concat(c.members, x.local), context)
}

// otherHigh returns what the other group says.
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
	return x.comm.broadcast(theirs, 0)[0] == 1
}
