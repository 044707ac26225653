package mbcf

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// enqueueMessage puts a message into the FIFO. Unless it is synchronous, its send completes at
// once: the system has copied the data, and retransmits it if the FIFO refuses it. The system keeps
// no more than the FIFO holds.
func (f *remoteTransport) enqueueMessage(p *peer, s *op) {
	if f.maxInlinePutBytes == 0 || s.Mode == model.SynchronousMode || s.IsBuffered() || p.refusedMessage != nil || p.maxStartedMessages > 0 || p.detachedBytes+s.Size > f.engine.sizes.messageFIFOBytes {
		f.enqueueEntering(p, s)
		return
	}
	x := f.engine.rank.NewDetachedSend(&s.Op).EngineOp.(*op)
	f.engine.resetSend(x)
	x.isDetachedSend = true
	p.detachedBytes += s.Size
	f.enqueueEntering(p, x)
	f.engine.rank.CopyDetachedSendData(&x.Op)
	f.engine.rank.Complete(&s.Op)
}

func (f *remoteTransport) enqueueEntering(p *peer, s *op) {
	s.header = f.engine.nextHeader(p, s)
	s.isEnteringFIFO = true
	p.enteringMessages = append(p.enteringMessages, s)
	f.startMessages(p)
}

// startMessages starts the entering messages that may be started.
func (f *remoteTransport) startMessages(p *peer) {
	for p.refusedMessage == nil && !p.lastMessagePartlyStarted && p.startedMessages < len(p.enteringMessages) && (p.maxStartedMessages == 0 || p.startedMessages < p.maxStartedMessages) {
		p.startedMessages++
		f.enqueueEntries(p, p.enteringMessages[p.startedMessages-1], 0)
	}
}

// entryCount returns the number of entries of a message.
func (f *remoteTransport) entryCount(s *op) uint32 {
	return 1 + uint32((s.Size+f.maxEntryBytes-1)/f.maxEntryBytes)
}

// enqueueEntries enqueues the entries of a message from an index on, up to the limit. Without the
// limit, all entries after a refused one would cross the network again and again, only to be
// refused.
func (f *remoteTransport) enqueueEntries(p *peer, s *op, from uint32) {
	n := f.entryCount(s)
	if p.lastMessagePartlyStarted = p.maxStartedEntries > 0 && n-from > p.maxStartedEntries; p.lastMessagePartlyStarted {
		n = from + p.maxStartedEntries
	}
	for i := from; i < n; i++ {
		flags := device.CompleteOnlyIfRefused
		if i == n-1 {
			flags = 0
		}
		if p.needsRetry {
			flags |= device.RetryAfterRefusal
			p.needsRetry = false
		}
		f.enqueueEntry(p, s, i, flags)
	}
}

// enqueueEntry enqueues one entry of a message.
func (f *remoteTransport) enqueueEntry(p *peer, s *op, part uint32, flags device.EnqueueFlags) {
	var b []byte
	if part == 0 {
		b = f.entryBuffer[:headerBytes]
		packHeader(b, &s.header)
	} else {
		at := int(part-1) * f.maxEntryBytes
		b = s.Buf[at:min(at+f.maxEntryBytes, s.Size)]
	}
	done := head{kind: kindEntryEnded, from: s.ID(), to: part, found: flags&device.CompleteOnlyIfRefused == 0}
	if done.found {
		p.openCompletions++
	}
	f.queue.Enqueue(int(p.rank), p.peerMessageFIFO, b, flags, done.encode())
}

// handleEntryCompletion handles the completion of a message's entry. It reports whether it learned
// more than that the FIFO is still full. Completions arrive in the order of the entries, so those
// of all refused entries have arrived when the last one has.
func (f *remoteTransport) handleEntryCompletion(q *device.Packet, h *head) bool {
	s := f.engine.ops[h.from]
	p := f.engine.peer(s.Peer)
	if h.found {
		p.openCompletions--
	}
	switch last := h.to == f.entryCount(s)-1; {
	case q.Refused && p.refusedMessage != nil:
		return false
	case q.Refused: // all later entries will be refused, too
		p.refusedMessage, p.refusedEntry, p.startedMessages, p.maxStartedMessages = s, h.to, 1, 1
		p.maxStartedEntries, p.lastMessagePartlyStarted = 1, false
		f.refusingPeers = append(f.refusingPeers, p)
		f.engine.port.NotifyExit(int(p.rank), (&head{kind: kindExit}).encode())
	case !last: // it was retried, or is the last started one
		if p.refusedMessage != nil {
			f.noteEntryAccepted(p)
		}
		p.maxStartedEntries = min(2*p.maxStartedEntries, 1<<20)
		f.enqueueEntries(p, s, h.to+1)
		return true
	case p.refusedMessage != nil:
		f.noteEntryAccepted(p)
		fallthrough
	default:
		if p.maxStartedMessages > 0 {
			p.maxStartedMessages++
		}
		f.removeEntered(p)
		f.engine.endFIFOSend(s)
		f.startMessages(p)
	}
	return true
}

// noteEntryAccepted records that no entry is refused any more.
func (f *remoteTransport) noteEntryAccepted(p *peer) {
	p.refusedMessage = nil
	i := slices.Index(f.refusingPeers, p)
	f.refusingPeers = slices.Delete(f.refusingPeers, i, i+1)
}

// removeEntered removes the first entering message.
func (f *remoteTransport) removeEntered(p *peer) {
	s := p.enteringMessages[0]
	if s.isEnteringFIFO = false; s.isDetachedSend {
		s.isDetachedSend = false
		p.detachedBytes -= s.Size
	}
	p.enteringMessages = slices.Delete(p.enteringMessages, 0, 1)
	p.startedMessages--
}

// retryRefused restarts refused entries whose refusals are all known. It returns true if it has
// ended a send instead.
func (f *remoteTransport) retryRefused() (ended bool) {
	for _, p := range f.refusingPeers {
		switch {
		case p.openCompletions > 0:
		case p.hasExited:
			f.dropRefused(p)
			return true
		default:
			f.engine.counts[retriedEntries]++
			f.enqueueEntry(p, p.refusedMessage, p.refusedEntry, device.RetryAfterRefusal)
		}
	}
	return false
}

// canRetry reports whether a refused entry is to be retried now.
func (f *remoteTransport) canRetry() bool {
	return slices.ContainsFunc(f.refusingPeers, func(p *peer) bool { return p.openCompletions == 0 })
}

// dropRefused drops the message whose entry was refused, because it is cancelled or its receiver
// has ended. It tries the next one in its place, because the FIFO accepts only a retried entry.
func (f *remoteTransport) dropRefused(p *peer) {
	s := p.refusedMessage
	f.removeEntered(p)
	switch {
	case s.cancelSerial > 0:
		f.engine.finishCancelled(s)
	case s.Mode != model.SynchronousMode:
		f.engine.rank.Complete(&s.Op)
	}
	p.refusedMessage = nil
	if len(p.enteringMessages) > 0 {
		p.refusedMessage, p.refusedEntry, p.startedMessages = p.enteringMessages[0], 0, 1
		return
	}
	p.needsRetry = true
	f.noteEntryAccepted(p)
}

// recallMessage waits until it is known which entries were accepted. The machine reports that
// whatever the other rank does.
func (f *remoteTransport) recallMessage(p *peer, s *op) {
	i := slices.Index(p.enteringMessages, s)
	for i < p.startedMessages && s.isEnteringFIFO && (p.refusedMessage == nil || p.openCompletions > 0) {
		f.handlePacket(f.engine.port.Recv(true))
		i = slices.Index(p.enteringMessages, s)
	}
	switch {
	case !s.isEnteringFIFO: // its cancel has ended
	case i >= p.startedMessages:
		p.enteringMessages = slices.Delete(p.enteringMessages, i, i+1)
		s.isEnteringFIFO = false
		f.engine.finishCancelled(s)
	case p.refusedEntry == 0:
		f.dropRefused(p)
	}
}

// isReceivingParts reports whether parts of a message are arriving for a receive.
func (p *peer) isReceivingParts() bool {
	return p.partialMessage != nil && p.partialMessage.receive != nil
}

func (f *remoteTransport) drainMessages(src int32, o *op) {
	f.idleCountValid = false // the rest of a message may have arrived, which polling has not covered
	if src != engine.AnySourceOrTag {
		f.drainFIFOOfPeer(f.engine.peer(src), o)
		return
	}
	for _, p := range f.engine.peerList {
		if o.list != nil {
			f.drainFIFOOfPeer(p, o)
		}
	}
}

// drainFIFOOfPeer takes messages from the FIFO of a rank until it is empty, or until o has a
// message. If o is nil, it stops when any receive is complete.
func (f *remoteTransport) drainFIFOOfPeer(p *peer, o *op) bool {
	i := 0
	for done := false; i < engine.MaxPolledPackets && !done; i++ {
		q := f.queue.First(p.messageFIFO)
		if q == nil {
			break
		}
		if done = f.handleEntry(p, q); o != nil {
			done = o.list == nil
		}
	}
	return i > 0
}

// handleEntry handles one entry: a header, which says to which receive the data belongs, or data.
// It reports whether that completes a receive.
func (f *remoteTransport) handleEntry(p *peer, q *device.Packet) bool {
	defer f.queue.RemoveFirst(p.messageFIFO)
	m := p.partialMessage
	if m == nil {
		if f.engine.disabledRules&ruleRetireAnsweredReceives == 0 {
			f.completeAnsweredReceives(p)
		}
		f.engine.port.Copy(f.entryBuffer[:headerBytes], q.Data)
		h := unpackHeader(f.entryBuffer)
		m = f.engine.handleHeader(p, &h)
	} else {
		f.engine.appendData(m, q.Data)
	}
	if m.arrivedBytes < m.size {
		return false
	}
	received := m.receive != nil
	f.engine.noteMessageTaken(p, m)
	return received
}
