package model

// CostSide is a side of a message, or the network between the sides.
type CostSide uint8

// The two sides of a message, and the network between them.
const (
	SenderSide CostSide = iota
	ReceiverSide
	NetworkSide
)

func (w CostSide) String() string { return [...]string{"sender", "receiver", "wire"}[w] }

// otherSide returns the other side.
func otherSide(side CostSide) CostSide { return SenderSide + ReceiverSide - side }

// PacketKind is the purpose of a packet of a protocol.
type PacketKind string

// The kinds of messages.
const (
	KindRM  PacketKind = "RM"  // the envelope with the data in it, or the first part of it
	KindR   PacketKind = "R"   // the envelope, which announces the data
	KindACK PacketKind = "ACK" // receiver to sender: the receive is posted
	KindM   PacketKind = "M"   // the data alone, or the rest of it
	KindFIN PacketKind = "FIN" // sender to receiver: the data has arrived
	KindGet PacketKind = "get" // receiver to sender: send M. It replaces a remote read on machines without one
)

// TransportMeans is how data is moved to the other side.
type TransportMeans uint8

// The means of transport.
const (
	ByPacket TransportMeans = iota // one processor sends it, the other takes it in
	ByGet                          // the side that needs it reads remote memory or, if it cannot, requests a packet
	ByPut                          // the side that has it writes remote memory or, if it cannot, sends a packet
)

func (m TransportMeans) String() string { return [...]string{"packet", "get", "put"}[m] }

// Step is one message of a protocol.
type Step struct {
	Kind  PacketKind
	From  CostSide // Sender or Receiver
	Means TransportMeans
	Data  DataPart // of the message's data it carries
}

// DataPart is a part of a message's data.
type DataPart uint8

// The parts.
const (
	NoData    DataPart = iota
	AllData            // the whole
	FirstData          // the first bytes, as many as ProtoSettings.FirstBytes
	RestData           // those after them. A step is omitted if there are none
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
func (s Step) To() CostSide { return otherSide(s.From) }

// Protocol is how a message travels, as a sequence of steps. Costs, time lines and equations (1) to
// (7) all follow from it. Al-Tawil and Moritz, section 2 and figure 1.
type Protocol struct {
	Name  string
	Steps []Step

	// HasOneTime says that the source gives one equation for both times: that of the sender.
	HasOneTime bool
}

// Protocols are all protocols.
var Protocols = []*Protocol{ProtocolT, ProtocolTA, ProtocolRTA, ProtocolRAT, ProtocolPTAT}

// ProtocolNames returns the names of all, in their order.
func ProtocolNames() []string {
	var names []string
	for _, p := range Protocols {
		names = append(names, p.Name)
	}
	return names
}

// FindProtocol returns the protocol of that name, or nil.
func FindProtocol(name string) *Protocol {
	for _, p := range Protocols {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// IsEager reports whether the first packet carries data, for which the receiver needs buffer space.
func (p *Protocol) IsEager() bool { return p.Steps[0].Data != NoData }

// IsSynchronous reports whether the sender learns that the receive has been posted, as a
// synchronous send must.
func (p *Protocol) IsSynchronous() bool {
	for _, s := range p.Steps {
		if s.From == ReceiverSide {
			return true
		}
	}
	return false
}

// UsesRemoteMemory reports whether the protocol accesses remote memory.
func (p *Protocol) UsesRemoteMemory() bool {
	for _, s := range p.Steps {
		if s.Means != ByPacket {
			return true
		}
	}
	return false
}

// ProtocolT sends the message in its envelope, without an acknowledgement:
//
//	RM →
//
//	(1) T_s^T   = o_s
//	(2) T_s-r^T = o_s + L + o_r
var ProtocolT = &Protocol{
	Name: "T",
	Steps: []Step{
		{Kind: KindRM, From: SenderSide, Means: ByPacket, Data: AllData},
	},
}

// ProtocolTA sends the message in its envelope, and the receiver acknowledges when a receive has
// matched it:
//
//	RM →
//	   ← ACK
//
//	(3) T_s-r^TA = 2 o_s + 2 L + 2 o_r
//
// Section 3.2 of the source has this one equation for both times. It is the sender's: the receiver
// is done when it has sent the ACK, at 2 o_s + L + o_r.
var ProtocolTA = &Protocol{
	Name: "TA",
	Steps: []Step{
		{Kind: KindRM, From: SenderSide, Means: ByPacket, Data: AllData},
		{Kind: KindACK, From: ReceiverSide, Means: ByPacket},
	},
	HasOneTime: true,
}

// ProtocolRTA announces the message. The receiver reads it from the sender's memory and
// acknowledges:
//
//	R →
//	M → (pulled)
//	  ← ACK
//
//	(4) T_s-r^RTA = 2 o_s + 2 L + o_r + (k−1) G
//	(5) T_s^RTA   = 2 o_s + 3 L + 2 o_r + (k−1) G
var ProtocolRTA = &Protocol{
	Name: "RTA",
	Steps: []Step{
		{Kind: KindR, From: SenderSide, Means: ByPacket},
		{Kind: KindM, From: SenderSide, Means: ByGet, Data: AllData},
		{Kind: KindACK, From: ReceiverSide, Means: ByPacket},
	},
}

// ProtocolRAT announces the message. The receiver answers with the address of its buffer. The
// sender writes the message there and tells the receiver:
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
var ProtocolRAT = &Protocol{
	Name: "RAT",
	Steps: []Step{
		{Kind: KindR, From: SenderSide, Means: ByPacket},
		{Kind: KindACK, From: ReceiverSide, Means: ByPacket},
		{Kind: KindM, From: SenderSide, Means: ByPut, Data: AllData},
		{Kind: KindFIN, From: SenderSide, Means: ByPacket},
	},
}

// ProtocolPTAT sends the first part of the message in its envelope. When a receive has matched it
// the receiver acknowledges, and the sender sends the rest:
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
var ProtocolPTAT = &Protocol{
	Name: "PTAT",
	Steps: []Step{
		{Kind: KindRM, From: SenderSide, Means: ByPacket, Data: FirstData},
		{Kind: KindACK, From: ReceiverSide, Means: ByPacket},
		{Kind: KindM, From: SenderSide, Means: ByPacket, Data: RestData},
	},
}
