package fabric_test

import (
	"testing"

	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// What flows get on the examples of docs/fabric.md is within 2 % of the shares that are worked out
// by hand. Links carry 10 GB/s, the local ones of the dragonfly 20, and the buses of rdma 8.
func TestSharesByHand(t *testing.T) {
	for _, c := range []struct {
		platform, flows, why string
		want                 float64     // GB/s of each flow that is listed
		pairs                map[int]int // the flows
		of                   []int       // whose rates are shown
	}{
		{"star", "0 → 7 alone", "no link is shared", 10, map[int]int{0: 7}, []int{0}},
		{"star", "1, 2, 3 → 0", "3 flows on the link to host 0: 10/3", 10. / 3, map[int]int{1: 0, 2: 0, 3: 0}, []int{1, 2, 3}},
		{"mesh", "1, 2, 3 → 0", "each has a link of its own", 10, map[int]int{1: 0, 2: 0, 3: 0}, []int{1, 2, 3}},
		{"fattree", "0 to 3 → 4 to 7", "4 flows on 2 cables up: 10·2/4", 5, map[int]int{0: 4, 1: 5, 2: 6, 3: 7}, []int{0, 1, 2, 3}},
		{"fattree", "0, 2 → 4, 6", "both take the first cable up, by the digit 0 of 4 and 6: 10/2", 5, map[int]int{0: 4, 2: 6}, []int{0, 2}},
		{"fattree", "0, 2 → 4, 7", "two cables up", 10, map[int]int{0: 4, 2: 7}, []int{0, 2}},
		{"rails", "2 to 7 → 0", "node 0 receives 3 flows on each of 2 rails: 10/3", 10. / 3, map[int]int{0: 2, 1: 3, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0}, []int{2, 3, 4, 5, 6, 7}},
		{"dragonfly", "0 to 3 → 4 to 7", "4 flows on the cable between two groups: 10/4", 2.5, map[int]int{0: 4, 1: 5, 2: 6, 3: 7}, []int{0, 1, 2, 3}},
		{"dragonfly", "0, 1 → 4, 8", "two cables, to two groups", 10, map[int]int{0: 4, 1: 8}, []int{0, 1}},
		{"rdma", "0 → 4 alone", "its bus, slower than its link", 8, map[int]int{0: 4}, []int{0}},
		{"rdma", "0, 2 → 4, 8", "2 ranks share the bus of interface 0: 8/2", 4, map[int]int{0: 4, 2: 8}, []int{0, 2}},
		{"rdma", "0, 1 → 4, 5", "two interfaces", 8, map[int]int{0: 4, 1: 5}, []int{0, 1}},
		{"rdma", "0 → 4 and 4 → 0", "a bus carries as much in each direction", 8, map[int]int{0: 4, 4: 0}, []int{0, 4}},
		{"graph", "0, 1, 2 → 5, 3, 4 and 3 → 6", "3 flows on s0 s1: 10/3", 10. / 3, map[int]int{0: 5, 1: 3, 2: 4, 3: 6}, []int{0, 1, 2}},
		{"graph", "the same: 3 → 6", "beside 0 → 5 on s1 s2: 10 − 10/3", 20. / 3, map[int]int{0: 5, 1: 3, 2: 4, 3: 6}, []int{3}},
	} {
		p, err := platform.Load("../../../docs/fabric-" + c.platform + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		p.Machine.TimerResolution = 1
		target := make([]int, p.Machine.Ranks.Max)
		for i := range target {
			if to, ok := c.pairs[i]; ok {
				target[i] = to
			} else {
				target[i] = i // to itself, which takes no link
			}
		}
		rates := hwtest.MeasurePutRates(t, p.Machine, target, 2*unit.Millisecond)
		for _, from := range c.of {
			got := rates[from] / 1e9
			if got < 0.98*c.want || got > 1.02*c.want {
				t.Errorf("%s, %s: rank %d puts %.2f GB/s, want %.2f: %s", c.platform, c.flows, from, got, c.want, c.why)
			}
		}
	}
}
