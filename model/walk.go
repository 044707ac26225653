package model

import (
	"slices"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// walk goes through the steps of a protocol with one clock a side. Each side has a path beside its
// clock: the terms whose sum the clock shows. A side that waits for a message takes over the
// message's path; so at the end the path is the critical one.
type walk struct {
	Transfer
	net     carrier
	lib     Library
	step    Kind
	lanes   [2]lane
	flights []Flight
	signal  string  // what a remote access sends beside its data: get, done
	taking  bool    // a packet is being received
	call    Terms   // path of the sender when its call returned
	last    CostKey // with which the receiver ends
}

type lane struct {
	spans []Span    // what the side does and waits for, one behind the other
	call  unit.Time // when the sender's call returns
	clock unit.Time
	path  Terms
}

// mail is a packet under way.
type mail struct {
	at   unit.Time // when it arrives
	path Terms
}

// fly adds a time on the wire.
func (m *mail) fly(terms ...Term) {
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
	w := &walk{Transfer: t, net: t.Machine.Between(t.Path.Tier).on(t.Path), last: ProtoComplete}
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
	w.spend(Sender, ProtoSend, 1)
	if w.Mode == Buffered {
		w.spend(Sender, ProtoPack, w.Bytes)
		w.copy(Sender, w.Bytes)
	}
	for i, s := range w.protocol().Steps {
		w.step = s.Kind
		switch s.By {
		case ByPacket:
			if s.Data == RestData && w.bytes(s) == 0 {
				continue
			}
			w.packet(s, i == 0)
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
		w.spend(Sender, ProtoComplete, 1)
	}
}

// local reports whether the sender's call returns when the first packet has left.
func (w *walk) local() bool { return w.Nonblocking || w.Mode == Buffered }

// endCall lets the sender's call return.
func (w *walk) endCall() {
	step := w.step
	w.step = ""
	w.spend(Sender, Epilogue(w.Mode), 1)
	l := &w.lanes[Sender]
	l.call = l.clock
	w.call = slices.Clone(l.path)
	if w.Nonblocking && w.Mode == Buffered { // the program's wait finds its own request complete
		w.spend(Sender, ProtoComplete, 1)
	}
	w.step = step
}

// bytes returns how many bytes of the message a step carries.
func (w *walk) bytes(s Step) int { return s.Bytes(w.Bytes, w.lib.First) }

// packet sends a packet and takes it in.
func (w *walk) packet(s Step, first bool) {
	bytes := w.bytes(s)
	w.make(s, first)
	m := w.net.send(w, s.From, bytes)
	if first && w.local() {
		w.endCall()
	}
	w.take(s.To(), m, bytes)
	if first {
		w.spend(s.To(), ProtoMatch, 1)
	}
	w.unpack(s.To(), bytes)
}

// make makes a packet. Before the first the whole message is packed; if it has none of the data the
// message is prepared to be accessed, else the packet is part of the call.
func (w *walk) make(s Step, first bool) {
	if first {
		w.spend(s.From, ProtoPack, w.Bytes)
		if s.Data == NoData && w.long().Stage && w.Mode != Buffered { // what is buffered can be read already
			w.copy(s.From, w.Bytes)
		}
	}
	if !first || s.Data == NoData {
		w.spend(s.From, ProtoControl, 1)
	}
}

// take takes in a packet.
func (w *walk) take(who Where, m mail, bytes int) {
	w.meet(who, m)
	w.taking = true
	w.net.receive(w, who, bytes)
	w.taking = false
	w.spend(who, ProtoHandle, 1)
}

// unpack copies bytes to where they are to be.
func (w *walk) unpack(who Where, bytes int) {
	w.copy(who, bytes)
	w.spend(who, ProtoUnpack, bytes)
}

// get reads bytes of the other side's memory. Where the machine cannot, a packet asks for them and
// another has them.
func (w *walk) get(who Where, bytes int) {
	if w.Machine.Remote() {
		w.signal = "get"
		w.net.(memory).get(w, who, bytes)
		w.spend(who, ProtoHandle, 1)
		return
	}
	step := w.step
	w.step = KindGet
	w.spend(who, ProtoControl, 1)
	w.take(other(who), w.net.send(w, who, 0), 0)
	w.step = step
	w.carry(other(who), bytes)
}

// put writes bytes to the other side's memory. Where the machine cannot, a packet has them.
func (w *walk) put(who Where, bytes int) {
	if w.Machine.Remote() {
		w.signal = "done"
		w.net.(memory).put(w, who, bytes)
		w.spend(who, ProtoHandle, 1)
		return
	}
	w.carry(who, bytes)
}

// carry sends bytes of memory in a packet.
func (w *walk) carry(from Where, bytes int) {
	w.spend(from, ProtoControl, 1)
	w.take(other(from), w.net.send(w, from, bytes), bytes)
	w.unpack(other(from), bytes)
}

// pull reads the message from the other side: at once, or piece by piece through a bounce buffer.
// Even an empty message is read.
func (w *walk) pull(who Where) {
	bounce := w.long().Bounce
	for pos := 0; ; {
		n := w.Bytes - pos
		if bounce > 0 {
			n = min(n, bounce)
		}
		w.get(who, n)
		if bounce > 0 {
			w.unpack(who, n)
		}
		if pos += n; pos >= w.Bytes {
			return
		}
	}
}

// long says how the library moves long messages to this peer.
func (w *walk) long() Long { return w.lib.Long[w.Path.Tier] }

// spend charges n units of software work.
func (w *walk) spend(who Where, work CostKey, n int) {
	price, cost := w.lib.Software[work], Proto.Costs[work]
	x := Term{Name: "software." + cost.Key, Count: n, Time: price * unit.Time(n)}
	if cost.PerByte {
		x.Count, x.Bytes = 1, n
	}
	w.busy(who, x, price)
}

// copy charges a copy in memory.
func (w *walk) copy(who Where, n int) {
	if n > 0 {
		c := w.Machine.Processor.Copy
		w.busy(who, Term{Name: "processor.copy", Count: 1, Bytes: n, Time: c.Time(n)}, c)
	}
}

// price is what a term costs.
type price interface{ String() string }

// per fills in the rest of a term.
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

// busy keeps a side's processor busy. What takes no time is not mentioned.
func (w *walk) busy(who Where, x Term, p price) {
	if x.Time == 0 {
		return
	}
	l := &w.lanes[who]
	l.path = l.path.add(w.per(x, who, p))
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

// idle lets a side wait for something that takes so long on the wire.
func (w *walk) idle(who Where, name string, terms ...Term) {
	l := &w.lanes[who]
	m := mail{l.clock, l.path}
	m.fly(terms...)
	w.wait(l, name, m)
}

// meet lets a side wait for a packet, unless it is there already.
func (w *walk) meet(who Where, m mail) {
	if l := &w.lanes[who]; m.at >= l.clock {
		w.wait(l, string(w.step), m)
	}
}

func (w *walk) wait(l *lane, name string, m mail) {
	if m.at > l.clock {
		l.spans = append(l.spans, Span{Name: name, Step: w.step, Activity: Waiting, From: l.clock, To: m.at})
	}
	l.clock, l.path = m.at, m.path
}

// post returns a packet that leaves now. Its path is its own.
func (w *walk) post(from Where) mail {
	l := &w.lanes[from]
	return mail{l.clock, slices.Clone(l.path)}
}
