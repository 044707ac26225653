package mbcf

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/match"
	"github.com/loggp/loggp/model"
)

// message is one that comes by the FIFO, or that has come and has no receive.
type message struct {
	match.Entry[*message]
	mode              model.Mode
	signature         engine.Signature
	sendOp            uint32 // the sender's operation
	serial            uint32
	nextRequestSerial uint32 // request that its sender expects
	size              int
	temporaryBuffer   []byte // temporary buffer
	receive           *op    // the receive into whose buffer it goes; nil: into the temporary buffer
	arrivedBytes      int    // bytes that have come
	cancelled         bool   // its sender has cancelled it
	nextFree          *message
}

// Irecv starts a receive: with a message that has come, or by a request.
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
	if e.disabledRules&serialForEveryReceive != 0 {
		from = engine.AnySourceOrTag
	}
	e.transport.drainMessages(from, o) // step 2
	posted := o.list == nil || e.disabledRules&serialForEveryReceive != 0 && len(e.drainedPeers) > 0
	for _, p := range e.drainedPeers {
		posted = posted || p.rank == o.Peer
	}
	if o.list == nil && e.disabledRules&repostAfterEarlyEnd != 0 {
		e.clearDrainedPeers()
	}
	e.repostReceivesOfDrainedPeers() // step 3
	if !posted {
		e.postRequest(o) // step 4
	}
}

// addPending adds a receive to those that are pending.
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

// bindReceive takes a receive from those that are pending: a message is for it.
func (e *Engine) bindReceive(o *op) {
	e.posted.Remove(&o.postedEntry)
	o.list.remove(o)
	o.hasLiveRequest, o.cancelSerial = false, 0
}

// postRequest posts a request for a receive that is the last one pending. A receive behind one from
// any source is not posted, but uses a serial, so that none behind it is valid before the sender's
// next message by the FIFO.
func (e *Engine) postRequest(o *op) {
	if o.Peer == engine.AnySourceOrTag || o.Peer == e.selfRank && !e.hasSelfFIFO || e.sizes.requestFIFOEntries == 0 {
		return
	}
	p := e.peer(o.Peer)
	if p.partialMessage != nil { // its end lets all be posted
		return
	}
	if e.disabledRules&anySourceUsesSerials == 0 {
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

// noteFIFODrained notes that a message was taken from the FIFO of a rank.
func (e *Engine) noteFIFODrained(p *peer) {
	if !p.wasDrained {
		p.wasDrained = true
		e.drainedPeers = append(e.drainedPeers, p)
	}
}

// repostReceivesOfDrainedPeers posts the receives from ranks again whose FIFOs were drained: their
// requests are stale. Requests to other ranks are not, and a second one for the same buffer would
// let two messages into it.
func (e *Engine) repostReceivesOfDrainedPeers() {
	if len(e.drainedPeers) > 0 && e.disabledRules&repostToDrainedSourceOnly != 0 {
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
// earlier requests are stale, so that one whose cancel is under way has no message.
func (e *Engine) postRequestsTo(p *peer) {
	p.anySourceCountAtRequest = e.anySourceCount
	for o := p.pendingReceives.head; o != nil; {
		next := o.next
		switch {
		case o.cancelSerial > 0:
			e.removePending(o)
		case e.sizes.requestFIFOEntries == 0:
			return
		case e.anySourceReceives.head != nil && e.anySourceReceives.head.number < o.number && e.disabledRules&anySourceStopsReposting == 0:
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

// handleHeader takes in the header of a message from the FIFO of a rank. The serials of requests
// that were not answered are stale.
func (e *Engine) handleHeader(p *peer, h *head) *message {
	for o := p.pendingReceives.head; o != nil; o = o.next {
		o.hasLiveRequest = false
	}
	p.partialMessage = e.newMessage(p.rank, h)
	e.matchMessage(p.partialMessage)
	return p.partialMessage
}

// newMessage returns a message whose header has come, and whose data is dropped unless pair says
// more.
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

// matchMessage finds the receive of a message, or a temporary buffer, unless its sender has
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

// appendData takes in data of a message.
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

// finishArrival completes the arrival of a message whose data has all arrived. Its receive may have
// been posted meanwhile.
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

// deliver gives a message in a temporary buffer to its receive.
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

// finishRemotelyWrittenReceive completes a receive that a remote write has answered.
func (e *Engine) finishRemotelyWrittenReceive(o *op, src, tag int32, size int, s engine.Signature) {
	e.spend(model.MBCFHandleMessageCost)
	e.bindReceive(o)
	e.rank.CheckMessage(&o.Op, o.Context, src, tag, size, s)
	e.finishReceive(o, src, tag, size)
}

// noteMessageTaken notes that a message of a rank was taken from the FIFO as a whole.
func (e *Engine) noteMessageTaken(p *peer, m *message) {
	p.partialMessage = nil
	p.lastAcceptedSerial, p.nextRequestSerial = m.serial, m.nextRequestSerial
	p.anySourceCountAtRequest = e.anySourceCount
	e.noteFIFODrained(p)
	e.finishArrival(m)
}

// handleSelfMessage takes in a message of this rank itself.
func (e *Engine) handleSelfMessage(h *head, b []byte) {
	m := e.newMessage(e.selfRank, h)
	e.matchMessage(m)
	e.appendData(m, b)
	e.finishArrival(m)
}

// recycleMessage keeps the memory of a message for the next one.
func (e *Engine) recycleMessage(m *message) {
	m.nextFree, m.receive, e.freeMessages = e.freeMessages, nil, m
}

// sendPacket sends a packet.
func (e *Engine) sendPacket(dst int, h *head, b []byte) {
	e.packet = device.Packet{Head: h.encode(), Data: b}
	e.port.Send(dst, &e.packet)
}
