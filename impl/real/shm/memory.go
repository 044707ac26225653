package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// exposed is memory that a rank has exposed, for others to see. The key, plus 1, is written last
// and cleared first; 0 is none.
type exposed struct {
	key         atomic.Uint64
	where, size uint64
}

// sharedRegions is how many regions of a rank have their entry in memory that all ranks map. The
// entries of further ones are in the rank's own memory, from where others read them by a system
// call.
const sharedRegions = 1 << 12

// memory is remote memory by the kernel's copies from process to process. A transfer has ended when
// it returns.
type memory struct {
	*port
	regions device.Regions
	further []exposed   // entries of regions beyond sharedRegions
	former  [][]exposed // tables that further has outgrown: others may still read them
	read    exposed     // an entry of another rank's
	vector  vector
}

func (m *memory) Expose(b []byte) device.Key {
	m.Leave()
	k := m.regions.Expose(b)
	e := m.own(k)
	e.where, e.size = uint64(start(b)), uint64(len(b))
	e.key.Store(uint64(k) + 1)
	return k
}

// own returns the entry of a key of this rank, and makes it if need be.
func (m *memory) own(k device.Key) *exposed {
	i := int(uint32(k))
	if i < sharedRegions {
		return &m.me.exposed[i]
	}
	i -= sharedRegions
	if i >= len(m.further) {
		table := make([]exposed, max(2*len(m.further), sharedRegions))
		for j := range m.further {
			from, to := &m.further[j], &table[j]
			to.where, to.size = from.where, from.size
			to.key.Store(from.key.Load())
		}
		m.former = append(m.former, m.further)
		m.further = table
		m.me.further.Store(uint64(uintptr(unsafe.Pointer(&table[0]))))
		m.me.furtherSize.Store(uint64(len(table)))
	}
	return &m.further[i]
}

func (m *memory) Withdraw(k device.Key) {
	if !m.regions.Withdraw(k) {
		panic(fmt.Sprintf("shm: withdraw of memory %#x that rank %d does not expose", k, m.Rank()))
	}
	m.own(k).key.Store(0)
}

func (m *memory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	there, ok := m.find("put", dst, k, off, len(b))
	if dst == m.Rank() {
		own, _ := m.regions.Reach(k, off, len(b))
		copy(own, b)
	} else if ok {
		if err := m.transfer(dst, k, off, there, b, true); err != nil {
			m.lost("put", dst, err)
		}
	}
	if ok && done == device.NoCompletion {
		return
	}
	m.complete(&done, !ok)
}

func (m *memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	there, ok := m.find("get", dst, k, off, len(b))
	if dst == m.Rank() {
		own, _ := m.regions.Reach(k, off, len(b))
		copy(b, own)
	} else if ok {
		if err := m.transfer(dst, k, off, there, b, false); err != nil {
			m.lost("get", dst, err)
		}
	}
	m.complete(&done, !ok)
}

// complete tells the rank itself that an access has ended.
func (m *memory) complete(done *device.Head, refused bool) {
	q := m.Take(m.Rank(), done, 0, nil)
	q.Refused = refused
	q.Whole()
	m.Inbox.Put(q)
}

// transfer gets bytes of another rank, or puts them there, alone or with its help. A rank that
// sleeps where it waits does not help.
func (m *memory) transfer(dst int, k device.Key, off int, there uintptr, b []byte, put bool) error {
	if len(b) >= minTogether && !m.Blocks {
		return m.transferTogether(dst, k, off, there, b, put)
	}
	return m.vector.move(m.pid(dst), there, b, put)
}

func (m *memory) pid(r int) int { return int(m.members[r].pid.Load()) }

// find returns the address of n bytes at an offset of what a rank exposes as k, and false if they
// do not all lie there.
func (m *memory) find(what string, dst int, k device.Key, off, n int) (uintptr, bool) {
	m.Leave()
	m.Check(dst)
	key, where, size := m.entry(what, dst, k)
	if key != uint64(k)+1 || off < 0 || n > int(size)-off {
		return 0, false
	}
	return uintptr(where) + uintptr(off), true
}

// entry returns what a rank says of a key.
func (m *memory) entry(what string, dst int, k device.Key) (key, where, size uint64) {
	owner, i := &m.members[dst], uint64(uint32(k))
	var e *exposed
	switch {
	case i < sharedRegions:
		e = &owner.exposed[i]
	case i-sharedRegions >= owner.furtherSize.Load():
		return 0, 0, 0
	case dst == m.Rank():
		e = m.own(k)
	default:
		e = &m.read
		at := uintptr(owner.further.Load()) + uintptr(i-sharedRegions)*unsafe.Sizeof(*e)
		if err := m.vector.move(m.pid(dst), at, unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)), false); err != nil {
			m.lost(what, dst, err)
		}
	}
	return e.key.Load(), e.where, e.size
}

// lost ends a rank that cannot reach another's memory.
func (m *memory) lost(what string, dst int, err error) {
	m.AwaitStop()
	panic(fmt.Sprintf("shm: %s: the memory of rank %d: %v", what, dst, err))
}

// start returns where the first byte of b is. Memory that Go has allocated and that is in use does
// not move.
func start(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
