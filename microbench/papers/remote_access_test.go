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
