package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// record runs a program and returns the time at which each rank ended. A recorder r, if not nil,
// records the activities.
func record(t testing.TB, r *hw.ActivityLog, cfg hw.Config, o mpi.Options, program func(*mpi.Comm) error) []unit.Time {
	t.Helper()
	cfg.Activity = r
	if r != nil {
		o.OnCall = r.EnterCall
	}
	w, err := hw.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]unit.Time, cfg.Ranks)
	err = mpi.Run(w, o, func(c *mpi.Comm) error {
		err := program(c)
		ends[c.Rank()] = c.Wtime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ends
}

func recorder() *hw.ActivityLog { return &hw.ActivityLog{Describe: proto.Describe} }

// drawn returns the spans of one side in the closed form's time line: activities by name, and
// waits.
func drawn(t model.Track) (spans []string) {
	all := slices.Clone(t.Spans)
	for i := range all {
		if all[i].Activity == model.WaitActivity {
			all[i].Name = "wait"
		}
	}
	for i, x := range all {
		if i+1 < len(all) && x.Name == "wait" && all[i+1].Name == "wait" { // the first wait is for g; a recording shows it only if the processor itself waits
			all[i+1].From = x.From
			continue
		}
		spans = append(spans, fmt.Sprintf("%d-%d %s", x.From, x.To, x.Name))
	}
	return spans
}

// recorded returns the spans of a recorded lane.
func recorded(t model.Track) (spans []string) {
	for _, s := range t.Spans {
		name := s.Name
		if s.Activity == model.WaitActivity {
			name = "wait"
		}
		spans = append(spans, fmt.Sprintf("%d-%d %s", s.From, s.To, name))
	}
	return spans
}

// same compares a recording with the closed form's time line: every interval of both sides, and
// every message.
func same(t *testing.T, x model.Transfer, p pair) {
	t.Helper()
	r := recorder()
	cfg := hw.Config{Machine: x.Machine, Library: x.Library, Ranks: p.ranks}
	record(t, r, cfg, mpi.Options{Engine: carry, Library: x.Library, Protocol: x.Protocol.Name}, transfer(x, p, new(taken)))
	got, want := r.Timeline().Window(unit.Second, 1<<62), x.Timeline()
	for _, side := range []struct {
		rank int
		lane model.Track
	}{{p.from, want.Ranks[model.SenderSide]}, {p.to, want.Ranks[model.ReceiverSide]}} {
		if g, w := recorded(got.Ranks[side.rank]), drawn(side.lane); !slices.Equal(g, w) {
			t.Fatalf("%s: rank %d: recorded %q, closed form %q", describeTransfer(x, p), side.rank, g, w)
		}
	}
	var flights, arrows []string
	for _, f := range got.Flights {
		flights = append(flights, fmt.Sprintf("%d-%d %d bytes %v %v", f.Depart, f.Arrive, f.Bytes, f.From == p.from, f.IsRemoteAccess))
	}
	for _, a := range want.Flights {
		arrows = append(arrows, fmt.Sprintf("%d-%d %d bytes %v %v", a.Depart, a.Arrive, a.Bytes, a.From == int(model.SenderSide), a.IsRemoteAccess))
	}
	if !slices.Equal(flights, arrows) {
		t.Fatalf("%s: recorded %q, closed form %q", describeTransfer(x, p), flights, arrows)
	}
}

// TestRecordingIsTheTimeline compares recording and closed form for a single message.
func TestRecordingIsTheTimeline(t *testing.T) {
	m := machine()
	m.Processor.Copy.Start = 30011
	synthetic := copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 40 * us, GapPerByte: 9876.5})
	for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
		for _, k := range []int{0, 1, 1024, 4057, 12345} {
			for _, p := range []pair{{2, 0, 1}, {64, 5, 42}} {
				eachWay(t, m, l, k, p, same)
			}
			for _, p := range []pair{{6, 0, 3}, {6, 1, 5}} {
				h := shared(4, 4)
				eachWay(t, h, l, k, p, same)
			}
			for _, p := range []pair{{16, 0, 1}, {16, 9, 2}} {
				eachWay(t, cores(), l, k, p, same)
			}
			eachWay(t, synthetic, l, k, pair{2, 0, 1}, same)
			wide := tree(2, 2)
			wide.Network.(*model.FatTree).Link = 400e6 // stores do not wait; the closed form adds up such waits at their end
			eachWay(t, wide, l, k, pair{64, 5, 42}, same)
		}
	}
}

// crowded returns a random program with concurrent messages of all lengths and modes, computing,
// polling and barriers.
func crowded(seed uint64) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		r := rand.New(rand.NewPCG(seed, uint64(c.Rank())))
		plan := rand.New(rand.NewPCG(seed, 1<<32)) // the same on all ranks
		for range 6 {
			n, size := 1+plan.IntN(c.Size()-1), []int{0, 40, 3000, 20000}[plan.IntN(4)]
			to, from := (c.Rank()+n)%c.Size(), (c.Rank()-n+c.Size())%c.Size()
			in := mpi.Irecv(c, make([]byte, size), from, 0)
			c.Compute(unit.Time(r.Int64N(int64(100 * us))))
			out := []func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend}[r.IntN(2)](mpi.BufferOf(make([]byte, size)), to, 0)
			for !func() bool { _, ok := in.Test(); return ok }() {
				c.Compute(unit.Time(r.Int64N(int64(20 * us))))
			}
			out.Wait()
			c.Barrier()
		}
		return nil
	}
}

// sound checks invariants of every recording. With streams, packets may be read before
// they are handled.
func sound(t *testing.T, r *model.Timeline, ends []unit.Time, streams bool) {
	t.Helper()
	ordered := func(kind, name string, list []model.Span, gaps bool) {
		var at unit.Time
		for _, s := range list {
			if s.From < at || !gaps && s.From > at || s.To < s.From || s.Name == "" {
				t.Fatalf("%s of %s: %+v after %v", kind, name, s, at)
			}
			at = s.To
		}
	}
	for i, x := range r.Ranks {
		ordered("spans", x.Name, x.Spans, false)
		ordered("calls", x.Name, x.Calls, true)
		var sum unit.Time
		for _, s := range x.SumSpans() {
			sum += s.Time
		}
		if end := x.Spans[len(x.Spans)-1].To; end != sum {
			t.Fatalf("%s: its spans sum to %v, the last ends at %v", x.Name, sum, end)
		}
		if last := x.Calls[len(x.Calls)-1]; last.Name != "Finalize" || last.From != ends[i] {
			t.Fatalf("%s: its program ended at %v, the last call is %+v", x.Name, ends[i], last)
		}
		for _, s := range x.Spans {
			in := slices.ContainsFunc(x.Calls, func(c model.Span) bool { return c.From <= s.From && s.To <= c.To })
			if over := s.From >= x.Calls[len(x.Calls)-1].To; !over && in == (s.Activity == model.ComputeActivity) && s.Activity != model.InterruptActivity { // an interrupt may occur at any time
				t.Fatalf("%s: %+v is in a call: %v", x.Name, s, in)
			}
		}
	}
	for _, x := range r.Resources {
		ordered("spans", x.Name, x.Spans, true)
	}
	for _, f := range r.Flights {
		taker := f.To
		if f.IsRemoteAccess {
			taker = f.Initiator
		}
		takes := func(s model.Span) bool { // one read of a stream takes many packets
			return s.From <= f.TakenIn && f.TakenIn < s.To && (s.Activity == model.ReceiveActivity || f.IsRemoteAccess && s.Name == "software.handle")
		}
		if f.TakenIn >= 0 && !streams && !slices.ContainsFunc(r.Ranks[taker].Spans, takes) {
			t.Fatalf("rank %d takes nothing when it takes %+v", taker, f)
		}
		if f.Sent > f.Depart || f.Depart > f.Arrive || f.TakenIn >= 0 && f.TakenIn < f.Arrive {
			t.Fatalf("flight %+v", f)
		}
	}
}

// TestRecordingChangesNothing runs random programs with and without a recorder, with and without
// noise. All clocks agree, and the recordings are sound and reproducible.
func TestRecordingChangesNothing(t *testing.T) {
	slow := machine()
	slow.Network.(*model.Torus).Link = 9e6 // every sender waits
	synthetic := copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 9876.5})
	for name, m := range map[string]*model.Machine{"torus": machine(), "slow": slow, "hypernodes": shared(4, 6), "numa": cores(), "ethernet": workstations(), "ethernet, buffered sends": workstations(), "loggp": synthetic} {
		seeds := uint64(6)
		if os.Getenv("LOGGP_SOAK") == "" {
			seeds = 2
		}
		for seed := range seeds {
			for _, noise := range []float64{0, 0.3} {
				l := odd(true, 1024)
				l.Proto.WindowBytes, l.Proto.Fallback = 1<<20, "RTA"
				l.Proto.Rules = []model.ProtocolRule{{Mode: model.StandardMode, MaxBytes: 5000, Protocol: "T"}, {Mode: model.StandardMode, MaxBytes: -1, Protocol: "RAT"}, {Mode: model.SynchronousMode, MaxBytes: -1, Protocol: "RTA"}}
				if strings.HasSuffix(name, "buffered sends") {
					l.Sockets = &model.Sockets{BufferBytes: 4096, BuffersUnsentData: true}
				}
				cfg := hw.Config{Machine: m, Library: l, Ranks: 10, Seed: seed, Noise: noise}
				r, again := recorder(), recorder()
				with := record(t, r, cfg, mpi.Options{Engine: carry, Library: l}, crowded(seed))
				without := record(t, nil, cfg, mpi.Options{Engine: carry, Library: l}, crowded(seed))
				record(t, again, cfg, mpi.Options{Engine: carry, Library: l}, crowded(seed))
				if !slices.Equal(with, without) {
					t.Fatalf("%s, seed %d, noise %v: the ranks end at %v, without a recorder at %v", name, seed, noise, with, without)
				}
				t.Run(fmt.Sprintf("%s, seed %d, noise %v", name, seed, noise), func(t *testing.T) { sound(t, r.Timeline(), with, m.Network.Kind() == "ethernet") })
				if !reflect.DeepEqual(r.Timeline(), again.Timeline()) {
					t.Fatalf("%s, seed %d, noise %v: two recordings differ", name, seed, noise)
				}
			}
		}
	}
}

// TestRecordingIsTheTimelineOnEthernet compares the processors of workstations likewise, if every
// packet fits a segment.
func TestRecordingIsTheTimelineOnEthernet(t *testing.T) {
	m := workstations()
	for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
		for _, k := range []int{0, 1, 100, 1024} {
			eachWay(t, m, l, k, pair{2, 0, 1}, func(t *testing.T, x model.Transfer, p pair) {
				if oneAfterTheOther(x.Protocol) {
					same(t, x, p)
				}
			})
		}
	}
}

// TestRecordingOfLostFrames records pairs that send at the same time, with frames lost in
// collisions. TCP retransmits them, and a message departs when its first byte is first sent
// successfully.
func TestRecordingOfLostFrames(t *testing.T) {
	m := workstations()
	m.Network.(*model.Ethernet).MaxCollisionsOfFrame = 3
	l := odd(false, 0)
	for seed := range uint64(5) {
		r := recorder()
		ends := record(t, r, hw.Config{Machine: m, Library: l, Ranks: 6, Seed: seed}, mpi.Options{Engine: carry, Library: l, Protocol: "TA"}, func(c *mpi.Comm) error {
			for range 4 {
				if c.Rank() < 3 {
					mpi.Send(c, make([]byte, 3000), c.Rank()+3, 0)
				} else {
					mpi.Recv(c, make([]byte, 3000), c.Rank()-3, 0)
				}
			}
			return nil
		})
		lost := false
		for _, x := range r.Timeline().Resources {
			lost = lost || x.Name == "Ethernet" && slices.ContainsFunc(x.Spans, func(s model.Span) bool { return s.Activity == model.CollisionActivity })
		}
		if !lost {
			t.Errorf("seed %d: nothing collided", seed)
		}
		sound(t, r.Timeline(), ends, true)
	}
}
