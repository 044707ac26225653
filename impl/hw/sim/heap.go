package sim

import (
	"math/bits"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// event is a scheduled action.
type event struct {
	action   Action
	arg      uint64
	nextSlot int // slot of the next event of its burst, or of the next free slot; 0: none
}

// burst is the time of a burst, the order in which it was scheduled, and its first remaining event.
type burst struct {
	at        unit.Time // not negative
	sequence  uint64    // of the burst's first event
	firstSlot int
}

// precedes returns 1 if k is earlier than l, else 0. It does not branch: of two events in a heap
// it cannot be predicted which is earlier.
func (k *burst) precedes(l *burst) int {
	_, less := bits.Sub64(k.sequence, l.sequence, 0)
	_, less = bits.Sub64(uint64(k.at), uint64(l.at), less)
	return int(less)
}

// eventHeap is a 4-ary heap of bursts: events of one time that were scheduled one right after the
// other. No other event can come between those of a burst, so they need one place in the heap. If
// many ranks do the same at the same time, most events belong to a burst.
//
// Note: container/heap boxes every event and compares through an interface, which costs four times
// as much with a thousand processes.
type eventHeap struct {
	bursts   []burst
	events   []event   // by slot; the first is not used
	freeSlot int       // first free slot; 0: none
	lastSlot int       // slot of the event that was scheduled last, if it has not happened yet
	lastTime unit.Time // its time
	later    calendar  // keys that are not in the heap yet
}

// reserve makes room for n events.
func (h *eventHeap) reserve(n int) {
	h.bursts = slices.Grow(h.bursts, n)
	h.events = slices.Grow(h.events, n+1)
}

func (h *eventHeap) isEmpty() bool { return len(h.bursts) == 0 && h.later.pending == 0 }

// firstTime returns the time of the first event of a heap that is not empty.
func (h *eventHeap) firstTime() unit.Time {
	if h.later.pending > 0 {
		h.beginDays()
	}
	return h.bursts[0].at
}

func (h *eventHeap) push(at unit.Time, seq uint64, a Action, arg uint64) {
	slot := h.allocateSlot()
	h.events[slot] = event{action: a, arg: arg}
	if h.lastSlot > 0 && h.lastTime == at {
		h.events[h.lastSlot].nextSlot = slot
	} else {
		h.addBurst(burst{at, seq, slot})
	}
	h.lastSlot, h.lastTime = slot, at
}

// allocateSlot returns a free slot.
func (h *eventHeap) allocateSlot() int {
	if slot := h.freeSlot; slot > 0 {
		h.freeSlot = h.events[slot].nextSlot
		return slot
	}
	h.events = append(h.events, event{})
	if len(h.events) == 1 {
		return h.allocateSlot()
	}
	return len(h.events) - 1
}

// insertBurst adds the key of a burst to the heap.
func (h *eventHeap) insertBurst(k burst) {
	h.bursts = append(h.bursts, k)
	e := h.bursts
	i := len(e) - 1
	for i > 0 {
		up := (i - 1) / 4
		if k.precedes(&e[up]) == 0 {
			break
		}
		e[i] = e[up]
		i = up
	}
	e[i] = k
}

// pop takes out the first event.
func (h *eventHeap) pop() (unit.Time, Action, uint64) {
	if h.later.pending > 0 {
		h.beginDays()
	}
	top := &h.bursts[0]
	at, slot := top.at, top.firstSlot
	x := &h.events[slot]
	a, arg, next := x.action, x.arg, x.nextSlot
	x.action, x.nextSlot, h.freeSlot = nil, h.freeSlot, slot
	if h.lastSlot == slot {
		h.lastSlot = 0
	}
	if next > 0 {
		top.firstSlot = next
	} else {
		h.dropFirst()
	}
	return at, a, arg
}

// dropFirst takes out the key of the first burst.
func (h *eventHeap) dropFirst() {
	n := len(h.bursts) - 1
	k := h.bursts[n]
	h.bursts = h.bursts[:n]
	if e := h.bursts; n > 0 {
		i := 0
		for c := earliestChild(e, 0); c > 0 && e[c].precedes(&k) == 1; c = earliestChild(e, i) {
			e[i] = e[c]
			i = c
		}
		e[i] = k
	}
}

// earliestChild returns the index of the earliest key below the i-th, or 0 if there is none.
func earliestChild(e []burst, i int) int {
	first := 4*i + 1
	if first >= len(e) {
		return 0
	}
	if first+4 <= len(e) {
		return first + earliestOf4((*[4]burst)(e[first:]))
	}
	c := first
	for d := c + 1; d < len(e); d++ {
		c += (d - c) * e[d].precedes(&e[c])
	}
	return c
}

// earliestOf4 returns the index of the earliest of four keys, without branches.
func earliestOf4(e *[4]burst) int {
	a := e[1].precedes(&e[0])
	b := 2 + e[3].precedes(&e[2])
	return a + (b-a)*e[b&3].precedes(&e[a&3])
}

// procQueue is a first-in first-out queue of processes.
type procQueue struct {
	procs []*Proc
	head  int
}

func (q *procQueue) push(p *Proc) { q.procs = append(q.procs, p) }

func (q *procQueue) pop() *Proc {
	if q.head == len(q.procs) {
		return nil
	}
	p := q.procs[q.head]
	q.head++
	if q.head == len(q.procs) {
		q.procs, q.head = q.procs[:0], 0
	}
	return p
}

func (q *procQueue) isEmpty() bool { return q.head == len(q.procs) }
