package mbcf

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// Send sends a message. A standard one whose data leaves with a packet needs no operation.
func (e *Engine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	if e.packets == nil || m != model.Standard || !e.packets.sends(buf, s, int32(dst), context, int32(tag)) {
		e.rank.SendAndAwait(m, buf, s, dst, context, tag)
	}
}

// Isend sends a message by remote write if its receiver has asked for it, and by the FIFO if not. A
// buffered message takes its place in the attached buffer, and is sent from there.
func (e *Engine) Isend(o *engine.Op) {
	e.fabric.enter()
	defer e.fabric.leave()
	e.spend(model.MBCFSend)
	if o.Mode != model.Buffered {
		e.start(o.Self.(*op))
		return
	}
	e.start(e.rank.Buffer(o).Self.(*op))
	e.rank.Complete(o)
}

// start starts a send.
func (e *Engine) start(s *op) {
	e.renew(s)
	if s.Peer == e.self && !e.ownQueue {
		e.toSelf(s)
		return
	}
	p := e.peer(s.Peer)
	if p.blocked {
		p.out = append(p.out, s)
		return
	}
	e.begin(p, s)
}

// renew forgets what a send was used for before.
func (e *Engine) renew(s *op) { s.cancel, s.acked, s.queued, s.serial = 0, false, false, 0 }

// begin lets a message leave.
func (e *Engine) begin(p *peer, s *op) {
	if r := e.claim(p, s.Context, s.Tag, s.Size); r != nil {
		e.fabric.write(p, s, r)
		return
	}
	e.fabric.enqueue(p, s)
}

// unblock lets the sends go on that have waited behind another to the same rank.
func (e *Engine) unblock(p *peer) {
	p.blocked = false
	n := 0
	for n < len(p.out) && !p.blocked {
		n++
		e.begin(p, p.out[n-1])
	}
	p.out = slices.Delete(p.out, 0, n)
}

// left ends a send whose message is in the FIFO, unless it waits for its receive.
func (e *Engine) left(s *op) {
	s.queued = false
	switch {
	case s.Mode != model.Synchronous || s.acked:
		s.cancel = 0
		e.rank.Complete(&s.Op)
	case s.cancel > 0:
		e.recall(s)
	}
}

// acknowledged ends a synchronous send: its receive is found. Its message has left, which may not
// be known yet.
func (e *Engine) acknowledged(h *head) {
	s := e.ops[h.from]
	s.acked, s.cancel = true, 0
	if !s.queued {
		e.rank.Complete(&s.Op)
	}
}

// claim returns the request that the receiver has posted for a message, or nil if there is none
// that may be used. All that come before it are dropped: a request that does not match is never
// kept, and as the next request does not move, those behind it are dropped as well.
func (e *Engine) claim(p *peer, context uint32, tag int32, size int) *request {
	for {
		r := e.fabric.request(p)
		if r == nil {
			return nil
		}
		e.spend(model.MBCFTake)
		fresh := r.accepted == p.sent || e.skip&freshness != 0
		next := r.serial == p.nextReq || e.skip&succession != 0
		if fresh && next && !(p.void.on && p.void.serial == r.serial) && r.matches(context, tag, size) {
			p.nextReq = r.serial + 1
			e.counts[written]++
			e.counts[writtenBytes] += int64(size)
			return r
		}
		e.counts[stale]++
	}
}

// matches reports whether a request is for a message. One that is too long goes by the FIFO, so
// that its receiver finds the mistake.
func (r *request) matches(context uint32, tag int32, size int) bool {
	return r.context == context && (r.tag == match.Any || r.tag == tag) && size <= r.size
}

// next gives a send its place in the FIFO, and returns the header of its message.
func (e *Engine) next(p *peer, s *op) head {
	h := e.place(p, head{mode: s.Mode, tag: s.Tag, context: s.Context, sign: s.Sign, from: s.ID(), size: s.Size})
	s.serial = h.serial
	return h
}

// place gives a message with a header its place in the FIFO.
func (e *Engine) place(p *peer, h head) head {
	p.sent++
	p.void.on = false
	e.counts[queued]++
	e.counts[queuedBytes] += int64(h.size)
	h.kind, h.serial, h.other = kindMessage, p.sent, p.nextReq
	return h
}

// toSelf sends a message of a rank to itself where there are no FIFOs for it.
func (e *Engine) toSelf(s *op) {
	h := head{kind: kindMessage, mode: s.Mode, tag: s.Tag, context: s.Context, sign: s.Sign, from: s.ID(), size: s.Size}
	e.counts[queued]++
	e.counts[queuedBytes] += int64(s.Size)
	e.whole(&h, s.Buf)
	if s.Mode != model.Synchronous {
		e.rank.Complete(&s.Op)
	}
}
