package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// Create returns a communicator of the ranks of a group, in its order, or nil to a rank that is not in it. All ranks of c call it with the same
// group, which is of ranks of c (MPI_Comm_create).
//
// Note: each member keeps a table of the job's ranks, which is the fastest way from a message's sender to its rank. Jobs of a million
// ranks should not be divided in many ways.
func (c *Comm) Create(g Group) *Comm {
	c.enter("Create")
	c.intra()
	for _, m := range g.real("Create").members {
		if c.local(m) < 0 || c.local(m) >= c.size {
			c.e.Fail(engine.ErrGroup, "rank %d of the job is in the group and not in the communicator", m)
		}
	}
	return c.fresh(g.members, c.newContext())
}

// Dup returns a communicator of the same ranks whose messages are its own. Attributes and topology are copied (MPI_Comm_dup).
func (c *Comm) Dup() *Comm {
	c.enter("Dup")
	return c.dup()
}

// dup is Dup within a call.
func (c *Comm) dup() *Comm {
	var n *Comm
	if x := c.inter(); x != nil {
		n = x.between(c, x.own, c.members, x.mine.agreeAcross(c))
	} else {
		n = c.fresh(c.list(), c.newContext())
	}
	if c.more != nil {
		n.extra().topology = c.more.topology
		c.more.attributes.copyTo(c, n)
	}
	return n
}

// Split returns a communicator of the ranks that name the same colour, in the order of their keys, of equal ones in that of c. Who names Undefined
// gets nil (MPI_Comm_split).
func (c *Comm) Split(colour, key int) *Comm {
	c.enter("Split")
	c.intra()
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
	return c.fresh(same, context)
}

// Compare compares two communicators of this rank (MPI_Comm_compare).
func (c *Comm) Compare(d *Comm) Comparison {
	c.enter("Compare")
	c.e.SetContext(d.context)
	d.alive()
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

// Free ends the use of the communicator: a call with it is an error from now on. Messages that are under way arrive (MPI_Comm_free).
func (c *Comm) Free() {
	c.enter("Free")
	if c.more != nil {
		c.more.attributes.deleteAll(c)
	}
	x := c.extra()
	*x = more{freed: true}
	c.handle(ErrorsAreFatal)
	delete(c.own.calls, c.context)
	c.size = 0 // so that nobody can be addressed
}

// newContext returns a context that no rank of c has used.
func (c *Comm) newContext() uint32 {
	*c.last = c.agree(*c.last+2) &^ 1
	return *c.last
}

// fresh returns a communicator of ranks of the job, or nil if this one is not among them.
func (c *Comm) fresh(members []int, context uint32) *Comm {
	me := slices.Index(members, c.e.Port().Rank())
	if me < 0 {
		return nil
	}
	n := &Comm{e: c.e, rank: me, context: context, last: c.last, own: c.own}
	n.address(members)
	n.handle(c.ErrorHandler())
	return n
}

// address lets the communicator send to ranks of the job.
func (c *Comm) address(members []int) {
	c.own.made(c)
	c.members, c.size = members, len(members)
	c.ranks = slices.Repeat([]int32{-1}, c.e.Port().Size())
	for i, m := range members {
		c.ranks[m] = int32(i)
	}
}

// more is what few communicators have.
type more struct {
	freed      bool
	attributes attributes
	topology   topology
	inter      *inter
	tuning     *collective.Tuning // nil: the job's
	nodes      *collective.Nodes  // which ranks are near each other; nil: nobody has asked
}

// extra returns what few communicators have, of one that is to have it.
func (c *Comm) extra() *more {
	if c.more == nil {
		c.more = &more{}
	}
	return c.more
}

// inter returns what a communicator between two groups has, or nil.
func (c *Comm) inter() *inter {
	if c.more == nil {
		return nil
	}
	return c.more.inter
}

// enter notes a call, which a communicator that was freed has not.
func (c *Comm) enter(call string) {
	c.e.EnterOn(call, c.context)
	c.alive()
}

// alive complains of a communicator that was freed.
func (c *Comm) alive() {
	if c.more != nil && c.more.freed {
		c.e.Fail(engine.ErrComm, "the communicator was freed")
	}
}

// intra complains of a communicator between two groups, on which the call cannot be made.
func (c *Comm) intra() {
	if c.inter() != nil {
		c.e.Fail(engine.ErrComm, "the communicator is between two groups: merge them first")
	}
}
