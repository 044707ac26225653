package loop

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// exposedMemory is the memory that a rank has exposed. The lock is held during transfers: accesses
// of several ranks to the same bytes come one after another, and none is under way when Withdraw
// returns.
type exposedMemory struct {
	mu sync.Mutex
	device.Regions
}

type memory struct{ *port }

func (m memory) Expose(b []byte) device.Key {
	e := &m.exposed
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Regions.Expose(b)
}

func (m memory) Withdraw(k device.Key) {
	e := &m.exposed
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.Regions.Withdraw(k) {
		panic(fmt.Sprintf("loop: withdraw of memory %#x that rank %d does not expose", k, m.Rank()))
	}
}

func (m memory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	q := m.portOf(dst)
	if m.faults.Delay > 0 {
		if done == device.NoCompletion {
			b = append([]byte{}, b...)
		}
		m.runLater(func() { m.applyPut(q, k, off, b, done) })
	} else {
		m.applyPut(q, k, off, b, done)
	}
}

func (m memory) applyPut(q *port, k device.Key, off int, b []byte, done device.Head) {
	ok := q.exposed.accessRegion(k, off, len(b), func(there []byte) { copy(there, b) })
	if ok {
		q.inbox.countEvent(m.job)
	}
	if !ok || done != device.NoCompletion {
		m.enqueueCompletion(done, !ok)
	}
}

func (m memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	q := m.portOf(dst)
	if m.faults.Delay > 0 {
		m.runLater(func() { m.applyGet(q, k, off, b, done) })
	} else {
		m.applyGet(q, k, off, b, done)
	}
}

func (m memory) applyGet(q *port, k device.Key, off int, b []byte, done device.Head) {
	ok := q.exposed.accessRegion(k, off, len(b), func(there []byte) { copy(b, there) })
	m.enqueueCompletion(done, !ok)
}

// accessRegion passes n bytes of the memory that is exposed as k to transfer. It returns false if
// they are not all exposed.
func (e *exposedMemory) accessRegion(k device.Key, off, n int, transfer func(there []byte)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	there, ok := e.Access(k, off, n)
	if ok {
		transfer(there)
	}
	return ok
}

// enqueueCompletion sends the rank a completion.
func (p *port) enqueueCompletion(done device.Head, refused bool) {
	q := p.buffers.takeCopy(p.Rank(), &done, nil)
	q.Refused = refused
	p.inbox.enqueue(p.job, q)
}

// LoadWord implements device.Watch.
func (w watch) LoadWord(k device.Key, off int) (word uint64) {
	w.ExitIfJobFailed()
	runtime.Gosched() // a rank that polls lets others run, which is what it polls for
	if !w.exposed.accessRegion(k, off, 8, func(b []byte) { word = binary.NativeEndian.Uint64(b) }) {
		panic(fmt.Sprintf("loop: load of a word at %d of memory %#x that rank %d does not expose", off, k, w.Rank()))
	}
	return word
}

type counter struct{ *port }

func (c counter) FetchAndAddRegister(dst, r int, delta int64) int64 {
	return c.portOf(dst).counters[r].Add(delta) - delta
}

func (c counter) FetchAndStoreRegister(dst, r int, value int64) int64 {
	return c.portOf(dst).counters[r].Swap(value)
}

// barrier counts arrivals of all ranks.
type barrier struct{ *port }

func (b barrier) ArriveAtBarrier() {
	b.ExitIfJobFailed()
	b.ownArrivals++
	if b.barrierArrivals.Add(1)%int64(len(b.ports)) == 0 { // the last; the next barrier begins only after it
		for _, p := range b.ports {
			p.inbox.countEvent(b.job)
		}
	}
}

func (b barrier) IsBarrierReleased() bool {
	b.ExitIfJobFailed()
	return b.barrierArrivals.Load() >= int64(b.ownArrivals)*int64(len(b.ports))
}
