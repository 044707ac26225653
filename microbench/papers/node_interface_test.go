package papers

import (
	"math"
	"testing"
)

// betweenNodes is MPI-StarT between two nodes.
var betweenNodes = Subject{ID: "far", Platform: "start-x", Library: "mpi-start", Place: "inter"}

// The times of the interface without a library are the published ones: Husbands and Hoe 1998, table
// 1 and section 2. Messages of each priority arrive while the queue of the other is full, and a
// remote write delays only messages of high priority.
func TestNodeInterfaceHasPublishedTimes(t *testing.T) {
	x := NewResults()
	measure(t, "interface", openSite(t, betweenNodes), Experiment{Sizes: []int{1 << 20}, Reps: 2}, x)
	for key, want := range map[string]float64{
		"pio_send(far,word,16)": 0.6, "pio_receive(far,word,16)": 3.0, "pio_latency(far,word,16)": 5.5,
		"pio_send(far,word,64)": 1.4, "pio_receive(far,word,64)": 11.3, "pio_latency(far,word,64)": 14.6,
		"pio_send(far,burst,64)": 0.4, "pio_receive(far,burst,64)": 3.5, "pio_latency(far,burst,64)": 5.6,
		"rdma(far,1048576)": 60, "drained(far,low)": 100, "drained(far,high)": 100,
	} {
		if got := x.Numbers[key]; math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	low, high, write := x.Numbers["held_up(far,low)"], x.Numbers["held_up(far,high)"], float64(1<<20)/60
	if low != 0 || high < 0.99*write || high > 1.01*write {
		t.Errorf("during a write of %v us a low message is refused for %v us and a high one for %v us", write, low, high)
	}
}

// Short messages are faster by programmed I/O and longer ones by RDMA, whatever the limits of the
// library are. If two nodes send to one, the second transfer waits for the first.
func TestRoutesIgnoreTheLimitsOfTheLibrary(t *testing.T) {
	x := NewResults()
	measure(t, "routes", openSite(t, betweenNodes), Experiment{Sizes: []int{512, 4096, 100_000}, Reps: 2}, x)
	v := func(key string) float64 { return x.Numbers[key] }
	if !(v("by_short(far,512)") < v("by_rendezvous(far,512)") && v("by_rendezvous(far,4096)") < v("by_short(far,4096)")) {
		t.Errorf("512 bytes take %v us as a short message and %v us by rendezvous, 4096 bytes %v and %v us", v("by_short(far,512)"), v("by_rendezvous(far,512)"), v("by_short(far,4096)"), v("by_rendezvous(far,4096)"))
	}
	alone := v("received(far,1,1)")
	if first, second := v("received(far,2,1)"), v("received(far,2,2)"); first > 1.1*alone || second < 1.8*alone || second > 2.2*alone {
		t.Errorf("a message is received after %v us alone, and two after %v and %v us", alone, first, second)
	}
}
