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
	data [inLine]byte
}

// lineSize is the size of a cache line, and inLine the bytes of data in a line of a ring.
const (
	lineSize = 64
	inLine   = lineSize - 8 - 8*device.HeadWords
)

// lines is how many a ring has, and areaSize the bytes of its area for longer data: powers of two.
//
// Note: longer ones buffer more, but a ping-pong cycles through the whole ring, which is slower if
// it does not fit the processors' nearest caches.
const (
	lines    = 256
	areaSize = 64 << 10
)

// ring carries packets from one rank to another. Each part is on lines of its own.
type ring struct {
	taken, emptied atomic.Uint64 // lines, and bytes of the area, that the reader has taken and the writer may use again
	_              [lineSize - 16]byte
	lines          [lines]line
	area           [areaSize]byte
}

// member is the state of a rank that all may read. Each part is on cache lines of its own: senders
// read asleep for each packet, the rest seldom.
type member struct {
	asleep atomic.Uint32 // the rank sleeps, or is about to: a rank that has something for it clears this and wakes it
	_      [lineSize - 4]byte

	asker atomic.Uint32 // plus 1, the rank that would have this one help with its get; 0: none
	_     [lineSize - 4]byte

	together together

	counters [device.Counters]atomic.Int64
	_        [lineSize - 8*device.Counters]byte

	waits       atomic.Uint64 // counts the beginnings and the ends of long waits: odd, the rank waits
	further     atomic.Uint64 // address in the rank's memory of its table of further exposed regions,
	furtherSize atomic.Uint64 // and how many entries that has
	ended       atomic.Bool
	ready       atomic.Bool  // the rank has started
	pid         atomic.Int32 // its process
	_           [lineSize - 36]byte

	awaitsExit [launch.MaxRanks]atomic.Bool // ranks of whose end it has asked to be told, and has not been

	// While the rank waits, and when it has ended: how far it is in its rings.
	sent, received [launch.MaxRanks]atomic.Uint64

	exposed [sharedRegions]exposed // 24 bytes each, a whole number of lines
}

// control is the state of the job. All ranks read it, and it is hardly ever written.
type control struct {
	stop  atomic.Bool // the job has failed
	apart atomic.Bool // some rank cannot reach the memory of others
	probe uint64      // what ranks try to read in the memory of rank 0, and where that is
	where atomic.Uint64
	_     [lineSize - 24]byte
}

// segment is the mapping as a rank sees it.
type segment struct {
	*control
	members []member
	rings   []ring // from a to b at a*ranks+b

	progress []transport.Progress // of the ranks, for deadlock
}

// size returns the bytes of a mapping.
func size(ranks int) int {
	return int(unsafe.Sizeof(control{})) + ranks*int(unsafe.Sizeof(member{})) + ranks*ranks*int(unsafe.Sizeof(ring{}))
}

// layOut returns the parts of a mapping, which begins at a page.
func layOut(mapped []byte, ranks int) *segment {
	s := &segment{control: (*control)(unsafe.Pointer(&mapped[0]))}
	at := unsafe.Sizeof(control{})
	s.members = unsafe.Slice((*member)(unsafe.Pointer(&mapped[at])), ranks)
	at += uintptr(ranks) * unsafe.Sizeof(member{})
	s.rings = unsafe.Slice((*ring)(unsafe.Pointer(&mapped[at])), ranks*ranks)
	return s
}

// ring returns the ring from one rank to another.
func (s *segment) ring(from, to int) *ring { return &s.rings[from*len(s.members)+to] }

// deadlock returns the ranks that wait if nothing can happen any more, else nil. A rank publishes
// its progress before its wait begins, and it stays valid until that ends. So if no wait has ended
// while all were read, they are of one time. Only the supervisor of the job calls it.
func (s *segment) deadlock() []int {
	if s.progress == nil {
		s.progress = transport.NewProgress(len(s.members))
	}
	ranks := s.progress
	var waits [launch.MaxRanks]uint64
	for r := range s.members {
		m := &s.members[r]
		ended := m.ended.Load()
		if waits[r] = m.waits.Load(); waits[r]%2 == 0 && !ended {
			return nil
		}
		ranks[r].Known, ranks[r].Ended = true, ended
	}
	for r := range s.members {
		m := &s.members[r]
		for other := range ranks {
			ranks[r].Sent[other], ranks[r].Received[other] = m.sent[other].Load(), m.received[other].Load()
			ranks[r].AwaitsExit[other] = m.awaitsExit[other].Load()
		}
	}
	waiting := transport.Deadlock(ranks)
	for _, r := range waiting {
		if s.members[r].waits.Load() != waits[r] {
			return nil
		}
	}
	return waiting
}
