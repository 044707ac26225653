package proto

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// A receive that has no message yet is cancelled at once. A send whose message may be without a
// receive is cancelled by its receiver, which alone knows:
//
//	cancel →
//	       ← answer
//
// The cancel comes after the first packet, so either the message is among the unexpected ones, and
// is taken out, or it has met its receive. If the send completes before the
// answer, that settles it, and the answer is ignored. This costs a packet each way, and the
// receiver has to be in a call, or to have ended: then it has dropped the message, unless what it
// sent before said that the message was received.

// Cancel implements engine.Engine. A message that is forgotten when it has left is not cancelled.
func (e *Engine) Cancel(x *engine.Op) {
	switch o := x.EngineOp.(*op); {
	case o.cancelRequested:
	case !o.Receive:
		e.requestCancel(o)
	case o.protocol == nil: // it has no message
		e.spend(model.ProtoMatchCost, 1)
		e.posted.Remove(&o.postedEntry)
		e.rank.FinishCancelled(x)
	}
}

// requestCancel asks a message's receiver to do without it.
func (e *Engine) requestCancel(s *op) {
	e.lastCancelSerial++
	s.cancelSerial = e.lastCancelSerial
	s.cancelRequested = true
	e.sendControl(s.Peer, &head{kind: kindCancel, from: s.ID(), to: s.cancelSerial})
	e.port.NotifyExit(int(s.Peer), peerExitHead)
}

// peerExitHead is what the world says of a rank that has ended.
var peerExitHead = (&head{kind: kindPeerExit}).words()

// handlePeerExit goes on without a rank that has ended: nothing more of it comes, so it did without
// what is being cancelled.
func (e *Engine) handlePeerExit(rank int32) {
	for _, s := range e.ops {
		if s.cancelRequested && s.Peer == rank {
			e.finishCancel(s)
		}
	}
}

// handleCancel removes a message from the queue of unexpected messages and reports whether it was
// there.
func (e *Engine) handleCancel(src int, h *head) {
	e.spend(model.ProtoMatchCost, 1)
	answer := head{kind: kindCancelAnswer, to: h.from, from: h.to}
	if m := e.findUnexpected(int32(src), h.from); m != nil {
		e.unexpected.Remove(&m.Entry)
		e.flow.noteFreed(src, len(m.data))
		e.recycleUnexpected(m)
		answer.size = 1
	}
	e.sendControl(int32(src), &answer)
}

// findUnexpected returns the unexpected message of an operation of another rank, or nil. A message
// that its sender has forgotten belongs to none.
func (e *Engine) findUnexpected(src int32, from uint32) *unexpectedMessage {
	for m := range e.unexpected.All() {
		if k := m.Value; k.src == src && k.sendOp == from && !k.protocol.EndsWithFirstPacket {
			return k
		}
	}
	return nil
}

// handleCancelAnswer takes in what the receiver says to a cancel, unless the message was received
// meanwhile.
func (e *Engine) handleCancelAnswer(h *head) {
	s := e.ops[h.to]
	if !s.cancelRequested || s.cancelSerial != h.from {
		return
	}
	if h.size == 0 {
		s.cancelRequested = false
		return
	}
	e.finishCancel(s)
}

// finishCancel ends a send whose message will not be received.
func (e *Engine) finishCancel(s *op) {
	s.cancelRequested = false
	if cancel := s.protocol.OnCancel; cancel != nil {
		cancel(e, s)
	}
	e.rank.FinishCancelled(&s.Op)
}
