package mpi

import (
	"slices"
	"weak"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model/collective"
)

// Create returns a communicator of the ranks of a group, in the group's order, or nil on ranks
// outside it. All ranks of c call it with the same group, which must be a subset of c
// (MPI_Comm_create).
//
// On an intercommunicator, all ranks of a local group pass the same subset of that group, and the
// result is an intercommunicator between the two subsets. It is nil on all ranks if one subset is
// empty.
//
// Note: each member keeps a table of all ranks of the job, for the fastest translation of a
// message's sender to its rank. Do not divide jobs of a million ranks into many communicators.
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

// CreateGroup is Create, but only the ranks of the group call it (MPI_Comm_create_group).
// Concurrent calls on one communicator need different tags.
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

// groupContextBit marks contexts of the messages with which CreateGroup agrees on a new context.
const groupContextBit = 1 << 28

// checkGroupWithin fails if g has ranks outside the local group.
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

// Dup returns a communicator of the same ranks with a context of its own (MPI_Comm_dup). Attributes
// and topology are copied.
func (c *Comm) Dup() *Comm {
	c.enterCall("Dup")
	return c.dup()
}

// ReserveNumber returns a number for DupWithNumber that no other call of any rank has returned
// (first part of MPI_Comm_idup).
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

// DupWithNumber is Dup without messages. All ranks, of both groups of an intercommunicator, pass
// the number that one of them has reserved.
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

// dupWithContext returns a duplicate with a given context.
func (c *Comm) dupWithContext(context uint32) *Comm {
	if x := c.interFields(); x != nil {
		return c.copyProperties(newInterComm(c, x.comm, c.members, context))
	}
	return c.copyProperties(c.newComm(c.jobRanks(), context))
}

// copyProperties copies the properties of the communicator to its duplicate n.
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

// Split returns a communicator of the ranks that pass the same colour (MPI_Comm_split). They are
// ordered by key, and ranks with equal keys by their rank in c. A rank that passes Undefined gets
// nil. On an intercommunicator the result connects the ranks of the two groups that pass the same
// colour. It is nil if only one group has such ranks.
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

// gatherSplitArguments returns colour, key and rank in the job of each rank.
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

// ranksWithColour returns the ranks in the job that passed a colour, ordered by key.
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

// selfContext is the context of communicators with a single rank. Other ranks send no messages with
// it.
const selfContext = 1 << 31

// Self returns a communicator of the caller alone (MPI_COMM_SELF). It is created once per rank.
func (c *Comm) Self() *Comm {
	c.enterCall("Self")
	return c.newComm([]int{c.engine.Port().Rank()}, selfContext)
}

// internalContextBit marks contexts of internal messages, which are separate from the program's.
// Contexts of communicators are smaller.
const internalContextBit = 1 << 30

// InternalComm returns a communicator of the same ranks with a separate context, for collective
// operations that are built from messages. Creating it sends no message. It has no attributes and
// no topology, and is not freed.
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

// InternalLocalComm is InternalComm for the local group of an intercommunicator.
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

// Free ends the use of the communicator (MPI_Comm_free): later calls on it are errors. Messages in
// flight still arrive.
//
// Messages that can no longer be received are discarded, and Free fails if there are any. The
// communicator is freed in any case.
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
	c.size = 0          // no rank can be addressed any more
	if unreceived > 0 { // the error handler is kept for this error
		c.engine.Fail(engine.ErrOther, "%d %s not received before the communicator was freed; the first is from %s with tag %d, of %d bytes",
			unreceived, check.Plural(unreceived, "message was", "messages were"), c.state.rankName(first.Source, first.Context), first.Tag, first.Bytes)
	}
	c.setHandler(ErrorsAreFatal)
}

// discardUnreceived discards messages that have arrived without a matching receive. It returns
// their number and the first of them. It keeps messages that their senders may still cancel.
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

// LimitComms makes the creation of a communicator fail while isFull returns true on any rank.
// DupWithNumber is not limited.
func (c *Comm) LimitComms(isFull func() bool) { c.state.isFull = isFull }

// noContext is proposed by a rank that must not create another communicator. It is larger than all
// other proposals.
const noContext = internalContextBit - 2

// proposeContext returns a context that this rank has not used. The largest proposal of all ranks
// is unused on every rank. If several threads agree on contexts concurrently, each reserves its
// proposal.
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

// noteContext records the context on which the ranks have agreed, and returns it.
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

// nextContext returns the context that follows the last agreed one.
func (c *Comm) nextContext(context uint32) uint32 { return c.noteContext(context + 2) }

// newComm returns a communicator of ranks of the job, or nil if this rank is not among them.
func (c *Comm) newComm(members []int, context uint32) *Comm {
	me := slices.Index(members, c.engine.Port().Rank())
	if me < 0 {
		return nil
	}
	n := &Comm{engine: c.engine, rank: me, context: context, lastContext: c.lastContext, state: c.state, outerBuffers: c.outerBuffers}
	n.setMembers(members)
	n.setHandler(c.ErrorHandler())
	if n.outerBuffers != 0 {
		c.engine.InheritAttachedBuffer(context, n.outerBuffers)
	}
	return n
}

// setMembers sets the ranks of the job to which the communicator can send.
func (c *Comm) setMembers(members []int) {
	c.state.noteComm(c)
	c.members, c.size = members, len(members)
	c.rankOfJobRank = slices.Repeat([]int32{-1}, c.engine.Port().Size())
	for i, m := range members {
		c.rankOfJobRank[m] = int32(i)
	}
}

// noteComm records a communicator, to name its ranks in errors.
func (s *rankState) noteComm(c *Comm) {
	if len(s.createdComms) == cap(s.createdComms) { // drop those that are no longer used
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
	nodes      *collective.Nodes  // which ranks share a node; nil: not yet known
}

// ensureOptional returns the optional fields of a communicator, and allocates them if needed.
func (c *Comm) ensureOptional() *optionalFields {
	if c.optional == nil {
		c.optional = &optionalFields{}
	}
	return c.optional
}

// enterCall records a call, and fails if the communicator has been freed.
func (c *Comm) enterCall(call string) {
	c.engine.EnterOn(call, c.context)
	c.checkNotFreed()
}

// checkNotFreed fails if the communicator has been freed.
func (c *Comm) checkNotFreed() {
	if c.optional != nil && c.optional.freed {
		c.engine.Fail(engine.ErrComm, "the communicator was freed")
	}
}

// checkIntra fails on an intercommunicator.
func (c *Comm) checkIntra() {
	if c.interFields() != nil {
		c.engine.Fail(engine.ErrComm, "the communicator is an intercommunicator, and this call takes an intracommunicator: make one by MPI_Intercomm_merge")
	}
}
