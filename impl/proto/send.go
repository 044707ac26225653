package proto

import (
	"github.com/loggp/loggp/model"
)

// Send sends buf and returns when the rank may use it again, as the mode says.
func (e *Engine) Send(mode model.Mode, buf []byte, dst int, context uint32, tag int) {
	s := e.begin(mode, buf, dst, context, tag)
	e.await(s)
	e.port.Spend(model.Epilogue(mode), 1)
	e.Release(s)
}

// Isend starts to send buf.
func (e *Engine) Isend(mode model.Mode, buf []byte, dst int, context uint32, tag int) *Op {
	s := e.begin(mode, buf, dst, context, tag)
	e.port.Spend(model.Epilogue(mode), 1)
	return s
}

// begin starts an operation that sends. A buffered message is copied and goes its own way: what is returned is
// complete.
func (e *Engine) begin(mode model.Mode, buf []byte, dst int, context uint32, tag int) *Op {
	e.port.Spend(model.WorkSend, 1)
	s := e.newOp()
	s.mode, s.peer, s.tag, s.size, s.buf = mode, int32(dst), int32(tag), len(buf), buf
	s.Context = context
	s.protocol = e.choose(s)
	if mode != model.Buffered {
		s.protocol.Start(e, s)
		return s
	}
	s.pos = e.buffer.take(e, len(buf))
	s.buf = e.buffer.memory[s.pos : s.pos+len(buf)]
	e.port.Spend(model.WorkPack, len(buf))
	e.port.Copy(s.buf, buf)
	s.detached = true
	s.protocol.Start(e, s)
	return e.Finish(false, Status{})
}

// choose returns the protocol of a message. A message that would overrun the window goes by the library's fallback.
//
// Note: to queue such a message at the sender instead would let it block those behind it, which may have other tags and a
// receive that waits for them.
func (e *Engine) choose(s *Op) *Protocol {
	if f := e.job.forced.protocol; f != nil && s.Context%2 == 0 && (f.Synchronous || s.mode != model.Synchronous) {
		e.flow.take(int(s.peer), min(s.size, e.job.forced.eager), true)
		return f
	}
	rules := e.job.rules[s.mode][e.tier(s.peer)]
	for i := range rules {
		r := &rules[i]
		if r.upTo >= 0 && s.size > r.upTo {
			continue
		}
		if !e.flow.take(int(s.peer), min(s.size, r.eager), e.job.fallback == nil) {
			return e.job.fallback
		}
		return r.protocol
	}
	panic(e.fault(ErrOther, "library %s has no rule for a %v message of %d bytes", e.job.lib.Name, s.mode, s.size))
}

// sendRM packs the message and sends a first packet with data of it.
func (e *Engine) sendRM(s *Op, data []byte) {
	e.port.Spend(model.WorkPack, len(s.buf))
	var h head
	e.firstHead(&h, s)
	e.send(s.peer, &h, data)
}

// sendR sends a first packet without.
func (e *Engine) sendR(s *Op) {
	var h head
	e.firstHead(&h, s)
	h.key = s.key
	e.control(s.peer, &h)
}

func (e *Engine) firstHead(h *head, s *Op) {
	h.kind, h.protocol, h.mode, h.tag, h.context = kindFirst, e.row(s.protocol), s.mode, s.tag, s.Context
	h.size, h.from = s.size, s.id
}
