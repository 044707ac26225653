package loop

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// maxEntrySize is the length of the longest entry: the part of an Ethernet frame's 1500 bytes that
// the protocol of a remote memory access leaves.
const maxEntrySize = 1408

// entryQueues holds the queues of a rank. A key is an index, which is not used again.
type entryQueues struct {
	mu    sync.Mutex
	byKey []*entryQueue // nil: destroyed
}

type entryQueue struct {
	size, usedBytes int
	entries         bufferList
	refusedWriters  map[int]bool // by writer: an entry was refused, and no entry with Retry was taken since
}

type queue struct{ *port }

func (queue) MaxEntryBytes() int { return maxEntrySize }

func (q queue) Create(size int) device.Key {
	r := &q.queues
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byKey = append(r.byKey, &entryQueue{size: size, refusedWriters: map[int]bool{}})
	return device.Key(len(r.byKey) - 1)
}

func (q queue) Destroy(k device.Key) {
	q.withOwnQueue(k, func(*entryQueue) { q.queues.byKey[k] = nil })
}

func (q queue) Enqueue(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
	to := q.portOf(dst)
	checkLength("an entry", len(b), maxEntrySize)
	entry := q.buffers.takeCopy(q.Rank(), &device.Head{}, b)
	unlucky := q.random.isHit(q.faults.Refuse)
	if q.faults.Delay > 0 {
		q.runLater(func() { q.applyEntry(to, k, entry, flags, done, unlucky) })
	} else {
		q.applyEntry(to, k, entry, flags, done, unlucky)
	}
}

// applyEntry adds an entry to its queue, or completes it as refused.
func (q queue) applyEntry(to *port, k device.Key, entry *buffer, flags device.EnqueueFlags, done device.Head, unlucky bool) {
	taken := to.queues.appendEntry(k, entry, flags&device.RetryAfterRefusal != 0, unlucky)
	to.inbox.countEvent(q.job)
	if !taken {
		q.buffers.release(entry)
	}
	if !taken || flags&device.CompleteOnlyIfRefused == 0 {
		q.enqueueCompletion(done, !taken)
	}
}

// appendEntry adds an entry to a queue, unless it is refused.
func (r *entryQueues) appendEntry(k device.Key, entry *buffer, retry, unlucky bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k >= device.Key(len(r.byKey)) || r.byKey[k] == nil {
		return false
	}
	x := r.byKey[k]
	used := x.usedBytes + len(entry.Data) + device.EntryOverhead
	if used > x.size || unlucky || x.refusedWriters[entry.Src] && !retry {
		x.refusedWriters[entry.Src] = true
		return false
	}
	x.refusedWriters[entry.Src] = false
	x.usedBytes = used
	x.entries.push(entry)
	return true
}

func (q queue) First(k device.Key) (first *device.Packet) {
	q.ExitIfJobFailed()
	q.withOwnQueue(k, func(x *entryQueue) {
		if x.entries.head != nil {
			first = &x.entries.head.Packet
		}
	})
	if first == nil {
		runtime.Gosched() // as Load does
	}
	return first
}

func (q queue) IsRefusing(k device.Key) (refusing bool) {
	q.withOwnQueue(k, func(x *entryQueue) {
		for _, r := range x.refusedWriters {
			refusing = refusing || r
		}
	})
	return refusing
}

func (q queue) RemoveFirst(k device.Key) {
	q.withOwnQueue(k, func(x *entryQueue) {
		entry := x.entries.pop()
		if entry == nil {
			panic(fmt.Sprintf("loop: drop from queue %d of rank %d, which is empty", k, q.Rank()))
		}
		x.usedBytes -= len(entry.Data) + device.EntryOverhead
		q.buffers.release(entry)
	})
}

// withOwnQueue hands one of the rank's own queues to use.
func (q queue) withOwnQueue(k device.Key, use func(*entryQueue)) {
	r := &q.queues
	r.mu.Lock()
	defer r.mu.Unlock()
	if k >= device.Key(len(r.byKey)) || r.byKey[k] == nil {
		panic(fmt.Sprintf("loop: rank %d has no queue %d", q.Rank(), k))
	}
	use(r.byKey[k])
}

// checkLength panics if something is longer than its limit.
func checkLength(what string, n, limit int) {
	if n > limit {
		panic(fmt.Sprintf("loop: %s of %d bytes, more than %d", what, n, limit))
	}
}
