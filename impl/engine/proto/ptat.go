package proto

import "github.com/loggp/loggp/model"

// PTAT sends the first part of the message with its envelope. The receiver acknowledges when the
// message has been matched, and the sender sends the rest:
//
//	RM → (the first part)
//	   ← ACK
//	M  → (the rest)
//
// A message that fits into the first part has no M. A longer one is packed as a whole before its
// first packet. It is CHIMP's protocol over TCP.
var PTAT = &Protocol{
	Name:            "PTAT",
	Eager:           true,
	SendsInTwoParts: true,
	Synchronous:     true,
	OnSendStart: func(e *Engine, s *op) {
		e.sendFirstPacketWithData(s, s.Buf[:e.firstPartBytes(s)])
	},
	OnMatch: func(e *Engine, r *op, m *firstPacket) {
		r.doneBytes = len(m.data)
		e.sendControl(m.src, &head{kind: kindACK, to: m.sendOp, from: r.ID()})
		if r.doneBytes == r.Size {
			e.complete(r)
		}
	},
	OnACK: func(e *Engine, s *op, h head) {
		if rest := s.Buf[e.firstPartBytes(s):]; len(rest) > 0 {
			e.spend(model.ProtoControlCost, 1)
			e.sendHead(s.Peer, &head{kind: kindRemainder, to: h.from}, rest)
		}
		e.complete(s)
	},
	OnRemainder: func(e *Engine, r *op, data []byte) {
		e.copyPacketData(r.Buf[r.doneBytes:], data)
		e.complete(r)
	},
}

// firstPartBytes returns the number of bytes of a message that are sent with its first packet.
func (e *Engine) firstPartBytes(s *op) int { return min(len(s.Buf), e.job.library.Proto.FirstBytes) }
