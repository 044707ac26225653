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

// asyncMessagePool is the state of a PE's asynchronous messages. The slots are in its symmetric
// memory:
//
//	source (4 bytes)  tag (4)  length of the message (4)  serial (4)  offset (4)  status (4)  data
//
// The messages of the slots below low have been received.
type asyncMessagePool struct {
	firstFreeSlotHint   int
	segmentsNotReceived segmentList
	serial              uint32 // of the last message that was sent
}

// slotHeaderBytes is the bytes of a slot in front of its data. The word with the status, which is
// put last, begins at slotStatusOffset.
const (
	slotHeaderBytes  = 24
	slotStatusOffset = 16
)

// States of a slot. The state is the last word of the slot's header.
const (
	slotFree     = 0
	slotWritten  = 1 // DONE in the paper
	slotReceived = 2
)

// segment is the part of a message that a slot has, as the slot's header describes it.
type segment struct {
	source, tag, total int
	serial             uint32 // of the message, among those of its source
	offset             int
	data               []byte
	next               *segment // in the list
}

// segmentList has segments that were sent and not received, the oldest first.
type segmentList struct{ head, tail, freeSegments *segment }

// segmentPattern describes the segment that a receive looks for: the first of a message by source
// and tag, a later one by serial and offset.
type segmentPattern struct {
	source, tag int
	serial      uint32
	offset      int
}

func (w *segmentPattern) matches(s *segment) bool {
	if w.offset > 0 {
		return s.source == w.source && s.serial == w.serial && s.offset == w.offset
	}
	return s.offset == 0 && (w.source == AnyPE || s.source == w.source) && (w.tag == AnyTag || s.tag == w.tag)
}

// slotOffset returns where a slot begins.
func (e *PE) slotOffset(i int) int {
	return e.completionOffset() + completionBlockBytes + i*(slotHeaderBytes+e.options.SlotBytes)
}

// slotStatus returns the state of a slot. If it is written, header and data have arrived.
func (e *PE) slotStatus(i int) uint32 {
	return uint32(e.memory.LoadWord(e.slotOffset(i) + slotStatusOffset))
}

func (e *PE) setSlotStatus(i int, s uint64) { e.memory.StoreWord(e.slotOffset(i)+slotStatusOffset, s) }

// readSegment returns the segment in a slot that has been written.
func (e *PE) readSegment(i int) segment {
	at := e.slotOffset(i)
	s := e.readSegmentHeader(at)
	s.data = e.memory.Symmetric()[at+slotHeaderBytes:][:min(s.total-s.offset, e.options.SlotBytes)]
	return s
}

// readSegmentHeader returns the segment in a slot without its data.
func (e *PE) readSegmentHeader(at int) segment {
	where, what, offset := e.memory.LoadWord(at), e.memory.LoadWord(at+8), int(e.memory.LoadWord(at+slotStatusOffset)>>32)
	return segment{source: int(where >> 32), tag: int(int32(where)), total: int(what >> 32), serial: uint32(what), offset: offset}
}

// SendAsync sends b to dst, which may be the PE itself, with a tag that is not negative. It returns
// when the message is in the pool of dst, and waits for that while the pool is full.
func (e *PE) SendAsync(dst, tag int, b []byte) {
	e.enterCall("SendAsync", dst)
	e.checkRank(dst)
	e.checkTag(tag, false)
	if len(b) > maxMessageBytes {
		e.failCall("%d bytes: a message has at most %d", len(b), maxMessageBytes)
	}
	e.transport.sendAsync(dst, tag, b)
	e.leaveCall()
}

func (e putTransport) sendAsync(dst, tag int, b []byte) {
	e.spend(model.AclmplSendAsyncCost, 1)
	e.drainIfFull()
	e.pool.serial++
	what := uint64(len(b))<<32 | uint64(e.pool.serial)
	for offset := 0; offset == 0 || offset < len(b); offset += e.options.SlotBytes {
		at := e.slotOffset(e.claimSlot(dst))
		e.memory.PutWords(dst, at, uint64(e.rank)<<32|uint64(uint32(tag)), what)
		e.memory.PutSymmetric(dst, at+slotHeaderBytes, b[offset:min(offset+e.options.SlotBytes, len(b))])
		e.memory.Quiet()
		e.memory.PutWords(dst, at+slotStatusOffset, uint64(offset)<<32|slotWritten)
	}
}

// claimSlot returns the number of a slot in the pool of dst that the PE may write. While there is
// none it drains its own pool: else two PEs that send to each other with full pools would wait
// forever. Tries beyond the last slot do no harm, as the register is reset when the pool is
// drained.
func (e putTransport) claimSlot(dst int) int {
	for {
		if i := e.memory.FetchAndIncrement(dst); i < int64(e.options.PoolSlots) {
			return int(i)
		}
		e.stats.FullPoolEncounters++
		e.drainIfFull()
		e.memory.PollPackets()
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
	e.enterCall(call, noAwaitedPE)
	if src != AnyPE {
		e.checkRank(src)
		e.awaitedPE = src
	}
	e.checkTag(tag, true)
	s, ok := e.transport.receiveAsync(src, tag, b, wait)
	e.leaveCall()
	return s, ok
}

func (e putTransport) receiveAsync(src, tag int, b []byte, wait bool) (Status, bool) {
	return e.receiveSegments(src, tag, b, wait)
}

// receiveSegments receives the first segment of a message, if there is one, and then the others.
func (e *PE) receiveSegments(src, tag int, b []byte, wait bool) (Status, bool) {
	e.spend(model.AclmplReceiveAsyncCost, 1)
	w := segmentPattern{source: src, tag: tag}
	first, ok := e.segmentTaker(w, b, wait)
	if !ok {
		e.memory.PollPackets()
		return Status{}, false
	}
	w = segmentPattern{source: first.source, serial: first.serial}
	for w.offset = e.options.SlotBytes; w.offset < first.total; w.offset += e.options.SlotBytes {
		e.segmentTaker(w, b, true)
	}
	return Status{first.source, first.tag, first.total}, true
}

func (e *PE) checkTag(tag int, wild bool) {
	if tag < 0 && !(wild && tag == AnyTag) || tag > maxMessageBytes {
		e.failCall("tag %d: tags are from 0 to %d", tag, maxMessageBytes)
	}
}

// takeSegment copies the first segment that matches to its place in b. It searches the list before
// the pool, because the segments in the list are older.
//
// It is charged for reading the status of each slot from the first one on. A receive that waits
// repeats the scan, so when a segment arrives it is on average halfway through the pool.
func (e putTransport) takeSegment(w segmentPattern, b []byte, wait bool) (segment, bool) {
	e.spend(model.AclmplReadCost, 1)
	for waited := false; ; waited = true {
		seen := e.memory.EventCount()
		e.drainWhileWaiting()
		if s, ok := e.takeFromList(&w, b); ok {
			return s, true
		}
		if s, ok := e.takeFromPool(&w, b, waited); ok {
			return s, true
		}
		if !wait {
			e.spend(model.AclmplReadCost, e.options.PoolSlots)
			return segment{}, false
		}
		e.memory.WaitForEvent(seen)
	}
}

func (e *PE) takeFromList(w *segmentPattern, b []byte) (segment, bool) {
	l := &e.pool.segmentsNotReceived
	var before *segment
	for s := l.head; s != nil; before, s = s, s.next {
		if !w.matches(s) {
			continue
		}
		e.copyToUser(s, b)
		if before == nil {
			l.head = s.next
		} else {
			before.next = s.next
		}
		if l.tail == s {
			l.tail = before
		}
		s.next, l.freeSegments = l.freeSegments, s
		e.stats.ReceivedFromList++
		return *s, true
	}
	return segment{}, false
}

func (e *PE) takeFromPool(w *segmentPattern, b []byte, waited bool) (segment, bool) {
	i, s := e.findSlot(w, e.options.PoolSlots)
	if i == noAwaitedPE {
		return s, false
	}
	// The source may have written a slot after the search had found it free, and then this one.
	// What it sent before this message has arrived by now.
	same := *w
	same.source = s.source
	if k, earlier := e.findSlot(&same, i); k != noAwaitedPE {
		i, s = k, earlier
	}
	if waited {
		e.spend(model.AclmplReadCost, (e.options.PoolSlots+1)/2)
	} else {
		e.spend(model.AclmplReadCost, i+1)
	}
	e.copyToUser(&s, b)
	e.setSlotStatus(i, slotReceived)
	for e.pool.firstFreeSlotHint < e.options.PoolSlots && e.slotStatus(e.pool.firstFreeSlotHint) == slotReceived {
		e.pool.firstFreeSlotHint++
	}
	e.stats.ReceivedFromPool++
	return s, true
}

// findSlot returns the first slot below end that has what is wanted, or none.
func (e *PE) findSlot(w *segmentPattern, end int) (int, segment) {
	for i := e.pool.firstFreeSlotHint; i < end; i++ {
		if e.slotStatus(i) != slotWritten {
			continue
		}
		if s := e.readSegment(i); w.matches(&s) {
			return i, s
		}
	}
	return noAwaitedPE, segment{}
}

// copyToUser copies a segment to where the program wants the message.
func (e *PE) copyToUser(s *segment, b []byte) {
	if s.total > len(b) {
		e.failCall("a message of %d bytes from PE %d with tag %d does not fit a buffer of %d", s.total, s.source, s.tag, len(b))
	}
	e.port.Copy(b[s.offset:], s.data)
}

// drainIfFull drains the pool if its last slot has been written. All asynchronous calls check that.
func (e putTransport) drainIfFull() {
	e.spend(model.AclmplReadCost, 1)
	e.drainWhileWaiting()
}

// drainWhileWaiting is drainIfFull without its cost, for loops that wait.
func (e putTransport) drainWhileWaiting() {
	if e.slotStatus(e.options.PoolSlots-1) != slotFree {
		e.drainPool()
	}
}

// drainPool moves the messages of the pool to the list and frees all slots. Senders of lower slots
// may be later than that of the last one, so it waits for all of them. It resets the register last:
// from then on senders claim slots again.
func (e *PE) drainPool() {
	for i := range e.options.PoolSlots {
		for {
			seen := e.memory.EventCount()
			if e.slotStatus(i) != slotFree {
				break
			}
			e.memory.WaitForEvent(seen)
		}
	}
	e.spend(model.AclmplReadCost, e.options.PoolSlots)
	for i := range e.options.PoolSlots {
		if e.slotStatus(i) == slotWritten {
			e.appendToList(e.readSegment(i))
		}
	}
	for i := range e.options.PoolSlots {
		e.setSlotStatus(i, slotFree)
	}
	e.pool.firstFreeSlotHint = 0
	e.memory.ResetRegister()
	e.stats.PoolDrains++
}

func (e putTransport) barrier() { e.memory.Barrier(e.drainWhileWaiting) }

// appendToList appends a copy of a segment to the list.
func (e *PE) appendToList(s segment) {
	e.spend(model.AclmplKeepCost, 1)
	l := &e.pool.segmentsNotReceived
	k := l.freeSegments
	if k == nil {
		k = new(segment)
	} else {
		l.freeSegments = k.next
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

// countUnreceived returns how many messages were not received, and the first of them, when no more
// come.
func (e putTransport) countUnreceived() (n int, first Status) {
	note := func(s segment) {
		if s.offset > 0 {
			return
		}
		if n++; n == 1 {
			first = Status{s.source, s.tag, s.total}
		}
	}
	for s := e.pool.segmentsNotReceived.head; s != nil; s = s.next {
		note(*s)
	}
	for i := e.pool.firstFreeSlotHint; i < e.options.PoolSlots; i++ {
		if e.slotStatus(i) == slotWritten {
			note(e.readSegment(i))
		}
	}
	return n, first
}
