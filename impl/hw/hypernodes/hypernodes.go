// Package hypernodes emulates processors that share memory in hypernodes connected by rings. New
// returns a core.Network.
package hypernodes

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network has processors that share memory in two tiers. A processor moves all bytes itself, so
// transfers take time of its rank. A transfer leaves through the port of the processor's block,
// crosses a ring if the other hypernode differs, and enters through the port of the other block. It
// occupies each for its length at that part's rate. If a part is busy, the transfer and its
// processor wait. Long transfers are divided into chunks, so that others can pass in between.
//
// A ring carries one chunk at a time, whichever part of the ring the chunk uses.
type network struct {
	*model.Hypernodes
	core.AttachedRanks
	job       *core.Job
	ranks     []location   // of the ranks
	outPorts  []sim.Server // by block: its port to the crossbar,
	inPorts   []sim.Server // and its port from the crossbar
	rings     []sim.Server
	portRate  core.CachedRate
	ringRate  core.CachedRate
	usedNodes int // number of hypernodes in use
}

// location is the location of a rank.
type location struct {
	node, block, ring int32
	registers         core.RegisterServer
}

// New returns hypernodes that connect ranks of a job.
func New(j *core.Job, h *model.Hypernodes, e core.AttachedRanks) core.Network {
	n := &network{Hypernodes: h, AttachedRanks: e, job: j, rings: make([]sim.Server, h.Rings),
		portRate: core.CachedRate{Rate: h.Port}, ringRate: core.CachedRate{Rate: h.Ring}, usedNodes: h.CountUsed(e.InterfaceCount)}
	var ends []location
	blocks := int32(0) // in previous hypernodes
	for node, size := range h.Sizes {
		for i := range min(size, e.InterfaceCount-len(ends)) {
			b := i / h.ProcessorsPerBlock
			ends = append(ends, location{node: int32(node), block: blocks + int32(b), ring: int32(b % h.Rings)})
		}
		blocks += int32((size + h.ProcessorsPerBlock - 1) / h.ProcessorsPerBlock)
	}
	for i := range e.RankCount {
		n.ranks = append(n.ranks, ends[e.InterfaceOf(e.FirstRank+i)])
	}
	n.outPorts, n.inPorts = make([]sim.Server, blocks), make([]sim.Server, blocks)
	j.Probe.ReportIfObserved(n, 0)
	return n
}

// Report names the servers that transfers wait for.
func (n *network) Report(uint64) {
	for i := range n.outPorts {
		n.job.Probe.SetServerName(&n.outPorts[i], "%sblock %d out", n.NamePrefix, i)
		n.job.Probe.SetServerName(&n.inPorts[i], "%sblock %d in", n.NamePrefix, i)
	}
	for i := range n.rings {
		n.job.Probe.SetServerName(&n.rings[i], "%sring %d", n.NamePrefix, i)
	}
	for i := range n.ranks {
		n.job.Probe.SetServerName(&n.ranks[i].registers.Server, "%srank %d counters", n.NamePrefix, n.FirstRank+i)
	}
}

// locationOf returns the location of a rank of the job.
func (n *network) locationOf(rank int32) *location { return &n.ranks[int(rank)-n.FirstRank] }

// costKeysOfTier are the keys of each tier's memory costs in platform files, by which the probe
// names costs.
var costKeysOfTier = func() (all [model.NumTiers]accessCostKeys) {
	for t := range model.NumTiers {
		key := func(k string) string { return "hypernodes." + t.String() + "." + k }
		channel := func(k string) channelCostKeys { return channelCostKeys{key(k + ".start"), key(k + ".bandwidth")} }
		all[t] = accessCostKeys{channel("send"), channel("put"), channel("get"), key("latency"), key("settle"), key("receive"), key("fetch")}
	}
	return all
}()

type accessCostKeys struct {
	send, put, get                  channelCostKeys
	latency, settle, receive, fetch string
}

type channelCostKeys struct{ start, bandwidth string }

// accessCosts returns the costs of rank a for accessing the memory of rank b.
func (n *network) accessCosts(a, b int32) (*model.MemoryAccess, model.Tier) {
	t := model.InterNode
	if n.locationOf(a).node == n.locationOf(b).node {
		t = model.IntraNode
	}
	return &n.Access[t], t
}

// ringRoundTripTime returns the time of a request and its answer on a ring.
func (n *network) ringRoundTripTime(t model.Tier) unit.Time {
	if t == model.IntraNode {
		return 0
	}
	return n.Hop * unit.Time(n.usedNodes)
}

// moveBytes moves bytes of x, at a rate, by the processor of p to or from the memory of a peer. The
// processor's clock is then the time at which the last byte has passed. name is for the probe.
func (n *network) moveBytes(p *core.Port, x any, name string, peer int32, from bool, bytes int, rate unit.Rate) {
	p.Probe.FirstByteDeparted(x, p.Clock)
	p.ElapseCharges()
	rate = p.RateWithNoise(rate)
	for pos := 0; ; {
		c := min(n.Chunk, bytes-pos)
		p.Clock = n.moveChunk(p, x, name, peer, from, c, rate.Time(pos+c)-rate.Time(pos))
		if pos += c; pos >= bytes {
			return
		}
		p.ElapseCharges()
	}
}

// moveChunk moves c bytes by the processor within dur, and returns when the last byte has passed:
// dur after they could enter, or later if a part at which they waited is slower.
func (n *network) moveChunk(p *core.Port, x any, name string, peer int32, from bool, c int, dur unit.Time) unit.Time {
	mine, home := n.locationOf(p.ID), n.locationOf(peer)
	a, b := mine, home
	if from {
		a, b = home, mine
	}
	hold := n.portRate.Time(c)
	slowest := hold
	end := reserveWhenFree(p, &n.outPorts[a.block], x, hold, c) + dur
	if a.node != b.node {
		around := n.ringRate.Time(c)
		reserveWhenFree(p, &n.rings[home.ring], x, around, c)
		slowest = max(slowest, around)
	}
	passed := max(end, reserveWhenFree(p, &n.inPorts[b.block], x, hold, c)+slowest)
	p.Probe.ProcessorActivityUntil(p, end-dur, "network", model.BlockedActivity, 0)
	p.Probe.ProcessorActivityUntil(p, end, name, model.SendActivity, c)
	p.Probe.ProcessorActivityUntil(p, passed, "network", model.BlockedActivity, 0)
	return passed
}

// reserveWhenFree waits until a server is free, reserves it for d, and returns the start of the
// reservation. x and bytes are for the probe.
func reserveWhenFree(p *core.Port, s *sim.Server, x any, d unit.Time, bytes int) unit.Time {
	now := p.Kernel.Now()
	t := s.Reserve(now, d)
	p.Probe.ServerOccupied(s, x, model.CarryActivity, t, d, bytes)
	if t > now {
		p.Sleep(t - now)
	}
	return t
}

// SendsAtKernelTime implements core.KernelTimeSender.
func (n *network) SendsAtKernelTime() bool { return true }

// CarriesCopies and ChargeCopy implement core.CopyBus.
func (n *network) CarriesCopies() bool { return n.CopiesPassPort }

// ChargeCopy charges reading and writing bytes, both through the port of the processor's block.
func (n *network) ChargeCopy(p *core.Port, bytes int) {
	ch, block := p.Machine.Processor.Copy, n.locationOf(p.ID).block
	p.Charge(ch.Start)
	p.ElapseCharges()
	rate := p.RateWithNoise(ch.Bandwidth)
	for pos := 0; pos < bytes; {
		c := min(n.Chunk, bytes-pos)
		hold := n.portRate.Time(c)
		end := reserveWhenFree(p, &n.outPorts[block], "copy", hold, c) + rate.Time(pos+c) - rate.Time(pos)
		p.Clock = max(end, reserveWhenFree(p, &n.inPorts[block], "copy", hold, c)+hold)
		if pos += c; pos < bytes {
			p.ElapseCharges()
		}
	}
}

// Send writes the packet into the receiver's queue by the processor. The receiver can see it while
// the processor settles.
func (n *network) Send(p *core.Port, pk *core.Packet) {
	a, tier := n.accessCosts(p.ID, pk.Dst)
	key := &costKeysOfTier[tier]
	p.Probe.PacketSent(p, pk, key.settle)
	p.Charge(a.Send.Start)
	p.Probe.ProcessorActivityUntil(p, p.Clock, key.send.start, model.SendActivity, 0)
	n.moveBytes(p, pk, key.send.bandwidth, pk.Dst, false, n.Header+len(pk.Data), a.Send.Bandwidth)
	there := p.Clock + a.Latency + n.ringRoundTripTime(tier)
	p.Probe.LastByteArrived(pk, there)
	n.job.Kernel.Schedule(there, (*core.ArrivalEvent)(pk), 0)
	p.Charge(a.SettleTime)
}

func (n *network) Receive(p *core.Port, pk *core.Packet) {
	a, tier := n.accessCosts(p.ID, int32(pk.Src))
	fetch := a.FetchPerByte.Time(len(pk.Data))
	p.Charge(a.Receive + fetch)
	p.Probe.ProcessorActivityUntil(p, p.Clock-fetch, costKeysOfTier[tier].receive, model.ReceiveActivity, 0)
	p.Probe.ProcessorActivityUntil(p, p.Clock, costKeysOfTier[tier].fetch, model.ReceiveActivity, len(pk.Data))
}

// StartAccess carries out a remote access. The origin moves the bytes. A read is complete when it
// has them. After a write it waits until others can see the data.
func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	a, tier := n.accessCosts(x.Src, x.Dst)
	all := &costKeysOfTier[tier]
	ch, key := a.Put, all.put
	if x.IsGet {
		ch, key = a.Get, all.get
	}
	p.Probe.AccessStarted(p, x)
	p.Charge(ch.Start)
	p.Probe.ProcessorActivityUntil(p, p.Clock, key.start, model.SendActivity, 0)
	n.moveBytes(p, x, key.bandwidth, x.Dst, x.IsGet, len(x.Data), ch.Bandwidth)
	if !x.IsGet {
		p.Clock += a.Latency
		p.Probe.ProcessorActivityUntil(p, p.Clock, all.latency, model.SendActivity, 0)
	}
	p.Clock += n.ringRoundTripTime(tier)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "hypernodes.hop", model.SendActivity, 0)
	p.Probe.LastByteArrived(x, p.Clock)
	p.ElapseCharges()
	x.CopyData()
	x.Complete()
}

// UpdateRegister sends its request around the ring, which has one direction; the answer takes the
// rest of the ring.
func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	a, _ := n.accessCosts(p.ID, int32(dst))
	there := int(n.locationOf(int32(dst)).node - n.locationOf(p.ID).node)
	if there < 0 {
		there += n.usedNodes
	}
	back := 0
	if there > 0 {
		back = n.usedNodes - there
	}
	return n.locationOf(int32(dst)).registers.Update(p, a.Latency+n.Hop*unit.Time(there), a.CounterTime, a.Latency+n.Hop*unit.Time(back), dst, r, c)
}
