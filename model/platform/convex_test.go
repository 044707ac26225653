package platform

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The numbers of the Convex Exemplar that Al-Tawil and Moritz print: 16 processors in 2 hypernodes,
// 4 rings (section 2); and those of its rings, 600 MB/s each (OpenPA).
func TestConvex(t *testing.T) {
	p := load(t, "convex")
	h := p.Machine.Network.(*model.Hypernodes)
	if len(h.Sizes) != 2 || h.Sizes[0] != 8 || h.Sizes[1] != 8 || h.Rings != 4 || h.Ring != 600e6 || h.ProcessorsPerBlock != 2 {
		t.Errorf("hypernodes %+v", *h)
	}
	r := p.Machine.Ranks
	if r.Default != 16 || p.Machine.TierOfRanks(0, r.Default-1) != model.InterNode || p.Machine.TierOfRanks(0, 1) != model.IntraNode {
		t.Errorf("ranks %+v: the first and the last should be in different hypernodes, the first two in one", r)
	}
	// Remote memory is read in lines of 64 bytes, and each line costs a miss:
	// at least 0.5 us, 2 us from the other hypernode.
	for tier, miss := range [model.NumTiers]unit.Time{model.InterNode: 2 * unit.Microsecond, model.IntraNode: unit.Microsecond / 2} {
		a := h.Access[tier]
		if line := a.Get.Bandwidth.Time(64); line < miss {
			t.Errorf("%v: a line is read in %v", model.Tier(tier), line)
		}
		if line := p.Machine.Processor.Copy.Bandwidth.Time(64) + a.FetchPerByte.Time(64); line < miss {
			t.Errorf("%v: a line of a packet is copied in %v", model.Tier(tier), line)
		}
	}
}

// convex returns the duration of a non-blocking standard send of k bytes on the Convex, and the
// time until it is received.
func convex(t *testing.T, p *Platform, peer, k int) (send, delivery float64) {
	m := p.Machine
	c := model.Transfer{Machine: m, Library: p.Libraries[0], Bytes: k, Path: m.PathBetweenRanks(m.Ranks.Default, 0, peer), IsNonblocking: true}.Cost()
	return c.Sender.Sum().Micros(), c.Delivery.Sum().Micros()
}

// The closed form meets table 4 of Al-Tawil and Moritz: overheads in us at 100 and 10000 bytes, G
// and S in us a byte.
func TestConvexTable4(t *testing.T) {
	p := load(t, "convex")
	for _, c := range []struct {
		what           string
		peer           int
		low, high, gap float64
	}{{"o, G", 15, 30, 200, 0.05}, {"s, S", 1, 2, 20, 0.01}} {
		low, _ := convex(t, p, c.peer, 100)
		high, from := convex(t, p, c.peer, 10_000)
		_, to := convex(t, p, c.peer, 100_000)
		for i, x := range [][2]float64{{low, c.low}, {high, c.high}, {(to - from) / 90_000, c.gap}} {
			if off := x[0]/x[1] - 1; math.Abs(off) > 0.15 {
				t.Errorf("%s, number %d: %.4g, published %.4g, %+.1f %%", c.what, i, x[0], x[1], 100*off)
			}
		}
	}
}

// Within a hypernode all is faster at every size, sends by five to twenty times at the sizes of
// table 4 (section 5); between two a send costs more than on a T3D, and at most twice as much up to
// 10000 bytes (section 4).
func TestConvexTiers(t *testing.T) {
	p, t3d := load(t, "convex"), load(t, "t3d")
	for _, k := range []int{0, 1, 16, 100, 256, 512, 513, 1000, 1024, 1025, 4096, 10_000} {
		o, far := convex(t, p, 15, k)
		s, near := convex(t, p, 1, k)
		if s >= o || near >= far || (k == 100 || k == 10_000) && (o < 5*s || o > 20*s) {
			t.Errorf("%d bytes: a send takes %.4g us and %.4g us between hypernodes, until it is there %.4g and %.4g us", k, s, o, near, far)
		}
		m := t3d.Machine
		x := model.Transfer{Machine: m, Library: t3d.Libraries[0], Bytes: k, Path: m.PathBetweenRanks(4, 0, 3), IsNonblocking: true}
		if other := x.Cost().Sender.Sum().Micros(); o < other || o > 2*other || s >= other {
			t.Errorf("%d bytes: a send takes %.4g us, and %.4g us between hypernodes; on a T3D %.4g us", k, s, o, other)
		}
	}
}
