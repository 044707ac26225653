package hw_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

func TestLaws(t *testing.T) {
	for _, name := range []string{"t3d", "cm5", "now", "loggp", "smp-torus", "smp-ethernet", "tree", "fabric", "fabric with one queue", "adaptive fabric", "RDMA fabric", "striped RDMA fabric", "adaptive RDMA fabric", "datagram fabric", "staged RDMA fabric", "adaptive staged RDMA fabric", "numa", "numa nodes", "mbcf", "mbcf with losses", "udp", "udp on a hub", "udp with faults", "congestion with faults"} {
		var p *platform.Platform // once: to read it takes longer than most laws
		switch name {
		case "tree":
			m := hwtest.FatTree(2, 60e6, 1, 2, 3, 1)
			m.Network.(*model.FatTree).PriorityQueueLength = 5
			p = &platform.Platform{Machine: m, Libraries: []*model.Library{nil}}
		case "fabric", "fabric with one queue", "adaptive fabric", "RDMA fabric", "striped RDMA fabric", "adaptive RDMA fabric", "datagram fabric", "staged RDMA fabric", "adaptive staged RDMA fabric":
			p = fabricPlatform(t, name)
		case "numa": // a law has up to 128 ranks
			m := hwtest.NUMA()
			m.Network.(*model.NUMA).Cores, m.Ranks.Max = 16, 128
			p = &platform.Platform{Machine: m, Libraries: []*model.Library{nil}}
		case "numa nodes":
			m := hwtest.Torus()
			inside := hwtest.NUMA().Network.(*model.NUMA)
			inside.Order = model.RoundRobinOrder
			m.Nodes = &model.Nodes{Ranks: 5, Interfaces: 2, Inside: inside}
			p = &platform.Platform{Machine: m, Libraries: []*model.Library{nil}}
		case "mbcf":
			p = &platform.Platform{Machine: hwtest.MBCFWorkstations(true, 100_000), Libraries: []*model.Library{{Engine: &model.Engine{UsesMBCF: true}}}}
		case "mbcf with losses":
			p = &platform.Platform{Machine: hwtest.MBCFWorkstations(false, 6000), Libraries: []*model.Library{{Engine: &model.Engine{UsesMBCF: true}}}}
		case "udp", "udp on a hub", "udp with faults", "congestion with faults":
			p = &platform.Platform{Machine: hwtest.UDPWorkstations(name), Libraries: []*model.Library{nil}}
		default:
			p = hwtest.LoadPlatform(t, name)
		}
		for _, noise := range []float64{0, 0.05} {
			t.Run(fmt.Sprintf("%s noise %v", name, noise), func(t *testing.T) {
				world := func(ranks int) device.World { return hwtest.OpenPlatform(t, p, ranks, noise) }
				devicetest.TestWorld(t, world)
				devicetest.TestDeadlock(t, world)
				if noise == 0 && name != "now" && name != "smp-ethernet" && !strings.Contains(name, "udp") && !strings.Contains(name, "faults") { // workstations look by a system call
					devicetest.TestVirtualTime(t, world)
				}
			})
		}
	}
}

// fabricPlatform returns a tree with buffers for a chunk, or a dragonfly with adaptive routing,
// with RDMA interfaces or without.
func fabricPlatform(t *testing.T, name string) *platform.Platform {
	g, err := topology.NewFatTree(3, 4, []int{2})
	switch {
	case strings.HasPrefix(name, "striped"):
		g, err = topology.NewRails(3, 2, 8, nil)
	case strings.HasPrefix(name, "adaptive"):
		if g, err = topology.NewDragonfly(9, 4, 4, 2); err == nil {
			g.Routing = topology.AdaptiveRouting
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	m := hwtest.Fabric(g)
	if strings.Contains(name, "RDMA") || strings.Contains(name, "datagram") {
		m = hwtest.RDMAFabric(g)
	}
	f := m.Network.(*model.Fabric)
	if f.NIC != nil {
		f.NIC.Registration = &model.Registration{Start: us, PageSize: 4096, Page: 100_000, Entries: 2, Bytes: 1 << 16}
	}
	if strings.HasPrefix(name, "striped") {
		f.NIC.StripeFrom = 100
		m.Nodes = &model.Nodes{Ranks: 3, Interfaces: 3, Inside: &model.LogGP{L: us, SendOverhead: us, RecvOverhead: us, Gap: us}}
	}
	if strings.Contains(name, "staged") {
		f.NIC.Staging = &model.Staging{Fragment: 2 * f.Chunk, Launch: us, Complete: us, Out: 90e6, In: 70e6}
	}
	if name == "datagram fabric" {
		f.NIC.OneSided, f.NIC.Datagrams = false, &model.DatagramCosts{Send: model.Channel{Start: 100_000, Bandwidth: 150e6}, Receive: model.Channel{Start: 50_000, Bandwidth: 300e6}}
	}
	if f.Buffer = f.Chunk; name == "fabric with one queue" {
		f.Arbitration = model.FIFOArbitration
	}
	return &platform.Platform{Machine: m, Libraries: []*model.Library{nil}}
}

// A program may be a test that ends its goroutine, as testing.T.FailNow does. The job ends with an
// error that names the rank.
func TestGoexit(t *testing.T) {
	for _, name := range []string{"t3d", "now", "convex", "loggp", "smp-torus", "smp-ethernet"} {
		err := hwtest.OpenCatalogue(t, name, 2, 0).Run(func(p device.Port) error {
			if p.Rank() == 1 {
				p.Delay(unit.Microsecond)
				runtime.Goexit()
			}
			p.Recv(true)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1") {
			t.Errorf("%s: Run returned %v, want an error about rank 1", name, err)
		}
	}
}

// The laws of a port hold where all are near, where all are far, and where some are.
func TestHypernodesLaws(t *testing.T) {
	many := make([]int, 128)
	for i := range many {
		many[i] = 1
	}
	for _, sizes := range [][]int{{128}, many, {1, 3, 124}} {
		for _, noise := range []float64{0, 0.05} {
			m := hwtest.Hypernodes(sizes...)
			t.Run(fmt.Sprintf("%d hypernodes noise %v", len(sizes), noise), func(t *testing.T) {
				world := func(ranks int) device.World {
					return hwtest.Open(t, hw.Config{Machine: m, Library: &model.Library{}, Ranks: ranks, Seed: 1, Noise: noise, Context: t.Context()})
				}
				devicetest.TestWorld(t, world)
				devicetest.TestDeadlock(t, world)
				if noise == 0 {
					devicetest.TestVirtualTime(t, world)
				}
			})
		}
	}
}

// Jobs of all sizes run, and more or fewer ranks than there are processors are an error.
func TestRanks(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7, 64, 100, 1024, 2048} {
		m := hwtest.Torus()
		hwtest.Run(t, m, ranks, func(p device.Port) {
			n := p.Size()
			p.Send((p.Rank()+n/2)%n, &device.Packet{Head: device.Head{uint64(p.Rank())}})
			if q := p.Recv(true); q.Src != (p.Rank()-n/2+n)%n || q.Head[0] != uint64(q.Src) {
				t.Errorf("rank %d of %d: a packet of %d", p.Rank(), n, q.Src)
			}
		})
	}
	m := hwtest.Torus()
	m.Ranks = model.RankLimits{Min: 2, Max: 8}
	for _, ranks := range []int{0, 1, 9} {
		if _, err := hw.New(hw.Config{Machine: m, Ranks: ranks}); err == nil {
			t.Errorf("%d ranks are no error", ranks)
		}
	}
}
