package activity_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// told formats spans: their times in nanoseconds, activity and name.
func told(spans []model.Span) (s []string) {
	for _, x := range spans {
		s = append(s, fmt.Sprintf("%d-%d %v %s", x.From/unit.Nanosecond, x.To/unit.Nanosecond, x.Activity, x.Name))
	}
	return s
}

// Both processors of a node send 1500 bytes at once, in two chunks, at 10 ns a byte; the way into
// the network takes 12.5 ns. A chunk that finds it taken waits for the other's, and its processor
// with it; what the processor did ahead of its time comes later.
func TestRecordingOfAProcessorThatIsHeldUp(t *testing.T) {
	m := hwtest.Torus()
	m.Network.(*model.Torus).Link = 80e6 // 12.5 ns a byte
	r := hwtest.TimelineOf(t, m, 4, func(p device.Port) {
		switch p.Rank() {
		case 0, 1:
			p.Send(p.Rank()+2, &device.Packet{Data: make([]byte, 1500)})
			p.Copy(make([]byte, 200), make([]byte, 200))
		default:
			p.Recv(true)
		}
	})
	// The way in takes 12.5 µs for a chunk of 1000 bytes and 6.25 µs for one of 500. Rank 0's first
	// enters at 1 µs, and rank 1's when that has passed, at 13.5 µs. Rank 0 is ready with its
	// second at 11 µs, and waits for rank 1's first to pass, until 26 µs; rank 1 is at 23.5 µs, and
	// waits until 32.25 µs.
	want := [][]string{
		{"0-1000 send torus.send.start", "1000-11000 send torus.send.bandwidth", "11000-26000 blocked network", "26000-31000 send torus.send.bandwidth", "31000-32000 copy processor.copy"},
		{"0-1000 send torus.send.start", "1000-13500 blocked network", "13500-23500 send torus.send.bandwidth", "23500-32250 blocked network", "32250-37250 send torus.send.bandwidth", "37250-38250 copy processor.copy"},
	}
	for i, w := range want {
		if got := told(r.Ranks[i].Spans); !slices.Equal(got, w) {
			t.Errorf("rank %d: %q, want %q", i, got, w)
		}
	}
}

// Two processors of a block write at once, through one port that takes as long as they do: the
// second waits before it, and with it its rank.
func TestRecordingOfAPortThatIsTaken(t *testing.T) {
	h := &model.Hypernodes{Sizes: []int{4}, ProcessorsPerBlock: 2, Port: 100e6, Rings: 1, Ring: 1e12, Chunk: 1000}
	a := model.MemoryAccess{Latency: us, Send: model.Channel{Start: us, Bandwidth: 100e6}, Receive: us, Put: model.Channel{Bandwidth: 1e8}, Get: model.Channel{Bandwidth: 1e8}}
	h.Access = [model.NumTiers]model.MemoryAccess{a, a}
	m := &model.Machine{Name: "hypernode", Ranks: model.RankLimits{Min: 1, Max: 4}, TimerResolution: 1, Network: h, Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e9}}}
	r := hwtest.TimelineOf(t, m, 4, func(p device.Port) {
		switch p.Rank() {
		case 0, 1:
			p.Send(p.Rank()+2, &device.Packet{Data: make([]byte, 1000)})
		default:
			p.Recv(true)
		}
	})
	want := []string{"0-1000 send hypernodes.intra.send.start", "1000-11000 blocked network", "11000-21000 send hypernodes.intra.send.bandwidth"}
	if got := told(r.Ranks[1].Spans); !slices.Equal(got, want) {
		t.Errorf("rank 1: %q, want %q", got, want)
	}
}

// A frame interrupts a computing rank when it arrives: after its transmission and the propagation
// time. The rank's computation takes as long as before, in two parts.
func TestRecordingOfAnInterrupt(t *testing.T) {
	m := hwtest.Workstations()
	const work = 50 * unit.Millisecond
	r := hwtest.TimelineOf(t, m, 2, func(p device.Port) {
		if p.Rank() == 0 {
			p.Send(1, &device.Packet{Data: make([]byte, 100)})
			return
		}
		p.Delay(work)
		p.Recv(true)
	})
	i := slices.IndexFunc(r.Resources, func(x model.Track) bool { return x.Name == "Ethernet" })
	there := r.Resources[i].Spans[0].To + m.Network.(*model.Ethernet).Propagation
	input := m.Network.(*model.Ethernet).TCP.Input
	s := r.Ranks[1].Spans
	if s[0].Name != "compute" || s[1].Name != "ethernet.tcp.input" || s[2].Name != "compute" || s[0].To != there || s[1].Duration() != input || s[2].To != work+input {
		t.Errorf("the frame is there at %v, the rank does %q", there, told(s[:3]))
	}
	if f := r.Flights[0]; f.Arrive != there || f.TakenIn != work+input {
		t.Errorf("the packet arrives at %v and is taken at %v, want %v and %v", f.Arrive, f.TakenIn, there, work+input)
	}
}

// A run that does more than is to be recorded ends as it would, and its recording says what is
// missing: all from some time on.
func TestRecordingLimit(t *testing.T) {
	const rounds = 100
	program := func(p device.Port) error {
		for range rounds {
			p.Delay(us)
			p.Send(1-p.Rank(), &device.Packet{})
			p.Recv(true)
		}
		return nil
	}
	run := func(limit int) *model.Timeline {
		r := &hw.ActivityLog{MaxEntries: limit}
		w := hwtest.Open(t, hw.Config{Machine: hwtest.Torus(), Ranks: 2, Activity: r})
		if err := w.Run(program); err != nil {
			t.Fatal(err)
		}
		return r.Timeline()
	}
	things := func(r *model.Timeline) (n int) {
		for _, x := range slices.Concat(r.Ranks, r.Resources) {
			n += len(x.Spans)
		}
		return n + len(r.Flights)
	}
	const limit = 500
	whole, part := run(0), run(limit)
	all := things(whole)
	if whole.OmittedCount != 0 || things(part) != limit || part.OmittedCount != all-limit {
		t.Errorf("of %d things %d are recorded and %d left out, want %d and %d; without limit %d are left out", all, things(part), part.OmittedCount, limit, all-limit, whole.OmittedCount)
	}
	for i, x := range part.Ranks {
		if n := len(x.Spans); n == 0 || !slices.Equal(x.Spans, whole.Ranks[i].Spans[:n]) || x.Spans[n-1].From > part.OmittedFrom+us {
			t.Errorf("rank %d: %d spans are no part of the recording without limit up to %v", i, n, part.OmittedFrom)
		}
	}
}

// A rank that has ended and is asked to say so does that when it is asked.
func TestRecordingOfAFarewell(t *testing.T) {
	r := hwtest.TimelineOf(t, hwtest.Torus(), 2, func(p device.Port) {
		if p.Rank() == 1 {
			p.Delay(2 * us)
			return
		}
		p.Delay(50 * us)
		p.NotifyExit(1, device.Head{})
		p.Recv(true)
	})
	want := [][]string{
		{"0-50000 compute compute", "50000-51100 wait packet", "51100-51300 receive torus.receive"},
		{"0-2000 compute compute", "2000-50000 wait the end", "50000-51000 send torus.send.start"},
	}
	for i, w := range want {
		if got := told(r.Ranks[i].Spans); !slices.Equal(got, w) {
			t.Errorf("rank %d: %q, want %q", i, got, w)
		}
	}
}
