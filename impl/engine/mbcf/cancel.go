package mbcf

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// A request may be answered while its receiver cancels the receive, and a message taken while its
// sender cancels the send. So the other side decides, in a handler that runs even if its rank
// computes, where the machine has signals:
//
//	receiver            sender              sender              receiver
//	void ─────────────▶ is it answered?     recall ───────────▶ has it a receive?
//	     ◀───────────── answer                     ◀─────────── answer
//
// If the other rank has ended, there is no handler any more, and the world says so.

// cancelledFIFOMessage is a message in the FIFO that its sender has cancelled.
type cancelledFIFOMessage struct {
	head
	dependsOnReceive bool // the answer depends on whether a receive takes the message
}

func (e *Engine) Cancel(x *engine.Op) {
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	o := x.EngineOp.(*op)
	if o.cancelSerial > 0 {
		return
	}
	e.lastCancelSerial++
	switch p := e.peers[o.Peer]; {
	case o.Receive && o.list == nil: // it has a message
	case o.Receive && !o.hasLiveRequest:
		e.removePending(o)
	case o.Receive:
		o.cancelSerial = e.lastCancelSerial
		e.requestCancel(head{kind: kindDiscardRequest, serial: o.serial, otherSerial: p.lastAcceptedSerial, from: o.ID(), to: o.cancelSerial}, o)
	case o.Peer == e.selfRank && !e.hasSelfFIFO:
		e.discardSelfMessage(o)
	case slices.Contains(p.blockedSends, o):
		p.blockedSends = slices.Delete(p.blockedSends, slices.Index(p.blockedSends, o), slices.Index(p.blockedSends, o)+1)
		e.rank.FinishCancelled(x)
	case o.isEnteringFIFO:
		o.cancelSerial = e.lastCancelSerial
		e.transport.recallMessage(p, o)
	case o.serial > 0: // a synchronous message, which is in the FIFO
		o.cancelSerial = e.lastCancelSerial
		e.cancelSend(o)
	}
}

// cancelSend asks the receiver of a message in the FIFO to discard it.
func (e *Engine) cancelSend(s *op) {
	e.requestCancel(head{kind: kindDiscardMessage, tag: s.Tag, context: s.Context, serial: s.serial, from: s.ID(), to: s.cancelSerial}, s)
}

// requestCancel tells another rank of a cancel, and the world that its end is of interest. A cancel
// of a message from the rank to itself is decided at once.
func (e *Engine) requestCancel(h head, o *op) {
	e.lastCancel = h
	if o.Peer == e.selfRank {
		e.handleCancel(e.selfRank, &e.lastCancel)
		return
	}
	e.transport.runAtPeer(int(o.Peer), &e.lastCancel)
	e.port.NotifyExit(int(o.Peer), (&head{kind: kindExit}).encode())
}

// discardSelfMessage cancels a synchronous message of a rank to itself that has no receive.
func (e *Engine) discardSelfMessage(s *op) {
	for m := range e.unexpected.All() {
		if m.Source == e.selfRank && m.Value.sendOp == s.ID() && m.Value.mode == model.SynchronousMode {
			e.unexpected.Remove(m)
			e.recycleMessage(m.Value)
			e.rank.FinishCancelled(&s.Op)
			return
		}
	}
}

// handleCancel decides a cancel of another rank. It may run in a handler, so it neither waits nor
// receives, nor completes operations.
func (e *Engine) handleCancel(src int32, h *head) {
	p := e.peer(src)
	if h.kind == kindDiscardRequest {
		e.sendCancelAnswer(src, h, e.discardRequest(p, h))
		return
	}
	for m := range e.unexpected.All() {
		if m := m.Value; m.Source == src && m.serial == h.serial && m.mode == model.SynchronousMode {
			e.unexpected.Remove(&m.Entry)
			e.recycleMessage(m)
			e.sendCancelAnswer(src, h, true)
			return
		}
	}
	switch m := p.partialMessage; {
	case m != nil && m.serial == h.serial:
		found := m.receive == nil
		m.cancelled = m.cancelled || found
		e.sendCancelAnswer(src, h, found)
	case !serialBefore(p.lastAcceptedSerial, h.serial): // it has been received
		e.sendCancelAnswer(src, h, false)
	case e.posted.Match(match.Envelope{Context: h.context, Source: src, Tag: h.tag}) != nil:
		p.cancelledMessages = append(p.cancelledMessages, cancelledFIFOMessage{*h, true}) // a receive will take it, unless an earlier message does
	default:
		p.cancelledMessages = append(p.cancelledMessages, cancelledFIFOMessage{*h, false})
		e.sendCancelAnswer(src, h, true)
	}
}

// discardRequest discards a request, unless it is answered. If messages have gone by the FIFO since
// the request was posted, it never will be. A later request may have the same serial and be
// answered; then the receiver has numbered again, and its cancel has ended.
func (e *Engine) discardRequest(p *peer, h *head) bool {
	switch {
	case serialBefore(h.serial, p.expectedRequest):
		return false
	case h.otherSerial != p.lastSentSerial:
		return true
	case !p.cancelledRequest.isActive || serialBefore(h.serial, p.cancelledRequest.serial):
		p.cancelledRequest = cancelledRequest{true, h.serial}
	}
	return true
}

func (e *Engine) sendCancelAnswer(dst int32, h *head, found bool) {
	if dst == e.selfRank {
		e.handleCancelAnswer(&head{from: h.from, to: h.to, found: found})
		return
	}
	e.port.Send(int(dst), &device.Packet{Head: (&head{kind: kindDiscardAnswer, from: h.from, to: h.to, found: found}).encode()})
}

// isCancelledMessage reports whether the sender of a message has cancelled it, and answers if that
// depended on whether there is a receive.
func (e *Engine) isCancelledMessage(m *message, received bool) bool {
	p := e.peers[m.Source]
	if p == nil || len(p.cancelledMessages) == 0 {
		return false
	}
	i := slices.IndexFunc(p.cancelledMessages, func(r cancelledFIFOMessage) bool { return r.serial == m.serial })
	if i < 0 {
		return false
	}
	r := p.cancelledMessages[i]
	p.cancelledMessages = slices.Delete(p.cancelledMessages, i, i+1)
	if r.dependsOnReceive {
		e.sendCancelAnswer(m.Source, &r.head, !received)
		return !received
	}
	return true
}

// handleCancelAnswer takes in the answer to a cancel, unless the operation has ended otherwise.
func (e *Engine) handleCancelAnswer(h *head) {
	o := e.ops[h.from]
	switch {
	case o.cancelSerial != h.to || o.cancelSerial == 0:
	case !h.found:
		o.cancelSerial = 0
	default:
		e.finishCancelled(o)
	}
}

// finishCancelled ends an operation that is cancelled.
func (e *Engine) finishCancelled(o *op) {
	if o.Receive {
		e.removePending(o)
		return
	}
	o.cancelSerial = 0
	e.rank.FinishCancelled(&o.Op)
}

// handlePeerExit goes on without a rank whose program has ended: nothing more of it comes, so that
// it has done without what is being cancelled.
func (e *Engine) handlePeerExit(rank int32) {
	p := e.peer(rank)
	e.transport.handlePeerExit(p)
	for _, o := range e.ops {
		if o.cancelSerial > 0 && o.Peer == rank && !o.isEnteringFIFO { // if its message is on the way, it will be asked for
			e.finishCancelled(o)
		}
	}
}

// handleControl takes in a packet that is alike for all fabrics.
func (e *Engine) handleControl(q *device.Packet, h *head) {
	switch h.kind {
	case kindACK:
		e.handleACK(h)
	case kindDiscardAnswer:
		e.handleCancelAnswer(h)
	case kindExit:
		e.handlePeerExit(int32(q.Src))
	default:
		panic(fmt.Sprintf("mbcf: packet of unknown kind %d from rank %d", h.kind, q.Src))
	}
}
