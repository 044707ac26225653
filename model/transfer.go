package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Transfer is one message from a rank to another under the conditions in which its cost has a closed form. The receiver
// has posted its receive without blocking and waits for it; nothing else is under way or on the wires, and nothing varies.
type Transfer struct {
	Machine  *Machine
	Library  *Library  // nil: software that costs nothing and does not copy
	Protocol *Protocol // nil: the one that the library's rules choose
	Mode     Mode
	Bytes    int // k
	Path     Path

	// Nonblocking says that the sender's call only starts the message, and that the sender waits for it right after.
	Nonblocking bool
}

// Cost is what a transfer costs, as sums of terms in the order in which time passes.
type Cost struct {
	// Sender is T_s: the duration of the sender's call.
	//
	// Delivery is T_s-r: from the start of the sender's call until the receiver's wait returns. A buffered send returns
	// before a message by RAT has left; the sender is taken to drain its buffer from then on. Of TA it is what Completion is to
	// the equations.
	Sender, Delivery Terms
}

// Terms is a sum.
type Terms []Term

// Term is a part of a time.
type Term struct {
	// Name is what takes the time, by its key in the platform's file: software.match, torus.hop, processor.copy. It leads to
	// the number's provenance.
	Name  string
	Step  Kind   // message of the protocol to which it belongs; "": the call
	Where Where  // whose time it is
	Count int    // how often it occurs
	Bytes int    // in all, of what takes its time by the byte
	Per   string // price of one, or of a byte
	Time  unit.Time
}

// Sum returns the sum.
func (t Terms) Sum() unit.Time {
	var sum unit.Time
	for _, x := range t {
		sum += x.Time
	}
	return sum
}

// String says how the time of the term comes about: 3 × 8.2us, or 2 × 1024 B at 60MB/s.
func (t Term) String() string {
	switch {
	case t.Bytes == 0:
		return fmt.Sprintf("%d × %s", t.Count, t.Per)
	case t.Count == 1:
		return fmt.Sprintf("%d B, %s", t.Bytes, t.Per)
	}
	return fmt.Sprintf("%d B in %d parts, %s", t.Bytes, t.Count, t.Per)
}

// add adds a term to a path, to one of the same name and place if the step has one: a message that moves in a thousand
// pieces has no more terms than one that moves in one.
func (t Terms) add(x Term) Terms {
	for i := len(t) - 1; i >= 0 && t[i].Step == x.Step; i-- {
		if y := &t[i]; y.Name == x.Name && y.Where == x.Where {
			y.Count += x.Count
			y.Bytes += x.Bytes
			y.Time += x.Time
			return t
		}
	}
	return append(t, x)
}

// Cost returns what the transfer costs. A protocol that cannot carry the message panics.
func (t Transfer) Cost() Cost {
	w := t.walk()
	return Cost{w.call, w.lanes[Receiver].path}
}

// protocol returns the protocol by which the message goes.
func (t Transfer) protocol() *Protocol {
	p := t.Protocol
	if p == nil && t.Library != nil {
		p = Named(t.Library.Protocol(t.Mode, t.Path.Tier, t.Bytes))
	}
	switch {
	case p == nil:
		panic(fmt.Sprintf("model: no protocol for a %v message of %d bytes", t.Mode, t.Bytes))
	case t.Mode == Synchronous && !p.Synchronous():
		panic("model: protocol " + p.Name + " does not tell a synchronous sender that the receive was there")
	}
	return p
}

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
