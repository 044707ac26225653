package torus

import (
	"math"

	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// output is an output of a switch: a link to a neighbour, or the interface to the node's own memory.
// A chunk takes an output when its first byte gets there, and holds it for its length at the rate
// of links (virtual cut-through). What finds an output busy waits before it.
//
// Nodes whose chunks wait for an output are served in turn, a chunk at a time: fair queueing, Nagle
// 1987 (RFC 970), with equal chunks. What a node sends to another stays in order. The sources say
// nothing of how the switches of real machines choose.
//
// Note: one queue would give a node as many places as it has chunks under way, and a flow that waits
// before several outputs gets the smallest of its shares: in random permutations flows then get
// down to half of their max-min fair share, see impl/hw/contention_test.go. Queues by a hash of the
// node do the same to nodes whose hashes are equal.
type output struct {
	sim.Server
	waiting *chunk // the last of the ring of those that wait, one for each node; nil: none
	to      int32  // the node at the other end
}

// Outputs of a node's switch: +x −x +y −y +z −z, and to its own memory.
const (
	eject      = 6
	numOutputs = 7
)

// outputs returns the outputs of all switches of a torus.
func outputs(shape [3]int) []output {
	nodes := shape[0] * shape[1] * shape[2]
	all := make([]output, numOutputs*nodes)
	for node := range nodes {
		of := all[numOutputs*node:][:numOutputs]
		of[eject].to = int32(node)
		stride := 1
		for d, size := range shape {
			at := node / stride % size
			of[2*d].to = int32(node + ((at+1)%size-at)*stride)
			of[2*d+1].to = int32(node + ((at+size-1)%size-at)*stride)
			stride *= size
		}
	}
	return all
}

// chunk is a part of a transfer on its way: what is in the network at once.
type chunk struct {
	n    *network
	of   any // the *core.Packet or *core.Access whose bytes it carries
	from int32
	route
	bytes int32
	last  bool      // of its transfer
	hold  unit.Time // how long it takes an output
	there unit.Time // when its last byte is at the other side if it does not wait anywhere

	next   *chunk // of the next node that waits for the same output, or of those to use again
	behind *chunk // of the same node, waits for the same output
	end    *chunk // the last one behind, or the chunk itself
}

// forever is the end of what can be decided where only events decide.
const forever = unit.Time(math.MaxInt64)

// launch lets b bytes that leave rank from at time t on, within dur, into the network, and returns
// when the first enters. Until a time the caller knows that nothing happens but what is scheduled.
func (n *network) launch(of any, t unit.Time, from, to int32, b int, dur unit.Time, last bool, until unit.Time) (entered unit.Time) {
	c := n.spare
	if c == nil {
		c = &chunk{n: n}
	} else {
		n.spare = c.next
	}
	a := n.node(from)
	w := n.way(a, n.node(to))
	hold := n.link.Time(b)
	entered = n.inject[a].Reserve(t, hold)
	n.j.Probe.Takes(&n.inject[a], of, model.Carrying, entered, hold, b)
	c.of, c.from, c.route, c.bytes, c.last = of, int32(a), w.route, int32(b), last
	c.hold, c.there = hold, entered+w.flight+dur
	n.move(c, entered, until)
	return entered
}

// move lets the first byte of a chunk go on from time t to its next output, and farther as long as
// nothing else is due before it gets there. Else it goes on by an event.
func (n *network) move(c *chunk, t, until unit.Time) {
	k := &n.j.Kernel
	for {
		t += n.turn(&c.route)
		if t > k.Now() && (t > until || !k.Quiet(t)) {
			k.At(t, c, 0)
			return
		}
		if !n.reach(c, t) {
			return
		}
	}
}

// Act lets the chunk reach its next output.
func (c *chunk) Act(uint64) {
	if now := c.n.j.Kernel.Now(); c.n.reach(c, now) {
		c.n.move(c, now, forever)
	}
}

// reach lets a chunk take the output that its first byte reaches at time t, or wait before it. It
// reports whether the chunk goes on to another.
func (n *network) reach(c *chunk, t unit.Time) bool {
	o := &n.outputs[c.out]
	if o.waiting != nil || o.Free() > t {
		n.wait(o, c)
		return false
	}
	return n.take(o, c, t)
}

// take lets a chunk take a free output at time t, and reports whether it goes on to another.
func (n *network) take(o *output, c *chunk, t unit.Time) bool {
	o.Reserve(t, c.hold)
	n.j.Probe.Takes(&o.Server, c.of, model.Carrying, t, c.hold, int(c.bytes))
	if c.dim != ejecting {
		return true
	}
	there := max(t+n.Deliver+c.hold, c.there)
	if n.Memory > 0 {
		there = max(there, n.use(target(c.of), t+n.Deliver, int(c.bytes))+n.Memory.Time(int(c.bytes)))
	}
	if c.last {
		n.landed(c.of, there)
	}
	c.of = nil
	c.next, n.spare = n.spare, c
	return false
}

// wait lets a chunk wait before a busy output, behind those of its node.
func (n *network) wait(o *output, c *chunk) {
	c.behind, c.end = nil, c
	last := o.waiting
	if last == nil {
		o.waiting, c.next = c, c
		n.j.Kernel.At(o.Free(), (*service)(n), uint64(c.out))
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
type service network

// Act lets the next chunk take the output. Its node has its next turn after the others.
func (s *service) Act(out uint64) {
	n := (*network)(s)
	o := &n.outputs[out]
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
	now := n.j.Kernel.Now()
	on := n.take(o, c, now)
	if o.waiting != nil {
		n.j.Kernel.At(o.Free(), s, out)
	}
	if on {
		n.move(c, now, forever)
	}
}
