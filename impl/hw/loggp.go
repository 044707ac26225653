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

func newLogGP(j *job) *loggp {
	n := len(j.ports)
	return &loggp{j.cfg.Machine.LogGP, make([]sim.Server, n), make([]sim.Server, n)}
}

// long returns (k−1)·G.
func (n *loggp) long(k int) unit.Time { return n.BigGap.Time(max(k-1, 0)) }

func (n *loggp) send(p *port, pk *packet) {
	p.charge(n.SendO)
	s := n.out[p.rank].Reserve(p.clock, n.Gap+n.long(len(pk.Data)))
	p.clock = s
	p.ahead++
	p.kernel.At(s+n.L, pk, 0)
}

func (n *loggp) movePacket(pk *packet) {
	k := &pk.j.kernel
	pk.j.ports[pk.Src].ahead--
	long := n.long(len(pk.Data))
	in := &n.in[pk.dst]
	behind := in.Free() >= k.Now() // of a packet whose last byte may come now, too, by an event to come
	if t := in.Reserve(k.Now(), n.Gap+long) + long; t > k.Now() || behind {
		k.At(t, (*arrival)(pk), 0)
		return
	}
	pk.arrive()
}

func (n *loggp) receive(p *port, _ *packet) { p.charge(n.RecvO) }

func (n *loggp) start(p *port, x *access) {
	from := p.rank
	if x.get {
		from = x.dst
	} else {
		p.charge(n.SendO)
	}
	t := p.clock
	if !x.get {
		t = n.out[from].Reserve(t, n.Gap+n.long(len(x.b)))
	}
	p.kernel.At(t+n.long(len(x.b))+n.L, x, 0)
}

func (n *loggp) moveAccess(x *access) {
	x.move()
	x.finish()
}

func (n *loggp) add(p *port, dst, r int, delta int64) int64 {
	p.charge(n.SendO)
	p.pay()
	p.proc.Sleep(n.L)
	c := &p.ports[dst].counters[r]
	old := *c
	*c += delta
	p.proc.Sleep(n.L)
	p.catchUp()
	return old
}
