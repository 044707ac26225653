// Package torus emulates a three-dimensional torus of nodes with remote memory access. New returns
// a core.Network.
package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is a torus with the switches of core.SwitchedNetwork.
type network struct {
	core.SwitchedNetwork[route]
	*model.Torus
	shape                        [3]int
	neighbours                   []int32         // by output: the node behind it; outputsPerNode for each node
	sendRate                     core.CachedRate // of a processor that sends
	putFlow, getFlow, engineFlow core.Chunking   // for remote accesses
	engines                      []sim.Server    // transfer engines, one per node
	cachedPaths                  []cachedPath    // the last path from each node
	ranks                        []rankState
	lineBytes                    int // bytes of a memory line
}

// rankState is the state of a rank's processor and memory in the torus.
type rankState struct {
	processorPut
	enginePuts         int32 // puts that the engine carries for the rank and that have not left
	memory             memory
	memoryUsedByOthers unit.Time          // total time for which others have kept the processor from its memory
	currentGet         *core.RemoteAccess // read by the processor, until it has all data
	registers          core.RegisterServer
}

// New returns a torus that connects ranks of a job.
func New(j *core.Job, t *model.Torus, e core.AttachedRanks) core.Network {
	n := newNetwork(t, t.Shape(e.InterfaceCount))
	nodes := len(n.cachedPaths)
	n.sendRate, n.engines, n.ranks = core.CachedRate{Rate: t.Send.Bandwidth}, make([]sim.Server, nodes), make([]rankState, e.RankCount)
	n.SwitchOutputs = make([]core.SwitchOutput[route], outputsPerNode*nodes)
	flow := func(rate unit.Rate) core.Chunking {
		return core.Chunking{ChunkBytes: t.Chunk, TimeOfFirstBytes: rate.Time}
	}
	n.PacketSendChunking, n.putFlow, n.getFlow, n.engineFlow = flow(t.Send.Bandwidth), flow(t.Put.Bandwidth), flow(t.Get.Bandwidth), flow(t.TransferEngine.Bandwidth)
	n.lineBytes = max(t.MemoryLineBytes, 1)
	if t.MemoryRate > 0 {
		n.MemoryArrivalTime = n.memoryTime
	}
	for i := range n.ranks {
		n.ranks[i].network, n.ranks[i].port = n, &j.Ports[e.FirstRank+i]
	}
	n.Initialize(j, e, n, nodes, t.Link, t.Deliver, t.Node)
	j.Probe.ReportIfObserved(n, 0)
	return n
}

// newNetwork returns a torus with a shape and no ranks.
func newNetwork(t *model.Torus, shape [3]int) *network {
	return &network{Torus: t, shape: shape, neighbours: neighbours(shape), cachedPaths: make([]cachedPath, shape[0]*shape[1]*shape[2])}
}

// rankState returns the state of a rank of the job.
func (n *network) rankState(rank int32) *rankState { return &n.ranks[int(rank)-n.FirstRank] }

func (n *network) Send(p *core.Port, pk *core.Packet) {
	p.Charge(n.Torus.Send.Start)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "torus.send.start", model.SendActivity, 0)
	p.Probe.PacketSent(p, pk, "torus.send.bandwidth")
	bytes := n.Header + len(pk.Data)
	n.SendPacketInChunks(p, pk, bytes, n.sendRate.Time(bytes))
}

func (n *network) Receive(p *core.Port, _ *core.Packet) {
	p.Charge(n.Torus.Receive)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "torus.receive", model.ReceiveActivity, 0)
}

// memoryTime occupies the memory of the rank that receives a chunk. It implements
// core.SwitchedNetwork.MemoryArrivalTime.
func (n *network) memoryTime(of any, bytes int, first, last unit.Time) unit.Time {
	from, to := ranksOf(of)
	if x, ok := of.(*core.RemoteAccess); ok && !x.IsGet && !x.Transit.IsCarriedByNetworkInterface {
		r := n.rankState(from)
		if r.chunksInFlight--; r.chunksInFlight == 0 {
			r.resumePut()
		}
	}
	t := n.occupyMemory(of, from, to, first, bytes)
	if t > last {
		n.holdLinks(from, to, t)
	}
	return max(last, t)
}

// holdLinks keeps the links of a transfer busy while its bytes wait for memory. Switches have small
// buffers, so waiting bytes block the links for other transfers.
func (n *network) holdLinks(from, to int32, until unit.Time) {
	n.OccupyLinks(n.SwitchedNetwork.NodeOf(from), n.SwitchedNetwork.NodeOf(to), until)
}

func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	there, back := n.LatencyBetween(p.ID, int32(dst)), n.LatencyBetween(int32(dst), p.ID)
	return n.rankState(int32(dst)).registers.Update(p, there, n.CounterTime, back, dst, r, c)
}

// firstByteTime returns the latency of a first byte over a number of links and turns, including
// delivery.
func (n *network) firstByteTime(links, turns int) unit.Time {
	return n.HopLatency*unit.Time(links) + n.Torus.TurnLatency*unit.Time(turns) + n.Deliver
}
