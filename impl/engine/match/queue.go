package match

import "iter"

// Entry is an element of a Queue. It is embedded in what is queued, so queueing allocates nothing.
// While an entry is queued its envelope may not change, and it may not be copied.
type Entry[T any] struct {
	Envelope
	Value T

	queue        *Queue[T]            // where it is queued
	serial       uint64               // its place in the order of all entries that the queue has seen
	prev, next   *Entry[T]            // in order
	sameEnvelope sameEnvelopeLinks[T] // entries with an equal envelope
	nextInBucket *Entry[T]            // the next envelope in the bucket, if this is the first entry of its envelope
}

// maxScannedEntries is the longest queue that is searched from end to end. A longer one is searched
// by an index.
const maxScannedEntries = 8

// Queue holds entries in the order in which they were added and finds the earliest that matches an
// envelope. The zero value is an empty queue. It may not be copied while it holds entries.
//
// A search without wildcards takes constant time however long the queue is, and whatever wildcards
// its entries have. A search with wildcards, which only looks for early messages, goes through the
// queue from the front.
//
// Note: an index over messages by tag alone and by source alone would make these constant as well.
// Every early message would pay for searches that nearly always find their message at the front.
type Queue[T any] struct {
	head, tail *Entry[T]
	length     int
	lastSerial uint64
	index      *index[T] // nil until the queue first grew long
}

// Len returns the number of entries.
func (q *Queue[T]) Len() int { return q.length }

// Add puts e at the end.
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

// Remove takes e out.
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

// First returns the entry that was added before all others, or nil. If it matches an envelope, it
// is what Match returns.
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

// All returns the entries in order. The current entry may be removed during the iteration.
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

// isIndexed reports whether the index holds the entries. It holds them from the time the queue
// grows long until it is empty, so a queue whose length varies about the limit is not indexed again
// and again.
func (q *Queue[T]) isIndexed() bool { return q.index != nil && q.index.envelopes > 0 }

func (q *Queue[T]) buildIndex() {
	if q.index == nil {
		q.index = &index[T]{buckets: make([]*Entry[T], minBuckets)}
	}
	for e := q.head; e != nil; e = e.next {
		q.index.add(e)
	}
}
