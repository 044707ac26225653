package loop

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
)

// parcel is a packet on its way, in an inbox or in the hands of its receiver.
type parcel struct {
	device.Packet
	room []byte // where the data is, as long as its class allows
	next *parcel
}

// pool keeps parcels for use again, by powers of two of their room.
type pool [bits.UintSize - minBits]sync.Pool

// minBits is the logarithm of the least room of a parcel.
const minBits = 8

// class returns the smallest class that has room for n bytes.
func class(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minBits) - minBits }

// pack returns a parcel with a copy of p, from src.
func (l *pool) pack(src int, p *device.Packet) *parcel {
	c := class(len(p.Data))
	q, _ := l[c].Get().(*parcel)
	if q == nil {
		q = &parcel{room: make([]byte, 1<<(c+minBits))}
	}
	q.Packet = device.Packet{Src: src, Head: p.Head, Data: q.room[:copy(q.room, p.Data)]}
	return q
}

// free takes a parcel back.
func (l *pool) free(q *parcel) { l[class(len(q.room))].Put(q) }

// inbox is what has arrived for a rank, in order.
type inbox struct {
	filled atomic.Bool // not empty, for a look without the lock

	mu         sync.Mutex
	awake      sync.Cond // waiting is false again
	head, tail *parcel
	waiting    bool // the rank waits, and is counted as idle or about to be
	closed     bool // nobody will take anything any more: what comes is dropped
	mourners   []mourner
}

// put adds a parcel and wakes the rank if it waits.
func (in *inbox) put(j *job, q *parcel) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		j.parcels.free(q)
		return
	}
	if in.head == nil {
		in.head = q
		in.filled.Store(true)
	} else {
		in.tail.next = q
	}
	in.tail = q
	if in.waiting {
		in.waiting = false
		j.idle.Add(-1)
		in.awake.Signal()
	}
}

// take removes the first parcel, or returns nil if there is none.
func (in *inbox) take() *parcel {
	if !in.filled.Load() {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.pop()
}

// pop is take for who holds the lock.
func (in *inbox) pop() *parcel {
	q := in.head
	if q == nil {
		return nil
	}
	in.head, q.next = q.next, nil
	if in.head == nil {
		in.tail = nil
		in.filled.Store(false)
	}
	return q
}

// spins is how often a rank looks again before it sleeps. To sleep and be woken takes microseconds; to look and let
// other goroutines run takes some fifty nanoseconds.
const spins = 100

// wait takes the first parcel and waits until there is one. It returns nil if the inbox is closed.
func (in *inbox) wait(j *job) *parcel {
	for range spins {
		if q := in.take(); q != nil {
			return q
		}
		runtime.Gosched()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.head == nil && !in.closed {
		in.waiting = true
		in.mu.Unlock() // rest may look into all inboxes
		j.rest()
		in.mu.Lock()
		for in.waiting {
			in.awake.Wait()
		}
	}
	return in.pop()
}

// close drops what is there and what will come, and wakes the rank if it waits. It returns who asked to hear of it.
func (in *inbox) close() []mourner {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed, in.waiting = true, false
	in.head, in.tail = nil, nil
	in.filled.Store(false)
	in.awake.Signal()
	all := in.mourners
	in.mourners = nil
	return all
}

// mourner is a rank that is to hear when another has ended.
type mourner struct {
	rank int
	head device.Head
}

// mourn lets a rank hear of the end of the inbox's, and reports whether that may be still to come.
func (in *inbox) mourn(m mourner) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed && !slices.ContainsFunc(in.mourners, func(o mourner) bool { return o.rank == m.rank }) {
		in.mourners = append(in.mourners, m)
	}
	return !in.closed
}

// waits reports whether the rank waits.
func (in *inbox) waits() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.waiting
}
