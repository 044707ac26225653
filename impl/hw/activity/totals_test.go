package activity_test

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// The time of each activity is that of the spans, and stays so if nothing else is recorded, or not
// all.
func TestTotals(t *testing.T) {
	for _, name := range []string{"t3d", "now", "convex", "loggp"} {
		p, err := platform.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		var want, network []model.Track
		for _, limit := range []int{0, -1, 20} {
			r := &hw.ActivityLog{MaxEntries: limit}
			w := hwtest.Open(t, hw.Config{Machine: p.Machine, Library: p.Libraries[0], Ranks: 4, Seed: 1, Activity: r})
			if err := w.Run(exchange); err != nil {
				t.Fatal(err)
			}
			now := r.Timeline()
			if limit == 0 {
				want, network = now.Ranks, now.Resources
				for i, x := range slices.Concat(now.Ranks, now.Resources) {
					var sums [model.NumActivities]int64
					bytes := 0
					for _, s := range x.Spans {
						sums[s.Activity] += int64(s.Duration())
						bytes += s.Bytes
					}
					if i >= len(now.Ranks) && x.Bytes != bytes {
						t.Errorf("%s, %s: %d bytes, the spans have %d", name, x.Name, x.Bytes, bytes)
					}
					for a := range x.Totals {
						if int64(x.Totals[a]) != sums[a] {
							t.Errorf("%s, %s: %v for %v, the spans have %v", name, x.Name, x.Totals[a], model.Activity(a), sums[a])
						}
					}
				}
				continue
			}
			for i, x := range now.Ranks {
				if x.Totals != want[i].Totals {
					t.Errorf("%s, limit %d, rank %d: %v, want %v", name, limit, i, x.Totals, want[i].Totals)
				}
			}
			spans := 0
			for i, x := range now.Resources {
				if x.Totals != network[i].Totals || x.Bytes != network[i].Bytes || x.Name != network[i].Name {
					t.Errorf("%s, limit %d, %s: %v and %d bytes, want %v and %d", name, limit, x.Name, x.Totals, x.Bytes, network[i].Totals, network[i].Bytes)
				}
				spans += len(x.Spans)
			}
			if n := len(now.Ranks[0].Spans) + len(now.Flights) + spans; len(now.Resources) != len(network) || limit < 0 && n > 0 || now.OmittedCount == 0 {
				t.Errorf("%s, limit %d: %d things are recorded, %d left out", name, limit, n, now.OmittedCount)
			}
		}
	}
}

// exchange sends to the next rank, computes, and receives, twice.
func exchange(p device.Port) error {
	for i := range 2 {
		p.Send((p.Rank()+1)%p.Size(), &device.Packet{Data: make([]byte, 3000*i)})
		p.Spend(model.ProtoSendCost, 1)
		p.Delay(50_000_000)
		p.Recv(true)
		p.Copy(make([]byte, 100), make([]byte, 100))
	}
	return nil
}

// Packets are used again: the completion of an entry is not taken for an older entry.
func TestCompletionsOfEntries(t *testing.T) {
	p, err := platform.Load("mbcf-switch")
	if err != nil {
		t.Fatal(err)
	}
	r := new(hw.ActivityLog)
	w := hwtest.Open(t, hw.Config{Machine: p.Machine, Library: p.Libraries[0], Ranks: 2, Seed: 1, Activity: r})
	const entries = 5
	err = w.Run(func(p device.Port) error {
		q := p.Queues()
		k := q.Create(4096) // the first queue of each rank has the same key
		p.Delay(unit.Millisecond)
		for range entries {
			q.Enqueue(1-p.Rank(), k, make([]byte, 10), 0, device.Head{1})
			for q.First(k) == nil {
				p.Watch().WaitForEvent(p.Watch().EventCount(), p.Now()+unit.Millisecond)
			}
			q.RemoveFirst(k)
			p.Recv(true)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Timeline().Flights
	for _, f := range got {
		if f.TakenIn >= 0 {
			t.Errorf("the entry from rank %d that arrives at %v is taken at %v as a packet", f.From, f.Arrive, f.TakenIn)
		}
	}
	if len(got) != 2*entries {
		t.Errorf("%d messages are recorded, want %d", len(got), 2*entries)
	}
}

// countReports is a core.ProbeReporter.
type countReports int

func (c *countReports) Report(uint64) { *c++ }

// Parts of the network are neither named nor reported if only processors are observed: the names of
// all links of a large fabric take as long as the start of a program.
func TestProcessorsOnlyReportsNoNetwork(t *testing.T) {
	for _, only := range []bool{false, true} {
		var calls countReports
		(&hw.ActivityLog{ProcessorsOnly: only}).ReportIfObserved(&calls, 0)
		if (calls == 0) != only {
			t.Errorf("%d calls with ProcessorsOnly %v", calls, only)
		}
	}
}
