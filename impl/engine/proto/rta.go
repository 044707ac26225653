package proto

import "github.com/loggp/loggp/impl/device"

// RTA announces the message. The receiver reads the data from the sender's memory and acknowledges:
//
//	R →
//	  ⇐ M (pulled)
//	  ← ACK
//
// A library with a bounce buffer reads chunk by chunk and copies each. Al-Tawil and Moritz, section
// 2; equations (4) and (5). A library that grants windows reads window by window, like the long-CTS
// protocol of libfabric's EFA provider (efa_rdm_protocol_v4.md, section 3.2).
var RTA = &Protocol{
	Name:             "RTA",
	Synchronous:      true,
	UsesRemoteMemory: true,
	OnSendStart: func(e *Engine, s *op) {
		e.stageForRemoteAccess(s)
		s.key = e.memoryOf(s.Peer).Expose(s.exposedData())
		e.sendFirstPacketWithoutData(s)
	},
	OnMatch: func(e *Engine, r *op, m *firstPacket) {
		r.peerOp, r.key, r.doneBytes = m.sendOp, m.key, 0
		e.getNextChunk(r)
	},
	OnAccessDone: func(e *Engine, r *op) {
		if r.stagingBuffer != nil {
			e.copyPacketData(r.Buf[r.doneBytes:], r.stagingBuffer)
		}
		r.doneBytes += r.chunkBytes
		if r.doneBytes < r.Size {
			e.getNextChunk(r)
			return
		}
		e.releaseStaging(r)
		e.sendControl(r.Peer, &head{kind: kindACK, to: r.peerOp})
		e.complete(r)
	},
	OnACK: func(e *Engine, s *op, _ head) {
		e.memoryOf(s.Peer).Withdraw(s.key)
		e.releaseStaging(s)
		e.complete(s)
	},
	OnCancel: func(e *Engine, s *op) {
		e.memoryOf(s.Peer).Withdraw(s.key)
		e.releaseStaging(s)
	},
}

// getNextChunk reads the next chunk of the message.
func (e *Engine) getNextChunk(r *op) {
	long := &e.job.library.Proto.LongMessages[e.tier(r.Peer)]
	n := long.ReadBytes(r.Size - r.doneBytes)
	into := r.Buf[r.doneBytes : r.doneBytes+n]
	if long.BounceBufferBytes > 0 {
		if r.stagingBuffer == nil {
			r.stagingBuffer = e.rank.ScratchFor(n, device.IsSizeOnly(r.Buf))
		}
		r.stagingBuffer = r.stagingBuffer[:n]
		into = r.stagingBuffer
	}
	r.chunkBytes = len(into)
	e.memoryOf(r.Peer).Get(int(r.Peer), r.key, r.doneBytes, into, e.accessDoneHead(r))
}

// accessDoneHead is the head of the completion of a remote access.
func (e *Engine) accessDoneHead(o *op) device.Head {
	h := head{kind: kindAccessDone, to: o.ID()}
	return h.words()
}
