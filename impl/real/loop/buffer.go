package loop

import (
	"math/bits"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// buffer is a packet on its way, in a list or in the hands of its receiver.
type buffer struct {
	device.Packet
	storage []byte // where the data is, as long as its class allows
	next    *buffer
}

// bufferPool keeps buffers for use again, by powers of two of their room.
type bufferPool [bits.UintSize - minStorageBits]sync.Pool

// minStorageBits is the logarithm of the least room of a buffer.
const minStorageBits = 8

// sizeClass returns the smallest class that has room for n bytes.
func sizeClass(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minStorageBits) - minStorageBits }

// takeCopy returns a buffer with a copy of data.
func (l *bufferPool) takeCopy(src int, head *device.Head, data []byte) *buffer {
	c := sizeClass(len(data))
	q, _ := l[c].Get().(*buffer)
	if q == nil {
		q = &buffer{storage: make([]byte, 1<<(c+minStorageBits))}
	}
	q.Packet = device.Packet{Src: src, Head: *head, Data: q.storage[:copy(q.storage, data)]}
	return q
}

// release takes a buffer back. It may be nil.
func (l *bufferPool) release(q *buffer) {
	if q != nil {
		l[sizeClass(len(q.storage))].Put(q)
	}
}

// bufferList is buffers, the oldest first.
type bufferList struct {
	head, tail *buffer
	length     int
}

func (l *bufferList) push(q *buffer) {
	if l.head == nil {
		l.head = q
	} else {
		l.tail.next = q
	}
	l.tail = q
	l.length++
}

// pop removes the oldest buffer, or returns nil if there is none.
func (l *bufferList) pop() *buffer {
	q := l.head
	if q == nil {
		return nil
	}
	l.head, q.next = q.next, nil
	l.length--
	return q
}
