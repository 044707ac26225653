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

// remote is the fabric for ports with remote memory, queues and signals: what MPI/MBCF has.
//
// The FIFOs are queues in the memory of those who take entries out, one for each peer. A message is
// an entry for its header, and as many as its data needs; all but the last are sent with Quiet, so
// that a series has one completion if all are taken. If one is refused, so are those behind it, and
// the sender tries that one again until it is taken, in whatever call it is. A remote write is two
// puts: the data, and a completion record behind it, which the receiver polls.
type remote struct {
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
	messages, requests     device.Key // from the peer, here
	toMessages, toRequests device.Key // at the peer
	toSignals              device.Key
	signalled, passed      uint64 // signals in barriers to the peer, and from it that were of use
	kept                   int    // bytes of messages in the FIFO, or on the way, whose sends have ended
	flight                 []*op  // messages on the way into its FIFO
	begun                  int    // how many of them are started
	window                 int    // how many may be; 0: any number, as none was refused yet
	flags                  int    // completions that are to come of entries that are not quiet
	refused                *op    // the first of them, if its entry number part was refused; nil: none
	part                   uint32
	burst                  uint32 // entries that are started at a time; 0: any number, as none was refused yet
	partly                 bool   // of the message that was begun last some entries are not started
	retry                  bool   // an entry was refused, and is not tried again: the next one is
	gone                   bool   // its program has ended
}

// fabricOp is what an operation has of its fabric.
type fabricOp struct {
	to      uint32 // receive that a remote write is for
	exposed bool   // the buffer of the receive, as key
	key     device.Key
	token   uint32 // of the request that is out
	puts    int    // that have not ended
	record  [recordLen]byte
	header  head
	kept    bool // it goes on in the place of one that has ended
}

// Bytes of what MPI/MBCF adds to data. A word has four, as on the workstations, and a key eight.
const (
	headerLen  = 8 * 4     // of a message
	requestLen = 7*4 + 2*8 // with the keys of the buffer and of the completion record
	recordLen  = 4 * 4     // loaded as two words of eight
	chunk      = 64        // completion records that are exposed at a time
)

func newRemote(e *Engine) *remote {
	f := &remote{e: e, memory: e.port.Memory(), queue: e.port.Queue(), watch: e.port.Watch(), signal: e.port.Signal()}
	f.limit = min(f.queue.Limit(), e.size.fifo-device.EntryOverhead)
	f.entry = make([]byte, max(f.limit, requestLen))
	if f.taken = device.MostTaken(f.memory); f.taken < f.limit {
		f.taken = 0
	}
	f.slot(0)
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
		e.send(r, &head{kind: kindHello}, b)
	}
	for range n - 1 {
		q := e.port.Recv(true)
		p := e.peer(int32(q.Src))
		for i, k := range []*device.Key{&p.toMessages, &p.toRequests, &p.toSignals} {
			*k = device.Key(binary.LittleEndian.Uint64(q.Data[8*i:]))
		}
	}
	f.signal.Handle(func(src int, w device.Head) {
		h := headOf(&w)
		e.told(int32(src), &h)
		f.handled = true
	})
	return f
}

func (f *remote) enter() {
	if f.depth++; f.depth == 1 {
		f.signal.Mask(true)
	}
}

func (f *remote) leave() {
	if f.depth--; f.depth == 0 {
		f.signal.Mask(false)
	}
}

func (f *remote) tell(dst int, h *head) { f.signal.Raise(dst, h.words()) }

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

func (f *remote) request(p *peer) *request {
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
		target: target{key: key(0), block: key(1), off: int(w(5)), token: w(6)}}
	f.queue.Drop(p.requests)
	return &f.asked
}

func (f *remote) post(p *peer, o *op, h head) {
	if !o.exposed {
		o.key, o.exposed = f.memory.Expose(o.Buf), true
	}
	f.token++
	o.token = f.token
	block, off := f.slot(o.ID())
	b := f.entry[:requestLen]
	for i, w := range [...]uint32{h.context, uint32(h.tag), uint32(min(h.size, math.MaxUint32)), h.serial, h.other, uint32(off), o.token} {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	binary.LittleEndian.PutUint64(b[7*4:], uint64(o.key))
	binary.LittleEndian.PutUint64(b[7*4+8:], uint64(block))
	f.queue.Enqueue(int(p.rank), p.toRequests, b, device.Retry|device.Quiet, (&head{kind: kindLost}).words())
}

// slot returns where the completion record of a receive is, by the number of its operation.
func (f *remote) slot(id uint32) (device.Key, int) {
	i := int(id)
	for i/chunk >= len(f.records) {
		f.records = append(f.records, f.memory.Expose(make([]byte, chunk*recordLen)))
	}
	return f.records[i/chunk], i % chunk * recordLen
}

// write puts the data, and the record behind it. A send whose data the port has taken is complete.
func (f *remote) write(p *peer, s *op, r *request) {
	dst := int(p.rank)
	binary.NativeEndian.PutUint64(s.record[:], uint64(r.token)|uint64(s.Size)<<32)
	binary.NativeEndian.PutUint64(s.record[8:], uint64(uint32(s.Tag))|uint64(s.Sign)<<32)
	if f.taken > 0 {
		for at := 0; at < s.Size; at += f.taken {
			f.memory.Put(dst, r.key, at, s.Buf[at:min(at+f.taken, s.Size)], device.NoCompletion)
		}
		f.memory.Put(dst, r.block, r.off, s.record[:], device.NoCompletion)
		f.e.rank.Complete(&s.Op)
		return
	}
	done := (&head{kind: kindPut, from: s.ID()}).words()
	s.puts = 1
	if s.Size > 0 {
		s.puts = 2
		f.memory.Put(dst, r.key, 0, s.Buf[:s.Size], done)
	}
	f.memory.Put(dst, r.block, r.off, s.record[:], done)
}

// answers completes the receives from a rank whose completion records are there. Requests are
// answered in their order.
func (f *remote) answers(p *peer) bool {
	any := false
	for o := p.receives.head; o != nil; {
		next := o.next
		if o.live {
			block, off := f.slot(o.ID())
			first := f.watch.Load(block, off)
			if uint32(first) != o.token {
				break
			}
			what := f.watch.Load(block, off+8)
			f.e.answered(o, p.rank, int32(what), int(first>>32), engine.Signature(what>>32))
			any = true
		}
		o = next
	}
	return any
}

// enqueue puts a message into the FIFO. Its send ends at once, unless it is synchronous: the system
// has taken the data, and sends it again if the FIFO refuses it. It keeps no more than the FIFO
// holds.
func (f *remote) enqueue(p *peer, s *op) {
	if f.taken == 0 || s.Mode == model.Synchronous || s.Detached() || p.refused != nil || p.window > 0 || p.kept+s.Size > f.e.size.fifo {
		f.push(p, s)
		return
	}
	x := f.e.rank.Continue(&s.Op).Self.(*op)
	f.e.renew(x)
	x.kept = true
	p.kept += s.Size
	f.push(p, x)
	f.e.rank.Own(&x.Op)
	f.e.rank.Complete(&s.Op)
}

func (f *remote) push(p *peer, s *op) {
	s.header = f.e.next(p, s)
	s.queued = true
	p.flight = append(p.flight, s)
	f.fill(p)
}

// fill starts the messages on the way that may be started.
func (f *remote) fill(p *peer) {
	for p.refused == nil && !p.partly && p.begun < len(p.flight) && (p.window == 0 || p.begun < p.window) {
		p.begun++
		f.start(p, p.flight[p.begun-1], 0)
	}
}

// parts returns how many entries a message is.
func (f *remote) parts(s *op) uint32 {
	return 1 + uint32((s.Size+f.limit-1)/f.limit)
}

// start starts the entries of a message, from one on, or as many as may be started at a time: else
// all entries behind a refused one would cross the network again and again, and be refused.
func (f *remote) start(p *peer, s *op, from uint32) {
	n := f.parts(s)
	if p.partly = p.burst > 0 && n-from > p.burst; p.partly {
		n = from + p.burst
	}
	for i := from; i < n; i++ {
		flags := device.Quiet
		if i == n-1 {
			flags = 0
		}
		if p.retry {
			flags |= device.Retry
			p.retry = false
		}
		f.put(p, s, i, flags)
	}
}

// put starts one entry.
func (f *remote) put(p *peer, s *op, part uint32, flags device.EnqueueFlags) {
	var b []byte
	if part == 0 {
		b = f.entry[:headerLen]
		packHeader(b, &s.header)
	} else {
		at := int(part-1) * f.limit
		b = s.Buf[at:min(at+f.limit, s.Size)]
	}
	done := head{kind: kindEntry, from: s.ID(), to: part, found: flags&device.Quiet == 0}
	if done.found {
		p.flags++
	}
	f.queue.Enqueue(int(p.rank), p.toMessages, b, flags, done.words())
}

// entered takes in the completion of an entry of a message. It reports whether more is known than
// that the FIFO is still full. Completions come in the order of the entries, so those of all
// entries that were refused are there when the last one's is.
func (f *remote) entered(q *device.Packet, h *head) bool {
	s := f.e.ops[h.from]
	p := f.e.peer(s.Peer)
	if h.found {
		p.flags--
	}
	switch last := h.to == f.parts(s)-1; {
	case q.Refused && p.refused != nil:
		return false
	case q.Refused: // all that are behind it will be
		p.refused, p.part, p.begun, p.window = s, h.to, 1, 1
		p.burst, p.partly = 1, false
		f.refusals = append(f.refusals, p)
		f.e.port.NotifyExit(int(p.rank), (&head{kind: kindExit}).words())
	case !last: // it was tried again, or is the last of those that were started
		if p.refused != nil {
			f.accepted(p)
		}
		p.burst = min(2*p.burst, 1<<20)
		f.start(p, s, h.to+1)
		return true
	case p.refused != nil:
		f.accepted(p)
		fallthrough
	default:
		if p.window > 0 {
			p.window++
		}
		f.landed(p)
		f.e.left(s)
		f.fill(p)
	}
	return true
}

// accepted notes that no entry is refused any more.
func (f *remote) accepted(p *peer) {
	p.refused = nil
	i := slices.Index(f.refusals, p)
	f.refusals = slices.Delete(f.refusals, i, i+1)
}

// landed removes the first message from those on the way.
func (f *remote) landed(p *peer) {
	s := p.flight[0]
	if s.queued = false; s.kept {
		s.kept = false
		p.kept -= s.Size
	}
	p.flight = slices.Delete(p.flight, 0, 1)
	p.begun--
}

// retry starts refused entries once more, whose refusals are all known, and reports whether it has
// ended a send instead.
func (f *remote) retry() (ended bool) {
	for _, p := range f.refusals {
		switch {
		case p.flags > 0:
		case p.gone:
			f.withdraw(p)
			return true
		default:
			f.e.counts[retried]++
			f.put(p, p.refused, p.part, device.Retry)
		}
	}
	return false
}

// ready reports whether an entry is to be tried again now.
func (f *remote) ready() bool {
	return slices.ContainsFunc(f.refusals, func(p *peer) bool { return p.flags == 0 })
}

// withdraw goes on without the message whose entry was refused: it is cancelled, or for a rank that
// has ended. The next one is tried in its place, as the FIFO refuses what is not.
func (f *remote) withdraw(p *peer) {
	s := p.refused
	f.landed(p)
	switch {
	case s.cancel > 0:
		f.e.cancelled(s)
	case s.Mode != model.Synchronous:
		f.e.rank.Complete(&s.Op)
	}
	p.refused = nil
	if len(p.flight) > 0 {
		p.refused, p.part, p.begun = p.flight[0], 0, 1
		return
	}
	p.retry = true
	f.accepted(p)
}

// recall waits until it is known which entries were taken: the machine says so whatever the other
// rank does.
func (f *remote) recall(p *peer, s *op) {
	i := slices.Index(p.flight, s)
	for i < p.begun && s.queued && (p.refused == nil || p.flags > 0) {
		f.packet(f.e.port.Recv(true))
		i = slices.Index(p.flight, s)
	}
	switch {
	case !s.queued: // its cancel has gone on
	case i >= p.begun:
		p.flight = slices.Delete(p.flight, i, i+1)
		s.queued = false
		f.e.cancelled(s)
	case p.part == 0:
		f.withdraw(p)
	}
}

func (f *remote) ended(p *peer) {
	p.gone = true
	f.answers(p)
}

func (f *remote) progress(block bool) bool {
	for {
		if f.handled || f.retry() {
			f.handled = false
			return true
		}
		seen, every := f.watch.Events(), f.every()
		if (!f.looked || seen != f.quiet || every && !f.wide) && f.poll(every) {
			return true
		}
		f.quiet, f.wide, f.looked = seen, every, true
		if !block {
			return false
		}
		if f.ready() {
			continue
		}
		f.leave()
		f.watch.Wait(seen, device.Forever)
		f.enter()
	}
}

// every reports whether messages of all ranks are taken in. If receives wait, but none for a
// sender, its messages stay in their FIFO, unless that is full: so what collective operations send
// ahead needs no temporary buffer.
func (f *remote) every() bool {
	e := f.e
	return e.probing || e.wilds.head != nil || e.posted.Len() == 0 && !slices.ContainsFunc(e.all, (*peer).receiving)
}

// poll looks for a packet, a completion record and a message, and takes in the first thing that it
// finds.
func (f *remote) poll(every bool) bool {
	e := f.e
	for q := e.port.Recv(false); q != nil; q = e.port.Recv(false) {
		if f.packet(q) {
			return true
		}
	}
	for _, p := range e.all {
		if f.answers(p) {
			return true
		}
	}
	for _, p := range e.all {
		if (every || p.receives.head != nil || p.partial != nil || f.queue.Refusing(p.messages)) && f.take(p, nil) {
			e.repost()
			return true
		}
	}
	return false
}

// packet takes in a packet, and reports whether it was news.
func (f *remote) packet(q *device.Packet) bool {
	e, h := f.e, headOf(&q.Head)
	if q.Head == device.NoCompletion {
		h.kind = kindPut
	}
	switch h.kind {
	case kindPut:
		if q.Refused {
			panic(fmt.Sprintf("mbcf: rank %d: a remote write was refused: the buffer is not exposed", e.self))
		}
		s := e.ops[h.from]
		if s.puts--; s.puts > 0 {
			return false
		}
		e.rank.Complete(&s.Op)
	case kindEntry:
		return f.entered(q, &h)
	case kindLost:
		e.counts[lost]++
		return false
	default:
		e.control(q, &h)
	}
	return true
}

// receiving reports whether a message comes in parts for a receive.
func (p *peer) receiving() bool { return p.partial != nil && p.partial.to != nil }

func (f *remote) drain(src int32, o *op) {
	f.looked = false // the rest of a message may be there, which no poll has looked for
	if src != engine.Any {
		f.take(f.e.peer(src), o)
		return
	}
	for _, p := range f.e.all {
		if o.list != nil {
			f.take(p, o)
		}
	}
}

// take takes messages from the FIFO of a rank until it is empty, or until o, if it is not nil, has
// one, or else any receive is complete.
func (f *remote) take(p *peer, o *op) bool {
	i := 0
	for done := false; i < engine.Look && !done; i++ {
		q := f.queue.First(p.messages)
		if q == nil {
			break
		}
		if done = f.part(p, q); o != nil {
			done = o.list == nil
		}
	}
	return i > 0
}

// part takes in one entry: a header, which says to which receive the data belongs, or data. It
// reports whether that completes a receive.
func (f *remote) part(p *peer, q *device.Packet) bool {
	defer f.queue.Drop(p.messages)
	m := p.partial
	if m == nil {
		if f.e.skip&retire == 0 {
			f.answers(p)
		}
		f.e.port.Copy(f.entry[:headerLen], q.Data)
		h := unpackHeader(f.entry)
		m = f.e.accept(p, &h)
	} else {
		f.e.add(m, q.Data)
	}
	if m.got < m.size {
		return false
	}
	received := m.to != nil
	f.e.taken(p, m)
	return received
}

func (f *remote) forget(o *op) {
	if o.exposed {
		o.exposed = false
		f.memory.Withdraw(o.key)
	}
}

// Barrier lets ranks signal each other by remote writes, in log2(n) rounds: dissemination. Each
// counts its signals to another one in a word there. The sources do not say how MPI/MBCF did it.
func (f *remote) barrier(n, me int, rank func(i int) int) {
	for step := 1; step < n; step <<= 1 {
		to, from := f.e.peer(int32(rank((me+step)%n))), f.e.peer(int32(rank((me-step+n)%n)))
		to.signalled++
		binary.NativeEndian.PutUint64(f.word[:], to.signalled)
		f.memory.Put(int(to.rank), to.toSignals, 8*int(f.e.self), f.word[:], device.NoCompletion)
		from.passed++
		f.e.rank.AwaitSignal(int(from.rank))
		for {
			seen := f.watch.Events()
			if f.watch.Load(f.signals, 8*int(from.rank)) >= from.passed {
				break
			}
			if !f.progress(false) && !f.ready() {
				f.leave()
				f.watch.Wait(seen, device.Forever)
				f.enter()
			}
		}
	}
	f.e.rank.AwaitSignal(-1)
}
