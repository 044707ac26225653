package fabric_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// generated returns a graph, which must be one.
func generated(t testing.TB, g *topology.Graph, err error) *topology.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// graphs returns a graph of each kind.
func graphs(t testing.TB) map[string]*topology.Graph {
	all := map[string]*topology.Graph{}
	add := func(name string, routing topology.Routing) func(g *topology.Graph, err error) {
		return func(g *topology.Graph, err error) {
			all[name] = generated(t, g, err)
			g.Routing, g.Seed = routing, 1
		}
	}
	add("star", 0)(topology.NewStar(8))
	add("mesh", 0)(topology.NewMesh(8))
	add("fattree", 0)(topology.NewFatTree(2, 4, nil))
	add("fattree tapered", 0)(topology.NewFatTree(2, 6, []int{3}))
	add("fattree of three levels", 0)(topology.NewFatTree(3, 3, nil))
	add("fattree ecmp", topology.HashRouting)(topology.NewFatTree(2, 4, nil))
	add("dragonfly", 0)(topology.NewDragonfly(5, 2, 2, 2))
	add("dragonfly ugal", topology.AdaptiveRouting)(topology.NewDragonfly(5, 2, 2, 2))
	for _, name := range []string{"fattree", "fattree of three levels", "dragonfly ugal"} {
		failing := name + " with failures"
		g := map[string]func() (*topology.Graph, error){
			"fattree":                 func() (*topology.Graph, error) { return topology.NewFatTree(2, 4, nil) },
			"fattree of three levels": func() (*topology.Graph, error) { return topology.NewFatTree(3, 3, nil) },
			"dragonfly ugal":          func() (*topology.Graph, error) { return topology.NewDragonfly(5, 2, 2, 2) },
		}[name]
		add(failing, all[name].Routing)(g())
		if err := all[failing].Fail([]string{all[failing].LinkNames()[all[failing].Links()-1]}); err != nil {
			t.Fatal(err)
		}
	}
	var ring []topology.Edge
	for i := range 6 {
		ring = append(ring, topology.Edge{A: 2 * i, B: 12 + i}, topology.Edge{A: 2*i + 1, B: 12 + i}, topology.Edge{A: 12 + i, B: 12 + (i+1)%6, Class: topology.TrunkClass})
	}
	add("ring", 0)(topology.NewEdges(12, 6, ring))
	return all
}

// With a queue for each sender, flows of random permutations get their max-min fair shares, on all
// graphs, though buffers are finite.
func TestFairShares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	var all []float64
	for name, g := range graphs(t) {
		if g.Routing == topology.AdaptiveRouting {
			continue
		}
		for range 3 {
			hwtest.CheckFairShares(t, name+", seed 1", hwtest.Fabric(g), r.Perm(g.Hosts), 200*unit.Millisecond, &all)
		}
	}
	slices.Sort(all)
	t.Logf("%d flows, throughput over max-min fair share: lowest %.3f, median %.3f, highest %.3f", len(all), all[0], all[len(all)/2], all[len(all)-1])
	if all[0] < 0.95 || all[len(all)-1] > 1.05 {
		t.Errorf("throughput is %.3f to %.3f of the max-min fair share, want 0.95 to 1.05", all[0], all[len(all)-1])
	}
}

// In an incast all senders but the target get the same share of its link, wherever they are.
func TestIncast(t *testing.T) {
	var all []float64
	for name, g := range graphs(t) {
		target := make([]int, g.Hosts) // the target puts to itself, which takes no link
		hwtest.CheckFairShares(t, name, hwtest.Fabric(g), target, 400*unit.Millisecond, &all)
	}
	slices.Sort(all)
	t.Logf("%d flows, throughput over max-min fair share: lowest %.3f, highest %.3f", len(all), all[0], all[len(all)-1])
	if all[0] < 0.95 || all[len(all)-1] > 1.05 {
		t.Errorf("throughput is %.3f to %.3f of the fair share, want 0.95 to 1.05", all[0], all[len(all)-1])
	}
}

// Half of the hosts put to the other half at the rate of their links where the bisection is full,
// and all together at that of the bisection where it is not.
func TestBisectionIsReached(t *testing.T) {
	for _, c := range []struct {
		arity int
		taper []int
		share float64
	}{{4, nil, 1}, {4, []int{2}, 0.5}, {8, []int{4}, 0.25}} {
		g, err := topology.NewFatTree(2, c.arity, c.taper)
		generated(t, g, err)
		rates := hwtest.MeasurePutRates(t, hwtest.Fabric(g), hwtest.ShiftedTargets(g.Hosts, g.Hosts/2), 40*unit.Millisecond)
		sum := 0.0
		for _, rate := range rates {
			sum += rate / 100e6
		}
		if want := float64(2 * g.Bisection); sum < 0.97*want || sum > 1.01*want || want != c.share*float64(g.Hosts) {
			t.Errorf("arity %d, taper %v: %.1f links' worth through the bisection, want %v", c.arity, c.taper, sum, want)
		}
	}
}

// Where each group of a dragonfly puts to the next one, minimal routes share the one cable between
// the two groups. Detours use the cables to all other groups.
func TestDetoursAvoidTheSharedCable(t *testing.T) {
	g, err := topology.NewDragonfly(9, 4, 2, 2)
	generated(t, g, err)
	sums := map[topology.Routing]float64{}
	for _, routing := range []topology.Routing{topology.DeterministicRouting, topology.AdaptiveRouting} {
		g.Routing = routing
		for _, rate := range hwtest.MeasurePutRates(t, hwtest.Fabric(g), hwtest.ShiftedTargets(g.Hosts, 8), 40*unit.Millisecond) {
			sums[routing] += rate / 100e6
		}
	}
	if minimal, adaptive := sums[topology.DeterministicRouting], sums[topology.AdaptiveRouting]; minimal < 8.5 || minimal > 9.3 || adaptive < 2.5*minimal {
		t.Errorf("minimal routes carry %.1f links' worth, want 9; adaptive ones %.1f, want at least 2.5 times as much", minimal, adaptive)
	}
}

// Two hosts of a switch whose targets have the same digit share a cable up by D-mod-K. Sprayed over
// all cables each gets its link, and messages stay in order, with any interface and buffer.
func TestSprayedFlowsUseAllCables(t *testing.T) {
	target := []int{8, 12, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} // others put to themselves
	for routing, want := range map[topology.Routing]float64{topology.DeterministicRouting: 50, topology.SprayRouting: 100} {
		g, err := topology.NewFatTree(2, 4, nil)
		generated(t, g, err)
		g.Routing = routing
		for i, rate := range hwtest.MeasurePutRates(t, hwtest.Fabric(g), target, 100*unit.Millisecond)[:2] {
			if got := rate / 1e6; got < 0.95*want || got > 1.01*want {
				t.Errorf("routing %d: host %d puts %.1f MB/s, want %.0f", routing, i, got, want)
			}
		}
		for _, buffer := range []int{1, 12_288, 0} {
			for _, m := range []*model.Machine{hwtest.Fabric(g), hwtest.RDMAFabric(g)} {
				m.Network.(*model.Fabric).Buffer = buffer
				sendAtRandom(t, "sprayed", m, g.Hosts, uint64(buffer))
			}
		}
	}
}

// With one queue for all, congestion spreads: hosts 1 to 3 of a switch fill the buffers on the way
// to host 4 and stop host 0, which wants to go elsewhere. With a queue for each sender it gets what
// is left of the shared cable.
func TestCongestionSpreads(t *testing.T) {
	edges := []topology.Edge{{A: 8, B: 9, Class: topology.TrunkClass}}
	for h := range 8 {
		edges = append(edges, topology.Edge{A: h, B: 8 + h/4})
	}
	g, err := topology.NewEdges(8, 2, edges)
	generated(t, g, err)
	target := []int{5, 4, 4, 4, 4, 5, 6, 7}
	victim := map[model.Arbitration]float64{}
	for _, by := range []model.Arbitration{model.FairArbitration, model.FIFOArbitration} {
		m := hwtest.Fabric(g)
		f := m.Network.(*model.Fabric)
		f.Arbitration = by
		f.Links[topology.TrunkClass].Width = 8 // 400 MB/s, so that only the cable of host 4 is short
		victim[by] = hwtest.MeasurePutRates(t, m, target, 100*unit.Millisecond)[0] / 100e6
	}
	if fair, fifo := victim[model.FairArbitration], victim[model.FIFOArbitration]; fair < 0.97 || fifo > 0.6 {
		t.Errorf("host 0 gets %.2f of its link with a queue for each sender, want 1; %.2f with one for all, want at most 0.6", fair, fifo)
	}
}

// Half the chunk changes rates by less than 2 %.
func TestChunkIsFineEnough(t *testing.T) {
	g, err := topology.NewFatTree(2, 4, []int{2})
	generated(t, g, err)
	target := rand.New(rand.NewPCG(3, 0)).Perm(g.Hosts)
	var rates [2][]float64
	for i := range rates {
		m := hwtest.Fabric(g)
		m.Network.(*model.Fabric).Chunk >>= i
		rates[i] = hwtest.MeasurePutRates(t, m, target, 200*unit.Millisecond)
	}
	for h := range target {
		if a, b := rates[0][h], rates[1][h]; a < 0.98*b || a > 1.02*b {
			t.Errorf("host %d puts %.2f MB/s in chunks of 4 KiB, %.2f in chunks of 2 KiB", h, a/1e6, b/1e6)
		}
	}
}

// Half the chunk changes an exchange of 256 KiB among ranks of four nodes, and of one, by less than
// 2 % on each platform of the catalogue, as its file says.
func TestChunksOfTheCatalogue(t *testing.T) {
	for _, name := range platform.Names() {
		m := hwtest.LoadPlatform(t, name).Machine
		if _, isFabric := m.Network.(*model.Fabric); !isFabric {
			continue
		}
		for _, inside := range []bool{false, true} {
			took := func(divisor int) unit.Time {
				x, nodes, nodeCount := *m, *m.Nodes, 4
				network := &x.Network
				if x.Nodes = &nodes; inside {
					network, nodeCount = &nodes.Inside, 1
				}
				f, isFabric := (*network).(*model.Fabric)
				if !isFabric || f.Chunk/divisor%f.Packet.Payload != 0 {
					return 0
				}
				half := *f
				half.Chunk /= divisor
				*network = &half
				return exchangeTime(t, &x, nodeCount, 256<<10)
			}
			if whole, half := took(1), took(2); float64(half) < 0.98*float64(whole) || float64(half) > 1.02*float64(whole) {
				t.Errorf("%s, inside a node %v: the exchange takes %v, with half the chunk %v", name, inside, whole, half)
			}
		}
	}
}

// exchangeTime returns how long two ranks of each node take to send bytes to all others.
func exchangeTime(t *testing.T, m *model.Machine, nodes, bytes int) (last unit.Time) {
	per := min(2, m.Nodes.Ranks)
	data := make([]byte, bytes)
	rankOf := func(i int) int { return i/per*m.Nodes.Ranks + i%per }
	hwtest.Run(t, m, max(2, (nodes-1)*m.Nodes.Ranks+per), func(p device.Port) {
		i := p.Rank()/m.Nodes.Ranks*per + p.Rank()%m.Nodes.Ranks
		if p.Rank()%m.Nodes.Ranks >= per {
			return
		}
		for k := 1; k < nodes*per; k++ {
			p.Send(rankOf((i+k)%(nodes*per)), &device.Packet{Data: data})
		}
		for range nodes*per - 1 {
			p.Recv(true)
		}
		last = max(last, p.Now())
	})
	return last
}
