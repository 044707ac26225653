package numa_test

import (
	"testing"

	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// What ranks get of docs/numa-node.yaml is within 1 % of the shares that are worked out by hand. A
// copy passes its memory twice.
func TestSharesByHand(t *testing.T) {
	// span returns ranks that copy what is theirs, or that of others a distance away.
	span := func(from, to, away int) (all []copying) {
		for rank := from; rank <= to; rank++ {
			all = append(all, copying{rank, rank + away})
		}
		return all
	}
	for _, c := range []struct {
		ranks, why string
		want       float64 // GB/s of each of the first ranks
		all        []copying
		count      int // of those first ranks
	}{
		{"0 copies", "its core", 10, span(0, 0, 0), 1},
		{"0 to 3 copy", "4 · 2 · 10 < 100", 10, span(0, 3, 0), 4},
		{"0 to 7 copy", "16 uses of a memory: 100/16", 6.25, span(0, 7, 0), 8},
		{"0 to 15 copy", "two domains: 100/16", 6.25, span(0, 15, 0), 16},
		{"0 to 7 get from 8 to 15", "8 uses of each memory; the core", 10, span(0, 7, 8), 8},
		{"0 to 7 get from 16 to 23", "8 flows on a link: 40/8", 5, span(0, 7, 16), 8},
		{"the same, and 16 to 23 get from 0 to 7", "each direction has its own link", 5, append(span(0, 7, 16), span(16, 23, -16)...), 16},
		{"0 and 1 get from 16 and 17", "the core at that distance", 8, span(0, 1, 16), 2},
		{"0 to 7 copy, 16 to 19 get from 0 to 3", "16 + 4 uses of a memory: 100/20", 5, append(span(0, 7, 0), span(16, 19, -16)...), 12},
		{"8 to 15 copy, 0 to 7 get from 16 to 23", "each has its bottleneck: 100/16", 6.25, append(span(8, 15, 0), span(0, 7, 16)...), 8},
	} {
		p, err := platform.Load("../../../docs/numa-node.yaml")
		if err != nil {
			t.Fatal(err)
		}
		m := p.Machine
		m.TimerResolution = 1
		for i, rate := range measureRates(t, m, c.all, 5<<18, 4*unit.Millisecond)[:c.count] {
			if rate < 0.99e9*c.want || rate > 1.01e9*c.want {
				t.Errorf("%s: rank %d moves %.2f GB/s, want %.2f: %s", c.ranks, c.all[i].rank, rate/1e9, c.want, c.why)
			}
		}
	}
}
