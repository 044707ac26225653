package aclmpl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// round is a torus with round numbers: a put keeps its processor for 1 µs, takes 10 ns a byte, and
// is there 150 ns later in the next node. Each kind of work takes 200 ns, and a copy 5 ns a byte.
func round() (*model.Machine, *model.Library) {
	l := library()
	for i := range l.Engine.Costs {
		l.Software[i] = us / 5
	}
	put := model.Channel{Start: us, Bandwidth: 100e6}
	return &model.Machine{Name: "round", Ranks: model.RankLimits{Min: 1, Max: 1024}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}},
		Network: &model.Torus{ProcessorsPerNode: 2, HopLatency: us / 20, Deliver: us / 10, Link: 1e9, Chunk: 1 << 20,
			Send: put, Put: put, Get: put, CounterTime: us}}, l
}

// transcript returns what PEs 0 and 2 do in a program that begins when all have started, in
// nanoseconds from its begin. They are in nodes next to each other. The first puts that are found
// done in it are those of the barrier before.
func transcript(t *testing.T, o Options, program func(*PE)) string {
	const begin, end = unit.Millisecond, 2 * unit.Millisecond
	m, l := round()
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: 4})
	if err != nil {
		t.Fatal(err)
	}
	log := trace.Log{Engine: l.Engine}
	if err := Run(trace.World(w, &log), o, func(e *PE) error {
		e.Compute(begin - e.Now())
		if e.Rank()%2 == 0 {
			program(e)
		}
		e.Compute(end - e.Now())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range log.Events() {
		if x.From >= begin && x.To < end {
			fmt.Fprintf(&b, "%5d %5d PE %d %s\n", (x.From-begin)/unit.Nanosecond, (x.To-begin)/unit.Nanosecond, x.Rank, x.Text(nil))
		}
	}
	return b.String()
}

// A synchronous message is a round trip: a request of 16 bytes, the data, and behind a fence a
// completion of 8.
func TestSynchronousTranscript(t *testing.T) {
	got := transcript(t, Options{}, func(e *PE) {
		b := make([]byte, 1000)
		if e.Rank() == 0 {
			e.Send(2, b)
		} else {
			e.Receive(0, b)
		}
	})
	compare(t, got, `
    0   200 PE 0 spend send 1
    0   200 PE 2 spend receive 1
  200  1360 PE 2 put 16 to 0
 1510  1710 PE 0 spend read 1
 1710 12710 PE 0 put 1000 to 2
12710 13010 PE 0 done
13010 14090 PE 0 put 8 to 2
14240 14440 PE 2 spend read 1
`)
}

// An asynchronous message is a fetch-and-increment, the header of its slot, its data, and behind a
// fence the slot's status. It is copied once if the receiver finds it in the pool. A receiver that
// has waited has read half of the pool's 32 slots since the message came.
func TestAsynchronousTranscript(t *testing.T) {
	got := transcript(t, Options{}, func(e *PE) {
		b := make([]byte, 1000)
		if e.Rank() == 0 {
			e.SendAsync(2, 0, b)
		} else {
			e.ReceiveAsync(0, 0, b)
		}
	})
	compare(t, got, `
    0   200 PE 0 spend send_async 1
    0   200 PE 2 spend receive_async 1
  200   400 PE 0 spend read 1
  200   400 PE 2 spend read 1
  400  1700 PE 0 add 1 at 2
 1700  2860 PE 0 put 16 to 2
 2860 13860 PE 0 put 1000 to 2
13860 14160 PE 0 done
14160 15240 PE 0 put 8 to 2
15390 18590 PE 2 spend read 16
18590 23590 PE 2 copy 1000
`)
}

// It is copied twice if the pool is drained before it is received: here that has one slot.
func TestListTranscript(t *testing.T) {
	got := transcript(t, Options{PoolSlots: 1}, func(e *PE) {
		b := make([]byte, 1000)
		if e.Rank() == 0 {
			e.SendAsync(2, 0, b)
		} else {
			e.Compute(100 * us)
			e.ReceiveAsync(0, 0, b)
		}
	})
	compare(t, got, `
    0   200 PE 0 spend send_async 1
  200   400 PE 0 spend read 1
  400  1700 PE 0 add 1 at 2
 1700  2860 PE 0 put 16 to 2
 2860 13860 PE 0 put 1000 to 2
13860 14160 PE 0 done
14160 15240 PE 0 put 8 to 2
    0 100000 PE 2 delay
100000 100200 PE 2 spend receive_async 1
100200 100400 PE 2 spend read 1
100400 100600 PE 2 spend read 1
100600 100800 PE 2 spend keep 1
100800 105800 PE 2 copy 1000
105800 107000 PE 2 swap 0 at 2
107000 112000 PE 2 copy 1000
`)
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// On an arena a synchronous message is copied into the sender's region and out of it: between two
// PEs the receiver says that it is ready (8 bytes), and the sender where the message is (16), and
// the receiver that it has it (8). Whatever the machine, nothing else is written or read.
func TestArenaTranscript(t *testing.T) {
	var log trace.Log
	const begin = 100 * unit.Millisecond
	m, l := round()
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	log.Engine = l.Engine
	if err := Run(trace.World(w, &log), Options{Port: ArenaPort}, func(e *PE) error {
		b := make([]byte, 1000)
		e.Compute(begin - e.Now())
		if e.Rank() == 0 {
			e.Send(1, b)
		} else {
			e.Receive(0, b)
		}
		e.Compute(begin)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range log.Events() {
		if (x.Kind == trace.Put || x.Kind == trace.Get) && x.From >= begin && x.From < 3*begin/2 {
			got = append(got, fmt.Sprintf("PE %d %s", x.Rank, x.Text(nil)))
		}
	}
	slices.Sort(got)
	want := []string{"PE 0 put 1000 to 0", "PE 0 put 16 to 1", "PE 1 get 1000 from 0", "PE 1 put 8 to 0", "PE 1 put 8 to 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
