// Package fattree emulates a fat tree of switches whose interfaces are used by programmed I/O. New
// returns a core.Network.
package fattree

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is a fat tree with the switches of core.SwitchedNetwork. A packet of the interface is a
// chunk. The sending processor stores one packet after another. The receiving processor reads them
// when the last packet of the message has arrived.
type network struct {
	core.SwitchedNetwork[route]
	*model.FatTree
	levels           []level
	putFlow, getFlow core.Chunking // of remote accesses
	engines          []sim.Server  // carry out accesses; one per end
	acceptors        []sim.Server  // receive puts of others; one per end
	locks            []sim.Server  // of interfaces shared by ranks; one per end; nil: none is shared
}

// New returns a fat tree that connects ranks of a job.
func New(j *core.Job, t *model.FatTree, e core.AttachedRanks) core.Network {
	n := newNetwork(t, e.InterfaceCount)
	n.engines, n.acceptors = make([]sim.Server, e.InterfaceCount), make([]sim.Server, e.InterfaceCount)
	if e.RankCount > e.InterfaceCount {
		n.locks = make([]sim.Server, e.InterfaceCount)
	}
	top := n.levels[len(n.levels)-1]
	n.SwitchOutputs = make([]core.SwitchOutput[route], int(top.firstOutput)+top.switches*(t.Arity+top.upLinks))
	n.PacketSendChunking = core.Chunking{ChunkBytes: t.Packet.Payload, LinkOverheadBytes: t.Packet.Header, TimeOfFirstBytes: n.storeTime}
	n.putFlow = core.Chunking{ChunkBytes: t.Chunk, TimeOfFirstBytes: t.Put.Bandwidth.Time}
	n.getFlow = core.Chunking{ChunkBytes: t.Chunk, TimeOfFirstBytes: t.Get.Bandwidth.Time}
	n.Initialize(j, e, n, e.InterfaceCount, t.Link, t.Deliver, t.Node)
	j.Probe.ReportIfObserved(n, 0)
	return n
}

// newNetwork returns a fat tree with a number of ends and no ranks.
func newNetwork(t *model.FatTree, ends int) *network {
	return &network{FatTree: t, levels: levels(t, ends)}
}

// storeTime returns the time in which a processor stores the first n bytes of a message.
func (n *network) storeTime(bytes int) unit.Time {
	return n.ProcessorTimeOfBytes(n.FatTree.Send, bytes)
}

func (n *network) Send(p *core.Port, pk *core.Packet) {
	bytes := n.Header + len(pk.Data)
	long := n.storeTime(bytes)
	n.acquireLock(p, long)
	p.Probe.PacketSent(p, pk, "fattree.send")
	n.SendPacketInChunks(p, pk, bytes, long)
}

func (n *network) Receive(p *core.Port, pk *core.Packet) {
	long := n.ProcessorTimeOfBytes(n.FatTree.Receive, n.Header+len(pk.Data))
	p.Probe.ProcessorActivityUntil(p, p.Clock, "", model.ReceiveActivity, 0) // ends a wait
	n.acquireLock(p, long)
	p.Charge(long)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fattree.receive", model.ReceiveActivity, 0)
}

// MaxMessageBytes and the methods below implement core.ChannelNetwork: a message of the channel is
// one packet.
func (n *network) MaxMessageBytes() int { return n.Packet.Payload }

func (n *network) QueueCapacity() int { return n.PriorityQueueLength }

// BusyUntil returns the time until which a message of high priority waits for transfers of both
// interfaces, whose packets use the high-priority queues.
func (n *network) BusyUntil(p *core.Port, dst int, high bool) unit.Time {
	if !high {
		return 0
	}
	var until unit.Time
	for _, end := range []int{n.SwitchedNetwork.NodeOf(p.ID), n.SwitchedNetwork.NodeOf(int32(dst))} {
		until = max(until, n.engines[end].FreeAt(), n.acceptors[end].FreeAt())
	}
	if until <= p.Kernel.Now() {
		return 0
	}
	return until
}

// SendMessage stores a message of the channel, which has no library header.
func (n *network) SendMessage(p *core.Port, pk *core.Packet) {
	p.Probe.PacketSent(p, pk, "fattree.send")
	n.SendPacketInChunks(p, pk, len(pk.Data), n.storeTime(len(pk.Data)))
}

func (n *network) ChargeReceive(p *core.Port, pk *core.Packet) {
	p.Charge(n.ProcessorTimeOfBytes(n.FatTree.Receive, len(pk.Data)))
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fattree.receive", model.ReceiveActivity, 0)
}

// SendsAtKernelTime implements core.KernelTimeSender: a rank waits for the lock of its interface.
func (n *network) SendsAtKernelTime() bool { return n.locks != nil }

// acquireLock acquires the lock of the processor's interface, and holds it while it moves a
// message, for a duration. Other processors of the node wait for the lock.
func (n *network) acquireLock(p *core.Port, long unit.Time) {
	if n.locks != nil {
		p.ElapseCharges()
		l := &n.locks[n.SwitchedNetwork.NodeOf(p.ID)]
		t := l.Reserve(p.Clock, n.InterfaceLock+long)
		p.Probe.ServerOccupied(l, "lock", model.CarryActivity, t, n.InterfaceLock+long, 0)
		p.Probe.ProcessorActivityUntil(p, t, "fattree.lock", model.BlockedActivity, 0)
		p.Clock = t
	}
	if n.InterfaceLock > 0 {
		p.Charge(n.InterfaceLock)
		p.Probe.ProcessorActivityUntil(p, p.Clock, "fattree.lock", model.SendActivity, 0)
	}
}

func (n *network) UpdateRegister(*core.Port, int, int, core.RegisterUpdate) int64 {
	panic("hw: interfaces of a fat tree have no counters")
}

// Report names the servers that packets wait for.
func (n *network) Report(uint64) {
	for i := range n.Injectors {
		n.Job.Probe.SetServerName(&n.engines[i], "%sinterface %d engine", n.NamePrefix, i)
		n.Job.Probe.SetServerName(&n.acceptors[i], "%sinterface %d accept", n.NamePrefix, i)
		if n.locks != nil {
			n.Job.Probe.SetServerName(&n.locks[i], "%sinterface %d lock", n.NamePrefix, i)
		}
		n.Job.Probe.SetServerName(&n.Injectors[i], "%sinterface %d inject", n.NamePrefix, i)
	}
	for l, v := range n.levels {
		for s := range v.switches {
			of := n.SwitchOutputs[int(v.firstOutput)+s*(n.Arity+v.upLinks):]
			for i := range n.Arity {
				n.Job.Probe.SetServerName(&of[i].Server, "%slevel %d switch %d down %d", n.NamePrefix, l+1, s, i)
			}
			for i := range v.upLinks {
				n.Job.Probe.SetServerName(&of[n.Arity+i].Server, "%slevel %d switch %d up %d", n.NamePrefix, l+1, s, i)
			}
		}
	}
}
