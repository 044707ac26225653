package transport

import (
	"math/bits"

	"github.com/loggp/loggp/impl/device"
)

// Buffer is a packet in the rank's own memory. Its data may come in parts.
type Buffer struct {
	device.Packet
	storage     []byte // where the data is or will be, a power of two;
	destination []byte // or here, if the receiver has named a destination
	dataSize    int    // bytes of data
	received    int    // bytes that have arrived
	next        *Buffer
}

// Storage is pooled by its size, in classes of powers of two from 256 bytes.
const (
	SizeClasses    = bits.UintSize - minStorageBits // number of classes
	minStorageBits = 8
)

// SizeClass returns the smallest class whose storage has room for n bytes.
func SizeClass(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minStorageBits) - minStorageBits }

// NewStorage returns storage of a class.
func NewStorage(class int) []byte { return make([]byte, 1<<(class+minStorageBits)) }

// Pool keeps buffers for use again, by the class of their storage. Its zero value is empty.
type Pool [SizeClasses]*Buffer

// maxTrustedSize is how much memory the length of a packet alone may ask for. A longer packet gets
// more as its bytes arrive.
const maxTrustedSize = 1 << 20

// Take returns a buffer for a packet of n bytes. Its data will be in destination unless that is
// nil.
func (l *Pool) Take(src int, head *device.Head, n int, destination []byte) *Buffer {
	if destination != nil {
		n = 0
	}
	c := SizeClass(n)
	q := l[c]
	if q == nil {
		q = &Buffer{storage: NewStorage(SizeClass(min(n, maxTrustedSize)))}
	} else {
		l[c], q.next = q.next, nil
	}
	q.Src, q.Head, q.Refused = src, *head, false
	q.destination, q.dataSize, q.received = destination, max(n, len(destination)), 0
	return q
}

// Free takes a buffer back.
func (l *Pool) Free(q *Buffer) {
	q.destination, q.Data = nil, nil
	c := SizeClass(len(q.storage))
	q.next, l[c] = l[c], q
}

// Unfilled returns where the next bytes go. It is empty only if all have arrived.
func (q *Buffer) Unfilled() []byte {
	if q.destination != nil {
		return q.destination[q.received:]
	}
	if q.received == len(q.storage) && q.received < q.dataSize {
		q.storage = append(make([]byte, 0, 2*len(q.storage)), q.storage...)[:2*len(q.storage)]
	}
	return q.storage[q.received:min(q.dataSize, len(q.storage))]
}

// AddReceived records that n bytes were written to Unfilled.
func (q *Buffer) AddReceived(n int) { q.received += n }

// Append appends data that has arrived, and returns the part behind the end of the packet.
func (q *Buffer) Append(b []byte) []byte {
	for len(b) > 0 && q.received < q.dataSize {
		n := copy(q.Unfilled(), b)
		q.received += n
		b = b[n:]
	}
	return b
}

// TryComplete reports whether all data has arrived, and then sets Packet.Data.
func (q *Buffer) TryComplete() bool {
	if q.received < q.dataSize {
		return false
	}
	q.Data = q.destination
	if q.destination == nil {
		q.Data = q.storage[:q.dataSize]
	}
	return true
}

// Inbox holds packets that arrived while the rank could not receive them, in order, and the one
// that it received last.
type Inbox struct {
	Pool
	head, tail    *Buffer
	lent          *Buffer
	destinationOf func(src int, head *device.Head, n int) []byte // nil: the user of the port does not say
}

// SetPlacement implements device.DirectPlacer.
func (in *Inbox) SetPlacement(where func(src int, head *device.Head, n int) []byte) {
	in.destinationOf = where
}

// Destination returns where the user of the port wants the data of a packet, or nil.
func (in *Inbox) Destination(src int, head *device.Head, n int) []byte {
	if in.destinationOf == nil {
		return nil
	}
	return in.destinationOf(src, head, n)
}

// IsEmpty reports whether no packet waits to be received.
func (in *Inbox) IsEmpty() bool { return in.head == nil }

// Enqueue adds a packet, which is whole.
func (in *Inbox) Enqueue(q *Buffer) {
	if in.head == nil {
		in.head = q
	} else {
		in.tail.next = q
	}
	in.tail = q
}

// EnqueueCopy adds a copy of a packet.
func (in *Inbox) EnqueueCopy(src int, head *device.Head, data []byte) {
	q := in.Take(src, head, len(data), nil)
	q.Append(data)
	q.TryComplete()
	in.Enqueue(q)
}

// Dequeue takes the first packet, or returns nil if there is none.
func (in *Inbox) Dequeue() *device.Packet {
	q := in.head
	if q == nil {
		return nil
	}
	in.head, q.next = q.next, nil
	return in.Lend(q)
}

// Lend returns the packet of a buffer to be received: it is valid until Release.
func (in *Inbox) Lend(q *Buffer) *device.Packet {
	in.lent = q
	return &q.Packet
}

// ReleaseLent takes back the packet that was received last, and reports whether it was in a buffer.
func (in *Inbox) ReleaseLent() bool {
	q := in.lent
	if q == nil {
		return false
	}
	in.lent = nil
	in.Free(q)
	return true
}
