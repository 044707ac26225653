package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// ArrivedMessage is a message that has arrived, or the first packet of one. Head is what its engine
// knows of it.
type ArrivedMessage[H any] struct {
	match.Entry[*ArrivedMessage[H]]
	Head H
	Src  int
	Size int // of the message
	Data []byte

	memory []byte // for data that waits for a receive, kept for the next message
	next   *ArrivedMessage[H]
}

func (m *ArrivedMessage[H]) describe() *UnexpectedMessage {
	return &UnexpectedMessage{Source: m.Src, Tag: int(m.Tag), Bytes: m.Size, Context: m.Context}
}

// Inbox is the posted receives of a rank, each in a value R, and the messages that have arrived and
// have no receive: for engines that match where messages arrive. The zero value is empty.
type Inbox[R, H any] struct {
	Posted       match.Queue[R]
	Unexpected   match.Queue[*ArrivedMessage[H]]
	freeMessages *ArrivedMessage[H]
}

// Arrive takes in a message of size bytes and returns it with the first receive that matches, which
// is then no longer posted; the message's data is that of the packet. If no receive matches, it
// returns nil for the receive and queues the message as unexpected, with a copy of its data.
func (x *Inbox[R, H]) Arrive(p *device.Packet, h H, context uint32, tag int32, size int) (*ArrivedMessage[H], *match.Entry[R]) {
	m := x.freeMessages
	if m == nil {
		m = new(ArrivedMessage[H])
		m.Value = m
	} else {
		x.freeMessages = m.next
	}
	m.Head, m.Src, m.Size, m.Data = h, p.Src, size, p.Data
	m.Envelope = match.Envelope{Context: context, Source: int32(p.Src), Tag: tag}
	if o := x.Posted.Match(m.Envelope); o != nil {
		x.Posted.Remove(o)
		return m, o
	}
	m.memory = append(m.memory[:0], p.Data...)
	m.Data = m.memory
	x.Unexpected.Add(&m.Entry)
	return m, nil
}

// Post posts the receive of an operation, unless a message waits for it, which it returns.
func (x *Inbox[R, H]) Post(o *Op, r *match.Entry[R]) *ArrivedMessage[H] {
	r.Envelope = match.Envelope{Context: o.Context, Source: o.Peer, Tag: o.Tag}
	if m := x.Unexpected.Match(r.Envelope); m != nil {
		x.Unexpected.Remove(m)
		return m.Value
	}
	x.Posted.Add(r)
	return nil
}

// Recycle keeps the memory of a message that a receive has taken for the next one.
func (x *Inbox[R, H]) Recycle(m *ArrivedMessage[H]) {
	m.Data, m.next, x.freeMessages = nil, x.freeMessages, m
}

// Withdraw removes the first message of a rank that waits for a receive and is the one asked for.
// It reports whether there was one.
func (x *Inbox[R, H]) Withdraw(src int, is func(h *H) bool) bool {
	for m := range x.Unexpected.All() {
		if m := m.Value; m.Src == src && is(&m.Head) {
			x.Unexpected.Remove(&m.Entry)
			x.Recycle(m)
			return true
		}
	}
	return false
}

// Probe is Engine.Probe, where each look costs so much.
func (x *Inbox[R, H]) Probe(r *Rank, cost model.CostKey, src int, context uint32, tag int, block bool) (Status, bool) {
	wanted := match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	for {
		for i := 0; i < MaxPolledPackets && r.engine.Progress(false); i++ {
		}
		r.port.Spend(cost, 1)
		if m := x.Unexpected.Match(wanted); m != nil {
			return Status{Source: m.Value.Src, Tag: int(m.Tag), Bytes: m.Value.Size}, true
		}
		if !block {
			return Status{}, false
		}
		r.engine.Progress(true)
	}
}

// CountUnexpected is Engine.CountUnexpected.
func (x *Inbox[R, H]) UnexpectedMessages(context uint32) (int, *UnexpectedMessage) {
	return CountUnexpected(&x.Unexpected, context, (*ArrivedMessage[H]).describe)
}

// FindCancellable is Engine.FindCancellable, where senders may cancel messages that are open.
func (x *Inbox[R, H]) CancellableMessage(open func(h *H) bool) *UnexpectedMessage {
	return FindCancellable(&x.Unexpected, func(m *ArrivedMessage[H]) bool { return open(&m.Head) }, (*ArrivedMessage[H]).describe)
}

// CountUnexpected is Engine.CountUnexpected of an engine that keeps messages without a
// receive in a queue.
func CountUnexpected[T any](q *match.Queue[T], context uint32, arrival func(T) *UnexpectedMessage) (int, *UnexpectedMessage) {
	m := q.First()
	if context != AnyContext {
		m = q.Match(match.Envelope{Context: context, Source: match.AnySourceOrTag, Tag: match.AnySourceOrTag})
	}
	if m == nil {
		return q.Len(), nil
	}
	return q.Len(), arrival(m.Value)
}

// FindCancellable is Engine.FindCancellable of such an engine, whose senders may cancel messages
// that are open.
func FindCancellable[T any](q *match.Queue[T], open func(T) bool, arrival func(T) *UnexpectedMessage) *UnexpectedMessage {
	for m := range q.All() {
		if open(m.Value) {
			return arrival(m.Value)
		}
	}
	return nil
}
