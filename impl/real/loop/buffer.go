package loop

import (
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/transport"
)

// buffer is a packet on its way, in a list or in the hands of its receiver.
type buffer struct {
	device.Packet
	storage []byte // where the data is, as long as its class allows
	next    *buffer
}

// bufferPool keeps buffers for use again, by the class of their storage. All ranks share it.
type bufferPool [transport.SizeClasses]sync.Pool

// takeCopy returns a buffer with a copy of data.
func (l *bufferPool) takeCopy(src int, head *device.Head, data []byte) *buffer {
	c := transport.SizeClass(len(data))
	q, _ := l[c].Get().(*buffer)
	if q == nil {
		q = &buffer{storage: transport.NewStorage(c)}
	}
	q.Packet = device.Packet{Src: src, Head: *head, Data: q.storage[:copy(q.storage, data)]}
	return q
}

// release takes a buffer back. It may be nil.
func (l *bufferPool) release(q *buffer) {
	if q != nil {
		l[transport.SizeClass(len(q.storage))].Put(q)
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
