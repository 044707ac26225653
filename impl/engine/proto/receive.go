package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// msg is what a receiver knows of a message from its first packet.
type msg struct {
	src      int32
	from     uint32 // the sender's operation
	size     int
	tag      int32
	sign     engine.Signature
	key      device.Key
	protocol *Protocol
	data     []byte
}

// unexpected is a message that came before its receive.
type unexpected struct {
	match.Entry[*unexpected]
	msg
	buf  []byte // memory of data
	next *unexpected
}

// Recv implements engine.Engine.
func (e *Engine) Recv(o *engine.Op) {
	e.post(o.Self.(*op))
	e.await(o)
	e.spend(model.ProtoReceived, 1)
}

// await is Rank.Await without a call through an interface for each packet.
func (e *Engine) await(o *engine.Op) {
	if o.Finished() {
		return
	}
	e.rank.Waiting(o)
	for !o.Finished() {
		e.dispatch(e.next(true))
	}
	e.rank.Waiting(nil)
}

// Irecv implements engine.Engine.
func (e *Engine) Irecv(o *engine.Op) {
	e.post(o.Self.(*op))
	e.spend(model.ProtoPosted, 1)
}

// post starts an operation that receives: with a message that came early, or as one that waits.
func (e *Engine) post(r *op) {
	e.spend(model.ProtoReceive, 1)
	r.protocol, r.cancelling = nil, false
	x := match.Envelope{Context: r.Context, Source: r.Peer, Tag: r.Tag}
	r.posted.Envelope = x
	if m := e.lookUnexpected(x); m != nil {
		e.unexpected.Remove(&m.Entry)
		e.pair(r, &m.msg)
		e.drop(m)
	} else {
		e.posted.Add(&r.posted)
	}
}

// drop gives back an unexpected message that has been taken out of the queue.
func (e *Engine) drop(m *unexpected) {
	m.data = nil
	m.next, e.spare = e.spare, m
}

func (e *Engine) lookUnexpected(x match.Envelope) *unexpected {
	e.spend(model.ProtoMatch, 1)
	if e.unexpected.First() == nil {
		return nil
	}
	if m := e.unexpected.Match(x); m != nil {
		return m.Value
	}
	return nil
}

// first takes in the first packet of a message.
func (e *Engine) first(p *device.Packet) {
	w := &p.Head
	m := &e.met // not a variable of its own: steps are called through pointers, so it would escape
	m.src, m.from, m.size, m.tag, m.key = int32(p.Src), uint32(w[3]), int(w[2]), int32(w[0]>>32), device.Key(w[4])
	m.protocol, m.sign, m.data = e.job.table[uint8(w[0]>>8)], engine.Signature(w[3]>>32), p.Data
	x := match.Envelope{Context: uint32(w[1]), Source: m.src, Tag: m.tag}
	e.spend(model.ProtoMatch, 1)
	r := e.posted.First()
	if r == nil || !r.Matches(x) {
		r = e.posted.Match(x)
	}
	if r != nil {
		e.posted.Remove(r)
		e.pair(r.Value, m)
		return
	}
	if model.Mode(w[0]>>16) == model.Ready {
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.Name(m.src, x.Context), m.size, m.tag)
	}
	e.keep(x, m)
}

// keep keeps a message until its receive comes.
func (e *Engine) keep(x match.Envelope, m *msg) {
	k := e.spare
	if k == nil {
		k = &unexpected{}
		k.Value = k
	} else {
		e.spare = k.next
		k.next = nil
	}
	k.Envelope, k.msg = x, *m
	if n := len(m.data); n > 0 {
		if cap(k.buf) < n {
			k.buf = make([]byte, n)
		}
		k.data = k.buf[:n]
		e.rank.Copy(k.data, m.data)
	}
	e.unexpected.Add(&k.Entry)
}

// pair goes on with a message whose receive is found.
func (e *Engine) pair(r *op, m *msg) {
	if m.size > len(r.Buf) || m.sign != r.Sign {
		e.rank.Check(&r.Op, r.Context, m.src, m.tag, m.size, m.sign)
	}
	r.Peer, r.Tag, r.Size, r.protocol = m.src, m.tag, m.size, m.protocol
	if m.protocol.Eager {
		e.take(r, m)
	}
	if m.protocol.Forgets {
		e.complete(r)
		return
	}
	m.protocol.Matched(e, r, m)
}

// take copies the data of an RM to the user and frees its place in the window.
func (e *Engine) take(r *op, m *msg) {
	e.unpack(r.Buf, m.data)
	e.flow.freed(int(m.src), len(m.data))
}

// unpack copies what came with a packet to where it is to be.
func (e *Engine) unpack(to, data []byte) {
	e.rank.Copy(to, data)
	e.spend(model.ProtoUnpack, len(data))
}

// Looked implements engine.Engine.
func (e *Engine) Looked(found bool) {
	if found {
		e.spend(model.ProtoComplete, 1)
	} else {
		e.spend(model.ProtoPoll, 1)
	}
}

// Probe implements engine.Engine.
func (e *Engine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	x := match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	for {
		for i := 0; i < engine.Look && e.Progress(false); i++ {
		}
		if m := e.lookUnexpected(x); m != nil {
			return engine.Status{Source: int(m.src), Tag: int(m.tag), Bytes: m.size}, true
		}
		if !block {
			return engine.Status{}, false
		}
		e.Progress(true)
	}
}

// Unreceived implements engine.Engine.
func (e *Engine) Unreceived(context uint32) (int, *engine.Arrival) {
	return engine.Unreceived(&e.unexpected, context, (*unexpected).arrival)
}

// Unsettled implements engine.Engine: what its sender has forgotten is not cancelled.
func (e *Engine) Unsettled() *engine.Arrival {
	return engine.Unsettled(&e.unexpected, func(m *unexpected) bool { return !m.protocol.Forgets }, (*unexpected).arrival)
}

func (m *unexpected) arrival() *engine.Arrival {
	return &engine.Arrival{Source: int(m.src), Tag: int(m.tag), Bytes: m.size, Context: m.Context}
}
