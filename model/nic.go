package model

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// NIC is an RDMA interface of a Fabric. A processor builds a work request and rings a doorbell. The
// interface reads the message from memory by DMA while the processor continues, the other interface
// writes it into memory, and a processor polls its completion there.
//
// A first byte crosses the bus once for the doorbell, once for the request of a DMA read, once for
// its answer, and once into the memory of the receiver. A message that goes with its doorbell is
// not read by DMA.
type NIC struct {
	Doorbell     unit.Time // processor time to build a work request and ring the doorbell
	Inline       InlineData
	Bus          Bus       // between the interface and memory, which ranks of the interface share
	Message      unit.Time // from a message to the next, at least, where the interface sends and where it receives
	Complete     unit.Time // processor time to poll a completion
	OneSided     bool      // the interface accesses remote memory; it sends and receives in any case
	Atomic       unit.Time // for which an atomic operation occupies the interface of its target; 0: there is none
	Datagrams    *DatagramCosts
	Registration *Registration // nil: memory needs none
	StripeFrom   int           // shortest remote access that is divided over all rails; 0: none is
	CopyEngines  *Staging      // between memory of a GPU and of its host; nil: unknown
	Staging      *Staging      // CopyEngines, if the interface cannot access the memory of its GPU; nil: it can
}

// InlineData is the messages that the processor writes to the interface with the doorbell.
type InlineData struct {
	Size      int       // of the longest, with its header
	Bandwidth unit.Rate // of the processor's writes
}

// Bus joins an interface and memory, in each direction.
type Bus struct {
	Latency   unit.Time // of a first byte
	Bandwidth unit.Rate
}

// Staging is the way of bytes through host memory if the interface cannot access the memory of its
// GPU. Copy engines of the GPU, one for each direction, move remote accesses a fragment at a time:
// a fragment leaves when all of it is in host memory, and so on at the other side, while the next
// one is copied. The processor copies the data of packets.
type Staging struct {
	Fragment int       // bytes of a copy at most
	Launch   unit.Time // of a copy, before its first byte
	Complete unit.Time // from the end of a copy until the processor sees it; the engine goes on
	Out, In  unit.Rate // from the GPU to host memory, and back
}

// FragmentTime returns how long a copy engine takes for a fragment of n bytes.
func (s *Staging) FragmentTime(rate unit.Rate, n int) unit.Time { return s.Launch + rate.Time(n) }

// CopyTime returns how long a copy engine takes for n bytes, a fragment after the other.
func (s *Staging) CopyTime(rate unit.Rate, n int) unit.Time {
	before := max(0, (n-1)/s.Fragment)
	return unit.Time(before)*s.FragmentTime(rate, s.Fragment) + s.FragmentTime(rate, n-before*s.Fragment)
}

// DatagramCosts are those of an interface without connections, such as EFA. Its software cuts a
// message into packets of the fabric and puts them together again, so processors handle each.
type DatagramCosts struct{ Send, Receive Channel }

// Registration is what it costs to let an interface access memory, with a cache of what was
// registered before.
type Registration struct {
	Start    unit.Time
	PageSize int
	Page     unit.Time // for each page
	Entries  int       // buffers in the cache of a rank; the least recently used leave it
	Bytes    int       // of them together; 0: unlimited
}

// Time returns how long the registration of n bytes takes.
func (r *Registration) Time(n int) unit.Time {
	return r.Start + unit.Time((n+r.PageSize-1)/r.PageSize)*r.Page
}

// StageBuffers returns a copy of a machine whose interfaces between nodes can access the memory of
// their GPUs, or cannot. It returns nil if the machine does not say how its copy engines work.
func (m *Machine) StageBuffers(staged bool) *Machine {
	f, isFabric := m.Network.(*Fabric)
	if !isFabric || f.NIC == nil || f.NIC.CopyEngines == nil {
		return nil
	}
	machine, fabric, nic := *m, *f, *f.NIC
	machine.Network, fabric.NIC, nic.Staging = &fabric, &nic, nil
	if staged {
		nic.Staging = nic.CopyEngines
	}
	return &machine
}

// IsInline reports whether n bytes, with their header, go with the doorbell.
func (c *NIC) IsInline(n int) bool { return n <= c.Inline.Size }

// CompletesSends reports whether the interface reads a packet of n bytes, with its header, from
// memory while the processor goes on, and reports when the packet has been delivered. Processors
// write inline data, prepare datagrams, and copy to staged buffers.
func (c *NIC) CompletesSends(n int) bool {
	return c.Datagrams == nil && c.Staging == nil && !c.IsInline(n)
}

// DatagramTime returns how long a processor is busy with the packets of n bytes.
func (f *Fabric) DatagramTime(c Channel, n int) unit.Time {
	return unit.Time(f.packets(n))*c.Start + c.Bandwidth.Time(n)
}

// packets returns how many packets n bytes are.
func (f *Fabric) packets(n int) int { return max(1, (n+f.Packet.Payload-1)/f.Packet.Payload) }

// MessageTime returns for how long a packet of n bytes, with its header, keeps the next one waiting
// in the interface that sends it: each datagram is a message.
func (f *Fabric) MessageTime(n int) unit.Time {
	if f.NIC.Datagrams != nil {
		return f.NIC.Message * unit.Time(f.packets(n))
	}
	return f.NIC.Message
}

// Stripes returns into how many parts a remote access to n bytes is divided, one for each rail, and
// how many bytes a part has at most: whole packets, and no fewer than the next part.
func (f *Fabric) Stripes(n int) (parts, bytes int) {
	rails := f.Graph.Rails()
	if f.NIC.StripeFrom == 0 || n < f.NIC.StripeFrom || rails == 1 {
		return 1, n
	}
	bytes = (f.packets(n) + rails - 1) / rails * f.Packet.Payload
	return (n + bytes - 1) / bytes, min(n, bytes)
}

// StripeEnd returns the end by which part i of a divided access leaves the node of an end: the
// first by that end itself, the others by the next ones.
func (f *Fabric) StripeEnd(end, i int) int {
	rails := f.Graph.Rails()
	rail := end % rails
	return end - rail + (rail+i)%rails
}

// nicTransfer is a transfer between RDMA interfaces.
type nicTransfer struct {
	*Fabric
	Path
}

// oneSidedTransfer is one between RDMA interfaces that access memory.
type oneSidedTransfer struct{ nicTransfer }

// newNICTransfer returns the carrier of a transfer.
func (f *Fabric) newNICTransfer(p Path) carrier {
	if f.NIC.OneSided {
		return oneSidedTransfer{nicTransfer{f, p}}
	}
	return nicTransfer{f, p}
}

// wire returns the terms of n bytes from memory to memory, whose first crosses buses so many times
// and the network once. The slowest of bus and links determines the time of the data: the others
// pass a chunk on while it carries the next.
func (n nicTransfer) wire(w *protocolRun, bytes, buses int, data unit.Time) []Term {
	link := Term{Name: "fabric.link", Count: 1, Bytes: bytes, Time: data}
	rate := n.SlowestLink
	if bus := n.NIC.Bus.Bandwidth; bus.Time(n.Chunk) > rate.Time(n.WireBytes(n.Chunk)) {
		link.Name, rate = "fabric.rdma.bus.bandwidth", bus
	}
	return append([]Term{w.fillTerm(link, NetworkSide, rate)}, n.latency(w, buses, 1, 1)...)
}

// wireOfAccess is wire for a remote access, with its copies through host memory.
func (n nicTransfer) wireOfAccess(w *protocolRun, bytes, buses int, isInline bool) []Term {
	data, staging := n.accessTime(bytes)
	if isInline {
		data, staging = n.dataTime(bytes), 0
	}
	terms := n.wire(w, bytes, buses, data)
	if staging > 0 {
		terms = append(terms, w.fillTerm(Term{Name: "fabric.rdma.staging", Count: 1, Bytes: bytes, Time: staging}, NetworkSide, n.NIC.Staging.Out))
	}
	return terms
}

// latency returns the terms of a first byte, or of a signal, that crosses buses, the network and
// the interface of the other side so many times.
func (n nicTransfer) latency(w *protocolRun, buses, networks, interfaces int) []Term {
	term := func(name string, count int, t unit.Time) Term {
		return w.fillTerm(Term{Name: name, Count: count, Time: unit.Time(count) * t}, NetworkSide, t)
	}
	return []Term{term("fabric.rdma.bus.latency", buses, n.NIC.Bus.Latency), term("fabric.latency", networks, n.FirstByte), term("fabric.deliver", interfaces, n.Deliver)}
}

// chunkTime returns how long the slowest of bus and links takes for a chunk.
func (f *Fabric) chunkTime(rate unit.Rate, n int) unit.Time {
	return max(rate.Time(f.WireBytes(n)), f.NIC.Bus.Bandwidth.Time(n))
}

// dataTime returns how long bus and links take for n bytes, a chunk after the other.
func (n nicTransfer) dataTime(bytes int) unit.Time {
	before := max(0, (bytes-1)/n.Chunk)
	return unit.Time(before)*n.chunkTime(n.SlowestLink, n.Chunk) + n.chunkTime(n.SlowestLink, bytes-before*n.Chunk)
}

// accessTime returns how long bus and links take for n bytes of a remote access, and how much
// longer it takes until the copy engine at the receiver has moved the last fragment.
func (n nicTransfer) accessTime(bytes int) (data, staging unit.Time) {
	data = n.dataTime(bytes)
	s := n.NIC.Staging
	if s == nil || bytes == 0 {
		return data, 0
	}
	var carried, copied unit.Time // the last fragment is at the other side, and in the memory of the GPU
	for from := 0; from < bytes; from += s.Fragment {
		part := min(s.Fragment, bytes-from)
		carried = max(carried, s.CopyTime(s.Out, from+part)) + n.dataTime(part)
		copied = max(copied, carried) + s.FragmentTime(s.In, part)
	}
	return data, copied + 2*s.Complete - data
}

// datagramDataTime returns how long after its processor has made the last datagram of a message bus
// and links have carried it. They carry chunks as the processor makes them.
func (n nicTransfer) datagramDataTime(bytes int) unit.Time {
	send, before := n.NIC.Datagrams.Send, max(0, (bytes-1)/n.Chunk)
	whole, last := n.chunkTime(n.SlowestLink, n.Chunk), n.chunkTime(n.SlowestLink, bytes-before*n.Chunk)
	made := n.DatagramTime(send, bytes)
	t := last
	for _, chunks := range []int{1, before} { // made before others wait for those, or for the processor
		if before > 0 {
			t = max(t, n.DatagramTime(send, chunks*n.Chunk)+unit.Time(before+1-chunks)*whole+last-made)
		}
	}
	return t
}

// ring occupies the processor of a side with a work request, and returns how often the first byte
// of its message crosses buses.
func (n nicTransfer) ring(w *protocolRun, from CostSide, size int) (buses int) {
	n.ringDoorbells(w, from, 1)
	if !n.NIC.IsInline(size) {
		return 4
	}
	if size > 0 {
		rate := n.NIC.Inline.Bandwidth
		w.occupyProcessor(from, Term{Name: "fabric.rdma.inline.bandwidth", Count: 1, Bytes: size, Time: rate.Time(size)}, rate)
	}
	return 2
}

// ringDoorbells occupies the processor of a side with work requests.
func (n nicTransfer) ringDoorbells(w *protocolRun, from CostSide, count int) {
	w.occupyProcessor(from, Term{Name: "fabric.rdma.doorbell", Count: count, Time: unit.Time(count) * n.NIC.Doorbell}, n.NIC.Doorbell)
}

// complete occupies the processor of a side with a completion.
func (n nicTransfer) complete(w *protocolRun, side CostSide) {
	w.occupyProcessor(side, Term{Name: "fabric.rdma.complete", Count: 1, Time: n.NIC.Complete}, n.NIC.Complete)
}

// handleDatagrams occupies the processor of a side with the packets of n bytes.
func (n nicTransfer) handleDatagrams(w *protocolRun, side CostSide, name string, c Channel, bytes int) {
	count := n.packets(bytes)
	w.occupyProcessor(side, Term{Name: name + ".start", Count: count, Time: unit.Time(count) * c.Start}, c.Start)
	if bytes > 0 {
		w.occupyProcessor(side, Term{Name: name + ".bandwidth", Count: 1, Bytes: bytes, Time: c.Bandwidth.Time(bytes)}, c.Bandwidth)
	}
}

func (n nicTransfer) send(w *protocolRun, from CostSide, bytes int) packet {
	size := n.Header + bytes
	if n.NIC.Staging != nil && bytes > 0 {
		c := w.Machine.Processor.Copy
		w.occupyProcessor(from, Term{Name: "processor.copy", Count: 1, Bytes: bytes, Time: c.Time(bytes)}, c)
	}
	buses, data := n.ring(w, from, size), n.dataTime(size)
	if d := n.NIC.Datagrams; d != nil {
		n.handleDatagrams(w, from, "fabric.rdma.datagrams.send", d.Send, size)
		data = n.datagramDataTime(size)
	}
	depart := w.lanes[from].clock
	m := w.newPacket(from)
	m.delay(n.wire(w, size, buses, data)...)
	w.recordFlight(from, depart, m.at, bytes, false)
	return m
}

// completesSends implements sendCompleter.
func (n nicTransfer) completesSends(bytes int) bool {
	return n.NIC.CompletesSends(n.Header + bytes)
}

// awaitCompletion implements sendCompleter: the other interface acknowledges the packet while it
// writes the last bytes.
func (n nicTransfer) awaitCompletion(w *protocolRun, from CostSide, m packet) {
	m.path = slices.Clone(m.path)
	m.delay(n.latency(w, 0, 1, 0)...)
	w.waitForPacket(&w.lanes[from], "done", m)
	n.complete(w, from)
}

func (n nicTransfer) receive(w *protocolRun, side CostSide, bytes int) {
	n.complete(w, side)
	if d := n.NIC.Datagrams; d != nil {
		n.handleDatagrams(w, side, "fabric.rdma.datagrams.receive", d.Receive, n.Header+bytes)
	}
}

// get waits for the request to cross the bus and the network, and for the data: of an access that
// is divided, which has a work request for each rail, for the longest part.
func (n oneSidedTransfer) get(w *protocolRun, side CostSide, bytes int) {
	parts, part := n.Stripes(bytes)
	n.ringDoorbells(w, side, parts)
	request := n.latency(w, 1, 1, 1)
	data := n.wireOfAccess(w, part, 3, false)
	sent := w.lanes[side].clock
	there := sent + sumTimes(request)
	w.recordFlight(side, sent, there, 0, true)
	w.recordFlight(otherSide(side), there, there+sumTimes(data), bytes, true)
	w.waitForWire(side, "get", append(request, data...)...)
	n.complete(w, side)
}

// put waits for the data to be in memory, and for the acknowledgement, which the interface sends
// while it writes the last of them.
func (n oneSidedTransfer) put(w *protocolRun, side CostSide, bytes int) {
	parts, part := n.Stripes(bytes)
	if parts > 1 {
		n.ringDoorbells(w, side, parts-1)
	}
	data := n.wireOfAccess(w, part, n.ring(w, side, bytes), n.NIC.IsInline(bytes))
	ack := n.latency(w, 0, 1, 0)
	sent := w.lanes[side].clock
	there := sent + sumTimes(data)
	w.recordFlight(side, sent, there, bytes, true)
	w.recordFlight(otherSide(side), there, there+sumTimes(ack), 0, true)
	w.waitForWire(side, "put", append(data, ack...)...)
	n.complete(w, side)
}

// sumTimes returns the sum of terms.
func sumTimes(terms []Term) unit.Time { return Terms(terms).Sum() }

// fillNICParameters is view for RDMA interfaces:
//
//	o_s(k) = control + doorbell + (header + k) / inline.bandwidth
//	o_r(k) = complete + handle + copy(k)
//	L      = 2 bus.latency + latency of the links + deliver
//	g      = max{message, header / link}
//	G      = a chunk by the slower of bus and link, divided by its bytes
//
// Longer messages, that are not inline, have no last term of o_s, and 4 bus.latency; so has L if an
// empty message is not inline. Datagrams add their times to both overheads.
func (f *Fabric) fillNICParameters(x *Parameters, control unit.Time, p Path) {
	c := f.NIC
	buses := unit.Time(4)
	sendO := Curve{{0, control + c.Doorbell, 0}}
	if c.IsInline(f.Header) {
		buses = 2
		sendO = Curve{{0, control + c.Doorbell + c.Inline.Bandwidth.Time(f.Header), perByte(c.Inline.Bandwidth)}, {c.Inline.Size - f.Header + 1, control + c.Doorbell, 0}}
	}
	x.RecvOverhead = x.RecvOverhead.shiftedBy(c.Complete)
	if d := c.Datagrams; d != nil {
		sendO = sendO.plusCurve(f.datagramCurve(d.Send))
		x.RecvOverhead = x.RecvOverhead.plusCurve(f.datagramCurve(d.Receive))
	}
	x.SendOverhead = sendO
	x.L = p.FirstByte + f.Deliver + buses*c.Bus.Latency
	x.Gap = max(c.Message, p.SlowestLink.Time(f.WireBytes(f.Header)))
	x.GapPerByte = unit.PerByte(float64(f.chunkTime(p.SlowestLink, f.Chunk)) / float64(f.Chunk))
}

// datagramCurve returns DatagramTime as a line through its values for whole packets.
func (f *Fabric) datagramCurve(c Channel) Curve {
	return Curve{{0, f.DatagramTime(c, f.Header), perByte(c.Bandwidth) + unit.PerByte(float64(c.Start)/float64(f.Packet.Payload))}}
}

// sharedNIC appends what a message occupies of interfaces and buses before the links, or behind
// them. The bytes are those on the bus.
func (f *Fabric) sharedNIC(into []Occupation, end, bytes int, how dataMovement, receives bool) []Occupation {
	bus := f.NIC.Bus.Bandwidth.Time(bytes)
	s := f.NIC.Staging
	if s != nil && (!how.byAccess || bytes == 0) {
		s = nil
	}
	if receives {
		if s != nil {
			into = append(into, newOccupationAtReceiver("copy engine in", end, s.CopyTime(s.In, bytes)))
		}
		return append(into, newOccupationAtReceiver("bus in", end, bus), newOccupationAtReceiver("interface in", end, f.NIC.Message))
	}
	message := f.MessageTime(bytes)
	if how.byAccess {
		message = f.NIC.Message
	}
	if into = append(into, newOccupation("interface out", end, message)); f.NIC.IsInline(bytes) {
		return into
	}
	if s != nil {
		into = append(into, newOccupation("copy engine out", end, s.CopyTime(s.Out, bytes)))
	}
	return append(into, newOccupation("bus out", end, bus))
}
