package shm

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
)

// maxExposed is how much memory a rank may expose at a time, in pieces.
const maxExposed = 1 << indexBits

// exposed is memory that a rank has exposed, for others to see. The key is written last and cleared first; 0 is none.
//
// A key has the place in the table in its lowest bits, and above them a number that is not used again.
type exposed struct {
	key         atomic.Uint64
	where, size uint64
}

const indexBits = 12

// memory is remote memory by the kernel's copies from process to process. A transfer has ended when it returns.
type memory struct {
	*port
	mine   [maxExposed][]byte // keeps what is exposed from being collected
	unused []uint16           // places
	last   uint64
	vector vector
}

func newMemory(p *port) *memory {
	m := &memory{port: p}
	for i := range uint16(maxExposed) {
		m.unused = append(m.unused, maxExposed-1-i)
	}
	return m
}

func (m *memory) Expose(b []byte) device.Key {
	m.leave()
	if len(m.unused) == 0 {
		panic(fmt.Sprintf("shm: rank %d exposes %d pieces of memory, and more than that it cannot", m.rank, maxExposed))
	}
	i := m.unused[len(m.unused)-1]
	m.unused = m.unused[:len(m.unused)-1]
	m.last++
	k := m.last<<indexBits | uint64(i)
	m.mine[i] = b
	e := &m.me.exposed[i]
	e.where, e.size = uint64(start(b)), uint64(len(b))
	e.key.Store(k)
	return device.Key(k)
}

func (m *memory) Withdraw(k device.Key) {
	i := k % maxExposed
	e := &m.me.exposed[i]
	if k == 0 || e.key.Load() != uint64(k) {
		panic(fmt.Sprintf("shm: withdraw of %d, which rank %d does not expose", k, m.rank))
	}
	e.key.Store(0)
	m.mine[i] = nil
	m.unused = append(m.unused, uint16(i))
}

func (m *memory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	there := m.find("put", dst, k, off, len(b))
	if dst == m.rank {
		copy(m.mine[k%maxExposed][off:], b)
	} else if err := m.vector.write(m.pid(dst), there, b); err != nil {
		m.lost("put", dst, err)
	}
	m.complete(done)
}

func (m *memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	there := m.find("get", dst, k, off, len(b))
	if dst == m.rank {
		copy(b, m.mine[k%maxExposed][off:])
	} else if err := m.fetch(dst, k, off, there, b); err != nil {
		m.lost("get", dst, err)
	}
	m.complete(done)
}

// fetch gets bytes of another rank, alone or with its help. Who sleeps where it waits does not help.
func (m *memory) fetch(dst int, k device.Key, off int, there uintptr, b []byte) error {
	if len(b) >= worth && !m.blocks {
		return m.share(dst, k, off, there, b)
	}
	return m.vector.read(m.pid(dst), there, b)
}

func (m *memory) pid(r int) int { return int(m.members[r].pid.Load()) }

// find returns the address of n bytes at an offset of memory that a rank exposes.
func (m *memory) find(what string, dst int, k device.Key, off, n int) uintptr {
	m.leave()
	m.check(dst)
	e := &m.members[dst].exposed[k%maxExposed]
	if k == 0 || e.key.Load() != uint64(k) {
		panic(fmt.Sprintf("shm: %s: rank %d exposes nothing as %d", what, dst, k))
	}
	if off < 0 || n > int(e.size)-off {
		panic(fmt.Sprintf("shm: %s of %d bytes at offset %d of the %d that rank %d exposes", what, n, off, e.size, dst))
	}
	return uintptr(e.where) + uintptr(off)
}

// complete tells the rank itself that a transfer has ended.
func (m *memory) complete(done device.Head) {
	m.stash.put(m.pool.take(m.rank, &done, 0))
}

// mourning is how long a rank waits to be told that the one is dead whose memory it could not reach.
const mourning = 2 * time.Second

// lost ends a rank that cannot reach another's memory: most likely that rank is dead, and the job is about to end for that.
func (m *memory) lost(what string, dst int, err error) {
	for end := time.Now().Add(mourning); time.Now().Before(end); time.Sleep(time.Millisecond) {
		m.leave()
	}
	panic(fmt.Sprintf("shm: %s: the memory of rank %d: %v", what, dst, err))
}
