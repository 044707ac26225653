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
	s := e.newOp()
	e.begin(s, p, mode, buf, sign, dst, context, tag)
	if mode == model.Buffered {
		e.spend(model.Epilogue(mode), 1)
		return
	}
	e.await(s)
	e.spend(model.Epilogue(mode), 1)
	e.Release(s)
}

// Isend starts to send buf.
func (e *Engine) Isend(mode model.Mode, buf []byte, sign Sign, dst int, context uint32, tag int) *Op {
	e.spend(model.WorkSend, 1)
	p := e.choose(mode, len(buf), dst, context)
	s := e.newOp()
	e.begin(s, p, mode, buf, sign, dst, context, tag)
	if mode == model.Buffered {
		s = e.Finish(false, Status{})
	}
	e.spend(model.Epilogue(mode), 1)
	return s
}

// begin lets an operation send. A buffered message goes its own way: nobody will ask for its operation.
func (e *Engine) begin(s *Op, p *Protocol, mode model.Mode, buf []byte, sign Sign, dst int, context uint32, tag int) {
	s.mode, s.peer, s.tag, s.size, s.buf, s.sign = mode, int32(dst), int32(tag), len(buf), buf, sign
	s.Context = context
	s.protocol = p
	if e.watch != nil {
		e.watchSend(s, buf)
	}
	if mode == model.Buffered {
		e.detach(s)
	}
	s.protocol.Start(e, s)
}

// detach copies a message into the attached buffer.
func (e *Engine) detach(s *Op) {
	from := s.buf
	s.pos = e.buffer.take(e, len(from))
	s.buf = e.buffer.memory[s.pos : s.pos+len(from)]
	e.spend(model.WorkPack, len(from))
	e.Copy(s.buf, from)
	if e.watch != nil {
		e.watch.forget(s)
	}
	s.state |= detached
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
