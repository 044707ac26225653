package proto

import (
	"github.com/loggp/loggp/model"
)

// Send sends buf and returns when the rank may use it again, as the mode says. What is forgotten with its first packet is no operation.
func (e *Engine) Send(mode model.Mode, buf []byte, sign Sign, dst int, context uint32, tag int) {
	e.spend(model.WorkSend, 1)
	p := e.choose(mode, len(buf), dst, context)
	if p.Forgets && mode != model.Buffered {
		if e.watch != nil {
			e.reads(memory(buf, 0, nil))
		}
		e.spend(model.WorkPack, len(buf))
		setFirst(&e.out.Head, e.row(p), mode, int32(tag), context, len(buf), 0, sign)
		e.sendOut(int32(dst), buf)
		e.spend(model.Epilogue(mode), 1)
		return
	}
	s := e.begin(p, mode, buf, sign, dst, context, tag)
	e.await(s)
	e.spend(model.Epilogue(mode), 1)
	e.Release(s)
}

// Isend starts to send buf.
func (e *Engine) Isend(mode model.Mode, buf []byte, sign Sign, dst int, context uint32, tag int) *Op {
	e.spend(model.WorkSend, 1)
	s := e.begin(e.choose(mode, len(buf), dst, context), mode, buf, sign, dst, context, tag)
	e.spend(model.Epilogue(mode), 1)
	return s
}

// begin starts an operation that sends. A buffered message is copied and goes its own way: what is returned is
// complete.
func (e *Engine) begin(p *Protocol, mode model.Mode, buf []byte, sign Sign, dst int, context uint32, tag int) *Op {
	s := e.newOp()
	s.mode, s.peer, s.tag, s.size, s.buf, s.sign = mode, int32(dst), int32(tag), len(buf), buf, sign
	s.Context = context
	s.protocol = p
	if e.watch != nil {
		e.watchSend(s, buf)
	}
	if mode != model.Buffered {
		s.protocol.Start(e, s)
		return s
	}
	s.pos = e.buffer.take(e, len(buf))
	s.buf = e.buffer.memory[s.pos : s.pos+len(buf)]
	e.spend(model.WorkPack, len(buf))
	e.Copy(s.buf, buf)
	if e.watch != nil {
		e.watch.forget(s)
	}
	s.detached = true
	s.protocol.Start(e, s)
	return e.Finish(false, Status{})
}

// choose returns the protocol of a message. A message that would overrun the window goes by the library's fallback.
//
// Note: to queue such a message at the sender instead would let it block those behind it, which may have other tags and a
// receive that waits for them.
func (e *Engine) choose(mode model.Mode, size, dst int, context uint32) *Protocol {
	if f := e.job.forced.protocol; f != nil && context%2 == 0 && (f.Synchronous || mode != model.Synchronous) {
		e.flow.take(dst, min(size, e.job.forced.eager), true)
		return f
	}
	rules := e.job.rules[mode][e.tier(int32(dst))]
	for i := range rules {
		r := &rules[i]
		if r.upTo >= 0 && size > r.upTo {
			continue
		}
		if !e.flow.take(dst, min(size, r.eager), e.job.fallback == nil) {
			return e.job.fallback
		}
		return r.protocol
	}
	panic(e.fault(ErrOther, "library %s has no rule for a %v message of %d bytes", e.job.lib.Name, mode, size))
}

// sendRM packs the message and sends a first packet with data of it.
func (e *Engine) sendRM(s *Op, data []byte) {
	e.spend(model.WorkPack, len(s.buf))
	e.setFirst(s)
	e.sendOut(s.peer, data)
}

// sendR sends a first packet without.
func (e *Engine) sendR(s *Op) {
	e.spend(model.WorkControl, 1)
	e.setFirst(s)
	e.out.Head[4] = uint64(s.key)
	e.sendOut(s.peer, nil)
}

// setFirst writes the head of an operation's first packet.
func (e *Engine) setFirst(s *Op) {
	setFirst(&e.out.Head, e.row(s.protocol), s.mode, s.tag, s.Context, s.size, s.id, s.sign)
}
