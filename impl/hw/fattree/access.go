package fattree

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Steps of a remote access.
const (
	sendingChunks = iota // chunks leave
	dataArrived          // the last byte has arrived
	acknowledged         // the acknowledgement has arrived at the origin
)

// StartAccess starts an access. The engines of both interfaces carry it out while the processor
// continues. They are connected until its end; an engine has one connection at a time.
func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	ch, name := n.Put, "fattree.put.start"
	if x.IsGet {
		ch, name = n.Get, "fattree.get.start"
	}
	p.Charge(ch.Start)
	p.Probe.AccessStarted(p, x)
	p.Probe.ProcessorActivityUntil(p, p.Clock, name, model.SendActivity, 0)
	p.ElapseCharges()
	long := ch.Bandwidth.Time(len(x.Data))
	source, target := n.SwitchedNetwork.NodeOf(p.ID), n.SwitchedNetwork.NodeOf(x.Dst)
	if x.IsGet {
		source, target = target, source
	}
	engine, accept := &n.engines[source], &n.acceptors[target]
	if n.HalfDuplex {
		accept = &n.engines[target]
	}
	t := engine.Reserve(max(p.Kernel.Now(), accept.FreeAt()), long) // reserves both engines
	accept.Reserve(t, long)
	p.Probe.ServerOccupied(engine, x, model.CarryActivity, t, long, len(x.Data))
	p.Probe.ServerOccupied(accept, x, model.CarryActivity, t, long, len(x.Data))
	if x.IsGet {
		latency := n.SwitchedNetwork.LatencyBetween(x.Src, x.Dst)
		p.Probe.AccessRequestOrConfirmationSent(x, "get", x.Src, x.Dst, t, t+latency)
		t += latency
	}
	x.Transit = core.Transit{Step: sendingChunks, NextTime: t, Size: len(x.Data), Duration: long}
	p.Kernel.Schedule(t, (*accessStepEvent)(x), 0)
}

// accessStepEvent is an access as the event handler of its next step.
type accessStepEvent core.RemoteAccess

// HandleEvent carries out the step.
func (s *accessStepEvent) HandleEvent(uint64) {
	s.Network.(*network).advanceAccess((*core.RemoteAccess)(s))
}

func (n *network) advanceAccess(x *core.RemoteAccess) {
	w := &x.Transit
	k := &n.Job.Kernel
	switch w.Step {
	case sendingChunks:
		from, to, f := x.Src, x.Dst, &n.putFlow
		if x.IsGet {
			from, to, f = x.Dst, x.Src, &n.getFlow
		}
		if _, last := n.SendChunk(x, w, f, from, to, core.EndOfVirtualTime); !last {
			k.Schedule(w.NextTime, (*accessStepEvent)(x), 0)
		}
	case dataArrived:
		x.CopyData()
		if x.IsGet || x.EndsWithoutCompletion() {
			x.Complete()
			return
		}
		w.Step = acknowledged
		confirmed := k.Now() + n.SwitchedNetwork.LatencyBetween(x.Dst, x.Src)
		n.Job.Probe.AccessRequestOrConfirmationSent(x, "done", x.Dst, x.Src, k.Now(), confirmed)
		k.Schedule(confirmed, (*accessStepEvent)(x), 0)
	case acknowledged:
		x.Complete()
	}
}

// ScheduleAccessArrival implements core.Router.
func (n *network) ScheduleAccessArrival(x *core.RemoteAccess, t unit.Time) {
	x.Transit.Step = dataArrived
	n.Job.Kernel.Schedule(t, (*accessStepEvent)(x), 0)
}
