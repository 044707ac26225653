package proto

import "github.com/loggp/loggp/impl/device"

// RTA announces the message; the receiver reads it from the sender's memory and says so:
//
//	R →
//	  ⇐ M (pulled)
//	  ← ACK
//
// A library with a bounce buffer pulls chunk by chunk and copies each on. Al-Tawil and Moritz,
// section 2; equations (4) and (5).
var RTA = &Protocol{
	Name:        "RTA",
	Synchronous: true,
	UsesMemory:  true,
	Start: func(e *Engine, s *op) {
		e.stage(s)
		s.key = e.memory.Expose(s.data())
		e.sendR(s)
	},
	Matched: func(e *Engine, r *op, m *firstPacket) {
		r.reply, r.key, r.pos = m.from, m.key, 0
		e.getNextChunk(r)
	},
	Done: func(e *Engine, r *op) {
		if r.staged != nil {
			e.unpack(r.Buf[r.pos:], r.staged)
		}
		r.pos += r.chunk
		if r.pos < r.Size {
			e.getNextChunk(r)
			return
		}
		e.unstage(r)
		e.sendControl(r.Peer, &head{kind: kindACK, to: r.reply})
		e.complete(r)
	},
	ACK: func(e *Engine, s *op, _ head) {
		e.memory.Withdraw(s.key)
		e.unstage(s)
		e.complete(s)
	},
	Cancel: func(e *Engine, s *op) {
		e.memory.Withdraw(s.key)
		e.unstage(s)
	},
}

// getNextChunk reads the next chunk of the message.
func (e *Engine) getNextChunk(r *op) {
	rest := r.Size - r.pos
	into := r.Buf[r.pos:r.Size]
	if b := e.job.library.Proto.Long[e.tier(r.Peer)].Bounce; b > 0 {
		if r.staged == nil {
			r.staged = e.rank.ScratchBuffer(min(b, rest))
		}
		r.staged = r.staged[:min(b, rest)]
		into = r.staged
	}
	r.chunk = len(into)
	e.memory.Get(int(r.Peer), r.key, r.pos, into, e.doneHead(r))
}

// doneHead is the head of the packet that tells of the end of a remote access.
func (e *Engine) doneHead(o *op) device.Head {
	h := head{kind: kindDone, to: o.ID()}
	return h.words()
}
