package mbcf

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// message is a message that is arriving by the FIFO, or that is unexpected.
type message struct {
	match.Entry[*message]
	mode              model.Mode
	signature         engine.Signature
	sendOp            uint32 // the sender's operation
	serial            uint32
	nextRequestSerial uint32 // the request serial that its sender expects
	size              int
	temporaryBuffer   []byte // for data without a receive
	receive           *op    // receive into whose buffer the data goes; nil: into temporaryBuffer
	arrivedBytes      int    // bytes that have come
	cancelled         bool   // by its sender
	nextFree          *message
}

// Irecv starts a receive: it takes an unexpected message, or posts a request.
func (e *Engine) Irecv(x *engine.Op) {
	e.transport.beginEngineUse()
	defer e.transport.endEngineUse()
	e.startReceive(x.EngineOp.(*op))
}

func (e *Engine) Recv(x *engine.Op) {
	e.Irecv(x)
	e.rank.WaitUntilFinished(x)
}

func (e *Engine) startReceive(o *op) {
	e.spend(model.MBCFReceiveCost)
	o.cancelSerial, o.hasLiveRequest = 0, false
	o.postedEntry.Envelope = match.Envelope{Context: o.Context, Source: o.Peer, Tag: o.Tag}
	if m := e.unexpected.Match(o.postedEntry.Envelope); m != nil { // step 1
		e.unexpected.Remove(m)
		e.deliver(o, m.Value)
		e.recycleMessage(m.Value)
		return
	}
	e.addPending(o)
	from := o.Peer
	if e.disabledRules&ruleSerialForEveryReceive != 0 {
		from = engine.AnySourceOrTag
	}
	e.transport.drainMessages(from, o) // step 2
	posted := o.list == nil || e.disabledRules&ruleSerialForEveryReceive != 0 && len(e.drainedPeers) > 0
	for _, p := range e.drainedPeers {
		posted = posted || p.rank == o.Peer
	}
	if o.list == nil && e.disabledRules&ruleRepostAfterEarlyEnd != 0 {
		e.clearDrainedPeers()
	}
	e.repostReceivesOfDrainedPeers() // step 3
	if !posted {
		e.postRequest(o) // step 4
	}
}

// addPending adds a receive to the pending ones.
func (e *Engine) addPending(o *op) {
	e.posted.Add(&o.postedEntry)
	e.nextReceiveNumber++
	o.number = e.nextReceiveNumber
	if o.Peer == engine.AnySourceOrTag {
		e.anySourceCount++
		e.anySourceReceives.add(o)
		return
	}
	e.peer(o.Peer).pendingReceives.add(o)
}

// bindReceive removes a receive from the pending ones, because a message is for it.
func (e *Engine) bindReceive(o *op) {
	e.posted.Remove(&o.postedEntry)
	o.list.remove(o)
	o.hasLiveRequest, o.cancelSerial = false, 0
}

// postRequest posts a request for the last pending receive. A receive after one from any source is
// not posted but uses a serial, so that no later request is valid before the sender's next FIFO
// message.
func (e *Engine) postRequest(o *op) {
	if o.Peer == engine.AnySourceOrTag || o.Peer == e.selfRank && !e.hasSelfFIFO || e.sizes.requestFIFOEntries == 0 {
		return
	}
	p := e.peer(o.Peer)
	if p.partialMessage != nil { // when that message ends, all receives are posted
		return
	}
	if e.disabledRules&ruleAnySourceUsesSerials == 0 {
		if p.anySourceCountAtRequest != e.anySourceCount {
			p.nextRequestSerial++
			p.anySourceCountAtRequest = e.anySourceCount
		}
		if e.anySourceReceives.head != nil {
			p.nextRequestSerial++
			return
		}
	}
	e.sendRequest(p, o)
}

// sendRequest puts a request for a receive into the FIFO of its source.
func (e *Engine) sendRequest(p *peer, o *op) {
	o.serial, o.hasLiveRequest = p.nextRequestSerial, true
	p.nextRequestSerial++
	e.counts[requestsPosted]++
	e.spend(model.MBCFPostRequestCost)
	e.transport.postRequest(p, o, head{kind: kindRequest, tag: o.Tag, context: o.Context, serial: o.serial, otherSerial: p.lastAcceptedSerial, from: o.ID(), size: len(o.Buf)})
}

// noteFIFODrained records that a message was taken from the FIFO of a rank.
func (e *Engine) noteFIFODrained(p *peer) {
	if !p.wasDrained {
		p.wasDrained = true
		e.drainedPeers = append(e.drainedPeers, p)
	}
}

// repostReceivesOfDrainedPeers reposts the receives from ranks whose FIFOs were drained: their
// requests are stale. Requests to other ranks remain valid, and a second request for the same
// buffer would allow two messages into it.
func (e *Engine) repostReceivesOfDrainedPeers() {
	if len(e.drainedPeers) > 0 && e.disabledRules&ruleRepostToDrainedSourceOnly != 0 {
		e.drainedPeers = append(e.drainedPeers[:0], e.peerList...)
	}
	for _, p := range e.drainedPeers {
		if p.partialMessage == nil {
			e.postRequestsTo(p)
		}
	}
	e.clearDrainedPeers()
}

func (e *Engine) clearDrainedPeers() {
	for _, p := range e.drainedPeers {
		p.wasDrained = false
	}
	e.drainedPeers = e.drainedPeers[:0]
}

// postRequestsTo posts the receives from a rank, up to the first receive from any source. Their
// earlier requests are stale, so one whose cancel is under way gets no message.
func (e *Engine) postRequestsTo(p *peer) {
	p.anySourceCountAtRequest = e.anySourceCount
	for o := p.pendingReceives.head; o != nil; {
		next := o.next
		switch {
		case o.cancelSerial > 0:
			e.removePending(o)
		case e.sizes.requestFIFOEntries == 0:
			return
		case e.anySourceReceives.head != nil && e.anySourceReceives.head.number < o.number && e.disabledRules&ruleAnySourceStopsReposting == 0:
			p.nextRequestSerial++
			return
		default:
			e.sendRequest(p, o)
		}
		o = next
	}
}

// removePending ends a pending receive without a message.
func (e *Engine) removePending(o *op) {
	e.bindReceive(o)
	e.transport.endRemoteUse(o)
	e.rank.FinishCancelled(&o.Op)
}

// handleHeader handles the header of a message from the FIFO of a rank. Serials of unanswered
// requests become stale, so a receive whose cancel is under way gets no message: this one may have
// been sent because of the cancel, and its answer may come later.
func (e *Engine) handleHeader(p *peer, h *head) *message {
	for o := p.pendingReceives.head; o != nil; {
		next := o.next
		o.hasLiveRequest = false
		if o.cancelSerial > 0 {
			e.removePending(o)
		}
		o = next
	}
	p.partialMessage = e.newMessage(p.rank, h)
	e.matchMessage(p.partialMessage)
	return p.partialMessage
}

// newMessage returns a message whose header has arrived. Its data is dropped unless matchMessage
// finds a place for it.
func (e *Engine) newMessage(src int32, h *head) *message {
	e.spend(model.MBCFHandleMessageCost)
	m := e.freeMessages
	if m == nil {
		m = new(message)
		m.Value = m
	} else {
		e.freeMessages = m.nextFree
	}
	m.Envelope = match.Envelope{Context: h.context, Source: src, Tag: h.tag}
	m.mode, m.signature, m.sendOp, m.serial, m.nextRequestSerial, m.size, m.arrivedBytes, m.receive, m.cancelled = h.mode, h.signature, h.from, h.serial, h.otherSerial, h.size, 0, nil, true
	return m
}

// matchMessage finds the receive for a message, or a temporary buffer, unless the sender has
// cancelled it.
func (e *Engine) matchMessage(m *message) {
	o := e.posted.Match(m.Envelope)
	if e.isCancelledMessage(m, o != nil) {
		return
	}
	if o != nil {
		e.bindReceive(o.Value)
		e.rank.CheckMessage(&o.Value.Op, m.Context, m.Source, m.Tag, m.size, m.signature)
		m.receive, m.cancelled = o.Value, false
		return
	}
	if m.mode == model.ReadyMode {
		e.rank.Fail(engine.ErrOther, "%s sent a ready message of %d bytes with tag %d, for which no receive was posted", e.rank.PeerName(m.Source, m.Context), m.size, m.Tag)
	}
	e.counts[temporaryBuffers]++
	if cap(m.temporaryBuffer) < m.size {
		m.temporaryBuffer = make([]byte, m.size)
	}
	m.temporaryBuffer, m.cancelled = m.temporaryBuffer[:m.size], false
}

// appendData handles data of a message.
func (e *Engine) appendData(m *message, b []byte) {
	switch {
	case m.cancelled:
	case m.receive != nil:
		e.rank.Copy(m.receive.Buf[m.arrivedBytes:], b)
	default:
		e.rank.Copy(m.temporaryBuffer[m.arrivedBytes:], b)
	}
	m.arrivedBytes += len(b)
}

// finishArrival ends the arrival of a message whose data is complete. Its receive may have been
// posted meanwhile.
func (e *Engine) finishArrival(m *message) {
	switch {
	case m.cancelled:
	case m.receive != nil:
		e.finishMatchedReceive(m.receive, m)
	default:
		o := e.posted.Match(m.Envelope)
		if o == nil {
			e.unexpected.Add(&m.Entry)
			return
		}
		e.bindReceive(o.Value)
		e.deliver(o.Value, m)
	}
	e.recycleMessage(m)
}

// deliver passes a message in a temporary buffer to its receive.
func (e *Engine) deliver(o *op, m *message) {
	e.rank.CheckMessage(&o.Op, m.Context, m.Source, m.Tag, m.size, m.signature)
	e.rank.Copy(o.Buf, m.temporaryBuffer)
	e.finishMatchedReceive(o, m)
}

// finishMatchedReceive completes a receive whose data has arrived, and notifies the sender of a
// synchronous message.
func (e *Engine) finishMatchedReceive(o *op, m *message) {
	if m.mode == model.SynchronousMode {
		h := head{kind: kindACK, from: m.sendOp, serial: m.serial}
		if m.Source == e.selfRank {
			e.handleACK(&h)
		} else {
			e.sendPacket(int(m.Source), &h, nil)
		}
	}
	e.finishReceive(o, m.Source, m.Tag, m.size)
}

// finishReceive completes a receive.
func (e *Engine) finishReceive(o *op, src, tag int32, size int) {
	o.Peer, o.Tag, o.Size = src, tag, size
	e.transport.endRemoteUse(o)
	e.rank.Complete(&o.Op)
}

// finishRemotelyWrittenReceive completes a receive whose request was answered by a remote write.
func (e *Engine) finishRemotelyWrittenReceive(o *op, src, tag int32, size int, s engine.Signature) {
	e.spend(model.MBCFHandleMessageCost)
	e.bindReceive(o)
	e.rank.CheckMessage(&o.Op, o.Context, src, tag, size, s)
	e.finishReceive(o, src, tag, size)
}

// noteMessageTaken records that a whole message was taken from the FIFO of a rank.
func (e *Engine) noteMessageTaken(p *peer, m *message) {
	p.partialMessage = nil
	p.lastAcceptedSerial, p.nextRequestSerial = m.serial, m.nextRequestSerial
	p.anySourceCountAtRequest = e.anySourceCount
	e.noteFIFODrained(p)
	e.finishArrival(m)
}

// handleSelfMessage handles a message of this rank to itself.
func (e *Engine) handleSelfMessage(h *head, b []byte) {
	m := e.newMessage(e.selfRank, h)
	e.matchMessage(m)
	e.appendData(m, b)
	e.finishArrival(m)
}

// recycleMessage makes the memory of a message available for reuse.
func (e *Engine) recycleMessage(m *message) {
	m.nextFree, m.receive, e.freeMessages = e.freeMessages, nil, m
}

// sendPacket sends a packet.
func (e *Engine) sendPacket(dst int, h *head, b []byte) {
	e.packet = device.Packet{Head: h.encode(), Data: b}
	e.port.Send(dst, &e.packet)
}
