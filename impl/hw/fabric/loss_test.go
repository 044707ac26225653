package fabric_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// lossyFabric returns a fabric of links of 100 MB/s whose switches drop what finds their buffers
// full.
func lossyFabric(g *topology.Graph, base func(*topology.Graph) *model.Machine, buffer int) (*model.Machine, *model.Fabric) {
	m := base(g)
	f := m.Network.(*model.Fabric)
	f.Arbitration, f.Buffer, f.Loss = model.FIFOArbitration, buffer, &model.LossRecovery{Timeout: 2 * unit.Millisecond}
	return m, f
}

// All packets and accesses arrive once, in order and unchanged, on all graphs, whatever is lost.
func TestNothingIsLostAtTheReceiver(t *testing.T) {
	for name, g := range graphs(t) {
		if g.Switches == 0 || g.Routing == topology.AdaptiveRouting || g.Routing == topology.SprayRouting {
			continue
		}
		for _, buffer := range []int{1, 6_000, 1 << 16} {
			for _, base := range []func(*topology.Graph) *model.Machine{hwtest.Fabric, hwtest.RDMAFabric} {
				m, f := lossyFabric(g, base, buffer)
				sendAtRandom(t, name, m, g.Hosts, uint64(buffer))
				f.Congestion = &model.CongestionControl{MarkFrom: 0, MarkAll: 4096, Probability: 0.1, NoticeInterval: 400 * us, Gain: 1.0 / 16, Period: 400 * us, Increase: 0.5e6}
				sendAtRandom(t, name, m, g.Hosts, uint64(buffer))
			}
		}
	}
}

// incastTime lets all other hosts write some bytes into the memory of host 0, and returns when the
// last one has ended, with the bytes that the link to host 0 and all links of hosts have carried.
func incastTime(t *testing.T, m *model.Machine, hosts, bytes int) (end unit.Time, delivered, sent int) {
	t.Helper()
	const each = 20_000
	timeline := hwtest.TimelineOf(t, m, hosts, func(p device.Port) {
		key := p.Memory().Expose(make([]byte, each))
		p.Delay(us)
		if p.Rank() == 0 {
			for range hosts - 1 {
				p.Recv(true)
			}
			return
		}
		for range bytes / each {
			p.Memory().Put(0, key, 0, make([]byte, each), device.Head{})
			p.Recv(true)
		}
		end = max(end, p.Now())
		p.Send(0, &device.Packet{})
	})
	for _, track := range timeline.Resources {
		bytes := 0
		for _, span := range track.Spans {
			bytes += span.Bytes
		}
		switch {
		case track.Name == "switch 0 to host 0":
			delivered += bytes
		case strings.HasSuffix(track.Name, " to switch 0") && !strings.HasPrefix(track.Name, "host 0 "):
			sent += bytes
		}
	}
	return end, delivered, sent
}

// Four hosts write to one at the same time. Without loss the link to it is busy all the time, and
// each link carries each byte once. With loss they take longer, and their links carry more than
// arrives; bytes that arrive twice are no more than those that were sent again. Congestion control
// leaves less to be sent again.
func TestLossCostsBandwidth(t *testing.T) {
	g, err := topology.NewStar(5)
	g = generated(t, g, err)
	const bytes = 400_000
	for _, base := range []func(*topology.Graph) *model.Machine{hwtest.Fabric, hwtest.RDMAFabric} {
		m, f := lossyFabric(g, base, 12_288)
		f.Loss = nil
		lossless, delivered, sent := incastTime(t, m, 5, bytes)
		if delivered != sent || sent < 4*bytes {
			t.Errorf("without loss hosts send %d bytes, %d arrive, %d are for host 0", sent, delivered, 4*bytes)
		}
		f.Loss = &model.LossRecovery{Timeout: 2 * unit.Millisecond}
		lossy, arrived, sentWithLoss := incastTime(t, m, 5, bytes)
		if lossy < lossless+lossless/20 || sentWithLoss < sent+sent/20 {
			t.Errorf("with loss: %v and %d bytes; without: %v and %d bytes", lossy, sentWithLoss, lossless, sent)
		}
		if arrived < delivered || arrived > sentWithLoss {
			t.Errorf("%d bytes of %d that hosts send arrive, and %d are needed", arrived, sentWithLoss, delivered)
		}
		f.Congestion = &model.CongestionControl{MarkFrom: 2 << 10, MarkAll: 8 << 10, Probability: 0.5, NoticeInterval: 400 * us, Gain: 1.0 / 16, Period: 400 * us, Increase: 0.5e6}
		if _, _, controlled := incastTime(t, m, 5, bytes); controlled-sent > 3*(sentWithLoss-sent)/4 {
			t.Errorf("hosts send %d bytes with congestion control, %d without, and %d without loss", controlled, sentWithLoss, sent)
		}
	}
}

// Where nothing shares a link nothing is lost, and times are those without loss.
func TestLossNeedsCongestion(t *testing.T) {
	for _, base := range []func(*topology.Graph) *model.Machine{hwtest.Fabric, hwtest.RDMAFabric} {
		var ends [2][]unit.Time
		for i := range ends {
			m, f := lossyFabric(twoSwitches(t), base, 1<<16)
			if f.Links[topology.TrunkClass].Width = 8; i == 0 {
				f.Loss = nil
			}
			ends[i] = make([]unit.Time, 8)
			hwtest.Run(t, m, 8, func(p device.Port) {
				for k := range 20 {
					p.Send((p.Rank()+4)%8, &device.Packet{Data: make([]byte, 1000*k)})
					p.Recv(true)
				}
				ends[i][p.Rank()] = p.Now()
			})
		}
		if !slices.Equal(ends[0], ends[1]) {
			t.Errorf("ranks end at %v without loss, at %v where it is possible", ends[0], ends[1])
		}
	}
}
