package model

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Torus is a three-dimensional torus of nodes, each with PerNode processors behind one switch, with
// dimension-order routing and virtual cut-through.
type Torus struct {
	ProcessorsPerNode int       // processors that share a switch
	HopLatency        unit.Time // per switch-to-switch link
	TurnLatency       unit.Time // per change of dimension
	Deliver           unit.Time // from the last switch until a processor can see the packet in its memory
	Link              unit.Rate // each direction of each link
	Chunk             int       // bytes of a transfer that hold a link before others may pass
	Header            int       // bytes of a packet beside its payload

	Send               Channel   // a packet stored into the peer's queue by the processor, busy until the last byte left
	Receive            unit.Time // taking one arrived packet off the queue
	Put                Channel   // remote write by the stores of a processor, which is busy until the last bytes are in its write buffer
	WriteBuffer        int       // bytes of that
	Get                Channel   // remote read by prefetches of a processor, which is busy until it has the last byte
	TransferEngine     Channel   // transfer engine of the node; the processor is busy for Start only. No bandwidth: there is none
	MemoryRate         unit.Rate // of a processor's memory, for what others write and read there; 0: as fast as it comes
	MemoryLineBytes    int       // bytes of a line of it
	PageReopen         unit.Time // that each line which others use costs a processor that reads there besides: its page is closed
	CounterTime        unit.Time // a fetch-and-increment at the register, without the round trip
	Acknowledge        unit.Time // of a put: until the writer's interface has counted the acknowledgement, beside the latency back
	BarrierReleaseTime unit.Time // from the last arrival at the hardware's barrier until all ranks see it; 0: there is none
}

// IsCarriedByEngine reports whether the node's engine carries a remote access of so many bytes:
// where it takes no longer than the processor, whose channel is given.
func (t *Torus) IsCarriedByEngine(c Channel, bytes int) bool {
	return t.TransferEngine.Bandwidth > 0 && t.TransferEngine.Time(bytes) <= c.Time(bytes)
}

// BufferDrainTime returns how long before the last bytes of a put have left its processor is free.
func (t *Torus) BufferDrainTime(bytes int) unit.Time {
	return t.Put.Bandwidth.Time(min(bytes, t.WriteBuffer))
}

// Shape returns the dimensions x ≥ y ≥ z of the torus for a number of ends: their product is the
// number of nodes, and they are as nearly equal as its factors allow.
func (t *Torus) Shape(ends int) [3]int {
	nodes := max(1, (ends+t.ProcessorsPerNode-1)/t.ProcessorsPerNode)
	z := 1
	for (z+1)*(z+1)*(z+1) <= nodes {
		z++
	}
	for nodes%z != 0 {
		z--
	}
	rest := nodes / z
	y := 1
	for (y+1)*(y+1) <= rest {
		y++
	}
	for rest%y != 0 {
		y--
	}
	return [3]int{rest / y, y, z}
}

// Node returns the node of an end. Dividing 32 bits takes half as long as dividing 64.
func (t *Torus) Node(end int) int { return int(uint32(end) / uint32(t.ProcessorsPerNode)) }

// route adds up the distances of two nodes in each dimension, the shorter way round. It turns
// between the dimensions in which they differ. The route back has the same length.
func (t *Torus) route(ends, from, to int) (p Path) {
	dimensions := 0
	for _, size := range t.Shape(ends) {
		d := from%size - to%size
		if d < 0 {
			d = -d
		}
		if d > 0 {
			p.Hops += min(d, size-d)
			dimensions++
		}
		from, to = from/size, to/size
	}
	p.Turns = max(dimensions-1, 0)
	return p
}

// torusTransfer is a transfer on a torus.
type torusTransfer struct {
	*Torus
	Path
}

func (t *Torus) newCarrier(p Path) carrier { return torusTransfer{t, p} }

// Kind implements Network.
func (*Torus) Kind() string { return "torus" }

func (t *Torus) String() string {
	return fmt.Sprintf("torus of links of %v", t.Link)
}

// latencyOfPath returns the latency of a path:
//
//	hops·hop + turns·turn + deliver
func (t *Torus) latencyOfPath(p Path) unit.Time {
	return t.HopLatency*unit.Time(p.Hops) + t.TurnLatency*unit.Time(p.Turns) + t.Deliver
}

// latencyTerms returns the terms of the latency.
func (n torusTransfer) latencyTerms(w *protocolRun) []Term {
	return []Term{
		w.fillTerm(Term{Name: "torus.hop", Count: n.Hops, Time: n.HopLatency * unit.Time(n.Hops)}, NetworkSide, n.HopLatency),
		w.fillTerm(Term{Name: "torus.turn", Count: n.Turns, Time: n.TurnLatency * unit.Time(n.Turns)}, NetworkSide, n.TurnLatency),
		w.fillTerm(Term{Name: "torus.deliver", Count: 1, Time: n.Deliver}, NetworkSide, n.Deliver),
	}
}

// delaysByLinksAndMemory returns how much links and memory delay bytes that are sent at a rate: how
// much later the last byte leaves, and how much later it is in memory. Memory takes a chunk after
// the one before it, and delays nobody but them.
func (t *Torus) delaysByLinksAndMemory(bytes int, rate unit.Rate) (left, there unit.Time) {
	left, there = chunkDelays(bytes, t.Chunk, rate, t.Link)
	if t.MemoryRate == 0 || t.MemoryRate >= min(rate, t.Link) {
		return left, there
	}
	var entered, taken unit.Time // when a chunk leaves; when memory has it
	for pos := 0; pos < bytes; pos += t.Chunk {
		end := min(pos+t.Chunk, bytes)
		taken = max(taken, entered) + t.MemoryRate.Time(end-pos)
		entered += max(rate.Time(end)-rate.Time(pos), t.Link.Time(end-pos))
	}
	return left, max(there, taken-rate.Time(bytes))
}

// linkTerm returns the term of the time that slow links add.
func (n torusTransfer) linkTerm(w *protocolRun, where CostSide, bytes int, d unit.Time) Term {
	return w.fillTerm(Term{Name: "torus.link", Count: 1, Bytes: bytes, Time: d}, where, n.Link)
}

func (n torusTransfer) send(w *protocolRun, from CostSide, bytes int) packet {
	w.occupyProcessor(from, Term{Name: "torus.send.start", Count: 1, Time: n.Send.Start}, n.Send.Start)
	depart := w.lanes[from].clock
	size := n.Header + bytes
	left, there := n.delaysByLinksAndMemory(size, n.Send.Bandwidth)
	w.occupyProcessor(from, Term{Name: "torus.send.bandwidth", Count: 1, Bytes: size, Time: n.Send.Bandwidth.Time(size)}, n.Send.Bandwidth)
	w.occupyProcessor(from, n.linkTerm(w, from, size, left), n.Link)
	m := w.newPacket(from)
	m.delay(n.linkTerm(w, NetworkSide, size, there-left))
	m.delay(n.latencyTerms(w)...)
	w.recordFlight(from, depart, m.at, bytes, false)
	return m
}

// accessTerms returns the terms and the time of moving the bytes of a remote access at a rate,
// where links and memory delay the last of them.
func (n torusTransfer) accessTerms(w *protocolRun, name string, bytes int, rate unit.Rate, there unit.Time) ([]Term, unit.Time) {
	x := w.fillTerm(Term{Name: name, Count: 1, Bytes: bytes, Time: rate.Time(bytes)}, NetworkSide, rate)
	return []Term{x, n.linkTerm(w, NetworkSide, bytes, there)}, x.Time + there
}

func (n torusTransfer) receive(w *protocolRun, side CostSide, _ int) {
	w.occupyProcessor(side, Term{Name: "torus.receive", Count: 1, Time: n.Receive}, n.Receive)
}

// accessChannel returns what carries a remote access of so many bytes, and its name: the node's
// engine, or the processor by the channel that is given.
func (n torusTransfer) accessChannel(c Channel, name string, bytes int) (Channel, string, bool) {
	if n.IsCarriedByEngine(c, bytes) {
		return n.TransferEngine, "torus.engine", true
	}
	return c, name, false
}

// carriesOneAccess implements oneAccessCarrier.
func (n torusTransfer) carriesOneAccess() {}

// get takes the latency twice: for the request and for the answer.
func (n torusTransfer) get(w *protocolRun, side CostSide, bytes int) {
	c, name, _ := n.accessChannel(n.Get, "torus.get", bytes)
	w.occupyProcessor(side, Term{Name: name + ".start", Count: 1, Time: c.Start}, c.Start)
	t, terms, latency := w.lanes[side].clock, n.latencyTerms(w), n.latencyOfPath(n.Path)
	slow := n.Link
	if n.MemoryRate > 0 { // the chunks are read from memory one after the other
		slow = min(slow, n.MemoryRate)
	}
	_, late := chunkDelays(bytes, n.Chunk, c.Bandwidth, slow)
	data, d := n.accessTerms(w, name+".bandwidth", bytes, c.Bandwidth, late)
	w.recordFlight(side, t, t+latency, 0, true)
	w.recordFlight(otherSide(side), t+latency, t+latency+d+latency, bytes, true)
	w.waitForWire(side, "get", slices.Concat(terms, data, terms)...)
}

// put takes the latency twice: for the data and for the acknowledgement.
func (n torusTransfer) put(w *protocolRun, side CostSide, bytes int) {
	c, name, engine := n.accessChannel(n.Put, "torus.put", bytes)
	w.occupyProcessor(side, Term{Name: name + ".start", Count: 1, Time: c.Start}, c.Start)
	t, terms, latency := w.lanes[side].clock, n.latencyTerms(w), n.latencyOfPath(n.Path)
	left, there := n.delaysByLinksAndMemory(bytes, c.Bandwidth)
	if !engine && n.MemoryRate > 0 { // it stops the processor
		left, there = chunkDelays(bytes, n.Chunk, c.Bandwidth, min(n.Link, n.MemoryRate))
	}
	data, d := n.accessTerms(w, name+".bandwidth", bytes, c.Bandwidth, there)
	if !engine {
		rest := n.BufferDrainTime(bytes)
		stored := Term{Name: name + ".bandwidth", Count: 1, Bytes: bytes, Time: c.Bandwidth.Time(bytes) - rest}
		w.occupyProcessor(side, stored, c.Bandwidth)
		w.occupyProcessor(side, n.linkTerm(w, side, bytes, left), n.Link)
		data = []Term{w.fillTerm(Term{Name: "torus.buffer", Count: 1, Bytes: min(bytes, n.WriteBuffer), Time: rest}, NetworkSide, c.Bandwidth), n.linkTerm(w, NetworkSide, bytes, there-left)}
	}
	w.recordFlight(side, t, t+d+latency, bytes, true)
	back := append(terms[:len(terms):len(terms)], w.fillTerm(Term{Name: "torus.acknowledge", Count: 1, Time: n.Acknowledge}, NetworkSide, n.Acknowledge))
	w.recordFlight(otherSide(side), t+d+latency, t+d+latency+latency+n.Acknowledge, 0, true)
	w.waitForWire(side, "put", slices.Concat(data, terms, back)...)
}

func (t *Torus) fillParameters(x *Parameters, control unit.Time, p Path) {
	x.L = t.latencyOfPath(p)
	x.SendOverhead = Curve{{0, control + t.Send.Time(t.Header), perByte(t.Send.Bandwidth)}}
	x.RecvOverhead = x.RecvOverhead.shiftedBy(t.Receive)
	x.Gap = t.Link.Time(t.Header)
	x.GapPerByte, x.SenderStoresBytes = perByte(t.Send.Bandwidth), true
	x.GapPerPulledByte, x.GapPerPushedByte = perByte(t.Get.Bandwidth), perByte(t.Put.Bandwidth)
}

// appendSharedUse appends the interfaces of both nodes. The links between them are left out: a
// processor uses a part of their bandwidth only.
func (t *Torus) appendSharedUse(into []Occupation, from, to, bytes int, _ dataMovement) []Occupation {
	long := t.Link.Time(t.Header + bytes)
	return append(into, newOccupation("out", t.Node(from), long), newOccupationAtReceiver("in", t.Node(to), long))
}
