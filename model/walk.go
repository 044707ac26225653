package model

import (
	"github.com/loggp/loggp/model/unit"
	"slices"
	"strings"
)

// walk goes through the steps of a protocol with one clock for each side. Each side also has a
// path: the terms whose sum is the clock's time. A side that waits for a message takes over the
// message's path, so at the end the path is the critical path.
type walk struct {
	Transfer
	net     carrier
	lib     Library
	step    Kind
	lanes   [2]lane
	flights []Flight
	signal  string  // name of what a remote access sends beside its data: get, done
	taking  bool    // a packet is being received
	call    Terms   // path of the sender when its call returned
	last    CostKey // work with which the receiver ends
}

type lane struct {
	spans []Span    // work and waits of the side, in the order of time
	call  unit.Time // when the sender's call returns
	clock unit.Time
	path  Terms
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

func (t Transfer) start() *walk {
	if t.Bytes < 0 {
		panic("model: negative size")
	}
	net := t.Machine.Between(t.Path.Tier)
	if x, ok := net.(byLibrary); ok {
		net = x.by(t.Library)
	}
	w := &walk{Transfer: t, net: net.on(t.Path), last: ProtoCompleteCost}
	if t.Library != nil {
		w.lib = *t.Library
	}
	return w
}

// walk goes through the transfer.
func (t Transfer) walk() *walk {
	w := t.start()
	w.run()
	return w
}

// run goes through the transfer from where the clocks of its sides are.
func (w *walk) run() {
	w.spend(Sender, ProtoSendCost, 1)
	if w.Mode == Buffered {
		w.spend(Sender, ProtoPackCost, w.Bytes)
		w.copy(Sender, w.Bytes)
	}
	for i, s := range w.protocol().Steps {
		w.step = s.Kind
		switch s.By {
		case ByPacket:
			if s.Data == RestData && w.bytes(s) == 0 {
				continue
			}
			w.transmit(s, i == 0)
		case ByGet:
			w.pull(s.To())
		case ByPut:
			w.put(s.From, w.Bytes)
		}
	}
	w.step = ""
	w.spend(Receiver, w.last, 1)
	switch {
	case !w.local():
		w.endCall()
	case w.Mode != Buffered:
		w.spend(Sender, ProtoCompleteCost, 1)
	}
}

// local reports whether the sender's call returns when the first packet has left.
func (w *walk) local() bool { return w.Nonblocking || w.Mode == Buffered }

// endCall records the return of the sender's call.
func (w *walk) endCall() {
	step := w.step
	w.step = ""
	w.spend(Sender, Epilogue(w.Mode), 1)
	l := &w.lanes[Sender]
	l.call = l.clock
	w.call = slices.Clone(l.path)
	if w.Nonblocking && w.Mode == Buffered { // the program's wait finds its own request complete
		w.spend(Sender, ProtoCompleteCost, 1)
	}
	w.step = step
}

// bytes returns how many bytes of the message a step carries.
func (w *walk) bytes(s Step) int { return s.Bytes(w.Bytes, w.lib.Proto.FirstBytes) }

// transmit makes a packet, sends it and takes it in.
func (w *walk) transmit(s Step, first bool) {
	bytes := w.bytes(s)
	if first {
		w.spend(s.From, ProtoPackCost, w.Bytes)                       // the whole message is packed before the first packet
		if s.Data == NoData && w.long().Stage && w.Mode != Buffered { // a buffered message is staged already
			w.copy(s.From, w.Bytes) // so that the receiver can read it
		}
	}
	if !first || s.Data == NoData { // a first packet with data is part of the call
		w.spend(s.From, ProtoControlCost, 1)
	}
	m := w.net.send(w, s.From, bytes)
	if first && w.local() {
		w.endCall()
	}
	w.take(s.To(), m, bytes)
	if first {
		w.spend(s.To(), ProtoMatchCost, 1)
	}
	w.unpack(s.To(), bytes)
}

// take takes in a packet.
func (w *walk) take(side Where, m packet, bytes int) {
	if l := &w.lanes[side]; m.at >= l.clock {
		w.wait(l, string(w.step), m)
	}
	w.taking = true
	w.net.receive(w, side, bytes)
	w.taking = false
	w.spend(side, ProtoHandleCost, 1)
}

// unpack copies bytes to the user's buffer.
func (w *walk) unpack(side Where, bytes int) {
	w.copy(side, bytes)
	w.spend(side, ProtoUnpackCost, bytes)
}

// get reads bytes of the other side's memory. On a machine without remote access, a packet requests
// them and another one carries them.
func (w *walk) get(side Where, bytes int) {
	if w.Machine.Remote() {
		w.signal = "get"
		w.net.(memory).get(w, side, bytes)
		w.spend(side, ProtoHandleCost, 1)
		return
	}
	step := w.step
	w.step = KindGet
	w.spend(side, ProtoControlCost, 1)
	w.take(other(side), w.net.send(w, side, 0), 0)
	w.step = step
	w.carry(other(side), bytes)
}

// put writes bytes to the other side's memory. On a machine without remote access, a packet carries
// them.
func (w *walk) put(side Where, bytes int) {
	if w.Machine.Remote() {
		w.signal = "done"
		w.net.(memory).put(w, side, bytes)
		w.spend(side, ProtoHandleCost, 1)
		return
	}
	w.carry(side, bytes)
}

// carry sends bytes in a packet that takes the place of a remote access.
func (w *walk) carry(from Where, bytes int) {
	w.spend(from, ProtoControlCost, 1)
	w.take(other(from), w.net.send(w, from, bytes), bytes)
	w.unpack(other(from), bytes)
}

// pull reads the message from the other side, at once or in parts through a bounce buffer. An empty
// message is read as well.
func (w *walk) pull(side Where) {
	bounce := w.long().Bounce
	for pos := 0; ; {
		n := w.Bytes - pos
		if bounce > 0 {
			n = min(n, bounce)
		}
		w.get(side, n)
		if bounce > 0 {
			w.unpack(side, n)
		}
		if pos += n; pos >= w.Bytes {
			return
		}
	}
}

// long returns how the library moves long messages to this peer.
func (w *walk) long() LongMessage { return w.lib.Proto.Long[w.Path.Tier] }

// spend charges n units of software work.
func (w *walk) spend(side Where, work CostKey, n int) {
	price, cost := w.lib.Software[work], Proto.Costs[work]
	x := Term{Name: "software." + cost.Key, Count: n, Time: price * unit.Time(n)}
	if cost.PerByte {
		x.Count, x.Bytes = 1, n
	}
	w.busy(side, x, price)
}

// copy charges a copy in memory.
func (w *walk) copy(side Where, n int) {
	if n > 0 {
		c := w.Machine.Processor.Copy
		w.busy(side, Term{Name: "processor.copy", Count: 1, Bytes: n, Time: c.Time(n)}, c)
	}
}

// price is the unit cost of a term.
type price interface{ String() string }

// per fills in the step, the place and the unit cost of a term.
func (w *walk) per(x Term, where Where, p price) Term {
	x.Step, x.Where = w.step, where
	if x.Time != 0 { // else it is dropped
		x.Per = p.String()
		if _, ok := p.(unit.Time); ok && x.Bytes > 0 {
			x.Per += "/B"
		}
	}
	return x
}

// busy keeps a side's processor busy. Terms that take no time are dropped.
func (w *walk) busy(side Where, x Term, p price) {
	if x.Time == 0 {
		return
	}
	l := &w.lanes[side]
	l.path = l.path.add(w.per(x, side, p))
	a := Sending
	switch {
	case strings.HasPrefix(x.Name, "software."):
		a = Software
	case strings.HasPrefix(x.Name, "processor."):
		a = Copying
	case w.taking:
		a = Receiving
	}
	l.spans = append(l.spans, Span{Name: x.Name, Step: w.step, Activity: a, From: l.clock, To: l.clock + x.Time, Bytes: x.Bytes})
	l.clock += x.Time
}

// idle lets a side wait while the terms pass on the wire.
func (w *walk) idle(side Where, name string, terms ...Term) {
	l := &w.lanes[side]
	m := packet{l.clock, l.path}
	m.delay(terms...)
	w.wait(l, name, m)
}

func (w *walk) wait(l *lane, name string, m packet) {
	if m.at > l.clock {
		l.spans = append(l.spans, Span{Name: name, Step: w.step, Activity: Waiting, From: l.clock, To: m.at})
	}
	l.clock, l.path = m.at, m.path
}

// post returns a packet that leaves now, with a copy of the sender's path.
func (w *walk) post(from Where) packet {
	l := &w.lanes[from]
	return packet{l.clock, slices.Clone(l.path)}
}

// arrow records a flight to the other side. A flight of the hardware without data is the request
// for a remote access or its confirmation.
func (w *walk) arrow(from Where, depart, arrive unit.Time, bytes int, hardware bool) {
	name := string(w.step)
	if hardware && bytes == 0 {
		name = w.signal
	}
	w.flights = append(w.flights, Flight{Name: name, Step: w.step, From: int(from), To: int(other(from)), By: int(from), Sent: depart, Depart: depart, Arrive: arrive,
		Taken: arrive, Bytes: bytes, Hardware: hardware})
}
