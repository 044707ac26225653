package shm

import (
	"sync/atomic"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/transport"
)

// line is a cache line of a ring: the word that says what the record is, the head of its packet,
// and its data if that is short.
type line struct {
	word atomic.Uint64
	head device.Head
	data [maxLineData]byte
}

// lineSize is the size of a cache line, and maxLineData the bytes of data in a line of a ring.
const (
	lineSize    = 64
	maxLineData = lineSize - 8 - 8*device.HeadWords
)

// ringLines is how many a ring has, and areaSize the bytes of its area for longer data: powers of
// two.
//
// Note: longer ones buffer more, but a ping-pong cycles through the whole ring, which is slower if
// it does not fit the processors' nearest caches.
const (
	ringLines = 256
	areaSize  = 64 << 10
)

// ring carries packets from one rank to another. Each part is on lines of its own.
type ring struct {
	linesTaken, areaTaken atomic.Uint64 // lines, and bytes of the area, that the reader has taken and the writer may use again
	_                     [lineSize - 16]byte
	lines                 [ringLines]line
	area                  [areaSize]byte
}

// rankState is the state of a rank that all may read. Each part is on cache lines of its own:
// senders read asleep for each packet, the rest seldom.
type rankState struct {
	isAsleep atomic.Uint32 // the rank sleeps, or is about to: a rank that has something for it clears this and wakes it
	_        [lineSize - 4]byte

	helpRequester atomic.Uint32 // 1 + the rank that asks this one to help with a transfer; 0: no rank
	_             [lineSize - 4]byte

	transfer jointTransfer

	counters [device.CountersPerRank]atomic.Int64
	_        [lineSize - 8*device.CountersPerRank]byte

	waitChanges      atomic.Uint64 // counts the beginnings and the ends of long waits: odd, the rank waits
	extraRegions     atomic.Uint64 // address in the rank's memory of its table of further exposed regions,
	extraRegionCount atomic.Uint64 // and how many entries that has
	hasEnded         atomic.Bool
	isConnected      atomic.Bool  // the rank has started
	pid              atomic.Int32 // its process
	_                [lineSize - 36]byte

	awaitsExit [launch.MaxRanks]atomic.Bool // ranks whose exit notice it has asked for and not had

	// While the rank waits, and when it has ended: how far it is in its rings.
	sent, received [launch.MaxRanks]atomic.Uint64

	regions [maxSharedRegions]regionEntry // 24 bytes each, a whole number of lines
}

// jobState is the state of the job. All ranks read it, and it is hardly ever written.
type jobState struct {
	failed         atomic.Bool // the job has failed
	noRemoteMemory atomic.Bool // some rank cannot reach the memory of others
	probeValue     uint64      // what ranks try to read in the memory of rank 0, and where that is
	probeAddress   atomic.Uint64
	_              [lineSize - 24]byte
}

// segment is the mapping as a rank sees it.
type segment struct {
	*jobState
	ranks []rankState
	rings []ring // from a to b at a*ranks+b

	progress []transport.Progress // of the ranks, for deadlock
}

// segmentSize returns the bytes of a mapping.
func segmentSize(ranks int) int {
	return int(unsafe.Sizeof(jobState{})) + ranks*int(unsafe.Sizeof(rankState{})) + ranks*ranks*int(unsafe.Sizeof(ring{}))
}

// segmentAt returns the parts of a mapping, which begins at a page.
func segmentAt(mapped []byte, ranks int) *segment {
	s := &segment{jobState: (*jobState)(unsafe.Pointer(&mapped[0]))}
	at := unsafe.Sizeof(jobState{})
	s.ranks = unsafe.Slice((*rankState)(unsafe.Pointer(&mapped[at])), ranks)
	at += uintptr(ranks) * unsafe.Sizeof(rankState{})
	s.rings = unsafe.Slice((*ring)(unsafe.Pointer(&mapped[at])), ranks*ranks)
	return s
}

// ringBetween returns the ring from one rank to another.
func (s *segment) ringBetween(from, to int) *ring { return &s.rings[from*len(s.ranks)+to] }

// deadlockedRanks returns the waiting ranks of a deadlock, or nil. A rank publishes its progress
// before its wait begins, and it stays valid until that ends. So if no wait has ended while all
// were read, they are of one time. Only the supervisor of the job calls it.
func (s *segment) deadlockedRanks() []int {
	if s.progress == nil {
		s.progress = transport.NewProgress(len(s.ranks))
	}
	ranks := s.progress
	var waits [launch.MaxRanks]uint64
	for r := range s.ranks {
		m := &s.ranks[r]
		ended := m.hasEnded.Load()
		if waits[r] = m.waitChanges.Load(); waits[r]%2 == 0 && !ended {
			return nil
		}
		ranks[r].IsKnown, ranks[r].HasEnded = true, ended
	}
	for r := range s.ranks {
		m := &s.ranks[r]
		for other := range ranks {
			ranks[r].Sent[other], ranks[r].Received[other] = m.sent[other].Load(), m.received[other].Load()
			ranks[r].AwaitsExit[other] = m.awaitsExit[other].Load()
		}
	}
	waiting := transport.DeadlockedRanks(ranks)
	for _, r := range waiting {
		if s.ranks[r].waitChanges.Load() != waits[r] {
			return nil
		}
	}
	return waiting
}
