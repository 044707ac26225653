package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Send implements engine.Engine.
func (e *Engine) Send(mode model.Mode, buf []byte, sign engine.Signature, dst int, context uint32, tag int) {
	if s := e.BeginSend(mode, buf, sign, dst, context, tag); s != nil {
		e.progressUntil(s)
		e.EndSend(s)
	}
}

// BeginSend implements engine.StepEngine. A message that is complete with its first packet needs no
// operation.
func (e *Engine) BeginSend(mode model.Mode, buf []byte, sign engine.Signature, dst int, context uint32, tag int) *engine.Op {
	e.spend(model.ProtoSendCost, 1)
	p := e.chooseProtocol(mode, len(buf), dst, context)
	if p.EndsWithFirstPacket && mode != model.BufferedMode && !e.awaitsCompletion(mode, len(buf), int32(dst)) {
		e.spend(model.ProtoPackCost, len(buf))
		bounce := e.copyFirst(mode, len(buf), int32(dst), buf)
		setFirst(&e.packet.Head, e.protocolIndex(p), mode, int32(tag), context, len(buf), 0, sign)
		e.sendFirstData(int32(dst), buf, bounce)
		e.spend(model.SendEpilogueCost(mode), 1)
		return nil
	}
	s := e.rank.NewOp()
	s.SetSend(mode, buf, sign, dst, context, tag)
	e.startSend(s.EngineOp.(*op), p)
	if mode == model.BufferedMode {
		e.spend(model.SendEpilogueCost(mode), 1)
		return nil
	}
	return s
}

// EndSend implements engine.StepEngine.
func (e *Engine) EndSend(s *engine.Op) {
	e.spend(model.SendEpilogueCost(s.Mode), 1)
	e.rank.Release(s)
}

// Isend implements engine.Engine. A buffered message is carried by another operation.
func (e *Engine) Isend(o *engine.Op) {
	e.spend(model.ProtoSendCost, 1)
	p := e.chooseProtocol(o.Mode, len(o.Buf), int(o.Peer), o.Context)
	s := o
	if o.Mode == model.BufferedMode {
		s = e.rank.NewOp()
		s.SetSend(o.Mode, o.Buf, o.Signature, int(o.Peer), o.Context, int(o.Tag))
		e.startSend(s.EngineOp.(*op), p)
		e.rank.Complete(o)
	} else {
		e.startSend(s.EngineOp.(*op), p)
	}
	e.spend(model.SendEpilogueCost(o.Mode), 1)
}

// startSend starts a send with a protocol. The data of a buffered message is first copied to the
// attached buffer.
func (e *Engine) startSend(s *op, p *Protocol) {
	s.protocol, s.cancelRequested = p, false
	if s.Mode == model.BufferedMode {
		from := s.Buf
		s.Buf = e.rank.ReserveBuffered(&s.Op, len(from))
		e.spend(model.ProtoPackCost, len(from))
		e.rank.Copy(s.Buf, from)
	}
	p.OnSendStart(e, s)
}

// chooseProtocol returns the protocol of a message. A message that would overrun the window uses
// the library's fallback.
//
// Note: queueing such a message at the sender instead would block later messages, which may have
// other tags and receives that wait for them.
func (e *Engine) chooseProtocol(mode model.Mode, size, dst int, context uint32) *Protocol {
	if f := e.job.forcedProtocol.protocol; f != nil && context%2 == 0 && (f.Synchronous || mode != model.SynchronousMode) {
		e.flow.reserveWindow(dst, min(size, e.job.forcedProtocol.eagerBytes), true)
		return f
	}
	r := e.ruleFor(mode, size, int32(dst))
	switch {
	case r == nil:
		e.rank.Fail(engine.ErrOther, "library %s has no rule for a %v message of %d bytes", e.job.library.Name, mode, size)
		panic("unreachable")
	case !e.flow.reserveWindow(dst, min(size, r.eagerBytes), e.job.fallbackProtocol == nil):
		return e.job.fallbackProtocol
	}
	return r.protocol
}

// sendFirstPacketWithData packs the message and sends a first packet with data.
func (e *Engine) sendFirstPacketWithData(s *op, data []byte) {
	e.spend(model.ProtoPackCost, len(s.Buf))
	bounce := e.copyFirst(s.Mode, len(s.Buf), s.Peer, data)
	e.encodeFirstPacket(s)
	e.sendFirstData(s.Peer, data, bounce)
}

// copyFirst copies the data of a first packet to memory that the interface can read, if the rule
// for the message says so, and returns the copy.
func (e *Engine) copyFirst(mode model.Mode, size int, dst int32, data []byte) (bounce []byte) {
	if !e.job.hasCopies || len(data) == 0 {
		return nil
	}
	if r := e.ruleFor(mode, size, dst); r != nil && r.copyFirst {
		bounce = e.rank.ScratchFor(len(data), device.IsSizeOnly(data))
		e.rank.Copy(bounce, data)
	}
	return bounce
}

// ruleFor returns the rule for a message, or nil.
func (e *Engine) ruleFor(mode model.Mode, size int, dst int32) *protocolRule {
	rules := e.job.rules[mode][e.tier(dst)]
	for i := range rules {
		if r := &rules[i]; r.maxBytes < 0 || size <= r.maxBytes {
			return r
		}
	}
	return nil
}

// awaitsCompletion reports whether a send is complete only when the interface has reported it.
func (e *Engine) awaitsCompletion(mode model.Mode, size int, dst int32) bool {
	if !e.job.awaitsCompletions {
		return false
	}
	p, ok := e.port.(device.SendCompleter)
	if !ok || !p.CompletesSends(int(dst), size) {
		return false
	}
	r := e.ruleFor(mode, size, dst)
	return r != nil && r.awaitsCompletion
}

// sendWithCompletion sends a whole message from the user's buffer. The report completes the send.
func (e *Engine) sendWithCompletion(s *op) {
	e.spend(model.ProtoPackCost, len(s.Buf))
	e.encodeFirstPacket(s)
	e.addCreditAndData(s.Peer, s.Buf)
	e.port.(device.SendCompleter).SendWithCompletion(int(s.Peer), &e.packet, e.accessDoneHead(s))
}

// sendFirstData sends a first packet, whose head has been written, with data or with its copy.
func (e *Engine) sendFirstData(dst int32, data, bounce []byte) {
	if bounce == nil {
		e.sendEncoded(dst, data)
		return
	}
	e.sendEncoded(dst, bounce)
	e.rank.ReleaseScratch(bounce)
}

// sendFirstPacketWithoutData sends a first packet without data.
func (e *Engine) sendFirstPacketWithoutData(s *op) {
	e.spend(model.ProtoControlCost, 1)
	e.encodeFirstPacket(s)
	e.packet.Head[4] = uint64(s.key)
	e.sendEncoded(s.Peer, nil)
}

// encodeFirstPacket writes the head of an operation's first packet.
func (e *Engine) encodeFirstPacket(s *op) {
	setFirst(&e.packet.Head, e.protocolIndex(s.protocol), s.Mode, s.Tag, s.Context, s.Size, s.ID(), s.Signature)
}
