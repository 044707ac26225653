package model

// Where is a side of a message, or the network between the sides.
type Where uint8

// The two sides of a message, and the network between them.
const (
	Sender Where = iota
	Receiver
	Wire
)

func (w Where) String() string { return [...]string{"sender", "receiver", "wire"}[w] }

// otherSide returns the other side.
func otherSide(side Where) Where { return Sender + Receiver - side }

// Kind is the purpose of a packet of a protocol.
type Kind string

// The kinds of messages.
const (
	KindRM  Kind = "RM"  // the envelope with the data in it, or the first part of it
	KindR   Kind = "R"   // the envelope, which announces the data
	KindACK Kind = "ACK" // receiver to sender: the receive is posted
	KindM   Kind = "M"   // the data alone, or the rest of it
	KindFIN Kind = "FIN" // sender to receiver: the data has arrived
	KindGet Kind = "get" // receiver to sender: send M. It replaces a remote read on machines without one
)

// Means is how data is moved to the other side.
type Means uint8

// The means of transport.
const (
	ByPacket Means = iota // one processor sends it, the other takes it in
	ByGet                 // the side that needs it reads remote memory or, if it cannot, requests a packet
	ByPut                 // the side that has it writes remote memory or, if it cannot, sends a packet
)

func (m Means) String() string { return [...]string{"packet", "get", "put"}[m] }

// Step is one message of a protocol.
type Step struct {
	Kind Kind
	From Where // Sender or Receiver
	By   Means
	Data Part // of the message's data it carries
}

// Part is a part of a message's data.
type Part uint8

// The parts.
const (
	NoData    Part = iota
	AllData        // the whole
	FirstData      // the first bytes, as many as ProtoSettings.FirstBytes
	RestData       // those after them. A step is omitted if there are none
)

// Bytes returns how many of k bytes the step carries. The first part has at most first bytes.
func (s Step) Bytes(k, first int) int {
	switch s.Data {
	case AllData:
		return k
	case FirstData:
		return min(k, first)
	case RestData:
		return k - min(k, first)
	}
	return 0
}

// To returns the side where the step ends.
func (s Step) To() Where { return otherSide(s.From) }

// Protocol is how a message travels, as a sequence of steps. Costs, time lines and equations (1) to
// (7) all follow from it. Al-Tawil and Moritz, section 2 and figure 1.
type Protocol struct {
	Name  string
	Steps []Step

	// OneTime says that the source gives one equation for both times: that of the sender.
	OneTime bool
}

// Protocols are all protocols.
var Protocols = []*Protocol{T, TA, RTA, RAT, PTAT}

// ProtocolNames returns the names of all, in their order.
func ProtocolNames() []string {
	var names []string
	for _, p := range Protocols {
		names = append(names, p.Name)
	}
	return names
}

// Named returns the protocol of that name, or nil.
func Named(name string) *Protocol {
	for _, p := range Protocols {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Eager reports whether the first packet carries data, for which the receiver needs buffer space.
func (p *Protocol) Eager() bool { return p.Steps[0].Data != NoData }

// Synchronous reports whether the sender learns that the receive has been posted, as a synchronous
// send must.
func (p *Protocol) Synchronous() bool {
	for _, s := range p.Steps {
		if s.From == Receiver {
			return true
		}
	}
	return false
}

// Remote reports whether the protocol accesses remote memory.
func (p *Protocol) Remote() bool {
	for _, s := range p.Steps {
		if s.By != ByPacket {
			return true
		}
	}
	return false
}

// T sends the message in its envelope, without an acknowledgement:
//
//	RM →
//
//	(1) T_s^T   = o_s
//	(2) T_s-r^T = o_s + L + o_r
var T = &Protocol{
	Name: "T",
	Steps: []Step{
		{Kind: KindRM, From: Sender, By: ByPacket, Data: AllData},
	},
}

// TA sends the message in its envelope, and the receiver acknowledges when a receive has matched
// it:
//
//	RM →
//	   ← ACK
//
//	(3) T_s-r^TA = 2 o_s + 2 L + 2 o_r
//
// Section 3.2 of the source has this one equation for both times. It is the sender's: the receiver
// is done when it has sent the ACK, at 2 o_s + L + o_r.
var TA = &Protocol{
	Name: "TA",
	Steps: []Step{
		{Kind: KindRM, From: Sender, By: ByPacket, Data: AllData},
		{Kind: KindACK, From: Receiver, By: ByPacket},
	},
	OneTime: true,
}

// RTA announces the message. The receiver reads it from the sender's memory and acknowledges:
//
//	R →
//	M → (pulled)
//	  ← ACK
//
//	(4) T_s-r^RTA = 2 o_s + 2 L + o_r + (k−1) G
//	(5) T_s^RTA   = 2 o_s + 3 L + 2 o_r + (k−1) G
var RTA = &Protocol{
	Name: "RTA",
	Steps: []Step{
		{Kind: KindR, From: Sender, By: ByPacket},
		{Kind: KindM, From: Sender, By: ByGet, Data: AllData},
		{Kind: KindACK, From: Receiver, By: ByPacket},
	},
}

// RAT announces the message. The receiver answers with the address of its buffer. The sender writes
// the message there and tells the receiver:
//
//	R →
//	  ← ACK
//	M → (pushed)
//	FIN →
//
//	(6) T_s^RAT   = 4 o_s + 3 L + 2 o_r + (k−1) G
//	(7) T_s-r^RAT = 4 o_s + 4 L + 3 o_r + (k−1) G
//
// The source does not describe the last message, but its equations count one: four o_s, and a
// fourth L and third o_r at the receiver. Without it the receiver would not know that the data has
// arrived. The source calls it an ACK. It goes in the other direction, so it is FIN here.
var RAT = &Protocol{
	Name: "RAT",
	Steps: []Step{
		{Kind: KindR, From: Sender, By: ByPacket},
		{Kind: KindACK, From: Receiver, By: ByPacket},
		{Kind: KindM, From: Sender, By: ByPut, Data: AllData},
		{Kind: KindFIN, From: Sender, By: ByPacket},
	},
}

// PTAT sends the first part of the message in its envelope. When a receive has matched it the
// receiver acknowledges, and the sender sends the rest:
//
//	RM → (the first part)
//	   ← ACK
//	M  → (the rest)
//
// A message of at most ProtoSettings.FirstBytes bytes fits in the first packet. It has no M, but
// still an ACK.
//
// PTAT is CHIMP's protocol over TCP. Al-Tawil and Moritz print no equations for it. Derived as
// theirs, with all of the data in M, they are
//
//	T_s^PTAT   = 3 o_s + 2 L + 2 o_r
//	T_s-r^PTAT = 3 o_s + 3 L + 3 o_r + (k−1) G
var PTAT = &Protocol{
	Name: "PTAT",
	Steps: []Step{
		{Kind: KindRM, From: Sender, By: ByPacket, Data: FirstData},
		{Kind: KindACK, From: Receiver, By: ByPacket},
		{Kind: KindM, From: Sender, By: ByPacket, Data: RestData},
	},
}
