package shm

import (
	"math/bits"

	"github.com/loggp/loggp/impl/device"
)

// parcel is a packet in the rank's own memory.
type parcel struct {
	device.Packet
	room []byte // where the data is or will be, as long as its class allows
	have int    // bytes of it that have come
	next *parcel
}

// pool keeps parcels for use again, by powers of two of their room. It belongs to one rank.
type pool [bits.UintSize - minBits]*parcel

// minBits is the logarithm of the least room of a parcel.
const minBits = 8

// class returns the smallest class that has room for n bytes.
func class(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minBits) - minBits }

// take returns a parcel for a packet of n bytes.
func (l *pool) take(src int, head *device.Head, n int) *parcel {
	c := class(n)
	q := l[c]
	if q == nil {
		q = &parcel{room: make([]byte, 1<<(c+minBits))}
	} else {
		l[c], q.next = q.next, nil
	}
	q.Packet = device.Packet{Src: src, Head: *head, Data: q.room[:n]}
	q.have = 0
	return q
}

// free takes a parcel back.
func (l *pool) free(q *parcel) {
	c := class(len(q.room))
	q.next, l[c] = l[c], q
}

// add appends what has come of the data.
func (q *parcel) add(b []byte) { q.have += copy(q.Data[q.have:], b) }

// whole reports whether all has come.
func (q *parcel) whole() bool { return q.have == len(q.Data) }

// queue is packets that have come, in order.
type queue struct{ head, tail *parcel }

func (s *queue) put(q *parcel) {
	if s.head == nil {
		s.head = q
	} else {
		s.tail.next = q
	}
	s.tail = q
}

// pop removes the first, or returns nil.
func (s *queue) pop() *parcel {
	q := s.head
	if q != nil {
		s.head, q.next = q.next, nil
	}
	return q
}
