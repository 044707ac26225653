// Package torus emulates a three-dimensional torus of nodes with remote memory access.
package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is a torus. What a processor or a transfer engine sends goes in chunks, so that others can
// pass between those of a long transfer. A chunk enters by the interface of its node and leaves by
// that of the other (switch.go). Its processor knows at once how long the interface made it wait;
// what happens farther on delays nobody but those that wait there.
type network struct {
	*model.Torus
	core.Ends
	j       *core.Job
	shape   [3]int
	link    core.Pace
	store   core.Pace    // of a processor that sends
	inject  []sim.Server // one a node
	outputs []output     // of the switches, numOutputs a node
	engines []sim.Server // transfer engines, one a node
	ways    []way        // the last that was used from each node
	ranks   []rank
	spare   *chunk // chunks to use again
}

// rank is what the torus keeps of a rank.
type rank struct {
	node    int32
	leaving core.List // packets that are leaving, in order
	left    unit.Time // when the last byte of the last that left has left
	pushing int32     // puts that the engine carries for the rank and that have not left
	memory  sim.Server
	taken   unit.Time    // how long others have had the memory in all
	reading *core.Access // by the processor, until it has all of it
	reg     core.Register
}

// New returns a torus that joins ranks of a job.
func New(j *core.Job, t *model.Torus, e core.Ends) core.Network {
	shape := t.Shape(e.N)
	nodes := shape[0] * shape[1] * shape[2]
	n := &network{
		Torus: t, Ends: e, j: j, shape: shape, link: core.Pace{Rate: t.Link}, store: core.Pace{Rate: t.Send.Bandwidth},
		inject: make([]sim.Server, nodes), outputs: outputs(shape), engines: make([]sim.Server, nodes),
		ways: make([]way, nodes), ranks: make([]rank, e.Ranks),
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

// departure is the event of a packet whose next chunk leaves.
type departure core.Packet

// Act lets it leave.
func (d *departure) Act(uint64) { d.Net.(*network).movePacket((*core.Packet)(d), forever) }

// stage is the event of an access's next step.
type stage core.Access

// Act takes it.
func (s *stage) Act(uint64) { s.Net.(*network).moveAccess((*core.Access)(s)) }

// Steps of a remote access.
const (
	flowing   = iota // chunks leave
	found            // the next has been read from memory
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
	p.Charge(pk.Wire.Long)
	p.Ahead++
	first := me.leaving.Head == nil
	me.leaving.Push(pk)
	switch {
	case !first:
	case p.Kernel.Quiet(pk.Wire.At):
		n.movePacket(pk, p.Clock)
	default:
		p.Kernel.At(pk.Wire.At, (*departure)(pk), 0)
	}
}

func (n *network) Receive(p *core.Port, _ *core.Packet) {
	p.Charge(n.Torus.Receive)
	p.Probe.Until(p, p.Clock, "torus.receive", model.Receiving, 0)
}

// movePacket lets the next chunk leave, and decides what becomes of it until a time. The processor
// that stores it is behind its own clock where the network was late to take it.
func (n *network) movePacket(pk *core.Packet, until unit.Time) {
	w := &pk.Wire
	p := &n.j.Ports[pk.Src]
	at := w.At
	late, last := n.flow(pk, w, n.Header+len(pk.Data), n.Torus.Send.Bandwidth, p.ID, pk.Dst, until)
	p.Clock += late
	p.Late += late
	p.Probe.Delays(p, pk, at, late, "network", model.Blocked)
	if !last {
		n.j.Kernel.At(w.At, (*departure)(pk), 0)
		return
	}
	p.Ahead--
	me := n.rank(p.ID)
	me.left = w.At
	me.leaving.Pop()
	if next := me.leaving.Head; next != nil {
		next.Wire.At = max(next.Wire.At+p.Late-next.Wire.Late, me.left)
		n.j.Kernel.At(next.Wire.At, (*departure)(next), 0)
	}
}

// flow sends the next chunk of a transfer of so many bytes at a rate. It returns how late the
// network took it, and whether it was the last; w.At is then the time when its last byte has left.
func (n *network) flow(of any, w *core.Wire, bytes int, rate unit.Rate, from, to int32, until unit.Time) (late unit.Time, last bool) {
	b := min(n.Chunk, bytes-w.Pos)
	last = w.Pos+b >= bytes
	dur := w.Long
	if !last {
		dur = rate.Time(w.Pos + b)
	}
	if w.Pos > 0 {
		dur -= rate.Time(w.Pos)
	}
	entered := n.launch(of, w.At, from, to, b, dur, last, until)
	if w.Pos == 0 {
		n.j.Probe.Departs(of, entered)
	}
	w.Pos += b
	late, w.At = entered-w.At, entered+dur
	return late, last
}

// Start lets the engine of the node carry an access if that takes no longer, or else the processor.
func (n *network) Start(p *core.Port, x *core.Access) {
	ch, name := n.Put, "torus.put.start"
	if x.Get {
		ch, name = n.Get, "torus.get.start"
	}
	engine := n.ByEngine(ch, len(x.Bytes))
	if engine {
		ch, name = n.Engine, "torus.engine.start"
	}
	p.Charge(ch.Start)
	p.Probe.Starts(p, x)
	p.Probe.Until(p, p.Clock, name, model.Sending, 0)
	p.Pay()
	x.Wire = core.Wire{Step: flowing, At: p.Kernel.Now(), Long: ch.Bandwidth.Time(len(x.Bytes)), Engine: engine}
	w := &x.Wire
	me := n.rank(p.ID)
	if engine {
		e := &n.engines[n.node(p.ID)]
		w.At = e.Reserve(max(w.At, me.left), w.Long)
		p.Probe.Takes(e, x, model.Carrying, w.At, w.Long, len(x.Bytes))
	}
	switch {
	case x.Get:
		n.j.Probe.Signals(x, "get", x.Src, x.Dst, w.At, w.At+n.latency(x.Src, x.Dst))
		w.At += n.latency(x.Src, x.Dst)
		p.Kernel.At(w.At, (*stage)(x), 0)
		if engine {
			return
		}
		for me.reading = x; me.reading != nil; {
			p.Park()
			p.Probe.Until(p, p.Clock, "", model.Waiting, 0)
		}
	case engine:
		me.pushing++
		p.Kernel.At(w.At, (*stage)(x), 0)
	default:
		n.write(p, x)
	}
}

// write lets the processor store the data of a put into the network, behind what it has stored before
// and what the engine carries for it. While others use its memory it cannot read there. It goes on when
// the last bytes are in its write buffer.
func (n *network) write(p *core.Port, x *core.Access) {
	me, w := n.rank(p.ID), &x.Wire
	size := len(x.Bytes)
	for me.pushing > 0 {
		p.Park()
	}
	p.Clock = max(p.Clock, me.left)
	p.Pay()
	p.Probe.Until(p, p.Clock, "network", model.Blocked, 0)
	w.At = p.Clock
	for last := false; !last; {
		before, taken := w.Pos, me.taken
		_, last = n.flow(x, w, size, n.Put.Bandwidth, p.ID, x.Dst, w.At)
		me.left = w.At
		p.Clock = w.At
		if last {
			p.Clock -= n.Buffered(size)
		}
		p.Probe.Until(p, p.Clock, "torus.put.bandwidth", model.Sending, min(size, before+n.Chunk)-before)
		p.Pay()
		for taken < me.taken {
			taken, p.Clock = me.taken, p.Clock+me.taken-taken
			p.Probe.Until(p, p.Clock, "memory", model.Blocked, 0)
			p.Pay()
		}
		if !last { // else the access may be over
			w.At = max(w.At, p.Clock)
		}
	}
}

func (n *network) moveAccess(x *core.Access) {
	w := &x.Wire
	k := &n.j.Kernel
	switch w.Step {
	case flowing:
		if x.Get {
			if t := n.use(x.Dst, k.Now(), min(n.Chunk, len(x.Bytes)-w.Pos)); t > k.Now() {
				w.Step, w.At = found, t
				k.At(t, (*stage)(x), 0)
				return
			}
		}
		fallthrough
	case found:
		w.Step = flowing
		from, to, rate := x.Src, x.Dst, n.Engine.Bandwidth
		if x.Get {
			from, to = x.Dst, x.Src
			if !w.Engine {
				rate = n.Get.Bandwidth
			}
		}
		_, last := n.flow(x, w, len(x.Bytes), rate, from, to, forever)
		switch {
		case !last:
			k.At(w.At, (*stage)(x), 0)
		case !x.Get: // by the engine
			me := n.rank(x.Src)
			me.left = max(me.left, w.At)
			if me.pushing--; me.pushing == 0 {
				n.j.Ports[x.Src].Wake()
			}
		}
	case arrived:
		x.Move()
		if me := n.rank(x.Src); me.reading == x {
			me.reading = nil
		}
		if x.Get || x.Unawaited() {
			x.Finish()
			return
		}
		w.Step = confirmed
		confirmed := k.Now() + n.latency(x.Dst, x.Src)
		n.j.Probe.Signals(x, "done", x.Dst, x.Src, k.Now(), confirmed)
		k.At(confirmed, (*stage)(x), 0)
	case confirmed:
		x.Finish()
	}
}

// use occupies the memory of a rank with bytes that others write or read there, from the first time at
// or after t at which it is free, and returns that time.
func (n *network) use(rank int32, t unit.Time, bytes int) unit.Time {
	if n.Memory == 0 {
		return t
	}
	r, hold := n.rank(rank), n.Memory.Time(bytes)
	r.taken += hold
	return r.memory.Reserve(t, hold)
}

// target returns the rank to whose memory the bytes of a transfer go.
func target(of any) int32 {
	switch of := of.(type) {
	case *core.Packet:
		return of.Dst
	case *core.Access:
		if !of.Get {
			return of.Dst
		}
		return of.Src
	}
	panic("torus: a transfer of neither a packet nor an access")
}

// landed schedules the end of a transfer whose last byte is there at a time.
func (n *network) landed(of any, t unit.Time) {
	n.j.Probe.Lands(of, t)
	switch of := of.(type) {
	case *core.Packet:
		n.j.Kernel.At(t, (*core.Arrival)(of), 0)
	case *core.Access:
		of.Wire.Step = arrived
		n.j.Kernel.At(t, (*stage)(of), 0)
	}
}

func (n *network) Count(p *core.Port, dst, r int, c core.Change) int64 {
	return n.rank(int32(dst)).reg.Count(p, n.latency(p.ID, int32(dst)), n.Counter, n.latency(int32(dst), p.ID), dst, r, c)
}
