package ethernet_test

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// TestSwitchPhysics checks random traffic, also where switches lose frames: packets come whole and
// in order, none sooner than its wires allow, and what stations sent is what TCP gave them.
func TestSwitchPhysics(t *testing.T) {
	lost, collided := 0, 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := hwtest.SwitchedWorkstations(r.IntN(2) == 0, 1+r.IntN(6), []int{1526, 4000, 100_000}[r.IntN(3)])
		e := m.Network.(*model.Ethernet)
		e.Switches.Uplink = []unit.Rate{0.5e6, 1.25e6, 125e6}[r.IntN(3)]
		e.TCP.Retransmit = 50 * unit.Millisecond
		if seed%2 == 1 {
			e.TCP.Congestion = &model.Congestion{InitialWindowSegments: 1 + r.IntN(4), ReorderToleranceSegments: 1 + r.IntN(3)}
		}
		if seed%3 == 2 {
			e.Switches.LossProbability, e.Switches.ReorderProbability = 0.02, 0.05
		}
		roomy := e.Switches.LinkBufferBytes == 100_000
		if roomy {
			e.TCP.Retransmit = 20 * unit.Second // longer than anything waits
		}
		ranks := 2 + r.IntN(7)
		out, s, _ := gossip(t, m, ranks, seed)
		stream := 0
		for src, from := range out {
			for _, x := range from {
				n := e.TCP.Record + x.bytes
				stream += n
				segments := (n + e.MTU - e.TCP.Header - 1) / (e.MTU - e.TCP.Header)
				bytes := n + segments*(e.Preamble+e.Header+e.TCP.Header+e.FCS) + (segments-1)*e.InterframeGapBytes
				last := min(n, n-(segments-1)*(e.MTU-e.TCP.Header)) + e.Preamble + e.Header + e.TCP.Header + e.FCS
				hops := m.PathBetweenRanks(ranks, src, x.dst).Hops
				least := e.Rate.Time(bytes) + e.Rate.Time(last) + unit.Time(2+hops)*e.Propagation + unit.Time(1+hops)*e.Switches.Latency + unit.Time(hops)*e.Switches.Uplink.Time(last)
				if took := x.came - x.sent; took < least {
					t.Errorf("seed %d: %d bytes from %d to %d took %v, their wires take %v", seed, x.bytes, src, x.dst, took, least)
				}
			}
		}
		if s.TCPBytesSent != stream || s.TCPBytesReceived != stream || s.MaxReceiveBufferBytes > e.TCP.ReceiveBuffer {
			t.Errorf("seed %d: TCP sent %d bytes and brought %d, the packets have %d; a buffer of %d held %d", seed, s.TCPBytesSent, s.TCPBytesReceived, stream, e.TCP.ReceiveBuffer, s.MaxReceiveBufferBytes)
		}
		if roomy && s.FramesOverflowed == 0 && s.FramesAbandoned == 0 && e.Switches.LossProbability == 0 && s.TCPBytesRetransmitted > 0 {
			t.Errorf("seed %d: nothing was lost, and %d bytes were sent again", seed, s.TCPBytesRetransmitted)
		}
		if e.Switches.IsFullDuplex && s.Collisions > 0 {
			t.Errorf("seed %d: %d collisions on full-duplex links", seed, s.Collisions)
		}
		lost, collided = lost+s.FramesOverflowed, collided+s.Collisions
	}
	if lost == 0 || collided == 0 {
		t.Errorf("%d frames were lost, and there were %d collisions, which tests nothing", lost, collided)
	}
}

// flows lets ranks send to others for two seconds, each to the one that is given, and returns the
// bytes a second that came from each.
func flows(t *testing.T, m *model.Machine, target []int, s *hw.EthernetStatistics) []float64 {
	t.Helper()
	const lasts, size = 2 * unit.Second, 14560
	came, open := make([]float64, len(target)), make([]int, len(target))
	for src, dst := range target {
		if src != dst {
			open[dst]++
		}
	}
	w := hwtest.Open(t, hw.Config{Machine: m, Ranks: len(target), Seed: 1, Ethernet: s})
	if err := w.Run(func(p device.Port) error {
		me := p.Rank()
		take := func(block bool) bool {
			q := p.Recv(block)
			if q == nil {
				return false
			}
			open[me] -= int(q.Head[0])
			if p.Now() < lasts {
				came[q.Src] += size * float64(unit.Second) / float64(lasts)
			}
			return true
		}
		for target[me] != me {
			x := device.Packet{Data: make([]byte, size)}
			if p.Now() > lasts {
				x.Head[0] = 1
			}
			p.Send(target[me], &x)
			for take(false) {
			}
			if x.Head[0] == 1 {
				break
			}
		}
		for open[me] > 0 {
			take(true)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return came
}

// Disjoint pairs have full rate each, in both directions where links are full duplex. Flows into
// one port share it, those over an uplink share that, and no port carries more than it can.
func TestSwitchContention(t *testing.T) {
	line := 1.25e6 * 1460 / 1538
	for _, c := range []struct {
		name   string
		full   bool
		ports  int
		target []int
		most   float64 // of each flow
		part   float64 // of that all of them reach together
	}{
		{"pairs", true, 8, []int{1, 1, 3, 3, 5, 5}, line, 0.97},
		{"pairs, half duplex", false, 8, []int{1, 1, 3, 3, 5, 5}, line, 0.7},
		{"both directions", true, 8, []int{1, 0, 3, 2}, line, 0.8},
		{"both directions, half duplex", false, 8, []int{1, 0, 3, 2}, line / 2, 0.7},
		{"into one", true, 8, []int{0, 0, 0, 0}, line / 3, 0.95},
		{"over an uplink", true, 3, []int{3, 4, 5, 3, 4, 5}, line * 0.8 / 3, 0.9},
	} {
		m := hwtest.SwitchedWorkstations(c.full, c.ports, 200_000)
		m.Network.(*model.Ethernet).Switches.Uplink = 1e6
		var s hw.EthernetStatistics
		sum, n := 0.0, 0.0
		for src, rate := range flows(t, m, c.target, &s) {
			if c.target[src] != src {
				sum, n = sum+rate, n+1
			}
		}
		if most := n * c.most; sum > 1.003*most || sum < c.part*most {
			t.Errorf("%s: %.0f B/s together, at most are %.0f", c.name, sum, most)
		}
		if s.FramesOverflowed > 0 {
			t.Errorf("%s: %d frames were lost, and there is room for all", c.name, s.FramesOverflowed)
		}
	}
}

// Of flows into a port whose buffer is small the switch loses frames, and TCP waits: each gets less
// than its share.
func TestSwitchOverflow(t *testing.T) {
	m := hwtest.SwitchedWorkstations(true, 8, 6000)
	var s hw.EthernetStatistics
	sum := 0.0
	for _, rate := range flows(t, m, []int{0, 0, 0, 0}, &s) {
		sum += rate
	}
	if line := 1.25e6 * 1460 / 1538; s.FramesOverflowed == 0 || s.TCPBytesRetransmitted == 0 || sum > 0.95*line || sum == 0 {
		t.Errorf("%.0f of %.0f B/s, %d frames lost, %d bytes sent again", sum, line, s.FramesOverflowed, s.TCPBytesRetransmitted)
	}
}
