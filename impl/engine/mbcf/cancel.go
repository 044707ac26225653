package mbcf

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// A request may be answered while its receiver cancels the receive, and a message may be received
// while its sender cancels the send. So the other rank decides, in a handler. If the machine has
// signals, the handler runs even if its rank computes:
//
//	receiver            sender              sender              receiver
//	void ─────────────▶ is it answered?     recall ───────────▶ has it a receive?
//	     ◀───────────── answer                     ◀─────────── answer
//
// If the other rank has ended, there is no handler, and the world reports that.

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
	case o.Receive && o.list == nil: // a message is bound to it
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
	case o.serial > 0: // a synchronous message in the FIFO
		o.cancelSerial = e.lastCancelSerial
		e.cancelSend(o)
	}
}

// cancelSend asks the receiver of a message in the FIFO to discard it.
func (e *Engine) cancelSend(s *op) {
	e.requestCancel(head{kind: kindDiscardMessage, tag: s.Tag, context: s.Context, serial: s.serial, from: s.ID(), to: s.cancelSerial}, s)
}

// requestCancel sends a cancel to another rank, and subscribes to the end of that rank. A cancel of
// a rank's message to itself is decided at once.
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

// handleCancel decides a cancel by another rank. It may run in a signal handler, so it must not
// wait, receive, or complete operations.
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
		p.cancelledMessages = append(p.cancelledMessages, cancelledFIFOMessage{*h, true}) // it will be matched by a receive unless an earlier message is
	default:
		p.cancelledMessages = append(p.cancelledMessages, cancelledFIFOMessage{*h, false})
		e.sendCancelAnswer(src, h, true)
	}
}

// discardRequest discards a request unless it is answered. If messages have gone through the FIFO
// since the request was posted, it never will be. A later request may have the same serial and be
// answered; then the receiver has renumbered, and its cancel has ended.
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

// isCancelledMessage reports whether the sender of a message has cancelled it. It sends the answer,
// if that depended on a receive.
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

// handleCancelAnswer handles the answer to a cancel, unless the operation has ended otherwise.
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

// finishCancelled ends a cancelled operation.
func (e *Engine) finishCancelled(o *op) {
	if o.Receive {
		e.removePending(o)
		return
	}
	o.cancelSerial = 0
	e.rank.FinishCancelled(&o.Op)
}

// handlePeerExit handles the end of another rank's program. Nothing more arrives from it, so it has
// not received what is being cancelled.
func (e *Engine) handlePeerExit(rank int32) {
	p := e.peer(rank)
	e.transport.handlePeerExit(p)
	for _, o := range e.ops {
		if o.cancelSerial > 0 && o.Peer == rank && !o.isEnteringFIFO { // if its message is under way, that is checked later
			e.finishCancelled(o)
		}
	}
}

// handleControl handles a packet that is the same for all transports.
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
