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
	// Way returns the route from a node to another as it begins, and how long a first byte takes
	// that does not wait anywhere.
	Way(from, to int) (R, unit.Time)

	// Turn goes on to the next output of a route that has not ended, and returns how long a first
	// byte takes to get there, and whether that output leads to the destination's node.
	Turn(r *R) (out int32, step unit.Time, last bool)

	// Landed continues a remote access whose last byte arrives at a future time.
	Landed(x *Access, t unit.Time)
}

// Output is an output of a switch: a link to another switch, or to a node. A chunk takes an output
// when its first byte gets there, and holds it for its length at the rate of links (virtual
// cut-through). A chunk that finds its output busy waits for it.
//
// Nodes whose chunks wait for an output are served in turn, a chunk at a time: fair queueing, Nagle
// 1987 (RFC 970), with equal chunks. Chunks from one node to another stay in order. The sources do
// not say how the switches of real machines arbitrate.
//
// Note: one queue would give a node as many places as it has chunks under way, and a flow that
// waits before several outputs gets the smallest of its shares: in random permutations flows then
// get down to half of their max-min fair share, see impl/hw/contention_test.go. Queues by a hash of
// the node do the same to nodes whose hashes are equal.
type Output[R any] struct {
	sim.Server
	waiting *chunk[R] // the last of the ring of those that wait, one for each node; nil: none
	urgent  *chunk[R] // those that go before: the first, which knows the last; nil: none
}

// chunk is a part of a transfer in flight.
type chunk[R any] struct {
	s     *Switched[R]
	of    any // the *Packet or *Access whose bytes it carries
	from  int32
	route R
	out   int32 // its next output
	exit  bool  // behind that is its node
	last  bool  // of its transfer
	urge  bool  // it goes before others
	bytes int32
	hold  unit.Time // how long it takes an output
	there unit.Time // when its last byte is at the other side if it does not wait anywhere

	next   *chunk[R] // of the next node that waits for the same output, or of those to use again
	behind *chunk[R] // of the same node, waits for the same output
	end    *chunk[R] // the last one behind, or the chunk itself
}

// Forever is the end of what can be decided where only events decide.
const Forever = unit.Time(math.MaxInt64)

// launch lets b bytes that leave node a at time t on, within dur, into the network, and returns
// when the first enters. Until a time the caller knows that nothing happens but what is scheduled.
func (s *Switched[R]) launch(of any, t unit.Time, a, to int, b int, dur unit.Time, last, urgent bool, until unit.Time) (entered unit.Time) {
	c := s.spare
	if c == nil {
		c = &chunk[R]{s: s}
	} else {
		s.spare = c.next
	}
	route, flight := s.Router.Way(a, to)
	hold := s.link.Time(b)
	entered = s.Inject[a].Reserve(t, hold)
	s.J.Probe.Takes(&s.Inject[a], of, model.Carrying, entered, hold, b)
	c.of, c.from, c.route, c.bytes, c.last, c.urge = of, int32(a), route, int32(b), last, urgent
	c.hold, c.there = hold, entered+flight+dur
	s.move(c, entered, until)
	return entered
}

// move advances the first byte of a chunk from time t to its next output, and farther as long as no
// other event is due before it arrives there. Otherwise an event continues it.
func (s *Switched[R]) move(c *chunk[R], t, until unit.Time) {
	k := &s.J.Kernel
	for {
		out, step, exit := s.Router.Turn(&c.route)
		c.out, c.exit = out, exit
		t += step
		if t > k.Now() && (t > until || !k.Quiet(t)) {
			k.At(t, c, 0)
			return
		}
		if !s.reach(c, t) {
			return
		}
	}
}

// Act lets the chunk reach its next output.
func (c *chunk[R]) Act(uint64) {
	if now := c.s.J.Kernel.Now(); c.s.reach(c, now) {
		c.s.move(c, now, Forever)
	}
}

// reach lets a chunk take the output that its first byte reaches at time t, or wait for it. It
// reports whether the chunk goes on to another.
func (s *Switched[R]) reach(c *chunk[R], t unit.Time) bool {
	o := &s.Outputs[c.out]
	if (o.waiting != nil || o.urgent != nil || o.Free() > t) && !(c.exit && s.Taking != nil) {
		s.wait(o, c)
		return false
	}
	return s.take(o, c, t)
}

// take lets a chunk take a free output at time t, and reports whether it goes on to another.
func (s *Switched[R]) take(o *Output[R], c *chunk[R], t unit.Time) bool {
	first := t + s.deliver
	t = o.Reserve(t, c.hold)
	s.J.Probe.Takes(&o.Server, c.of, model.Carrying, t, c.hold, int(c.bytes))
	if !c.exit {
		return true
	}
	there := max(t+s.deliver+c.hold, c.there)
	if s.Taking != nil {
		there = s.Taking(c.of, int(c.bytes), first, there)
	}
	if c.last {
		s.landed(c.of, there)
	}
	c.of = nil
	c.next, s.spare = s.spare, c
	return false
}

// Hold keeps the links between two nodes busy with bytes that cannot leave the last of them, so
// that the next ones are in memory at a time.
func (s *Switched[R]) Hold(from, to int, at unit.Time) {
	r := &s.held // not of its own: it would be allocated, as routers are behind an interface
	way, left := s.Router.Way(from, to)
	*r = way
	for {
		out, step, exit := s.Router.Turn(r)
		if exit {
			return
		}
		left -= step
		s.Outputs[out].Hold(at - left)
	}
}

// wait queues a chunk at a busy output, after those of its node.
func (s *Switched[R]) wait(o *Output[R], c *chunk[R]) {
	c.behind, c.end = nil, c
	last := o.waiting
	if last == nil && o.urgent == nil {
		s.J.Kernel.At(o.Free(), (*service[R])(s), uint64(c.out))
	}
	switch first := o.urgent; {
	case c.urge && first == nil:
		o.urgent = c
		return
	case c.urge:
		first.end.behind, first.end = c, c
		return
	case last == nil:
		o.waiting, c.next = c, c
		return
	}
	for x := last.next; ; x = x.next {
		if x.from == c.from {
			x.end.behind, x.end = c, c
			return
		}
		if x == last {
			break
		}
	}
	o.waiting, c.next, last.next = c, last.next, c
}

// service is the event of an output that is free again while chunks wait for it.
type service[R any] Switched[R]

// Act lets the next chunk take the output. Its node has its next turn after the others.
func (v *service[R]) Act(out uint64) {
	s := (*Switched[R])(v)
	o := &s.Outputs[out]
	if o.Free() > s.J.Kernel.Now() { // it was held
		s.J.Kernel.At(o.Free(), v, out)
		return
	}
	c := o.next()
	now := s.J.Kernel.Now()
	on := s.take(o, c, now)
	if o.waiting != nil || o.urgent != nil {
		s.J.Kernel.At(o.Free(), v, out)
	}
	if on {
		s.move(c, now, Forever)
	}
}

// next removes the chunk whose turn it is from the waiting ones.
func (o *Output[R]) next() *chunk[R] {
	if c := o.urgent; c != nil {
		if o.urgent = c.behind; c.behind != nil {
			c.behind.end = c.end
		}
		return c
	}
	last, c := o.waiting, o.waiting.next
	x := c.behind
	switch {
	case x == nil && c == last:
		o.waiting = nil
	case x == nil:
		last.next = c.next
	case c == last:
		o.waiting, x.next, x.end = x, x, c.end
	default:
		o.waiting, x.next, last.next, x.end = x, c.next, x, c.end
	}
	return c
}
