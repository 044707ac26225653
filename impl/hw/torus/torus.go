// Package torus emulates a three-dimensional torus of nodes with remote memory access.
package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is a torus. Its switches are those of core.SwitchedNetwork.
type network struct {
	core.SwitchedNetwork[route]
	*model.Torus
	shape            [3]int
	neighbours       []int32         // the node behind each output, numOutputs a node
	store            core.CachedRate // of a processor that sends
	put, get, engine core.ChunkFlow  // of remote accesses
	engines          []sim.Server    // transfer engines, one a node
	ways             []way           // the last that was used from each node
	ranks            []rank
	line             int // bytes of a line of memory
}

// rank is the state of a rank's processor and memory in the torus.
type rank struct {
	store
	pushing int32 // puts that the engine carries for the rank and that have not left
	memory  memory
	taken   unit.Time          // how long others have kept the processor from its memory, in total
	reading *core.RemoteAccess // by the processor, until it has all of it
	reg     core.RegisterServer
}

// New returns a torus that joins ranks of a job.
func New(j *core.Job, t *model.Torus, e core.Attachment) core.Network {
	n := newNetwork(t, t.Shape(e.Interfaces))
	nodes := len(n.ways)
	n.store, n.engines, n.ranks = core.CachedRate{Rate: t.Send.Bandwidth}, make([]sim.Server, nodes), make([]rank, e.Ranks)
	n.Outputs = make([]core.Output[route], numOutputs*nodes)
	flow := func(rate unit.Rate) core.ChunkFlow { return core.ChunkFlow{Chunk: t.Chunk, Time: rate.Time} }
	n.StoreFlow, n.put, n.get, n.engine = flow(t.Send.Bandwidth), flow(t.Put.Bandwidth), flow(t.Get.Bandwidth), flow(t.Engine.Bandwidth)
	n.line = max(t.Line, 1)
	if t.Memory > 0 {
		n.MemoryTime = n.taking
	}
	for i := range n.ranks {
		n.ranks[i].net, n.ranks[i].port = n, &j.Ports[e.FirstRank+i]
	}
	n.Init(j, e, n, nodes, t.Link, t.Deliver, t.Node)
	j.Probe.RequestReport(n, 0)
	return n
}

// newNetwork returns a torus of a shape that joins nothing yet.
func newNetwork(t *model.Torus, shape [3]int) *network {
	return &network{Torus: t, shape: shape, neighbours: neighbours(shape), ways: make([]way, shape[0]*shape[1]*shape[2])}
}

// rank returns what the torus keeps of a rank of the job.
func (n *network) rank(rank int32) *rank { return &n.ranks[int(rank)-n.FirstRank] }

func (n *network) Send(p *core.Port, pk *core.Packet) {
	p.Charge(n.Torus.Send.Start)
	p.Probe.ProcessorUntil(p, p.Clock, "torus.send.start", model.Sending, 0)
	p.Probe.PacketSent(p, pk, "torus.send.bandwidth")
	bytes := n.Header + len(pk.Data)
	n.StorePacket(p, pk, bytes, n.store.Time(bytes))
}

func (n *network) Receive(p *core.Port, _ *core.Packet) {
	p.Charge(n.Torus.Receive)
	p.Probe.ProcessorUntil(p, p.Clock, "torus.receive", model.Receiving, 0)
}

// taking occupies the memory of the rank that receives a chunk.
func (n *network) taking(of any, bytes int, first, last unit.Time) unit.Time {
	from, to := ends(of)
	if x, ok := of.(*core.RemoteAccess); ok && !x.IsGet && !x.Transit.ByEngine {
		me := n.rank(from)
		if me.flying--; me.flying == 0 {
			me.wake()
		}
	}
	t := n.use(of, from, to, first, bytes)
	if t > last {
		n.hold(from, to, t)
	}
	return max(last, t)
}

// hold keeps the links of a transfer busy while its bytes wait for memory: switches have small
// buffers, so bytes that wait for a memory block the links for other transfers.
func (n *network) hold(from, to int32, until unit.Time) {
	n.HoldLinks(n.SwitchedNetwork.NodeOf(from), n.SwitchedNetwork.NodeOf(to), until)
}

func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	there, back := n.LatencyBetween(p.ID, int32(dst)), n.LatencyBetween(int32(dst), p.ID)
	return n.rank(int32(dst)).reg.Update(p, there, n.Counter, back, dst, r, c)
}

// latency returns the time of a first byte over so many links with turns, and of delivery.
func (n *network) latency(links, turns int) unit.Time {
	return n.Hop*unit.Time(links) + n.Torus.Turn*unit.Time(turns) + n.Deliver
}
