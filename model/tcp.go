package model

import (
	"github.com/loggp/loggp/model/unit"
)

// stream is the recurrence by which a packet of more than one segment is told. It follows the
// segments one by one through four servers, of which each is busy until a time, and a later segment
// waits for it:
//
//	sender     write, copy and output; waits while its buffer is full, until acknowledgements have freed half of it
//	medium     one frame after the other, in the order in which they are ready
//	system     of the receiver: input, and output of an acknowledgement after every so many segments
//	receiver   reads what is there, and tells of the room when that is worth it
//
// It leaves out what is not a function of sizes: collisions of acknowledgements with data, and so
// frames that come later, also by chance earlier in the sequence of reads.
// impl/mpi/ethernet_test.go says how far it is off.
type stream struct {
	*onEthernet
	w        *walk
	from, to Where
	written  int // by the sender
	sent     int
	acked    int
	limit    int // up to where it may send
	reader   unit.Time
	system   unit.Time
	there    unit.Time // when the last segment arrived
	pieces   []piece   // segments that are not read
	arrived  int
	read     int
	edge     int       // up to where the sender was told that there is room
	owed     int       // segments that are not acknowledged
	owes     unit.Time // since when
	ready    []answer  // acknowledgements that wait for the medium
	flying   []answer  // that are on their way to the sender, or there
	last     tail
}

// piece is a segment in the receiver's buffer.
type piece struct {
	at    unit.Time
	bytes int
}

// answer is an acknowledgement.
type answer struct {
	at        unit.Time
	ack, edge int
}

func (n *onEthernet) stream(w *walk, from Where, size int) mail {
	t := &n.TCP
	x := stream{onEthernet: n, w: w, from: from, to: other(from), limit: t.ReceiveBuffer, edge: t.ReceiveBuffer}
	x.reader = w.lanes[x.to].clock
	x.owed = n.ends[x.to].owed
	depart := w.lanes[from].clock
	for {
		k := min(size-x.written, t.SendBuffer-(x.written-x.acked))
		n.write(w, from, 1, k)
		x.written += k
		x.push()
		if x.written == size {
			break
		}
		for t.SendBuffer-(x.written-x.acked) < min(size-x.written, t.SendBuffer/2) {
			x.await()
		}
		w.busy(from, Term{Name: "ethernet.tcp.poll", Count: 1, Time: t.Poll}, t.Poll)
	}
	m := w.post(from)
	for x.sent < x.written { // the window is closed: the sender's system goes on as it opens
		x.await()
	}
	m.fly(w.per(Term{Name: "ethernet.rate", Count: 1, Time: x.there - n.Propagation - m.at}, Wire, n.Rate),
		w.per(Term{Name: "ethernet.propagation", Count: 1, Time: n.Propagation}, Wire, n.Propagation))
	w.arrow(from, depart, m.at, size-t.Record, false)
	for len(x.pieces) > 0 {
		x.readOnce()
	}
	n.behind = x.last
	n.behind.arrived = m.at
	n.ends[x.to] = end{owed: x.owed, unsaid: x.read + t.ReceiveBuffer - x.edge - x.last.bytes}
	n.open[from] = &x
	return m
}

// room lets the sender wait until its buffer has room for another packet after the stream.
func (x *stream) room(size int) {
	t := &x.TCP
	if t.SendBuffer-(x.written-x.acked) < size {
		x.w.busy(x.from, Term{Name: "ethernet.tcp.write.start", Count: 1, Time: t.Write.Start}, t.Write.Start)
		for t.SendBuffer-(x.written-x.acked) < size {
			x.await()
		}
		x.w.busy(x.from, Term{Name: "ethernet.tcp.poll", Count: 1, Time: t.Poll}, t.Poll)
	}
	x.written += size
	x.sent += size
}

// push sends what the window allows.
func (x *stream) push() {
	for x.sent < x.written {
		left := x.written - x.sent
		k := min(left, x.Longest(), x.limit-x.sent)
		if k < left && k < x.Longest() && 2*k < x.TCP.ReceiveBuffer {
			return
		}
		x.output(x.w, x.from, 1)
		x.segment(x.w.lanes[x.from].clock, k)
	}
}

// segment sends k bytes over the medium, after what was ready before, and lets the receiver take
// them in.
func (x *stream) segment(t unit.Time, k int) {
	for len(x.pieces) > 0 && x.looks() < max(t, x.free)+x.frame(k)+x.Propagation+x.TCP.Input {
		x.readOnce()
	}
	for len(x.ready) > 0 && x.ready[0].at <= max(t, x.free) {
		x.answerOnce()
	}
	_, x.there = x.carry(t, k)
	x.sent += k
	x.arrived += k
	x.interrupt(x.there, x.TCP.Input)
	x.pieces = append(x.pieces, piece{x.system, k})
	if x.owed++; x.owed >= x.TCP.AckEvery {
		x.interrupt(x.system, x.TCP.Output)
		x.answer(x.system)
		return
	}
	if x.owed == 1 {
		x.owes = x.system
	}
}

// interrupt keeps the receiver's system busy, and delays its processor if that has something to do.
func (x *stream) interrupt(t, d unit.Time) {
	x.system = max(x.system, t) + d
	if x.reader > t {
		x.reader += d
	}
}

// answer makes an acknowledgement ready.
func (x *stream) answer(t unit.Time) {
	x.owed, x.edge = 0, x.read+x.TCP.ReceiveBuffer
	x.ready = append(x.ready, answer{t, x.arrived, x.edge})
}

// answerOnce sends the first acknowledgement that is ready.
func (x *stream) answerOnce() {
	a := x.ready[0]
	x.ready = x.ready[1:]
	_, a.at = x.carry(a.at, 0)
	x.flying = append(x.flying, a)
}

// looks returns when the receiver will see what is in its buffer.
func (x *stream) looks() unit.Time {
	return max(x.reader, x.pieces[0].at) + x.TCP.Poll + x.TCP.Read.Start
}

// readOnce lets the receiver read what is there.
func (x *stream) readOnce() {
	begin, look, k := max(x.reader, x.pieces[0].at), x.looks(), 0
	for len(x.pieces) > 0 && x.pieces[0].at <= look {
		k += x.pieces[0].bytes
		x.pieces = x.pieces[1:]
	}
	x.reader = look + x.TCP.Read.Bandwidth.Time(k)
	x.read += k
	x.last = tail{reads: begin, bytes: k}
	if x.read+x.TCP.ReceiveBuffer-x.edge >= min(2*x.Longest(), x.TCP.ReceiveBuffer/2) {
		x.reader += x.TCP.Output
		x.answer(x.reader)
	}
}

// await lets the sender wait for the next acknowledgement, and send what that allows. One that
// comes while it is busy interrupts it.
func (x *stream) await() {
	for len(x.flying) == 0 {
		switch {
		case len(x.ready) > 0:
			x.answerOnce()
		case len(x.pieces) > 0:
			x.readOnce()
		default:
			x.interrupt(x.owes+x.TCP.AckDelay, x.TCP.Output)
			x.answer(x.system)
		}
	}
	a := x.flying[0]
	x.flying = x.flying[1:]
	l := &x.w.lanes[x.from]
	if d := a.at - l.clock; d > 0 {
		x.w.idle(x.from, "send_buffer", x.w.per(Term{Name: "ethernet.tcp.send_buffer", Count: 1, Time: d}, Wire, bytes(x.TCP.SendBuffer)))
	}
	x.w.busy(x.from, Term{Name: "ethernet.tcp.input", Count: 1, Time: x.TCP.Input}, x.TCP.Input)
	x.acked, x.limit = max(x.acked, a.ack), max(x.limit, a.edge)
	x.push()
}
