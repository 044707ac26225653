package proto

import "github.com/loggp/loggp/model"

// A receive that has no message yet is cancelled at once. A send whose message may be without a receive is cancelled by its receiver, which
// alone knows:
//
//	cancel →
//	       ← answer
//
// The cancel comes after the first packet, so either the message is among the early ones, and is taken out, or it has met its receive. What becomes known of
// that meanwhile, since the send completes, settles it: the answer is for nobody then. This costs a packet each way, and the receiver has to be in a call, or
// to have ended: then it has dropped the message, unless what it sent before said that the message was received.

// Cancel asks for an active operation to end without a message. What has left and is forgotten is not asked for, nor what has ended.
func (e *Engine) Cancel(o *Op) {
	switch {
	case o.finished || o.state&cancelling != 0:
	case !o.receive:
		e.ask(o)
	case o.protocol == nil: // it has no message
		e.spend(model.WorkMatch, 1)
		e.posted.Remove(&o.Entry)
		e.cancelled(o)
	}
}

// ask asks a message's receiver to do without it.
func (e *Engine) ask(s *Op) {
	e.recall++
	s.recall = e.recall
	s.state |= cancelling
	e.control(s.peer, &head{kind: kindCancel, from: s.id, to: s.recall})
	e.port.NotifyExit(int(s.peer), hasEnded)
}

// hasEnded is what the world says of a rank that has ended.
var hasEnded = (&head{kind: kindGone}).words()

// survive goes on without a rank that has ended: nothing more of it comes, so it did without what is being cancelled.
func (e *Engine) survive(rank int32) {
	for _, s := range e.ops {
		if s.state&cancelling != 0 && s.peer == rank && !s.finished {
			e.withdraw(s)
		}
	}
}

// takeOut takes a message out of the early ones, if it is there, and says whether it was.
func (e *Engine) takeOut(src int, h *head) {
	e.spend(model.WorkMatch, 1)
	answer := head{kind: kindAnswer, to: h.from, from: h.to}
	if m := e.unmet(int32(src), h.from); m != nil {
		e.early.Remove(&m.Entry)
		e.flow.freed(src, len(m.data))
		e.drop(m)
		answer.size = 1
	}
	e.control(int32(src), &answer)
}

// unmet returns the early message of an operation of another rank, or nil. What the sender has forgotten is of none, whatever it says.
func (e *Engine) unmet(src int32, from uint32) *early {
	for m := range e.early.All() {
		if k := m.Value; k.src == src && k.from == from && !k.protocol.Forgets {
			return k
		}
	}
	return nil
}

// answered takes in what the receiver says to a cancel, unless the message was received meanwhile.
func (e *Engine) answered(h *head) {
	s := e.ops[h.to]
	if s.state&cancelling == 0 || s.recall != h.from {
		return
	}
	if h.size == 0 {
		s.state &^= cancelling
		return
	}
	e.withdraw(s)
}

// withdraw ends a send whose message will not be received.
func (e *Engine) withdraw(s *Op) {
	s.state &^= cancelling
	if cancel := s.protocol.Cancel; cancel != nil {
		cancel(e, s)
	}
	e.cancelled(s)
}

// cancelled ends an operation that no message comes of.
func (e *Engine) cancelled(o *Op) {
	o.state |= cancelled
	o.size, o.protocol = 0, nil
	e.complete(o)
}
