package match

import "iter"

// Entry is an element of a Queue. Embed it in what is queued, so that queueing allocates nothing.
// While an entry is queued, its envelope must not change and it must not be copied.
type Entry[T any] struct {
	Envelope
	Value T

	queue        *Queue[T]            // the queue that contains it
	serial       uint64               // number among all entries that the queue has ever had
	prev, next   *Entry[T]            // in queue order
	sameEnvelope sameEnvelopeLinks[T] // entries with an equal envelope
	nextInBucket *Entry[T]            // if this is the first entry of its envelope, that of the next envelope in the bucket
}

// maxScannedEntries is the length up to which a queue is searched sequentially. A longer queue has
// an index.
const maxScannedEntries = 8

// Queue has entries in the order in which they were added, and finds the earliest that matches an
// envelope. The zero value is an empty queue. A queue with entries must not be copied.
//
// A search without wildcards takes constant time, whatever the length of the queue and the
// wildcards of its entries. A search with wildcards, which occurs only for unexpected messages,
// scans the queue from the front.
//
// Note: additional indexes of messages by tag and by source would make these searches constant,
// too. But every unexpected message would pay for searches that nearly always find their message at
// the front.
type Queue[T any] struct {
	head, tail *Entry[T]
	length     int
	lastSerial uint64
	index      *index[T] // nil until the queue first becomes long
}

// Len returns the number of entries.
func (q *Queue[T]) Len() int { return q.length }

// Add appends e.
func (q *Queue[T]) Add(e *Entry[T]) {
	e.mustBeValid()
	if e.queue != nil {
		panic("match: entry is queued already")
	}
	q.lastSerial++
	q.length++
	e.queue, e.serial = q, q.lastSerial
	e.prev, e.next = q.tail, nil
	if q.tail == nil {
		q.head = e
	} else {
		q.tail.next = e
	}
	q.tail = e

	switch {
	case q.isIndexed():
		q.index.add(e)
	case q.length > maxScannedEntries:
		q.buildIndex()
	}
}

// Remove removes e.
func (q *Queue[T]) Remove(e *Entry[T]) {
	if e.queue != q {
		panic("match: entry is not in this queue")
	}
	if q.isIndexed() {
		q.index.remove(e)
	}
	q.length--
	if e.prev == nil {
		q.head = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		q.tail = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.queue, e.prev, e.next = nil, nil, nil
}

// First returns the first entry, or nil. If it matches an envelope, Match returns it.
func (q *Queue[T]) First() *Entry[T] { return q.head }

// Match returns the earliest entry that matches x, or nil. The entry stays queued.
func (q *Queue[T]) Match(x Envelope) *Entry[T] {
	x.mustBeValid()
	if q.isIndexed() && !x.hasWildcard() {
		return q.index.firstMatch(x)
	}
	for e := q.head; e != nil; e = e.next {
		if e.Matches(x) {
			return e
		}
	}
	return nil
}

// All yields the entries in order. The current entry may be removed during the iteration.
func (q *Queue[T]) All() iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		for e := q.head; e != nil; {
			next := e.next
			if !yield(e) {
				return
			}
			e = next
		}
	}
}

// isIndexed reports whether the index contains the entries. It does so from the time the queue
// becomes long until it is empty, so that a queue whose length varies around the limit is not
// indexed repeatedly.
func (q *Queue[T]) isIndexed() bool { return q.index != nil && q.index.envelopes > 0 }

func (q *Queue[T]) buildIndex() {
	if q.index == nil {
		q.index = &index[T]{buckets: make([]*Entry[T], minBuckets)}
	}
	for e := q.head; e != nil; e = e.next {
		q.index.add(e)
	}
}
