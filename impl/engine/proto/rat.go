package proto

// RAT announces the message. The receiver answers with the address of its buffer, and the sender
// writes the data there and reports it:
//
//	R →
//	  ← ACK
//	M ⇒ (pushed)
//	FIN →
//
// Al-Tawil and Moritz, section 2; equations (6) and (7), from which the last step is inferred.
var RAT = &Protocol{
	Name:             "RAT",
	Synchronous:      true,
	UsesRemoteMemory: true,
	OnSendStart: func(e *Engine, s *op) {
		e.stageForRemoteAccess(s)
		e.sendFirstPacketWithoutData(s)
	},
	OnMatch: func(e *Engine, r *op, m *firstPacket) {
		r.key = e.memoryOf(m.src).Expose(r.Buf[:m.size])
		e.sendControl(m.src, &head{kind: kindACK, to: m.sendOp, from: r.ID(), key: r.key})
	},
	OnACK: func(e *Engine, s *op, h head) {
		s.peerOp = h.from
		e.memoryOf(s.Peer).Put(int(s.Peer), h.key, 0, s.exposedData(), e.accessDoneHead(s))
	},
	OnAccessDone: func(e *Engine, s *op) {
		e.releaseStaging(s)
		e.sendControl(s.Peer, &head{kind: kindFinished, to: s.peerOp})
		e.complete(s)
	},
	OnFIN: func(e *Engine, r *op) {
		e.memoryOf(r.Peer).Withdraw(r.key)
		e.complete(r)
	},
	OnCancel: func(e *Engine, s *op) {
		e.releaseStaging(s)
	},
}
