package aclmpl

import (
	"github.com/loggp/loggp/impl/library/shmem"
	"github.com/loggp/loggp/model"
)

// arenaTransport is the port to machines whose processors share memory, as the SGI Power Challenge
// and Onyx with IRIX's arenas. Processors do not know where the others' buffers are, so that
// messages go through the arena and are copied twice. Painter et al. 1995, section 4.4.
//
// Synchronous: the sender copies the message into its region of the arena, waits until the receiver
// is ready, and publishes size and location. The receiver copies it out and tells the sender, which
// has its region back then. What is longer than a region goes in segments.
//
// Asynchronous: a second arena has slots in each PE, the same number for each sender. The sender
// waits until its next slot is free, copies the message into it and numbers it. The receiver takes
// the messages of a sender in the order of their numbers. It moves messages that do not match to
// the list, so that later ones can be found. A sender that waits moves the messages in its own
// slots, too.
//
// Note: if all senders share the slots, as in the paper, the search for a free one needs a lock.
//
// Memory of each PE, after which come the region and the slots:
//
//	by PE     ready   segments that it wants of this PE's
//	by PE     told    segments that it has copied out
//	by PE     place and length of its segment (8 bytes), and its number (8)
//	by PE     freed   slots of this PE's that it has cleared
type arenaTransport struct {
	*PE
	slotsPerSender    int      // slots of a sender
	sentSegments      []uint64 // segments to each PE, published in its memory,
	receivedSegments  []uint64 // and from each
	filledSlots       []uint64 // slots that were filled in each PE's memory,
	clearedSlots      []uint64 // and cleared of each
	firstPolledSender int      // whose slots are looked at first
}

// newArenaTransport makes the arenas of a PE.
func newArenaTransport(e *PE) *arenaTransport {
	a := &arenaTransport{PE: e, slotsPerSender: max(1, e.options.PoolSlots/e.peCount), sentSegments: make([]uint64, e.peCount), receivedSegments: make([]uint64, e.peCount), filledSlots: make([]uint64, e.peCount), clearedSlots: make([]uint64, e.peCount)}
	e.segmentTaker = a.takeSegment
	e.memory = shmem.NewPE(e.port, a.senderSlotOffset(e.peCount, 0))
	e.memory.Barrier(nil)
	return a
}

// segmentBits is how much of a word the length of a segment has, beside its place.
const segmentBits = 32

func (a *arenaTransport) readyOffset(pe int) int     { return 8 * pe }
func (a *arenaTransport) announcedOffset(pe int) int { return 8 * (a.peCount + pe) }
func (a *arenaTransport) publishedOffset(pe int) int { return 16 * (a.peCount + pe) }
func (a *arenaTransport) freedOffset(pe int) int     { return 8 * (4*a.peCount + pe) }
func (a *arenaTransport) regionOffset() int          { return 8 * 5 * a.peCount }

// senderSlotOffset returns where slot i of a sender begins: a header as that of the pool's slots,
// whose last word has the number of the segment in place of a status, then the data.
func (a *arenaTransport) senderSlotOffset(sender, i int) int {
	return a.regionOffset() + a.options.ArenaBytes + (sender*a.slotsPerSender+i)*(slotHeaderBytes+8+a.options.SlotBytes)
}

// awaitWordAtLeast waits until a word is at least a number.
func (a *arenaTransport) awaitWordAtLeast(at int, least uint64) {
	for {
		seen := a.memory.EventCount()
		if a.memory.LoadWord(at) >= least {
			a.spend(model.AclmplReadCost, 1)
			return
		}
		a.memory.WaitForEvent(seen)
	}
}

func (a *arenaTransport) send(dst int, b []byte) {
	a.spend(model.AclmplSendCost, 1)
	for done := a.publishSegment(dst, b, 0); done < len(b); {
		a.awaitWordAtLeast(a.announcedOffset(dst), a.sentSegments[dst])
		done += a.publishSegment(dst, b, done)
	}
	a.awaitWordAtLeast(a.announcedOffset(dst), a.sentSegments[dst])
}

func (a *arenaTransport) receive(src int, b []byte) int {
	a.spend(model.AclmplReceiveCost, 1)
	a.announceReady(src)
	for done := 0; ; a.announceReady(src) {
		n, more := a.copyFromRegion(src, b, done)
		if done += n; !more {
			return done
		}
	}
}

// exchange sends and receives at the same time: both messages may have several segments.
func (a *arenaTransport) exchange(dst int, out []byte, src int, in []byte) int {
	a.spend(model.AclmplReceiveCost, 1)
	a.announceReady(src)
	a.spend(model.AclmplSendCost, 1)
	put, got := 0, 0
	copied, sending, receiving := false, true, true // copied: the region has the next segment
	for sending || receiving {
		seen, moved := a.memory.EventCount(), false
		if sending && !copied && a.memory.LoadWord(a.announcedOffset(dst)) >= a.sentSegments[dst] {
			a.copyToRegion(out, put)
			copied, moved = true, true
		}
		if copied && a.memory.LoadWord(a.readyOffset(dst)) > a.sentSegments[dst] {
			put += a.announceSegment(dst, out, put)
			copied, moved, sending = false, true, put < len(out)
		}
		if receiving && a.memory.LoadWord(a.publishedOffset(src)+8) > a.receivedSegments[src] {
			n, more := a.copyFromRegion(src, in, got)
			got += n
			if moved, receiving = true, more; more {
				a.announceReady(src)
			}
		}
		if !moved {
			a.memory.WaitForEvent(seen)
		}
	}
	a.awaitWordAtLeast(a.announcedOffset(dst), a.sentSegments[dst])
	return got
}

// announceReady tells a sender that the PE is ready for its next segment.
func (a *arenaTransport) announceReady(src int) {
	a.memory.PutWords(src, a.readyOffset(a.rank), a.receivedSegments[src]+1)
}

// publishSegment copies the next segment of b into the region, waits until its receiver is ready,
// and tells it. It returns the length of the segment.
func (a *arenaTransport) publishSegment(dst int, b []byte, done int) int {
	a.copyToRegion(b, done)
	a.awaitWordAtLeast(a.readyOffset(dst), a.sentSegments[dst]+1)
	return a.announceSegment(dst, b, done)
}

// copyToRegion copies the segment of b from done on into the PE's region.
func (a *arenaTransport) copyToRegion(b []byte, done int) {
	a.memory.PutSymmetric(a.rank, a.regionOffset(), b[done:min(len(b), done+a.options.ArenaBytes)])
	a.memory.Quiet()
}

// announceSegment publishes the segment. Its place says whether it is the last.
func (a *arenaTransport) announceSegment(dst int, b []byte, done int) int {
	n := min(len(b)-done, a.options.ArenaBytes)
	place := uint64(a.regionOffset())
	if done+n < len(b) {
		place |= 1 << (segmentBits - 1)
	}
	a.sentSegments[dst]++
	a.memory.PutWords(dst, a.publishedOffset(a.rank), place<<segmentBits|uint64(n), a.sentSegments[dst])
	return n
}

// copyFromRegion waits for the next segment of src, copies it to b from done on and tells src.
func (a *arenaTransport) copyFromRegion(src int, b []byte, done int) (n int, more bool) {
	at := a.publishedOffset(src)
	a.awaitWordAtLeast(at+8, a.receivedSegments[src]+1)
	word := a.memory.LoadWord(at)
	n = int(word & (1<<segmentBits - 1))
	place := int(word >> segmentBits)
	more = place>>(segmentBits-1) != 0
	if done+n > len(b) {
		a.failCall("%d bytes or more from PE %d, and the receive has a buffer of %d", done+n, src, len(b))
	}
	a.memory.GetSymmetric(src, place&(1<<(segmentBits-1)-1), b[done:done+n])
	a.receivedSegments[src]++
	a.memory.PutWords(src, a.announcedOffset(a.rank), a.receivedSegments[src])
	return n, more
}

func (a *arenaTransport) sendAsync(dst, tag int, b []byte) {
	a.spend(model.AclmplSendAsyncCost, 1)
	a.pool.serial++
	what := uint64(len(b))<<32 | uint64(a.pool.serial)
	for offset := 0; offset == 0 || offset < len(b); offset += a.options.SlotBytes {
		a.awaitSlot(dst)
		at := a.senderSlotOffset(a.rank, int(a.filledSlots[dst]%uint64(a.slotsPerSender)))
		a.filledSlots[dst]++
		a.memory.PutSymmetric(dst, at+slotHeaderBytes+8, b[offset:min(offset+a.options.SlotBytes, len(b))])
		a.memory.PutWords(dst, at, uint64(a.rank)<<32|uint64(uint32(tag)), what, uint64(offset)<<32, a.filledSlots[dst])
		a.memory.Quiet()
	}
}

// awaitSlot waits until the next slot for dst is free.
func (a *arenaTransport) awaitSlot(dst int) {
	for full := false; ; full = true {
		seen := a.memory.EventCount()
		a.spend(model.AclmplReadCost, 1)
		if a.filledSlots[dst]-a.memory.LoadWord(a.freedOffset(dst)) < uint64(a.slotsPerSender) {
			return
		}
		if !full {
			a.stats.FullPoolEncounters++
		}
		if !a.clearSlots() {
			a.memory.WaitForEvent(seen)
		}
	}
}

// clearSlots moves all messages in the PE's slots to the list, and reports whether there were any.
func (a *arenaTransport) clearSlots() bool {
	some := false
	for src := range a.peCount {
		for s, ok := a.nextSegment(src); ok; s, ok = a.nextSegment(src) {
			a.appendToList(s)
			a.freeSlot(src)
			some = true
		}
	}
	if some {
		a.stats.PoolDrains++
	}
	return some
}

// nextSegment returns the next segment in the slots of a sender.
func (a *arenaTransport) nextSegment(src int) (segment, bool) {
	at := a.senderSlotOffset(src, int(a.clearedSlots[src]%uint64(a.slotsPerSender)))
	if a.memory.LoadWord(at+24) != a.clearedSlots[src]+1 {
		return segment{}, false
	}
	s := a.readSegmentHeader(at)
	n := min(s.total-s.offset, a.options.SlotBytes)
	s.data = a.memory.Symmetric()[at+slotHeaderBytes+8:][:n]
	return s, true
}

// freeSlot gives the slot back to its sender.
func (a *arenaTransport) freeSlot(src int) {
	a.clearedSlots[src]++
	a.memory.PutWords(src, a.freedOffset(a.rank), a.clearedSlots[src])
}

func (a *arenaTransport) receiveAsync(src, tag int, b []byte, wait bool) (Status, bool) {
	return a.receiveSegments(src, tag, b, wait)
}

// takeSegment copies the first segment that matches to its place in b.
func (a *arenaTransport) takeSegment(w segmentPattern, b []byte, wait bool) (segment, bool) {
	a.spend(model.AclmplReadCost, 1)
	for {
		seen := a.memory.EventCount()
		if s, ok := a.takeFromList(&w, b); ok {
			return s, true
		}
		if s, ok := a.takeFromSlots(&w, b); ok {
			return s, true
		}
		if !wait {
			return segment{}, false
		}
		a.memory.WaitForEvent(seen)
	}
}

// takeFromSlots searches the slots of the senders that match, each sender's in order, and moves
// segments that do not match to the list. It begins with another sender each time, so that all are
// served.
func (a *arenaTransport) takeFromSlots(w *segmentPattern, b []byte) (segment, bool) {
	for i := range a.peCount {
		src := (a.firstPolledSender + i) % a.peCount
		if w.source != AnyPE && src != w.source {
			continue
		}
		for s, ok := a.nextSegment(src); ok; s, ok = a.nextSegment(src) {
			a.spend(model.AclmplReadCost, 1)
			if !w.matches(&s) {
				a.appendToList(s)
				a.freeSlot(src)
				continue
			}
			a.copyToUser(&s, b)
			a.freeSlot(src)
			a.stats.ReceivedFromPool++
			a.firstPolledSender = src + 1
			return s, true
		}
	}
	return segment{}, false
}

// barrier clears slots while it waits: senders may be waiting for them.
func (a *arenaTransport) barrier() { a.memory.Barrier(func() { a.clearSlots() }) }

func (a *arenaTransport) countUnreceived() (n int, first Status) {
	a.clearSlots()
	for s := a.pool.segmentsNotReceived.head; s != nil; s = s.next {
		if s.offset > 0 {
			continue
		}
		if n++; n == 1 {
			first = Status{s.source, s.tag, s.total}
		}
	}
	return n, first
}
