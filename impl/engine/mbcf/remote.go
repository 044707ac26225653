package mbcf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// remoteTransport is the transport for ports with remote memory, queues and signals, as MPI/MBCF
// has them.
//
// The FIFOs are queues in the memory of the rank that takes entries out, one per peer. A message is
// an entry for its header and entries for its data. All but the last are sent without completion,
// so that a series has a single completion if all are accepted. If an entry is refused, so are all
// later ones, and the sender retries it, in any call, until it is accepted. A remote write is two
// puts: the data, and a completion record, which the receiver polls.
type remoteTransport struct {
	engine *Engine
	memory device.Memory
	queue  device.Queues
	watch  device.Watch
	signal device.Signal

	maxEntryBytes           int // longest entry in bytes
	maxInlinePutBytes       int // longest put without completion, in bytes; 0: too short to be used
	recordKeys              []device.Key
	signalKey               device.Key // memory with a word per rank, in which that rank counts its barrier signals to this one
	lastToken               uint32
	refusingPeers           []*peer // peers whose FIFOs have refused a message
	idleEventCount          uint64  // Watch.EventCount before which polling found nothing
	idlePollCoveredAllFIFOs bool    // that polling covered all FIFOs
	idleCountValid          bool    // idleEventCount is valid
	handlerRan              bool    // a handler has run
	engineUseDepth          int     // nesting of beginEngineUse
	currentRequest          request
	entryBuffer             []byte
	signalWord              [8]byte
}

// remotePeer has the queues for a peer.
type remotePeer struct {
	messageFIFO, requestFIFO               device.Key // for entries from the peer, at this rank
	peerMessageFIFO, peerRequestFIFO       device.Key // at the peer
	peerSignalWord                         device.Key
	sentBarrierSignals, usedBarrierSignals uint64 // barrier signals sent to the peer, and used from it
	detachedBytes                          int    // bytes of messages in the FIFO, or under way, whose sends are complete
	enteringMessages                       []*op  // messages that are entering its FIFO
	startedMessages                        int    // number of enteringMessages that are started
	maxStartedMessages                     int    // 0: no limit, because none was refused yet
	openCompletions                        int    // outstanding completions of entries
	refusedMessage                         *op    // the first of enteringMessages, if its entry refusedEntry was refused; nil: none
	refusedEntry                           uint32
	maxStartedEntries                      uint32 // 0: no limit, because none was refused yet
	lastMessagePartlyStarted               bool   // not all entries of the last message are started
	needsRetry                             bool   // an entry was refused and dropped: send the next one with RetryAfterRefusal
	hasExited                              bool   // its program has ended
}

// transportOp is the transport's part of an operation.
type transportOp struct {
	targetReceive    uint32 // the receive that a remote write is for
	isExposed        bool   // the buffer of the receive is exposed under key
	key              device.Key
	requestToken     uint32 // of the posted request
	openPuts         int    // puts that have not ended
	completionRecord [completionRecordBytes]byte
	header           head
	isDetachedSend   bool // it continues a send that is already complete
}

// Bytes that MPI/MBCF adds to data. A word has four bytes, as on the workstations, and a key eight.
const (
	headerBytes                  = 8 * 4     // of a message
	requestBytes                 = 7*4 + 2*8 // with the keys of the buffer and of the completion record
	completionRecordBytes        = 4 * 4     // read as two words of eight bytes
	completionRecordsPerExposure = 64        // completion records exposed together
)

func newRemoteTransport(e *Engine) *remoteTransport {
	f := &remoteTransport{engine: e, memory: e.port.Memory(), queue: e.port.Queues(), watch: e.port.Watch(), signal: e.port.Signal()}
	f.maxEntryBytes = min(f.queue.MaxEntryBytes(), e.sizes.messageFIFOBytes-device.EntryOverhead)
	f.entryBuffer = make([]byte, max(f.maxEntryBytes, requestBytes))
	if f.maxInlinePutBytes = device.MaxPutWithoutCompletion(f.memory); f.maxInlinePutBytes < f.maxEntryBytes {
		f.maxInlinePutBytes = 0
	}
	f.completionRecord(0)
	f.beginEngineUse()
	defer f.endEngineUse()
	n := e.port.Size()
	f.signalKey = f.memory.Expose(make([]byte, 8*n))
	for r := range n {
		p := e.peer(int32(r))
		p.messageFIFO = f.queue.Create(e.sizes.messageFIFOBytes)
		p.requestFIFO = f.queue.Create(e.sizes.requestFIFOEntries * (requestBytes + device.EntryOverhead))
		if r == int(e.selfRank) {
			p.peerMessageFIFO, p.peerRequestFIFO = p.messageFIFO, p.requestFIFO
			continue
		}
		b := f.entryBuffer[:0]
		for _, k := range []device.Key{p.messageFIFO, p.requestFIFO, f.signalKey} {
			b = binary.LittleEndian.AppendUint64(b, uint64(k))
		}
		e.sendPacket(r, &head{kind: kindQueueKeys}, b)
	}
	for range n - 1 {
		q := e.port.Recv(true)
		p := e.peer(int32(q.Src))
		for i, k := range []*device.Key{&p.peerMessageFIFO, &p.peerRequestFIFO, &p.peerSignalWord} {
			*k = device.Key(binary.LittleEndian.Uint64(q.Data[8*i:]))
		}
	}
	f.signal.SetHandler(func(src int, w device.Head) {
		h := decodeHead(&w)
		e.handleCancel(int32(src), &h)
		f.handlerRan = true
	})
	return f
}

func (f *remoteTransport) beginEngineUse() {
	if f.engineUseDepth++; f.engineUseDepth == 1 {
		f.signal.Mask(true)
	}
}

func (f *remoteTransport) endEngineUse() {
	if f.engineUseDepth--; f.engineUseDepth == 0 {
		f.signal.Mask(false)
	}
}

func (f *remoteTransport) runAtPeer(dst int, h *head) { f.signal.RaiseAt(dst, h.encode()) }

// packHeader writes the header of a message.
func packHeader(b []byte, h *head) {
	for i, w := range [headerBytes / 4]uint32{uint32(h.mode), uint32(h.tag), h.context, uint32(h.signature), h.serial, h.otherSerial, h.from, uint32(h.size)} {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
}

func unpackHeader(b []byte) head {
	w := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return head{kind: kindMessage, mode: model.Mode(w(0)), tag: int32(w(1)), context: w(2), signature: engine.Signature(w(3)), serial: w(4), otherSerial: w(5), from: w(6), size: int(w(7))}
}

func (f *remoteTransport) oldestRequest(p *peer) *request {
	if f.engine.sizes.requestFIFOEntries == 0 {
		return nil
	}
	q := f.queue.First(p.requestFIFO)
	if q == nil {
		return nil
	}
	f.engine.port.Copy(f.entryBuffer, q.Data)
	w := func(i int) uint32 { return binary.LittleEndian.Uint32(f.entryBuffer[4*i:]) }
	key := func(i int) device.Key { return device.Key(binary.LittleEndian.Uint64(f.entryBuffer[7*4+8*i:])) }
	f.currentRequest = request{context: w(0), tag: int32(w(1)), size: int(w(2)), serial: w(3), lastAcceptedSerial: w(4),
		writeTarget: writeTarget{key: key(0), recordKey: key(1), recordOffset: int(w(5)), recordToken: w(6)}}
	f.queue.RemoveFirst(p.requestFIFO)
	return &f.currentRequest
}

func (f *remoteTransport) postRequest(p *peer, o *op, h head) {
	if !o.isExposed {
		o.key, o.isExposed = f.memory.Expose(o.Buf), true
	}
	f.lastToken++
	o.requestToken = f.lastToken
	block, off := f.completionRecord(o.ID())
	b := f.entryBuffer[:requestBytes]
	for i, w := range [...]uint32{h.context, uint32(h.tag), uint32(min(h.size, math.MaxUint32)), h.serial, h.otherSerial, uint32(off), o.requestToken} {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	binary.LittleEndian.PutUint64(b[7*4:], uint64(o.key))
	binary.LittleEndian.PutUint64(b[7*4+8:], uint64(block))
	f.queue.Enqueue(int(p.rank), p.peerRequestFIFO, b, device.RetryAfterRefusal|device.CompleteOnlyIfRefused, (&head{kind: kindRequestRefused}).encode())
}

// completionRecord returns the location of a receive's completion record, given the number of its
// operation.
func (f *remoteTransport) completionRecord(id uint32) (device.Key, int) {
	i := int(id)
	for i/completionRecordsPerExposure >= len(f.recordKeys) {
		f.recordKeys = append(f.recordKeys, f.memory.Expose(make([]byte, completionRecordsPerExposure*completionRecordBytes)))
	}
	return f.recordKeys[i/completionRecordsPerExposure], i % completionRecordsPerExposure * completionRecordBytes
}

// writeToTarget puts the data, followed by the completion record. A send whose data the port has
// copied is complete.
func (f *remoteTransport) writeToTarget(p *peer, s *op, r *request) {
	dst := int(p.rank)
	binary.NativeEndian.PutUint64(s.completionRecord[:], uint64(r.recordToken)|uint64(s.Size)<<32)
	binary.NativeEndian.PutUint64(s.completionRecord[8:], uint64(uint32(s.Tag))|uint64(s.Signature)<<32)
	if f.maxInlinePutBytes > 0 {
		for at := 0; at < s.Size; at += f.maxInlinePutBytes {
			f.memory.Put(dst, r.key, at, s.Buf[at:min(at+f.maxInlinePutBytes, s.Size)], device.NoCompletion)
		}
		f.memory.Put(dst, r.recordKey, r.recordOffset, s.completionRecord[:], device.NoCompletion)
		f.engine.rank.Complete(&s.Op)
		return
	}
	done := (&head{kind: kindPutEnded, from: s.ID()}).encode()
	s.openPuts = 1
	if s.Size > 0 {
		s.openPuts = 2
		f.memory.Put(dst, r.key, 0, s.Buf[:s.Size], done)
	}
	f.memory.Put(dst, r.recordKey, r.recordOffset, s.completionRecord[:], done)
}

// completeAnsweredReceives completes the receives from a rank whose completion records have
// arrived. Requests are answered in order.
func (f *remoteTransport) completeAnsweredReceives(p *peer) bool {
	any := false
	for o := p.pendingReceives.head; o != nil; {
		next := o.next
		if o.hasLiveRequest {
			block, off := f.completionRecord(o.ID())
			first := f.watch.LoadWord(block, off)
			if uint32(first) != o.requestToken {
				break
			}
			what := f.watch.LoadWord(block, off+8)
			f.engine.finishRemotelyWrittenReceive(o, p.rank, int32(what), int(first>>32), engine.Signature(what>>32))
			any = true
		}
		o = next
	}
	return any
}

func (f *remoteTransport) handlePeerExit(p *peer) {
	p.hasExited = true
	f.completeAnsweredReceives(p)
}

func (f *remoteTransport) progress(block bool) bool {
	for {
		if f.handlerRan || f.retryRefused() {
			f.handlerRan = false
			return true
		}
		seen, every := f.watch.EventCount(), f.takesAllMessages()
		if (!f.idleCountValid || seen != f.idleEventCount || every && !f.idlePollCoveredAllFIFOs) && f.pollOnce(every) {
			return true
		}
		f.idleEventCount, f.idlePollCoveredAllFIFOs, f.idleCountValid = seen, every, true
		if !block {
			return false
		}
		if f.canRetry() {
			continue
		}
		f.endEngineUse()
		f.watch.WaitForEvent(seen, device.Forever)
		f.beginEngineUse()
	}
}

// takesAllMessages reports whether messages of all ranks are taken from their FIFOs. If receives
// wait but none matches a sender, the sender's messages stay in their FIFO unless it is full. Early
// messages of collective operations thus need no temporary buffer.
func (f *remoteTransport) takesAllMessages() bool {
	e := f.engine
	return e.isProbing || e.anySourceReceives.head != nil || e.posted.Len() == 0 && !slices.ContainsFunc(e.peerList, (*peer).isReceivingParts)
}

// pollOnce polls for a packet, a completion record and a message, and handles the first that it
// finds.
func (f *remoteTransport) pollOnce(every bool) bool {
	e := f.engine
	for q := e.port.Recv(false); q != nil; q = e.port.Recv(false) {
		if f.handlePacket(q) {
			return true
		}
	}
	for _, p := range e.peerList {
		if f.completeAnsweredReceives(p) {
			return true
		}
	}
	for _, p := range e.peerList {
		if (every || p.pendingReceives.head != nil || p.partialMessage != nil || f.queue.IsRefusing(p.messageFIFO)) && f.drainFIFOOfPeer(p, nil) {
			e.repostReceivesOfDrainedPeers()
			return true
		}
	}
	return false
}

// handlePacket handles a packet, and reports whether it changed anything.
func (f *remoteTransport) handlePacket(q *device.Packet) bool {
	if engine.IsAccessCompletion(&q.Head) {
		f.engine.rank.HandleAccessCompletion(q)
		return true
	}
	e, h := f.engine, decodeHead(&q.Head)
	if q.Head == device.NoCompletion {
		h.kind = kindPutEnded
	}
	switch h.kind {
	case kindPutEnded:
		if q.Refused {
			panic(fmt.Sprintf("mbcf: rank %d: a remote write was refused: the buffer is not exposed", e.selfRank))
		}
		s := e.ops[h.from]
		if s.openPuts--; s.openPuts > 0 {
			return false
		}
		e.rank.Complete(&s.Op)
	case kindEntryEnded:
		return f.handleEntryCompletion(q, &h)
	case kindRequestRefused:
		e.counts[requestsLost]++
		return false
	default:
		e.handleControl(q, &h)
	}
	return true
}

func (f *remoteTransport) endRemoteUse(o *op) {
	if o.isExposed {
		o.isExposed = false
		f.memory.Withdraw(o.key)
	}
}

// barrier is a dissemination barrier: ranks signal each other by remote writes in log2(n) rounds.
// Each counts its signals in a word at the other rank. The sources do not say how MPI/MBCF did it.
func (f *remoteTransport) barrier(n, me int, rank func(i int) int) {
	for step := 1; step < n; step <<= 1 {
		to, from := f.engine.peer(int32(rank((me+step)%n))), f.engine.peer(int32(rank((me-step+n)%n)))
		to.sentBarrierSignals++
		binary.NativeEndian.PutUint64(f.signalWord[:], to.sentBarrierSignals)
		f.memory.Put(int(to.rank), to.peerSignalWord, 8*int(f.engine.selfRank), f.signalWord[:], device.NoCompletion)
		from.usedBarrierSignals++
		f.engine.rank.SetBarrierPeer(int(from.rank))
		for {
			seen := f.watch.EventCount()
			if f.watch.LoadWord(f.signalKey, 8*int(from.rank)) >= from.usedBarrierSignals {
				break
			}
			if f.engine.rank.RunService() {
				continue
			}
			if !f.progress(false) && !f.canRetry() {
				f.endEngineUse()
				f.watch.WaitForEvent(seen, device.Forever)
				f.beginEngineUse()
			}
		}
	}
	f.engine.rank.SetBarrierPeer(-1)
}
