package hw

import (
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// hypernodes is processors that share memory in two tiers. A processor moves all bytes itself, so a transfer is time of its
// rank: it leaves by the port of its block, passes a ring if it is for another hypernode, and goes in by the other block's port. It
// holds each for its length at the rate of that, and what finds one busy waits before it, and its processor with it. Long transfers
// go in chunks, so that others can pass between them.
//
// A ring carries one chunk at a time, wherever on it that is.
type hypernodes struct {
	*model.Hypernodes
	j     *job
	seats []seat       // of the ranks
	out   []sim.Server // ports of the blocks, to the crossbar
	in    []sim.Server // and from it
	rings []sim.Server
	regs  []sim.Server // counter registers, one set a rank
	port  pace
	ring  pace
	nodes int // hypernodes that the job uses
}

// hypernodeKeys are the names of what the memory of each tier costs, by its keys in platform files.
var hypernodeKeys = func() (all [model.NumTiers]accessKeys) {
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

// seat is where a rank is.
type seat struct{ node, block, ring int32 }

func newHypernodes(j *job) network {
	h := j.cfg.Machine.Network.(*model.Hypernodes)
	ranks := len(j.ports)
	n := &hypernodes{Hypernodes: h, j: j, rings: make([]sim.Server, h.Rings), regs: make([]sim.Server, ranks),
		port: pace{rate: h.Port}, ring: pace{rate: h.Ring}, nodes: h.Used(ranks)}
	blocks := int32(0) // of the hypernodes before
	for node, size := range h.Sizes {
		for i := range min(size, ranks-len(n.seats)) {
			b := i / h.PerBlock
			n.seats = append(n.seats, seat{int32(node), blocks + int32(b), int32(b % h.Rings)})
		}
		blocks += int32((size + h.PerBlock - 1) / h.PerBlock)
	}
	n.out, n.in = make([]sim.Server, blocks), make([]sim.Server, blocks)
	for i := range n.out {
		j.probe.names(&n.out[i], "block %d out", i)
		j.probe.names(&n.in[i], "block %d in", i)
	}
	for i := range n.rings {
		j.probe.names(&n.rings[i], "ring %d", i)
	}
	for i := range n.regs {
		j.probe.names(&n.regs[i], "rank %d counters", i)
	}
	return n
}

// open implements network.
func (n *hypernodes) open(p *port) end { return p.on(n) }

// access returns what a rank pays for the memory of another.
func (n *hypernodes) access(a, b int32) (*model.Access, model.Tier) {
	t := model.Inter
	if n.seats[a].node == n.seats[b].node {
		t = model.Intra
	}
	return &n.Access[t], t
}

// round returns how long a request and its answer are on a ring.
func (n *hypernodes) round(t model.Tier) unit.Time {
	if t == model.Intra {
		return 0
	}
	return n.Hop * unit.Time(n.nodes)
}

// carry lets the processor of p move so many bytes of x at a rate to the memory of a peer, or from there. Its clock is then when the
// last has passed. What it does meanwhile has a name.
func (n *hypernodes) carry(p *port, x any, name string, peer int32, from bool, bytes int, rate unit.Rate) {
	p.probe.departs(x, p.clock)
	p.pay()
	rate = p.about(rate)
	for pos := 0; ; {
		c := min(n.Chunk, bytes-pos)
		p.clock = n.pass(p, x, name, peer, from, c, rate.Time(pos+c)-rate.Time(pos))
		if pos += c; pos >= bytes {
			return
		}
		p.pay()
	}
}

// pass lets c bytes pass that the processor itself moves within dur, and returns when the last has: dur after they could enter, and
// not before the slowest on the way has passed them on where they had to wait.
func (n *hypernodes) pass(p *port, x any, name string, peer int32, from bool, c int, dur unit.Time) unit.Time {
	mine, home := &n.seats[p.rank], &n.seats[peer]
	a, b := mine, home
	if from {
		a, b = home, mine
	}
	hold := n.port.time(c)
	slowest := hold
	end := p.enter(&n.out[a.block], x, hold, c) + dur
	if a.node != b.node {
		around := n.ring.time(c)
		p.enter(&n.rings[home.ring], x, around, c)
		slowest = max(slowest, around)
	}
	passed := max(end, p.enter(&n.in[b.block], x, hold, c)+slowest)
	p.probe.until(p, end-dur, "network", model.Blocked, 0)
	p.probe.until(p, end, name, model.Sending, c)
	p.probe.until(p, passed, "network", model.Blocked, 0)
	return passed
}

// enter lets the rank wait until a server is free, takes it for d for some bytes of x, and returns the time.
func (p *port) enter(s *sim.Server, x any, d unit.Time, bytes int) unit.Time {
	now := p.kernel.Now()
	t := s.Reserve(now, d)
	p.probe.takes(s, x, model.Carrying, t, d, bytes)
	if t > now {
		p.proc.Sleep(t - now)
	}
	return t
}

// send lets the processor write the packet into the queue of its receiver, where it can be seen while the processor settles.
func (n *hypernodes) send(p *port, pk *packet) {
	a, tier := n.access(p.rank, pk.dst)
	key := &hypernodeKeys[tier]
	p.probe.sends(p, pk, key.settle)
	p.charge(a.Send.Start)
	p.probe.until(p, p.clock, key.send.start, model.Sending, 0)
	n.carry(p, pk, key.send.bandwidth, pk.dst, false, n.Header+len(pk.Data), a.Send.Bandwidth)
	there := p.clock + a.Latency + n.round(tier)
	p.probe.lands(pk, there)
	n.j.kernel.At(there, (*arrival)(pk), 0)
	p.charge(a.Settle)
}

func (n *hypernodes) receive(p *port, pk *packet) {
	a, tier := n.access(p.rank, int32(pk.Src))
	fetch := a.Fetch.Time(len(pk.Data))
	p.charge(a.Receive + fetch)
	p.probe.until(p, p.clock-fetch, hypernodeKeys[tier].receive, model.Receiving, 0)
	p.probe.until(p, p.clock, hypernodeKeys[tier].fetch, model.Receiving, len(pk.Data))
}

// start carries out a remote access. The rank that asks for it moves the bytes; it knows those that it has read, and waits until
// others can see those that it has written.
func (n *hypernodes) start(p *port, x *access) {
	a, tier := n.access(x.src, x.dst)
	keys := &hypernodeKeys[tier]
	ch, key := a.Put, keys.put
	if x.get {
		ch, key = a.Get, keys.get
	}
	p.probe.starts(p, x)
	p.charge(ch.Start)
	p.probe.until(p, p.clock, key.start, model.Sending, 0)
	n.carry(p, x, key.bandwidth, x.dst, x.get, len(x.b), ch.Bandwidth)
	if !x.get {
		p.clock += a.Latency
		p.probe.until(p, p.clock, keys.latency, model.Sending, 0)
	}
	p.clock += n.round(tier)
	p.probe.until(p, p.clock, "hypernodes.hop", model.Sending, 0)
	p.probe.lands(x, p.clock)
	p.pay()
	x.move()
	x.finish()
}

// count asks by the shortest way along the ring, which is the only one, and is answered by the rest of it.
func (n *hypernodes) count(p *port, dst, r int, c change) int64 {
	a, _ := n.access(p.rank, int32(dst))
	there := int(n.seats[dst].node - n.seats[p.rank].node)
	if there < 0 {
		there += n.nodes
	}
	back := 0
	if there > 0 {
		back = n.nodes - there
	}
	return p.count(&n.regs[dst], a.Latency+n.Hop*unit.Time(there), a.Counter, a.Latency+n.Hop*unit.Time(back), dst, r, c)
}
