package ethernet

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
)

// sender is a socket that has sent some segments of 100 bytes, with a window of as many.
func sender(segments int) *socket {
	j := core.NewJob(core.Config{Machine: &model.Machine{Name: "ethernet", TimerResolution: 1, Network: tenMegabit()}, Ranks: 2})
	e := &model.Ethernet{TCP: model.TCP{SendBuffer: 1 << 16, ReceiveBuffer: 1 << 16, Congestion: &model.Congestion{InitialWindowSegments: 2, ReorderToleranceSegments: 3}}}
	s := newSocket(&host{network: &network{Ethernet: e, job: j, mss: 100, statistics: new(Statistics)}})
	s.sentEnd, s.window = 100*segments, 100*segments
	s.writtenEnd = s.sentEnd
	return s
}

// acks lets a sender hear that all before a segment has arrived, and the segments in blocks.
func (s *socket) acks(segment int, has ...byteSpan) {
	x := segmentWith(has)
	before, bytes := s.bytesInFlight(), 100*segment-s.ackedEnd
	s.ackedEnd = 100 * segment
	s.updateWindow(&x, bytes, before)
}

func segmentWith(has []byteSpan) (x segment) {
	for i, b := range has {
		x.sackBlocks[i], x.numSackBlocks = byteSpan{100 * b.from, 100 * b.to}, i+1
	}
	return x
}

// holes are the segments that a sender sends again with a window that allows them all.
func (s *socket) holes() (n []int) {
	window := s.window
	defer func() { s.window = window }()
	s.window = 1 << 16
	for x, ok := s.nextLostSpan(); ok; x, ok = s.nextLostSpan() {
		n = append(n, x.from/100)
		s.resentSpans = append(s.resentSpans, resentSpan{x, s.sentEnd})
	}
	return n
}

// TestHoles checks which of 20 segments are taken for lost, and how the window shrinks: a segment
// is sent with each acknowledgement, until the window is half.
func TestHoles(t *testing.T) {
	s := sender(20)
	s.writtenEnd = 2100 // new data goes before what may only be late
	s.acks(2, byteSpan{3, 5})
	if n := s.holes(); n != nil {
		t.Errorf("with two segments behind a gap, %v are sent again", n)
	}
	s.acks(2, byteSpan{3, 6}, byteSpan{8, 9})
	if n := s.holes(); !slices.Equal(n, []int{2}) || s.phase != recoveringLoss || s.threshold != 950 || s.window != 1400 {
		t.Errorf("with a gap of one, %v are sent again, phase %v, threshold %d, window %d", n, s.phase, s.threshold, s.window)
	}
	s.acks(2, byteSpan{12, 13}, byteSpan{3, 6}, byteSpan{8, 9})
	if n := s.holes(); !slices.Equal(n, []int{6, 7, 9}) {
		t.Errorf("of five segments that are missing below three others, %v are sent again", n)
	}
	if got, want := s.bytesInFlight(), (18-5-4+4)*100; got != want { // 5 have arrived, and 4 are lost and sent again
		t.Errorf("%d bytes are in flight, want %d", got, want)
	}
	s.writtenEnd = s.sentEnd
	if n := s.holes(); !slices.Equal(n, []int{10, 11}) {
		t.Errorf("without new data, %v are sent again, too", n)
	}
	s.acks(20)
	if s.phase != noLoss || s.bytesInFlight() != 0 || s.window > s.threshold || len(s.sacked)+len(s.resentSpans) > 0 {
		t.Errorf("at the end: %+v", s.congestion)
	}
}

// TestLostAgain checks that a segment is sent a third time when something arrives that was sent
// after the second.
func TestLostAgain(t *testing.T) {
	s := sender(10)
	s.acks(0, byteSpan{1, 5})
	if n := s.holes(); !slices.Equal(n, []int{0}) {
		t.Errorf("%v are sent again", n)
	}
	s.acks(0, byteSpan{1, 10})
	if n := s.holes(); n != nil {
		t.Errorf("%v are sent a third time, and nothing that was sent later has arrived", n)
	}
	s.sentEnd, s.writtenEnd = 1200, 1200
	s.acks(0, byteSpan{11, 12}, byteSpan{1, 10})
	if n := s.holes(); !slices.Contains(n, 0) {
		t.Errorf("%v are sent a third time, want 0", n)
	}
}

// TestAfterTimeout checks that a timeout resends all that the receiver has not reported, and
// nothing else.
func TestAfterTimeout(t *testing.T) {
	s := sender(10)
	s.acks(0, byteSpan{2, 3})
	s.handleTimeout()
	if x, _ := s.nextLostSpan(); x != (byteSpan{0, 100}) || s.window != 100 || s.threshold != 500 {
		t.Errorf("%v is sent again with a window of %d, threshold %d", x, s.window, s.threshold)
	}
	s.acks(1, byteSpan{2, 3})
	if n := s.holes(); !slices.Equal(n, []int{1, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("%v are sent again", n)
	}
}
