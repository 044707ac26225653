package shm

import (
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/machine"
)

// A rank that gets much asks the owner of the memory to help. If the owner spins in a wait, its
// processor has nothing else to do: then both copy, chunk by chunk, each the next that neither has
// taken. If it does not spin, or no longer, the getter copies all.
//
// Both processors copy 4 MiB in two thirds of the time of one, and 256 KiB in three quarters. A
// shorter get is over before the owner has seen that it is asked.
const (
	minTogether = 256 << 10
	chunk       = 64 << 10
)

// together is a get of a rank in which the owner of the memory may help.
type together struct {
	next   atomic.Uint64 // number of the get, and in the lower half the first chunk that neither has taken
	key    atomic.Uint64 // what is got of the owner's memory,
	off    atomic.Uint64 // from where,
	to     atomic.Uint64 // to where in the memory of the getter,
	size   atomic.Uint64 // and how much
	done   atomic.Uint32 // chunks that are there
	failed atomic.Bool   // some are not: the owner could not write them
	_      [lineSize - 48]byte
}

// chunkMask takes the chunk from next. While a get is written down the chunk is too large for any.
const chunkMask = 1<<32 - 1

// getTogether gets bytes that another rank exposes at an offset, which is at an address of its
// memory, and lets it help.
func (m *memory) getTogether(dst int, k device.Key, off int, there uintptr, b []byte) error {
	t := &m.me.together
	number := (t.next.Load()>>32 + 1) << 32
	t.next.Store(number | chunkMask)
	t.key.Store(uint64(k))
	t.off.Store(uint64(off))
	t.to.Store(uint64(start(b)))
	t.size.Store(uint64(len(b)))
	t.done.Store(0)
	t.failed.Store(false)
	t.next.Store(number)
	m.members[dst].asker.Store(uint32(m.Rank()) + 1)
	chunks := (len(b) + chunk - 1) / chunk
	for {
		i := int((t.next.Add(1) - 1) & chunkMask)
		if i >= chunks {
			break
		}
		from := i * chunk
		if err := m.vector.read(m.pid(dst), there+uintptr(from), b[from:min(from+chunk, len(b))]); err != nil {
			return err
		}
		t.done.Add(1)
	}
	m.members[dst].asker.CompareAndSwap(uint32(m.Rank())+1, 0)
	for t.done.Load() != uint32(chunks) {
		m.Leave()
		machine.Pause()
	}
	if t.failed.Load() {
		return m.vector.read(m.pid(dst), there, b)
	}
	return nil
}

// help helps the rank that asked, until all is done or a packet has come for this one.
func (m *memory) help(asker uint32) {
	r := int(asker) - 1
	t := &m.members[r].together
	for !m.incoming() {
		next := t.next.Load()
		key, off, to, size := t.key.Load(), t.off.Load(), t.to.Load(), t.size.Load()
		from := (next & chunkMask) * chunk
		if from >= size {
			m.me.asker.CompareAndSwap(asker, 0)
			return
		}
		if !t.next.CompareAndSwap(next, next+1) { // if it is the same, so was all that was read
			continue
		}
		own, ok := m.regions.Reach(device.Key(key), int(off+from), int(min(chunk, size-from)))
		if !ok || m.vector.write(m.pid(r), uintptr(to+from), own) != nil {
			t.failed.Store(true)
		}
		t.done.Add(1)
	}
}
