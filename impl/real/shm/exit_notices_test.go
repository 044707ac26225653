package shm

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// A rank that waits to hear of an end is not stuck when that end has come and it has not looked
// yet, which is too short a time for processes to be caught in.
func TestDeadlockAndExit(t *testing.T) {
	const ranks = 3
	words := make([]uint64, segmentSize(ranks)/8+8)
	s := segmentAt(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), segmentSize(ranks)), ranks)
	ports := make([]*port, ranks)
	for r := range ports {
		ports[r] = newPort(s, r, false)
	}
	stuck := func(when string, want ...int) {
		t.Helper()
		if got := s.deadlockedRanks(); !slices.Equal(got, want) {
			t.Errorf("%s: ranks %v are stuck, want %v", when, got, want)
		}
	}
	p, head := ports[0], device.Head{7}
	p.NotifyExit(1, head)
	p.NotifyExit(0, head) // its own, which is nothing to wait for
	p.publishWait()
	s.ranks[2].hasEnded.Store(true)
	stuck("rank 1 computes")
	ports[1].publishWait()
	stuck("rank 1 waits, too", 0, 1)
	ports[1].state.waitChanges.Add(1)
	ports[1].publishProgress()
	s.ranks[1].hasEnded.Store(true)
	stuck("rank 1 has ended, and rank 0 has not looked")
	if !p.deliverExits() {
		t.Fatal("rank 0 does not hear of the end")
	}
	stuck("rank 0 has looked, and not gone on")
	p.state.waitChanges.Add(1)
	if q := p.Recv(true); q.Src != 1 || q.Head != head || len(q.Data) != 0 {
		t.Errorf("rank 0 hears %+v", q)
	}
	if q := p.Recv(false); q != nil {
		t.Errorf("rank 0 hears %+v once more", q)
	}
	p.publishWait()
	stuck("rank 0 waits for something else", 0)
}
