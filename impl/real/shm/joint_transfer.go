package shm

import (
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
)

// A rank that gets or puts many bytes asks the owner of the memory to help. If the owner spins in a
// wait, its processor is idle. Then both copy chunk by chunk, each time the next chunk that neither
// has taken. If the owner does not spin, the asking rank copies everything.
//
// Both processors copy 4 MiB in two thirds of the time of one, and 256 KiB in three quarters. A
// shorter transfer is over before the owner has seen that it is asked.
const (
	minJointTransfer = 256 << 10
	chunkSize        = 64 << 10
)

// jointTransfer is a transfer of a rank in which the owner of the memory may help.
type jointTransfer struct {
	nextChunk  atomic.Uint64 // number of the transfer, and in the lower half the first chunk that neither has taken
	key        atomic.Uint64 // of the owner's memory,
	offset     atomic.Uint64 // where in it,
	address    atomic.Uint64 // where in the memory of the rank that asks,
	size       atomic.Uint64 // and how much
	isPut      atomic.Bool   // to the owner's memory
	doneChunks atomic.Uint32 // chunks that are there
	failed     atomic.Bool   // some are not: the owner could not move them
	_          [lineSize - 52]byte
}

// nextChunkMask takes the chunk from next. While a transfer is written down the chunk is too large
// for any.
const nextChunkMask = 1<<32 - 1

// transferJointly gets bytes that another rank exposes at an offset, which is at an address of its
// memory, or puts them there, and lets it help.
func (m *memory) transferJointly(dst int, k device.Key, off int, there uintptr, b []byte, put bool) error {
	t := &m.state.transfer
	number := (t.nextChunk.Load()>>32 + 1) << 32
	t.nextChunk.Store(number | nextChunkMask)
	t.key.Store(uint64(k))
	t.offset.Store(uint64(off))
	t.address.Store(uint64(bufferAddress(b)))
	t.size.Store(uint64(len(b)))
	t.isPut.Store(put)
	t.doneChunks.Store(0)
	t.failed.Store(false)
	t.nextChunk.Store(number)
	m.ranks[dst].helpRequester.Store(uint32(m.Rank()) + 1)
	chunks := (len(b) + chunkSize - 1) / chunkSize
	for {
		i := int((t.nextChunk.Add(1) - 1) & nextChunkMask)
		if i >= chunks {
			break
		}
		from := i * chunkSize
		if err := m.copier.copyBytes(m.pid(dst), there+uintptr(from), b[from:min(from+chunkSize, len(b))], put); err != nil {
			return err
		}
		t.doneChunks.Add(1)
	}
	m.ranks[dst].helpRequester.CompareAndSwap(uint32(m.Rank())+1, 0)
	for t.doneChunks.Load() != uint32(chunks) {
		m.ExitIfJobFailed()
		host.PauseProcessor()
	}
	if t.failed.Load() {
		return m.copier.copyBytes(m.pid(dst), there, b, put)
	}
	return nil
}

// helpTransfer helps the rank that asked, until the transfer is done or a packet arrives for this
// rank.
func (m *memory) helpTransfer(asker uint32) {
	r := int(asker) - 1
	t := &m.ranks[r].transfer
	for !m.hasArrivals() {
		next := t.nextChunk.Load()
		key, off, there, size, put := t.key.Load(), t.offset.Load(), t.address.Load(), t.size.Load(), t.isPut.Load()
		from := (next & nextChunkMask) * chunkSize
		if from >= size {
			m.state.helpRequester.CompareAndSwap(asker, 0)
			return
		}
		if !t.nextChunk.CompareAndSwap(next, next+1) { // if it is the same, so was all that was read
			continue
		}
		own, ok := m.regions.Access(device.Key(key), int(off+from), int(min(chunkSize, size-from)))
		if !ok || m.copier.copyBytes(m.pid(r), uintptr(there+from), own, !put) != nil {
			t.failed.Store(true)
		}
		t.doneChunks.Add(1)
	}
}
