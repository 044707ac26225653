package transport

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// Packets come out of an inbox as they went in, in order, however their data comes, and buffers are
// used again.
func TestInboxKeepsOrderAndReusesBuffers(t *testing.T) {
	var in Inbox
	rnd := rand.New(rand.NewPCG(1, 2))
	type sent struct {
		src  int
		head device.Head
		data []byte
	}
	var under []sent
	for n := range 2000 {
		size := []int{0, 1, 255, 256, 257, 5000, maxTrustedSize - 1, maxTrustedSize + 1, 3 * maxTrustedSize}[min(rnd.IntN(60), rnd.IntN(9))]
		data := bytes.Repeat([]byte{byte(n)}, size)
		s := sent{n % 5, device.Head{uint64(n)}, data}
		switch n % 3 {
		case 0:
			in.EnqueueCopy(s.src, &s.head, data)
		default:
			into := make([]byte, size)
			q := in.Take(s.src, &s.head, size, nil)
			if n%3 == 2 {
				in.Free(q)
				q = in.Take(s.src, &s.head, size, into)
			}
			for rest := append(data[:size:size], 99); !q.TryComplete(); {
				part := rnd.IntN(len(rest)) + 1
				if rnd.IntN(2) == 0 {
					part = copy(q.Unfilled(), rest[:min(part, len(rest)-1)])
					q.AddReceived(part)
				} else {
					part -= len(q.Append(rest[:part]))
				}
				rest = rest[part:]
			}
			if n%3 == 2 && size > 0 && &q.Data[0] != &into[0] {
				t.Fatalf("packet %d of %d bytes is not where it was to be", n, size)
			}
			in.Enqueue(q)
		}
		under = append(under, s)
		for len(under) > rnd.IntN(4) {
			q, want := in.Dequeue(), under[0]
			if q == nil || q.Src != want.src || q.Head != want.head || !bytes.Equal(q.Data, want.data) {
				t.Fatalf("packet %d of %d bytes came as another", n, len(want.data))
			}
			if !in.ReleaseLent() || in.ReleaseLent() {
				t.Fatal("the packet that was received last is not taken back once")
			}
			under = under[1:]
		}
		if in.IsEmpty() != (len(under) == 0) {
			t.Fatalf("%d packets are in the inbox, and Empty says %v", len(under), in.IsEmpty())
		}
	}
	if made := testing.AllocsPerRun(100, func() {
		in.EnqueueCopy(0, &device.Head{}, make([]byte, 0, 100)[:100])
		in.Dequeue()
		in.ReleaseLent()
	}); made != 0 {
		t.Errorf("%v allocations a packet", made)
	}
}

// There is no deadlock while anything may let a rank continue.
func TestDeadlockNeedsAllToWait(t *testing.T) {
	ranks := func() []Progress { // 0 and 1 wait, 2 has ended
		p := NewProgress(3)
		for r := range p {
			p[r].IsKnown = true
			for o := range p {
				p[r].Sent[o], p[r].Received[o] = uint64(10*r+o), uint64(10*o+r)
			}
		}
		p[2].HasEnded = true
		return p
	}
	for _, c := range []struct {
		name   string
		change func(p []Progress)
		want   []int
	}{
		{"nothing is under way", func([]Progress) {}, []int{0, 1}},
		{"one computes", func(p []Progress) { p[1].IsKnown = false }, nil},
		{"a packet is under way", func(p []Progress) { p[0].Sent[1]++ }, nil},
		{"one of a rank that has ended", func(p []Progress) { p[2].Sent[1]++ }, nil},
		{"one to a rank that has ended", func(p []Progress) { p[0].Sent[2]++ }, []int{0, 1}},
		{"an end is to be heard of", func(p []Progress) { p[0].AwaitsExit[2] = true }, nil},
		{"an end has not come", func(p []Progress) { p[0].AwaitsExit[1] = true }, []int{0, 1}},
		{"all have ended", func(p []Progress) { p[0].HasEnded, p[1].HasEnded = true, true }, nil},
	} {
		p := ranks()
		c.change(p)
		if got := DeadlockedRanks(p); !slices.Equal(got, c.want) {
			t.Errorf("%s: ranks %v, want %v", c.name, got, c.want)
		}
	}
}

// A rank whose job has failed leaves wherever it looks, and its goroutine ends.
func TestRankLeavesFailedJob(t *testing.T) {
	for name, call := range map[string]func(b *Base){
		"Leave":     (*Base).ExitIfJobFailed,
		"Delay":     func(b *Base) { b.Delay(0) },
		"Spin":      func(b *Base) { b.AfterEmptyPoll(16) },
		"AwaitStop": (*Base).AwaitJobFailure,
	} {
		stop := new(atomic.Bool)
		stop.Store(true)
		b := NewBase("test", 0, 1, false, stop, PollIntervals{CheckJob: 16, YieldProcessor: 64})
		returned, over := false, make(chan struct{})
		go func() {
			defer close(over)
			call(&b)
			returned = true
		}()
		if <-over; returned {
			t.Errorf("%s returns though the job has failed", name)
		}
	}
}

// A delay lasts at least as long as it should, whether the rank sleeps or spins.
func TestDelayIsNotTooShort(t *testing.T) {
	for _, blocks := range []bool{false, true} {
		b := NewBase("test", 0, 1, blocks, new(atomic.Bool), PollIntervals{CheckJob: 16, YieldProcessor: 64})
		for _, d := range []unit.Time{50 * unit.Microsecond, 1500 * unit.Microsecond} {
			begin := b.Now()
			b.Delay(d)
			if took := b.Now() - begin; took < d {
				t.Errorf("blocking %v: a delay of %v lasted %v", blocks, d, took)
			}
		}
	}
}

func TestMissingRankPanics(t *testing.T) {
	b := NewBase("test", 0, 3, false, new(atomic.Bool), PollIntervals{})
	for _, c := range []struct {
		rank int
		want bool
	}{{-1, true}, {0, false}, {2, false}, {3, true}} {
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != c.want {
					t.Errorf("rank %d of 3: panicked %v", c.rank, panicked)
				}
			}()
			b.CheckRank(c.rank)
		}()
	}
}

// The space for the next bytes ends with the packet, so that bytes of the next packet are not read
// into it.
func TestUnfilledSpaceEndsWithPacket(t *testing.T) {
	var l Pool
	for _, destination := range [][]byte{nil, make([]byte, 5)} {
		q := l.Take(0, &device.Head{}, 5, destination)
		for _, want := range []int{5, 2} {
			if got := len(q.Unfilled()); got != want {
				t.Errorf("space for %d bytes, want %d", got, want)
			}
			q.AddReceived(3)
		}
	}
}

// A pooled buffer keeps nothing of the packet that it held before.
func TestReusedBufferIsNotRefused(t *testing.T) {
	var l Pool
	q := l.Take(1, &device.Head{2}, 3, nil)
	q.Refused = true
	l.Free(q)
	if again := l.Take(4, &device.Head{5}, 3, nil); again != q || again.Refused || again.Src != 4 || again.Head != (device.Head{5}) {
		t.Errorf("got %+v", again.Packet)
	}
}
