package model

import (
	"github.com/loggp/loggp/model/unit"
)

// tcpStream computes the time of a packet of more than one segment. It follows the segments one by
// one through four servers. A segment waits until the server has finished the one before it:
//
//	sender     write, copy and output; waits while its buffer is full, until half of it is free
//	medium     one frame after the other, in the order in which they are ready
//	system     of the receiver: input, and an acknowledgement after every so many segments
//	receiver   reads what is there, and announces the window if it has opened far enough
//
// It leaves out collisions of acknowledgements with data, which are random: frames after a
// collision arrive later, and so fall into other reads. impl/library/mpi/ethernet_test.go bounds
// the error.
type tcpStream struct {
	*ethernetTransfer
	w                   *protocolRun
	from, to            CostSide
	writtenBytes        int // by the sender
	sentBytes           int
	ackedBytes          int
	windowLimit         int       // the window allows sending up to here
	readerFree          unit.Time // until then the receiver's processor is busy
	systemFree          unit.Time // until then its operating system is busy
	arrival             unit.Time // when the last segment arrived
	segments            []segment // in the receiver's buffer
	arrivedBytes        int
	readBytes           int
	announcedWindowEdge int                  // right edge of the window, as last announced to the sender
	unacked             int                  // segments that are not acknowledged
	unackedSince        unit.Time            // when the first of them was taken in
	readyAcks           []tcpAcknowledgement // waiting for the medium
	sentAcks            []tcpAcknowledgement // on their way to the sender, or arrived and not yet processed
	lastPendingRead     pendingRead
}

// segment is a segment in the receiver's buffer.
type segment struct {
	at    unit.Time
	bytes int
}

// tcpAcknowledgement is an acknowledgement.
type tcpAcknowledgement struct {
	at         unit.Time
	upTo, edge int
}

func (n *ethernetTransfer) stream(w *protocolRun, from CostSide, size int) packet {
	t := &n.TCP
	x := tcpStream{ethernetTransfer: n, w: w, from: from, to: otherSide(from), windowLimit: t.ReceiveBuffer, announcedWindowEdge: t.ReceiveBuffer}
	x.readerFree = w.lanes[x.to].clock
	x.unacked = n.ackStates[x.to].unacked
	depart := w.lanes[from].clock
	for {
		k := min(size-x.writtenBytes, t.SendBuffer-(x.writtenBytes-x.ackedBytes))
		n.chargeWriteCalls(w, from, 1)
		for end := x.writtenBytes + k; x.writtenBytes < end; {
			k := min(end-x.writtenBytes, x.MaxSegmentData()-(x.writtenBytes-x.sentBytes)%x.MaxSegmentData())
			n.chargeWriteCopies(w, from, 1, k)
			x.writtenBytes += k
			x.sendAllowed()
		}
		if x.writtenBytes == size {
			break
		}
		for t.SendBuffer-(x.writtenBytes-x.ackedBytes) < min(size-x.writtenBytes, t.SendBuffer/2) {
			x.awaitAck()
		}
		w.occupyProcessor(from, Term{Name: "ethernet.tcp.poll", Count: 1, Time: t.Poll}, t.Poll)
	}
	m := w.newPacket(from)
	for x.sentBytes < x.writtenBytes { // the window is closed: the sender's system continues when it opens
		x.awaitAck()
	}
	m.delay(w.fillTerm(Term{Name: "ethernet.rate", Count: 1, Time: x.arrival - n.Propagation - m.at}, NetworkSide, n.Rate),
		w.fillTerm(Term{Name: "ethernet.propagation", Count: 1, Time: n.Propagation}, NetworkSide, n.Propagation))
	w.recordFlight(from, depart, m.at, size-t.Record, false)
	for len(x.segments) > 0 {
		x.readAvailable()
	}
	n.pendingRead = x.lastPendingRead
	n.pendingRead.arrived = m.at
	n.ackStates[x.to] = ackState{unacked: x.unacked, unannounced: x.readBytes + t.ReceiveBuffer - x.announcedWindowEdge - x.lastPendingRead.bytes}
	n.lastStreams[from] = &x
	return m
}

// awaitRoom lets the sender wait until its buffer has room for another packet after the stream.
func (x *tcpStream) awaitRoom(size int) {
	t := &x.TCP
	if t.SendBuffer-(x.writtenBytes-x.ackedBytes) < size {
		x.w.occupyProcessor(x.from, Term{Name: "ethernet.tcp.write.start", Count: 1, Time: t.Write.Start}, t.Write.Start)
		for t.SendBuffer-(x.writtenBytes-x.ackedBytes) < size {
			x.awaitAck()
		}
		x.w.occupyProcessor(x.from, Term{Name: "ethernet.tcp.poll", Count: 1, Time: t.Poll}, t.Poll)
	}
	x.writtenBytes += size
	x.sentBytes += size
}

// sendAllowed sends what the window allows.
func (x *tcpStream) sendAllowed() {
	for x.sentBytes < x.writtenBytes {
		left := x.writtenBytes - x.sentBytes
		k := min(left, x.MaxSegmentData(), x.windowLimit-x.sentBytes)
		if k < left && k < x.MaxSegmentData() && 2*k < x.TCP.ReceiveBuffer {
			return
		}
		x.chargeSegmentOutput(x.w, x.from, 1)
		x.transmit(x.w.lanes[x.from].clock, k)
	}
}

// transmit sends k bytes over the medium, after acknowledgements that were ready before, and lets
// the receiver take them in.
func (x *tcpStream) transmit(t unit.Time, k int) {
	for len(x.segments) > 0 {
		if _, there, _ := x.routeSegment(x.from, t, k); x.nextReadTime() >= there+x.TCP.Input {
			break
		}
		x.readAvailable()
	}
	for len(x.readyAcks) > 0 {
		if leaves, _, _ := x.routeSegment(x.from, t, k); x.readyAcks[0].at > leaves {
			break
		}
		x.sendAck()
	}
	_, x.arrival = x.reserveLinks(x.from, t, k)
	x.sentBytes += k
	x.arrivedBytes += k
	x.interruptReceiver(x.arrival, x.TCP.Input)
	x.segments = append(x.segments, segment{x.systemFree, k})
	if x.unacked++; x.unacked >= x.TCP.AckEvery {
		x.interruptReceiver(x.systemFree, x.TCP.Output)
		x.acknowledge(x.systemFree)
		return
	}
	if x.unacked == 1 {
		x.unackedSince = x.systemFree
	}
}

// interruptReceiver keeps the receiver's system busy from t on, and delays its processor if that is
// busy.
func (x *tcpStream) interruptReceiver(t, d unit.Time) {
	x.systemFree = max(x.systemFree, t) + d
	if x.readerFree > t {
		x.readerFree += d
	}
}

// acknowledge queues an acknowledgement for the medium.
func (x *tcpStream) acknowledge(t unit.Time) {
	x.unacked, x.announcedWindowEdge = 0, x.readBytes+x.TCP.ReceiveBuffer
	x.readyAcks = append(x.readyAcks, tcpAcknowledgement{t, x.arrivedBytes, x.announcedWindowEdge})
}

// sendAck sends the first acknowledgement that is ready.
func (x *tcpStream) sendAck() {
	a := x.readyAcks[0]
	x.readyAcks = x.readyAcks[1:]
	_, a.at = x.reserveLinks(x.to, a.at, 0)
	x.sentAcks = append(x.sentAcks, a)
}

// nextReadTime returns when the receiver will next look into its buffer.
func (x *tcpStream) nextReadTime() unit.Time {
	return max(x.readerFree, x.segments[0].at) + x.TCP.Poll + x.TCP.Read.Start
}

// readAvailable lets the receiver read what is there.
func (x *tcpStream) readAvailable() {
	begin, look, k := max(x.readerFree, x.segments[0].at), x.nextReadTime(), 0
	for len(x.segments) > 0 && x.segments[0].at <= look {
		k += x.segments[0].bytes
		x.segments = x.segments[1:]
	}
	x.readerFree = look + x.TCP.Read.Bandwidth.Time(k)
	x.readBytes += k
	x.lastPendingRead = pendingRead{reads: begin, bytes: k}
	if x.readBytes+x.TCP.ReceiveBuffer-x.announcedWindowEdge >= min(2*x.MaxSegmentData(), x.TCP.ReceiveBuffer/2) {
		x.readerFree += x.TCP.Output
		x.acknowledge(x.readerFree)
	}
}

// awaitAck lets the sender wait for the next acknowledgement, and send what that allows. An
// acknowledgement that arrives while the sender is busy interrupts it.
func (x *tcpStream) awaitAck() {
	for len(x.sentAcks) == 0 {
		switch {
		case len(x.readyAcks) > 0:
			x.sendAck()
		case len(x.segments) > 0:
			x.readAvailable()
		default:
			x.interruptReceiver(x.unackedSince+x.TCP.AckDelay, x.TCP.Output)
			x.acknowledge(x.systemFree)
		}
	}
	a := x.sentAcks[0]
	x.sentAcks = x.sentAcks[1:]
	l := &x.w.lanes[x.from]
	if d := a.at - l.clock; d > 0 {
		x.w.waitForWire(x.from, "send_buffer", x.w.fillTerm(Term{Name: "ethernet.tcp.send_buffer", Count: 1, Time: d}, NetworkSide, byteCount(x.TCP.SendBuffer)))
	}
	x.w.occupyProcessor(x.from, Term{Name: "ethernet.tcp.input", Count: 1, Time: x.TCP.Input}, x.TCP.Input)
	x.ackedBytes, x.windowLimit = max(x.ackedBytes, a.upTo), max(x.windowLimit, a.edge)
	x.sendAllowed()
}
