package proto

// TA sends the data with the envelope, and the receiver acknowledges when the message has been
// matched:
//
//	RM →
//	   ← ACK
//
// Al-Tawil and Moritz, section 2; equation (3).
var TA = &Protocol{
	Name:        "TA",
	Eager:       true,
	Synchronous: true,
	OnSendStart: func(e *Engine, s *op) {
		e.sendFirstPacketWithData(s, s.Buf)
	},
	OnMatch: func(e *Engine, r *op, m *firstPacket) {
		e.sendControl(m.src, &head{kind: kindACK, to: m.sendOp})
		e.complete(r)
	},
	OnACK: func(e *Engine, s *op, _ head) {
		e.complete(s)
	},
}
