package shm

import (
	"sync/atomic"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// line is a cache line of a ring: the word that says what the record is, the head of its packet, and its data if that is short.
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

// lines is how many a ring has, and room its bytes for longer data: powers of two.
//
// Note: longer ones buffer more, but a ping-pong walks through all of it, and what does not stay in the caches nearest to the
// processors is slower.
const (
	lines = 256
	room  = 64 << 10
)

// ring carries packets from one rank to another. Each part is on lines of its own.
type ring struct {
	taken, emptied atomic.Uint64 // lines, and bytes of the room, that the reader has taken and the writer may use again
	_              [lineSize - 16]byte
	lines          [lines]line
	room           [room]byte
}

// member is what all may know of a rank. Each part is on lines of its own: asleep is looked at by all who send to the rank, the others seldom.
type member struct {
	asleep atomic.Uint32 // the rank sleeps, or is about to: who has something for it clears this and wakes it
	_      [lineSize - 4]byte

	asked atomic.Uint32 // the rank after the one that would have this one help it; 0: none
	_     [lineSize - 4]byte

	errand errand

	counters [device.Counters]atomic.Int64
	_        [lineSize - 8*device.Counters]byte

	waits atomic.Uint64 // counts the beginnings and the ends of long waits: odd, the rank waits
	ended atomic.Bool
	ready atomic.Bool  // the rank has come
	pid   atomic.Int32 // its process
	_     [lineSize - 20]byte

	mourns [MaxRanks]atomic.Bool // the ranks of whose end it is to hear and has not heard

	// While the rank waits and when it has ended: how far it is in its rings.
	sent, got [MaxRanks]atomic.Uint64

	exposed [maxExposed]exposed // 24 bytes each, a whole number of lines
}

// control is what all ranks share. The lines are read by all and hardly ever written.
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
}

// size returns the bytes of a mapping.
func size(ranks int) int {
	return int(unsafe.Sizeof(control{})) + ranks*int(unsafe.Sizeof(member{})) + ranks*ranks*int(unsafe.Sizeof(ring{}))
}

// layOut finds the parts of a mapping, which begins at a page.
func layOut(mapped []byte, ranks int) *segment {
	s := &segment{control: (*control)(unsafe.Pointer(&mapped[0]))}
	at := unsafe.Sizeof(control{})
	s.members = unsafe.Slice((*member)(unsafe.Pointer(&mapped[at])), ranks)
	at += uintptr(ranks) * unsafe.Sizeof(member{})
	s.rings = unsafe.Slice((*ring)(unsafe.Pointer(&mapped[at])), ranks*ranks)
	return s
}

// ring returns that from a rank to another.
func (s *segment) ring(from, to int) *ring { return &s.rings[from*len(s.members)+to] }

// stuck returns the ranks that wait, if nothing can happen any more; else nil. A rank's place in its rings is written down before its wait
// begins and holds until that ends. So if nobody's wait has ended meanwhile, and none is behind those who send to it, all have waited at
// one time with nothing on the way.
func (s *segment) stuck() []int {
	var waiting []int
	var before [MaxRanks]uint64
	for r := range s.members {
		m := &s.members[r]
		if m.ended.Load() {
			continue
		}
		if before[r] = m.waits.Load(); before[r]%2 == 0 {
			return nil
		}
		waiting = append(waiting, r)
	}
	for _, to := range waiting {
		for from := range s.members {
			m := &s.members[from]
			if m.sent[to].Load() != s.members[to].got[from].Load() || m.ended.Load() && s.members[to].mourns[from].Load() {
				return nil
			}
		}
	}
	for _, r := range waiting {
		if s.members[r].waits.Load() != before[r] {
			return nil
		}
	}
	return waiting
}
