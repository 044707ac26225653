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
	m.access("put", dst, k, off, len(b), func(there []byte) { copy(there, b) })
	m.complete(done)
}

func (m memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.access("get", dst, k, off, len(b), func(there []byte) { copy(b, there) })
	m.complete(done)
}

// access hands n bytes of the memory of dst to transfer.
func (m memory) access(what string, dst int, k device.Key, off, n int, transfer func(there []byte)) {
	m.leave()
	e := &m.peer(dst).exposed
	e.mu.Lock()
	defer e.mu.Unlock()
	there, ok := e.Reach(k, off, n)
	if !ok {
		panic(fmt.Sprintf("loop: %s of %d bytes at %d of memory %#x of rank %d, which is not exposed", what, n, off, k, dst))
	}
	transfer(there)
}

// complete tells the rank itself that a transfer has ended.
func (m memory) complete(done device.Head) {
	m.Send(m.rank, &device.Packet{Head: done})
}
