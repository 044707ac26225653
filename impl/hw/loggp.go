package hw

import (
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// loggp is the machine of the model and nothing below it. Every processor has one interface out and one in; each
// takes a message of k bytes for g + (k−1)·G. The processor that finds its interface out busy waits for it.
//
// Remote access is that of equations (4) to (7) of Al-Tawil and Moritz: a read costs L + (k−1)·G and no processor,
// a write o_s, then (k−1)·G + L until it is there and known to be.
type loggp struct {
	*model.LogGP
	out, in []sim.Server
}

func newLogGP(j *job) network {
	m := len(j.ports)
	n := &loggp{j.cfg.Machine.Network.(*model.LogGP), make([]sim.Server, m), make([]sim.Server, m)}
	for i := range m {
		j.probe.names(&n.out[i], "rank %d out", i)
		j.probe.names(&n.in[i], "rank %d in", i)
	}
	return n
}

// open implements network.
func (n *loggp) open(p *port) end { return p.on(n) }

// long returns (k−1)·G.
func (n *loggp) long(k int) unit.Time { return n.BigGap.Time(max(k-1, 0)) }

func (n *loggp) send(p *port, pk *packet) {
	p.charge(n.SendO)
	p.probe.sends(p, pk, "loggp.o_s")
	s := n.leave(p, pk, len(pk.Data))
	p.probe.until(p, s, "g", model.Waiting, 0)
	p.clock = s
	p.ahead++
	p.kernel.At(s+n.L, (*entry)(pk), 0)
}

// leave takes the interface out of a processor, whose o_s has passed, for k bytes of x, and returns when it was free.
func (n *loggp) leave(p *port, x any, k int) unit.Time {
	d := n.Gap + n.long(k)
	t := n.out[p.rank].Reserve(p.clock, d)
	p.probe.until(p, p.clock, "loggp.o_s", model.Sending, 0)
	p.probe.takes(&n.out[p.rank], x, model.Carrying, t, d, k)
	p.probe.departs(x, t)
	return t
}

// entry is the event of a packet that is at the interface into its destination.
type entry packet

// Act lets it in.
func (e *entry) Act(uint64) { e.j.net.(*loggp).enter((*packet)(e)) }

// enter takes the interface into a processor for a packet.
func (n *loggp) enter(pk *packet) {
	k := &pk.j.kernel
	pk.j.ports[pk.Src].ahead--
	long := n.long(len(pk.Data))
	in := &n.in[pk.dst]
	behind := in.Free() >= k.Now() // of a packet whose last byte may come now, too, by an event to come
	t := in.Reserve(k.Now(), n.Gap+long)
	pk.j.probe.takes(in, pk, model.Carrying, t, n.Gap+long, len(pk.Data))
	pk.j.probe.lands(pk, t+long)
	if t += long; t > k.Now() || behind {
		k.At(t, (*arrival)(pk), 0)
		return
	}
	pk.arrive()
}

func (n *loggp) receive(p *port, _ *packet) {
	p.charge(n.RecvO)
	p.probe.until(p, p.clock, "loggp.o_r", model.Receiving, 0)
}

func (n *loggp) start(p *port, x *access) {
	t, long := p.clock, n.long(len(x.b))
	p.probe.starts(p, x)
	p.probe.departs(x, t)
	if !x.get {
		p.charge(n.SendO)
		t = n.leave(p, x, len(x.b))
	}
	p.probe.lands(x, t+long+n.L)
	p.kernel.At(t+long+n.L, (*outcome)(x), 0)
}

// outcome is the event of an access that is there.
type outcome access

// Act carries it out.
func (o *outcome) Act(uint64) {
	x := (*access)(o)
	x.move()
	x.finish()
}

func (n *loggp) count(p *port, dst, r int, c change) int64 {
	p.charge(n.SendO)
	p.probe.until(p, p.clock, "loggp.o_s", model.Sending, 0)
	p.pay()
	p.proc.Sleep(n.L)
	old := c.make(&p.ports[dst].counters[r])
	p.proc.Sleep(n.L)
	p.catchUp()
	return old
}
