package fabric_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// railNodes returns four nodes of two ranks with an interface each on two rails of 100 MB/s, over
// which long accesses are divided.
func railNodes(t *testing.T) (*model.Machine, *model.Fabric) {
	g, err := topology.NewRails(2, 1, 4, nil)
	m := hwtest.RDMAFabric(generated(t, g, err))
	m.Nodes = &model.Nodes{Ranks: 2, Interfaces: 2, Inside: &model.LogGP{L: us}}
	f := m.Network.(*model.Fabric)
	f.NIC.StripeFrom = 10_000
	return m, f
}

// A divided write gets all rails of its node, two share them, and a receiving node has no more.
// Shorter writes have the rail of their rank.
func TestDividedWritesShareTheRails(t *testing.T) {
	m, _ := railNodes(t)
	const puts = 20
	for _, c := range []struct {
		bytes  int
		target map[int]int
		rate   float64 // of each flow, in MB/s
	}{
		{40_960, map[int]int{0: 2}, 200},
		{40_960, map[int]int{0: 2, 1: 4}, 100},
		{40_960, map[int]int{0: 6, 2: 6, 4: 7}, 200. / 3},
		{9_999, map[int]int{0: 2}, 100},
	} {
		for rank, took := range putsOf(t, m, c.target, puts, c.bytes) {
			if got := float64(puts*c.bytes) / took.Micros(); got < 0.97*c.rate || got > 1.03*c.rate {
				t.Errorf("%d bytes, puts %v: rank %d gets %.1f MB/s, want %.0f", c.bytes, c.target, rank, got, c.rate)
			}
		}
	}
}

// What a rank sends behind a divided write takes effect behind it, though traffic of others delays
// the parts on one rail.
func TestDividedWritesKeepTheirOrder(t *testing.T) {
	for _, congested := range []int{0, 1} {
		m, _ := railNodes(t)
		const bytes = 40_000
		hwtest.Run(t, m, 8, func(p device.Port) {
			memory := make([]byte, 3*bytes)
			key := p.Memory().Expose(memory)
			p.Delay(10 * us)
			switch p.Rank() {
			case 0: // its long writes, short ones and packets alternate
				p.Delay(50 * us)
				for i := range 3 {
					data := make([]byte, bytes)
					data[0], data[bytes-1] = 1, 1
					p.Memory().Put(6, key, i*bytes, data, device.Head{})
					p.Memory().Put(6, key, 0, []byte{byte(2 + i)}, device.Head{})
					p.Send(6, &device.Packet{Head: device.Head{uint64(i)}})
				}
				for range 6 {
					p.Recv(true)
				}
			case 2 + congested: // fills a rail of the receiver
				for range 20 {
					p.Memory().Put(7, key, 0, make([]byte, 9000), device.Head{})
				}
				for range 20 {
					p.Recv(true)
				}
			case 6:
				for i := range 3 {
					q := p.Recv(true)
					if q.Head[0] != uint64(i) {
						t.Errorf("packet %d comes in place of %d", q.Head[0], i)
					}
					if memory[i*bytes+bytes-1] != 1 || memory[0] < byte(2+i) {
						t.Errorf("congestion on rail %d: packet %d is here before the writes before it", congested, i)
					}
				}
			}
			p.Delay(unit.Second)
		})
	}
}

// Divided reads use all rails of the node that is read.
func TestDividedReads(t *testing.T) {
	m, f := railNodes(t)
	const bytes = 200_000
	hwtest.Run(t, m, 8, func(p device.Port) {
		memory := make([]byte, bytes)
		memory[bytes-1] = byte(p.Rank())
		key := p.Memory().Expose(memory)
		p.Delay(10 * us)
		if p.Rank() == 1 {
			into := make([]byte, bytes)
			begin := p.Now()
			p.Memory().Get(4, key, 0, into, device.Head{})
			p.Recv(true)
			took := (p.Now() - begin).Micros()
			if rate := bytes / took; rate < 190 || rate > 200 || into[bytes-1] != 4 {
				t.Errorf("rank 1 reads %.1f MB/s, want nearly 200, and the last byte %d", rate, into[bytes-1])
			}
		}
		p.Delay(unit.Second)
	})
	if parts, part := f.Stripes(10_000); parts != 2 || part != 5120 {
		t.Errorf("10,000 bytes are divided into %d parts of at most %d, want 2 of 5,120", parts, part)
	}
}
