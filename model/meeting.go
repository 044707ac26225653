package model

import "github.com/loggp/loggp/model/unit"

// Meeting is a transfer whose two sides call when they like: the sender its send, the receiver its receive, both on one clock that may not
// be before zero. Where the receive comes late, the message is there already, and the call shows what a receiver pays without waiting; where
// it comes early, it waits. A call that does not block is followed by its wait at once. As with Transfer nothing else is under way.
type Meeting struct {
	Transfer
	Sends, Receives unit.Time // when the calls begin
	Blocking        bool      // the receive blocks
	Posted          bool      // the receive was posted before, without blocking: what begins at Receives is the wait for it

	// Sockets are what the transports of the two sides keep from transfer to transfer: that of the sender and that of the receiver. Ends
	// goes on from there and leaves them as the transfer does. Of nil nothing went before.
	Sockets [2]*Socket
}

// Socket is what the transport of one side of a connection keeps from transfer to transfer: with TCP, what has come and is not yet acknowledged.
// The zero value is one that nothing has come to. Time does not change it: acknowledgements that a timer sends are not in it.
type Socket struct{ end end }

// connected is a network whose sides keep something from transfer to transfer.
type connected interface{ kept() *[2]end }

// Ends are the times at which calls return, on the clock of the meeting.
type Ends struct {
	Send     unit.Time // the sender's call
	Sent     unit.Time // the wait after it, or the call itself where none follows. What leaves the buffer later is not waited for
	Receive  unit.Time // the receiver's call; of a receive that was posted before, Receives
	Received unit.Time // the wait after it, likewise
}

// Ends returns when the calls of the meeting return. Between the receive's begin and the first look at what has come lie
//
//	receive + match
//
// and, of a call that does not block, posted: which is all of that call.
func (m Meeting) Ends() Ends {
	if m.Sends < 0 || m.Receives < 0 {
		panic("model: a meeting before time began")
	}
	w := m.start()
	m.resume(w.net)
	defer m.keep(w.net)
	w.lanes[Sender].clock, w.lanes[Receiver].clock = m.Sends, m.Receives
	m.receive(w)
	e := Ends{Receive: w.lanes[Receiver].clock}
	w.run()
	e.Received = w.lanes[Receiver].clock
	if w.last == ProtoReceived {
		e.Receive = e.Received
	}
	e.Send = w.lanes[Sender].Call
	e.Sent = w.lanes[Sender].clock
	if m.Mode == Buffered {
		e.Sent = e.Send
		if m.Nonblocking {
			e.Sent += w.lib.Software[ProtoComplete]
		}
	}
	return e
}

// resume goes on from what the sides have kept.
func (m Meeting) resume(net carrier) {
	m.each(net, func(s *Socket, e *end) { *e = s.end })
}

// keep leaves to the sides what they are to keep.
func (m Meeting) keep(net carrier) {
	m.each(net, func(s *Socket, e *end) { s.end = *e })
}

// each goes through the sides that keep something.
func (m Meeting) each(net carrier, f func(*Socket, *end)) {
	n, ok := net.(connected)
	if !ok {
		return
	}
	for who, s := range m.Sockets {
		if s != nil {
			f(s, &n.kept()[who])
		}
	}
}

// receive begins the receiver's call.
func (m Meeting) receive(w *walk) {
	if m.Posted {
		return
	}
	w.spend(Receiver, ProtoReceive, 1)
	w.spend(Receiver, ProtoMatch, 1)
	if m.Blocking {
		w.last = ProtoReceived
	} else {
		w.spend(Receiver, ProtoPosted, 1)
	}
}
