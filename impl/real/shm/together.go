package shm

import (
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
)

// A rank that gets or puts much asks the owner of the memory to help. If the owner spins in a wait,
// its processor has nothing else to do: then both copy, chunk by chunk, each the next that neither
// has taken. If it does not spin, or no longer, the rank that asked copies all.
//
// Both processors copy 4 MiB in two thirds of the time of one, and 256 KiB in three quarters. A
// shorter transfer is over before the owner has seen that it is asked.
const (
	minTogether = 256 << 10
	chunk       = 64 << 10
)

// together is a transfer of a rank in which the owner of the memory may help.
type together struct {
	next   atomic.Uint64 // number of the transfer, and in the lower half the first chunk that neither has taken
	key    atomic.Uint64 // of the owner's memory,
	off    atomic.Uint64 // where in it,
	here   atomic.Uint64 // where in the memory of the rank that asks,
	size   atomic.Uint64 // and how much
	put    atomic.Bool   // to the owner's memory
	done   atomic.Uint32 // chunks that are there
	failed atomic.Bool   // some are not: the owner could not move them
	_      [lineSize - 52]byte
}

// chunkMask takes the chunk from next. While a transfer is written down the chunk is too large for
// any.
const chunkMask = 1<<32 - 1

// transferTogether gets bytes that another rank exposes at an offset, which is at an address of its
// memory, or puts them there, and lets it help.
func (m *memory) transferTogether(dst int, k device.Key, off int, there uintptr, b []byte, put bool) error {
	t := &m.me.together
	number := (t.next.Load()>>32 + 1) << 32
	t.next.Store(number | chunkMask)
	t.key.Store(uint64(k))
	t.off.Store(uint64(off))
	t.here.Store(uint64(start(b)))
	t.size.Store(uint64(len(b)))
	t.put.Store(put)
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
		if err := m.vector.move(m.pid(dst), there+uintptr(from), b[from:min(from+chunk, len(b))], put); err != nil {
			return err
		}
		t.done.Add(1)
	}
	m.members[dst].asker.CompareAndSwap(uint32(m.Rank())+1, 0)
	for t.done.Load() != uint32(chunks) {
		m.Leave()
		host.PauseProcessor()
	}
	if t.failed.Load() {
		return m.vector.move(m.pid(dst), there, b, put)
	}
	return nil
}

// help helps the rank that asked, until all is done or a packet has come for this one.
func (m *memory) help(asker uint32) {
	r := int(asker) - 1
	t := &m.members[r].together
	for !m.incoming() {
		next := t.next.Load()
		key, off, there, size, put := t.key.Load(), t.off.Load(), t.here.Load(), t.size.Load(), t.put.Load()
		from := (next & chunkMask) * chunk
		if from >= size {
			m.me.asker.CompareAndSwap(asker, 0)
			return
		}
		if !t.next.CompareAndSwap(next, next+1) { // if it is the same, so was all that was read
			continue
		}
		own, ok := m.regions.Reach(device.Key(key), int(off+from), int(min(chunk, size-from)))
		if !ok || m.vector.move(m.pid(r), uintptr(there+from), own, !put) != nil {
			t.failed.Store(true)
		}
		t.done.Add(1)
	}
}
