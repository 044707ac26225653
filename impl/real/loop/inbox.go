package loop

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// buffer is a packet on its way, in a list or in the hands of its receiver.
type buffer struct {
	device.Packet
	room []byte // where the data is, as long as its class allows
	next *buffer
}

// pool keeps buffers for use again, by powers of two of their room.
type pool [bits.UintSize - minBits]sync.Pool

// minBits is the logarithm of the least room of a buffer.
const minBits = 8

// class returns the smallest class that has room for n bytes.
func class(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minBits) - minBits }

// pack returns a buffer with a copy of data.
func (l *pool) pack(src int, head *device.Head, data []byte) *buffer {
	c := class(len(data))
	q, _ := l[c].Get().(*buffer)
	if q == nil {
		q = &buffer{room: make([]byte, 1<<(c+minBits))}
	}
	q.Packet = device.Packet{Src: src, Head: *head, Data: q.room[:copy(q.room, data)]}
	return q
}

// free takes a buffer back. It may be nil.
func (l *pool) free(q *buffer) {
	if q != nil {
		l[class(len(q.room))].Put(q)
	}
}

// list is buffers, the oldest first.
type list struct {
	head, tail *buffer
	n          int
}

func (l *list) push(q *buffer) {
	if l.head == nil {
		l.head = q
	} else {
		l.tail.next = q
	}
	l.tail = q
	l.n++
}

// pop removes the oldest buffer, or returns nil if there is none.
func (l *list) pop() *buffer {
	q := l.head
	if q == nil {
		return nil
	}
	l.head, q.next = q.next, nil
	l.n--
	return q
}

// inbox is the packets that have arrived for a rank, and the place where it sleeps.
type inbox struct {
	filled atomic.Bool // not empty, for a look without the lock

	mu      sync.Mutex
	awake   sync.Cond // the rank does not sleep any more
	packets list
	events  uint64 // of device.Watch
	sleeps  sleep
	idle    bool // it sleeps without a deadline, and is counted as idle or about to be
	closed  bool // its program has ended or the job has failed: packets are dropped
	exits   []exitNote
}

// sleep is what a rank sleeps for.
type sleep uint8

const (
	notAsleep sleep = iota
	forPacket
	forEvent
)

// put adds a packet and wakes the rank if it sleeps.
func (in *inbox) put(j *job, q *buffer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		j.buffers.free(q)
		return
	}
	in.packets.push(q)
	in.filled.Store(true)
	in.events++
	in.wake(j)
}

// event counts an event and wakes the rank if it sleeps for one.
func (in *inbox) event(j *job) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events++
	if in.sleeps == forEvent {
		in.wake(j)
	}
}

// wake ends the rank's sleep, if it sleeps. The lock is held.
func (in *inbox) wake(j *job) {
	if in.sleeps == notAsleep {
		return
	}
	in.sleeps = notAsleep
	if in.idle {
		in.idle = false
		j.idle.Add(-1)
	}
	in.awake.Signal()
}

// sleep lets the rank sleep until something wakes it, which may be less than what it sleeps for, or
// until d has passed if d is not 0. The lock is held, but not meanwhile.
func (in *inbox) sleep(j *job, what sleep, d time.Duration) {
	in.sleeps = what
	if d > 0 {
		defer time.AfterFunc(d, func() {
			in.mu.Lock()
			defer in.mu.Unlock()
			in.wake(j)
		}).Stop()
	} else {
		in.idle = true
		in.mu.Unlock() // rest may look into all inboxes
		j.rest()
		in.mu.Lock()
	}
	for in.sleeps != notAsleep {
		in.awake.Wait()
	}
}

// take removes the first packet, or returns nil if there is none.
func (in *inbox) take() *buffer {
	if !in.filled.Load() {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.pop()
}

// pop is take with the lock held.
func (in *inbox) pop() *buffer {
	q := in.packets.pop()
	if in.packets.head == nil {
		in.filled.Store(false)
	}
	return q
}

// spins is how often a rank looks again before it sleeps. To sleep and be woken takes microseconds;
// to look and let other goroutines run takes some fifty nanoseconds.
const spins = 100

// wait takes the first packet and waits until there is one. It returns nil if the inbox is closed.
func (in *inbox) wait(j *job) *buffer {
	for range spins {
		if q := in.take(); q != nil {
			return q
		}
		runtime.Gosched()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.packets.head == nil && !in.closed {
		in.sleep(j, forPacket, 0)
	}
	return in.pop()
}

// close drops what is there and what will come, and wakes the rank. It returns who is to hear of
// it.
func (in *inbox) close() []exitNote {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed, in.sleeps = true, notAsleep
	in.packets = list{}
	in.filled.Store(false)
	in.awake.Signal()
	all := in.exits
	in.exits = nil
	return all
}

// exitNote is a packet that a rank is to get when the program of another has ended.
type exitNote struct {
	rank int
	head device.Head
}

// notify keeps a note until the inbox is closed, and reports whether that may be still to come.
func (in *inbox) notify(n exitNote) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed && !slices.ContainsFunc(in.exits, func(o exitNote) bool { return o.rank == n.rank }) {
		in.exits = append(in.exits, n)
	}
	return !in.closed
}

// waits reports whether the rank waits for others alone.
func (in *inbox) waits() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.idle
}

// watch implements device.Watch.
type watch struct{ *port }

func (w watch) Events() uint64 {
	in := &w.inbox
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.events
}

func (w watch) Wait(seen uint64, deadline unit.Time) bool {
	in := &w.inbox
	for i := 0; ; i++ {
		w.leave()
		if w.Events() != seen {
			return true
		}
		var left time.Duration
		if deadline != device.Forever {
			if left = time.Duration((deadline - w.Now() + unit.Nanosecond - 1) / unit.Nanosecond); left <= 0 {
				runtime.Gosched()
				return false
			}
		}
		if i < spins {
			runtime.Gosched()
			continue
		}
		in.mu.Lock()
		if in.events == seen && !in.closed {
			in.sleep(w.job, forEvent, left)
		}
		in.mu.Unlock()
	}
}
