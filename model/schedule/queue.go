package schedule

// event is something that happens at a time. Events of one time happen in the order of their
// serials, and no two have the same.
type event struct {
	at     uint64
	serial uint32
	what   uint32 // an operation, and what happens to it
}

func (e event) before(f event) bool { return e.at < f.at || e.at == f.at && e.serial < f.serial }

// events is a queue of events: a heap of four children a node. An element of the heap is a list of
// events of one time, in the order of serials, with the serial of its first one: ranks often do the
// same at the same time. What names the first event in lists.
//
// A list that has been used up leaves a hole at the top, which the next element that comes fills,
// since most events cause another.
type events struct {
	heap  []event
	hole  bool
	lists []listed
	free  uint32 // what is not used of lists; 0: nothing

	loose bool // events of one time come in another order, see pushLoosely

	// The lists to which events have been added lately, by a hash of their time.
	recent [1 << recentBits]recent
}

const recentBits = 11

// listed is an event in a list. Index 0 stands for none.
type listed struct{ serial, what, next uint32 }

// recent is the last event of a list.
type recent struct {
	at   uint64
	last uint32
}

func (q *events) empty() bool {
	return len(q.heap) == 0 || q.hole && len(q.heap) == 1
}

// pushLoosely adds an event to a binary heap by time alone. It and popLoosely do as std::push_heap
// and std::pop_heap of GCC's C++ library, so that events of one time come in the order of a
// std::priority_queue.
func (q *events) pushLoosely(e event) {
	q.heap = append(q.heap, e)
	q.rise(len(q.heap)-1, e)
}

// rise puts an event into a hole, or above it.
func (q *events) rise(hole int, e event) {
	h := q.heap
	for hole > 0 {
		up := (hole - 1) / 2
		if h[up].at <= e.at {
			break
		}
		h[hole] = h[up]
		hole = up
	}
	h[hole] = e
}

// popLoosely lets the hole sink to a leaf, and puts the last event there. Of two below a hole the
// right one moves up unless it is later.
func (q *events) popLoosely() event {
	first, n := q.heap[0], len(q.heap)-1
	last := q.heap[n]
	q.heap = q.heap[:n]
	if n == 0 {
		return first
	}
	h, hole, child := q.heap, 0, 0
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if h[child].at > h[child-1].at {
			child--
		}
		h[hole] = h[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2*child + 1
		h[hole] = h[child]
		hole = child
	}
	q.rise(hole, last)
	return first
}

// push adds an event.
func (q *events) push(e event) {
	if q.loose {
		q.pushLoosely(e)
		return
	}
	i := q.free
	if i != 0 {
		q.free = q.lists[i].next
	} else {
		if len(q.lists) == 0 {
			q.lists = append(q.lists, listed{})
		}
		i = uint32(len(q.lists))
		q.lists = append(q.lists, listed{})
	}
	q.lists[i] = listed{e.serial, e.what, 0}
	slot := &q.recent[e.at*0x9e3779b97f4a7c15>>(64-recentBits)]
	if slot.last != 0 && slot.at == e.at {
		if last := &q.lists[slot.last]; last.serial < e.serial {
			last.next = i
			slot.last = i
			return
		}
	} else {
		*slot = recent{e.at, i}
	}
	e.what = i
	if q.hole {
		q.hole = false
		q.down(e)
		return
	}
	q.heap = append(q.heap, e)
	h, at := q.heap, len(q.heap)-1
	for at > 0 {
		up := (at - 1) >> 2
		if !e.before(h[up]) {
			break
		}
		h[at] = h[up]
		at = up
	}
	h[at] = e
}

// pop takes the first event. The queue must not be empty.
func (q *events) pop() event {
	if q.loose {
		return q.popLoosely()
	}
	if q.hole {
		last := len(q.heap) - 1
		e := q.heap[last]
		q.heap = q.heap[:last]
		q.down(e)
	}
	e := q.heap[0]
	i := e.what
	first := &q.lists[i]
	e.what = first.what
	if next := first.next; next != 0 {
		q.hole = false
		q.down(event{e.at, q.lists[next].serial, next})
	} else {
		q.hole = true
		if slot := &q.recent[e.at*0x9e3779b97f4a7c15>>(64-recentBits)]; slot.last == i {
			slot.last = 0
		}
	}
	first.next, q.free = q.free, i
	return e
}

// down puts an event at the top, and lets it sink to its place.
func (q *events) down(e event) {
	h, i := q.heap, 0
	for {
		first := i<<2 + 1
		if first+3 < len(h) {
			c := h[first : first+4 : first+4]
			best := 0
			if c[1].before(c[0]) {
				best = 1
			}
			other := 2
			if c[3].before(c[2]) {
				other = 3
			}
			if c[other].before(c[best]) {
				best = other
			}
			if !c[best].before(e) {
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
			if h[j].before(h[best]) {
				best = j
			}
		}
		if !h[best].before(e) {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = e
}

// waiting are the events of one rank that wait for the same CPU and interface. Only one of them,
// the first, is in the queue of all events; the others would be taken and put back whenever the
// resource is taken.
//
// This is exact: all that wait are due when the resource is free, and then the one with the lowest
// serial has it, whenever it came.
type waiting struct {
	queued bool    // one of them is in the queue of all events
	first  uint32  // its serial
	rest   []event // a heap by serial
}

func (w *waiting) add(e event) {
	w.rest = append(w.rest, e)
	h, i := w.rest, len(w.rest)-1
	for ; i > 0 && e.serial < h[(i-1)>>1].serial; i = (i - 1) >> 1 {
		h[i] = h[(i-1)>>1]
	}
	h[i] = e
}

func (w *waiting) take() event {
	h := w.rest
	first, last := h[0], len(h)-1
	e := h[last]
	w.rest = h[:last]
	h = w.rest
	if last == 0 {
		return first
	}
	i := 0
	for {
		c := 2*i + 1
		if c+1 < last && h[c+1].serial < h[c].serial {
			c++
		}
		if c >= last || e.serial < h[c].serial {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = e
	return first
}

// match pairs messages with receives. Of each rank there are two queues: receives that have been
// posted, and messages that have arrived before their receive. What matches and came first is
// taken.
//
// Queues are divided into buckets by source and tag. In schedules with wildcards every rank has one
// bucket, so that a queue is in the order of arrival.
type match struct {
	ops     []Op
	first   []uint32 // bucket of each rank; a bucket more for the end
	buckets []bucket
	link    []uint32 // by operation: the next one in its queue, plus 1
	exact   bool     // there are no wildcards, or they mean nothing
	count   int      // what is in all queues
}

// bucket has the first and the last of each queue, plus 1; 0: it is empty.
type bucket struct{ posted, early queueEnds }

type queueEnds struct{ head, tail uint32 }

// init makes empty queues. link is used for operations that are in a queue.
func (m *match) init(s *Schedule, exact bool, link []uint32) {
	m.ops, m.link, m.exact = s.ops, link, exact || !s.wild
	m.first = make([]uint32, s.Ranks()+1)
	n := uint32(0)
	for r := range s.Ranks() {
		m.first[r] = n
		receives := uint32(0)
		if m.exact {
			for _, o := range s.Of(r) {
				if o.Kind == Recv {
					receives++
				}
			}
		}
		n += 1 + receives/8
	}
	m.first[s.Ranks()] = n
	m.buckets = make([]bucket, n)
}

// bucket returns the bucket of messages from a source to a rank with a tag.
func (m *match) bucket(rank, source, tag uint32) *bucket {
	at := m.first[rank]
	if n := m.first[rank+1] - at; n > 1 {
		h := (uint64(source)<<32 | uint64(tag)) * 0x9e3779b97f4a7c15
		at += uint32((h >> 32) * uint64(n) >> 32)
	}
	return &m.buckets[at]
}

// append puts an operation to the end of a queue.
func (m *match) append(q *queueEnds, op uint32) {
	m.link[op] = 0
	if q.head == 0 {
		q.head = op + 1
	} else {
		m.link[q.tail-1] = op + 1
	}
	q.tail = op + 1
	m.count++
}

// remove takes an operation out of a queue. before is the one before it, plus 1.
func (m *match) remove(q *queueEnds, before, op uint32) {
	next := m.link[op]
	if before == 0 {
		q.head = next
	} else {
		m.link[before-1] = next
	}
	if next == 0 {
		q.tail = before
	}
	m.count--
}

// fits reports whether a receive is for a message.
func (m *match) fits(recv, send *Op) bool {
	if m.exact {
		return recv.Peer == send.rank && recv.Tag == send.Tag
	}
	return (recv.Peer == send.rank || recv.Peer == Any) && (recv.Tag == send.Tag || recv.Tag == Any || send.Tag == Any)
}

// arrive finds the receive for a message and takes it out of its queue, or queues the message.
func (m *match) arrive(send uint32) (recv uint32, ok bool) {
	o := &m.ops[send]
	b := m.bucket(o.Peer, o.rank, o.Tag)
	before := uint32(0)
	for i := b.posted.head; i != 0; i = m.link[i-1] {
		if m.fits(&m.ops[i-1], o) {
			m.remove(&b.posted, before, i-1)
			return i - 1, true
		}
		before = i
	}
	m.append(&b.early, send)
	return 0, false
}

// post finds the message for a receive and takes it out of its queue, or queues the receive.
func (m *match) post(recv uint32) (send uint32, ok bool) {
	o := &m.ops[recv]
	b := m.bucket(o.rank, o.Peer, o.Tag)
	before := uint32(0)
	for i := b.early.head; i != 0; i = m.link[i-1] {
		if m.fits(o, &m.ops[i-1]) {
			m.remove(&b.early, before, i-1)
			return i - 1, true
		}
		before = i
	}
	m.append(&b.posted, recv)
	return 0, false
}

// repost puts a receive to the end of its queue.
func (m *match) repost(recv uint32) {
	o := &m.ops[recv]
	m.append(&m.bucket(o.rank, o.Peer, o.Tag).posted, recv)
}
