package aclmpl

import (
	"github.com/loggp/loggp/impl/library/shmem"
	"github.com/loggp/loggp/model"
)

// arena is the port to machines whose processors share memory, as the SGI Power Challenge and Onyx
// with IRIX's arenas. Processors do not know where the others' buffers are, so that messages go
// through the arena and are copied twice. Painter et al. 1995, section 4.4.
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
type arena struct {
	*PE
	room     int      // slots of a sender
	sent     []uint64 // segments to each PE, published in its memory,
	received []uint64 // and from each
	filled   []uint64 // slots that were filled in each PE's memory,
	cleared  []uint64 // and cleared of each
	first    int      // whose slots are looked at first
}

// newArena makes the arenas of a PE.
func newArena(e *PE) *arena {
	a := &arena{PE: e, room: max(1, e.opt.Slots/e.n), sent: make([]uint64, e.n), received: make([]uint64, e.n), filled: make([]uint64, e.n), cleared: make([]uint64, e.n)}
	e.take = a.takeSegment
	e.mem = shmem.New(e.port, a.slotOf(e.n, 0))
	e.mem.Barrier(nil)
	return a
}

// segmentBits is how much of a word the length of a segment has, beside its place.
const segmentBits = 32

func (a *arena) ready(pe int) int     { return 8 * pe }
func (a *arena) told(pe int) int      { return 8 * (a.n + pe) }
func (a *arena) published(pe int) int { return 16 * (a.n + pe) }
func (a *arena) freed(pe int) int     { return 8 * (4*a.n + pe) }
func (a *arena) region() int          { return 8 * 5 * a.n }

// slotOf returns where slot i of a sender begins: a header as that of the pool's slots, whose last
// word has the number of the segment in place of a status, then the data.
func (a *arena) slotOf(sender, i int) int {
	return a.region() + a.opt.Arena + (sender*a.room+i)*(slotHeader+8+a.opt.SlotSize)
}

// until waits until a word is at least a number.
func (a *arena) until(at int, least uint64) {
	for {
		seen := a.mem.Events()
		if a.mem.Load(at) >= least {
			a.spend(model.AclmplRead, 1)
			return
		}
		a.mem.Wait(seen)
	}
}

func (a *arena) send(dst int, b []byte) {
	a.spend(model.AclmplSend, 1)
	for done := a.publish(dst, b, 0); done < len(b); {
		a.until(a.told(dst), a.sent[dst])
		done += a.publish(dst, b, done)
	}
	a.until(a.told(dst), a.sent[dst])
}

func (a *arena) receive(src int, b []byte) int {
	a.spend(model.AclmplReceive, 1)
	a.want(src)
	for done := 0; ; a.want(src) {
		n, more := a.copyFrom(src, b, done)
		if done += n; !more {
			return done
		}
	}
}

// exchange sends and receives at the same time: both messages may have several segments.
func (a *arena) exchange(dst int, out []byte, src int, in []byte) int {
	a.spend(model.AclmplReceive, 1)
	a.want(src)
	a.spend(model.AclmplSend, 1)
	put, got := 0, 0
	copied, sending, receiving := false, true, true // copied: the region has the next segment
	for sending || receiving {
		seen, moved := a.mem.Events(), false
		if sending && !copied && a.mem.Load(a.told(dst)) >= a.sent[dst] {
			a.copyIn(out, put)
			copied, moved = true, true
		}
		if copied && a.mem.Load(a.ready(dst)) > a.sent[dst] {
			put += a.tell(dst, out, put)
			copied, moved, sending = false, true, put < len(out)
		}
		if receiving && a.mem.Load(a.published(src)+8) > a.received[src] {
			n, more := a.copyFrom(src, in, got)
			got += n
			if moved, receiving = true, more; more {
				a.want(src)
			}
		}
		if !moved {
			a.mem.Wait(seen)
		}
	}
	a.until(a.told(dst), a.sent[dst])
	return got
}

// want tells a sender that the PE is ready for its next segment.
func (a *arena) want(src int) { a.mem.PutWords(src, a.ready(a.rank), a.received[src]+1) }

// publish copies the next segment of b into the region, waits until its receiver is ready, and
// tells it. It returns the length of the segment.
func (a *arena) publish(dst int, b []byte, done int) int {
	a.copyIn(b, done)
	a.until(a.ready(dst), a.sent[dst]+1)
	return a.tell(dst, b, done)
}

// copyIn copies the segment of b from done on into the PE's region.
func (a *arena) copyIn(b []byte, done int) {
	a.mem.PutSymmetric(a.rank, a.region(), b[done:min(len(b), done+a.opt.Arena)])
	a.mem.Quiet()
}

// tell publishes the segment. Its place says whether it is the last.
func (a *arena) tell(dst int, b []byte, done int) int {
	n := min(len(b)-done, a.opt.Arena)
	place := uint64(a.region())
	if done+n < len(b) {
		place |= 1 << (segmentBits - 1)
	}
	a.sent[dst]++
	a.mem.PutWords(dst, a.published(a.rank), place<<segmentBits|uint64(n), a.sent[dst])
	return n
}

// copyFrom waits for the next segment of src, copies it to b from done on and tells src.
func (a *arena) copyFrom(src int, b []byte, done int) (n int, more bool) {
	at := a.published(src)
	a.until(at+8, a.received[src]+1)
	word := a.mem.Load(at)
	n = int(word & (1<<segmentBits - 1))
	place := int(word >> segmentBits)
	more = place>>(segmentBits-1) != 0
	if done+n > len(b) {
		a.fail("%d bytes or more from PE %d, and the receive has a buffer of %d", done+n, src, len(b))
	}
	a.mem.GetSymmetric(src, place&(1<<(segmentBits-1)-1), b[done:done+n])
	a.received[src]++
	a.mem.PutWords(src, a.told(a.rank), a.received[src])
	return n, more
}

func (a *arena) sendAsync(dst, tag int, b []byte) {
	a.spend(model.AclmplSendAsync, 1)
	a.pool.serial++
	what := uint64(len(b))<<32 | uint64(a.pool.serial)
	for offset := 0; offset == 0 || offset < len(b); offset += a.opt.SlotSize {
		a.awaitSlot(dst)
		at := a.slotOf(a.rank, int(a.filled[dst]%uint64(a.room)))
		a.filled[dst]++
		a.mem.PutSymmetric(dst, at+slotHeader+8, b[offset:min(offset+a.opt.SlotSize, len(b))])
		a.mem.PutWords(dst, at, uint64(a.rank)<<32|uint64(uint32(tag)), what, uint64(offset)<<32, a.filled[dst])
		a.mem.Quiet()
	}
}

// awaitSlot waits until the next slot for dst is free.
func (a *arena) awaitSlot(dst int) {
	for full := false; ; full = true {
		seen := a.mem.Events()
		a.spend(model.AclmplRead, 1)
		if a.filled[dst]-a.mem.Load(a.freed(dst)) < uint64(a.room) {
			return
		}
		if !full {
			a.stats.Full++
		}
		if !a.clear() {
			a.mem.Wait(seen)
		}
	}
}

// clear moves all messages in the PE's slots to the list, and reports whether there were any.
func (a *arena) clear() bool {
	some := false
	for src := range a.n {
		for s, ok := a.next(src); ok; s, ok = a.next(src) {
			a.keep(s)
			a.free(src)
			some = true
		}
	}
	if some {
		a.stats.Drains++
	}
	return some
}

// next returns the next segment in the slots of a sender.
func (a *arena) next(src int) (segment, bool) {
	at := a.slotOf(src, int(a.cleared[src]%uint64(a.room)))
	if a.mem.Load(at+24) != a.cleared[src]+1 {
		return segment{}, false
	}
	s := a.header(at)
	n := min(s.total-s.offset, a.opt.SlotSize)
	s.data = a.mem.Symmetric()[at+slotHeader+8:][:n]
	return s, true
}

// free gives the slot back to its sender.
func (a *arena) free(src int) {
	a.cleared[src]++
	a.mem.PutWords(src, a.freed(a.rank), a.cleared[src])
}

func (a *arena) receiveAsync(src, tag int, b []byte, wait bool) (Status, bool) {
	return a.segments(src, tag, b, wait)
}

// takeSegment copies the first segment that matches to its place in b.
func (a *arena) takeSegment(w want, b []byte, wait bool) (segment, bool) {
	a.spend(model.AclmplRead, 1)
	for {
		seen := a.mem.Events()
		if s, ok := a.takeFromList(&w, b); ok {
			return s, true
		}
		if s, ok := a.takeFromSlots(&w, b); ok {
			return s, true
		}
		if !wait {
			return segment{}, false
		}
		a.mem.Wait(seen)
	}
}

// takeFromSlots searches the slots of the senders that match, each sender's in order, and moves
// segments that do not match to the list. It begins with another sender each time, so that all are
// served.
func (a *arena) takeFromSlots(w *want, b []byte) (segment, bool) {
	for i := range a.n {
		src := (a.first + i) % a.n
		if w.source != AnyPE && src != w.source {
			continue
		}
		for s, ok := a.next(src); ok; s, ok = a.next(src) {
			a.spend(model.AclmplRead, 1)
			if !w.matches(&s) {
				a.keep(s)
				a.free(src)
				continue
			}
			a.copyOut(&s, b)
			a.free(src)
			a.stats.FromPool++
			a.first = src + 1
			return s, true
		}
	}
	return segment{}, false
}

// barrier clears slots while it waits: senders may be waiting for them.
func (a *arena) barrier() { a.mem.Barrier(func() { a.clear() }) }

func (a *arena) unreceived() (n int, first Status) {
	a.clear()
	for s := a.pool.list.head; s != nil; s = s.next {
		if s.offset > 0 {
			continue
		}
		if n++; n == 1 {
			first = Status{s.source, s.tag, s.total}
		}
	}
	return n, first
}
