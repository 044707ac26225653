package aclmpl

import (
	"github.com/loggp/loggp/model"
)

// AnyPE and AnyTag stand for every source and every tag where a receive asks for a message.
const (
	AnyPE  = -1
	AnyTag = -1
)

// Status says what an asynchronous receive has received.
type Status struct {
	Source, Tag, Bytes int
}

// pool is the state of a PE's asynchronous messages. The slots are in its symmetric memory:
//
//	source (4 bytes)  tag (4)  length of the message (4)  serial (4)  offset (4)  status (4)  data
//
// The messages of the slots below low have been received.
type pool struct {
	low    int
	list   list
	serial uint32 // of the last message that was sent
}

// slotHeader is the bytes of a slot in front of its data. The word with the status, which is put
// last, begins at slotFlag.
const (
	slotHeader = 24
	slotFlag   = 16
)

// States of a slot. The state is the last word of the slot's header.
const (
	free     = 0
	written  = 1 // DONE in the paper
	received = 2
)

// segment is the part of a message that a slot has, as the slot's header describes it.
type segment struct {
	source, tag, total int
	serial             uint32 // of the message, among those of its source
	offset             int
	data               []byte
	next               *segment // in the list
}

// list has segments that were sent and not received, the oldest first.
type list struct{ head, tail, spare *segment }

// want describes the segment that a receive looks for: the first of a message by source and tag, a
// later one by serial and offset.
type want struct {
	source, tag int
	serial      uint32
	offset      int
}

func (w *want) matches(s *segment) bool {
	if w.offset > 0 {
		return s.source == w.source && s.serial == w.serial && s.offset == w.offset
	}
	return s.offset == 0 && (w.source == AnyPE || s.source == w.source) && (w.tag == AnyTag || s.tag == w.tag)
}

// slot returns where a slot begins.
func (e *PE) slot(i int) int {
	return e.completion() + completionSize + i*(slotHeader+e.opt.SlotSize)
}

// status returns the state of a slot. If it is written, header and data have arrived.
func (e *PE) status(i int) uint32 { return uint32(e.mem.Load(e.slot(i) + slotFlag)) }

func (e *PE) setStatus(i int, s uint64) { e.mem.Store(e.slot(i)+slotFlag, s) }

// segment returns the segment in a slot that has been written.
func (e *PE) segment(i int) segment {
	at := e.slot(i)
	s := e.header(at)
	s.data = e.mem.Symmetric()[at+slotHeader:][:min(s.total-s.offset, e.opt.SlotSize)]
	return s
}

// header returns the segment in a slot without its data.
func (e *PE) header(at int) segment {
	where, what, offset := e.mem.Load(at), e.mem.Load(at+8), int(e.mem.Load(at+slotFlag)>>32)
	return segment{source: int(where >> 32), tag: int(int32(where)), total: int(what >> 32), serial: uint32(what), offset: offset}
}

// SendAsync sends b to dst, which may be the PE itself, with a tag that is not negative. It returns
// when the message is in the pool of dst, and waits for that while the pool is full.
func (e *PE) SendAsync(dst, tag int, b []byte) {
	e.enter("SendAsync", dst)
	e.check(dst)
	e.checkTag(tag, false)
	if len(b) > maxBytes {
		e.fail("%d bytes: a message has at most %d", len(b), maxBytes)
	}
	e.by.sendAsync(dst, tag, b)
	e.leave()
}

func (e puts) sendAsync(dst, tag int, b []byte) {
	e.spend(model.AclmplSendAsync, 1)
	e.drainIfFull()
	e.pool.serial++
	what := uint64(len(b))<<32 | uint64(e.pool.serial)
	for offset := 0; offset == 0 || offset < len(b); offset += e.opt.SlotSize {
		at := e.slot(e.claim(dst))
		e.mem.PutWords(dst, at, uint64(e.rank)<<32|uint64(uint32(tag)), what)
		e.mem.PutSymmetric(dst, at+slotHeader, b[offset:min(offset+e.opt.SlotSize, len(b))])
		e.mem.Quiet()
		e.mem.PutWords(dst, at+slotFlag, uint64(offset)<<32|written)
	}
}

// claim returns the number of a slot in the pool of dst that the PE may write. While there is none
// it drains its own pool: else two PEs that send to each other with full pools would wait forever.
// Tries beyond the last slot do no harm, as the register is reset when the pool is drained.
func (e puts) claim(dst int) int {
	for {
		if i := e.mem.FetchInc(dst); i < int64(e.opt.Slots) {
			return int(i)
		}
		e.stats.Full++
		e.drainIfFull()
		e.mem.Poll()
	}
}

// ReceiveAsync receives the first message of a source (or AnyPE) with a tag (or AnyTag), and waits
// until there is one.
func (e *PE) ReceiveAsync(src, tag int, b []byte) Status {
	s, _ := e.receiveAsync("ReceiveAsync", src, tag, b, true)
	return s
}

// TryReceive is ReceiveAsync if there is such a message. If there is none, it returns false at
// once.
func (e *PE) TryReceive(src, tag int, b []byte) (Status, bool) {
	return e.receiveAsync("TryReceive", src, tag, b, false)
}

func (e *PE) receiveAsync(call string, src, tag int, b []byte, wait bool) (Status, bool) {
	e.enter(call, none)
	if src != AnyPE {
		e.check(src)
		e.peer = src
	}
	e.checkTag(tag, true)
	s, ok := e.by.receiveAsync(src, tag, b, wait)
	e.leave()
	return s, ok
}

func (e puts) receiveAsync(src, tag int, b []byte, wait bool) (Status, bool) {
	return e.segments(src, tag, b, wait)
}

// segments receives the first segment of a message, if there is one, and then the others.
func (e *PE) segments(src, tag int, b []byte, wait bool) (Status, bool) {
	e.spend(model.AclmplReceiveAsync, 1)
	w := want{source: src, tag: tag}
	first, ok := e.take(w, b, wait)
	if !ok {
		e.mem.Poll()
		return Status{}, false
	}
	w = want{source: first.source, serial: first.serial}
	for w.offset = e.opt.SlotSize; w.offset < first.total; w.offset += e.opt.SlotSize {
		e.take(w, b, true)
	}
	return Status{first.source, first.tag, first.total}, true
}

func (e *PE) checkTag(tag int, wild bool) {
	if tag < 0 && !(wild && tag == AnyTag) || tag > maxBytes {
		e.fail("tag %d: tags are from 0 to %d", tag, maxBytes)
	}
}

// takeSegment copies the first segment that matches to its place in b. It searches the list before
// the pool, because the segments in the list are older.
//
// It is charged for reading the status of each slot from the first one on. A receive that waits
// repeats the scan, so when a segment arrives it is on average halfway through the pool.
func (e puts) takeSegment(w want, b []byte, wait bool) (segment, bool) {
	e.spend(model.AclmplRead, 1)
	for waited := false; ; waited = true {
		seen := e.mem.Events()
		e.relieve()
		if s, ok := e.takeFromList(&w, b); ok {
			return s, true
		}
		if s, ok := e.takeFromPool(&w, b, waited); ok {
			return s, true
		}
		if !wait {
			e.spend(model.AclmplRead, e.opt.Slots)
			return segment{}, false
		}
		e.mem.Wait(seen)
	}
}

func (e *PE) takeFromList(w *want, b []byte) (segment, bool) {
	l := &e.pool.list
	var before *segment
	for s := l.head; s != nil; before, s = s, s.next {
		if !w.matches(s) {
			continue
		}
		e.copyOut(s, b)
		if before == nil {
			l.head = s.next
		} else {
			before.next = s.next
		}
		if l.tail == s {
			l.tail = before
		}
		s.next, l.spare = l.spare, s
		e.stats.FromList++
		return *s, true
	}
	return segment{}, false
}

func (e *PE) takeFromPool(w *want, b []byte, waited bool) (segment, bool) {
	i, s := e.search(w, e.opt.Slots)
	if i == none {
		return s, false
	}
	// The source may have written a slot after the search had found it free, and then this one.
	// What it sent before this message has arrived by now.
	same := *w
	same.source = s.source
	if k, earlier := e.search(&same, i); k != none {
		i, s = k, earlier
	}
	if waited {
		e.spend(model.AclmplRead, (e.opt.Slots+1)/2)
	} else {
		e.spend(model.AclmplRead, i+1)
	}
	e.copyOut(&s, b)
	e.setStatus(i, received)
	for e.pool.low < e.opt.Slots && e.status(e.pool.low) == received {
		e.pool.low++
	}
	e.stats.FromPool++
	return s, true
}

// search returns the first slot below end that has what is wanted, or none.
func (e *PE) search(w *want, end int) (int, segment) {
	for i := e.pool.low; i < end; i++ {
		if e.status(i) != written {
			continue
		}
		if s := e.segment(i); w.matches(&s) {
			return i, s
		}
	}
	return none, segment{}
}

// copyOut copies a segment to where the program wants the message.
func (e *PE) copyOut(s *segment, b []byte) {
	if s.total > len(b) {
		e.fail("a message of %d bytes from PE %d with tag %d does not fit a buffer of %d", s.total, s.source, s.tag, len(b))
	}
	e.port.Copy(b[s.offset:], s.data)
}

// drainIfFull drains the pool if its last slot has been written. All asynchronous calls check that.
func (e puts) drainIfFull() {
	e.spend(model.AclmplRead, 1)
	e.relieve()
}

// relieve is drainIfFull without its cost, for loops that wait.
func (e puts) relieve() {
	if e.status(e.opt.Slots-1) != free {
		e.drain()
	}
}

// drain moves the messages of the pool to the list and frees all slots. Senders of lower slots may
// be later than that of the last one, so it waits for all of them. It resets the register last:
// from then on senders claim slots again.
func (e *PE) drain() {
	for i := range e.opt.Slots {
		for {
			seen := e.mem.Events()
			if e.status(i) != free {
				break
			}
			e.mem.Wait(seen)
		}
	}
	e.spend(model.AclmplRead, e.opt.Slots)
	for i := range e.opt.Slots {
		if e.status(i) == written {
			e.keep(e.segment(i))
		}
	}
	for i := range e.opt.Slots {
		e.setStatus(i, free)
	}
	e.pool.low = 0
	e.mem.Reset()
	e.stats.Drains++
}

func (e puts) barrier() { e.mem.Barrier(e.relieve) }

// keep appends a copy of a segment to the list.
func (e *PE) keep(s segment) {
	e.spend(model.AclmplKeep, 1)
	l := &e.pool.list
	k := l.spare
	if k == nil {
		k = new(segment)
	} else {
		l.spare = k.next
	}
	data := k.data[:0]
	if cap(data) < len(s.data) {
		data = make([]byte, len(s.data))
	}
	*k = s
	k.data, k.next = data[:len(s.data)], nil
	e.port.Copy(k.data, s.data)
	if l.tail == nil {
		l.head = k
	} else {
		l.tail.next = k
	}
	l.tail = k
}

// unreceived returns how many messages were not received, and the first of them, when no more come.
func (e puts) unreceived() (n int, first Status) {
	note := func(s segment) {
		if s.offset > 0 {
			return
		}
		if n++; n == 1 {
			first = Status{s.source, s.tag, s.total}
		}
	}
	for s := e.pool.list.head; s != nil; s = s.next {
		note(*s)
	}
	for i := e.pool.low; i < e.opt.Slots; i++ {
		if e.status(i) == written {
			note(e.segment(i))
		}
	}
	return n, first
}
