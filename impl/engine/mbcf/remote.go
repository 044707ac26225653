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

// remoteTransport is the fabric for ports with remote memory, queues and signals: what MPI/MBCF
// has.
//
// The FIFOs are queues in the memory of those who take entries out, one for each peer. A message is
// an entry for its header, and as many as its data needs; all but the last are sent with Quiet, so
// that a series has one completion if all are taken. If one is refused, so are those behind it, and
// the sender tries that one again until it is taken, in whatever call it is. A remote write is two
// puts: the data, and a completion record behind it, which the receiver polls.
type remoteTransport struct {
	e      *Engine
	memory device.Memory
	queue  device.Queue
	watch  device.Watch
	signal device.Signal

	limit    int // longest entry
	taken    int // longest put whose data the port takes at once; 0: too short to be of use
	records  []device.Key
	signals  device.Key // of the word that each other rank counts its signals in barriers in
	token    uint32
	refusals []*peer // whose FIFOs have refused a message
	quiet    uint64  // events after which nothing was found
	wide     bool    // and in which all FIFOs were looked at
	looked   bool    // quiet is valid
	handled  bool    // a handler has run
	depth    int     // of enter
	asked    request
	entry    []byte
	word     [8]byte
}

// remotePeer is a peer's queues.
type remotePeer struct {
	messages, requests       device.Key // from the peer, here
	toMessages, toRequests   device.Key // at the peer
	toSignals                device.Key
	sentSignals, usedSignals uint64 // signals in barriers to the peer, and from it that were of use
	detachedBytes            int    // bytes of messages in the FIFO, or on the way, whose sends have ended
	entering                 []*op  // messages on the way into its FIFO
	startedMessages          int    // how many of them are started
	window                   int    // how many may be; 0: any number, as none was refused yet
	openCompletions          int    // completions that are to come of entries that are not quiet
	refused                  *op    // the first of them, if its entry number part was refused; nil: none
	refusedEntry             uint32
	burst                    uint32 // entries that are started at a time; 0: any number, as none was refused yet
	partlyStarted            bool   // of the message that was begun last some entries are not started
	retry                    bool   // an entry was refused, and is not tried again: the next one is
	exited                   bool   // its program has ended
}

// transportOp is what an operation has of its fabric.
type transportOp struct {
	to       uint32 // receive that a remote write is for
	exposed  bool   // the buffer of the receive, as key
	key      device.Key
	useToken uint32 // of the request that is out
	openPuts int    // that have not ended
	record   [recordLen]byte
	header   head
	detached bool // it goes on in the place of one that has ended
}

// Bytes of what MPI/MBCF adds to data. A word has four, as on the workstations, and a key eight.
const (
	headerLen       = 8 * 4     // of a message
	requestLen      = 7*4 + 2*8 // with the keys of the buffer and of the completion record
	recordLen       = 4 * 4     // loaded as two words of eight
	recordsPerChunk = 64        // completion records that are exposed at a time
)

func newRemote(e *Engine) *remoteTransport {
	f := &remoteTransport{e: e, memory: e.port.Memory(), queue: e.port.Queue(), watch: e.port.Watch(), signal: e.port.Signal()}
	f.limit = min(f.queue.Limit(), e.size.fifo-device.EntryOverhead)
	f.entry = make([]byte, max(f.limit, requestLen))
	if f.taken = device.MaxInlinePut(f.memory); f.taken < f.limit {
		f.taken = 0
	}
	f.completionRecord(0)
	f.enter()
	defer f.leave()
	n := e.port.Size()
	f.signals = f.memory.Expose(make([]byte, 8*n))
	for r := range n {
		p := e.peer(int32(r))
		p.messages = f.queue.Create(e.size.fifo)
		p.requests = f.queue.Create(e.size.requests * (requestLen + device.EntryOverhead))
		if r == int(e.self) {
			p.toMessages, p.toRequests = p.messages, p.requests
			continue
		}
		b := f.entry[:0]
		for _, k := range []device.Key{p.messages, p.requests, f.signals} {
			b = binary.LittleEndian.AppendUint64(b, uint64(k))
		}
		e.sendPacket(r, &head{kind: kindHello}, b)
	}
	for range n - 1 {
		q := e.port.Recv(true)
		p := e.peer(int32(q.Src))
		for i, k := range []*device.Key{&p.toMessages, &p.toRequests, &p.toSignals} {
			*k = device.Key(binary.LittleEndian.Uint64(q.Data[8*i:]))
		}
	}
	f.signal.SetHandler(func(src int, w device.Head) {
		h := decodeHead(&w)
		e.handleCancel(int32(src), &h)
		f.handled = true
	})
	return f
}

func (f *remoteTransport) enter() {
	if f.depth++; f.depth == 1 {
		f.signal.Mask(true)
	}
}

func (f *remoteTransport) leave() {
	if f.depth--; f.depth == 0 {
		f.signal.Mask(false)
	}
}

func (f *remoteTransport) runAtPeer(dst int, h *head) { f.signal.Raise(dst, h.encode()) }

// packHeader writes the header of a message.
func packHeader(b []byte, h *head) {
	for i, w := range [headerLen / 4]uint32{uint32(h.mode), uint32(h.tag), h.context, uint32(h.sign), h.serial, h.other, h.from, uint32(h.size)} {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
}

func unpackHeader(b []byte) head {
	w := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return head{kind: kindMessage, mode: model.Mode(w(0)), tag: int32(w(1)), context: w(2), sign: engine.Signature(w(3)), serial: w(4), other: w(5), from: w(6), size: int(w(7))}
}

func (f *remoteTransport) oldestRequest(p *peer) *request {
	if f.e.size.requests == 0 {
		return nil
	}
	q := f.queue.First(p.requests)
	if q == nil {
		return nil
	}
	f.e.port.Copy(f.entry, q.Data)
	w := func(i int) uint32 { return binary.LittleEndian.Uint32(f.entry[4*i:]) }
	key := func(i int) device.Key { return device.Key(binary.LittleEndian.Uint64(f.entry[7*4+8*i:])) }
	f.asked = request{context: w(0), tag: int32(w(1)), size: int(w(2)), serial: w(3), accepted: w(4),
		target: target{key: key(0), recordKey: key(1), recordOffset: int(w(5)), token: w(6)}}
	f.queue.RemoveFirst(p.requests)
	return &f.asked
}

func (f *remoteTransport) post(p *peer, o *op, h head) {
	if !o.exposed {
		o.key, o.exposed = f.memory.Expose(o.Buf), true
	}
	f.token++
	o.useToken = f.token
	block, off := f.completionRecord(o.ID())
	b := f.entry[:requestLen]
	for i, w := range [...]uint32{h.context, uint32(h.tag), uint32(min(h.size, math.MaxUint32)), h.serial, h.other, uint32(off), o.useToken} {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	binary.LittleEndian.PutUint64(b[7*4:], uint64(o.key))
	binary.LittleEndian.PutUint64(b[7*4+8:], uint64(block))
	f.queue.Enqueue(int(p.rank), p.toRequests, b, device.RetryAfterRefusal|device.CompleteOnlyIfRefused, (&head{kind: kindLost}).encode())
}

// completionRecord returns where the completion record of a receive is, by the number of its
// operation.
func (f *remoteTransport) completionRecord(id uint32) (device.Key, int) {
	i := int(id)
	for i/recordsPerChunk >= len(f.records) {
		f.records = append(f.records, f.memory.Expose(make([]byte, recordsPerChunk*recordLen)))
	}
	return f.records[i/recordsPerChunk], i % recordsPerChunk * recordLen
}

// write puts the data, and the record behind it. A send whose data the port has taken is complete.
func (f *remoteTransport) write(p *peer, s *op, r *request) {
	dst := int(p.rank)
	binary.NativeEndian.PutUint64(s.record[:], uint64(r.token)|uint64(s.Size)<<32)
	binary.NativeEndian.PutUint64(s.record[8:], uint64(uint32(s.Tag))|uint64(s.Signature)<<32)
	if f.taken > 0 {
		for at := 0; at < s.Size; at += f.taken {
			f.memory.Put(dst, r.key, at, s.Buf[at:min(at+f.taken, s.Size)], device.NoCompletion)
		}
		f.memory.Put(dst, r.recordKey, r.recordOffset, s.record[:], device.NoCompletion)
		f.e.rank.Complete(&s.Op)
		return
	}
	done := (&head{kind: kindPut, from: s.ID()}).encode()
	s.openPuts = 1
	if s.Size > 0 {
		s.openPuts = 2
		f.memory.Put(dst, r.key, 0, s.Buf[:s.Size], done)
	}
	f.memory.Put(dst, r.recordKey, r.recordOffset, s.record[:], done)
}

// answers completes the receives from a rank whose completion records are there. Requests are
// answered in their order.
func (f *remoteTransport) answers(p *peer) bool {
	any := false
	for o := p.receives.head; o != nil; {
		next := o.next
		if o.requestLive {
			block, off := f.completionRecord(o.ID())
			first := f.watch.Load(block, off)
			if uint32(first) != o.useToken {
				break
			}
			what := f.watch.Load(block, off+8)
			f.e.finishWritten(o, p.rank, int32(what), int(first>>32), engine.Signature(what>>32))
			any = true
		}
		o = next
	}
	return any
}

// enqueue puts a message into the FIFO. Its send ends at once, unless it is synchronous: the system
// has taken the data, and sends it again if the FIFO refuses it. It keeps no more than the FIFO
// holds.
func (f *remoteTransport) enqueue(p *peer, s *op) {
	if f.taken == 0 || s.Mode == model.Synchronous || s.IsBuffered() || p.refused != nil || p.window > 0 || p.detachedBytes+s.Size > f.e.size.fifo {
		f.pushMessage(p, s)
		return
	}
	x := f.e.rank.ContinueSend(&s.Op).EngineOp.(*op)
	f.e.resetSend(x)
	x.detached = true
	p.detachedBytes += s.Size
	f.pushMessage(p, x)
	f.e.rank.KeepSendData(&x.Op)
	f.e.rank.Complete(&s.Op)
}

func (f *remoteTransport) pushMessage(p *peer, s *op) {
	s.header = f.e.nextHeader(p, s)
	s.queued = true
	p.entering = append(p.entering, s)
	f.startMessages(p)
}

// startMessages starts the messages on the way that may be started.
func (f *remoteTransport) startMessages(p *peer) {
	for p.refused == nil && !p.partlyStarted && p.startedMessages < len(p.entering) && (p.window == 0 || p.startedMessages < p.window) {
		p.startedMessages++
		f.startEntries(p, p.entering[p.startedMessages-1], 0)
	}
}

// entryCount returns how many entries a message is.
func (f *remoteTransport) entryCount(s *op) uint32 {
	return 1 + uint32((s.Size+f.limit-1)/f.limit)
}

// startEntries starts the entries of a message, from one on, or as many as may be started at a
// time: else all entries behind a refused one would cross the network again and again, and be
// refused.
func (f *remoteTransport) startEntries(p *peer, s *op, from uint32) {
	n := f.entryCount(s)
	if p.partlyStarted = p.burst > 0 && n-from > p.burst; p.partlyStarted {
		n = from + p.burst
	}
	for i := from; i < n; i++ {
		flags := device.CompleteOnlyIfRefused
		if i == n-1 {
			flags = 0
		}
		if p.retry {
			flags |= device.RetryAfterRefusal
			p.retry = false
		}
		f.startEntry(p, s, i, flags)
	}
}

// startEntry starts one entry.
func (f *remoteTransport) startEntry(p *peer, s *op, part uint32, flags device.EnqueueFlags) {
	var b []byte
	if part == 0 {
		b = f.entry[:headerLen]
		packHeader(b, &s.header)
	} else {
		at := int(part-1) * f.limit
		b = s.Buf[at:min(at+f.limit, s.Size)]
	}
	done := head{kind: kindEntry, from: s.ID(), to: part, found: flags&device.CompleteOnlyIfRefused == 0}
	if done.found {
		p.openCompletions++
	}
	f.queue.Enqueue(int(p.rank), p.toMessages, b, flags, done.encode())
}

// handleEntryCompletion takes in the completion of an entry of a message. It reports whether more
// is known than that the FIFO is still full. Completions come in the order of the entries, so those
// of all entries that were refused are there when the last one's is.
func (f *remoteTransport) handleEntryCompletion(q *device.Packet, h *head) bool {
	s := f.e.ops[h.from]
	p := f.e.peer(s.Peer)
	if h.found {
		p.openCompletions--
	}
	switch last := h.to == f.entryCount(s)-1; {
	case q.Refused && p.refused != nil:
		return false
	case q.Refused: // all that are behind it will be
		p.refused, p.refusedEntry, p.startedMessages, p.window = s, h.to, 1, 1
		p.burst, p.partlyStarted = 1, false
		f.refusals = append(f.refusals, p)
		f.e.port.NotifyExit(int(p.rank), (&head{kind: kindExit}).encode())
	case !last: // it was tried again, or is the last of those that were started
		if p.refused != nil {
			f.accepted(p)
		}
		p.burst = min(2*p.burst, 1<<20)
		f.startEntries(p, s, h.to+1)
		return true
	case p.refused != nil:
		f.accepted(p)
		fallthrough
	default:
		if p.window > 0 {
			p.window++
		}
		f.removeEntered(p)
		f.e.endFIFOSend(s)
		f.startMessages(p)
	}
	return true
}

// accepted notes that no entry is refused any more.
func (f *remoteTransport) accepted(p *peer) {
	p.refused = nil
	i := slices.Index(f.refusals, p)
	f.refusals = slices.Delete(f.refusals, i, i+1)
}

// removeEntered removes the first message from those on the way.
func (f *remoteTransport) removeEntered(p *peer) {
	s := p.entering[0]
	if s.queued = false; s.detached {
		s.detached = false
		p.detachedBytes -= s.Size
	}
	p.entering = slices.Delete(p.entering, 0, 1)
	p.startedMessages--
}

// retryRefused starts refused entries once more, whose refusals are all known, and reports whether
// it has ended a send instead.
func (f *remoteTransport) retryRefused() (ended bool) {
	for _, p := range f.refusals {
		switch {
		case p.openCompletions > 0:
		case p.exited:
			f.dropRefused(p)
			return true
		default:
			f.e.counts[retriedEntries]++
			f.startEntry(p, p.refused, p.refusedEntry, device.RetryAfterRefusal)
		}
	}
	return false
}

// canRetry reports whether an entry is to be tried again now.
func (f *remoteTransport) canRetry() bool {
	return slices.ContainsFunc(f.refusals, func(p *peer) bool { return p.openCompletions == 0 })
}

// dropRefused goes on without the message whose entry was refused: it is cancelled, or for a rank
// that has ended. The next one is tried in its place, as the FIFO refuses what is not.
func (f *remoteTransport) dropRefused(p *peer) {
	s := p.refused
	f.removeEntered(p)
	switch {
	case s.cancelSerial > 0:
		f.e.finishCancelled(s)
	case s.Mode != model.Synchronous:
		f.e.rank.Complete(&s.Op)
	}
	p.refused = nil
	if len(p.entering) > 0 {
		p.refused, p.refusedEntry, p.startedMessages = p.entering[0], 0, 1
		return
	}
	p.retry = true
	f.accepted(p)
}

// recall waits until it is known which entries were taken: the machine says so whatever the other
// rank does.
func (f *remoteTransport) recall(p *peer, s *op) {
	i := slices.Index(p.entering, s)
	for i < p.startedMessages && s.queued && (p.refused == nil || p.openCompletions > 0) {
		f.handlePacket(f.e.port.Recv(true))
		i = slices.Index(p.entering, s)
	}
	switch {
	case !s.queued: // its cancel has gone on
	case i >= p.startedMessages:
		p.entering = slices.Delete(p.entering, i, i+1)
		s.queued = false
		f.e.finishCancelled(s)
	case p.refusedEntry == 0:
		f.dropRefused(p)
	}
}

func (f *remoteTransport) peerExited(p *peer) {
	p.exited = true
	f.answers(p)
}

func (f *remoteTransport) progress(block bool) bool {
	for {
		if f.handled || f.retryRefused() {
			f.handled = false
			return true
		}
		seen, every := f.watch.Events(), f.takesAllMessages()
		if (!f.looked || seen != f.quiet || every && !f.wide) && f.pollOnce(every) {
			return true
		}
		f.quiet, f.wide, f.looked = seen, every, true
		if !block {
			return false
		}
		if f.canRetry() {
			continue
		}
		f.leave()
		f.watch.Wait(seen, device.Forever)
		f.enter()
	}
}

// takesAllMessages reports whether messages of all ranks are taken in. If receives wait, but none
// for a sender, its messages stay in their FIFO, unless that is full: so what collective operations
// send ahead needs no temporary buffer.
func (f *remoteTransport) takesAllMessages() bool {
	e := f.e
	return e.probing || e.anySourceReceives.head != nil || e.posted.Len() == 0 && !slices.ContainsFunc(e.peerList, (*peer).receiving)
}

// pollOnce looks for a packet, a completion record and a message, and takes in the first thing that
// it finds.
func (f *remoteTransport) pollOnce(every bool) bool {
	e := f.e
	for q := e.port.Recv(false); q != nil; q = e.port.Recv(false) {
		if f.handlePacket(q) {
			return true
		}
	}
	for _, p := range e.peerList {
		if f.answers(p) {
			return true
		}
	}
	for _, p := range e.peerList {
		if (every || p.receives.head != nil || p.partial != nil || f.queue.IsRefusing(p.messages)) && f.takeMessages(p, nil) {
			e.repostDrained()
			return true
		}
	}
	return false
}

// handlePacket takes in a packet, and reports whether it was news.
func (f *remoteTransport) handlePacket(q *device.Packet) bool {
	e, h := f.e, decodeHead(&q.Head)
	if q.Head == device.NoCompletion {
		h.kind = kindPut
	}
	switch h.kind {
	case kindPut:
		if q.Refused {
			panic(fmt.Sprintf("mbcf: rank %d: a remote write was refused: the buffer is not exposed", e.self))
		}
		s := e.ops[h.from]
		if s.openPuts--; s.openPuts > 0 {
			return false
		}
		e.rank.Complete(&s.Op)
	case kindEntry:
		return f.handleEntryCompletion(q, &h)
	case kindLost:
		e.counts[requestsLost]++
		return false
	default:
		e.handleControl(q, &h)
	}
	return true
}

// receiving reports whether a message comes in parts for a receive.
func (p *peer) receiving() bool { return p.partial != nil && p.partial.receive != nil }

func (f *remoteTransport) drain(src int32, o *op) {
	f.looked = false // the rest of a message may be there, which no poll has looked for
	if src != engine.Any {
		f.takeMessages(f.e.peer(src), o)
		return
	}
	for _, p := range f.e.peerList {
		if o.list != nil {
			f.takeMessages(p, o)
		}
	}
}

// takeMessages takes messages from the FIFO of a rank until it is empty, or until o, if it is not
// nil, has one, or else any receive is complete.
func (f *remoteTransport) takeMessages(p *peer, o *op) bool {
	i := 0
	for done := false; i < engine.MaxPolledPackets && !done; i++ {
		q := f.queue.First(p.messages)
		if q == nil {
			break
		}
		if done = f.handleEntry(p, q); o != nil {
			done = o.list == nil
		}
	}
	return i > 0
}

// handleEntry takes in one entry: a header, which says to which receive the data belongs, or data.
// It reports whether that completes a receive.
func (f *remoteTransport) handleEntry(p *peer, q *device.Packet) bool {
	defer f.queue.RemoveFirst(p.messages)
	m := p.partial
	if m == nil {
		if f.e.skip&retire == 0 {
			f.answers(p)
		}
		f.e.port.Copy(f.entry[:headerLen], q.Data)
		h := unpackHeader(f.entry)
		m = f.e.handleHeader(p, &h)
	} else {
		f.e.appendData(m, q.Data)
	}
	if m.arrivedBytes < m.size {
		return false
	}
	received := m.receive != nil
	f.e.noteTaken(p, m)
	return received
}

func (f *remoteTransport) endRemoteUse(o *op) {
	if o.exposed {
		o.exposed = false
		f.memory.Withdraw(o.key)
	}
}

// Barrier lets ranks signal each other by remote writes, in log2(n) rounds: dissemination. Each
// counts its signals to another one in a word there. The sources do not say how MPI/MBCF did it.
func (f *remoteTransport) barrier(n, me int, rank func(i int) int) {
	for step := 1; step < n; step <<= 1 {
		to, from := f.e.peer(int32(rank((me+step)%n))), f.e.peer(int32(rank((me-step+n)%n)))
		to.sentSignals++
		binary.NativeEndian.PutUint64(f.word[:], to.sentSignals)
		f.memory.Put(int(to.rank), to.toSignals, 8*int(f.e.self), f.word[:], device.NoCompletion)
		from.usedSignals++
		f.e.rank.SetBarrierPeer(int(from.rank))
		for {
			seen := f.watch.Events()
			if f.watch.Load(f.signals, 8*int(from.rank)) >= from.usedSignals {
				break
			}
			if !f.progress(false) && !f.canRetry() {
				f.leave()
				f.watch.Wait(seen, device.Forever)
				f.enter()
			}
		}
	}
	f.e.rank.SetBarrierPeer(-1)
}
