package core

import (
	"math"

	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Router determines the route of chunks through the switches of a network. R is the rest of a
// chunk's route.
type Router[R any] interface {
	// RouteBetween returns the route from a node to another as it begins, and how long a first byte
	// takes that does not wait anywhere.
	RouteBetween(from, to int) (R, unit.Time)

	// AdvanceRoute goes on to the next output of a route that has not ended, and returns how long a
	// first byte takes to get there, and whether that output leads to the destination's node.
	AdvanceRoute(r *R) (out int32, step unit.Time, last bool)

	// ScheduleAccessArrival continues a remote access whose last byte arrives at a future time.
	ScheduleAccessArrival(x *RemoteAccess, t unit.Time)
}

// SwitchOutput is an output of a switch: a link to another switch, or to a node. A chunk takes an
// output when its first byte gets there, and holds it for its length at the rate of links (virtual
// cut-through). A chunk that finds its output busy waits for it.
//
// Nodes whose chunks wait for an output are served in turn, a chunk at a time: fair queueing, Nagle
// 1987 (RFC 970), with equal chunks. Chunks from one node to another stay in order. The sources do
// not say how the switches of real machines arbitrate.
//
// Note: one queue would give a node as many places as it has chunks under way, and a flow that
// waits before several outputs gets the smallest of its shares: in random permutations flows then
// get down to half of their max-min fair share, see impl/hw/torus/contention_test.go. Queues by a
// hash of the node do the same to nodes whose hashes are equal.
type SwitchOutput[R any] struct {
	sim.Server
	lastInNodeRing           *chunk[R] // the last of the ring of those that wait, one for each node; nil: none
	firstInHighPriorityQueue *chunk[R] // those that go before: the first, which knows the last; nil: none
}

// chunk is a part of a transfer in flight.
type chunk[R any] struct {
	network               *SwitchedNetwork[R]
	transfer              any // the *Packet or *RemoteAccess whose bytes it carries
	sourceNode            int32
	remainingRoute        R
	nextOutput            int32 // its next output
	nextOutputLeadsToNode bool  // behind that is its node
	isLastOfTransfer      bool  // of its transfer
	hasHighPriority       bool  // it goes before others
	bytes                 int32
	timeOnOutput          unit.Time // how long it takes an output
	earliestArrival       unit.Time // when its last byte is at the other side if it does not wait anywhere

	nextNodeChunk  *chunk[R] // of the next node that waits for the same output, or of those to use again
	nextOfSameNode *chunk[R] // of the same node, waits for the same output
	lastOfSameNode *chunk[R] // the last one behind, or the chunk itself
}

// EndOfVirtualTime is the end of what can be decided where only events decide.
const EndOfVirtualTime = unit.Time(math.MaxInt64)

// injectChunk lets b bytes that leave node a at time t on, within dur, into the network, and
// returns when the first enters. Until a time the caller knows that nothing happens but what is
// scheduled.
func (s *SwitchedNetwork[R]) injectChunk(of any, t unit.Time, a, to int, b int, dur unit.Time, last, urgent bool, until unit.Time) (entered unit.Time) {
	c := s.freeChunks
	if c == nil {
		c = &chunk[R]{network: s}
	} else {
		s.freeChunks = c.nextNodeChunk
	}
	route, flight := s.Router.RouteBetween(a, to)
	hold := s.linkRate.Time(b)
	entered = s.Injectors[a].Reserve(t, hold)
	s.Job.Probe.ServerOccupied(&s.Injectors[a], of, model.CarryActivity, entered, hold, b)
	c.transfer, c.sourceNode, c.remainingRoute, c.bytes, c.isLastOfTransfer, c.hasHighPriority = of, int32(a), route, int32(b), last, urgent
	c.timeOnOutput, c.earliestArrival = hold, entered+flight+dur
	s.advanceChunk(c, entered, until)
	return entered
}

// advanceChunk advances the first byte of a chunk from time t to its next output, and farther as
// long as no other event is due before it arrives there. Otherwise an event continues it.
func (s *SwitchedNetwork[R]) advanceChunk(c *chunk[R], t, until unit.Time) {
	k := &s.Job.Kernel
	for {
		out, step, exit := s.Router.AdvanceRoute(&c.remainingRoute)
		c.nextOutput, c.nextOutputLeadsToNode = out, exit
		t += step
		if t > k.Now() && (t > until || !k.IsIdleUntil(t)) {
			k.Schedule(t, c, 0)
			return
		}
		if !s.requestOutput(c, t) {
			return
		}
	}
}

// HandleEvent lets the chunk reach its next output.
func (c *chunk[R]) HandleEvent(uint64) {
	if now := c.network.Job.Kernel.Now(); c.network.requestOutput(c, now) {
		c.network.advanceChunk(c, now, EndOfVirtualTime)
	}
}

// requestOutput lets a chunk take the output that its first byte reaches at time t, or wait for it.
// It reports whether the chunk goes on to another.
func (s *SwitchedNetwork[R]) requestOutput(c *chunk[R], t unit.Time) bool {
	o := &s.SwitchOutputs[c.nextOutput]
	if (o.lastInNodeRing != nil || o.firstInHighPriorityQueue != nil || o.FreeAt() > t) && !(c.nextOutputLeadsToNode && s.MemoryArrivalTime != nil) {
		s.queueChunk(o, c)
		return false
	}
	return s.occupyOutput(o, c, t)
}

// occupyOutput lets a chunk take a free output at time t, and reports whether it goes on to
// another.
func (s *SwitchedNetwork[R]) occupyOutput(o *SwitchOutput[R], c *chunk[R], t unit.Time) bool {
	first := t + s.timeFromSwitchToProcessor
	t = o.Reserve(t, c.timeOnOutput)
	s.Job.Probe.ServerOccupied(&o.Server, c.transfer, model.CarryActivity, t, c.timeOnOutput, int(c.bytes))
	if !c.nextOutputLeadsToNode {
		return true
	}
	there := max(t+s.timeFromSwitchToProcessor+c.timeOnOutput, c.earliestArrival)
	if s.MemoryArrivalTime != nil {
		there = s.MemoryArrivalTime(c.transfer, int(c.bytes), first, there)
	}
	if c.isLastOfTransfer {
		s.scheduleArrival(c.transfer, there)
	}
	c.transfer = nil
	c.nextNodeChunk, s.freeChunks = s.freeChunks, c
	return false
}

// OccupyLinks keeps the links between two nodes busy with bytes that cannot leave the last of them,
// so that the next ones are in memory at a time.
func (s *SwitchedNetwork[R]) OccupyLinks(from, to int, at unit.Time) {
	r := &s.occupiedRoute // not of its own: it would be allocated, as routers are behind an interface
	way, left := s.Router.RouteBetween(from, to)
	*r = way
	for {
		out, step, exit := s.Router.AdvanceRoute(r)
		if exit {
			return
		}
		left -= step
		s.SwitchOutputs[out].HoldUntil(at - left)
	}
}

// queueChunk queues a chunk at a busy output, after those of its node.
func (s *SwitchedNetwork[R]) queueChunk(o *SwitchOutput[R], c *chunk[R]) {
	c.nextOfSameNode, c.lastOfSameNode = nil, c
	last := o.lastInNodeRing
	if last == nil && o.firstInHighPriorityQueue == nil {
		s.Job.Kernel.Schedule(o.FreeAt(), (*outputFreeEvent[R])(s), uint64(c.nextOutput))
	}
	switch first := o.firstInHighPriorityQueue; {
	case c.hasHighPriority && first == nil:
		o.firstInHighPriorityQueue = c
		return
	case c.hasHighPriority:
		first.lastOfSameNode.nextOfSameNode, first.lastOfSameNode = c, c
		return
	case last == nil:
		o.lastInNodeRing, c.nextNodeChunk = c, c
		return
	}
	for x := last.nextNodeChunk; ; x = x.nextNodeChunk {
		if x.sourceNode == c.sourceNode {
			x.lastOfSameNode.nextOfSameNode, x.lastOfSameNode = c, c
			return
		}
		if x == last {
			break
		}
	}
	o.lastInNodeRing, c.nextNodeChunk, last.nextNodeChunk = c, last.nextNodeChunk, c
}

// outputFreeEvent is the event of an output that is free again while chunks wait for it.
type outputFreeEvent[R any] SwitchedNetwork[R]

// HandleEvent lets the next chunk take the output. Its node has its next turn after the others.
func (v *outputFreeEvent[R]) HandleEvent(out uint64) {
	s := (*SwitchedNetwork[R])(v)
	o := &s.SwitchOutputs[out]
	if o.FreeAt() > s.Job.Kernel.Now() { // it was held
		s.Job.Kernel.Schedule(o.FreeAt(), v, out)
		return
	}
	c := o.dequeueChunk()
	now := s.Job.Kernel.Now()
	on := s.occupyOutput(o, c, now)
	if o.lastInNodeRing != nil || o.firstInHighPriorityQueue != nil {
		s.Job.Kernel.Schedule(o.FreeAt(), v, out)
	}
	if on {
		s.advanceChunk(c, now, EndOfVirtualTime)
	}
}

// dequeueChunk removes the chunk whose turn it is from the waiting ones.
func (o *SwitchOutput[R]) dequeueChunk() *chunk[R] {
	if c := o.firstInHighPriorityQueue; c != nil {
		if o.firstInHighPriorityQueue = c.nextOfSameNode; c.nextOfSameNode != nil {
			c.nextOfSameNode.lastOfSameNode = c.lastOfSameNode
		}
		return c
	}
	last, c := o.lastInNodeRing, o.lastInNodeRing.nextNodeChunk
	x := c.nextOfSameNode
	switch {
	case x == nil && c == last:
		o.lastInNodeRing = nil
	case x == nil:
		last.nextNodeChunk = c.nextNodeChunk
	case c == last:
		o.lastInNodeRing, x.nextNodeChunk, x.lastOfSameNode = x, x, c.lastOfSameNode
	default:
		o.lastInNodeRing, x.nextNodeChunk, last.nextNodeChunk, x.lastOfSameNode = x, c.nextNodeChunk, x, c.lastOfSameNode
	}
	return c
}
