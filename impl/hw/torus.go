package hw

import (
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// torus is a three-dimensional torus of nodes. A packet crosses the interface of its node into the switch, then links in the
// order of the dimensions, the shorter way round, then the interface of the other node. It holds each for its length at the
// link's rate from the moment its first byte gets there (virtual cut-through); what finds a link busy waits before it.
// Long transfers go in chunks, so that others can pass between them.
type torus struct {
	*model.Torus
	j       *job
	shape   [3]int
	link    pace
	store   pace         // of a processor that sends
	links   []sim.Server // six a node: +x −x +y −y +z −z
	inject  []sim.Server // one a node
	eject   []sim.Server
	engines []sim.Server // transfer engines, one a node
	regs    []sim.Server // counter registers, one set a rank
	ways    []way        // the last that was used from each node
	leaving []list       // packets that are leaving, in order, of each rank
	left    []unit.Time  // when the last byte of the last that left has left, of each rank
}

func newTorus(j *job) network {
	t := j.cfg.Machine.Network.(*model.Torus)
	shape := t.Shape(len(j.ports))
	n := shape[0] * shape[1] * shape[2]
	net := &torus{
		Torus: t, j: j, shape: shape, link: pace{rate: t.Link}, store: pace{rate: t.Send.Bandwidth},
		links: make([]sim.Server, 6*n), inject: make([]sim.Server, n), eject: make([]sim.Server, n), engines: make([]sim.Server, n), ways: make([]way, n),
		regs: make([]sim.Server, len(j.ports)), leaving: make([]list, len(j.ports)),
		left: make([]unit.Time, len(j.ports)),
	}
	net.names()
	return net
}

// open implements network.
func (n *torus) open(p *port) end { return p.on(n) }

// node returns the node of a rank. To divide 32 bits takes half as long as 64.
func (n *torus) node(rank int32) int { return int(uint32(rank) / uint32(n.PerNode)) }

// place returns the coordinates of a node.
func (n *torus) place(node int) [3]int {
	return [3]int{node % n.shape[0], node / n.shape[0] % n.shape[1], node / n.shape[0] / n.shape[1]}
}

// way is how packets get from a node to another: along the dimensions in order, the shorter way round in each.
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
func (n *torus) way(a, b int) *way {
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

// along calls visit for each link of a way from node a, with what it takes of the time of a first byte.
func (n *torus) along(a int, w *way, visit func(link int, step unit.Time)) {
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

// route reserves the way of c bytes that leave rank src from time t on, within dur. It returns when their first byte enters the
// network and when their last is at rank dst: dur after the first where nothing is in the way, and not before the last link has passed
// all of them on where they had to wait.
func (n *torus) route(t unit.Time, src, dst int32, c int, dur unit.Time) (entered, there unit.Time) {
	hold := n.link.time(c)
	a, b := n.node(src), n.node(dst)
	entered = n.inject[a].Reserve(t, hold)
	u := entered
	w := n.way(a, b)
	n.along(a, w, func(link int, step unit.Time) { u = n.links[link].Reserve(u+step, hold) })
	u = n.eject[b].Reserve(u, hold)
	return entered, max(u+n.Deliver+hold, entered+w.flight+dur)
}

// latency returns the time of a first byte from src to dst where nothing else is on the way.
func (n *torus) latency(src, dst int32) unit.Time {
	return n.way(n.node(src), n.node(dst)).flight
}

// departure is the event of a packet whose next chunk leaves.
type departure packet

// Act lets it leave.
func (d *departure) Act(uint64) { d.j.net.(*torus).movePacket((*packet)(d)) }

// stage is the event of an access's next step.
type stage access

// Act takes it.
func (s *stage) Act(uint64) { s.j.net.(*torus).moveAccess((*access)(s)) }

// Steps of a remote access.
const (
	flowing   = iota // a chunk is about to leave
	arrived          // the last byte is there
	confirmed        // and the writer knows
)

// send lets the processor store the packet into the network. Packets of one processor go one after the other; those that cannot
// begin to leave yet are in its list of leaving packets. With noise the processor may be ready for the next before its last one has left.
func (n *torus) send(p *port, pk *packet) {
	p.charge(n.Send.Start)
	p.probe.until(p, p.clock, "torus.send.start", model.Sending, 0)
	p.probe.sends(p, pk, "torus.send.bandwidth")
	pk.wire = wire{step: flowing, at: max(p.clock, n.left[p.rank]), late: p.late, long: n.store.time(n.Header + len(pk.Data))}
	p.ahead++
	leaving := &n.leaving[p.rank]
	switch {
	case leaving.head != nil:
		leaving.push(pk)
	case p.kernel.Quiet(pk.wire.at):
		leaving.push(pk)
		n.movePacket(pk)
	default:
		leaving.push(pk)
		p.kernel.At(pk.wire.at, (*departure)(pk), 0)
	}
	p.charge(pk.wire.long)
}

func (n *torus) receive(p *port, _ *packet) {
	p.charge(n.Receive)
	p.probe.until(p, p.clock, "torus.receive", model.Receiving, 0)
}

// movePacket lets the next chunk leave. The processor that stores it is behind its own clock where the network was late to take it.
func (n *torus) movePacket(pk *packet) {
	w := &pk.wire
	p := &n.j.ports[pk.Src]
	late, left, last := n.flow(w, n.Header+len(pk.Data), n.Send.Bandwidth, p.rank, pk.dst)
	p.clock += late
	p.late += late
	p.probe.ask((*packetChunk)(pk), uint64(late))
	if last {
		p.ahead--
		n.left[p.rank] = left
		leaving := &n.leaving[p.rank]
		leaving.pop()
		if next := leaving.head; next != nil {
			next.wire.at = max(next.wire.at+p.late-next.wire.late, left)
			n.j.kernel.At(next.wire.at, (*departure)(next), 0)
		}
		n.j.kernel.At(w.at, (*arrival)(pk), 0)
		return
	}
	n.j.kernel.At(w.at, (*departure)(pk), 0)
}

// flow sends the next chunk of a transfer of so many bytes at a rate. It returns how late the network took it, when its last byte has
// left, and whether it was the last chunk; w.at is then the time when its last byte is there, else when the next chunk leaves.
func (n *torus) flow(w *wire, bytes int, rate unit.Rate, from, to int32) (late, left unit.Time, last bool) {
	c := min(n.Chunk, bytes-w.pos)
	dur := w.long
	if w.pos+c < bytes {
		dur = rate.Time(w.pos + c)
	}
	if w.pos > 0 {
		dur -= rate.Time(w.pos)
	}
	entered, there := n.route(w.at, from, to, c, dur)
	late = entered - w.at
	w.pos += c
	left = entered + dur
	if w.pos >= bytes {
		w.at = there
		return late, left, true
	}
	w.at = left
	return late, left, false
}

func (n *torus) start(p *port, x *access) {
	ch, name := n.Put, "torus.put.start"
	if x.get {
		ch, name = n.Get, "torus.get.start"
	}
	p.charge(ch.Start)
	p.probe.starts(p, x)
	p.probe.until(p, p.clock, name, model.Sending, 0)
	p.pay()
	long := ch.Bandwidth.Time(len(x.b))
	t := n.engines[n.node(p.rank)].Reserve(p.kernel.Now(), long)
	p.probe.takes(&n.engines[n.node(p.rank)], x, model.Carrying, t, long, len(x.b))
	if x.get {
		p.probe.signals(x, "get", x.src, x.dst, t, t+n.latency(x.src, x.dst))
		t += n.latency(x.src, x.dst)
	}
	x.wire = wire{step: flowing, at: t, long: long}
	p.kernel.At(t, (*stage)(x), 0)
}

func (n *torus) moveAccess(x *access) {
	w := &x.wire
	switch w.step {
	case flowing:
		from, to, rate := x.src, x.dst, n.Put.Bandwidth
		if x.get {
			from, to, rate = x.dst, x.src, n.Get.Bandwidth
		}
		if _, _, last := n.flow(w, len(x.b), rate, from, to); last {
			w.step = arrived
		}
		n.j.probe.ask((*accessChunk)(x), 0)
	case arrived:
		x.move()
		if x.get {
			x.finish()
			return
		}
		w.step = confirmed
		w.at += n.latency(x.dst, x.src)
		n.j.probe.signals(x, "done", x.dst, x.src, n.j.kernel.Now(), w.at)
	case confirmed:
		x.finish()
		return
	}
	n.j.kernel.At(w.at, (*stage)(x), 0)
}

func (n *torus) count(p *port, dst, r int, c change) int64 {
	return p.count(&n.regs[dst], n.latency(p.rank, int32(dst)), n.Counter, n.latency(int32(dst), p.rank), dst, r, c)
}
