package loop

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// queueLimit is the length of the longest entry: what an Ethernet frame leaves of its 1500 bytes to
// the protocol of a remote memory access.
const queueLimit = 1408

// rings is the queues of a rank. A key is a place, which is not used again.
type rings struct {
	mu  sync.Mutex
	all []*ring // nil: destroyed
}

type ring struct {
	size, used int
	entries    list
	refusing   map[int]bool // by writer: an entry was refused, and none with Retry was taken since
}

type queue struct{ *port }

func (queue) Limit() int { return queueLimit }

func (q queue) Create(size int) device.Key {
	r := &q.rings
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, &ring{size: size, refusing: map[int]bool{}})
	return device.Key(len(r.all) - 1)
}

func (q queue) Destroy(k device.Key) {
	q.own(k, func(*ring) { q.rings.all[k] = nil })
}

func (q queue) Enqueue(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
	to := q.reach(dst)
	checkLength("an entry", len(b), queueLimit)
	entry := q.buffers.pack(q.rank, &device.Head{}, b)
	unlucky := q.dice.chance(q.faults.Refuse)
	if q.faults.Delay > 0 {
		q.later(func() { q.append(to, k, entry, flags, done, unlucky) })
	} else {
		q.append(to, k, entry, flags, done, unlucky)
	}
}

// append lets an entry take effect.
func (q queue) append(to *port, k device.Key, entry *buffer, flags device.EnqueueFlags, done device.Head, unlucky bool) {
	taken := to.rings.append(k, entry, flags&device.Retry != 0, unlucky)
	to.inbox.event(q.job)
	if !taken {
		q.buffers.free(entry)
	}
	if !taken || flags&device.Quiet == 0 {
		q.complete(done, !taken)
	}
}

// append adds an entry to a queue, unless it is refused.
func (r *rings) append(k device.Key, entry *buffer, retry, unlucky bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k >= device.Key(len(r.all)) || r.all[k] == nil {
		return false
	}
	x := r.all[k]
	used := x.used + len(entry.Data) + device.EntryOverhead
	if used > x.size || unlucky || x.refusing[entry.Src] && !retry {
		x.refusing[entry.Src] = true
		return false
	}
	x.refusing[entry.Src] = false
	x.used = used
	x.entries.push(entry)
	return true
}

func (q queue) First(k device.Key) (first *device.Packet) {
	q.leave()
	q.own(k, func(x *ring) {
		if x.entries.head != nil {
			first = &x.entries.head.Packet
		}
	})
	if first == nil {
		runtime.Gosched() // as Load does
	}
	return first
}

func (q queue) Refusing(k device.Key) (refusing bool) {
	q.own(k, func(x *ring) {
		for _, r := range x.refusing {
			refusing = refusing || r
		}
	})
	return refusing
}

func (q queue) Drop(k device.Key) {
	q.own(k, func(x *ring) {
		entry := x.entries.pop()
		if entry == nil {
			panic(fmt.Sprintf("loop: drop from queue %d of rank %d, which is empty", k, q.rank))
		}
		x.used -= len(entry.Data) + device.EntryOverhead
		q.buffers.free(entry)
	})
}

// own hands one of the rank's own queues to use.
func (q queue) own(k device.Key, use func(*ring)) {
	r := &q.rings
	r.mu.Lock()
	defer r.mu.Unlock()
	if k >= device.Key(len(r.all)) || r.all[k] == nil {
		panic(fmt.Sprintf("loop: rank %d has no queue %d", q.rank, k))
	}
	use(r.all[k])
}

// checkLength panics if something is longer than its limit.
func checkLength(what string, n, limit int) {
	if n > limit {
		panic(fmt.Sprintf("loop: %s of %d bytes, more than %d", what, n, limit))
	}
}
