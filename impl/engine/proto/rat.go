package proto

// RAT announces the message; the receiver says where it is to go; the sender writes it there and
// says so:
//
//	R →
//	  ← ACK
//	M ⇒ (pushed)
//	FIN →
//
// Al-Tawil and Moritz, section 2; equations (6) and (7), from which the last step is inferred.
var RAT = &Protocol{
	Name:        "RAT",
	Synchronous: true,
	UsesMemory:  true,
	Start: func(e *Engine, s *op) {
		e.stage(s)
		e.sendR(s)
	},
	Matched: func(e *Engine, r *op, m *firstPacket) {
		r.key = e.memory.Expose(r.Buf[:m.size])
		e.sendControl(m.src, &head{kind: kindACK, to: m.from, from: r.ID(), key: r.key})
	},
	ACK: func(e *Engine, s *op, h head) {
		s.reply = h.from
		e.memory.Put(int(s.Peer), h.key, 0, s.data(), e.doneHead(s))
	},
	Done: func(e *Engine, s *op) {
		e.unstage(s)
		e.sendControl(s.Peer, &head{kind: kindFIN, to: s.reply})
		e.complete(s)
	},
	FIN: func(e *Engine, r *op) {
		e.memory.Withdraw(r.key)
		e.complete(r)
	},
	Cancel: func(e *Engine, s *op) {
		e.unstage(s)
	},
}
