package papers

import (
	"fmt"
	"math"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The one-way time of a remote write is the sum of its call, its frame and the interrupt. An entry
// of a queue needs a further call that takes it out.
func TestRemoteAccessTakesTheTimeOfItsParts(t *testing.T) {
	s, x := openSite(t, Subject{ID: "sr", Platform: "mbcf-hub", Library: "sr", Place: "inter"}), NewResults()
	sizes := []int{4, 64, 1024}
	measure(t, "access", s, Experiment{Sizes: sizes}, x)
	hub := s.Job.Platform.Machine
	e := hub.Network.(*model.Ethernet)
	for _, bytes := range sizes {
		frame := e.Rate.Time(e.Preamble + e.Header + max(e.MBCF.Header+bytes, e.MinPayload) + e.FCS)
		write := e.MBCF.Call.Time(bytes) + frame + e.Propagation + e.MBCF.Input.Time(bytes)
		for kind, want := range map[string]unit.Time{"write": write, "fifo": write + e.MBCF.Dequeue + hub.Processor.Copy.Time(bytes)} {
			key := fmt.Sprintf("one_way(sr,%s,%d)", kind, bytes)
			if got := x.Numbers[key]; math.Abs(got-want.Micros()) > hub.TimerResolution.Micros() {
				t.Errorf("%s is %v us, by algebra %v", key, got, want)
			}
		}
	}
}

// On a hub acknowledgements collide with data, by chance. The throughput of a stream does not show
// it: it is the same with other random numbers, as of writes and of entries of a queue, and changes
// little if a few more packets are acknowledged together.
func TestStreamOnHubIsSmooth(t *testing.T) {
	s := openSite(t, Subject{ID: "sr", Platform: "mbcf-hub", Library: "sr", Place: "inter"})
	e := s.Job.Platform.Machine.Network.(*model.Ethernet)
	before := 0.0
	for _, every := range []int{7, 8, 9, 10} {
		e.MBCF.AckEvery = every
		x := NewResults()
		measure(t, "access", s, Experiment{Sizes: []int{1408}, Reps: 5}, x)
		write, fifo := x.Numbers["stream(sr,write,1408)"], x.Numbers["stream(sr,fifo,1408)"]
		if math.Abs(fifo/write-1) > 0.01 {
			t.Errorf("acknowledgements of %d packets: %v MB/s by writes, %v by a queue", every, write, fifo)
		}
		if before > 0 && math.Abs(write/before-1) > 0.05 {
			t.Errorf("acknowledgements of %d packets: %v MB/s, of one packet less %v", every, write, before)
		}
		before = write
	}
}
