package mbcf

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// Send sends a message. A standard message whose data fits its packet needs no operation.
func (e *Engine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	if e.packetTransport == nil || m != model.StandardMode || !e.packetTransport.trySendPacket(buf, s, int32(dst), context, int32(tag)) {
		e.rank.SendAndAwait(m, buf, s, dst, context, tag)
	}
}

// Isend sends a message by remote write if its receiver has requested it, and otherwise by the
// FIFO. A buffered message is copied to the attached buffer and sent from there.
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

// resetSend clears the state of a send's previous use.
func (e *Engine) resetSend(s *op) {
	s.cancelSerial, s.isAcknowledged, s.isEnteringFIFO, s.serial = 0, false, false, 0
}

// sendMessage sends a message or queues it.
func (e *Engine) sendMessage(p *peer, s *op) {
	if r := e.claimRequest(p, s.Context, s.Tag, s.Size); r != nil {
		e.transport.writeToTarget(p, s, r)
		return
	}
	e.transport.enqueueMessage(p, s)
}

// resumeSends continues the sends that wait for another send to the same rank.
func (e *Engine) resumeSends(p *peer) {
	p.isPutUnderWay = false
	n := 0
	for n < len(p.blockedSends) && !p.isPutUnderWay {
		n++
		e.sendMessage(p, p.blockedSends[n-1])
	}
	p.blockedSends = slices.Delete(p.blockedSends, 0, n)
}

// endFIFOSend completes a send whose message is in the FIFO, unless it waits for its receive.
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

// handleACK completes a synchronous send that has been matched. Whether its message has left may
// not be known yet.
func (e *Engine) handleACK(h *head) {
	s := e.ops[h.from]
	s.isAcknowledged, s.cancelSerial = true, 0
	if !s.isEnteringFIFO {
		e.rank.Complete(&s.Op)
	}
}

// claimRequest returns the posted request for a message, or nil if no valid one matches. It drops
// all earlier requests: one that does not match is never kept, and because the next request number
// does not advance, later ones are dropped as well.
func (e *Engine) claimRequest(p *peer, context uint32, tag int32, size int) *request {
	for {
		r := e.transport.oldestRequest(p)
		if r == nil {
			return nil
		}
		e.spend(model.MBCFTakeRequestCost)
		fresh := r.lastAcceptedSerial == p.lastSentSerial || e.disabledRules&ruleRefuseStaleRequests != 0
		next := r.serial == p.expectedRequest || e.disabledRules&ruleUseRequestsInOrder != 0
		if fresh && next && !(p.cancelledRequest.isActive && p.cancelledRequest.serial == r.serial) && r.matchesMessage(context, tag, size) {
			p.expectedRequest = r.serial + 1
			e.counts[remoteWrites]++
			e.counts[remoteWriteBytes] += int64(size)
			return r
		}
		e.counts[requestsDropped]++
	}
}

// matchesMessage reports whether a request matches a message. A message that is too long goes by
// the FIFO, so that its receiver detects the error.
func (r *request) matchesMessage(context uint32, tag int32, size int) bool {
	return r.context == context && (r.tag == match.AnySourceOrTag || r.tag == tag) && size <= r.size
}

// nextHeader assigns a send the next serial of the FIFO, and returns the header of its message.
func (e *Engine) nextHeader(p *peer, s *op) head {
	h := e.assignSerial(p, head{mode: s.Mode, tag: s.Tag, context: s.Context, signature: s.Signature, from: s.ID(), size: s.Size})
	s.serial = h.serial
	return h
}

// assignSerial assigns the next serial of the FIFO to a header.
func (e *Engine) assignSerial(p *peer, h head) head {
	p.lastSentSerial++
	p.cancelledRequest.isActive = false
	e.counts[fifoMessages]++
	e.counts[fifoBytes] += int64(h.size)
	h.kind, h.serial, h.otherSerial = kindMessage, p.lastSentSerial, p.expectedRequest
	return h
}

// sendToSelf sends a message of the rank to itself, if there are no FIFOs for it.
func (e *Engine) sendToSelf(s *op) {
	h := head{kind: kindMessage, mode: s.Mode, tag: s.Tag, context: s.Context, signature: s.Signature, from: s.ID(), size: s.Size}
	e.counts[fifoMessages]++
	e.counts[fifoBytes] += int64(s.Size)
	e.handleSelfMessage(&h, s.Buf)
	if s.Mode != model.SynchronousMode {
		e.rank.Complete(&s.Op)
	}
}
