package model

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/model/unit"
)

// Ethernet is a network of workstations, one rank each, on one shared medium with CSMA/CD
// (IEEE 802.3). Their operating systems speak TCP/IP on it.
type Ethernet struct {
	Rate                 unit.Rate // of the medium
	Preamble             int       // bytes, with the start delimiter
	Header               int       // bytes of addresses and type
	FCS                  int       // bytes of the check sequence
	InterframeGapBytes   int       // bytes of silence between frames
	MinPayload           int       // shorter payloads are padded
	MTU                  int       // longest payload of a frame
	BackoffSlot          unit.Time // unit of the back-off
	JamBytes             int       // bytes that a station sends on after it has seen a collision
	MaxBackoffDoublings  int       // collisions of a frame after which its back-off doubles no more
	MaxCollisionsOfFrame int       // collisions of a frame after which it is given up
	Propagation          unit.Time // between any two stations, or along a link
	Switches             *Switches // between the stations; nil: they share one medium
	TCP                  TCP
	UDP                  *UDP  // beside TCP; nil: the systems do not have it
	MBCF                 *MBCF // beside TCP; nil: the systems do not have it
}

// Switches join stations by a link each, and forward frames when they have all of them (store and
// forward). All further switches are joined to the first by uplinks, which are full duplex.
type Switches struct {
	IsFullDuplex      bool      // links of stations are full duplex; else each is a medium that the station and its switch share
	StationsPerSwitch int       // stations of a switch
	Latency           unit.Time // from the last byte of a frame until its first may leave
	LinkBufferBytes   int       // bytes of frames that wait for a link; a frame that finds no room is lost
	SharedBufferBytes int       // bytes of frames that wait for all full-duplex links of a switch together; 0: nothing but Buffer bounds them
	Uplink            unit.Rate // between switches

	// Faults of each switch, by frame, at random. Models know nothing of them.
	LossProbability    float64 // probability that it is lost
	ReorderProbability float64 // probability that it is held back, for up to eight of the longest frames
}

// SwitchOf returns the switch of a station.
func (s *Switches) SwitchOf(station int) int { return station / s.StationsPerSwitch }

// Uplinks returns how many links between switches are on the way of a frame.
func (s *Switches) Uplinks(from, to int) int {
	a, b := s.SwitchOf(from), s.SwitchOf(to)
	switch {
	case a == b:
		return 0
	case a == 0 || b == 0:
		return 1
	}
	return 2
}

// TCP is the transport of an operating system as seen through sockets, with one connection for each
// pair of ranks. The caller pays for the work of a system call. The work for an arriving segment
// interrupts whatever the processor does.
type TCP struct {
	Header        int       // bytes of IP and TCP headers of each segment
	Record        int       // bytes that frame each packet in the stream, beside its data
	SendBuffer    int       // bytes that a socket accepts before they are acknowledged
	ReceiveBuffer int       // bytes that it holds before they are read: the largest window
	Write         Channel   // a call of write, with its copy and checksum
	Read          Channel   // a call of read, with its copy
	Poll          unit.Time // a call of select: before a read, and if there is nothing to read
	Output        unit.Time // sending a segment, with data or without
	Input         unit.Time // the interrupt and the protocol work for an arriving segment
	AckEvery      int       // segments after which the receiver acknowledges at once
	AckDelay      unit.Time // how long an acknowledgement waits otherwise for data to go with
	Retransmit    unit.Time // until an unacknowledged segment is sent again; doubles each time

	Congestion *Congestion // nil: senders know of no congestion, and receivers drop what comes behind a gap
}

// Congestion is how TCP shares a network: slow start and congestion avoidance (RFC 2581), and
// selective acknowledgements (RFC 2018). Receivers keep segments that arrive behind a gap.
type Congestion struct {
	InitialWindowSegments    int // segments of the first window
	ReorderToleranceSegments int // segments below the highest one that has arrived which may merely be late; what is missing below them is lost
	QuickAckSegments         int // segments that a receiver acknowledges one by one at the beginning, and after a pause of TCP.Retransmit; 0: none, nor does a read acknowledge
}

// UDP is the datagrams of an operating system, one in a frame each, to one host or to a multicast
// group. The work for a datagram that arrives interrupts whatever the processor does, and what
// finds no room in the socket is lost. A caller who waits does so as with TCP.
type UDP struct {
	Header    int       // bytes of IP and UDP headers of each datagram
	Send      Channel   // a call of sendto, with its copy and check sum, and the sending of the frame
	Receive   Channel   // a call of recvfrom, with its copy
	Input     unit.Time // the interrupt and the protocol work for a datagram that arrives
	Buffer    int       // bytes of datagrams that a socket holds
	Join      unit.Time // a system call that joins or leaves a multicast group
	MaxGroups int       // multicast groups that an interface can be a member of; 0: there is no multicast
}

// MBCF is access to the memory of other workstations by their operating systems, in frames of the
// Ethernet (Memory-Based Communication Facilities). A rank asks by a system call, and the system at
// the other side does what is asked in the interrupt by which the frame comes. Each host numbers
// the packets to another, which acknowledges them; what is lost is sent again.
type MBCF struct {
	Header                int       // bytes of a packet beside its data
	MaxDataBytes          int       // most bytes of data in a packet
	Call                  Channel   // the system call that sends a packet, with a copy of its data
	Input                 Channel   // the interrupt by which a packet comes, with a copy of its data
	Ack                   unit.Time // the interrupt by which an acknowledgement comes
	InterruptEntryAndExit unit.Time // part of Input and Ack: the way into the interrupt and out of it, which a frame does not take that comes during another
	Output                Channel   // sending a packet from an interrupt, with a copy of its data
	Dequeue               unit.Time // the system call that takes an entry out of a queue, without the copy of its data
	Upcall                unit.Time // from an interrupt into a handler of the task, and back
	Window                int       // packets to a host that are not acknowledged, at most
	AckEvery              int       // packets after which their receiver acknowledges at once
	AckDelay              unit.Time // how long an acknowledgement waits otherwise for a packet to go with
	Retransmit            unit.Time // until a packet that is not acknowledged is sent again; doubles each time
}

// UsesMBCF reports whether the messages of a library go by MBCF, and not by TCP.
func (e *Ethernet) UsesMBCF(l *Library) bool { return e.MBCF != nil && l.CarriedBy().UsesMBCF }

// WithSocketsOf returns the Ethernet as a library uses it.
func (e *Ethernet) WithSocketsOf(l *Library) *Ethernet {
	if l == nil || l.Sockets == nil || l.Sockets.BufferBytes == 0 {
		return e
	}
	of := *e
	of.TCP.SendBuffer, of.TCP.ReceiveBuffer = l.Sockets.BufferBytes, l.Sockets.BufferBytes
	return &of
}

func (e *Ethernet) by(l *Library) Network { return e.WithSocketsOf(l) }

// ethernetTransfer is a transfer on an Ethernet. The time of a packet that fits one segment is
// exact: only the frames of its own transfer can delay it. A longer packet is a stream of segments,
// see stream.
type ethernetTransfer struct {
	*Ethernet
	Path
	free        linkFreeTimes
	ackStates   [2]ackState
	lastStreams [2]*tcpStream // the last stream from each side, if it may hold send buffer; or nil
	pendingRead pendingRead   // of the packet under way
}

// ackState is what a side has not yet told the other about the data that it received.
type ackState struct {
	unacked     int // segments that it has not acknowledged
	unannounced int // bytes that it has read without announcing the window that this opens
}

// pendingRead is the receiver's work that is left when the last segment of a packet has arrived.
type pendingRead struct {
	arrived unit.Time // when that is
	acks    int       // acknowledgements to send then
	reads   unit.Time // when the receiver is done with what came before
	bytes   int       // that it then reads, at once
}

// linkFreeTimes are when each direction of each link has been silent for a gap, by the side that
// sends first: its own link, those between switches, and the other side's. Only the first is used
// of one medium, and the links of a side are one where they are half duplex.
type linkFreeTimes [2][4]unit.Time

func (e *Ethernet) newCarrier(p Path) carrier { return &ethernetTransfer{Ethernet: e, Path: p} }

// Kind implements Network.
func (*Ethernet) Kind() string { return "ethernet" }

func (e *Ethernet) String() string {
	if s := e.Switches; s != nil {
		return fmt.Sprintf("switched Ethernet of %v, %s duplex", e.Rate, map[bool]string{true: "full", false: "half"}[s.IsFullDuplex])
	}
	return fmt.Sprintf("Ethernet of %v", e.Rate)
}

func (n *ethernetTransfer) states() *[2]ackState { return &n.ackStates }

// Node returns the end: each is a station of its own.
func (e *Ethernet) Node(end int) int { return end }

func (e *Ethernet) route(_, from, to int) Path {
	if e.Switches == nil {
		return Path{}
	}
	return Path{Hops: e.Switches.Uplinks(from, to)}
}

// MaxSegmentData returns how many bytes of a stream fit in a segment.
func (e *Ethernet) MaxSegmentData() int { return e.MTU - e.TCP.Header }

// frameTime returns how long a segment with n bytes of a stream is on the medium,
//
//	(preamble + header + max{tcp.header + n, min_payload} + fcs) / rate
func (e *Ethernet) frameTime(n int) unit.Time { return e.Rate.Time(e.frameBytes(n)) }

func (e *Ethernet) frameBytes(n int) int {
	return e.Preamble + e.Header + max(e.TCP.Header+n, e.MinPayload) + e.FCS
}

// reserveLinks reserves all links on the way of a segment that a side has ready at t. It returns
// when the first byte leaves and when the last one arrives. From switch to switch a frame goes as
//
//	latency + (preamble + header + max{tcp.header + n, min_payload} + fcs) / rate + propagation
func (n *ethernetTransfer) reserveLinks(from CostSide, t unit.Time, bytes int) (leaves, there unit.Time) {
	leaves, there, n.free = n.routeSegment(from, t, bytes)
	return leaves, there
}

// routeSegment returns what carry returns, and how the links are then.
func (n *ethernetTransfer) routeSegment(from CostSide, t unit.Time, bytes int) (leaves, there unit.Time, free linkFreeTimes) {
	free = n.free
	over := func(link *unit.Time, t unit.Time, rate unit.Rate) (leaves, there unit.Time) {
		leaves = max(t, *link)
		there = leaves + rate.Time(n.frameBytes(bytes))
		*link = there + rate.Time(n.InterframeGapBytes)
		return leaves, there + n.Propagation
	}
	s := n.Switches
	if s == nil {
		leaves, there = over(&free[0][0], t, n.Rate)
		return leaves, there, free
	}
	last := &free[from][3]
	if !s.IsFullDuplex {
		last = &free[otherSide(from)][0]
	}
	leaves, there = over(&free[from][0], t, n.Rate)
	for i := range n.Hops {
		_, there = over(&free[from][1+i], there+s.Latency, s.Uplink)
	}
	_, there = over(last, there+s.Latency, n.Rate)
	return leaves, there, free
}

// frameTerms returns the terms of a frame that is ready at t, leaves its side and arrives.
func (n *ethernetTransfer) frameTerms(w *protocolRun, t, leaves, there unit.Time, bytes int) []Term {
	f := n.frameTime(bytes)
	terms := []Term{
		w.fillTerm(Term{Name: "ethernet.rate", Count: 1, Time: leaves - t}, NetworkSide, n.Rate),
		w.fillTerm(Term{Name: "ethernet.rate", Count: 1, Bytes: n.frameBytes(bytes), Time: f}, NetworkSide, n.Rate),
		w.fillTerm(Term{Name: "ethernet.propagation", Count: 1, Time: n.Propagation}, NetworkSide, n.Propagation),
	}
	if s := n.Switches; s != nil {
		hops := 1 + n.Hops
		forwarded := there - leaves - f - n.Propagation - unit.Time(hops)*(s.Latency+n.Propagation)
		terms = append(terms,
			w.fillTerm(Term{Name: "ethernet.switches.latency", Count: hops, Time: s.Latency * unit.Time(hops)}, NetworkSide, s.Latency),
			w.fillTerm(Term{Name: "ethernet.rate", Count: hops, Bytes: hops * n.frameBytes(bytes), Time: forwarded}, NetworkSide, n.Rate),
			w.fillTerm(Term{Name: "ethernet.propagation", Count: hops, Time: n.Propagation * unit.Time(hops)}, NetworkSide, n.Propagation))
	}
	return terms
}

func (n *ethernetTransfer) send(w *protocolRun, from CostSide, k int) packet {
	size := n.TCP.Record + k
	n.ackStates[from], n.lastStreams[otherSide(from)] = ackState{}, nil // its data carries the acknowledgement
	if size > min(n.MaxSegmentData(), n.TCP.SendBuffer, n.TCP.ReceiveBuffer) {
		return n.stream(w, from, size)
	}
	if x := n.lastStreams[from]; x != nil {
		x.awaitRoom(size)
	}
	n.chargeWrite(w, from, 1, size)
	n.chargeSegmentOutput(w, from, 1)
	depart := w.lanes[from].clock
	m := w.newPacket(from)
	leaves, there := n.reserveLinks(from, m.at, size)
	m.delay(n.frameTerms(w, m.at, leaves, there, size)...)
	w.recordFlight(from, depart, m.at, k, false)
	n.pendingRead = pendingRead{arrived: m.at, bytes: size}
	if a := &n.ackStates[otherSide(from)]; a.unacked+1 < n.TCP.AckEvery {
		a.unacked++
	} else {
		*a = ackState{}
		n.pendingRead.acks = 1
	}
	return m
}

// chargeWrite charges a side for writing bytes in a number of calls.
func (n *ethernetTransfer) chargeWrite(w *protocolRun, side CostSide, calls, bytes int) {
	n.chargeWriteCalls(w, side, calls)
	n.chargeWriteCopies(w, side, calls, bytes)
}

// chargeWriteCalls charges a side for a number of calls of write, without what they copy.
func (n *ethernetTransfer) chargeWriteCalls(w *protocolRun, side CostSide, calls int) {
	c := n.TCP.Write
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.write.start", Count: calls, Time: c.Start * unit.Time(calls)}, c.Start)
}

// chargeWriteCopies charges a side for the copies of a number of calls of write.
func (n *ethernetTransfer) chargeWriteCopies(w *protocolRun, side CostSide, calls, bytes int) {
	c := n.TCP.Write
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.write.bandwidth", Count: calls, Bytes: bytes, Time: c.Bandwidth.Time(bytes)}, c.Bandwidth)
}

// chargeSegmentOutput charges a side for sending segments.
func (n *ethernetTransfer) chargeSegmentOutput(w *protocolRun, side CostSide, segments int) {
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.output", Count: segments, Time: n.TCP.Output * unit.Time(segments)}, n.TCP.Output)
}

// receive takes in the packet under way. The last segment interrupts the receiver, which finds data
// and reads it. A segment that arrives before the receiver's call begins interrupts what the
// receiver does before the call.
func (n *ethernetTransfer) receive(w *protocolRun, side CostSide, _ int) {
	t, x, l := &n.TCP, n.pendingRead, &w.lanes[side]
	if x.arrived >= l.begin() {
		w.occupyProcessor(side, Term{Name: "ethernet.tcp.input", Count: 1, Time: t.Input}, t.Input)
		n.chargeSegmentOutput(w, side, x.acks)
		for range x.acks {
			n.reserveLinks(side, l.clock, 0)
		}
	}
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.receive_buffer", Count: 1, Time: max(x.reads-l.clock, 0)}, byteCount(t.ReceiveBuffer))
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.poll", Count: 1, Time: t.Poll}, t.Poll)
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.read.start", Count: 1, Time: t.Read.Start}, t.Read.Start)
	w.occupyProcessor(side, Term{Name: "ethernet.tcp.read.bandwidth", Count: 1, Bytes: x.bytes, Time: t.Read.Bandwidth.Time(x.bytes)}, t.Read.Bandwidth)
	e := &n.ackStates[side]
	if e.unannounced += x.bytes; e.unannounced >= min(2*n.MaxSegmentData(), t.ReceiveBuffer/2) {
		*e = ackState{}
		n.chargeSegmentOutput(w, side, 1)
	}
}

// begin returns when the first span of the lane began.
func (l *sideClock) begin() unit.Time {
	t := l.clock
	if len(l.spans) > 0 {
		t = min(t, l.spans[0].From)
	}
	return t
}

// byteCount is a size as the price of a term.
type byteCount int

func (b byteCount) String() string { return unit.Bytes(int(b)) }

func (e *Ethernet) fillParameters(x *Parameters, control unit.Time, p Path) {
	t, most := &e.TCP, e.MaxSegmentData()
	empty := e.frameTime(t.Record)
	x.L = empty + e.Propagation
	if s := e.Switches; s != nil {
		x.L += s.Latency + empty + e.Propagation
		for range p.Hops {
			x.L += s.Latency + s.Uplink.Time(e.frameBytes(t.Record)) + e.Propagation
		}
	}
	x.Gap = empty + e.Rate.Time(e.InterframeGapBytes)
	x.GapPerByte = perByte(e.Rate) * unit.PerByte(e.frameBytes(most)+e.InterframeGapBytes) / unit.PerByte(most)
	x.SendOverhead = e.overheadCurve(control, t.Write, t.Output)
	x.RecvOverhead = x.RecvOverhead.plusCurve(e.overheadCurve(t.Poll, t.Read, t.Input))
}

// overheadCurve returns the time of a call that copies a packet, of the work before it, and of its
// segments: one segment for packets that fit in it, beyond that a number in proportion to the size.
func (e *Ethernet) overheadCurve(before unit.Time, call Channel, segment unit.Time) Curve {
	most, record := e.MaxSegmentData(), e.TCP.Record
	one := before + segment + call.Time(record)
	per := perByte(call.Bandwidth)
	fits := max(most-record, 0)
	return Curve{{0, one, per}, {fits + 1, before + segment + call.Time(record+fits+1), per + unit.PerByte(float64(segment)/float64(most))}}
}

// appendSharedUse appends the medium, or the links of both stations and those between their
// switches.
func (e *Ethernet) appendSharedUse(into []Occupation, from, to, bytes int, _ dataMovement) []Occupation {
	bytes += e.TCP.Record
	segments := max(1, (bytes+e.MaxSegmentData()-1)/e.MaxSegmentData())
	last := bytes - (segments-1)*e.MaxSegmentData()
	data := (segments-1)*(e.frameBytes(e.MaxSegmentData())+e.InterframeGapBytes) + e.frameBytes(last) + e.InterframeGapBytes
	both := data + segments/max(e.TCP.AckEvery, 1)*(e.frameBytes(0)+e.InterframeGapBytes) // with the acknowledgements
	s := e.Switches
	if s == nil {
		medium := newOccupation("medium", 0, e.Rate.Time(both))
		medium.Contention = unit.Time(segments) * e.meanContentionTime()
		return append(into, medium)
	}
	leaving, arriving, long := "out", "in", e.Rate.Time(data)
	if !s.IsFullDuplex {
		leaving, arriving, long = "link", "link", e.Rate.Time(both)
	}
	into = append(into, newOccupation(leaving, from, long))
	if a, b := s.SwitchOf(from), s.SwitchOf(to); a != b {
		if a > 0 {
			into = append(into, newOccupation("up", a, s.Uplink.Time(data)))
		}
		if b > 0 {
			into = append(into, newOccupation("down", b, s.Uplink.Time(data)))
		}
	}
	return append(into, newOccupationAtReceiver(arriving, to, long))
}

// meanContentionTime returns the mean time in which many stations that want the medium agree which
// of them gets it: e − 1 slots. Metcalfe and Boggs, Ethernet: Distributed Packet Switching for
// Local Computer Networks, 1976.
func (e *Ethernet) meanContentionTime() unit.Time {
	return unit.Time((math.E - 1) * float64(e.BackoffSlot))
}
