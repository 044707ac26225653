package loop

import (
	"fmt"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// exposed is the memory that a rank has exposed. The lock is held during transfers: accesses of several ranks to the
// same bytes come one after another, and none is under way when Withdraw returns.
type exposed struct {
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
		panic(fmt.Sprintf("loop: withdraw of memory %#x that rank %d does not expose", k, m.rank))
	}
}

func (m memory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.access(dst, k, off, len(b), done, func(there []byte) { copy(there, b) })
}

func (m memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.access(dst, k, off, len(b), done, func(there []byte) { copy(b, there) })
}

// access hands n bytes of the memory of dst to transfer, and sends the completion.
func (m memory) access(dst int, k device.Key, off, n int, done device.Head, transfer func(there []byte)) {
	m.leave()
	e := &m.peer(dst).exposed
	e.mu.Lock()
	there, ok := e.Reach(k, off, n)
	if ok {
		transfer(there)
	}
	e.mu.Unlock()
	q := m.parcels.pack(m.rank, &device.Packet{Head: done})
	q.Refused = !ok
	m.inbox.put(m.job, q)
}
