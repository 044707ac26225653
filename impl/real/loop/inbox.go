package loop

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
)

// inbox holds the packets that have arrived for a rank, and the state of its sleep.
type inbox struct {
	hasPackets atomic.Bool // not empty; read without the lock

	mu            sync.Mutex
	wakeCondition sync.Cond // signalled when the rank no longer sleeps
	packets       bufferList
	eventCount    uint64 // of device.Watch
	sleepReason   sleepReason
	isIdle        bool // it sleeps without a deadline, and is counted as idle or about to be
	isClosed      bool // its program has ended or the job has failed: packets are dropped
	exitNotices   []exitNotice
}

// sleepReason is the kind of event for which a rank sleeps.
type sleepReason uint8

const (
	notAsleep sleepReason = iota
	sleepForPacket
	sleepForEvent
)

// enqueue adds a packet and wakes the rank if it sleeps.
func (in *inbox) enqueue(j *job, q *buffer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.isClosed {
		j.buffers.release(q)
		return
	}
	in.packets.push(q)
	in.hasPackets.Store(true)
	in.eventCount++
	in.wakeRank(j)
}

// countEvent counts an event and wakes the rank if it sleeps for one.
func (in *inbox) countEvent(j *job) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.eventCount++
	if in.sleepReason == sleepForEvent {
		in.wakeRank(j)
	}
}

// wakeRank ends the rank's sleep, if it sleeps. The lock is held.
func (in *inbox) wakeRank(j *job) {
	if in.sleepReason == notAsleep {
		return
	}
	in.sleepReason = notAsleep
	if in.isIdle {
		in.isIdle = false
		j.idleCount.Add(-1)
	}
	in.wakeCondition.Signal()
}

// sleepUntilWoken lets the rank sleep until it is woken, perhaps too early, or until d has passed
// if d is not 0. The lock is held by the caller, and released during the sleep.
func (in *inbox) sleepUntilWoken(j *job, what sleepReason, d time.Duration) {
	in.sleepReason = what
	if d > 0 {
		defer time.AfterFunc(d, func() {
			in.mu.Lock()
			defer in.mu.Unlock()
			in.wakeRank(j)
		}).Stop()
	} else {
		in.isIdle = true
		in.mu.Unlock() // rest may look into all inboxes
		j.countIdle()
		in.mu.Lock()
	}
	for in.sleepReason != notAsleep {
		in.wakeCondition.Wait()
	}
}

// dequeue removes the first packet, or returns nil if there is none.
func (in *inbox) dequeue() *buffer {
	if !in.hasPackets.Load() {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.dequeueLocked()
}

// dequeueLocked is take with the lock held.
func (in *inbox) dequeueLocked() *buffer {
	q := in.packets.pop()
	if in.packets.head == nil {
		in.hasPackets.Store(false)
	}
	return q
}

// pollsBeforeSleep is the number of polls before a rank sleeps. Sleeping and waking take
// microseconds; a poll that lets other goroutines run takes about fifty nanoseconds.
const pollsBeforeSleep = 100

// waitForPacket waits for a packet and takes it. It returns nil if the inbox is
// closed.
func (in *inbox) waitForPacket(j *job) *buffer {
	for range pollsBeforeSleep {
		if q := in.dequeue(); q != nil {
			return q
		}
		runtime.Gosched()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.packets.head == nil && !in.isClosed {
		in.sleepUntilWoken(j, sleepForPacket, 0)
	}
	return in.dequeueLocked()
}

// close drops all packets, present and future, and wakes the rank. It returns the notices to be
// sent.
func (in *inbox) close() []exitNotice {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.isClosed, in.sleepReason = true, notAsleep
	in.packets = bufferList{}
	in.hasPackets.Store(false)
	in.wakeCondition.Signal()
	all := in.exitNotices
	in.exitNotices = nil
	return all
}

// exitNotice is a packet for a rank that is sent when the program of another one ends.
type exitNotice struct {
	rank int
	head device.Head
}

// addExitNotice keeps a notice until the inbox is closed. It returns false if the inbox is closed
// already.
func (in *inbox) addExitNotice(n exitNotice) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.isClosed && !slices.ContainsFunc(in.exitNotices, func(o exitNotice) bool { return o.rank == n.rank }) {
		in.exitNotices = append(in.exitNotices, n)
	}
	return !in.isClosed
}

// isWaiting reports whether only other ranks can wake this one.
func (in *inbox) isWaiting() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.isIdle
}
