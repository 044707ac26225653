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

// recall is a message in the FIFO that its sender has cancelled.
type recall struct {
	head
	asked bool // the answer depends on whether a receive takes the message
}

func (e *Engine) Cancel(x *engine.Op) {
	e.fabric.enter()
	defer e.fabric.leave()
	o := x.Self.(*op)
	if o.cancel > 0 {
		return
	}
	e.cancels++
	switch p := e.peers[o.Peer]; {
	case o.Receive && o.list == nil: // it has a message
	case o.Receive && !o.live:
		e.unpost(o)
	case o.Receive:
		o.cancel = e.cancels
		e.ask(head{kind: kindVoid, serial: o.serial, other: p.accepted, from: o.ID(), to: o.cancel}, o)
	case o.Peer == e.self && !e.ownQueue:
		e.discardOwn(o)
	case slices.Contains(p.out, o):
		p.out = slices.Delete(p.out, slices.Index(p.out, o), slices.Index(p.out, o)+1)
		e.rank.Cancelled(x)
	case o.queued:
		o.cancel = e.cancels
		e.fabric.recall(p, o)
	case o.serial > 0: // a synchronous message, which is in the FIFO
		o.cancel = e.cancels
		e.recall(o)
	}
}

// recall asks the receiver of a message in the FIFO to discard it.
func (e *Engine) recall(s *op) {
	e.ask(head{kind: kindRecall, tag: s.Tag, context: s.Context, serial: s.serial, from: s.ID(), to: s.cancel}, s)
}

// ask tells another rank of a cancel, and the world that its end is of interest. A cancel of a
// message from the rank to itself is decided at once.
func (e *Engine) ask(h head, o *op) {
	e.asked = h
	if o.Peer == e.self {
		e.told(e.self, &e.asked)
		return
	}
	e.fabric.tell(int(o.Peer), &e.asked)
	e.port.NotifyExit(int(o.Peer), (&head{kind: kindExit}).words())
}

// discardOwn cancels a synchronous message of a rank to itself that has no receive.
func (e *Engine) discardOwn(s *op) {
	for m := range e.arrived.All() {
		if m.Source == e.self && m.Value.from == s.ID() && m.Value.mode == model.Synchronous {
			e.arrived.Remove(m)
			e.drop(m.Value)
			e.rank.Cancelled(&s.Op)
			return
		}
	}
}

// told decides a cancel of another rank. It may run in a handler, so it neither waits nor receives,
// nor completes operations.
func (e *Engine) told(src int32, h *head) {
	p := e.peer(src)
	if h.kind == kindVoid {
		e.answer(src, h, e.discardRequest(p, h))
		return
	}
	for m := range e.arrived.All() {
		if m := m.Value; m.Source == src && m.serial == h.serial && m.mode == model.Synchronous {
			e.arrived.Remove(&m.Entry)
			e.drop(m)
			e.answer(src, h, true)
			return
		}
	}
	switch m := p.partial; {
	case m != nil && m.serial == h.serial:
		found := m.to == nil
		m.recall = m.recall || found
		e.answer(src, h, found)
	case !before(p.accepted, h.serial): // it has been received
		e.answer(src, h, false)
	case e.posted.Match(match.Envelope{Context: h.context, Source: src, Tag: h.tag}) != nil:
		p.recalls = append(p.recalls, recall{*h, true}) // a receive will take it, unless an earlier message does
	default:
		p.recalls = append(p.recalls, recall{*h, false})
		e.answer(src, h, true)
	}
}

// discardRequest discards a request, unless it is answered. If messages have gone by the FIFO since
// the request was posted, it never will be. A later request may have the same serial and be
// answered; then the receiver has numbered again, and its cancel has ended.
func (e *Engine) discardRequest(p *peer, h *head) bool {
	switch {
	case before(h.serial, p.nextReq):
		return false
	case h.other != p.sent:
		return true
	case !p.void.on || before(h.serial, p.void.serial):
		p.void = void{true, h.serial}
	}
	return true
}

func (e *Engine) answer(dst int32, h *head, found bool) {
	if dst == e.self {
		e.decided(&head{from: h.from, to: h.to, found: found})
		return
	}
	e.port.Send(int(dst), &device.Packet{Head: (&head{kind: kindAnswer, from: h.from, to: h.to, found: found}).words()})
}

// recalled reports whether the sender of a message has cancelled it, and answers if that depended
// on whether there is a receive.
func (e *Engine) recalled(m *message, received bool) bool {
	p := e.peers[m.Source]
	if p == nil || len(p.recalls) == 0 {
		return false
	}
	i := slices.IndexFunc(p.recalls, func(r recall) bool { return r.serial == m.serial })
	if i < 0 {
		return false
	}
	r := p.recalls[i]
	p.recalls = slices.Delete(p.recalls, i, i+1)
	if r.asked {
		e.answer(m.Source, &r.head, !received)
		return !received
	}
	return true
}

// decided takes in the answer to a cancel, unless the operation has ended otherwise.
func (e *Engine) decided(h *head) {
	o := e.ops[h.from]
	switch {
	case o.cancel != h.to || o.cancel == 0:
	case !h.found:
		o.cancel = 0
	default:
		e.cancelled(o)
	}
}

// cancelled ends an operation that is cancelled.
func (e *Engine) cancelled(o *op) {
	if o.Receive {
		e.unpost(o)
		return
	}
	o.cancel = 0
	e.rank.Cancelled(&o.Op)
}

// exited goes on without a rank whose program has ended: nothing more of it comes, so that it has
// done without what is being cancelled.
func (e *Engine) exited(rank int32) {
	p := e.peer(rank)
	e.fabric.ended(p)
	for _, o := range e.ops {
		if o.cancel > 0 && o.Peer == rank && !o.queued { // if its message is on the way, it will be asked for
			e.cancelled(o)
		}
	}
}

// control takes in a packet that is alike for all fabrics.
func (e *Engine) control(q *device.Packet, h *head) {
	switch h.kind {
	case kindACK:
		e.acknowledged(h)
	case kindAnswer:
		e.decided(h)
	case kindExit:
		e.exited(int32(q.Src))
	default:
		panic(fmt.Sprintf("mbcf: packet of unknown kind %d from rank %d", h.kind, q.Src))
	}
}
