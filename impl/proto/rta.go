package proto

import "github.com/loggp/loggp/impl/device"

// RTA announces the message; the receiver reads it from the sender's memory and says so:
//
//	R →
//	  ⇐ M (pulled)
//	  ← ACK
//
// A library with a bounce buffer pulls piece by piece and copies each on. Al-Tawil and Moritz, section 2; equations (4) and (5).
var RTA = &Protocol{
	Name:        "RTA",
	Synchronous: true,
	Remote:      true,
	Start: func(e *Engine, s *Op) {
		e.stage(s)
		s.key = e.memory.Expose(s.data())
		e.sendR(s)
	},
	Matched: func(e *Engine, r *Op, m *msg) {
		r.reply, r.key, r.pos = m.from, m.key, 0
		e.pull(r)
	},
	Done: func(e *Engine, r *Op) {
		if r.staged != nil {
			e.unpack(r.buf[r.pos:], r.staged)
		}
		r.pos += r.piece
		if r.pos < r.size {
			e.pull(r)
			return
		}
		e.unstage(r)
		e.control(r.peer, &head{kind: kindACK, to: r.reply})
		e.complete(r)
	},
	ACK: func(e *Engine, s *Op, _ head) {
		e.memory.Withdraw(s.key)
		e.unstage(s)
		e.complete(s)
	},
	Cancel: func(e *Engine, s *Op) {
		e.memory.Withdraw(s.key)
		e.unstage(s)
	},
}

// pull reads the next piece of the message.
func (e *Engine) pull(r *Op) {
	rest := r.size - r.pos
	into := r.buf[r.pos:r.size]
	if b := e.job.lib.Long[e.tier(r.peer)].Bounce; b > 0 {
		if r.staged == nil {
			r.staged = e.room(min(b, rest))
		}
		r.staged = r.staged[:min(b, rest)]
		into = r.staged
	}
	r.piece = len(into)
	e.memory.Get(int(r.peer), r.key, r.pos, into, e.done(r))
}

// done is the head of the packet that tells of the end of a remote access.
func (e *Engine) done(o *Op) device.Head {
	h := head{kind: kindDone, to: o.id}
	return h.words()
}
