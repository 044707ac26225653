// Package fabric emulates networks that are graphs of hosts, switches and links, such as the fat
// trees, dragonflies, rails and meshes of package topology. New returns a core.Network.
//
// A message is divided into chunks. A chunk starts to use a link when its first byte arrives there,
// if the buffer after the link has space for it. It occupies that space until it starts to use the
// next link (virtual cut-through with credits). A full buffer thus stops the link before it, and
// congestion spreads towards the senders without loss; or, if the fabric loses chunks, the chunk is
// dropped and sent again (loss.go). An interface sends one chunk at a time for each of its ranks.
//
// Chunks, flows and transfers are elements of arrays, referred to by index, so that a run allocates
// nothing once the arrays are large enough. Credits return without delay when a chunk starts to
// leave.
package fabric

import (
	"math/rand/v2"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// network is a fabric that connects ranks of a job.
//
// Note: its links differ from those of core.SwitchedNetwork, which have unlimited buffers, so that
// a sender knows at once when a chunk leaves.
type network struct {
	*model.Fabric
	core.AttachedRanks
	job                *core.Job
	hosts              []int32 // by rank
	links              []*link // nil: not used yet
	flows              []flow
	chunks             []chunk
	transfers          []transfer
	senders            []sender            // one per rank, then one per interface, which answers gets
	writeOrders        []writeOrder        // by rank, if writes are striped over rails; or nil
	isAdaptive         bool                // a router may choose a detour
	isSprayed          bool                // each chunk has its own route
	openTransfers      []int32             // if isAdaptive or isSprayed: by host, the first transfer under way from it
	random             rand.PCG            // for detours and sprayed routes
	nics               []nic               // by host; nil: interfaces have no buses
	registrationCaches []registrationCache // by rank; nil: memory needs no registration
	pairs              []queuePair         // with congestion control or loss: those of the last senders
	pairNumbers        map[pairKey]int32
	loss               lossCount
	stagedWrites       map[pairKey]unit.Time // end of the last staged write between two hosts; nil: buffers are not staged

	freeFlow, freeChunk, freeTransfer int32 // first unused elements
}

// noIndex is the index of no flow, chunk or transfer.
const noIndex = -1

// New returns a fabric that connects ranks of a job.
func New(j *core.Job, f *model.Fabric, e core.AttachedRanks) core.Network {
	n := &network{Fabric: f, AttachedRanks: e, job: j, hosts: make([]int32, e.RankCount), senders: make([]sender, e.RankCount+e.InterfaceCount), freeFlow: noIndex, freeChunk: noIndex, freeTransfer: noIndex}
	n.links = make([]*link, n.countLinks())
	n.random.Seed(j.Seed, 0)
	if f.NIC != nil {
		n.addNICs()
	}
	for i := range n.hosts {
		n.hosts[i] = int32(e.InterfaceOf(e.FirstRank + i))
	}
	for i := range n.senders {
		n.senders[i] = sender{noIndex, noIndex}
	}
	n.isAdaptive, n.isSprayed = f.Graph.Routing == topology.AdaptiveRouting, f.Graph.Routing == topology.SprayRouting
	if n.isAdaptive || n.isSprayed {
		n.openTransfers = make([]int32, f.Graph.Hosts)
		for i := range n.openTransfers {
			n.openTransfers[i] = noIndex
		}
	}
	if f.Congestion != nil || f.Loss != nil {
		n.pairNumbers = map[pairKey]int32{}
	}
	j.Probe.ReportIfObserved(n, 0)
	return n
}

// hostOf returns the host of a rank of the job.
func (n *network) hostOf(rank int32) int32 { return n.hosts[int(rank)-n.FirstRank] }

// latencyBetween returns the latency of a first byte between two ranks without contention.
func (n *network) latencyBetween(from, to int32) unit.Time {
	return n.firstByteTime(from, to) + n.Deliver
}

// firstByteTime returns the latency of a first byte between the interfaces of two ranks.
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

// Send charges the processor for passing a packet to the interface, which has it when the charge
// ends.
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

// HandleEvent queues the packet behind earlier ones of its rank.
func (e *handoverEvent) HandleEvent(uint64) {
	pk := (*core.Packet)(e)
	n := pk.Network.(*network)
	pk.Job.Ports[pk.Src].PendingSends--
	n.enqueueTransfer(int32(pk.Src-n.FirstRank), transfer{packet: pk, from: n.hostOf(int32(pk.Src)), to: n.hostOf(pk.Dst), size: n.Header + len(pk.Data)})
}

// Receive charges taking a packet from the inbox.
func (n *network) Receive(p *core.Port, pk *core.Packet) {
	if n.nics != nil {
		n.receiveByNIC(p, pk)
		return
	}
	p.Charge(n.Fabric.Receive)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.receive", model.ReceiveActivity, 0)
}

// Report names the links for the probe.
func (n *network) Report(uint64) {
	for i, name := range n.Graph.LinkNames() {
		n.job.Probe.SetServerName(&n.link(int32(i)).Server, "%s%s", n.NamePrefix, name)
	}
	n.nameNICs()
	for h := range n.Graph.Hosts {
		n.job.Probe.SetServerName(&n.link(n.selfLink(int32(h))).Server, "%shost %d to itself", n.NamePrefix, h)
	}
}
