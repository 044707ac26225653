package proto

import (
	"math/bits"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// firstPacket has the information of a message's first packet.
type firstPacket struct {
	src       int32
	sendOp    uint32 // the sender's operation
	size      int
	tag       int32
	signature engine.Signature
	key       device.Key
	protocol  *Protocol
	data      []byte
}

// unexpectedMessage is a message that arrived before its receive was posted.
type unexpectedMessage struct {
	match.Entry[*unexpectedMessage]
	firstPacket
	dataBuffer []byte // memory for data; its length is that of its class in messagePool
	next       *unexpectedMessage
}

// messagePool has unused memory for unexpected messages.
type messagePool struct {
	free [64]*unexpectedMessage // by bufferClass
}

// bufferClass returns the class of messages with a buffer of n bytes, and the length of the buffers
// of that class: zero, or a power of two of at least 8.
func bufferClass(n int) (class, length int) {
	if n == 0 {
		return 0, 0
	}
	class = max(1, bits.Len(uint(n-1))-2)
	return class, 4 << class
}

// take returns memory for a message with a buffer of n bytes or more.
func (p *messagePool) take(n int) *unexpectedMessage {
	class, length := bufferClass(n)
	m := p.free[class]
	if m == nil {
		m = &unexpectedMessage{}
		m.Value = m
		if length > 0 {
			m.dataBuffer = make([]byte, length)
		}
		return m
	}
	p.free[class], m.next = m.next, nil
	return m
}

// put makes the memory of a message that has been removed from its queue available for reuse.
func (p *messagePool) put(m *unexpectedMessage) {
	class, _ := bufferClass(len(m.dataBuffer))
	m.data = nil
	m.next, p.free[class] = p.free[class], m
}

// Recv implements engine.Engine.
func (e *Engine) Recv(o *engine.Op) {
	e.BeginRecv(o)
	e.progressUntil(o)
	e.EndRecv()
}

// BeginRecv implements engine.StepEngine.
func (e *Engine) BeginRecv(o *engine.Op) { e.postReceive(o.EngineOp.(*op)) }

// EndRecv implements engine.StepEngine.
func (e *Engine) EndRecv() { e.spend(model.ProtoReceiveEpilogueCost, 1) }

// progressUntil is Rank.WaitUntilFinished without a call through an interface for each packet.
func (e *Engine) progressUntil(o *engine.Op) {
	if o.IsFinished() {
		return
	}
	if e.rank.HasService() {
		e.rank.WaitUntilFinished(o)
		return
	}
	e.rank.SetAwaitedOp(o)
	for !o.IsFinished() {
		e.dispatchPacket(e.nextPacket(true))
	}
	e.rank.SetAwaitedOp(nil)
}

// RunSteps implements engine.StepEngine.
func (e *Engine) RunSteps(s engine.Steps) {
	o := s.Advance()
	switch {
	case o == nil:
	case e.waiter == nil:
		for ; o != nil; o = s.Advance() {
			e.progressUntil(o)
		}
	default:
		e.rank.RecordCallStack()
		e.steps = s
		e.setAwaited(o)
		defer e.endSteps()
		e.waiter.AwaitPackets(e)
	}
}

// setAwaited sets the operation for which the rank waits in AwaitPackets; nil: none.
func (e *Engine) setAwaited(o *engine.Op) {
	e.awaited = o
	e.rank.SetAwaitedOp(o)
}

// endSteps is called when AwaitPackets has returned or panics.
func (e *Engine) endSteps() {
	e.awaited, e.steps = nil, nil
	if v := recover(); v != nil {
		panic(e.rank.LocateError(v))
	}
}

// HandlePackets implements device.PacketHandler.
func (e *Engine) HandlePackets() (done bool) {
	for {
		for e.awaited.IsFinished() {
			e.rank.SetAwaitedOp(nil)
			o := e.steps.Advance()
			if o == nil {
				return true
			}
			e.setAwaited(o)
		}
		if len(e.flow.peersDueCredit) > 0 {
			e.sendCredits()
		}
		if !e.waiter.HasPacket() {
			return false
		}
		e.dispatchPacket(e.port.Recv(true))
	}
}

// Irecv implements engine.Engine.
func (e *Engine) Irecv(o *engine.Op) {
	e.postReceive(o.EngineOp.(*op))
	e.spend(model.ProtoNonblockingReceiveCost, 1)
}

// postReceive starts a receive: it takes an unexpected message, or posts the receive.
func (e *Engine) postReceive(r *op) {
	e.spend(model.ProtoReceiveCost, 1)
	r.protocol, r.cancelRequested = nil, false
	x := match.Envelope{Context: r.Context, Source: r.Peer, Tag: r.Tag}
	r.postedEntry.Envelope = x
	if m := e.probeUnexpected(x); m != nil {
		e.unexpected.Remove(&m.Entry)
		e.handleMatch(r, &m.firstPacket)
		e.messages.put(m)
	} else {
		e.posted.Add(&r.postedEntry)
	}
}

func (e *Engine) probeUnexpected(x match.Envelope) *unexpectedMessage {
	e.spend(model.ProtoMatchCost, 1)
	if e.unexpected.First() == nil {
		return nil
	}
	if m := e.unexpected.Match(x); m != nil {
		return m.Value
	}
	return nil
}

// handleFirst handles the first packet of a message.
func (e *Engine) handleFirst(p *device.Packet) {
	w := &p.Head
	m := &e.firstPacket // a local variable would escape, because steps are called through pointers
	m.src, m.sendOp, m.size, m.tag, m.key = int32(p.Src), uint32(w[3]), int(w[2]), int32(w[0]>>32), device.Key(w[4])
	m.protocol, m.signature, m.data = e.job.protocols[uint8(w[0]>>8)], engine.Signature(w[3]>>32), p.Data
	x := match.Envelope{Context: uint32(w[1]), Source: m.src, Tag: m.tag}
	e.spend(model.ProtoMatchCost, 1)
	r := e.posted.First()
	if r == nil || !r.Matches(x) {
		r = e.posted.Match(x)
	}
	if r != nil {
		e.posted.Remove(r)
		e.handleMatch(r.Value, m)
		return
	}
	if model.Mode(w[0]>>16) == model.ReadyMode {
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.PeerName(m.src, x.Context), m.size, m.tag)
	}
	e.queueUnexpected(x, m)
}

// queueUnexpected queues a message until its receive is posted.
func (e *Engine) queueUnexpected(x match.Envelope, m *firstPacket) {
	n := len(m.data)
	sizeOnly := device.IsSizeOnly(m.data)
	if sizeOnly {
		n = 0
	}
	k := e.messages.take(n)
	k.Envelope, k.firstPacket = x, *m
	switch {
	case sizeOnly:
		e.rank.Copy(m.data, m.data) // takes the time of the copy
	case n > 0:
		k.data = k.dataBuffer[:n]
		e.rank.Copy(k.data, m.data)
	}
	e.unexpected.Add(&k.Entry)
}

// handleMatch continues a message that has been matched.
func (e *Engine) handleMatch(r *op, m *firstPacket) {
	if m.size > len(r.Buf) || m.signature != r.Signature {
		e.rank.CheckMessage(&r.Op, r.Context, m.src, m.tag, m.size, m.signature)
	}
	r.Peer, r.Tag, r.Size, r.protocol = m.src, m.tag, m.size, m.protocol
	if m.protocol.Eager {
		e.receiveEager(r, m)
	}
	if m.protocol.EndsWithFirstPacket {
		e.complete(r)
		return
	}
	m.protocol.OnMatch(e, r, m)
}

// receiveEager copies the data of an RM packet to the user, and frees its part of the window.
func (e *Engine) receiveEager(r *op, m *firstPacket) {
	e.copyPacketData(r.Buf, m.data)
	e.flow.noteFreed(int(m.src), len(m.data))
}

// copyPacketData copies data of a packet to its destination.
func (e *Engine) copyPacketData(to, data []byte) {
	e.rank.Copy(to, data)
	e.spend(model.ProtoUnpackCost, len(data))
}

// ChargeCompletionCheck implements engine.Engine.
func (e *Engine) ChargeCompletionCheck(found bool) {
	if found {
		e.spend(model.ProtoCompleteCost, 1)
	} else {
		e.spend(model.ProtoVainPollCost, 1)
	}
}

// Probe implements engine.Engine.
func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	x := match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	for {
		for i := 0; i < engine.MaxPolledPackets && e.rank.Progress(); i++ {
		}
		if m := e.probeUnexpected(x); m != nil {
			return engine.Status{Source: int(m.src), Tag: int(m.tag), Bytes: m.size}, true
		}
		if !block {
			return engine.Status{}, false
		}
		e.rank.AwaitProgress()
	}
}

// UnexpectedMessages implements engine.Engine.
func (e *Engine) UnexpectedMessages(context uint32) (int, *engine.UnexpectedMessage) {
	return engine.CountUnexpected(&e.unexpected, context, (*unexpectedMessage).arrival)
}

// CancellableMessage implements engine.Engine. It omits messages that were complete when they left.
func (e *Engine) CancellableMessage() *engine.UnexpectedMessage {
	return engine.FindCancellable(&e.unexpected, func(m *unexpectedMessage) bool { return !m.protocol.EndsWithFirstPacket }, (*unexpectedMessage).arrival)
}

func (m *unexpectedMessage) arrival() *engine.UnexpectedMessage {
	return &engine.UnexpectedMessage{Source: int(m.src), Tag: int(m.tag), Bytes: m.size, Context: m.Context}
}
