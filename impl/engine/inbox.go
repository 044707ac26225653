package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// ArrivedMessage is a message that has arrived, or whose first packet has. Head is the engine's
// information about it.
type ArrivedMessage[H any] struct {
	match.Entry[*ArrivedMessage[H]]
	Head H
	Src  int
	Size int // total bytes of the message
	Data []byte

	memory []byte // for data that waits for a receive; reused
	next   *ArrivedMessage[H]
}

func (m *ArrivedMessage[H]) describe() *UnexpectedMessage {
	return &UnexpectedMessage{Source: m.Src, Tag: int(m.Tag), Bytes: m.Size, Context: m.Context}
}

// Inbox has the posted receives of a rank, each with a value R, and the unexpected messages. It is
// for engines that match messages when they arrive. The zero value is empty.
type Inbox[R, H any] struct {
	Posted       match.Queue[R]
	Unexpected   match.Queue[*ArrivedMessage[H]]
	freeMessages *ArrivedMessage[H]
}

// Arrive handles a message of size bytes. If a posted receive matches, it removes the first such
// receive and returns it with the message, whose data is that of the packet. Otherwise it returns
// nil for the receive and queues the message, with a copy of its data, as unexpected.
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
	if !device.IsSizeOnly(p.Data) {
		m.memory = append(m.memory[:0], p.Data...)
		m.Data = m.memory
	}
	x.Unexpected.Add(&m.Entry)
	return m, nil
}

// Post posts the receive of an operation. If an unexpected message matches, it returns that message
// instead.
func (x *Inbox[R, H]) Post(o *Op, r *match.Entry[R]) *ArrivedMessage[H] {
	r.Envelope = match.Envelope{Context: o.Context, Source: o.Peer, Tag: o.Tag}
	if m := x.Unexpected.Match(r.Envelope); m != nil {
		x.Unexpected.Remove(m)
		return m.Value
	}
	x.Posted.Add(r)
	return nil
}

// Recycle makes the memory of a received message available for reuse.
func (x *Inbox[R, H]) Recycle(m *ArrivedMessage[H]) {
	m.Data, m.next, x.freeMessages = nil, x.freeMessages, m
}

// Withdraw removes the first unexpected message from a rank for which is returns true. It reports
// whether there was one.
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

// Probe implements Engine.Probe. Each search is charged at cost.
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

// UnexpectedMessages implements Engine.UnexpectedMessages.
func (x *Inbox[R, H]) UnexpectedMessages(context uint32) (int, *UnexpectedMessage) {
	return CountUnexpected(&x.Unexpected, context, (*ArrivedMessage[H]).describe)
}

// CancellableMessage implements Engine.CancellableMessage. open says whether the sender may cancel
// a message.
func (x *Inbox[R, H]) CancellableMessage(open func(h *H) bool) *UnexpectedMessage {
	return FindCancellable(&x.Unexpected, func(m *ArrivedMessage[H]) bool { return open(&m.Head) }, (*ArrivedMessage[H]).describe)
}

// CountUnexpected implements Engine.UnexpectedMessages for an engine that keeps unexpected messages
// in a queue.
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

// FindCancellable implements Engine.CancellableMessage for such an engine. open says whether the
// sender may cancel a message.
func FindCancellable[T any](q *match.Queue[T], open func(T) bool, arrival func(T) *UnexpectedMessage) *UnexpectedMessage {
	for m := range q.All() {
		if open(m.Value) {
			return arrival(m.Value)
		}
	}
	return nil
}
