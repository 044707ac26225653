package papers

import (
	"math"
	"testing"
)

// Half of a round trip with a posted receive is about the time of a ping-pong.
func TestPingPongIsHalfOfARoundTrip(t *testing.T) {
	x, s := NewResults(), openSite(t, betweenNodes)
	e := Experiment{Sizes: []int{64}, Reps: 4}
	measure(t, "posted", s, e, x)
	measure(t, "ping-pong", s, e, x)
	if half, trip := x.Numbers["ping_pong(far,64)"], x.Numbers["round_trip(far,64)"]; !(math.Abs(2*half/trip-1) < 0.2) {
		t.Errorf("half of a ping-pong takes %v us, a round trip %v us", half, trip)
	}
}

// A synchronous send returns when the peer has received, after its computation. A ready send, whose
// receive is posted, returns before.
func TestReadySendFindsItsReceivePosted(t *testing.T) {
	x := NewResults()
	measure(t, "idle-peer", openSite(t, Subject{ID: "t3d", Platform: "t3d", Place: "inter"}), Experiment{Sizes: []int{16}}, x)
	second := peerComputeTime.Micros()
	if ready, synchronous := x.Numbers["returns(t3d,rsend,16)"], x.Numbers["returns(t3d,ssend,16)"]; !(ready > 0 && ready < second/1000 && synchronous >= second) {
		t.Errorf("a ready send returns after %v us, a synchronous one after %v us", ready, synchronous)
	}
}

// The time of an operation is such that one process takes the published time.
func TestOneProcessTakesThePublishedTime(t *testing.T) {
	x := NewResults()
	s := openSite(t, Subject{ID: "sr", Platform: "mbcf-hub", Library: "sr", Place: "inter"})
	measure(t, "npb", s, Experiment{Class: "S", OneProcess: map[string]float64{"IS": 0.5}, Ranks: []int{1}}, x)
	if got := x.Numbers["npb_time(sr,IS,1)"]; !(math.Abs(got/0.5-1) < 0.001) {
		t.Errorf("one process takes %v s, not 0.5", got)
	}
}
