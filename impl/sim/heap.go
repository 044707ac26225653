package sim

import (
	"math/bits"

	"github.com/loggp/loggp/model/unit"
)

// event is what is to happen.
type event struct {
	act Action
	arg uint64
}

// key is when it is to happen, and which of the heap's events it is.
type key struct {
	at   unit.Time // not negative
	seq  uint64
	slot int
}

// before returns 1 if k is earlier than l, else 0. It does not branch: of two events in a heap nobody can guess which is earlier.
func (k *key) before(l *key) int {
	_, less := bits.Sub64(k.seq, l.seq, 0)
	_, less = bits.Sub64(uint64(k.at), uint64(l.at), less)
	return int(less)
}

// heap is a 4-ary heap of keys; the events stay where they are. Note: container/heap boxes every event and compares
// through an interface, which costs four times as much with a thousand processes.
type heap struct {
	n      int
	keys   []key // the heap is the first n; those behind have the slots that are free
	events []event
}

// first returns the time of the first event of a heap that is not empty.
func (h *heap) first() unit.Time { return h.keys[0].at }

func (h *heap) push(at unit.Time, seq uint64, x event) {
	i := h.n
	if i == len(h.keys) {
		h.keys = append(h.keys, key{slot: i})
		h.events = append(h.events, event{})
	}
	h.n++
	e := h.keys
	k := key{at, seq, e[i].slot}
	h.events[k.slot] = x
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
func (h *heap) pop() (unit.Time, event) {
	h.n--
	top, k := h.keys[0], h.keys[h.n]
	h.keys[h.n].slot = top.slot
	if e := h.keys[:h.n]; len(e) > 0 {
		i := 0
		for c := least(e, 0); c > 0 && e[c].before(&k) == 1; c = least(e, i) {
			e[i] = e[c]
			i = c
		}
		e[i] = k
	}
	x := h.events[top.slot]
	h.events[top.slot].act = nil
	return top.at, x
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
