package paper

import (
	"math"
	"testing"
)

// onStart returns a run whose only subject is MPI-StarT between two SMPs, without noise.
func onStart(t *testing.T) *run {
	t.Helper()
	s, err := (&Subject{ID: "far", Platform: "start-x", Library: "mpi-start", Place: "inter"}).open(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &run{sites: map[string]*site{"far": s}, measured: cells{}}
}

// The interface by itself takes what is published: Husbands and Hoe 1998, table 1 and section 2.
// Each priority arrives while the queue of the other is full, and a remote write holds up the high
// one alone.
func TestInterface(t *testing.T) {
	x := onStart(t)
	if err := interfaceBenchmark.run(t.Context(), x, &Experiment{Subject: "far", Sizes: sizes{values: []int{1 << 20}}, Reps: 2}, 1, func(int) {}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		"pio_send(far,word,16)": 0.6, "pio_receive(far,word,16)": 3.0, "pio_latency(far,word,16)": 5.5,
		"pio_send(far,word,64)": 1.4, "pio_receive(far,word,64)": 11.3, "pio_latency(far,word,64)": 14.6,
		"pio_send(far,burst,64)": 0.4, "pio_receive(far,burst,64)": 3.5, "pio_latency(far,burst,64)": 5.6,
		"rdma(far,1048576)": 60, "drained(far,low)": 100, "drained(far,high)": 100,
	} {
		if got := x.measured[key].V; math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	low, high, write := x.measured["held_up(far,low)"].V, x.measured["held_up(far,high)"].V, float64(1<<20)/60
	if low != 0 || high < 0.99*write || high > 1.01*write {
		t.Errorf("during a write of %v us a low message is refused for %v us and a high one for %v us", write, low, high)
	}
}

// Short messages are faster by programmed I/O and longer ones by RDMA, whatever the limits of the
// library say; of two transfers to one SMP the second waits for the first.
func TestRoutes(t *testing.T) {
	x := onStart(t)
	if err := routesBenchmark.run(t.Context(), x, &Experiment{Subject: "far", Sizes: sizes{values: []int{512, 4096, 100_000}}, Reps: 2}, 1, func(int) {}); err != nil {
		t.Fatal(err)
	}
	v := func(key string) float64 { return x.measured[key].V }
	if !(v("by_short(far,512)") < v("by_rendezvous(far,512)") && v("by_rendezvous(far,4096)") < v("by_short(far,4096)")) {
		t.Errorf("512 bytes take %v us as a short message and %v us by rendezvous, 4096 bytes %v and %v us", v("by_short(far,512)"), v("by_rendezvous(far,512)"), v("by_short(far,4096)"), v("by_rendezvous(far,4096)"))
	}
	alone := v("received(far,1,1)")
	if first, second := v("received(far,2,1)"), v("received(far,2,2)"); first > 1.1*alone || second < 1.8*alone || second > 2.2*alone {
		t.Errorf("a message is received after %v us alone, and two after %v and %v us", alone, first, second)
	}
}

// Classes of sizes of one counter add up to all of it.
func TestShares(t *testing.T) {
	got := shares(map[string]int64{"calls, up to 64 B": 3, "calls, up to any B": 1, "bytes by calls, up to 64 B": 0, "messages": 7})
	for c, want := range map[class]float64{{"calls", "64"}: 75, {"calls", "any"}: 25, {"bytes by calls", "64"}: 0} {
		if got[c] != want {
			t.Errorf("%v: %v percent, want %v", c, got[c], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("shares of %v", got)
	}
}

// A product of matrices takes what its operations take, and little more where its ranks are in one
// SMP; a round trip between SMPs takes longer than one inside.
func TestPlacements(t *testing.T) {
	x := &run{sites: map[string]*site{}, measured: cells{}}
	for id, place := range map[string]string{"near": "intra", "far": "inter"} {
		s, err := (&Subject{ID: id, Platform: "start-x", Library: "mpi-start", Place: place}).open(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		x.sites[id] = s
		e := Experiment{Subject: id, Sizes: sizes{values: []int{8}}, Ranks: sizes{values: []int{2}}, Programs: []string{"columns"}, Placements: []string{"2", "4+4"}}
		if err := postedBenchmark.run(t.Context(), x, &e, 1, func(int) {}); err != nil {
			t.Fatal(err)
		}
		e.Sizes.values = []int{512}
		if err := programsBenchmark.run(t.Context(), x, &e, 1, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	v := func(key string) float64 { return x.measured[key].V }
	if near, far := v("round_trip(near,8)"), v("round_trip(far,8)"); !(near > 0 && far > 1.2*near) {
		t.Errorf("a round trip takes %v us inside an SMP and %v us between SMPs", near, far)
	}
	processor := x.sites["near"].job.Platform.Machine.Processor
	operations := 512.0 * 512 * (2*512*processor.Operation + processor.Loop).Micros() / 1e6
	if two := v("program_time(near,columns,2,512)"); !(two > operations/2 && two < 1.05*operations/2) {
		t.Errorf("a product on two ranks takes %v s, its operations %v s", two, operations/2)
	}
	if eight := v("program_time(near,columns,4+4,512)"); !(eight > operations/8 && eight < 1.5*operations/8) {
		t.Errorf("a product on eight ranks takes %v s, its operations %v s", eight, operations/8)
	}
}
