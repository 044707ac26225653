package sim

import (
	"math/bits"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// event is a scheduled action.
type event struct {
	act  Action
	arg  uint64
	next int // slot of the next event of its burst, or of the next free slot; 0: none
}

// key is the time of a burst, the order in which it was scheduled, and its first remaining event.
type key struct {
	at   unit.Time // not negative
	seq  uint64    // of the burst's first event
	slot int
}

// before returns 1 if k is earlier than l, else 0. It does not branch: of two events in a heap
// it cannot be predicted which is earlier.
func (k *key) before(l *key) int {
	_, less := bits.Sub64(k.seq, l.seq, 0)
	_, less = bits.Sub64(uint64(k.at), uint64(l.at), less)
	return int(less)
}

// heap is a 4-ary heap of bursts: events of one time that were scheduled one right after the other.
// No other event can come between those of a burst, so they need one place in the heap. If many
// ranks do the same at the same time, most events belong to a burst.
//
// Note: container/heap boxes every event and compares through an interface, which costs four times
// as much with a thousand processes.
type heap struct {
	keys   []key
	events []event   // by slot; the first is not used
	free   int       // first free slot; 0: none
	last   int       // slot of the event that was scheduled last, if it has not happened yet
	lastAt unit.Time // its time
	later  calendar  // keys that are not in the heap yet
}

// reserve makes room for n events.
func (h *heap) reserve(n int) {
	h.keys = slices.Grow(h.keys, n)
	h.events = slices.Grow(h.events, n+1)
}

func (h *heap) empty() bool { return len(h.keys) == 0 && h.later.n == 0 }

// first returns the time of the first event of a heap that is not empty.
func (h *heap) first() unit.Time {
	if h.later.n > 0 {
		h.advance()
	}
	return h.keys[0].at
}

func (h *heap) push(at unit.Time, seq uint64, a Action, arg uint64) {
	slot := h.slot()
	h.events[slot] = event{act: a, arg: arg}
	if h.last > 0 && h.lastAt == at {
		h.events[h.last].next = slot
	} else {
		h.add(key{at, seq, slot})
	}
	h.last, h.lastAt = slot, at
}

// slot returns a free slot.
func (h *heap) slot() int {
	if slot := h.free; slot > 0 {
		h.free = h.events[slot].next
		return slot
	}
	h.events = append(h.events, event{})
	if len(h.events) == 1 {
		return h.slot()
	}
	return len(h.events) - 1
}

// insert adds the key of a burst to the heap.
func (h *heap) insert(k key) {
	h.keys = append(h.keys, k)
	e := h.keys
	i := len(e) - 1
	for i > 0 {
		up := (i - 1) / 4
		if k.before(&e[up]) == 0 {
			break
		}
		e[i] = e[up]
		i = up
	}
	e[i] = k
}

// pop takes out the first event.
func (h *heap) pop() (unit.Time, Action, uint64) {
	if h.later.n > 0 {
		h.advance()
	}
	top := &h.keys[0]
	at, slot := top.at, top.slot
	x := &h.events[slot]
	a, arg, next := x.act, x.arg, x.next
	x.act, x.next, h.free = nil, h.free, slot
	if h.last == slot {
		h.last = 0
	}
	if next > 0 {
		top.slot = next
	} else {
		h.drop()
	}
	return at, a, arg
}

// drop takes out the key of the first burst.
func (h *heap) drop() {
	n := len(h.keys) - 1
	k := h.keys[n]
	h.keys = h.keys[:n]
	if e := h.keys; n > 0 {
		i := 0
		for c := least(e, 0); c > 0 && e[c].before(&k) == 1; c = least(e, i) {
			e[i] = e[c]
			i = c
		}
		e[i] = k
	}
}

// least returns the index of the earliest key below the i-th, or 0 if there is none.
func least(e []key, i int) int {
	first := 4*i + 1
	if first >= len(e) {
		return 0
	}
	if first+4 <= len(e) {
		return first + leastOf4((*[4]key)(e[first:]))
	}
	c := first
	for d := c + 1; d < len(e); d++ {
		c += (d - c) * e[d].before(&e[c])
	}
	return c
}

// leastOf4 returns the index of the earliest of four keys, without branches.
func leastOf4(e *[4]key) int {
	a := e[1].before(&e[0])
	b := 2 + e[3].before(&e[2])
	return a + (b-a)*e[b&3].before(&e[a&3])
}

// queue is a first-in first-out queue of processes.
type queue struct {
	p    []*Proc
	head int
}

func (q *queue) push(p *Proc) { q.p = append(q.p, p) }

func (q *queue) pop() *Proc {
	if q.head == len(q.p) {
		return nil
	}
	p := q.p[q.head]
	q.head++
	if q.head == len(q.p) {
		q.p, q.head = q.p[:0], 0
	}
	return p
}

func (q *queue) empty() bool { return q.head == len(q.p) }
