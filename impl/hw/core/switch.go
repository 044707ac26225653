package core

import (
	"math"

	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Router determines the routes of chunks through the switches of a network. R is the remaining
// route of a chunk.
type Router[R any] interface {
	// RouteBetween returns the route from one node to another, and the latency of a first byte that
	// never waits.
	RouteBetween(from, to int) (R, unit.Time)

	// AdvanceRoute advances a route that has not ended to its next output. It returns the latency
	// of a first byte to that output, and whether the output leads to the destination node.
	AdvanceRoute(r *R) (out int32, step unit.Time, last bool)

	// ScheduleAccessArrival schedules the continuation of a remote access whose last byte arrives
	// at time t.
	ScheduleAccessArrival(x *RemoteAccess, t unit.Time)
}

// SwitchOutput is an output of a switch: a link to another switch or to a node. A chunk occupies an
// output from the arrival of its first byte for its length at the link rate (virtual cut-through).
// If the output is busy, the chunk waits.
//
// Nodes whose chunks wait for an output are served in turn, one chunk at a time: fair queueing,
// Nagle 1987 (RFC 970), with equal chunks. Chunks from one node to another stay in order. The
// sources do not say how switches of real machines arbitrate.
//
// Note: with a single queue a node would have as many places as it has chunks under way, and a flow
// that waits at several outputs would get the smallest of its shares. In random permutations flows
// would then drop to half of their max-min fair share (impl/hw/torus/contention_test.go). Queues
// selected by a hash of the node have the same effect on nodes with equal hashes.
type SwitchOutput[R any] struct {
	sim.Server
	lastInRoundRobin         *chunk[R] // last of the ring of waiting chunks, one per node; nil: none
	firstInHighPriorityQueue *chunk[R] // first chunk that precedes all others; it knows the last; nil: none
}

// chunk is a part of a transfer.
type chunk[R any] struct {
	network               *SwitchedNetwork[R]
	transfer              any // the *Packet or *RemoteAccess whose bytes it carries
	sourceNode            int32
	remainingRoute        R
	nextOutput            int32 // its next output
	nextOutputLeadsToNode bool  // that output leads to the destination node
	isLastOfTransfer      bool  // the last chunk of its transfer
	hasHighPriority       bool  // it precedes others
	bytes                 int32
	timeOnOutput          unit.Time // time for which it occupies an output
	earliestArrival       unit.Time // arrival of its last byte if it never waits

	nextNodeChunk  *chunk[R] // chunk of the next node in the ring, or the next unused chunk
	nextOfSameNode *chunk[R] // next chunk of the same node at this output
	lastOfSameNode *chunk[R] // last chunk of the same node at this output, or the chunk itself
}

// EndOfVirtualTime says that other events may happen at any time, so that only events decide.
const EndOfVirtualTime = unit.Time(math.MaxInt64)

// injectChunk sends b bytes, which leave node a from time t on within dur, into the network, and
// returns when the first byte enters. Up to the time until, only scheduled events can happen.
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

// advanceChunk advances the first byte of a chunk from time t to its next output, and further while
// no other event precedes its arrival. Otherwise an event continues it.
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

// HandleEvent continues the chunk at its next output.
func (c *chunk[R]) HandleEvent(uint64) {
	if now := c.network.Job.Kernel.Now(); c.network.requestOutput(c, now) {
		c.network.advanceChunk(c, now, EndOfVirtualTime)
	}
}

// requestOutput lets a chunk occupy the output that its first byte reaches at time t, or queues it.
// It reports whether the chunk continues to another output.
func (s *SwitchedNetwork[R]) requestOutput(c *chunk[R], t unit.Time) bool {
	o := &s.SwitchOutputs[c.nextOutput]
	if (o.lastInRoundRobin != nil || o.firstInHighPriorityQueue != nil || o.FreeAt() > t) && !(c.nextOutputLeadsToNode && s.MemoryArrivalTime != nil) {
		s.queueChunk(o, c)
		return false
	}
	return s.occupyOutput(o, c, t)
}

// occupyOutput lets a chunk occupy a free output at time t, and reports whether it continues to
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

// OccupyLinks keeps the links between two nodes busy for bytes that cannot leave the last link yet,
// so that following bytes do not reach memory before time at.
func (s *SwitchedNetwork[R]) OccupyLinks(from, to int, at unit.Time) {
	r := &s.occupiedRoute // not a local variable, which would be allocated: routers are called through an interface
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

// queueChunk queues a chunk at a busy output, after other chunks of its node.
func (s *SwitchedNetwork[R]) queueChunk(o *SwitchOutput[R], c *chunk[R]) {
	c.nextOfSameNode, c.lastOfSameNode = nil, c
	last := o.lastInRoundRobin
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
		o.lastInRoundRobin, c.nextNodeChunk = c, c
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
	o.lastInRoundRobin, c.nextNodeChunk, last.nextNodeChunk = c, last.nextNodeChunk, c
}

// outputFreeEvent is the event that an output for which chunks wait is free.
type outputFreeEvent[R any] SwitchedNetwork[R]

// HandleEvent gives the output to the next chunk. The chunk's node moves to the end of the ring.
func (v *outputFreeEvent[R]) HandleEvent(out uint64) {
	s := (*SwitchedNetwork[R])(v)
	o := &s.SwitchOutputs[out]
	if o.FreeAt() > s.Job.Kernel.Now() { // OccupyLinks has kept it busy
		s.Job.Kernel.Schedule(o.FreeAt(), v, out)
		return
	}
	c := o.dequeueChunk()
	now := s.Job.Kernel.Now()
	on := s.occupyOutput(o, c, now)
	if o.lastInRoundRobin != nil || o.firstInHighPriorityQueue != nil {
		s.Job.Kernel.Schedule(o.FreeAt(), v, out)
	}
	if on {
		s.advanceChunk(c, now, EndOfVirtualTime)
	}
}

// dequeueChunk removes and returns the next waiting chunk.
func (o *SwitchOutput[R]) dequeueChunk() *chunk[R] {
	if c := o.firstInHighPriorityQueue; c != nil {
		if o.firstInHighPriorityQueue = c.nextOfSameNode; c.nextOfSameNode != nil {
			c.nextOfSameNode.lastOfSameNode = c.lastOfSameNode
		}
		return c
	}
	last, c := o.lastInRoundRobin, o.lastInRoundRobin.nextNodeChunk
	x := c.nextOfSameNode
	switch {
	case x == nil && c == last:
		o.lastInRoundRobin = nil
	case x == nil:
		last.nextNodeChunk = c.nextNodeChunk
	case c == last:
		o.lastInRoundRobin, x.nextNodeChunk, x.lastOfSameNode = x, x, c.lastOfSameNode
	default:
		o.lastInRoundRobin, x.nextNodeChunk, last.nextNodeChunk, x.lastOfSameNode = x, c.nextNodeChunk, x, c.lastOfSameNode
	}
	return c
}
