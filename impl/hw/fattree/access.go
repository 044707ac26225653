package fattree

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Steps of a remote access.
const (
	flowing   = iota // chunks leave
	arrived          // the last byte has arrived
	confirmed        // the acknowledgement has arrived at the writer
)

// Start begins an access. The engines of both interfaces carry it while the processor continues.
// They are connected until its end, and an engine has one connection at a time.
func (n *network) Start(p *core.Port, x *core.Access) {
	ch, name := n.Put, "fattree.put.start"
	if x.Get {
		ch, name = n.Get, "fattree.get.start"
	}
	p.Charge(ch.Start)
	p.Probe.Starts(p, x)
	p.Probe.Until(p, p.Clock, name, model.Sending, 0)
	p.Pay()
	long := ch.Bandwidth.Time(len(x.Bytes))
	source, target := n.Switched.Node(p.ID), n.Switched.Node(x.Dst)
	if x.Get {
		source, target = target, source
	}
	engine, accept := &n.engines[source], &n.accept[target]
	if n.HalfDuplex {
		accept = &n.engines[target]
	}
	t := engine.Reserve(max(p.Kernel.Now(), accept.Free()), long) // connects both
	accept.Reserve(t, long)
	p.Probe.Takes(engine, x, model.Carrying, t, long, len(x.Bytes))
	p.Probe.Takes(accept, x, model.Carrying, t, long, len(x.Bytes))
	if x.Get {
		latency := n.Switched.Latency(x.Src, x.Dst)
		p.Probe.Signals(x, "get", x.Src, x.Dst, t, t+latency)
		t += latency
	}
	x.Wire = core.Wire{Step: flowing, At: t, Size: len(x.Bytes), Long: long}
	p.Kernel.At(t, (*stage)(x), 0)
}

// stage is an access as the event of its next step.
type stage core.Access

// Act takes the step.
func (s *stage) Act(uint64) { s.Net.(*network).move((*core.Access)(s)) }

func (n *network) move(x *core.Access) {
	w := &x.Wire
	k := &n.J.Kernel
	switch w.Step {
	case flowing:
		from, to, f := x.Src, x.Dst, &n.put
		if x.Get {
			from, to, f = x.Dst, x.Src, &n.get
		}
		if _, last := n.Flow(x, w, f, from, to, core.Forever); !last {
			k.At(w.At, (*stage)(x), 0)
		}
	case arrived:
		x.Move()
		if x.Get || x.Unawaited() {
			x.Finish()
			return
		}
		w.Step = confirmed
		confirmed := k.Now() + n.Switched.Latency(x.Dst, x.Src)
		n.J.Probe.Signals(x, "done", x.Dst, x.Src, k.Now(), confirmed)
		k.At(confirmed, (*stage)(x), 0)
	case confirmed:
		x.Finish()
	}
}

// Landed implements core.Router.
func (n *network) Landed(x *core.Access, t unit.Time) {
	x.Wire.Step = arrived
	n.J.Kernel.At(t, (*stage)(x), 0)
}
