package mpi

import (
	"slices"
	"weak"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model/collective"
)

// Create returns a communicator of the ranks of a group, in its order, or nil to a rank that is not
// in it. All ranks of c call it with the same group, which is of ranks of c (MPI_Comm_create).
//
// Note: each member keeps a table of the job's ranks, which is the fastest way from a message's
// sender to its rank. Jobs of a million ranks should not be divided in many ways.
//
// Between two groups, all ranks of a side call it with the same group of ranks of their side. The
// communicator is between the two; where one of them is empty, all get nil.
func (c *Comm) Create(g Group) *Comm {
	c.enterCall("Create")
	c.checkGroupWithin("Create", g)
	x := c.interFields()
	if x == nil {
		return c.newComm(g.members, c.newContext())
	}
	context := x.newContext(c)
	other := decodeInts(x.exchangeAcross(c, encodeInts(g.members)))
	own := x.comm.newComm(g.members, c.nextContext(context))
	if own == nil || len(other) == 0 {
		return nil
	}
	return newInterComm(c, own, other, context)
}

// CreateGroup is Create, called by the ranks of the group alone. Calls at a time on one
// communicator have different tags (MPI_Comm_create_group).
func (c *Comm) CreateGroup(g Group, tag int) *Comm {
	c.enterCall("CreateGroup")
	c.checkIntra()
	if tag < 0 || tag > MaxTag {
		c.engine.Fail(engine.ErrTag, "tag %d: it must be 0 to %d", tag, MaxTag)
	}
	c.checkGroupWithin("CreateGroup", g)
	among := c.newComm(g.members, c.context|groupContextBit)
	if among == nil {
		return nil
	}
	context := c.noteContext(among.allreduceMaxTagged(c.proposeContext(), min(tag, MaxTag-1)+1)) // 0 matches all tags
	delete(c.state.callHistory, among.context)
	return c.newComm(g.members, context)
}

// groupContextBit marks contexts of messages in which groups agree on theirs.
const groupContextBit = 1 << 28

// checkGroupWithin fails for a group that has other ranks than those of this side.
func (c *Comm) checkGroupWithin(call string, g Group) {
	own := c
	if x := c.interFields(); x != nil {
		own = x.comm
	}
	for _, m := range g.checkValid(call).members {
		if own.rankOf(m) < 0 || own.rankOf(m) >= own.size {
			c.engine.Fail(engine.ErrGroup, "rank %d of the job is in the group and not in the communicator", m)
		}
	}
}

// Dup returns a communicator of the same ranks whose messages are its own. Attributes and topology
// are copied (MPI_Comm_dup).
func (c *Comm) Dup() *Comm {
	c.enterCall("Dup")
	return c.dup()
}

// ReserveNumber returns a number for DupWithNumber that no rank has got before (part of
// MPI_Comm_idup).
func (c *Comm) ReserveNumber() uint32 {
	c.enterCall("ReserveNumber")
	return c.reserveNumber()
}

// reserveNumber is ReserveNumber within a call.
func (c *Comm) reserveNumber() uint32 {
	each := uint32(1 << 27 / c.engine.Port().Size())
	if c.state.reservedNumbers == each {
		c.engine.Fail(engine.ErrOther, "the rank has reserved %d numbers for communicators, and there are no more", each)
	}
	c.state.reservedNumbers++
	return uint32(c.engine.Port().Rank())*each + c.state.reservedNumbers - 1
}

// DupWithNumber is Dup without a message: all ranks, of both groups if there are two, give the
// number that one of them has reserved.
func (c *Comm) DupWithNumber(number uint32) *Comm {
	c.enterCall("DupWithNumber")
	return c.dupWithContext(reservedContextBit | number<<1)
}

// reservedContextBit marks contexts of reserved numbers.
const reservedContextBit = 1 << 29

// dup is Dup within a call.
func (c *Comm) dup() *Comm {
	if x := c.interFields(); x != nil {
		return c.dupWithContext(x.newContext(c))
	}
	return c.dupWithContext(c.newContext())
}

// dupWithContext returns a duplicate whose messages have a context.
func (c *Comm) dupWithContext(context uint32) *Comm {
	if x := c.interFields(); x != nil {
		return c.copyProperties(newInterComm(c, x.comm, c.members, context))
	}
	return c.copyProperties(c.newComm(c.jobRanks(), context))
}

// copyProperties copies properties of the communicator to a duplicate.
func (c *Comm) copyProperties(n *Comm) *Comm {
	if c.optional != nil {
		n.ensureOptional().topology = c.optional.topology
		for _, x := range c.optional.attributes {
			if x.key.copy == nil {
				continue
			}
			if v, keep := x.key.copy(c, x.value); keep {
				n.ensureOptional().attributes = append(n.ensureOptional().attributes, attribute{x.key, v})
			}
		}
	}
	return n
}

// Split returns a communicator of the ranks that name the same colour, in the order of their keys,
// of equal ones in that of c. A rank that gives Undefined gets nil (MPI_Comm_split). Between two
// groups the communicators are between those of the two that name the same colour; where all are of
// one group, they get nil.
func (c *Comm) Split(colour, key int) *Comm {
	c.enterCall("Split")
	if colour < 0 && colour != Undefined {
		c.engine.Fail(engine.ErrArg, "colour %d: colours are not negative, or Undefined", colour)
	}
	return c.split(colour, key)
}

// split is Split within a call.
func (c *Comm) split(colour, key int) *Comm {
	x := c.interFields()
	if x == nil {
		context := c.newContext()
		return c.newComm(ranksWithColour(colour, c.gatherSplitArguments(colour, key)), context)
	}
	context := x.newContext(c)
	all := x.comm.gatherSplitArguments(colour, key)
	other := ranksWithColour(colour, decodeInts(x.exchangeAcross(c, encodeInts(all))))
	own := x.comm.newComm(ranksWithColour(colour, all), c.nextContext(context))
	if own == nil || len(other) == 0 {
		return nil
	}
	return newInterComm(c, own, other, context)
}

// gatherSplitArguments returns colour, key and rank in the job of all ranks.
func (c *Comm) gatherSplitArguments(colour, key int) []int {
	all := make([]int64, 3*c.size)
	into := BufferOf(all)
	into.Count = 3
	c.allgather(BufferOf([]int64{int64(colour), int64(key), int64(c.engine.Port().Rank())}), into)
	out := make([]int, len(all))
	for i, x := range all {
		out[i] = int(x)
	}
	return out
}

// ranksWithColour returns the ranks in the job that have chosen a colour, by their keys.
func ranksWithColour(colour int, choices []int) []int {
	if colour == Undefined {
		return nil
	}
	var same [][]int
	for one := range slices.Chunk(choices, 3) {
		if one[0] == colour {
			same = append(same, one)
		}
	}
	slices.SortStableFunc(same, func(a, b []int) int { return a[1] - b[1] })
	out := make([]int, len(same))
	for i, one := range same {
		out[i] = one[2]
	}
	return out
}

// selfContext is the context of communicators of one rank alone. No message of another rank has it.
const selfContext = 1 << 31

// Self returns a communicator of the caller alone (MPI_COMM_SELF). A rank makes one of them.
func (c *Comm) Self() *Comm {
	c.enterCall("Self")
	return c.newComm([]int{c.engine.Port().Rank()}, selfContext)
}

// internalContextBit marks contexts of messages that are apart from the program's. Those of
// communicators are smaller.
const internalContextBit = 1 << 30

// InternalComm returns a communicator of the same ranks whose messages are separate from those of
// c, for collective operations that are built from messages. Creating it needs no message; it has
// no attributes and no topology, and is not freed.
func (c *Comm) InternalComm() *Comm {
	c.enterCall("InternalComm")
	n := *c
	n.context |= internalContextBit
	n.optional = nil
	if h := c.ErrorHandler(); h != n.ErrorHandler() {
		n.setHandler(h)
	}
	return &n
}

// InternalLocalComm is InternalComm for the group that the caller is in, of a communicator between
// two groups.
func (c *Comm) InternalLocalComm() *Comm {
	c.enterCall("InternalLocalComm")
	c.checkInter()
	n := *c.interFields().comm
	n.context = c.context | internalContextBit
	n.optional = nil
	n.setHandler(c.ErrorHandler())
	return &n
}

// Compare compares two communicators of this rank (MPI_Comm_compare).
func (c *Comm) Compare(d *Comm) Comparison {
	c.enterCall("Compare")
	c.engine.SetContext(d.context)
	d.checkNotFreed()
	c.engine.SetContext(c.context)
	switch {
	case c.context == d.context:
		return Identical
	case (c.interFields() == nil) != (d.interFields() == nil):
		return Unequal
	}
	groups := c.group().Compare(d.group())
	if x := c.interFields(); x != nil {
		groups = max(groups, Group{c.engine, c.members}.Compare(Group{d.engine, d.members}))
	}
	if groups == Identical {
		return Congruent
	}
	return groups
}

// Free ends the use of the communicator: a call with it is an error from now on. Messages in flight
// still arrive (MPI_Comm_free).
//
// Messages that were not received, and cannot be any more, are thrown away, which is an error. The
// communicator is freed all the same.
func (c *Comm) Free() {
	c.enterCall("Free")
	unreceived, first := c.discardUnreceived()
	if o := c.state.collectives; o != nil && c.interFields() == nil {
		o.Free(&CollectiveCall{operation: c.newCollectiveOperation(collective.Barrier, 0, Packed)})
	}
	if c.optional != nil {
		for _, x := range slices.Backward(c.optional.attributes) {
			c.callDeleteFunction(x.key, x.value)
		}
	}
	x := c.ensureOptional()
	*x = optionalFields{freed: true}
	c.engine.EndBufferScope(c.context)
	delete(c.state.callHistory, c.context)
	c.size = 0          // so that no rank can be addressed
	if unreceived > 0 { // the error handler stays, for this error
		c.engine.Fail(engine.ErrOther, "%d %s not received before the communicator was freed; the first is from %s with tag %d, of %d bytes",
			unreceived, check.Plural(unreceived, "message was", "messages were"), c.state.rankName(first.Source, first.Context), first.Tag, first.Bytes)
	}
	c.setHandler(ErrorsAreFatal)
}

// discardUnreceived throws away messages that have come without a receive, and returns how many
// there were, and the first. Messages that their senders may yet cancel are left.
func (c *Comm) discardUnreceived() (n int, first *engine.UnexpectedMessage) {
	for {
		m := c.engine.UnexpectedMessage(c.context)
		if m == nil {
			break
		}
		if open := c.engine.CancellableMessage(); open != nil && *open == *m {
			break
		}
		if n++; n == 1 {
			first = m
		}
		c.engine.Recv(make([]byte, m.Bytes), 0, m.Source, c.context, m.Tag)
	}
	return n, first
}

// newContext returns a context that no rank of c has used.
func (c *Comm) newContext() uint32 { return c.noteContext(c.allreduceMax(c.proposeContext())) }

// LimitComms lets no rank create a communicator while isFull says so of one of them. Duplicates of
// DupWithNumber are not looked at.
func (c *Comm) LimitComms(isFull func() bool) { c.state.isFull = isFull }

// noContext is proposed by a rank that may have no further communicator: it is larger than the
// proposals of others.
const noContext = internalContextBit - 2

// proposeContext returns a context that this rank has not used. The largest proposal is one that no
// rank has. Where several threads agree on contexts at a time, a rank reserves what it proposes.
func (c *Comm) proposeContext() uint32 {
	if c.state.isFull != nil && c.state.isFull() {
		return noContext
	}
	return c.unusedContext()
}

// unusedContext returns a context that this rank has not used.
func (c *Comm) unusedContext() uint32 {
	if !c.state.isMultithreaded {
		return *c.lastContext + 2
	}
	first := c.reserveNumber()
	c.reserveNumber() // for nextContext
	return reservedContextBit | first<<1
}

// noteContext notes a context that was agreed on, and returns it.
func (c *Comm) noteContext(context uint32) uint32 {
	context &^= 1
	if context == noContext {
		c.engine.Fail(engine.ErrOther, "a rank holds as many communicators as it may: free those that are not used")
	}
	if context < reservedContextBit {
		*c.lastContext = context
	}
	return context
}

// nextContext returns the context after one that was just agreed on.
func (c *Comm) nextContext(context uint32) uint32 { return c.noteContext(context + 2) }

// newComm returns a communicator of ranks of the job, or nil if this one is not among them.
func (c *Comm) newComm(members []int, context uint32) *Comm {
	me := slices.Index(members, c.engine.Port().Rank())
	if me < 0 {
		return nil
	}
	n := &Comm{engine: c.engine, rank: me, context: context, lastContext: c.lastContext, state: c.state, outerBuffers: c.outerBuffers}
	n.setMembers(members)
	n.setHandler(c.ErrorHandler())
	if n.outerBuffers != 0 {
		c.engine.NestBufferScope(context, n.outerBuffers)
	}
	return n
}

// setMembers lets the communicator send to ranks of the job.
func (c *Comm) setMembers(members []int) {
	c.state.noteComm(c)
	c.members, c.size = members, len(members)
	c.rankOfJobRank = slices.Repeat([]int32{-1}, c.engine.Port().Size())
	for i, m := range members {
		c.rankOfJobRank[m] = int32(i)
	}
}

// noteComm notes a communicator, to name its ranks in errors.
func (s *rankState) noteComm(c *Comm) {
	if len(s.createdComms) == cap(s.createdComms) { // forget those that are not used any more
		s.createdComms = slices.DeleteFunc(s.createdComms, func(p weak.Pointer[Comm]) bool { return p.Value() == nil })
	}
	s.createdComms = append(s.createdComms, weak.Make(c))
}

// optionalFields are fields that few communicators need.
type optionalFields struct {
	freed      bool
	attributes attributeList
	topology   topology
	inter      *interComm
	tuning     *collective.Tuning // nil: the job's
	nodes      *collective.Nodes  // which ranks are near each other; nil: not known yet
}

// ensureOptional returns the optional fields of a communicator, and allocates them if it has none.
func (c *Comm) ensureOptional() *optionalFields {
	if c.optional == nil {
		c.optional = &optionalFields{}
	}
	return c.optional
}

// enterCall notes a call, and fails if the communicator was freed.
func (c *Comm) enterCall(call string) {
	c.engine.EnterOn(call, c.context)
	c.checkNotFreed()
}

// checkNotFreed fails if the communicator was freed.
func (c *Comm) checkNotFreed() {
	if c.optional != nil && c.optional.freed {
		c.engine.Fail(engine.ErrComm, "the communicator was freed")
	}
}

// checkIntra fails for a communicator between two groups, on which the call cannot be made.
func (c *Comm) checkIntra() {
	if c.interFields() != nil {
		c.engine.Fail(engine.ErrComm, "the communicator is between two groups: merge them first")
	}
}
