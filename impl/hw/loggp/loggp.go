// Package loggp emulates the machine of the LogGP model. New returns a core.Network.
package loggp

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is the machine of the LogGP model, without further details. Every processor has one
// outgoing and one incoming interface. A message of k bytes occupies each for g + (k−1)·G. A
// processor waits if its outgoing interface is busy.
//
// Remote accesses follow equations (4) to (7) of Al-Tawil and Moritz. A read takes L + (k−1)·G
// without processor time. A write takes o_s, then (k−1)·G + L until it has arrived and its
// completion is known.
type network struct {
	*model.LogGP
	core.AttachedRanks
	job                         *core.Job
	outInterfaces, inInterfaces []sim.Server // by end
	interfaceOfRank             []int32      // by rank
}

// New returns a LogGP machine that connects ranks of a job.
func New(j *core.Job, g *model.LogGP, e core.AttachedRanks) core.Network {
	n := &network{LogGP: g, AttachedRanks: e, job: j, outInterfaces: make([]sim.Server, e.InterfaceCount), inInterfaces: make([]sim.Server, e.InterfaceCount), interfaceOfRank: make([]int32, e.RankCount)}
	for i := range n.interfaceOfRank {
		n.interfaceOfRank[i] = int32(e.InterfaceOf(e.FirstRank + i))
	}
	j.Probe.ReportIfObserved(n, 0)
	return n
}

// Report gives names to the interfaces.
func (n *network) Report(uint64) {
	what := "rank"
	if n.InterfaceCount != n.RankCount {
		what = "interface"
	}
	for i := range n.outInterfaces {
		n.job.Probe.SetServerName(&n.outInterfaces[i], "%s%s %d out", n.NamePrefix, what, i)
		n.job.Probe.SetServerName(&n.inInterfaces[i], "%s%s %d in", n.NamePrefix, what, i)
	}
}

// interfaceOf returns the interface of a rank of the job.
func (n *network) interfaceOf(rank int32) int32 { return n.interfaceOfRank[int(rank)-n.FirstRank] }

// lengthTime returns (k−1)·G.
func (n *network) lengthTime(k int) unit.Time { return n.GapPerByte.Time(max(k-1, 0)) }

func (n *network) Send(p *core.Port, pk *core.Packet) {
	p.Charge(n.SendOverhead)
	p.Probe.PacketSent(p, pk, "loggp.o_s")
	s := n.occupyOutInterface(p, pk, len(pk.Data))
	p.Probe.ProcessorActivityUntil(p, s, "g", model.WaitActivity, 0)
	p.Clock = s
	p.PendingSends++
	p.Kernel.Schedule(s+n.L, (*receiverArrivalEvent)(pk), 0)
}

// occupyOutInterface reserves the outgoing interface of a processor, after its o_s, for k bytes of
// x. It returns when the interface became free.
func (n *network) occupyOutInterface(p *core.Port, x any, k int) unit.Time {
	d := n.Gap + n.lengthTime(k)
	t := n.outInterfaces[n.interfaceOf(p.ID)].Reserve(p.Clock, d)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "loggp.o_s", model.SendActivity, 0)
	p.Probe.ServerOccupied(&n.outInterfaces[n.interfaceOf(p.ID)], x, model.CarryActivity, t, d, k)
	p.Probe.FirstByteDeparted(x, t)
	return t
}

// receiverArrivalEvent is the event that a packet has arrived at the destination's incoming
// interface.
type receiverArrivalEvent core.Packet

// HandleEvent passes the packet to the interface.
func (e *receiverArrivalEvent) HandleEvent(uint64) {
	e.Network.(*network).occupyInInterface((*core.Packet)(e))
}

// occupyInInterface reserves the destination's incoming interface for a packet.
func (n *network) occupyInInterface(pk *core.Packet) {
	k := &pk.Job.Kernel
	pk.Job.Ports[pk.Src].PendingSends--
	long := n.lengthTime(len(pk.Data))
	in := &n.inInterfaces[n.interfaceOf(pk.Dst)]
	behind := in.FreeAt() >= k.Now() // a packet whose last byte arrives now may still have an event to come
	t := in.Reserve(k.Now(), n.Gap+long)
	pk.Job.Probe.ServerOccupied(in, pk, model.CarryActivity, t, n.Gap+long, len(pk.Data))
	pk.Job.Probe.LastByteArrived(pk, t+long)
	if t += long; t > k.Now() || behind {
		k.Schedule(t, (*core.ArrivalEvent)(pk), 0)
		return
	}
	pk.Arrive()
}

func (n *network) Receive(p *core.Port, _ *core.Packet) {
	p.Charge(n.RecvOverhead)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "loggp.o_r", model.ReceiveActivity, 0)
}

func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	t, long := p.Clock, n.lengthTime(len(x.Data))
	p.Probe.AccessStarted(p, x)
	p.Probe.FirstByteDeparted(x, t)
	if !x.IsGet {
		p.Charge(n.SendOverhead)
		t = n.occupyOutInterface(p, x, len(x.Data))
	}
	p.Probe.LastByteArrived(x, t+long+n.L)
	p.Kernel.Schedule(t+long+n.L, (*accessEndEvent)(x), 0)
}

// accessEndEvent is the event that a remote access is complete.
type accessEndEvent core.RemoteAccess

// HandleEvent copies the data and completes the access.
func (o *accessEndEvent) HandleEvent(uint64) {
	x := (*core.RemoteAccess)(o)
	x.CopyData()
	x.Complete()
}

func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	p.Charge(n.SendOverhead)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "loggp.o_s", model.SendActivity, 0)
	p.ElapseCharges()
	p.Sleep(n.L)
	old := p.UpdateRegisterOf(dst, r, c)
	p.Sleep(n.L)
	p.AdvanceToKernel()
	return old
}
