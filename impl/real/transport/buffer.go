package transport

import (
	"math/bits"

	"github.com/loggp/loggp/impl/device"
)

// Buffer is a packet in the rank's own memory. Its data may come in parts.
type Buffer struct {
	device.Packet
	room []byte // where the data is or will be, a power of two;
	into []byte // or here, if the receiver has said where it is to be
	want int    // bytes of data
	have int    // of them, those that have come
	next *Buffer
}

// Pool keeps buffers for use again, by powers of two of their room. Its zero value is empty.
type Pool [bits.UintSize - minBits]*Buffer

// minBits is the logarithm of the least room of a buffer.
const minBits = 8

// trusted is how much memory the length of a packet alone may ask for. A longer packet gets more as
// its bytes come.
const trusted = 1 << 20

// class returns the smallest class that has room for n bytes.
func class(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minBits) - minBits }

// Take returns a buffer for a packet of n bytes. Its data will be in destination unless that is nil.
func (l *Pool) Take(src int, head *device.Head, n int, destination []byte) *Buffer {
	if destination != nil {
		n = 0
	}
	c := class(n)
	q := l[c]
	if q == nil {
		q = &Buffer{room: make([]byte, 1<<(class(min(n, trusted))+minBits))}
	} else {
		l[c], q.next = q.next, nil
	}
	q.Src, q.Head, q.Refused = src, *head, false
	q.into, q.want, q.have = destination, max(n, len(destination)), 0
	return q
}

// Free takes a buffer back.
func (l *Pool) Free(q *Buffer) {
	q.into, q.Data = nil, nil
	c := class(len(q.room))
	q.next, l[c] = l[c], q
}

// Rest returns where the next bytes go. There is room, unless all have come.
func (q *Buffer) Rest() []byte {
	if q.into != nil {
		return q.into[q.have:]
	}
	if q.have == len(q.room) && q.have < q.want {
		q.room = append(make([]byte, 0, 2*len(q.room)), q.room...)[:2*len(q.room)]
	}
	return q.room[q.have:min(q.want, len(q.room))]
}

// Came notes that n bytes were written to Rest.
func (q *Buffer) Came(n int) { q.have += n }

// Add appends what has come of the data, and returns what does not belong to the packet any more.
func (q *Buffer) Add(b []byte) []byte {
	for len(b) > 0 && q.have < q.want {
		n := copy(q.Rest(), b)
		q.have += n
		b = b[n:]
	}
	return b
}

// Whole reports whether all data has come. The packet has it from then on.
func (q *Buffer) Whole() bool {
	if q.have < q.want {
		return false
	}
	q.Data = q.into
	if q.into == nil {
		q.Data = q.room[:q.want]
	}
	return true
}

// Inbox is packets that have come while the rank could not receive them, in order, and the one that
// it received last.
type Inbox struct {
	Pool
	head, tail *Buffer
	held       *Buffer
	where      func(src int, head *device.Head, n int) []byte // nil: the user of the port does not say
}

// Place implements device.Placer.
func (in *Inbox) Place(where func(src int, head *device.Head, n int) []byte) { in.where = where }

// Destination returns where the user of the port wants the data of a packet, or nil.
func (in *Inbox) Destination(src int, head *device.Head, n int) []byte {
	if in.where == nil {
		return nil
	}
	return in.where(src, head, n)
}

// Empty reports whether no packet waits to be received.
func (in *Inbox) Empty() bool { return in.head == nil }

// Put adds a packet, which is whole.
func (in *Inbox) Put(q *Buffer) {
	if in.head == nil {
		in.head = q
	} else {
		in.tail.next = q
	}
	in.tail = q
}

// PutCopy adds a copy of a packet.
func (in *Inbox) PutCopy(src int, head *device.Head, data []byte) {
	q := in.Take(src, head, len(data), nil)
	q.Add(data)
	q.Whole()
	in.Put(q)
}

// Next takes the first packet, or returns nil if there is none.
func (in *Inbox) Next() *device.Packet {
	q := in.head
	if q == nil {
		return nil
	}
	in.head, q.next = q.next, nil
	return in.Hold(q)
}

// Hold returns the packet of a buffer to be received: it is valid until Release.
func (in *Inbox) Hold(q *Buffer) *device.Packet {
	in.held = q
	return &q.Packet
}

// Release takes back the packet that was received last, and reports whether it was in a buffer.
func (in *Inbox) Release() bool {
	q := in.held
	if q == nil {
		return false
	}
	in.held = nil
	in.Free(q)
	return true
}
