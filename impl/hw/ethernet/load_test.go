package ethernet_test

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// loadTime is how long pairs saturate the medium.
const loadTime = 15 * unit.Second

// pairs lets n pairs of hosts stream packets for a while, and returns the bytes of packets that
// came in a second, and what was on the medium until the last had come.
func pairs(t testing.TB, n int, seed uint64) (goodput float64, s hw.EthernetStatistics, wall unit.Time) {
	t.Helper()
	p, err := platform.Load("now")
	if err != nil {
		t.Fatal(err)
	}
	const size = 14600 - 40 // ten full segments, with what frames them
	w := hwtest.Open(t, hw.Config{Machine: p.Machine, Ranks: 2 * n, Seed: seed, Ethernet: &s})
	came := 0
	err = w.Run(func(p device.Port) error {
		x := &device.Packet{Data: make([]byte, size)}
		for x.Head[0] == 0 {
			if p.Rank()%2 == 0 {
				if p.Now() > loadTime {
					x.Head[0] = 1
				}
				p.Send(p.Rank()+1, x)
			} else {
				x = p.Recv(true)
				if p.Now() < loadTime {
					came += size
				}
			}
		}
		wall = max(wall, p.Now())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(came) / (float64(loadTime) / float64(unit.Second)), s, wall
}

// More pairs collide more. One does not fill the medium, as a sender waits for acknowledgements;
// two do, and more get no more of it together. They hardly get less, as with windows of three
// segments few stations are ready at once: TestSaturation shows what stations do to each other that
// always are.
func TestEthernetLoad(t *testing.T) {
	const seeds = 4
	var goodput, collisions [5]float64
	for n := 1; n <= 4; n++ {
		for seed := range uint64(seeds) {
			bytes, s, wall := pairs(t, n, seed)
			if most := 1.25e6 * 1460 / 1538; bytes > most {
				t.Errorf("seed %d, %d pairs: %.0f B/s, the medium carries %.0f", seed, n, bytes, most)
			}
			if s.BusyTime > wall {
				t.Errorf("seed %d, %d pairs: busy for %v of %v", seed, n, s.BusyTime, wall)
			}
			goodput[n] += bytes / seeds
			collisions[n] += float64(s.Collisions) / float64(s.FramesSent) / seeds
		}
	}
	t.Logf("1 to 4 pairs: %.0f B/s, %.3f collisions a frame", goodput[1:], collisions[1:])
	for n := 2; n <= 4; n++ {
		if collisions[n] < collisions[n-1] {
			t.Errorf("%d pairs: %.3f collisions a frame, with fewer %.3f", n, collisions[n], collisions[n-1])
		}
	}
	full := goodput[2]
	if full < 1.03*goodput[1] || max(goodput[3], goodput[4]) > 1.02*full || min(goodput[3], goodput[4]) < 0.95*full {
		t.Errorf("1 to 4 pairs: %.0f B/s", goodput[1:])
	}
}

// BenchmarkEthernetLoad has n pairs of hosts that saturate the medium with full segments, by TCP.
func BenchmarkEthernetLoad(b *testing.B) {
	for n := 1; n <= 4; n++ {
		b.Run(fmt.Sprintf("pairs=%d", n), func(b *testing.B) {
			var bytes float64
			var s hw.EthernetStatistics
			var wall unit.Time
			frames := 0
			for i := range b.N {
				bytes, s, wall = pairs(b, n, uint64(i))
				frames += s.FramesSent
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
			b.ReportMetric(bytes/1e6, "MB/s")
			b.ReportMetric(float64(s.BusyTime)/float64(wall), "use")
			b.ReportMetric(float64(s.Collisions)/float64(s.FramesSent), "collisions/frame")
		})
	}
}

// In steady state neither frames nor segments are allocated.
func TestEthernetAllocates(t *testing.T) {
	count := func(packets int) float64 {
		return testing.AllocsPerRun(3, func() {
			hwtest.Run(t, hwtest.Workstations(), 2, func(p device.Port) {
				b := make([]byte, 5000)
				x := &device.Packet{Data: b}
				for range packets {
					if p.Rank() == 0 {
						p.Send(1, x)
					} else {
						p.Recv(true)
					}
				}
			})
		})
	}
	if a, b := count(100), count(1100); b > a+20 {
		t.Errorf("a thousand packets allocate %v times", b-a)
	}
}
