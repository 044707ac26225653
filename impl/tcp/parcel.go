package tcp

import (
	"math/bits"

	"github.com/loggp/loggp/impl/device"
)

// parcel is a packet in memory of its own.
type parcel struct {
	device.Packet
	room []byte // where the data is or will be, a power of two;
	into []byte // or here, if it was said where that is
	want int    // bytes of data
	have int    // of them, those that have come
	next *parcel
}

// pool keeps parcels for use again, by powers of two of their room. It belongs to one rank.
type pool [bits.UintSize - minBits]*parcel

// minBits is the logarithm of the least room of a parcel.
const minBits = 8

// trusted is how much memory a header alone may ask for. A longer packet has more as its bytes come.
const trusted = 1 << 20

// class returns the smallest class that has room for n bytes.
func class(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minBits) - minBits }

// take returns a parcel for a packet of n bytes.
func (l *pool) take(src int, n int) *parcel {
	c := class(n)
	q := l[c]
	if q == nil {
		q = &parcel{room: make([]byte, 1<<(class(min(n, trusted))+minBits))}
	} else {
		l[c], q.next = q.next, nil
	}
	q.Src = src
	q.want, q.have = n, 0
	return q
}

// place returns a parcel for a packet whose data is to go into b.
func (l *pool) place(src int, b []byte) *parcel {
	q := l.take(src, 0)
	q.into, q.want = b, len(b)
	return q
}

// free takes a parcel back.
func (l *pool) free(q *parcel) {
	q.into, q.Data = nil, nil
	c := class(len(q.room))
	q.next, l[c] = l[c], q
}

// rest returns where the next bytes go. There is room, unless all have come.
func (q *parcel) rest() []byte {
	if q.into != nil {
		return q.into[q.have:]
	}
	if q.have == len(q.room) && q.have < q.want {
		q.room = append(make([]byte, 0, 2*len(q.room)), q.room...)[:2*len(q.room)]
	}
	return q.room[q.have:min(q.want, len(q.room))]
}

// add appends what has come of the data, and returns what is not of it.
func (q *parcel) add(b []byte) []byte {
	for len(b) > 0 && q.have < q.want {
		n := copy(q.rest(), b)
		q.have += n
		b = b[n:]
	}
	return b
}

// whole reports whether all has come, and makes it the packet's data then.
func (q *parcel) whole() bool {
	if q.have < q.want {
		return false
	}
	q.Data = q.into
	if q.into == nil {
		q.Data = q.room[:q.want]
	}
	return true
}

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
