package paper

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/testdata"
)

// A remote write takes one way what its call, its frame and the interrupt take, and an entry of a
// queue the call that takes it out in addition.
func TestAccess(t *testing.T) {
	dir, err := fs.Sub(testdata.Published, "published")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(dir, "mbcf")
	if err != nil {
		t.Fatal(err)
	}
	hub, err := platform.Load("mbcf-hub")
	if err != nil {
		t.Fatal(err)
	}
	e := hub.Machine.Network.(*model.Ethernet)
	var rows []string
	var want []unit.Time
	for _, bytes := range []int{4, 64, 1024} {
		frame := e.Rate.Time(e.Preamble + e.Header + max(e.MBCF.Header+bytes, e.MinPayload) + e.FCS)
		write := e.MBCF.Call.Time(bytes) + frame + e.Propagation + e.MBCF.Input.Time(bytes)
		rows = append(rows, fmt.Sprintf("table-2.1 MBCF_WRITE %d latency_us", bytes), fmt.Sprintf("table-2.1 MBCF_FIFO %d latency_us", bytes))
		want = append(want, write, write+e.MBCF.Dequeue+hub.Machine.Processor.Copy.Time(bytes))
	}
	got, err := p.Measure(t.Context(), Options{Noise: 0}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if tick := hub.Machine.Timer.Micros(); math.Abs(v-want[i].Micros()) > tick {
			t.Errorf("%s: %v us, by algebra %v", rows[i], v, want[i])
		}
	}
}

// What the engine of MPI/MBCF does with a message depends on who comes first, and barriers take no
// messages.
func TestSequences(t *testing.T) {
	x := &run{sites: map[string]*site{}, measured: cells{}, recorded: map[string]*model.Timeline{}}
	s, err := (&Subject{ID: "sr", Platform: "mbcf-hub", Library: "sr", Place: "inter"}).open(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	x.sites["sr"] = s
	if err := sequencesBenchmark.run(t.Context(), x, &Experiment{Subject: "sr"}, 1, func(int) {}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		"count(sr,send,queued)": 1, "count(sr,send,requests)": 0, "count(sr,receive,written)": 1, "count(sr,receive,requests)": 1, "count(sr,cross,queued)": 1,
		"count(sr,cross,stale)": 1, "count(sr,cross,written)": 1, "count(sr,send,copies)": 1, "count(sr,receive,copies)": 0, "count(sr,cross,copies)": 1,
		"count(sr,trips,written)": 20, "count(sr,trips,queued)": 0, "completions(sr,quiet)": 1, "completions(sr,all)": 40, "prefix(sr)": 10,
	} {
		if got, known := x.measured[key]; !known || got.V != want {
			t.Errorf("%s is %v, want %v", key, got.V, want)
		}
	}
	for program, want := range map[string]string{
		"send":    "message of 32 bytes 0-1, message of 1000 bytes 0-1",
		"receive": "request of 44 bytes 1-0, remote write of 1000 bytes 0-1, remote write of 16 bytes 0-1",
		"cross": "message of 32 bytes 0-1, request of 44 bytes 1-0, message of 1000 bytes 0-1, request of 44 bytes 1-0, " +
			"remote write of 1000 bytes 0-1, remote write of 16 bytes 0-1",
	} {
		var all []string
		for _, f := range x.recorded[program+"(sr)"].Flights {
			if f.Depart < 0 || f.Arrive < f.Depart {
				t.Errorf("%s: %s departs at %v and arrives at %v", program, f.Name, f.Depart, f.Arrive)
			}
			all = append(all, fmt.Sprintf("%s %d-%d", f.Name, f.From, f.To))
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %s; want %s", program, got, want)
		}
	}
}
