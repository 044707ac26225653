// Package fabric emulates networks that are a graph of hosts, switches and links: fat trees,
// dragonflies, rails, meshes and others that package topology generates.
//
// A message is cut into chunks. A chunk takes a link when its first byte gets there, if the buffer
// behind the link has room for it, and occupies that room until it takes the next link (virtual
// cut-through with credits). So a full buffer stops the link before it, and congestion spreads
// towards the senders; nothing is lost. An interface sends one chunk of each of its ranks at a
// time, and the next one when that has left.
//
// Everything of a chunk is in arrays with integer numbers, so that a run allocates nothing once the
// arrays are as long as it needs. Credits return when a chunk begins to leave, without a time of
// their own. Loss and retransmission are not emulated.
package fabric

import (
	"math/rand/v2"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// network is a fabric that joins ranks of a job.
//
// Note: its links are not those of core.SwitchedNetwork, whose buffers are unlimited and whose
// senders therefore know at once when a chunk leaves.
type network struct {
	*model.Fabric
	core.AttachedRanks
	job           *core.Job
	hosts         []int32 // of ranks
	links         []*link // nil: not used yet
	flows         []flow
	chunks        []chunk
	transfers     []transfer
	senders       []sender            // of the ranks, and behind them one of each interface, which answers gets
	writeOrders   []writeOrder        // of the ranks, if their writes are divided over rails; or nil
	isAdaptive    bool                // a router may choose a detour
	isSprayed     bool                // each chunk has a route of its own
	openTransfers []int32             // with either of these, the first transfer under way from each host
	random        rand.PCG            // of detours and of sprayed routes
	nics          []nic               // of the hosts; nil: interfaces have no buses
	registered    []registrationCache // of the ranks; nil: memory needs no registration
	pairs         []queuePair         // with congestion control, of the last senders
	pairNumbers   map[pairKey]int32

	freeFlow, freeChunk, freeTransfer int32 // the first of those to use again
}

// none is the number of no flow, chunk or transfer.
const none = -1

// New returns a fabric that joins ranks of a job.
func New(j *core.Job, f *model.Fabric, e core.AttachedRanks) core.Network {
	n := &network{Fabric: f, AttachedRanks: e, job: j, hosts: make([]int32, e.RankCount), senders: make([]sender, e.RankCount+e.InterfaceCount), freeFlow: none, freeChunk: none, freeTransfer: none}
	n.links = make([]*link, n.countLinks())
	n.random.Seed(j.Seed, 0)
	if f.NIC != nil {
		n.addNICs()
	}
	for i := range n.hosts {
		n.hosts[i] = int32(e.InterfaceOf(e.FirstRank + i))
	}
	for i := range n.senders {
		n.senders[i] = sender{none, none}
	}
	n.isAdaptive, n.isSprayed = f.Graph.Routing == topology.AdaptiveRouting, f.Graph.Routing == topology.SprayRouting
	if n.isAdaptive || n.isSprayed {
		n.openTransfers = make([]int32, f.Graph.Hosts)
		for i := range n.openTransfers {
			n.openTransfers[i] = none
		}
	}
	if f.Congestion != nil {
		n.pairNumbers = map[pairKey]int32{}
	}
	j.Probe.ReportIfObserved(n, 0)
	return n
}

// hostOf returns the host of a rank of the job.
func (n *network) hostOf(rank int32) int32 { return n.hosts[int(rank)-n.FirstRank] }

// latencyBetween returns the time of a first byte between two ranks without contention.
func (n *network) latencyBetween(from, to int32) unit.Time {
	return n.firstByteTime(from, to) + n.Deliver
}

// firstByteTime returns the time of a first byte between the interfaces of two ranks.
func (n *network) firstByteTime(from, to int32) unit.Time {
	return n.firstByteTimeOfHosts(n.hostOf(from), n.hostOf(to))
}

func (n *network) firstByteTimeOfHosts(a, b int32) (t unit.Time) {
	if a == b {
		return 0
	}
	r := n.Graph.RouteBetween(int(a), int(b))
	for at := a; at != r.Destination; {
		link := n.Graph.NextLink(&r)
		t += n.link(link).latency
		at = n.Graph.To(link)
	}
	return t
}

// Send charges the handing over of a packet. The interface has it when the processor is done.
func (n *network) Send(p *core.Port, pk *core.Packet) {
	if n.nics != nil {
		n.sendByNIC(p, pk)
		return
	}
	p.Charge(n.Fabric.Send.Start)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.send.start", model.SendActivity, 0)
	p.Probe.PacketSent(p, pk, "fabric.send.bandwidth")
	p.Charge(n.Fabric.Send.Bandwidth.Time(n.Header + len(pk.Data)))
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.send.bandwidth", model.SendActivity, n.Header+len(pk.Data))
	p.PendingSends++
	p.Kernel.Schedule(p.Clock, (*handoverEvent)(pk), 0)
}

// handoverEvent is the event that the interface has a packet.
type handoverEvent core.Packet

// HandleEvent lets the interface send it after those of its rank before it.
func (e *handoverEvent) HandleEvent(uint64) {
	pk := (*core.Packet)(e)
	n := pk.Network.(*network)
	pk.Job.Ports[pk.Src].PendingSends--
	n.enqueueTransfer(int32(pk.Src-n.FirstRank), transfer{packet: pk, from: n.hostOf(int32(pk.Src)), to: n.hostOf(pk.Dst), size: n.Header + len(pk.Data)})
}

// Receive charges the taking of a packet.
func (n *network) Receive(p *core.Port, pk *core.Packet) {
	if n.nics != nil {
		n.receiveByNIC(p, pk)
		return
	}
	p.Charge(n.Fabric.Receive)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.receive", model.ReceiveActivity, 0)
}

// Report names the links.
func (n *network) Report(uint64) {
	for i, name := range n.Graph.LinkNames() {
		n.job.Probe.SetServerName(&n.link(int32(i)).Server, "%s%s", n.NamePrefix, name)
	}
	n.nameNICs()
	for h := range n.Graph.Hosts {
		n.job.Probe.SetServerName(&n.link(n.selfLink(int32(h))).Server, "%shost %d to itself", n.NamePrefix, h)
	}
}
