package fabric_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// withCongestionControl returns a fabric with priority flow control, of links of 100 MB/s, and
// congestion control of that speed.
func withCongestionControl(g *topology.Graph, base func(*topology.Graph) *model.Machine) (*model.Machine, *model.Fabric) {
	m := base(g)
	f := m.Network.(*model.Fabric)
	f.Arbitration, f.Buffer = model.FIFOArbitration, 1<<16
	f.Congestion = &model.CongestionControl{MarkFrom: 8 << 10, MarkAll: 24 << 10, Probability: 0.1, NoticeInterval: 400 * us, Gain: 1.0 / 16, Period: 400 * us, Increase: 0.5e6}
	return m, f
}

// twoSwitches returns two switches of four hosts each.
func twoSwitches(t *testing.T) *topology.Graph {
	edges := []topology.Edge{{A: 8, B: 9, Class: topology.TrunkClass}}
	for h := range 8 {
		edges = append(edges, topology.Edge{A: h, B: 8 + h/4})
	}
	g, err := topology.NewEdges(8, 2, edges)
	return generated(t, g, err)
}

// Where no link is shared congestion control changes nothing.
func TestCongestionControlWaitsForCongestion(t *testing.T) {
	for _, base := range []func(*topology.Graph) *model.Machine{hwtest.Fabric, hwtest.RDMAFabric} {
		var ends [2][]unit.Time
		for i := range ends {
			m, f := withCongestionControl(twoSwitches(t), base)
			if f.Links[topology.TrunkClass].Width = 8; i == 0 {
				f.Congestion = nil
			}
			ends[i] = make([]unit.Time, 8)
			hwtest.Run(t, m, 8, func(p device.Port) {
				r := rand.New(rand.NewPCG(1, uint64(p.Rank())))
				for range 20 {
					p.Send((p.Rank()+4)%8, &device.Packet{Data: make([]byte, r.IntN(50_000))})
					p.Recv(true)
				}
				ends[i][p.Rank()] = p.Now()
			})
		}
		if !slices.Equal(ends[0], ends[1]) {
			t.Errorf("ranks end at %v without congestion control, at %v with it", ends[0], ends[1])
		}
	}
}

// Three senders fill the buffers on the way to host 4, which stops host 0. With congestion control
// they slow down before, and host 0 gets its link. The link of host 4 stays busy.
func TestCongestionControlSparesOthers(t *testing.T) {
	target := []int{5, 4, 4, 4, 4, 5, 6, 7}
	for _, base := range []func(*topology.Graph) *model.Machine{hwtest.Fabric, hwtest.RDMAFabric} {
		var victim, busy [2]float64
		for i := range victim {
			m, f := withCongestionControl(twoSwitches(t), base)
			if f.Links[topology.TrunkClass].Width = 8; i == 0 {
				f.Congestion = nil
			}
			rates := hwtest.MeasurePutRates(t, m, target, 400*unit.Millisecond)
			victim[i], busy[i] = rates[0]/100e6, (rates[1]+rates[2]+rates[3])/100e6
		}
		if victim[0] > 0.6 || victim[1] < 0.9 || busy[1] < 0.85 {
			t.Errorf("host 0 gets %.2f of its link without congestion control, want at most 0.6; with it %.2f, want 0.9, and host 4 %.2f, want 0.85", victim[0], victim[1], busy[1])
		}
	}
}

// In the long run senders that share a link get like rates, though one begins much later.
func TestCongestionControlIsFair(t *testing.T) {
	g, err := topology.NewStar(5)
	m, _ := withCongestionControl(generated(t, g, err), hwtest.RDMAFabric)
	const bytes, begin, end = 20_000, 100 * unit.Millisecond, 2000 * unit.Millisecond
	late := make([]float64, 5) // bytes in the second half
	hwtest.Run(t, m, 5, func(p device.Port) {
		key := p.Memory().Expose(make([]byte, bytes))
		p.Delay(us)
		if p.Rank() == 4 {
			p.Delay(begin)
		}
		for p.Rank() > 0 && p.Now() < end {
			p.Memory().Put(0, key, 0, make([]byte, bytes), device.Head{})
			if p.Recv(true); p.Now() > end/2 {
				late[p.Rank()] += bytes
			}
		}
		p.Delay(10*unit.Second - p.Now())
	})
	sum := 0.0
	for _, x := range late {
		sum += x
	}
	for h, x := range late[1:] {
		if share := 4 * x / sum; share < 0.8 || share > 1.2 {
			t.Errorf("host %d gets %.2f of the mean rate, want 0.8 to 1.2", h+1, share)
		}
	}
	if rate := sum / ((end / 2).Micros() / 1e6); rate < 70e6 {
		t.Errorf("the link carries %.0f MB/s, want 70 at least", rate/1e6)
	}
}

// All traffic ends, in order and unchanged, on all graphs with switches and with all buffers.
func TestRandomTrafficEndsWithCongestionControl(t *testing.T) {
	for name, g := range graphs(t) {
		if g.Switches == 0 {
			continue
		}
		for _, buffer := range []int{1, 12_288, 0} {
			for _, base := range []func(*topology.Graph) *model.Machine{hwtest.Fabric, hwtest.RDMAFabric} {
				m, f := withCongestionControl(g, base)
				f.Buffer, f.Congestion.MarkFrom, f.Congestion.MarkAll = buffer, 0, 4096
				sendAtRandom(t, name, m, g.Hosts, uint64(buffer))
			}
		}
	}
}
