package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Ethernet is workstations, one rank each, on one shared medium with CSMA/CD (IEEE 802.3), and the
// TCP/IP of their systems on it.
type Ethernet struct {
	Rate        unit.Rate // of the medium
	Preamble    int       // bytes, with the start delimiter
	Header      int       // bytes of addresses and type
	FCS         int       // bytes of the check sequence
	Gap         int       // bytes of silence between frames
	MinPayload  int       // shorter payloads are padded
	MTU         int       // longest payload of a frame
	Slot        unit.Time // unit of the back-off
	Jam         int       // bytes that a station sends on after it has seen a collision
	Backoff     int       // collisions of a frame after which its back-off doubles no more
	Attempts    int       // collisions of a frame after which it is given up
	Propagation unit.Time // between any two stations
	TCP         TCP
}

// TCP is the transport of an operating system as a program's sockets show it: one connection
// between each two ranks. Effort in a system call is the caller's; what an arriving segment asks
// for interrupts whatever the processor does.
type TCP struct {
	Header        int       // bytes of IP and TCP headers of each segment
	Record        int       // bytes that frame each packet in the stream, beside its data
	SendBuffer    int       // bytes that a socket takes before they are acknowledged
	ReceiveBuffer int       // bytes that it holds before they are read: the largest window
	Write         Channel   // a call of write, and the copy and checksum of what it takes
	Read          Channel   // a call of read, and the copy of what it returns
	Poll          unit.Time // a call of select: before a read, and where there is nothing
	Output        unit.Time // sending a segment, with data or without
	Input         unit.Time // the interrupt for a segment that arrives, and what the protocol does with it
	AckEvery      int       // segments after which the receiver acknowledges at once
	AckDelay      unit.Time // how long it waits otherwise, for data that an acknowledgement can go with
	Retransmit    unit.Time // until a segment that is not acknowledged is sent again; doubles each time
}

// onEthernet walks on workstations that share an Ethernet. A packet that fits one segment is exact:
// nothing is in its way but what its own transfer sends. A longer one is a stream of segments, see
// stream.
type onEthernet struct {
	*Ethernet
	free   unit.Time // when the medium has been silent for a gap
	ends   [2]end
	open   [2]*stream // from each side, with what its sender keeps of it; nil: nothing
	behind tail       // of the packet under way
}

// end is what a side has of the stream that comes to it.
type end struct {
	owed   int // segments that it has not acknowledged
	unsaid int // bytes that it has read and not told the other side of
}

// tail is what a packet leaves to its receiver when its last segment has arrived.
type tail struct {
	arrived unit.Time // when that is
	answers int       // acknowledgements to send then
	reads   unit.Time // when the receiver is done with what came before
	bytes   int       // that it then reads, at once
}

func (e *Ethernet) on(Path) carrier { return &onEthernet{Ethernet: e} }

// Kind implements Network.
func (*Ethernet) Kind() string { return "ethernet" }

func (e *Ethernet) String() string {
	return fmt.Sprintf("Ethernet of %v", e.Rate)
}

func (n *onEthernet) kept() *[2]end { return &n.ends }

// Node returns the end: each is a station of its own.
func (e *Ethernet) Node(end int) int { return end }

func (e *Ethernet) way(_, _, _ int) Path { return Path{} }

// Longest returns how many bytes of a stream fit a segment.
func (e *Ethernet) Longest() int { return e.MTU - e.TCP.Header }

// frame returns how long a segment with n bytes of a stream is on the medium,
//
//	(preamble + header + max{tcp.header + n, min_payload} + fcs) / rate
func (e *Ethernet) frame(n int) unit.Time { return e.Rate.Time(e.size(n)) }

func (e *Ethernet) size(n int) int {
	return e.Preamble + e.Header + max(e.TCP.Header+n, e.MinPayload) + e.FCS
}

// carry takes the medium for a segment that is handed over at a time, and returns when the first
// byte leaves and when the last is there.
func (n *onEthernet) carry(t unit.Time, bytes int) (leaves, there unit.Time) {
	leaves = max(t, n.free)
	there = leaves + n.frame(bytes)
	n.free = there + n.Rate.Time(n.Gap)
	return leaves, there + n.Propagation
}

// fly adds the way of a segment to a packet: the wait for frames before it, its own, and the
// propagation.
func (n *onEthernet) fly(w *walk, m *mail, bytes int) {
	t := m.at
	leaves, _ := n.carry(t, bytes)
	m.fly(w.per(Term{Name: "ethernet.rate", Count: 1, Time: leaves - t}, Wire, n.Rate),
		w.per(Term{Name: "ethernet.rate", Count: 1, Bytes: n.size(bytes), Time: n.frame(bytes)}, Wire, n.Rate),
		w.per(Term{Name: "ethernet.propagation", Count: 1, Time: n.Propagation}, Wire, n.Propagation))
}

func (n *onEthernet) send(w *walk, from Where, k int) mail {
	size := n.TCP.Record + k
	n.ends[from], n.open[other(from)] = end{}, nil // what it sends acknowledges all that has come
	if size > min(n.Longest(), n.TCP.SendBuffer, n.TCP.ReceiveBuffer) {
		return n.stream(w, from, size)
	}
	if x := n.open[from]; x != nil {
		x.room(size)
	}
	n.write(w, from, 1, size)
	n.output(w, from, 1)
	depart := w.lanes[from].clock
	m := w.post(from)
	n.fly(w, &m, size)
	w.arrow(from, depart, m.at, k, false)
	n.behind = tail{arrived: m.at, bytes: size, answers: n.ends[other(from)].take(n.TCP.AckEvery)}
	return m
}

// take takes in a segment and returns how many acknowledgements it asks for.
func (e *end) take(every int) int {
	if e.owed++; e.owed < every {
		return 0
	}
	*e = end{}
	return 1
}

// write writes so many bytes in so many calls.
func (n *onEthernet) write(w *walk, who Where, calls, bytes int) {
	c := n.TCP.Write
	w.busy(who, Term{Name: "ethernet.tcp.write.start", Count: calls, Time: c.Start * unit.Time(calls)}, c.Start)
	w.busy(who, Term{Name: "ethernet.tcp.write.bandwidth", Count: calls, Bytes: bytes, Time: c.Bandwidth.Time(bytes)}, c.Bandwidth)
}

// output makes so many segments.
func (n *onEthernet) output(w *walk, who Where, segments int) {
	w.busy(who, Term{Name: "ethernet.tcp.output", Count: segments, Time: n.TCP.Output * unit.Time(segments)}, n.TCP.Output)
}

// receive takes in the packet under way. Its last segment interrupts the receiver, which finds data
// and reads it; one that comes while the receiver is not yet in its call takes time of what it does
// before.
func (n *onEthernet) receive(w *walk, who Where, _ int) {
	t, x, l := &n.TCP, n.behind, &w.lanes[who]
	if x.arrived >= l.begin() {
		w.busy(who, Term{Name: "ethernet.tcp.input", Count: 1, Time: t.Input}, t.Input)
		n.output(w, who, x.answers)
		for range x.answers {
			n.carry(l.clock, 0)
		}
	}
	w.busy(who, Term{Name: "ethernet.tcp.receive_buffer", Count: 1, Time: max(x.reads-l.clock, 0)}, bytes(t.ReceiveBuffer))
	w.busy(who, Term{Name: "ethernet.tcp.poll", Count: 1, Time: t.Poll}, t.Poll)
	w.busy(who, Term{Name: "ethernet.tcp.read.start", Count: 1, Time: t.Read.Start}, t.Read.Start)
	w.busy(who, Term{Name: "ethernet.tcp.read.bandwidth", Count: 1, Bytes: x.bytes, Time: t.Read.Bandwidth.Time(x.bytes)}, t.Read.Bandwidth)
	e := &n.ends[who]
	if e.unsaid += x.bytes; e.unsaid >= min(2*n.Longest(), t.ReceiveBuffer/2) {
		*e = end{}
		n.output(w, who, 1)
	}
}

// begin returns when the lane began.
func (l *lane) begin() unit.Time {
	t := l.clock
	if len(l.spans) > 0 {
		t = min(t, l.spans[0].From)
	}
	return t
}

// bytes is a size as what a term costs.
type bytes int

func (b bytes) String() string { return unit.Bytes(int(b)) }

func (e *Ethernet) view(x *Parameters, control unit.Time, _ Path) {
	t, most := &e.TCP, e.Longest()
	empty := e.frame(t.Record)
	x.L = empty + e.Propagation
	x.Gap = empty + e.Rate.Time(e.Gap)
	x.BigGap = perByte(e.Rate) * unit.PerByte(e.size(most)+e.Gap) / unit.PerByte(most)
	x.SendO = e.overhead(control, t.Write, t.Output)
	x.RecvO = x.RecvO.sum(e.overhead(t.Poll, t.Read, t.Input))
}

// overhead returns the time of something, of a call that copies a packet, and of its segments: of
// one for packets that fit it, and beyond in proportion.
func (e *Ethernet) overhead(before unit.Time, call Channel, segment unit.Time) Curve {
	most, record := e.Longest(), e.TCP.Record
	one := before + segment + call.Time(record)
	per := perByte(call.Bandwidth)
	fits := max(most-record, 0)
	return Curve{{0, one, per}, {fits + 1, before + segment + call.Time(record+fits+1), per + unit.PerByte(float64(segment)/float64(most))}}
}
