package proto

import (
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
	dataBuffer []byte // memory of data
	next       *unexpectedMessage
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
		e.recycleUnexpected(m)
	} else {
		e.posted.Add(&r.postedEntry)
	}
}

// recycleUnexpected makes an unexpected message that has been removed from the queue available for
// reuse.
func (e *Engine) recycleUnexpected(m *unexpectedMessage) {
	m.data = nil
	m.next, e.freeUnexpected = e.freeUnexpected, m
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
	k := e.freeUnexpected
	if k == nil {
		k = &unexpectedMessage{}
		k.Value = k
	} else {
		e.freeUnexpected = k.next
		k.next = nil
	}
	k.Envelope, k.firstPacket = x, *m
	switch n := len(m.data); {
	case n == 0:
	case device.IsSizeOnly(m.data):
		e.rank.Copy(m.data, m.data) // takes the time of the copy
	default:
		if cap(k.dataBuffer) < n {
			k.dataBuffer = make([]byte, n)
		}
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
