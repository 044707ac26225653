package tcp

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loggp/loggp/impl/device"
)

// A rank that waits to hear of an end is not stuck when rank 0 has heard of that end before it,
// which is too short a time for processes to be caught in.
func TestDeadlockAndExit(t *testing.T) {
	table := newProgressTable(3)
	report := func(rank int, ended bool, awaited ...int) {
		links := make([]*link, 3)
		for r := range links {
			if r != rank {
				links[r] = &link{peer: r, packetsSent: uint64(10*rank + r), packetsReceived: uint64(10*r + rank), awaitsExit: slices.Contains(awaited, r)}
			}
		}
		b := make([]byte, progressSize(3))
		encodeProgress(b, links)
		table.recordReport(rank, ended, b)
	}
	stuck := func(when string, want ...int) {
		t.Helper()
		if got := table.deadlockedRanks(); !slices.Equal(got, want) {
			t.Errorf("%s: ranks %v are stuck, want %v", when, got, want)
		}
	}
	report(0, false, 1)
	report(2, true)
	stuck("rank 1 computes")
	report(1, false)
	stuck("rank 1 waits, too", 0, 1)
	report(1, true)
	stuck("rank 1 has ended, and rank 0 has not looked")
	report(0, false)
	stuck("rank 0 waits for something else", 0)
	report(0, false, 2)
	stuck("rank 0 is to hear of an end that has come")
}

// A rank hears of an end as soon as the frame has come that says so, behind the packets before it:
// one that waits does not go to sleep first.
func TestExitNoticeComesAtOnce(t *testing.T) {
	n, far := singleNode(t, true)
	head := device.Head{7}
	n.port.NotifyExit(1, head)
	if _, err := far.Write(append(encodeFrame(packetFrame, 3, 1, 2, 3), encodeFrame(endFrame, progressSize(2), make([]byte, progressSize(2))...)...)); err != nil {
		t.Fatal(err)
	}
	for err := error(unix.EINTR); err != nil; {
		if _, err = unix.Poll([]unix.PollFd{{Fd: int32(n.port.links[1].fd), Events: unix.POLLIN}}, -1); err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
	}
	if q := n.port.Recv(false); q == nil || len(q.Data) != 3 {
		t.Fatalf("received %+v", q)
	}
	if q := n.port.Recv(false); q == nil || q.Src != 1 || q.Head != head || len(q.Data) != 0 {
		t.Errorf("heard %+v", q)
	}
	if q := n.port.Recv(false); q != nil {
		t.Errorf("heard %+v once more", q)
	}
}
