// Package hypernodes emulates processors that share memory, in hypernodes that rings join.
package hypernodes

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is processors that share memory in two tiers. A processor moves all bytes itself, so a
// transfer is time of its rank: it leaves by the port of its block, passes a ring if it is for
// another hypernode, and goes in by the other block's port. It holds each for its length at the
// rate of that, and what finds one busy waits before it, and its processor with it. Long transfers
// go in chunks, so that others can pass between them.
//
// A ring carries one chunk at a time, wherever on it that is.
type network struct {
	*model.Hypernodes
	core.Attachment
	j     *core.Job
	seats []seat       // of the ranks
	out   []sim.Server // ports of the blocks, to the crossbar
	in    []sim.Server // and from it
	rings []sim.Server
	port  core.CachedRate
	ring  core.CachedRate
	nodes int // hypernodes that are used
}

// seat is where a rank is.
type seat struct {
	node, block, ring int32
	reg               core.RegisterServer
}

// New returns hypernodes that join ranks of a job.
func New(j *core.Job, h *model.Hypernodes, e core.Attachment) core.Network {
	n := &network{Hypernodes: h, Attachment: e, j: j, rings: make([]sim.Server, h.Rings),
		port: core.CachedRate{Rate: h.Port}, ring: core.CachedRate{Rate: h.Ring}, nodes: h.Used(e.Interfaces)}
	var ends []seat
	blocks := int32(0) // of the hypernodes before
	for node, size := range h.Sizes {
		for i := range min(size, e.Interfaces-len(ends)) {
			b := i / h.PerBlock
			ends = append(ends, seat{node: int32(node), block: blocks + int32(b), ring: int32(b % h.Rings)})
		}
		blocks += int32((size + h.PerBlock - 1) / h.PerBlock)
	}
	for i := range e.Ranks {
		n.seats = append(n.seats, ends[e.InterfaceOf(e.FirstRank+i)])
	}
	n.out, n.in = make([]sim.Server, blocks), make([]sim.Server, blocks)
	j.Probe.RequestReport(n, 0)
	return n
}

// Report gives names to all that transfers wait for.
func (n *network) Report(uint64) {
	for i := range n.out {
		n.j.Probe.NameServer(&n.out[i], "%sblock %d out", n.NamePrefix, i)
		n.j.Probe.NameServer(&n.in[i], "%sblock %d in", n.NamePrefix, i)
	}
	for i := range n.rings {
		n.j.Probe.NameServer(&n.rings[i], "%sring %d", n.NamePrefix, i)
	}
	for i := range n.seats {
		n.j.Probe.NameServer(&n.seats[i].reg.Server, "%srank %d counters", n.NamePrefix, n.FirstRank+i)
	}
}

// seat returns where a rank of the job is.
func (n *network) seat(rank int32) *seat { return &n.seats[int(rank)-n.FirstRank] }

// keys are the names of what the memory of each tier costs, by its keys in platform files.
var keys = func() (all [model.NumTiers]accessKeys) {
	for t := range model.NumTiers {
		key := func(k string) string { return "hypernodes." + t.String() + "." + k }
		channel := func(k string) channelKeys { return channelKeys{key(k + ".start"), key(k + ".bandwidth")} }
		all[t] = accessKeys{channel("send"), channel("put"), channel("get"), key("latency"), key("settle"), key("receive"), key("fetch")}
	}
	return all
}()

type accessKeys struct {
	send, put, get                  channelKeys
	latency, settle, receive, fetch string
}

type channelKeys struct{ start, bandwidth string }

// access returns what a rank pays for the memory of another.
func (n *network) access(a, b int32) (*model.Access, model.Tier) {
	t := model.Inter
	if n.seat(a).node == n.seat(b).node {
		t = model.Intra
	}
	return &n.Access[t], t
}

// round returns how long a request and its answer are on a ring.
func (n *network) round(t model.Tier) unit.Time {
	if t == model.Intra {
		return 0
	}
	return n.Hop * unit.Time(n.nodes)
}

// carry lets the processor of p move so many bytes of x at a rate to the memory of a peer, or from
// there. Its clock is then when the last has passed. Its work meanwhile has a name.
func (n *network) carry(p *core.Port, x any, name string, peer int32, from bool, bytes int, rate unit.Rate) {
	p.Probe.Departs(x, p.Clock)
	p.ElapseCharges()
	rate = p.RateWithNoise(rate)
	for pos := 0; ; {
		c := min(n.Chunk, bytes-pos)
		p.Clock = n.pass(p, x, name, peer, from, c, rate.Time(pos+c)-rate.Time(pos))
		if pos += c; pos >= bytes {
			return
		}
		p.ElapseCharges()
	}
}

// pass lets c bytes pass that the processor itself moves within dur, and returns when the last has:
// dur after they could enter, and not before the slowest on the way has passed them on where they
// had to wait.
func (n *network) pass(p *core.Port, x any, name string, peer int32, from bool, c int, dur unit.Time) unit.Time {
	mine, home := n.seat(p.ID), n.seat(peer)
	a, b := mine, home
	if from {
		a, b = home, mine
	}
	hold := n.port.Time(c)
	slowest := hold
	end := enter(p, &n.out[a.block], x, hold, c) + dur
	if a.node != b.node {
		around := n.ring.Time(c)
		enter(p, &n.rings[home.ring], x, around, c)
		slowest = max(slowest, around)
	}
	passed := max(end, enter(p, &n.in[b.block], x, hold, c)+slowest)
	p.Probe.ProcessorUntil(p, end-dur, "network", model.Blocked, 0)
	p.Probe.ProcessorUntil(p, end, name, model.Sending, c)
	p.Probe.ProcessorUntil(p, passed, "network", model.Blocked, 0)
	return passed
}

// enter lets the rank wait until a server is free, takes it for d for some bytes of x, and returns
// the time.
func enter(p *core.Port, s *sim.Server, x any, d unit.Time, bytes int) unit.Time {
	now := p.Kernel.Now()
	t := s.Reserve(now, d)
	p.Probe.ServerTaken(s, x, model.Carrying, t, d, bytes)
	if t > now {
		p.Sleep(t - now)
	}
	return t
}

// CarriesCopies implements core.CopyBus, as Copy does.
func (n *network) CarriesCopies() bool { return n.Copies }

// ChargeCopy reads bytes through the port of the processor's block and writes them through the same
// port.
func (n *network) ChargeCopy(p *core.Port, bytes int) {
	ch, block := p.Machine.Processor.Copy, n.seat(p.ID).block
	p.Charge(ch.Start)
	p.ElapseCharges()
	rate := p.RateWithNoise(ch.Bandwidth)
	for pos := 0; pos < bytes; {
		c := min(n.Chunk, bytes-pos)
		hold := n.port.Time(c)
		end := enter(p, &n.out[block], "copy", hold, c) + rate.Time(pos+c) - rate.Time(pos)
		p.Clock = max(end, enter(p, &n.in[block], "copy", hold, c)+hold)
		if pos += c; pos < bytes {
			p.ElapseCharges()
		}
	}
}

// Send lets the processor write the packet into the queue of its receiver, where it can be seen
// while the processor settles.
func (n *network) Send(p *core.Port, pk *core.Packet) {
	a, tier := n.access(p.ID, pk.Dst)
	key := &keys[tier]
	p.Probe.PacketSent(p, pk, key.settle)
	p.Charge(a.Send.Start)
	p.Probe.ProcessorUntil(p, p.Clock, key.send.start, model.Sending, 0)
	n.carry(p, pk, key.send.bandwidth, pk.Dst, false, n.Header+len(pk.Data), a.Send.Bandwidth)
	there := p.Clock + a.Latency + n.round(tier)
	p.Probe.Arrives(pk, there)
	n.j.Kernel.Schedule(there, (*core.ArrivalEvent)(pk), 0)
	p.Charge(a.Settle)
}

func (n *network) Receive(p *core.Port, pk *core.Packet) {
	a, tier := n.access(p.ID, int32(pk.Src))
	fetch := a.Fetch.Time(len(pk.Data))
	p.Charge(a.Receive + fetch)
	p.Probe.ProcessorUntil(p, p.Clock-fetch, keys[tier].receive, model.Receiving, 0)
	p.Probe.ProcessorUntil(p, p.Clock, keys[tier].fetch, model.Receiving, len(pk.Data))
}

// StartAccess carries out a remote access. The rank that asks for it moves the bytes; it knows
// those that it has read, and waits until others can see those that it has written.
func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	a, tier := n.access(x.Src, x.Dst)
	all := &keys[tier]
	ch, key := a.Put, all.put
	if x.IsGet {
		ch, key = a.Get, all.get
	}
	p.Probe.AccessStarted(p, x)
	p.Charge(ch.Start)
	p.Probe.ProcessorUntil(p, p.Clock, key.start, model.Sending, 0)
	n.carry(p, x, key.bandwidth, x.Dst, x.IsGet, len(x.Data), ch.Bandwidth)
	if !x.IsGet {
		p.Clock += a.Latency
		p.Probe.ProcessorUntil(p, p.Clock, all.latency, model.Sending, 0)
	}
	p.Clock += n.round(tier)
	p.Probe.ProcessorUntil(p, p.Clock, "hypernodes.hop", model.Sending, 0)
	p.Probe.Arrives(x, p.Clock)
	p.ElapseCharges()
	x.CopyData()
	x.Complete()
}

// UpdateRegister sends its request along the ring, which has one direction; the answer takes the
// rest of the ring.
func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	a, _ := n.access(p.ID, int32(dst))
	there := int(n.seat(int32(dst)).node - n.seat(p.ID).node)
	if there < 0 {
		there += n.nodes
	}
	back := 0
	if there > 0 {
		back = n.nodes - there
	}
	return n.seat(int32(dst)).reg.Update(p, a.Latency+n.Hop*unit.Time(there), a.Counter, a.Latency+n.Hop*unit.Time(back), dst, r, c)
}
