package proto

// TA sends the message in its envelope, and the receiver says that a receive has taken it:
//
//	RM →
//	   ← ACK
//
// Al-Tawil and Moritz, section 2; equation (3).
var TA = &Protocol{
	Name:        "TA",
	Eager:       true,
	Synchronous: true,
	Start: func(e *Engine, s *Op) {
		e.sendRM(s, s.buf)
	},
	Matched: func(e *Engine, r *Op, m *msg) {
		e.control(m.src, &head{kind: kindACK, to: m.from})
		e.complete(r)
	},
	ACK: func(e *Engine, s *Op, _ head) {
		e.complete(s)
	},
}
