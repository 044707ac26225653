package proto

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// A receive without a message is cancelled at once. A send whose message may be unexpected is
// cancelled by its receiver, because only the receiver knows:
//
//	cancel →
//	       ← answer
//
// The cancel arrives after the first packet. So either the message is in the queue of unexpected
// messages, and is removed, or it has been matched. If the send completes before the answer
// arrives, the answer is ignored. A cancel costs a packet each way. The receiver must be in a call,
// or have ended: then it has dropped the message, unless an earlier packet of it says that the
// message was received.

// Cancel implements engine.Engine. A message that is complete once it has left is not cancelled.
func (e *Engine) Cancel(x *engine.Op) {
	switch o := x.EngineOp.(*op); {
	case o.cancelRequested:
	case !o.Receive && o.protocol.EndsWithFirstPacket: // the message has left; only the interface's report is missing
	case !o.Receive:
		e.requestCancel(o)
	case o.protocol == nil: // it has no message
		e.spend(model.ProtoMatchCost, 1)
		e.posted.Remove(&o.postedEntry)
		e.rank.FinishCancelled(x)
	}
}

// requestCancel asks the receiver of a message to discard it.
func (e *Engine) requestCancel(s *op) {
	e.lastCancelSerial++
	s.cancelSerial = e.lastCancelSerial
	s.cancelRequested = true
	e.sendControl(s.Peer, &head{kind: kindCancel, from: s.ID(), to: s.cancelSerial})
	e.port.NotifyExit(int(s.Peer), peerExitHead)
}

// peerExitHead is the head of the world's notice that a rank has ended.
var peerExitHead = (&head{kind: kindPeerExit}).words()

// handlePeerExit handles the end of another rank. Nothing more arrives from it, so it has not
// received what is being cancelled.
func (e *Engine) handlePeerExit(rank int32) {
	for _, s := range e.ops {
		if s.cancelRequested && s.Peer == rank {
			e.finishCancel(s)
		}
	}
}

// handleCancel removes a message from the queue of unexpected messages, and reports whether it was
// there.
func (e *Engine) handleCancel(src int, h *head) {
	e.spend(model.ProtoMatchCost, 1)
	answer := head{kind: kindCancelAnswer, to: h.from, from: h.to}
	if m := e.findUnexpected(int32(src), h.from); m != nil {
		e.unexpected.Remove(&m.Entry)
		e.flow.noteFreed(src, len(m.data))
		e.messages.put(m)
		answer.size = 1
	}
	e.sendControl(int32(src), &answer)
}

// findUnexpected returns the unexpected message of another rank's operation, or nil. A message that
// was complete when it left belongs to no operation.
func (e *Engine) findUnexpected(src int32, from uint32) *unexpectedMessage {
	for m := range e.unexpected.All() {
		if k := m.Value; k.src == src && k.sendOp == from && !k.protocol.EndsWithFirstPacket {
			return k
		}
	}
	return nil
}

// handleCancelAnswer handles the receiver's answer to a cancel, unless the send has completed
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
