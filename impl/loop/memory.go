package loop

import (
	"fmt"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// exposed is the memory that a rank has exposed. The lock is held during transfers: accesses of several ranks to the
// same bytes come one after another, and none is under way when Withdraw returns.
type exposed struct {
	mu   sync.Mutex
	last device.Key // keys are not used again, so that a stale one is found out
	at   map[device.Key][]byte
}

type memory struct{ *port }

func (m memory) Expose(b []byte) device.Key {
	e := &m.exposed
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at == nil {
		e.at = make(map[device.Key][]byte)
	}
	e.last++
	e.at[e.last] = b
	return e.last
}

func (m memory) Withdraw(k device.Key) {
	e := &m.exposed
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.at[k]; !ok {
		panic(fmt.Sprintf("loop: withdraw of %d, which rank %d does not expose", k, m.rank))
	}
	delete(e.at, k)
}

func (m memory) Put(dst int, k device.Key, off int, b []byte, done [device.Words]uint64) {
	m.access("put", dst, k, off, len(b), func(there []byte) { copy(there, b) })
	m.complete(done)
}

func (m memory) Get(dst int, k device.Key, off int, b []byte, done [device.Words]uint64) {
	m.access("get", dst, k, off, len(b), func(there []byte) { copy(b, there) })
	m.complete(done)
}

// access hands n bytes of the memory of dst to transfer.
func (m memory) access(what string, dst int, k device.Key, off, n int, transfer func(there []byte)) {
	m.leave()
	e := &m.peer(dst).exposed
	e.mu.Lock()
	defer e.mu.Unlock()
	there, ok := e.at[k]
	if !ok {
		panic(fmt.Sprintf("loop: %s: rank %d exposes nothing as %d", what, dst, k))
	}
	if off < 0 || n > len(there)-off {
		panic(fmt.Sprintf("loop: %s of %d bytes at offset %d of the %d that rank %d exposes", what, n, off, len(there), dst))
	}
	transfer(there[off : off+n])
}

// complete tells the rank itself that a transfer has ended.
func (m memory) complete(done [device.Words]uint64) {
	m.Send(m.rank, &device.Packet{Head: done})
}
