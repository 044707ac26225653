package proto

// T sends the data with the envelope. The send is then complete:
//
//	RM →
//
// Al-Tawil and Moritz, section 2; equations (1) and (2).
var T = &Protocol{
	Name:                "T",
	Eager:               true,
	EndsWithFirstPacket: true,
	OnSendStart: func(e *Engine, s *op) {
		e.sendFirstPacketWithData(s, s.Buf)
		e.complete(s)
	},
}
