package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Transfer is one message from a rank to another under the conditions in which its cost has a
// closed form: the receiver has posted a non-blocking receive and waits for it, there is no other
// traffic, and nothing varies.
type Transfer struct {
	Machine  *Machine
	Library  *Library  // nil: software without costs that does not copy
	Protocol *Protocol // nil: chosen by the library's rules
	Mode     Mode
	Bytes    int // k
	Path     Path

	// IsNonblocking says that the sender's call only starts the message. The sender waits for it at
	// once.
	IsNonblocking bool
}

// Cost is what a transfer costs, as sums of terms in the order in which time passes.
type Cost struct {
	// Sender is T_s: the duration of the sender's call.
	//
	// Delivery is T_s-r: from the start of the sender's call until the receiver's wait returns. A
	// buffered send returns before a message by RAT has left. The sender is assumed to drain its
	// buffer from then on. For TA it is Completion of the equations.
	Sender, Delivery Terms
}

// Terms is a sum of terms.
type Terms []Term

// Term is a summand of a time.
type Term struct {
	// Name is the key of the cost in the platform's file: software.match, torus.hop,
	// processor.copy. It leads to the number's source.
	Name     string
	Step     PacketKind // packet of the protocol to which it belongs; "": the call
	Side     CostSide   // the side or network whose time it is
	Count    int        // how often it occurs
	Bytes    int        // bytes in all, if it has a cost per byte
	UnitCost string     // cost of one occurrence, or of a byte
	Time     unit.Time
}

// Sum returns the sum.
func (t Terms) Sum() unit.Time {
	var sum unit.Time
	for _, x := range t {
		sum += x.Time
	}
	return sum
}

// String returns how the time of the term is computed: 3 × 8.2us, or 2048 B, 60MB/s.
func (t Term) String() string {
	switch {
	case t.Bytes == 0:
		return fmt.Sprintf("%d × %s", t.Count, t.UnitCost)
	case t.Count == 1:
		return fmt.Sprintf("%d B, %s", t.Bytes, t.UnitCost)
	}
	return fmt.Sprintf("%d B in %d parts, %s", t.Bytes, t.Count, t.UnitCost)
}

// add adds a term to a path. If the step already has a term of that name and side, it is added to
// that one, so a message in a thousand segments has no more terms than a message in one.
func (t Terms) add(x Term) Terms {
	for i := len(t) - 1; i >= 0 && t[i].Step == x.Step; i-- {
		if y := &t[i]; y.Name == x.Name && y.Side == x.Side {
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
	w := t.runToEnd()
	return Cost{w.senderPathAtReturn, w.lanes[ReceiverSide].path}
}

// Timeline returns the course of the transfer, with the sender as rank 0 and the receiver as rank
// 1. Al-Tawil and Moritz, figures 3 to 5. Time begins with the sender's call, which takes T_s. The
// receiver's ends at T_s-r.
func (t Transfer) Timeline() *Timeline {
	w := t.runToEnd()
	track := func(side CostSide, call string, end unit.Time) Track {
		return Track{Name: side.String(), Calls: []Span{{Name: call, To: end}}, Spans: w.lanes[side].spans}
	}
	return &Timeline{Ranks: []Track{track(SenderSide, "T_s", w.lanes[SenderSide].callReturnTime), track(ReceiverSide, "T_s-r", w.lanes[ReceiverSide].clock)}, Flights: w.flights}
}

// oneAccessCarrier is implemented by networks on which a processor, or the engine beside it,
// carries out one remote access at a time, from its start to its end.
type oneAccessCarrier interface{ carriesOneAccess() }

// ProcessorTimes returns for how long the message occupies the processors of its sender and its
// receiver, without the times in which they wait for it and could handle others.
func (t Transfer) ProcessorTimes() (sender, receiver unit.Time) {
	w := t.runToEnd()
	_, oneAccess := w.carrier.(oneAccessCarrier)
	busy := func(side CostSide) (sum unit.Time) {
		for _, s := range w.lanes[side].spans {
			isAccess := s.Activity == WaitActivity && (s.Name == "get" || s.Name == "put")
			if s.Activity < ComputeActivity || isAccess && oneAccess {
				sum += s.Duration()
			}
		}
		return sum
	}
	return busy(SenderSide), busy(ReceiverSide)
}

// protocolOrChosen returns the protocol by which the message goes.
func (t Transfer) protocolOrChosen() *Protocol {
	p := t.Protocol
	if p == nil && t.Library != nil {
		p = FindProtocol(t.Library.Proto.Protocol(t.Mode, t.Path.Tier, t.Bytes))
	}
	switch {
	case p == nil:
		panic(fmt.Sprintf("model: no protocol for a %v message of %d bytes", t.Mode, t.Bytes))
	case t.Mode == SynchronousMode && !p.IsSynchronous():
		panic("model: protocol " + p.Name + " does not tell a synchronous sender that the receive was there")
	}
	return p
}

// TimedTransfer is a transfer with given times at which the sender calls its send and the receiver
// its receive, on one clock and not before zero. A late receive finds the message there, so its
// duration is the receive overhead. An early receive waits. A non-blocking call is followed by its
// wait at once. As for Transfer there is no other traffic.
type TimedTransfer struct {
	Transfer
	SendStart, ReceiveStart unit.Time // when the calls begin
	IsBlocking              bool      // the receive blocks
	IsPosted                bool      // a non-blocking receive was posted before: its wait begins at Receives

	// Sockets are the states of the sender's and the receiver's transport before the transfer. Ends
	// updates them. A nil socket has not transferred anything.
	Sockets [2]*Socket
}

// Socket is the state of the transport of one side of a connection: with TCP, the received data
// that is not yet acknowledged. The zero value has received nothing. Time does not change it:
// acknowledgements sent by a timer are not modelled.
type Socket struct{ ackState }

// connectionStateHolder is implemented by networks whose sides have a state that outlives a
// transfer.
type connectionStateHolder interface{ states() *[2]ackState }

// ReturnTimes are the times at which calls return, on the clock of the meeting.
type ReturnTimes struct {
	SendCall    unit.Time // the sender's call
	SendWait    unit.Time // the wait after it, or the call if no wait follows; a buffered message may leave later
	ReceiveCall unit.Time // the receiver's call; Receives if the receive was posted before
	ReceiveWait unit.Time // the wait after it, likewise
}

// ReturnTimes returns when the calls of the meeting return. Until it first polls, a blocking
// receive takes
//
//	receive + match
//
// A non-blocking call takes posted as well, and then returns.
func (m TimedTransfer) ReturnTimes() ReturnTimes {
	if m.SendStart < 0 || m.ReceiveStart < 0 {
		panic("model: a meeting at a negative time")
	}
	w := m.newRun()
	m.forEachSocket(w.carrier, func(s *Socket, e *ackState) { *e = s.ackState })
	defer m.forEachSocket(w.carrier, func(s *Socket, e *ackState) { s.ackState = *e })
	w.lanes[SenderSide].clock, w.lanes[ReceiverSide].clock = m.SendStart, m.ReceiveStart
	if !m.IsPosted {
		w.chargeWork(ReceiverSide, ProtoReceiveCost, 1)
		w.chargeWork(ReceiverSide, ProtoMatchCost, 1)
		if m.IsBlocking {
			w.lastReceiverWork = ProtoReceiveEpilogueCost
		} else {
			w.chargeWork(ReceiverSide, ProtoNonblockingReceiveCost, 1)
		}
	}
	e := ReturnTimes{ReceiveCall: w.lanes[ReceiverSide].clock}
	w.runSteps()
	e.ReceiveWait = w.lanes[ReceiverSide].clock
	if w.lastReceiverWork == ProtoReceiveEpilogueCost {
		e.ReceiveCall = e.ReceiveWait
	}
	e.SendCall = w.lanes[SenderSide].callReturnTime
	e.SendWait = w.lanes[SenderSide].clock
	if m.Mode == BufferedMode {
		e.SendWait = e.SendCall
		if m.IsNonblocking {
			e.SendWait += w.lib.Software[ProtoCompleteCost]
		}
	}
	return e
}

// forEachSocket calls f for each side that has a socket, with the side's state in the network.
func (m TimedTransfer) forEachSocket(net carrier, f func(*Socket, *ackState)) {
	n, ok := net.(connectionStateHolder)
	if !ok {
		return
	}
	for side, s := range m.Sockets {
		if s != nil {
			f(s, &n.states()[side])
		}
	}
}
