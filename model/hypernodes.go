package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Hypernodes is a machine whose processors share memory in two tiers: a crossbar joins the
// processors and memories of a hypernode, rings join the hypernodes. Ranks fill the hypernodes in
// order. A processor moves all bytes itself: writing to or reading from the memory of another keeps
// it busy until the last byte, and occupies the ports and rings on the way.
type Hypernodes struct {
	Sizes              []int     // processors of each hypernode
	ProcessorsPerBlock int       // processors that share a functional block: a memory with one port to the crossbar
	Port               unit.Rate // of a block's port, each direction
	Rings              int       // between the hypernodes; block i of a hypernode, modulo Rings, is on ring i
	Ring               unit.Rate // of each ring, which turns one way
	Hop                unit.Time // from one hypernode to the next on a ring. A request and its answer together go round once
	CopiesPassPort     bool      // what a processor copies passes the port of its block, too, there and back
	Chunk              int       // bytes of a transfer that hold a port or ring before others may pass
	Header             int       // bytes of a packet beside its payload
	Access             [NumTiers]MemoryAccess
}

// Node returns the hypernode of an end.
func (h *Hypernodes) Node(end int) int {
	for i, n := range h.Sizes {
		if end < n {
			return i
		}
		end -= n
	}
	return len(h.Sizes)
}

// CountUsed returns how many hypernodes a job with that many ends uses. Its rings join them.
func (h *Hypernodes) CountUsed(ends int) int { return h.Node(ends-1) + 1 }

// CopiesPassNetwork reports whether copies share ports with messages (Machine.CopiesPassNetwork).
func (h *Hypernodes) CopiesPassNetwork() bool { return h.CopiesPassPort }

// CountProcessors returns how many there are.
func (h *Hypernodes) CountProcessors() int {
	sum := 0
	for _, n := range h.Sizes {
		sum += n
	}
	return sum
}

// MemoryAccess is the cost of access to the memory of another processor of a tier.
type MemoryAccess struct {
	Latency      unit.Time    // from a write until another processor can see it, without the hops
	Send         Channel      // a packet written into the queue of its receiver by the sender
	SettleTime   unit.Time    // sender time after the packet is visible: confirmed writes, released locks
	Receive      unit.Time    // taking one packet off the queue
	FetchPerByte unit.PerByte // per byte of a packet's data, added to the cost of a copy in local memory
	Put          Channel      // write to exposed memory
	Get          Channel      // read from exposed memory
	CounterTime  unit.Time    // a fetch-and-increment at the register, without the round trip
}

// hypernodesTransfer is a transfer between processors of hypernodes.
type hypernodesTransfer struct {
	*Hypernodes
	Path
}

func (h *Hypernodes) newCarrier(p Path) carrier { return hypernodesTransfer{h, p} }

// tier returns the tier of memory that a path leads to. A path without hops stays in a hypernode.
func (p Path) tier() Tier {
	if p.Hops == 0 {
		return IntraNode
	}
	return InterNode
}

// Kind implements Network.
func (*Hypernodes) Kind() string { return "hypernodes" }

func (h *Hypernodes) String() string {
	return fmt.Sprintf("%d hypernodes of %d processors, ports to the crossbar of %v, %d rings of %v", len(h.Sizes), h.Sizes[0], h.Port, h.Rings, h.Ring)
}

// route has a hop for each hypernode of the job: a request and its answer together go once round
// the ring.
func (h *Hypernodes) route(ends, _, _ int) Path { return Path{Hops: h.CountUsed(ends)} }

// costKey returns the platform file's key of a cost of the path's tier.
func (n hypernodesTransfer) costKey(key string) string {
	return "hypernodes." + n.tier().String() + "." + key
}

// slowestComponent returns the key and the rate of the slowest component on the way to a tier.
func (h *Hypernodes) slowestComponent(t Tier) (string, unit.Rate) {
	if t == InterNode && h.Ring < h.Port {
		return "hypernodes.ring", h.Ring
	}
	return "hypernodes.port", h.Port
}

// chargeMove keeps a side's processor busy with moving bytes.
func (n hypernodesTransfer) chargeMove(w *protocolRun, side CostSide, key string, ch Channel, bytes int) {
	w.occupyProcessor(side, Term{Name: n.costKey(key + ".bandwidth"), Count: 1, Bytes: bytes, Time: ch.Bandwidth.Time(bytes)}, ch.Bandwidth)
	slow, rate := n.slowestComponent(n.tier())
	_, held := chunkDelays(bytes, n.Chunk, ch.Bandwidth, rate)
	w.occupyProcessor(side, Term{Name: slow, Count: 1, Bytes: bytes, Time: held}, rate)
}

// termOfOne returns the term of a cost of the tier that occurs once.
func (n hypernodesTransfer) termOfOne(key string, t unit.Time) Term {
	return Term{Name: n.costKey(key), Count: 1, Time: t}
}

// roundTripTerm returns the term of a round trip along a ring.
func (n hypernodesTransfer) roundTripTerm() Term {
	return Term{Name: "hypernodes.hop", Count: n.Hops, Time: n.Hop * unit.Time(n.Hops)}
}

// send makes the packet visible to the receiver before the sender has settled.
func (n hypernodesTransfer) send(w *protocolRun, from CostSide, bytes int) packet {
	a := &n.Access[n.tier()]
	w.occupyProcessor(from, n.termOfOne("send.start", a.Send.Start), a.Send.Start)
	depart := w.lanes[from].clock
	n.chargeMove(w, from, "send", a.Send, n.Header+bytes)
	m := w.newPacket(from)
	m.delay(w.fillTerm(n.termOfOne("latency", a.Latency), NetworkSide, a.Latency), w.fillTerm(n.roundTripTerm(), NetworkSide, n.Hop))
	w.recordFlight(from, depart, m.at, bytes, false)
	w.occupyProcessor(from, n.termOfOne("settle", a.SettleTime), a.SettleTime)
	return m
}

func (n hypernodesTransfer) receive(w *protocolRun, side CostSide, bytes int) {
	a := &n.Access[n.tier()]
	w.occupyProcessor(side, n.termOfOne("receive", a.Receive), a.Receive)
	w.occupyProcessor(side, Term{Name: n.costKey("fetch"), Count: 1, Bytes: bytes, Time: a.FetchPerByte.Time(bytes)}, a.FetchPerByte)
}

// get keeps the processor that reads busy until it has everything.
func (n hypernodesTransfer) get(w *protocolRun, side CostSide, bytes int) {
	a := &n.Access[n.tier()]
	w.occupyProcessor(side, n.termOfOne("get.start", a.Get.Start), a.Get.Start)
	depart := w.lanes[side].clock
	n.chargeMove(w, side, "get", a.Get, bytes)
	w.occupyProcessor(side, n.roundTripTerm(), n.Hop)
	w.recordFlight(otherSide(side), depart, w.lanes[side].clock, bytes, true)
}

// put keeps the processor that writes busy until the other side can see everything.
func (n hypernodesTransfer) put(w *protocolRun, side CostSide, bytes int) {
	a := &n.Access[n.tier()]
	w.occupyProcessor(side, n.termOfOne("put.start", a.Put.Start), a.Put.Start)
	depart := w.lanes[side].clock
	n.chargeMove(w, side, "put", a.Put, bytes)
	w.occupyProcessor(side, n.termOfOne("latency", a.Latency), a.Latency)
	w.occupyProcessor(side, n.roundTripTerm(), n.Hop)
	w.recordFlight(side, depart, w.lanes[side].clock, bytes, true)
}

func (h *Hypernodes) fillParameters(x *Parameters, control unit.Time, path Path) {
	a := &h.Access[path.tier()]
	_, slowest := h.slowestComponent(path.tier())
	gap := func(ch Channel) unit.PerByte { return perByte(min(ch.Bandwidth, slowest)) }
	x.L = a.Latency + h.Hop*unit.Time(path.Hops)
	x.SendOverhead = Curve{{0, control + a.Send.Start + gap(a.Send).Time(h.Header) + a.SettleTime, gap(a.Send)}}
	x.RecvOverhead = x.RecvOverhead.shiftedBy(a.Receive)
	x.RecvOverhead[1].ValueAtFrom += a.FetchPerByte.Time(1)
	x.RecvOverhead[1].PerByte += a.FetchPerByte
	x.Gap = slowest.Time(h.Header)
	x.GapPerByte, x.GapPerPulledByte, x.GapPerPushedByte = gap(a.Send), gap(a.Get), gap(a.Put)
	x.SenderStoresBytes = true
}

// appendSharedUse appends the ports of both blocks, and the ring. A message that the receiver
// copies passes its port once more each way.
func (h *Hypernodes) appendSharedUse(into []Occupation, from, to, bytes int, how dataMovement) []Occupation {
	port := h.Port.Time(h.Header + bytes)
	source, target := from/h.ProcessorsPerBlock, to/h.ProcessorsPerBlock
	into = append(into, newOccupation("out", source, port))
	if h.Node(from) != h.Node(to) {
		into = append(into, newOccupation("ring", target%h.Rings, h.Ring.Time(h.Header+bytes)))
	}
	into = append(into, newOccupationAtReceiver("in", target, port))
	if h.CopiesPassPort && how.copied {
		into = append(into, newOccupationAtReceiver("out", target, port), newOccupationAtReceiver("in", target, port))
	}
	return into
}
