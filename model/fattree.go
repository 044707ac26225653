package model

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// FatTree is a fat tree of switches with virtual cut-through. Each end is a leaf: Arity of them are
// below a switch of the first level, Arity switches below each of the next. A packet goes up to the
// first level that is above both ends, and down from there. Ends have no memory in common;
// processors move packets to and from the interface themselves (programmed I/O), and an interface
// may have an engine that moves memory (RDMA).
//
// Leiserson 1985; that a switch has several links up, to switches that are alike, is the extended
// generalized fat tree of Öhring, Ibel, Das and Kumar 1995, XGFT(h; a, ..., a; 1, Up...).
type FatTree struct {
	Arity               int       // links down of each switch
	UpLinks             []int     // links up of each switch of a level, but of the top: the tree has a level more
	HopLatency          unit.Time // through a switch, with the link behind it
	Deliver             unit.Time // from the last switch until a processor can see the packet
	Link                unit.Rate // each direction of each link
	Header              int       // bytes of a message beside its payload
	Packet              PacketSize
	Send                PIO       // the sender's stores into the interface, for each packet
	InterfaceLock       unit.Time // taking and giving back the lock of the interface, for each message sent or received
	Receive             PIO       // the receiver's loads
	PriorityQueueLength int       // messages of each priority that wait for a rank, under way or received by its interface. 0: no priorities
	Control             Control   // of 0 words: there is none

	Chunk      int     // bytes of a remote access that hold a link before others may pass
	Put, Get   Channel // remote accesses by the interface, the processor is busy for Start only. Of bandwidth 0: there are none
	HalfDuplex bool    // an interface reads or writes memory of its node, one access at a time; if not, one of each
}

// Control is a network beside that of packets that broadcasts words and combines those of all
// ranks, like the control network of the CM-5. Processors store words into its interface and load
// them from there.
type Control struct {
	Words         int       // of a broadcast at most
	Buffers       int       // broadcasts under way at most; the next one waits until all ranks have taken the oldest
	Latency       unit.Time // up the tree and down to all
	Word          unit.Time // of a link, for each word of a broadcast
	Send, Receive PIO
}

// PacketSize is how the interface cuts messages.
type PacketSize struct {
	Header  int // bytes on links and in each packet
	Payload int // bytes of a packet beside that at most
}

// PIO is the processor time of moving a packet by loads or stores: Start, and each access. The
// interface is a queue, from which an access takes just as many bytes as it moves. So a burst is
// for whole bursts of a packet, and the rest goes by words. Bytes of a whole burst go by words,
// too, where that is faster.
type PIO struct {
	Start unit.Time
	Word  AccessWidth
	Burst AccessWidth // of size 0: there are none
}

// AccessWidth is an access to the interface: so many bytes in a time.
type AccessWidth struct {
	Size int
	Time unit.Time
}

// Time returns how long the packet of so many bytes takes.
func (p PIO) Time(bytes int) unit.Time {
	words := func(n int) unit.Time { return unit.Time((n+p.Word.Size-1)/p.Word.Size) * p.Word.Time }
	t := words(bytes)
	if size := p.Burst.Size; size > 0 {
		t = min(t, unit.Time(bytes/size)*p.Burst.Time+words(bytes%size))
	}
	return p.Start + t
}

// String prints the parts: 0.333us, 8 B in 0.133us, 64 B in 0.067us.
func (p PIO) String() string {
	s := fmt.Sprintf("%v, %d B in %v", p.Start, p.Word.Size, p.Word.Time)
	if p.Burst.Size > 0 {
		s += fmt.Sprintf(", %d B in %v", p.Burst.Size, p.Burst.Time)
	}
	return s
}

// Packets returns how many packets carry a message of so many bytes with its header.
func (f *FatTree) Packets(bytes int) int {
	return max(1, (bytes+f.Packet.Payload-1)/f.Packet.Payload)
}

// ProcessorTimeOfBytes returns how long a processor takes to move the first bytes of a message.
func (f *FatTree) ProcessorTimeOfBytes(p PIO, bytes int) unit.Time {
	h, most := f.Packet.Header, f.Packet.Payload
	t := unit.Time(bytes/most) * p.Time(h+most)
	if rest := bytes % most; rest > 0 || bytes == 0 {
		t += p.Time(h + rest)
	}
	return t
}

// Levels returns the number of levels of switches.
func (f *FatTree) Levels() int { return len(f.UpLinks) + 1 }

// Capacity returns how many ends the tree can have.
func (f *FatTree) Capacity() int {
	n := 1
	for range f.Levels() {
		if n *= f.Arity; n > 1<<30 {
			break
		}
	}
	return n
}

// TopLevelBetween returns the first level above both of two ends, from 1 on. From an end to itself
// it is 0.
func (f *FatTree) TopLevelBetween(from, to int) int {
	level := 0
	for ; from != to; level++ {
		from, to = from/f.Arity, to/f.Arity
	}
	return level
}

// Latency returns the time of a first byte through so many switches.
//
//	hops·hop + deliver
func (f *FatTree) Latency(hops int) unit.Time { return f.HopLatency*unit.Time(hops) + f.Deliver }

// Kind implements Network.
func (*FatTree) Kind() string { return "fattree" }

func (f *FatTree) String() string {
	return fmt.Sprintf("fat tree of %d levels of switches with %d links down of %v", f.Levels(), f.Arity, f.Link)
}

// Node returns the end: each is a node of its own.
func (f *FatTree) Node(end int) int { return end }

// route passes a switch of each level up to the top and down again.
func (f *FatTree) route(_, from, to int) Path { return Path{Hops: 2*f.TopLevelBetween(from, to) - 1} }

// fatTreeTransfer is a transfer on a fat tree.
type fatTreeTransfer struct {
	*FatTree
	Path
}

// rdmaTransfer is one on a tree whose interfaces access memory.
type rdmaTransfer struct{ fatTreeTransfer }

func (f *FatTree) newCarrier(p Path) carrier {
	n := fatTreeTransfer{f, p}
	if f.Put.Bandwidth > 0 {
		return rdmaTransfer{n}
	}
	return n
}

// hasCounters implements counterNetwork: there are none.
func (*FatTree) hasCounters() bool { return false }

func (n fatTreeTransfer) latencyTerms(w *protocolRun) []Term {
	return []Term{
		w.fillTerm(Term{Name: "fattree.hop", Count: n.Hops, Time: n.HopLatency * unit.Time(n.Hops)}, NetworkSide, n.HopLatency),
		w.fillTerm(Term{Name: "fattree.deliver", Count: 1, Time: n.Deliver}, NetworkSide, n.Deliver),
	}
}

func (n fatTreeTransfer) linkTerm(w *protocolRun, where CostSide, bytes int, d unit.Time) Term {
	return w.fillTerm(Term{Name: "fattree.link", Count: 1, Bytes: bytes, Time: d}, where, n.Link)
}

// chargeProgrammedIO keeps a side busy with moving a message of so many bytes.
func (n fatTreeTransfer) chargeProgrammedIO(w *protocolRun, side CostSide, name string, p PIO, bytes int) {
	w.occupyProcessor(side, Term{Name: name, Count: n.Packets(bytes), Bytes: bytes, Time: n.ProcessorTimeOfBytes(p, bytes)}, p)
}

// send stores packet after packet. Each packet but the last delays the next where the link takes
// longer than its stores.
func (n fatTreeTransfer) send(w *protocolRun, from CostSide, bytes int) packet {
	size, header := n.Header+bytes, n.Packet.Header
	packets, full := n.Packets(size), n.Packet.Payload
	hold := func(b int) unit.Time { return n.Link.Time(header + b) }
	last := size - (packets-1)*full
	left := unit.Time(packets-1) * max(0, hold(full)-n.Send.Time(header+full))
	n.chargeInterfaceLock(w, from)
	depart := w.lanes[from].clock
	n.chargeProgrammedIO(w, from, "fattree.send", n.Send, size)
	w.occupyProcessor(from, n.linkTerm(w, from, size, left), n.Link)
	m := w.newPacket(from)
	m.delay(n.linkTerm(w, NetworkSide, size, max(0, hold(last)-n.Send.Time(header+last))))
	m.delay(n.latencyTerms(w)...)
	w.recordFlight(from, depart, m.at, bytes, false)
	return m
}

// chargeInterfaceLock keeps a side busy with the lock, which nobody else has.
func (n fatTreeTransfer) chargeInterfaceLock(w *protocolRun, side CostSide) {
	w.occupyProcessor(side, Term{Name: "fattree.lock", Count: 1, Time: n.InterfaceLock}, n.InterfaceLock)
}

func (n fatTreeTransfer) receive(w *protocolRun, side CostSide, bytes int) {
	n.chargeInterfaceLock(w, side)
	n.chargeProgrammedIO(w, side, "fattree.receive", n.Receive, n.Header+bytes)
}

// accessTerms returns the terms and the time of moving the bytes of a remote access.
func (n rdmaTransfer) accessTerms(w *protocolRun, name string, bytes int, rate unit.Rate) ([]Term, unit.Time) {
	_, there := chunkDelays(bytes, n.Chunk, rate, n.Link)
	x := w.fillTerm(Term{Name: name, Count: 1, Bytes: bytes, Time: rate.Time(bytes)}, NetworkSide, rate)
	return []Term{x, n.linkTerm(w, NetworkSide, bytes, there)}, x.Time + there
}

// get takes the latency twice: for the request and for the answer.
func (n rdmaTransfer) get(w *protocolRun, side CostSide, bytes int) {
	w.occupyProcessor(side, Term{Name: "fattree.get.start", Count: 1, Time: n.Get.Start}, n.Get.Start)
	t, terms, latency := w.lanes[side].clock, n.latencyTerms(w), n.Latency(n.Hops)
	data, d := n.accessTerms(w, "fattree.get.bandwidth", bytes, n.Get.Bandwidth)
	w.recordFlight(side, t, t+latency, 0, true)
	w.recordFlight(otherSide(side), t+latency, t+latency+d+latency, bytes, true)
	w.waitForWire(side, "get", slices.Concat(terms, data, terms)...)
}

// put takes the latency twice: for the data and for the confirmation.
func (n rdmaTransfer) put(w *protocolRun, side CostSide, bytes int) {
	w.occupyProcessor(side, Term{Name: "fattree.put.start", Count: 1, Time: n.Put.Start}, n.Put.Start)
	t, terms, latency := w.lanes[side].clock, n.latencyTerms(w), n.Latency(n.Hops)
	data, d := n.accessTerms(w, "fattree.put.bandwidth", bytes, n.Put.Bandwidth)
	w.recordFlight(side, t, t+d+latency, bytes, true)
	w.recordFlight(otherSide(side), t+d+latency, t+d+latency+latency, 0, true)
	w.waitForWire(side, "put", slices.Concat(data, terms, terms)...)
}

// fillParameters takes the slope of overheads from packets that are full.
func (f *FatTree) fillParameters(x *Parameters, control unit.Time, p Path) {
	slope := func(p PIO) unit.PerByte {
		return unit.PerByte(float64(p.Time(f.Packet.Header+f.Packet.Payload)) / float64(f.Packet.Payload))
	}
	x.L = f.Latency(p.Hops)
	x.SendOverhead = Curve{{0, control + f.InterfaceLock + f.ProcessorTimeOfBytes(f.Send, f.Header), slope(f.Send)}}
	x.RecvOverhead = x.RecvOverhead.shiftedBy(f.InterfaceLock + f.ProcessorTimeOfBytes(f.Receive, f.Header))
	x.RecvOverhead[1].ValueAtFrom += slope(f.Receive).Time(1)
	x.RecvOverhead[1].PerByte += slope(f.Receive)
	x.Gap = f.Link.Time(f.Packet.Header + f.Header)
	x.GapPerByte, x.SenderStoresBytes = slope(f.Send), true
	if f.Put.Bandwidth > 0 {
		x.GapPerPulledByte, x.GapPerPushedByte = perByte(f.Get.Bandwidth), perByte(f.Put.Bandwidth)
	}
}

// appendSharedUse appends the interfaces, which processors occupy while they move a message
// themselves, and the links between switches. A packet goes up by those that the digits of its
// destination select.
func (f *FatTree) appendSharedUse(into []Occupation, from, to, bytes int, how dataMovement) []Occupation {
	leaving, arriving := "out", "in"
	send, receive := f.InterfaceLock+f.ProcessorTimeOfBytes(f.Send, f.Header+bytes), f.InterfaceLock+f.ProcessorTimeOfBytes(f.Receive, f.Header+bytes)
	switch {
	case how.byAccess:
		send, receive = f.Put.Bandwidth.Time(bytes), f.Put.Bandwidth.Time(bytes)
		if f.HalfDuplex {
			leaving, arriving = "access", "access"
		}
	case f.InterfaceLock > 0:
		leaving, arriving = "lock", "lock"
	}
	into = append(into, newOccupation(leaving, from, send))
	link := f.Link.Time(f.Packets(f.Header+bytes)*f.Packet.Header + f.Header + bytes)
	twins, twin, below := 1, 0, 1 // of the switches of a level: how many have the same ends below, which of them, and how many ends
	for level := 1; level < min(f.TopLevelBetween(from, to), f.Levels()); level++ {
		below *= f.Arity
		up := f.UpLinks[level-1]
		digit := to / twins % up
		first := level << 32 // of the numbers of a level
		into = append(into, newOccupation("up", first+(from/below*twins+twin)*up+digit, link))
		twin, twins = twin*up+digit, twins*up
		into = append(into, newOccupationAtReceiver("down", first+to/below*twins+twin, link))
	}
	return append(into, newOccupationAtReceiver(arriving, to, receive))
}
