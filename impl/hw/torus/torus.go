// Package torus emulates a three-dimensional torus of nodes with remote memory access.
package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is a torus. A packet crosses the interface of its node into the switch, then links in the
// order of the dimensions, the shorter way round, then the interface of the other node. It holds
// each for its length at the link's rate from the moment its first byte gets there (virtual
// cut-through); what finds a link busy waits before it. Long transfers go in chunks, so that others
// can pass between them.
type network struct {
	*model.Torus
	core.Ends
	j       *core.Job
	shape   [3]int
	link    core.Pace
	store   core.Pace    // of a processor that sends
	links   []sim.Server // six a node: +x −x +y −y +z −z
	inject  []sim.Server // one a node
	eject   []sim.Server
	engines []sim.Server // transfer engines, one a node
	ways    []way        // the last that was used from each node
	ranks   []rank
}

// rank is what the torus keeps of a rank.
type rank struct {
	node    int32
	leaving core.List // packets that are leaving, in order
	left    unit.Time // when the last byte of the last that left has left
	reg     core.Register
}

// New returns a torus that joins ranks of a job.
func New(j *core.Job, t *model.Torus, e core.Ends) core.Network {
	shape := t.Shape(e.N)
	nodes := shape[0] * shape[1] * shape[2]
	n := &network{
		Torus: t, Ends: e, j: j, shape: shape, link: core.Pace{Rate: t.Link}, store: core.Pace{Rate: t.Send.Bandwidth},
		links: make([]sim.Server, 6*nodes), inject: make([]sim.Server, nodes), eject: make([]sim.Server, nodes),
		engines: make([]sim.Server, nodes), ways: make([]way, nodes), ranks: make([]rank, e.Ranks),
	}
	for i := range n.ranks {
		n.ranks[i].node = int32(t.Node(e.Of(e.First + i)))
	}
	j.Probe.Ask(n, 0)
	return n
}

// rank returns what the torus keeps of a rank of the job.
func (n *network) rank(rank int32) *rank { return &n.ranks[int(rank)-n.First] }

// node returns the node of a rank of the job.
func (n *network) node(rank int32) int { return int(n.rank(rank).node) }

// place returns the coordinates of a node.
func (n *network) place(node int) [3]int {
	return [3]int{node % n.shape[0], node / n.shape[0] % n.shape[1], node / n.shape[0] / n.shape[1]}
}

// way is how packets get from a node to another: along the dimensions in order, the shorter way
// round in each.
type way struct {
	known  bool
	to     int
	at     [3]int    // where it begins
	dims   [3]leg    // in each dimension
	flight unit.Time // of a first byte over all links, and delivery
}

// leg is the part of a way in one dimension.
type leg struct {
	links int
	down  bool
	first unit.Time // what the first link takes of the time of a first byte; the others take a hop
}

// way returns the way from node a to node b. The last way from each node is remembered.
func (n *network) way(a, b int) *way {
	w := &n.ways[a]
	if w.known && w.to == b {
		return w
	}
	*w = way{known: true, to: b, at: n.place(a), flight: n.Deliver}
	to := n.place(b)
	turns := false
	for d := range w.dims {
		size := n.shape[d]
		ahead := to[d] - w.at[d]
		if ahead < 0 {
			ahead += size
		}
		l := leg{links: ahead, first: n.Hop}
		if ahead > size-ahead {
			l.links, l.down = size-ahead, true
		}
		if l.links == 0 {
			continue
		}
		if turns {
			l.first += n.Turn
		}
		turns = true
		w.dims[d] = l
		w.flight += l.first + unit.Time(l.links-1)*n.Hop
	}
	return w
}

// along calls visit for each link of a way from node a, with what it takes of the time of a first
// byte.
func (n *network) along(a int, w *way, visit func(link int, step unit.Time)) {
	node, stride := a, 1
	for d := range w.dims {
		l := &w.dims[d]
		size, at, step := n.shape[d], w.at[d], l.first
		for range l.links {
			link := 6*node + 2*d
			if l.down {
				link++
				if at--; at < 0 {
					at += size
					node += size * stride
				}
				node -= stride
			} else {
				if at++; at == size {
					at = 0
					node -= size * stride
				}
				node += stride
			}
			visit(link, step)
			step = n.Hop
		}
		stride *= size
	}
}

// route reserves the way of c bytes that leave rank src from time t on, within dur. It returns when
// their first byte enters the network and when their last is at rank dst: dur after the first where
// nothing is in the way, and not before the last link has passed all of them on where they had to
// wait.
func (n *network) route(t unit.Time, src, dst int32, c int, dur unit.Time) (entered, there unit.Time) {
	hold := n.link.Time(c)
	a, b := n.node(src), n.node(dst)
	entered = n.inject[a].Reserve(t, hold)
	u := entered
	w := n.way(a, b)
	n.along(a, w, func(link int, step unit.Time) { u = n.links[link].Reserve(u+step, hold) })
	u = n.eject[b].Reserve(u, hold)
	return entered, max(u+n.Deliver+hold, entered+w.flight+dur)
}

// latency returns the time of a first byte from src to dst where nothing else is on the way.
func (n *network) latency(src, dst int32) unit.Time {
	return n.way(n.node(src), n.node(dst)).flight
}

// departure is the event of a packet whose next chunk leaves.
type departure core.Packet

// Act lets it leave.
func (d *departure) Act(uint64) { d.Net.(*network).movePacket((*core.Packet)(d)) }

// stage is the event of an access's next step.
type stage core.Access

// Act takes it.
func (s *stage) Act(uint64) { s.Net.(*network).moveAccess((*core.Access)(s)) }

// Steps of a remote access.
const (
	flowing   = iota // a chunk is about to leave
	arrived          // the last byte is there
	confirmed        // and the writer knows
)

// Send lets the processor store the packet into the network. Packets of one processor go one after
// the other; those that cannot begin to leave yet are in its list of leaving packets. With noise
// the processor may be ready for the next before its last one has left.
func (n *network) Send(p *core.Port, pk *core.Packet) {
	p.Charge(n.Torus.Send.Start)
	p.Probe.Until(p, p.Clock, "torus.send.start", model.Sending, 0)
	p.Probe.Sends(p, pk, "torus.send.bandwidth")
	me := n.rank(p.ID)
	pk.Wire = core.Wire{Step: flowing, At: max(p.Clock, me.left), Late: p.Late, Long: n.store.Time(n.Header + len(pk.Data))}
	p.Ahead++
	switch {
	case me.leaving.Head != nil:
		me.leaving.Push(pk)
	case p.Kernel.Quiet(pk.Wire.At):
		me.leaving.Push(pk)
		n.movePacket(pk)
	default:
		me.leaving.Push(pk)
		p.Kernel.At(pk.Wire.At, (*departure)(pk), 0)
	}
	p.Charge(pk.Wire.Long)
}

func (n *network) Receive(p *core.Port, _ *core.Packet) {
	p.Charge(n.Torus.Receive)
	p.Probe.Until(p, p.Clock, "torus.receive", model.Receiving, 0)
}

// movePacket lets the next chunk leave. The processor that stores it is behind its own clock where
// the network was late to take it.
func (n *network) movePacket(pk *core.Packet) {
	w := &pk.Wire
	p := &n.j.Ports[pk.Src]
	late, left, last := n.flow(w, n.Header+len(pk.Data), n.Torus.Send.Bandwidth, p.ID, pk.Dst)
	p.Clock += late
	p.Late += late
	p.Probe.Ask((*packetChunk)(pk), uint64(late))
	if last {
		p.Ahead--
		me := n.rank(p.ID)
		me.left = left
		me.leaving.Pop()
		if next := me.leaving.Head; next != nil {
			next.Wire.At = max(next.Wire.At+p.Late-next.Wire.Late, left)
			n.j.Kernel.At(next.Wire.At, (*departure)(next), 0)
		}
		n.j.Kernel.At(w.At, (*core.Arrival)(pk), 0)
		return
	}
	n.j.Kernel.At(w.At, (*departure)(pk), 0)
}

// flow sends the next chunk of a transfer of so many bytes at a rate. It returns how late the
// network took it, when its last byte has left, and whether it was the last chunk; w.At is then the
// time when its last byte is there, else when the next chunk leaves.
func (n *network) flow(w *core.Wire, bytes int, rate unit.Rate, from, to int32) (late, left unit.Time, last bool) {
	c := min(n.Chunk, bytes-w.Pos)
	dur := w.Long
	if w.Pos+c < bytes {
		dur = rate.Time(w.Pos + c)
	}
	if w.Pos > 0 {
		dur -= rate.Time(w.Pos)
	}
	entered, there := n.route(w.At, from, to, c, dur)
	late = entered - w.At
	w.Pos += c
	left = entered + dur
	if w.Pos >= bytes {
		w.At = there
		return late, left, true
	}
	w.At = left
	return late, left, false
}

func (n *network) Start(p *core.Port, x *core.Access) {
	ch, name := n.Put, "torus.put.start"
	if x.Get {
		ch, name = n.Get, "torus.get.start"
	}
	p.Charge(ch.Start)
	p.Probe.Starts(p, x)
	p.Probe.Until(p, p.Clock, name, model.Sending, 0)
	p.Pay()
	long := ch.Bandwidth.Time(len(x.Bytes))
	t := n.engines[n.node(p.ID)].Reserve(p.Kernel.Now(), long)
	p.Probe.Takes(&n.engines[n.node(p.ID)], x, model.Carrying, t, long, len(x.Bytes))
	if x.Get {
		p.Probe.Signals(x, "get", x.Src, x.Dst, t, t+n.latency(x.Src, x.Dst))
		t += n.latency(x.Src, x.Dst)
	}
	x.Wire = core.Wire{Step: flowing, At: t, Long: long}
	p.Kernel.At(t, (*stage)(x), 0)
}

func (n *network) moveAccess(x *core.Access) {
	w := &x.Wire
	switch w.Step {
	case flowing:
		from, to, rate := x.Src, x.Dst, n.Put.Bandwidth
		if x.Get {
			from, to, rate = x.Dst, x.Src, n.Get.Bandwidth
		}
		if _, _, last := n.flow(w, len(x.Bytes), rate, from, to); last {
			w.Step = arrived
		}
		n.j.Probe.Ask((*accessChunk)(x), 0)
	case arrived:
		x.Move()
		if x.Get {
			x.Finish()
			return
		}
		w.Step = confirmed
		w.At += n.latency(x.Dst, x.Src)
		n.j.Probe.Signals(x, "done", x.Dst, x.Src, n.j.Kernel.Now(), w.At)
	case confirmed:
		x.Finish()
		return
	}
	n.j.Kernel.At(w.At, (*stage)(x), 0)
}

func (n *network) Count(p *core.Port, dst, r int, c core.Change) int64 {
	return n.rank(int32(dst)).reg.Count(p, n.latency(p.ID, int32(dst)), n.Counter, n.latency(int32(dst), p.ID), dst, r, c)
}
