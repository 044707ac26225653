package mbcf

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// Send sends a message. A standard one whose data leaves with a packet needs no operation.
func (e *Engine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	if e.packetTransport == nil || m != model.StandardMode || !e.packetTransport.trySendPacket(buf, s, int32(dst), context, int32(tag)) {
		e.rank.SendAndAwait(m, buf, s, dst, context, tag)
	}
}

// Isend sends a message by remote write if its receiver has asked for it, and by the FIFO if not. A
// buffered message takes its place in the attached buffer, and is sent from there.
func (e *Engine) Isend(o *engine.Op) {
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	e.spend(model.MBCFSendCost)
	if o.Mode != model.BufferedMode {
		e.startSend(o.EngineOp.(*op))
		return
	}
	e.startSend(e.rank.NewSendOfBuffered(o).EngineOp.(*op))
	e.rank.Complete(o)
}

// startSend starts a send.
func (e *Engine) startSend(s *op) {
	e.resetSend(s)
	if s.Peer == e.selfRank && !e.hasSelfFIFO {
		e.sendToSelf(s)
		return
	}
	p := e.peer(s.Peer)
	if p.isPutUnderWay {
		p.blockedSends = append(p.blockedSends, s)
		return
	}
	e.sendMessage(p, s)
}

// resetSend forgets what a send was used for before.
func (e *Engine) resetSend(s *op) {
	s.cancelSerial, s.isAcknowledged, s.isEnteringFIFO, s.serial = 0, false, false, 0
}

// sendMessage lets a message leave.
func (e *Engine) sendMessage(p *peer, s *op) {
	if r := e.claimRequest(p, s.Context, s.Tag, s.Size); r != nil {
		e.transport.writeToTarget(p, s, r)
		return
	}
	e.transport.enqueueMessage(p, s)
}

// resumeSends lets the sends go on that have waited behind another to the same rank.
func (e *Engine) resumeSends(p *peer) {
	p.isPutUnderWay = false
	n := 0
	for n < len(p.blockedSends) && !p.isPutUnderWay {
		n++
		e.sendMessage(p, p.blockedSends[n-1])
	}
	p.blockedSends = slices.Delete(p.blockedSends, 0, n)
}

// endFIFOSend ends a send whose message is in the FIFO, unless it waits for its receive.
func (e *Engine) endFIFOSend(s *op) {
	s.isEnteringFIFO = false
	switch {
	case s.Mode != model.SynchronousMode || s.isAcknowledged:
		s.cancelSerial = 0
		e.rank.Complete(&s.Op)
	case s.cancelSerial > 0:
		e.cancelSend(s)
	}
}

// handleACK ends a synchronous send: its receive is found. Its message has left, which may not
// be known yet.
func (e *Engine) handleACK(h *head) {
	s := e.ops[h.from]
	s.isAcknowledged, s.cancelSerial = true, 0
	if !s.isEnteringFIFO {
		e.rank.Complete(&s.Op)
	}
}

// claimRequest returns the request that the receiver has posted for a message, or nil if there is
// none that may be used. All that come before it are dropped: a request that does not match is
// never kept, and as the next request does not move, those behind it are dropped as well.
func (e *Engine) claimRequest(p *peer, context uint32, tag int32, size int) *request {
	for {
		r := e.transport.oldestRequest(p)
		if r == nil {
			return nil
		}
		e.spend(model.MBCFTakeRequestCost)
		fresh := r.lastAcceptedSerial == p.lastSentSerial || e.disabledRules&refuseStaleRequests != 0
		next := r.serial == p.expectedRequest || e.disabledRules&useRequestsInOrder != 0
		if fresh && next && !(p.cancelledRequest.isActive && p.cancelledRequest.serial == r.serial) && r.matchesMessage(context, tag, size) {
			p.expectedRequest = r.serial + 1
			e.counts[remoteWrites]++
			e.counts[remoteWriteBytes] += int64(size)
			return r
		}
		e.counts[requestsDropped]++
	}
}

// matchesMessage reports whether a request is for a message. One that is too long goes by the FIFO,
// so that its receiver finds the mistake.
func (r *request) matchesMessage(context uint32, tag int32, size int) bool {
	return r.context == context && (r.tag == match.AnySourceOrTag || r.tag == tag) && size <= r.size
}

// nextHeader gives a send its place in the FIFO, and returns the header of its message.
func (e *Engine) nextHeader(p *peer, s *op) head {
	h := e.assignSerial(p, head{mode: s.Mode, tag: s.Tag, context: s.Context, signature: s.Signature, from: s.ID(), size: s.Size})
	s.serial = h.serial
	return h
}

// assignSerial gives a message with a header its place in the FIFO.
func (e *Engine) assignSerial(p *peer, h head) head {
	p.lastSentSerial++
	p.cancelledRequest.isActive = false
	e.counts[fifoMessages]++
	e.counts[fifoBytes] += int64(h.size)
	h.kind, h.serial, h.otherSerial = kindMessage, p.lastSentSerial, p.expectedRequest
	return h
}

// sendToSelf sends a message of a rank to itself where there are no FIFOs for it.
func (e *Engine) sendToSelf(s *op) {
	h := head{kind: kindMessage, mode: s.Mode, tag: s.Tag, context: s.Context, signature: s.Signature, from: s.ID(), size: s.Size}
	e.counts[fifoMessages]++
	e.counts[fifoBytes] += int64(s.Size)
	e.handleSelfMessage(&h, s.Buf)
	if s.Mode != model.SynchronousMode {
		e.rank.Complete(&s.Op)
	}
}
