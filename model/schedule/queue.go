package schedule

import "github.com/loggp/loggp/model/eventqueue"

// event is something that happens at a time. Events of one time happen in the order of their
// serials, and no two have the same.
type event struct {
	at          uint64
	serial      uint32
	opAndAction uint32 // an operation, and what happens to it
}

// eventList is a queue of events.
type eventList struct {
	ordered           eventqueue.Queue[uint32, uint32] // by time and serial
	byTime            []event                          // in place of that, if timeOnly: a heap
	orderedByTimeOnly bool                             // events of one time come in another order, see pushByTime

	timeLimit uint64 // events after this time are dropped
	firstLate *event // the first that was
}

func (q *eventList) empty() bool { return len(q.byTime) == 0 && q.ordered.IsEmpty() }

// push adds an event.
func (q *eventList) push(e event) {
	if e.at > q.timeLimit {
		q.dropLate(e)
		return
	}
	if q.orderedByTimeOnly {
		q.pushByTime(e)
		return
	}
	q.ordered.Push(e.at, e.serial, e.opAndAction)
}

// dropLate drops an event that is too late.
func (q *eventList) dropLate(e event) {
	if q.firstLate == nil {
		q.firstLate = &e
	}
}

// pop takes the first event. The queue must not be empty.
func (q *eventList) pop() event {
	if q.orderedByTimeOnly {
		return q.popByTime()
	}
	at, serial, what := q.ordered.Pop()
	return event{at, serial, what}
}

// pushByTime adds an event to a binary heap by time alone. It and popByTime do as std::push_heap
// and std::pop_heap of GCC's C++ library, so that events of one time come in the order of a
// std::priority_queue.
func (q *eventList) pushByTime(e event) {
	q.byTime = append(q.byTime, e)
	q.siftUp(len(q.byTime)-1, e)
}

// siftUp puts an event into a hole, or above it.
func (q *eventList) siftUp(hole int, e event) {
	h := q.byTime
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

// popByTime lets the hole sink to a leaf, and puts the last event there. Of two below a hole the
// right one moves up unless it is later.
func (q *eventList) popByTime() event {
	first, n := q.byTime[0], len(q.byTime)-1
	last := q.byTime[n]
	q.byTime = q.byTime[:n]
	if n == 0 {
		return first
	}
	h, hole, child := q.byTime, 0, 0
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
	q.siftUp(hole, last)
	return first
}

// waitQueue are the events of one rank that wait for the same CPU and interface. Only one of them,
// the first, is in the queue of all events; the others would be taken and put back whenever the
// resource is taken.
//
// This is exact: all that wait are due when the resource is free, and then the one with the lowest
// serial has it, whenever it came.
type waitQueue struct {
	hasScheduled    bool    // one of them is in the queue of all events
	scheduledSerial uint32  // its serial
	laterEvents     []event // a heap by serial
}

func (w *waitQueue) push(e event) {
	w.laterEvents = append(w.laterEvents, e)
	h, i := w.laterEvents, len(w.laterEvents)-1
	for ; i > 0 && e.serial < h[(i-1)>>1].serial; i = (i - 1) >> 1 {
		h[i] = h[(i-1)>>1]
	}
	h[i] = e
}

func (w *waitQueue) pop() event {
	h := w.laterEvents
	first, last := h[0], len(h)-1
	e := h[last]
	w.laterEvents = h[:last]
	h = w.laterEvents
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

// matcher pairs messages with receives. Of each rank there are two queues: receives that have been
// posted, and messages that have arrived before their receive. What matches and came first is
// taken.
//
// Queues are divided into buckets by source and tag. In schedules with wildcards every rank has one
// bucket, so that a queue is in the order of arrival.
//
// Note: on Go's map a message of an exchange between 16 ranks takes three times as long, between
// 256 five times (BenchmarkBuckets: 414 instead of 82 ns).
type matcher struct {
	ops         []Op
	firstBucket []uint32 // bucket of each rank; a bucket more for the end
	buckets     []matchBucket
	nextInQueue []uint32 // by operation: the next one in its queue, plus 1
	noWildcards bool     // there are no wildcards, or they mean nothing
	queuedOps   int      // what is in all queues
}

// matchBucket has the first and the last of each queue, plus 1; 0: it is empty.
type matchBucket struct{ postedReceives, earlyMessages queueEnds }

type queueEnds struct{ head, tail uint32 }

// init makes empty queues. link is used for operations that are in a queue.
func (m *matcher) init(s *Schedule, exact bool, link []uint32) {
	m.ops, m.nextInQueue, m.noWildcards = s.ops, link, exact || !s.hasWildcards
	m.firstBucket = make([]uint32, s.CountRanks()+1)
	n := uint32(0)
	for r := range s.CountRanks() {
		m.firstBucket[r] = n
		receives := uint32(0)
		if m.noWildcards {
			for _, o := range s.OpsOfRank(r) {
				if o.Kind == Recv {
					receives++
				}
			}
		}
		n += 1 + receives/8
	}
	m.firstBucket[s.CountRanks()] = n
	m.buckets = make([]matchBucket, n)
}

// bucket returns the bucket of messages from a source to a rank with a tag.
func (m *matcher) bucket(rank, source, tag uint32) *matchBucket {
	at := m.firstBucket[rank]
	if n := m.firstBucket[rank+1] - at; n > 1 {
		h := (uint64(source)<<32 | uint64(tag)) * 0x9e3779b97f4a7c15
		at += uint32((h >> 32) * uint64(n) >> 32)
	}
	return &m.buckets[at]
}

// appendToQueue puts an operation to the end of a queue.
func (m *matcher) appendToQueue(q *queueEnds, op uint32) {
	m.nextInQueue[op] = 0
	if q.head == 0 {
		q.head = op + 1
	} else {
		m.nextInQueue[q.tail-1] = op + 1
	}
	q.tail = op + 1
	m.queuedOps++
}

// removeFromQueue takes an operation out of a queue. before is the one before it, plus 1.
func (m *matcher) removeFromQueue(q *queueEnds, before, op uint32) {
	next := m.nextInQueue[op]
	if before == 0 {
		q.head = next
	} else {
		m.nextInQueue[before-1] = next
	}
	if next == 0 {
		q.tail = before
	}
	m.queuedOps--
}

// isMatch reports whether a receive is for a message.
func (m *matcher) isMatch(recv, send *Op) bool {
	if m.noWildcards {
		return recv.Peer == send.rank && recv.Tag == send.Tag
	}
	return (recv.Peer == send.rank || recv.Peer == Any) && (recv.Tag == send.Tag || recv.Tag == Any || send.Tag == Any)
}

// matchMessage finds the receive for a message and takes it out of its queue, or queues the
// message.
func (m *matcher) matchMessage(send uint32) (recv uint32, ok bool) {
	o := &m.ops[send]
	b := m.bucket(o.Peer, o.rank, o.Tag)
	before := uint32(0)
	for i := b.postedReceives.head; i != 0; i = m.nextInQueue[i-1] {
		if m.isMatch(&m.ops[i-1], o) {
			m.removeFromQueue(&b.postedReceives, before, i-1)
			return i - 1, true
		}
		before = i
	}
	m.appendToQueue(&b.earlyMessages, send)
	return 0, false
}

// matchReceive finds the message for a receive and takes it out of its queue, or queues the
// receive.
func (m *matcher) matchReceive(recv uint32) (send uint32, ok bool) {
	o := &m.ops[recv]
	b := m.bucket(o.rank, o.Peer, o.Tag)
	before := uint32(0)
	for i := b.earlyMessages.head; i != 0; i = m.nextInQueue[i-1] {
		if m.isMatch(o, &m.ops[i-1]) {
			m.removeFromQueue(&b.earlyMessages, before, i-1)
			return i - 1, true
		}
		before = i
	}
	m.appendToQueue(&b.postedReceives, recv)
	return 0, false
}

// requeueReceive puts a receive to the end of its queue.
func (m *matcher) requeueReceive(recv uint32) {
	o := &m.ops[recv]
	m.appendToQueue(&m.bucket(o.rank, o.Peer, o.Tag).postedReceives, recv)
}
