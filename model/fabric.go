package model

import (
	"fmt"

	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// Fabric is hosts, switches and links as a graph, with virtual cut-through and credits: a link
// takes bytes only if there is room for them in the buffer behind it, so nothing is lost, unless it
// may be, and congestion spreads towards its senders. Each end is a host. A processor hands a
// message over to its interface, which sends it by itself, and may access memory (RDMA).
type Fabric struct {
	Graph         *topology.Graph
	Links         [topology.NumClasses]FabricLink
	SwitchLatency unit.Time // from the arrival of a first byte until it can leave
	Buffer        int       // bytes behind a link into a switch, of each virtual channel; 0: unlimited
	Arbitration   Arbitration
	Deliver       unit.Time  // from the last link until a processor can see what is there
	Header        int        // bytes of a message beside its payload
	Packet        PacketSize // on links: bytes beside its payload, and the longest payload (MTU)
	Chunk         int        // bytes of a transfer that hold a link before others may pass: whole packets

	Congestion *CongestionControl // nil: senders know nothing of congestion but full buffers
	Loss       *LossRecovery      // nil: full buffers stop senders, and nothing is lost
	NIC        *NIC               // the interfaces; nil: those of the numbers below

	Send     Channel   // handing a message over to the interface
	Receive  unit.Time // taking a message that has arrived
	Put, Get unit.Time // starting a remote access
	RDMA     bool      // interfaces access memory
}

// FabricLink is a link of some class, in each direction.
type FabricLink struct {
	Bandwidth unit.Rate // of a lane
	Width     int       // lanes
	Latency   unit.Time // of a first byte
}

// Rate returns the bandwidth of all lanes.
func (l FabricLink) Rate() unit.Rate { return l.Bandwidth * unit.Rate(l.Width) }

// Arbitration says which of the chunks that wait for a link goes next, and who shares the buffer
// behind it.
type Arbitration uint8

const (
	// FairArbitration has a queue for each host that sends. Hosts are served in turn, and each has
	// the whole buffer: one that fills it stops nobody else. Slingshot comes near to this.
	FairArbitration Arbitration = iota

	// FIFOArbitration has one queue and one buffer for all, as a virtual lane of InfiniBand or a
	// priority of Ethernet with PFC has.
	FIFOArbitration
)

// ArbitrationNames are the words for the arbitrations in platform files.
var ArbitrationNames = []string{"fair", "fifo"}

// Kind implements Network.
func (*Fabric) Kind() string { return "fabric" }

func (f *Fabric) String() string {
	return fmt.Sprintf("%s of links of %v", f.Graph.Description, f.Links[topology.HostClass].Rate())
}

// Topology returns the graph.
func (f *Fabric) Topology() *topology.Graph { return f.Graph }

// Capacity returns how many ends the fabric can have.
func (f *Fabric) Capacity() int { return f.Graph.Hosts }

// Node returns the end: each is a node of its own.
func (f *Fabric) Node(end int) int { return end }

// hasCounters implements counterNetwork: atomic operations are those of RDMA interfaces.
func (f *Fabric) hasCounters() bool { return f.NIC != nil && f.NIC.Atomic > 0 }

// WireBytes returns how many bytes n bytes of a message are on a link.
func (f *Fabric) WireBytes(n int) int {
	return n + max(1, (n+f.Packet.Payload-1)/f.Packet.Payload)*f.Packet.Header
}

// HopLatency returns the time of a first byte over a link, and through the switch behind it.
func (f *Fabric) HopLatency(link int32) unit.Time {
	t := f.Links[f.Graph.Class(link)].Latency
	if !f.Graph.IsHost(f.Graph.To(link)) {
		t += f.SwitchLatency
	}
	return t
}

// route follows the links from a host to another.
func (f *Fabric) route(_, from, to int) (p Path) {
	r := f.Graph.RouteBetween(from, to)
	for at := int32(from); at != r.Destination; {
		link := f.Graph.NextLink(&r)
		at = f.Graph.To(link)
		if !f.Graph.IsHost(at) {
			p.Hops++
		}
		p.FirstByte += f.HopLatency(link)
		if rate := f.Links[f.Graph.Class(link)].Rate(); p.SlowestLink == 0 || rate < p.SlowestLink {
			p.SlowestLink = rate
		}
	}
	return p
}

// fabricTransfer is a transfer on a fabric.
type fabricTransfer struct {
	*Fabric
	Path
}

// rdmaFabricTransfer is one on a fabric whose interfaces access memory.
type rdmaFabricTransfer struct{ fabricTransfer }

func (f *Fabric) newCarrier(p Path) carrier {
	if p.SlowestLink == 0 { // from a host to itself
		p.SlowestLink = f.Links[topology.HostClass].Rate()
	}
	switch {
	case f.NIC != nil:
		return f.newNICTransfer(p)
	case f.RDMA:
		return rdmaFabricTransfer{fabricTransfer{f, p}}
	}
	return fabricTransfer{f, p}
}

// linkTime returns how long the slowest link of a path takes for n bytes, a chunk after the other.
// The other links pass a chunk on while that one carries the next.
//
//	(chunks − 1)·chunk/rate + rest/rate
func (f *Fabric) linkTime(rate unit.Rate, n int) unit.Time {
	chunks := max(1, (n+f.Chunk-1)/f.Chunk)
	t := rate.Time(f.WireBytes(n - (chunks-1)*f.Chunk))
	if chunks > 1 {
		t += unit.Time(chunks-1) * rate.Time(f.WireBytes(f.Chunk))
	}
	return t
}

// latency returns the terms and the sum of a first byte's time.
func (n fabricTransfer) latency(w *protocolRun) ([]Term, unit.Time) {
	return []Term{
		w.fillTerm(Term{Name: "fabric.latency", Count: 1, Time: n.FirstByte}, NetworkSide, n.FirstByte),
		w.fillTerm(Term{Name: "fabric.deliver", Count: 1, Time: n.Deliver}, NetworkSide, n.Deliver),
	}, n.FirstByte + n.Deliver
}

func (n fabricTransfer) link(w *protocolRun, bytes int) Term {
	return w.fillTerm(Term{Name: "fabric.link", Count: 1, Bytes: bytes, Time: n.linkTime(n.SlowestLink, bytes)}, NetworkSide, n.SlowestLink)
}

func (n fabricTransfer) send(w *protocolRun, from CostSide, bytes int) packet {
	size := n.Header + bytes
	w.occupyProcessor(from, Term{Name: "fabric.send.start", Count: 1, Time: n.Send.Start}, n.Send.Start)
	w.occupyProcessor(from, Term{Name: "fabric.send.bandwidth", Count: 1, Bytes: size, Time: n.Send.Bandwidth.Time(size)}, n.Send.Bandwidth)
	depart := w.lanes[from].clock
	m := w.newPacket(from)
	terms, _ := n.latency(w)
	m.delay(n.link(w, size))
	m.delay(terms...)
	w.recordFlight(from, depart, m.at, bytes, false)
	return m
}

func (n fabricTransfer) receive(w *protocolRun, side CostSide, _ int) {
	w.occupyProcessor(side, Term{Name: "fabric.receive", Count: 1, Time: n.Receive}, n.Receive)
}

// get takes the latency twice: for the request and for the answer.
func (n rdmaFabricTransfer) get(w *protocolRun, side CostSide, bytes int) {
	w.occupyProcessor(side, Term{Name: "fabric.get", Count: 1, Time: n.Get}, n.Get)
	terms, latency := n.latency(w)
	data, t := n.link(w, bytes), w.lanes[side].clock
	w.recordFlight(side, t, t+latency, 0, true)
	w.recordFlight(otherSide(side), t+latency, t+latency+data.Time+latency, bytes, true)
	w.waitForWire(side, "get", append(append(terms[:len(terms):len(terms)], data), terms...)...)
}

// put takes the latency twice: for the data and for the confirmation.
func (n rdmaFabricTransfer) put(w *protocolRun, side CostSide, bytes int) {
	w.occupyProcessor(side, Term{Name: "fabric.put", Count: 1, Time: n.Put}, n.Put)
	terms, latency := n.latency(w)
	data, t := n.link(w, bytes), w.lanes[side].clock
	w.recordFlight(side, t, t+data.Time+latency, bytes, true)
	w.recordFlight(otherSide(side), t+data.Time+latency, t+data.Time+2*latency, 0, true)
	w.waitForWire(side, "put", append(append([]Term{data}, terms...), terms...)...)
}

func (f *Fabric) fillParameters(x *Parameters, control unit.Time, p Path) {
	if p.SlowestLink == 0 {
		p.SlowestLink = f.Links[topology.HostClass].Rate()
	}
	if f.NIC != nil {
		f.fillNICParameters(x, control, p)
		return
	}
	x.L = p.FirstByte + f.Deliver
	x.SendOverhead = Curve{{0, control + f.Send.Time(f.Header), perByte(f.Send.Bandwidth)}}
	x.RecvOverhead = x.RecvOverhead.shiftedBy(f.Receive)
	x.Gap = p.SlowestLink.Time(f.WireBytes(f.Header))
	x.GapPerByte = unit.PerByte(float64(p.SlowestLink.Time(f.WireBytes(f.Chunk))) / float64(f.Chunk))
}

// appendSharedUse appends the links of the route. Those of its second half are occupied when the
// message arrives.
func (f *Fabric) appendSharedUse(into []Occupation, from, to, bytes int, how dataMovement) []Occupation {
	if from == to {
		return into
	}
	if !how.byAccess {
		return f.sharedOnRail(into, from, to, f.Header+bytes, how)
	}
	if f.NIC == nil {
		return f.sharedOnRail(into, from, to, bytes, how)
	}
	parts, part := f.Stripes(bytes)
	for i := range parts {
		into = f.sharedOnRail(into, f.StripeEnd(from, i), to, min(part, bytes-i*part), how)
	}
	return into
}

// sharedOnRail is shared for bytes that leave by one end, with the header that they have.
func (f *Fabric) sharedOnRail(into []Occupation, from, to, bytes int, how dataMovement) []Occupation {
	r := f.Graph.RouteBetween(from, to)
	links := f.Graph.LinksLeft(r)
	if f.NIC != nil {
		into = f.sharedNIC(into, from, bytes, how, false)
	}
	for n := range links {
		link := f.Graph.NextLink(&r)
		o := newOccupation("link", int(link), f.linkTime(f.Links[f.Graph.Class(link)].Rate(), bytes))
		o.AtReceiver = 2*n >= links && links > 1
		into = append(into, o)
	}
	if f.NIC != nil {
		into = f.sharedNIC(into, int(r.Destination), bytes, how, true)
	}
	return into
}
