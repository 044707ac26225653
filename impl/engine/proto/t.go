package proto

// T sends the data with the envelope. The send is then complete, unless the interface reads the
// user's buffer and reports when it is free:
//
//	RM →
//
// Al-Tawil and Moritz, section 2; equations (1) and (2).
var T = &Protocol{
	Name:                "T",
	Eager:               true,
	EndsWithFirstPacket: true,
	OnSendStart: func(e *Engine, s *op) {
		if e.awaitsCompletion(s.Mode, len(s.Buf), s.Peer) {
			e.sendWithCompletion(s)
			return
		}
		e.sendFirstPacketWithData(s, s.Buf)
		e.complete(s)
	},
	OnAccessDone: func(e *Engine, s *op) { e.complete(s) },
}
