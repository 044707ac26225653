package proto

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/model"
)

func TestWindowAdmitsExactlyItsBytes(t *testing.T) {
	f := flowControl{windowBytes: 100, lastPeer: &noPeer, tables: new(peerTablePool)}
	for i, step := range []struct {
		rank, credit, bytes int
		admitted            bool
	}{
		{1, 0, 60, true},
		{1, 0, 40, true}, // exactly full
		{1, 0, 1, false},
		{1, 0, 0, true}, // takes no space
		{1, 1, 1, true}, // the byte that was credited
		{1, 0, 1, false},
		{2, 0, 101, true}, // longer than the window, which is free
		{2, 0, 1, false},
		{2, 101, 100, true},
		{3, 0, 1, true},
		{3, 0, 100, false}, // one byte too many
		{3, 0, 99, true},
	} {
		if step.credit > 0 {
			f.addCredit(step.rank, step.credit)
		}
		if got := f.reserveWindow(step.rank, step.bytes, false); got != step.admitted {
			t.Errorf("step %d: %d bytes to rank %d admitted: %t", i, step.bytes, step.rank, got)
		}
	}
	if !f.reserveWindow(3, 50, true) || f.peer(3).outstanding.value() != 150 {
		t.Errorf("a message that must go leaves %d bytes outstanding, want 150", f.peer(3).outstanding.value())
	}
}

func TestCreditIsSentFromHalfAWindow(t *testing.T) {
	for _, c := range []struct{ window, threshold int }{{100, 50}, {101, 50}, {2, 1}, {1, 1}, {0, 1}} {
		f := flowControl{windowBytes: c.window, lastPeer: &noPeer, tables: new(peerTablePool)}
		f.noteFreed(3, c.threshold-1)
		if len(f.peersDueCredit) > 0 {
			t.Errorf("window %d: credit is due for %d bytes", c.window, c.threshold-1)
		}
		f.noteFreed(3, 1)
		if !slices.Equal(f.peersDueCredit, []int32{3}) {
			t.Errorf("window %d: no credit is due for %d bytes", c.window, c.threshold)
		}
		f.noteFreed(3, 1)
		if !slices.Equal(f.peersDueCredit, []int32{3}) {
			t.Errorf("window %d: after %d bytes credit is due to ranks %d, want 3 once", c.window, c.threshold+1, f.peersDueCredit)
		}
		if n := f.takeCredit(3); int(n) != c.threshold+1 {
			t.Errorf("window %d: credit of %d bytes, want %d", c.window, n, c.threshold+1)
		}
		if n := f.takeCredit(3); n != 0 {
			t.Errorf("window %d: %d bytes are credited twice", c.window, n)
		}
	}
}

func TestProtocolFollowsLengthAndWindow(t *testing.T) {
	const limit, window = 10, 100
	l := &model.Library{Name: "test", Proto: model.ProtoSettings{WindowBytes: window, Fallback: "RTA", FirstBytes: 30, Rules: []model.ProtocolRule{
		{Mode: model.StandardMode, MaxBytes: limit, Protocol: "TA"},
		{Mode: model.StandardMode, MaxBytes: -1, Protocol: "PTAT"},
	}}}
	e := &Engine{job: job(t, l, "")}
	e.flow = flowControl{windowBytes: window, lastPeer: &noPeer, tables: new(peerTablePool)}
	for i, step := range []struct {
		bytes, outstanding int
		want               *Protocol
	}{
		{limit, 10, TA},
		{limit + 1, 21, PTAT}, // all of it fits in the first part
		{5000, 51, PTAT},      // its first part is outstanding
		{5000, 81, PTAT},
		{5000, 81, RTA}, // no space for another first part
		{limit, 91, TA},
		{9, 100, TA},
		{1, 100, RTA},
	} {
		got := e.chooseProtocol(model.StandardMode, step.bytes, 1, 0)
		if got != step.want || e.flow.peer(1).outstanding.value() != step.outstanding {
			t.Errorf("step %d: %d bytes by %s, then %d outstanding; want %s and %d", i, step.bytes, got.Name, e.flow.peer(1).outstanding.value(), step.want.Name, step.outstanding)
		}
	}
}
