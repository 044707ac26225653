package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// Arrived is a message that has arrived, or the first packet of one. Head is what its engine knows
// of it.
type Arrived[H any] struct {
	match.Entry[*Arrived[H]]
	Head H
	Src  int
	Size int // of the message
	Data []byte

	memory []byte // for data that waits for a receive, kept for the next message
	next   *Arrived[H]
}

func (m *Arrived[H]) arrival() *Arrival {
	return &Arrival{Source: m.Src, Tag: int(m.Tag), Bytes: m.Size, Context: m.Context}
}

// Inbox is the posted receives of a rank, each in a value R, and the messages that have arrived and
// have no receive: for engines that match where messages arrive. The zero value is empty.
type Inbox[R, H any] struct {
	Posted  match.Queue[R]
	Waiting match.Queue[*Arrived[H]]
	spare   *Arrived[H]
}

// Arrive takes in a message of size bytes and returns it with the first receive that matches, which
// is then no longer posted; the message's data is that of the packet. If no receive matches, it
// returns nil for the receive and queues the message as unexpected, with a copy of its data.
func (x *Inbox[R, H]) Arrive(p *device.Packet, h H, context uint32, tag int32, size int) (*Arrived[H], *match.Entry[R]) {
	m := x.spare
	if m == nil {
		m = new(Arrived[H])
		m.Value = m
	} else {
		x.spare = m.next
	}
	m.Head, m.Src, m.Size, m.Data = h, p.Src, size, p.Data
	m.Envelope = match.Envelope{Context: context, Source: int32(p.Src), Tag: tag}
	if o := x.Posted.Match(m.Envelope); o != nil {
		x.Posted.Remove(o)
		return m, o
	}
	m.memory = append(m.memory[:0], p.Data...)
	m.Data = m.memory
	x.Waiting.Add(&m.Entry)
	return m, nil
}

// Post posts the receive of an operation, unless a message waits for it, which it returns.
func (x *Inbox[R, H]) Post(o *Op, r *match.Entry[R]) *Arrived[H] {
	r.Envelope = match.Envelope{Context: o.Context, Source: o.Peer, Tag: o.Tag}
	if m := x.Waiting.Match(r.Envelope); m != nil {
		x.Waiting.Remove(m)
		return m.Value
	}
	x.Posted.Add(r)
	return nil
}

// Drop keeps the memory of a message that a receive has taken for the next one.
func (x *Inbox[R, H]) Drop(m *Arrived[H]) { m.Data, m.next, x.spare = nil, x.spare, m }

// Withdraw removes the first message of a rank that waits for a receive and is the one asked for.
// It reports whether there was one.
func (x *Inbox[R, H]) Withdraw(src int, is func(h *H) bool) bool {
	for m := range x.Waiting.All() {
		if m := m.Value; m.Src == src && is(&m.Head) {
			x.Waiting.Remove(&m.Entry)
			x.Drop(m)
			return true
		}
	}
	return false
}

// Probe is Engine.Probe, where each look costs so much.
func (x *Inbox[R, H]) Probe(r *Rank, cost model.CostKey, src int, context uint32, tag int, block bool) (Status, bool) {
	wanted := match.Envelope{Context: context, Source: int32(src), Tag: int32(tag)}
	for {
		for i := 0; i < Look && r.engine.Progress(false); i++ {
		}
		r.port.Spend(cost, 1)
		if m := x.Waiting.Match(wanted); m != nil {
			return Status{Source: m.Value.Src, Tag: int(m.Tag), Bytes: m.Value.Size}, true
		}
		if !block {
			return Status{}, false
		}
		r.engine.Progress(true)
	}
}

// Unreceived is Engine.Unreceived.
func (x *Inbox[R, H]) Unreceived(context uint32) (int, *Arrival) {
	return Unreceived(&x.Waiting, context, (*Arrived[H]).arrival)
}

// Unsettled is Engine.Unsettled, where senders may cancel messages that are open.
func (x *Inbox[R, H]) Unsettled(open func(h *H) bool) *Arrival {
	return Unsettled(&x.Waiting, func(m *Arrived[H]) bool { return open(&m.Head) }, (*Arrived[H]).arrival)
}

// Unreceived is Engine.Unreceived of an engine that keeps messages without a receive in a queue.
func Unreceived[T any](q *match.Queue[T], context uint32, arrival func(T) *Arrival) (int, *Arrival) {
	m := q.First()
	if context != AnyContext {
		m = q.Match(match.Envelope{Context: context, Source: match.Any, Tag: match.Any})
	}
	if m == nil {
		return q.Len(), nil
	}
	return q.Len(), arrival(m.Value)
}

// Unsettled is Engine.Unsettled of such an engine, whose senders may cancel messages that are open.
func Unsettled[T any](q *match.Queue[T], open func(T) bool, arrival func(T) *Arrival) *Arrival {
	for m := range q.All() {
		if open(m.Value) {
			return arrival(m.Value)
		}
	}
	return nil
}
