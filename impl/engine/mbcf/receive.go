package mbcf

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// message is one that comes by the FIFO, or that has come and has no receive.
type message struct {
	match.Entry[*message]
	mode   model.Mode
	sign   engine.Signature
	from   uint32 // the sender's operation
	serial uint32
	next   uint32 // request that its sender expects
	size   int
	room   []byte // temporary buffer
	to     *op    // the receive into whose buffer it goes; nil: into the temporary buffer
	got    int    // bytes that have come
	recall bool   // its sender has cancelled it
	link   *message
}

// Irecv starts a receive: with a message that has come, or by a request.
func (e *Engine) Irecv(x *engine.Op) {
	e.fabric.enter()
	defer e.fabric.leave()
	e.receive(x.Self.(*op))
}

func (e *Engine) Recv(x *engine.Op) {
	e.Irecv(x)
	e.rank.Await(x)
}

func (e *Engine) receive(o *op) {
	e.spend(model.MBCFReceive)
	o.cancel, o.live = 0, false
	o.posted.Envelope = match.Envelope{Context: o.Context, Source: o.Peer, Tag: o.Tag}
	if m := e.arrived.Match(o.posted.Envelope); m != nil { // step 1
		e.arrived.Remove(m)
		e.deliver(o, m.Value)
		e.drop(m.Value)
		return
	}
	e.pend(o)
	from := o.Peer
	if e.skip&everySerial != 0 {
		from = engine.Any
	}
	e.fabric.drain(from, o) // step 2
	posted := o.list == nil || e.skip&everySerial != 0 && len(e.dirty) > 0
	for _, p := range e.dirty {
		posted = posted || p.rank == o.Peer
	}
	if o.list == nil && e.skip&repostEarly != 0 {
		e.forgetDrained()
	}
	e.repost() // step 3
	if !posted {
		e.post(o) // step 4
	}
}

// pend adds a receive to those that are pending.
func (e *Engine) pend(o *op) {
	e.posted.Add(&o.posted)
	e.number++
	o.number = e.number
	if o.Peer == engine.Any {
		e.wild++
		e.wilds.add(o)
		return
	}
	e.peer(o.Peer).receives.add(o)
}

// bind takes a receive from those that are pending: a message is for it.
func (e *Engine) bind(o *op) {
	e.posted.Remove(&o.posted)
	o.list.remove(o)
	o.live, o.cancel = false, 0
}

// post posts a request for a receive that is the last one pending. A receive behind one from any
// source is not posted, but uses a serial, so that none behind it is valid before the sender's
// next message by the FIFO.
func (e *Engine) post(o *op) {
	if o.Peer == engine.Any || o.Peer == e.self && !e.ownQueue || e.size.requests == 0 {
		return
	}
	p := e.peer(o.Peer)
	if p.partial != nil { // its end lets all be posted
		return
	}
	if e.skip&wildSerial == 0 {
		if p.wild != e.wild {
			p.reqNo++
			p.wild = e.wild
		}
		if e.wilds.head != nil {
			p.reqNo++
			return
		}
	}
	e.request(p, o)
}

// request puts a request for a receive into the FIFO of its source.
func (e *Engine) request(p *peer, o *op) {
	o.serial, o.live = p.reqNo, true
	p.reqNo++
	e.counts[requested]++
	e.spend(model.MBCFPost)
	e.fabric.post(p, o, head{kind: kindRequest, tag: o.Tag, context: o.Context, serial: o.serial, other: p.accepted, from: o.ID(), size: len(o.Buf)})
}

// drained notes that a message was taken from the FIFO of a rank.
func (e *Engine) drained(p *peer) {
	if !p.drained {
		p.drained = true
		e.dirty = append(e.dirty, p)
	}
}

// repost posts the receives from ranks again whose FIFOs were drained: their requests are stale.
// Requests to other ranks are not, and a second one for the same buffer would let two messages into
// it.
func (e *Engine) repost() {
	if len(e.dirty) > 0 && e.skip&ownSource != 0 {
		e.dirty = append(e.dirty[:0], e.all...)
	}
	for _, p := range e.dirty {
		if p.partial == nil {
			e.postAll(p)
		}
	}
	e.forgetDrained()
}

func (e *Engine) forgetDrained() {
	for _, p := range e.dirty {
		p.drained = false
	}
	e.dirty = e.dirty[:0]
}

// postAll posts the receives from a rank, up to the first receive from any source. Their earlier
// requests are stale, so that one whose cancel is under way has no message.
func (e *Engine) postAll(p *peer) {
	p.wild = e.wild
	for o := p.receives.head; o != nil; {
		next := o.next
		switch {
		case o.cancel > 0:
			e.unpost(o)
		case e.size.requests == 0:
			return
		case e.wilds.head != nil && e.wilds.head.number < o.number && e.skip&wildStops == 0:
			p.reqNo++
			return
		default:
			e.request(p, o)
		}
		o = next
	}
}

// unpost ends a pending receive without a message.
func (e *Engine) unpost(o *op) {
	e.bind(o)
	e.fabric.forget(o)
	e.rank.Cancelled(&o.Op)
}

// accept takes in the header of a message from the FIFO of a rank. The serials of requests that
// were not answered are stale.
func (e *Engine) accept(p *peer, h *head) *message {
	for o := p.receives.head; o != nil; o = o.next {
		o.live = false
	}
	p.partial = e.message(p.rank, h)
	e.pair(p.partial)
	return p.partial
}

// message returns a message whose header has come, and whose data is dropped unless pair says more.
func (e *Engine) message(src int32, h *head) *message {
	e.spend(model.MBCFHandle)
	m := e.spare
	if m == nil {
		m = new(message)
		m.Value = m
	} else {
		e.spare = m.link
	}
	m.Envelope = match.Envelope{Context: h.context, Source: src, Tag: h.tag}
	m.mode, m.sign, m.from, m.serial, m.next, m.size, m.got, m.to, m.recall = h.mode, h.sign, h.from, h.serial, h.other, h.size, 0, nil, true
	return m
}

// pair finds the receive of a message, or a temporary buffer, unless its sender has cancelled it.
func (e *Engine) pair(m *message) {
	o := e.posted.Match(m.Envelope)
	if e.recalled(m, o != nil) {
		return
	}
	if o != nil {
		e.bind(o.Value)
		e.rank.Check(&o.Value.Op, m.Context, m.Source, m.Tag, m.size, m.sign)
		m.to, m.recall = o.Value, false
		return
	}
	if m.mode == model.Ready {
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.Name(m.Source, m.Context), m.size, m.Tag)
	}
	e.counts[temporary]++
	if cap(m.room) < m.size {
		m.room = make([]byte, m.size)
	}
	m.room, m.recall = m.room[:m.size], false
}

// add takes in data of a message.
func (e *Engine) add(m *message, b []byte) {
	switch {
	case m.recall:
	case m.to != nil:
		e.rank.Copy(m.to.Buf[m.got:], b)
	default:
		e.rank.Copy(m.room[m.got:], b)
	}
	m.got += len(b)
}

// came completes the arrival of a message whose data has all arrived. Its receive may have been
// posted meanwhile.
func (e *Engine) came(m *message) {
	switch {
	case m.recall:
	case m.to != nil:
		e.met(m.to, m)
	default:
		o := e.posted.Match(m.Envelope)
		if o == nil {
			e.arrived.Add(&m.Entry)
			return
		}
		e.bind(o.Value)
		e.deliver(o.Value, m)
	}
	e.drop(m)
}

// deliver gives a message in a temporary buffer to its receive.
func (e *Engine) deliver(o *op, m *message) {
	e.rank.Check(&o.Op, m.Context, m.Source, m.Tag, m.size, m.sign)
	e.rank.Copy(o.Buf, m.room)
	e.met(o, m)
}

// met completes a receive whose data has arrived, and notifies the sender of a synchronous message.
func (e *Engine) met(o *op, m *message) {
	if m.mode == model.Synchronous {
		h := head{kind: kindACK, from: m.from, serial: m.serial}
		if m.Source == e.self {
			e.acknowledged(&h)
		} else {
			e.send(int(m.Source), &h, nil)
		}
	}
	e.finish(o, m.Source, m.Tag, m.size)
}

// finish completes a receive.
func (e *Engine) finish(o *op, src, tag int32, size int) {
	o.Peer, o.Tag, o.Size = src, tag, size
	e.fabric.forget(o)
	e.rank.Complete(&o.Op)
}

// answered completes a receive that a remote write has answered.
func (e *Engine) answered(o *op, src, tag int32, size int, s engine.Signature) {
	e.spend(model.MBCFHandle)
	e.bind(o)
	e.rank.Check(&o.Op, o.Context, src, tag, size, s)
	e.finish(o, src, tag, size)
}

// taken notes that a message of a rank was taken from the FIFO as a whole.
func (e *Engine) taken(p *peer, m *message) {
	p.partial = nil
	p.accepted, p.reqNo = m.serial, m.next
	p.wild = e.wild
	e.drained(p)
	e.came(m)
}

// whole takes in a message of this rank itself.
func (e *Engine) whole(h *head, b []byte) {
	m := e.message(e.self, h)
	e.pair(m)
	e.add(m, b)
	e.came(m)
}

// drop keeps the memory of a message for the next one.
func (e *Engine) drop(m *message) { m.link, m.to, e.spare = e.spare, nil, m }

// send sends a packet.
func (e *Engine) send(dst int, h *head, b []byte) {
	e.packet = device.Packet{Head: h.words(), Data: b}
	e.port.Send(dst, &e.packet)
}
