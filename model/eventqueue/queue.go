// Package eventqueue is the queue of future events of discrete-event simulations. Events come out
// in the order of their times, and those of one time in the order of their serial numbers. It keeps
// events only: the clock, and what an event does, belong to its users, impl/hw/sim and
// model/schedule.
package eventqueue

// Queue is a queue of events with payloads of type P. The serials of events of one time differ. The
// zero value is empty.
//
// It is a heap with four children a node. An element of the heap is a list of events of one time,
// in the order of their serials, as ranks often do the same at the same time. An element that is
// used up leaves a hole at the top, which the next new element fills, since most events cause
// another.
//
// Note: container/heap boxes every event and compares through an interface, which costs four times
// as much with a thousand processes. A calendar queue (Brown 1988) in front of the heap, without
// the lists, made collective operations of 1,024 ranks slower by a tenth, and some simulations of
// schedules three times as slow.
type Queue[S uint32 | uint64, P any] struct {
	heap  []sameTimeEvents[S]
	hole  bool                 // the first element of the heap is used up
	nodes []listNode[S, P]     // of the lists; the first is not used
	free  uint32               // the first free node; 0: none
	lists [numLists]recentList // to which events have been added lately, by a hash of their time
}

// sameTimeEvents is a list of events.
type sameTimeEvents[S uint32 | uint64] struct {
	at     uint64
	serial S // of its first event
	first  uint32
}

func (e *sameTimeEvents[S]) before(f *sameTimeEvents[S]) bool {
	return e.at < f.at || e.at == f.at && e.serial < f.serial
}

// listNode is an event in a list.
type listNode[S uint32 | uint64, P any] struct {
	payload P
	serial  S
	next    uint32 // 0: none
}

// recentList is the last event of a list.
type recentList struct {
	at   uint64
	last uint32 // 0: there is no such list
}

const (
	listBits = 11
	numLists = 1 << listBits
)

// Reserve makes room for a number of events at once. There may be more.
func (q *Queue[S, P]) Reserve(events int) {
	q.heap = append(make([]sameTimeEvents[S], 0, events), q.heap...)
	q.nodes = append(make([]listNode[S, P], 0, events+1), q.nodes...)
}

// IsEmpty reports whether there is no event.
func (q *Queue[S, P]) IsEmpty() bool { return len(q.heap) == 0 || q.hole && len(q.heap) == 1 }

// Len returns how many events there are. It takes as long as the queue was ever.
func (q *Queue[S, P]) Len() int {
	n := max(len(q.nodes)-1, 0)
	for i := q.free; i != 0; i = q.nodes[i].next {
		n--
	}
	return n
}

// FirstTime returns the time of the first event. The queue must not be empty.
func (q *Queue[S, P]) FirstTime() uint64 {
	h := q.heap
	if !q.hole {
		return h[0].at
	}
	first := h[1].at
	for i := 2; i < min(len(h), 5); i++ {
		first = min(first, h[i].at)
	}
	return first
}

// listOf returns the place of the list of a time.
func (q *Queue[S, P]) listOf(at uint64) *recentList {
	return &q.lists[at*0x9e3779b97f4a7c15>>(64-listBits)]
}

// Push adds an event.
func (q *Queue[S, P]) Push(at uint64, serial S, payload P) {
	i := q.free
	if i != 0 {
		q.free = q.nodes[i].next
	} else {
		if len(q.nodes) == 0 {
			q.nodes = append(q.nodes, listNode[S, P]{})
		}
		i = uint32(len(q.nodes))
		q.nodes = append(q.nodes, listNode[S, P]{})
	}
	x := &q.nodes[i]
	x.payload, x.serial, x.next = payload, serial, 0
	l := q.listOf(at)
	if l.last != 0 && l.at == at {
		if last := &q.nodes[l.last]; last.serial < serial {
			last.next = i
			l.last = i
			return
		}
	} else {
		*l = recentList{at, i}
	}
	e := sameTimeEvents[S]{at, serial, i}
	if q.hole {
		q.hole = false
		q.siftDown(e)
		return
	}
	q.heap = append(q.heap, e)
	h, k := q.heap, len(q.heap)-1
	for k > 0 {
		up := (k - 1) >> 2
		if !e.before(&h[up]) {
			break
		}
		h[k] = h[up]
		k = up
	}
	h[k] = e
}

// Pop takes the first event. The queue must not be empty.
func (q *Queue[S, P]) Pop() (at uint64, serial S, payload P) {
	if q.hole {
		last := len(q.heap) - 1
		e := q.heap[last]
		q.heap = q.heap[:last]
		q.siftDown(e)
	}
	e := q.heap[0]
	x := &q.nodes[e.first]
	payload = x.payload
	if next := x.next; next != 0 {
		q.hole = false
		q.siftDown(sameTimeEvents[S]{e.at, q.nodes[next].serial, next})
	} else {
		q.hole = true
		if l := q.listOf(e.at); l.last == e.first {
			l.last = 0
		}
	}
	x.next, q.free = q.free, e.first // its payload stays there until the node is used again
	return e.at, e.serial, payload
}

// siftDown puts an element at the top, and lets it sink to its place.
func (q *Queue[S, P]) siftDown(e sameTimeEvents[S]) {
	h, i := q.heap, 0
	for {
		first := i<<2 + 1
		if first+3 < len(h) {
			c := h[first : first+4 : first+4]
			best := 0
			if c[1].before(&c[0]) {
				best = 1
			}
			other := 2
			if c[3].before(&c[2]) {
				other = 3
			}
			if c[other].before(&c[best]) {
				best = other
			}
			if !c[best].before(&e) {
				break
			}
			h[i] = c[best]
			i = first + best
			continue
		}
		if first >= len(h) {
			break
		}
		best := first
		for j := first + 1; j < len(h); j++ {
			if h[j].before(&h[best]) {
				best = j
			}
		}
		if !h[best].before(&e) {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = e
}
