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
	OnSendStart: func(e *Engine, s *op) {
		e.stageForRemoteAccess(s)
		s.key = e.memory.Expose(s.exposedData())
		e.sendRPacket(s)
	},
	OnMatch: func(e *Engine, r *op, m *firstPacket) {
		r.replyOp, r.key, r.position = m.sendOp, m.key, 0
		e.getNextChunk(r)
	},
	OnAccessDone: func(e *Engine, r *op) {
		if r.isStaged != nil {
			e.copyPacketData(r.Buf[r.position:], r.isStaged)
		}
		r.position += r.chunk
		if r.position < r.Size {
			e.getNextChunk(r)
			return
		}
		e.releaseStaging(r)
		e.sendControl(r.Peer, &head{kind: kindACK, to: r.replyOp})
		e.complete(r)
	},
	OnACK: func(e *Engine, s *op, _ head) {
		e.memory.Withdraw(s.key)
		e.releaseStaging(s)
		e.complete(s)
	},
	OnCancel: func(e *Engine, s *op) {
		e.memory.Withdraw(s.key)
		e.releaseStaging(s)
	},
}

// getNextChunk reads the next chunk of the message.
func (e *Engine) getNextChunk(r *op) {
	rest := r.Size - r.position
	into := r.Buf[r.position:r.Size]
	if b := e.job.library.Proto.Long[e.tier(r.Peer)].Bounce; b > 0 {
		if r.isStaged == nil {
			r.isStaged = e.rank.ScratchBuffer(min(b, rest))
		}
		r.isStaged = r.isStaged[:min(b, rest)]
		into = r.isStaged
	}
	r.chunk = len(into)
	e.memory.Get(int(r.Peer), r.key, r.position, into, e.doneHead(r))
}

// doneHead is the head of the packet that tells of the end of a remote access.
func (e *Engine) doneHead(o *op) device.Head {
	h := head{kind: kindDone, to: o.ID()}
	return h.words()
}
