package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// regionEntry describes memory that a rank has exposed. The key plus 1 is written last and cleared
// first; 0 marks a free entry.
type regionEntry struct {
	key           atomic.Uint64
	address, size uint64
}

// maxSharedRegions is the number of regions of a rank whose entries are in the shared memory.
// Further entries are in the rank's own memory; other ranks read them by a system call.
const maxSharedRegions = 1 << 12

// memory is remote memory by the kernel's copies from process to process. A transfer has ended when
// it returns.
type memory struct {
	*port
	regions      device.Regions
	extraRegions []regionEntry   // entries of regions beyond maxSharedRegions
	formerTables [][]regionEntry // tables that further has outgrown: others may still read them
	remoteEntry  regionEntry     // an entry of another rank's
	copier       processCopier
}

func (m *memory) Expose(b []byte) device.Key {
	m.ExitIfJobFailed()
	k := m.regions.Expose(b)
	e := m.ownEntry(k)
	e.address, e.size = uint64(bufferAddress(b)), uint64(len(b))
	e.key.Store(uint64(k) + 1)
	return k
}

// ownEntry returns the entry of a key of this rank. It makes the entry if necessary.
func (m *memory) ownEntry(k device.Key) *regionEntry {
	i := int(uint32(k))
	if i < maxSharedRegions {
		return &m.state.regions[i]
	}
	i -= maxSharedRegions
	if i >= len(m.extraRegions) {
		table := make([]regionEntry, max(2*len(m.extraRegions), maxSharedRegions))
		for j := range m.extraRegions {
			from, to := &m.extraRegions[j], &table[j]
			to.address, to.size = from.address, from.size
			to.key.Store(from.key.Load())
		}
		m.formerTables = append(m.formerTables, m.extraRegions)
		m.extraRegions = table
		m.state.extraRegions.Store(uint64(uintptr(unsafe.Pointer(&table[0]))))
		m.state.extraRegionCount.Store(uint64(len(table)))
	}
	return &m.extraRegions[i]
}

func (m *memory) Withdraw(k device.Key) {
	if !m.regions.Withdraw(k) {
		panic(fmt.Sprintf("shm: withdraw of memory %#x that rank %d does not expose", k, m.Rank()))
	}
	m.ownEntry(k).key.Store(0)
}

func (m *memory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	there, ok := m.resolveAddress("put", dst, k, off, len(b))
	if dst == m.Rank() {
		own, _ := m.regions.Access(k, off, len(b))
		copy(own, b)
	} else if ok {
		if err := m.transfer(dst, k, off, there, b, true); err != nil {
			m.failAccess("put", dst, err)
		}
	}
	if ok && done == device.NoCompletion {
		return
	}
	m.enqueueCompletion(&done, !ok)
}

func (m *memory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	there, ok := m.resolveAddress("get", dst, k, off, len(b))
	if dst == m.Rank() {
		own, _ := m.regions.Access(k, off, len(b))
		copy(b, own)
	} else if ok {
		if err := m.transfer(dst, k, off, there, b, false); err != nil {
			m.failAccess("get", dst, err)
		}
	}
	m.enqueueCompletion(&done, !ok)
}

// enqueueCompletion puts the completion of an access into the rank's own inbox.
func (m *memory) enqueueCompletion(done *device.Head, refused bool) {
	q := m.Take(m.Rank(), done, 0, nil)
	q.Refused = refused
	q.TryComplete()
	m.Inbox.Enqueue(q)
}

// transfer gets bytes of another rank, or puts them there, alone or with its help. A rank that
// sleeps where it waits does not help.
func (m *memory) transfer(dst int, k device.Key, off int, there uintptr, b []byte, put bool) error {
	if len(b) >= minJointTransfer && !m.IsBlocking {
		return m.transferJointly(dst, k, off, there, b, put)
	}
	return m.copier.copyBytes(m.pid(dst), there, b, put)
}

func (m *memory) pid(r int) int { return int(m.ranks[r].pid.Load()) }

// resolveAddress returns the address of n bytes at an offset of what a rank exposes as k, and false
// if they do not all lie there.
func (m *memory) resolveAddress(what string, dst int, k device.Key, off, n int) (uintptr, bool) {
	m.ExitIfJobFailed()
	m.CheckRank(dst)
	key, where, size := m.lookUpRegion(what, dst, k)
	if key != uint64(k)+1 || off < 0 || n > int(size)-off {
		return 0, false
	}
	return uintptr(where) + uintptr(off), true
}

// lookUpRegion returns the entry of a rank's key.
func (m *memory) lookUpRegion(what string, dst int, k device.Key) (key, where, size uint64) {
	owner, i := &m.ranks[dst], uint64(uint32(k))
	var e *regionEntry
	switch {
	case i < maxSharedRegions:
		e = &owner.regions[i]
	case i-maxSharedRegions >= owner.extraRegionCount.Load():
		return 0, 0, 0
	case dst == m.Rank():
		e = m.ownEntry(k)
	default:
		e = &m.remoteEntry
		at := uintptr(owner.extraRegions.Load()) + uintptr(i-maxSharedRegions)*unsafe.Sizeof(*e)
		if err := m.copier.copyBytes(m.pid(dst), at, unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)), false); err != nil {
			m.failAccess(what, dst, err)
		}
	}
	return e.key.Load(), e.address, e.size
}

// failAccess ends a rank that cannot reach another's memory.
func (m *memory) failAccess(what string, dst int, err error) {
	m.AwaitJobFailure()
	panic(fmt.Sprintf("shm: %s: the memory of rank %d: %v", what, dst, err))
}

// bufferAddress returns where the first byte of b is. Memory that Go has allocated and that is in
// use does not move.
func bufferAddress(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
