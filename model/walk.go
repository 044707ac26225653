package model

import (
	"github.com/loggp/loggp/model/unit"
	"slices"
	"strings"
)

// protocolRun executes the steps of a protocol with one clock for each side. Each side also has
// a path: the terms whose sum is the clock's time. A side that waits for a message takes over the
// message's path, so at the end the path is the critical path.
type protocolRun struct {
	Transfer
	carrier            carrier
	lib                Library
	step               PacketKind
	lanes              [2]sideClock
	flights            []Flight
	accessSignalName   string  // name of what a remote access sends beside its data: get, done
	isReceiving        bool    // a packet is being received
	senderPathAtReturn Terms   // path of the sender when its call returned
	lastReceiverWork   CostKey // work with which the receiver ends
}

type sideClock struct {
	spans          []Span    // work and waits of the side, in the order of time
	callReturnTime unit.Time // when the sender's call returns
	clock          unit.Time
	path           Terms
}

// packet is under way from one side to the other.
type packet struct {
	at   unit.Time // when it arrives
	path Terms
}

// delay adds times on the wire.
func (m *packet) delay(terms ...Term) {
	for _, x := range terms {
		if x.Time != 0 {
			m.path = m.path.add(x)
			m.at += x.Time
		}
	}
}

func (t Transfer) newRun() *protocolRun {
	if t.Bytes < 0 {
		panic("model: negative size")
	}
	net := t.Machine.NetworkOfTier(t.Path.Tier)
	if x, ok := net.(networkByLibrary); ok {
		net = x.by(t.Library)
	}
	w := &protocolRun{Transfer: t, carrier: net.newCarrier(t.Path), lastReceiverWork: ProtoCompleteCost}
	if t.Library != nil {
		w.lib = *t.Library
	}
	return w
}

// runToEnd goes through the transfer.
func (t Transfer) runToEnd() *protocolRun {
	w := t.newRun()
	w.runSteps()
	return w
}

// runSteps goes through the transfer from where the clocks of its sides are.
func (w *protocolRun) runSteps() {
	w.chargeWork(SenderSide, ProtoSendCost, 1)
	if w.Mode == BufferedMode {
		w.chargeWork(SenderSide, ProtoPackCost, w.Bytes)
		w.chargeCopy(SenderSide, w.Bytes)
	}
	for i, s := range w.protocolOrChosen().Steps {
		w.step = s.Kind
		switch s.Means {
		case ByPacket:
			if s.Data == RestData && w.bytesOfStep(s) == 0 {
				continue
			}
			w.transmit(s, i == 0)
		case ByGet:
			w.readMessage(s.To())
		case ByPut:
			w.put(s.From, w.Bytes)
		}
	}
	w.step = ""
	w.chargeWork(ReceiverSide, w.lastReceiverWork, 1)
	switch {
	case !w.returnsAtDeparture():
		w.endCall()
	case w.Mode != BufferedMode:
		w.chargeWork(SenderSide, ProtoCompleteCost, 1)
	}
}

// returnsAtDeparture reports whether the sender's call returns when the first packet has left.
func (w *protocolRun) returnsAtDeparture() bool { return w.IsNonblocking || w.Mode == BufferedMode }

// endCall records the return of the sender's call.
func (w *protocolRun) endCall() {
	step := w.step
	w.step = ""
	w.chargeWork(SenderSide, SendEpilogueCost(w.Mode), 1)
	l := &w.lanes[SenderSide]
	l.callReturnTime = l.clock
	w.senderPathAtReturn = slices.Clone(l.path)
	if w.IsNonblocking && w.Mode == BufferedMode { // the program's wait finds its own request complete
		w.chargeWork(SenderSide, ProtoCompleteCost, 1)
	}
	w.step = step
}

// bytesOfStep returns how many bytes of the message a step carries.
func (w *protocolRun) bytesOfStep(s Step) int { return s.Bytes(w.Bytes, w.lib.Proto.FirstBytes) }

// transmit makes a packet, sends it and takes it in.
func (w *protocolRun) transmit(s Step, first bool) {
	bytes := w.bytesOfStep(s)
	if first {
		w.chargeWork(s.From, ProtoPackCost, w.Bytes)                                                        // the whole message is packed before the first packet
		if s.Data == NoData && w.longMessageSettings().CopiesToAccessibleMemory && w.Mode != BufferedMode { // a buffered message is staged already
			w.chargeCopy(s.From, w.Bytes) // so that the receiver can read it
		}
		if bytes > 0 && w.lib.Proto.copiesFirst(w.Mode, w.Path.Tier, w.Bytes) {
			w.chargeCopy(s.From, bytes) // so that the interface can
		}
	}
	if !first || s.Data == NoData { // a first packet with data is part of the call
		w.chargeWork(s.From, ProtoControlCost, 1)
	}
	m := w.carrier.send(w, s.From, bytes)
	if first && w.returnsAtDeparture() {
		w.endCall()
	}
	if c, ok := w.carrier.(sendCompleter); ok && first && c.completesSends(bytes) && w.awaitsCompletion() {
		c.awaitCompletion(w, s.From, m)
		w.chargeWork(s.From, ProtoHandleCost, 1)
	}
	w.receivePacket(s.To(), m, bytes)
	if first {
		w.chargeWork(s.To(), ProtoMatchCost, 1)
	}
	w.copyToUser(s.To(), bytes)
}

// awaitsCompletion reports whether the sender waits for the report of its interface.
func (w *protocolRun) awaitsCompletion() bool {
	return w.protocolOrChosen() == ProtocolT && w.lib.Proto.awaitsCompletion(w.Mode, w.Path.Tier, w.Bytes)
}

// receivePacket takes in a packet.
func (w *protocolRun) receivePacket(side CostSide, m packet, bytes int) {
	if l := &w.lanes[side]; m.at >= l.clock {
		w.waitForPacket(l, string(w.step), m)
	}
	w.isReceiving = true
	w.carrier.receive(w, side, bytes)
	w.isReceiving = false
	w.chargeWork(side, ProtoHandleCost, 1)
}

// copyToUser copies bytes to the user's buffer.
func (w *protocolRun) copyToUser(side CostSide, bytes int) {
	w.chargeCopy(side, bytes)
	w.chargeWork(side, ProtoUnpackCost, bytes)
}

// get reads bytes of the other side's memory. On a machine without remote access, a packet requests
// them and another one carries them.
func (w *protocolRun) get(side CostSide, bytes int) {
	if w.Machine.HasRemoteMemoryAt(w.Path.Tier) {
		w.accessSignalName = "get"
		w.carrier.(remoteMemoryCarrier).get(w, side, bytes)
		w.chargeWork(side, ProtoHandleCost, 1)
		return
	}
	step := w.step
	w.step = KindGet
	w.chargeWork(side, ProtoControlCost, 1)
	w.receivePacket(otherSide(side), w.carrier.send(w, side, 0), 0)
	w.step = step
	w.sendInsteadOfAccess(otherSide(side), bytes)
}

// put writes bytes to the other side's memory. On a machine without remote access, a packet carries
// them.
func (w *protocolRun) put(side CostSide, bytes int) {
	if w.Machine.HasRemoteMemoryAt(w.Path.Tier) {
		w.accessSignalName = "done"
		w.carrier.(remoteMemoryCarrier).put(w, side, bytes)
		w.chargeWork(side, ProtoHandleCost, 1)
		return
	}
	w.sendInsteadOfAccess(side, bytes)
}

// sendInsteadOfAccess sends bytes in a packet that takes the place of a remote access.
func (w *protocolRun) sendInsteadOfAccess(from CostSide, bytes int) {
	w.chargeWork(from, ProtoControlCost, 1)
	w.receivePacket(otherSide(from), w.carrier.send(w, from, bytes), bytes)
	w.copyToUser(otherSide(from), bytes)
}

// readMessage reads the message from the other side, at once or in parts through a bounce buffer.
// An empty message is read as well.
func (w *protocolRun) readMessage(side CostSide) {
	long := w.longMessageSettings()
	for pos := 0; ; {
		n := long.ReadBytes(w.Bytes - pos)
		w.get(side, n)
		if long.BounceBufferBytes > 0 {
			w.copyToUser(side, n)
		}
		if pos += n; pos >= w.Bytes {
			return
		}
	}
}

// longMessageSettings returns how the library moves long messages to this peer.
func (w *protocolRun) longMessageSettings() LongMessage { return w.lib.Proto.LongMessages[w.Path.Tier] }

// chargeWork charges n units of software work.
func (w *protocolRun) chargeWork(side CostSide, work CostKey, n int) {
	price, cost := w.lib.Software[work], ProtoEngine.Costs[work]
	x := Term{Name: "software." + cost.Key, Count: n, Time: price * unit.Time(n)}
	if cost.PerByte {
		x.Count, x.Bytes = 1, n
	}
	w.occupyProcessor(side, x, price)
}

// chargeCopy charges a copy in memory.
func (w *protocolRun) chargeCopy(side CostSide, n int) {
	if n > 0 {
		c := w.Machine.CopyChannel(n)
		w.occupyProcessor(side, Term{Name: "processor.copy", Count: 1, Bytes: n, Time: c.Time(n)}, c)
	}
}

// unitCost is the unit cost of a term.
type unitCost interface{ String() string }

// fillTerm fills in the step, the place and the unit cost of a term.
func (w *protocolRun) fillTerm(x Term, where CostSide, p unitCost) Term {
	x.Step, x.Side = w.step, where
	if x.Time != 0 { // else it is dropped
		x.UnitCost = p.String()
		if _, ok := p.(unit.Time); ok && x.Bytes > 0 {
			x.UnitCost += "/B"
		}
	}
	return x
}

// occupyProcessor keeps a side's processor busy. Terms that take no time are dropped.
func (w *protocolRun) occupyProcessor(side CostSide, x Term, p unitCost) {
	if x.Time == 0 {
		return
	}
	l := &w.lanes[side]
	l.path = l.path.add(w.fillTerm(x, side, p))
	a := SendActivity
	switch {
	case strings.HasPrefix(x.Name, "software."):
		a = SoftwareActivity
	case strings.HasPrefix(x.Name, "processor."):
		a = CopyActivity
	case w.isReceiving:
		a = ReceiveActivity
	}
	l.spans = append(l.spans, Span{Name: x.Name, Step: w.step, Activity: a, From: l.clock, To: l.clock + x.Time, Bytes: x.Bytes})
	l.clock += x.Time
}

// waitForWire lets a side wait while the terms pass on the wire.
func (w *protocolRun) waitForWire(side CostSide, name string, terms ...Term) {
	l := &w.lanes[side]
	m := packet{l.clock, l.path}
	m.delay(terms...)
	w.waitForPacket(l, name, m)
}

func (w *protocolRun) waitForPacket(l *sideClock, name string, m packet) {
	if m.at > l.clock {
		l.spans = append(l.spans, Span{Name: name, Step: w.step, Activity: WaitActivity, From: l.clock, To: m.at})
	}
	l.clock, l.path = m.at, m.path
}

// newPacket returns a packet that leaves now, with a copy of the sender's path.
func (w *protocolRun) newPacket(from CostSide) packet {
	l := &w.lanes[from]
	return packet{l.clock, slices.Clone(l.path)}
}

// recordFlight records a flight to the other side. A flight of the hardware without data is the
// request for a remote access or its confirmation.
func (w *protocolRun) recordFlight(from CostSide, depart, arrive unit.Time, bytes int, hardware bool) {
	name := string(w.step)
	if hardware && bytes == 0 {
		name = w.accessSignalName
	}
	w.flights = append(w.flights, Flight{Name: name, Step: w.step, From: int(from), To: int(otherSide(from)), Initiator: int(from), Sent: depart, Depart: depart, Arrive: arrive,
		TakenIn: arrive, Bytes: bytes, IsRemoteAccess: hardware})
}
