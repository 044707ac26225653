package fabric

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
)

// Steps of a remote access.
const (
	putStarted    = iota // the interface has the write request
	getRequested         // the read request has arrived at the target's interface
	dataArrived          // the last byte has arrived
	acknowledged         // the acknowledgement has arrived at the origin
	doorbellRung         // an RDMA interface has the work request
	requestServed        // it starts to carry out the request
	dataReceived         // it has completed earlier messages and this one
)

// StartAccess starts an access, which the interfaces carry out. Writes of a rank leave in order
// with its packets.
func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	if n.nics != nil {
		n.startAccessByNIC(p, x)
		return
	}
	start, name := n.Put, "fabric.put"
	if x.IsGet {
		start, name = n.Get, "fabric.get"
	}
	p.Charge(start)
	p.Probe.AccessStarted(p, x)
	p.Probe.ProcessorActivityUntil(p, p.Clock, name, model.SendActivity, 0)
	p.ElapseCharges()
	t := p.Kernel.Now()
	x.Transit = core.Transit{Step: putStarted}
	if x.IsGet {
		latency := n.latencyBetween(x.Src, x.Dst)
		p.Probe.AccessRequestOrConfirmationSent(x, "get", x.Src, x.Dst, t, t+latency)
		x.Transit.Step = getRequested
		t += latency
	}
	p.Kernel.Schedule(t, (*accessStepEvent)(x), 0)
}

// accessStepEvent is an access as the event handler of its next step.
type accessStepEvent core.RemoteAccess

// HandleEvent carries out the step.
func (s *accessStepEvent) HandleEvent(uint64) {
	s.Network.(*network).advanceAccess((*core.RemoteAccess)(s))
}

func (n *network) advanceAccess(x *core.RemoteAccess) {
	k := &n.job.Kernel
	switch x.Transit.Step {
	case putStarted:
		n.enqueueTransfer(x.Src-int32(n.FirstRank), transfer{access: x, from: n.hostOf(x.Src), to: n.hostOf(x.Dst), size: len(x.Data)})
	case getRequested:
		from := n.hostOf(x.Dst)
		if n.nics != nil {
			n.answerGetByNIC(x, from)
			return
		}
		n.enqueueTransfer(int32(n.RankCount)+from, transfer{access: x, from: from, to: n.hostOf(x.Src), size: len(x.Data)})
	case doorbellRung:
		x.Transit.Step = requestServed
		if t := n.reserveSendEngine(n.hostOf(x.Src), x, n.NIC.Message); t > k.Now() {
			k.Schedule(t, (*accessStepEvent)(x), 0)
			return
		}
		n.advanceAccess(x)
	case requestServed:
		n.beginAccessByNIC(x)
	case dataArrived:
		if n.nics != nil {
			n.receivePart(x)
			return
		}
		n.moveData(x)
	case dataReceived:
		n.moveData(x)
	case acknowledged:
		x.Complete()
	}
}

// moveData copies the data of an access that has arrived, and acknowledges a write.
func (n *network) moveData(x *core.RemoteAccess) {
	k := &n.job.Kernel
	x.CopyData()
	if x.IsGet || x.EndsWithoutCompletion() {
		x.Complete()
		return
	}
	x.Transit.Step = acknowledged
	back := n.firstByteTime(x.Dst, x.Src)
	if n.nics == nil {
		back += n.Deliver
	}
	n.job.Probe.AccessRequestOrConfirmationSent(x, "done", x.Dst, x.Src, k.Now(), k.Now()+back)
	k.Schedule(k.Now()+back, (*accessStepEvent)(x), 0)
}
