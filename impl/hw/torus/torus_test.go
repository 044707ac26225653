package torus

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// A route goes by the dimensions, the shorter way round, and turns between them. Package model
// counts it in another way.
func TestRoutes(t *testing.T) {
	m := &model.Machine{Network: &model.Torus{ProcessorsPerNode: 2, HopLatency: 50_000, TurnLatency: 7_000, Deliver: 100_000}}
	r := rand.New(rand.NewPCG(1, 0))
	for _, ranks := range []int{2, 3, 4, 6, 8, 10, 16, 24, 36, 54, 64, 90, 128, 250, 256, 512, 1000, 1024, 2047, 2048} {
		shape := m.Network.(*model.Torus).Shape(ranks)
		nodes := shape[0] * shape[1] * shape[2]
		n := newNetwork(m.Network.(*model.Torus), shape)
		if 2*nodes < ranks {
			t.Fatalf("%d ranks: a torus of %v has %d nodes", ranks, shape, nodes)
		}
		check := func(a, b int) {
			at, dimension, hops, turns := n.coordinates(a), -1, 0, 0
			r, flight := n.RouteBetween(a, b)
			out, step, last := n.AdvanceRoute(&r)
			for ; !last; out, step, last = n.AdvanceRoute(&r) {
				node, d, back := int(out)/outputsPerNode, int(out)%outputsPerNode/2, int(out)%outputsPerNode%2
				if n.coordinates(node) != at {
					t.Fatalf("torus %v, %d to %d: the route is at %v and takes a link of %v", shape, a, b, at, n.coordinates(node))
				}
				turn := dimension >= 0 && d != dimension
				if want := map[bool]unit.Time{false: 50_000, true: 57_000}[turn]; d < dimension || step != want {
					t.Fatalf("torus %v, %d to %d: dimension %d after %d takes %v", shape, a, b, d, dimension, step)
				}
				dimension = d
				hops++
				if turn {
					turns++
				}
				at[d] = (at[d] + 1 + back*(shape[d]-2)) % shape[d]
				if n.coordinates(int(r.node)) != at {
					t.Fatalf("torus %v, %d to %d: a link from %v leads to %v", shape, a, b, n.coordinates(node), n.coordinates(int(r.node)))
				}
			}
			if int(out) != outputsPerNode*b+ejectOutput {
				t.Fatalf("torus %v, %d to %d: the route leaves by output %d of node %d", shape, a, b, out%outputsPerNode, out/outputsPerNode)
			}
			if at != n.coordinates(b) {
				t.Fatalf("torus %v: the route from %d to %d ends at %v", shape, a, b, at)
			}
			want := 0
			for d := range 3 {
				distance := n.coordinates(a)[d] - n.coordinates(b)[d]
				want += min(max(distance, -distance), shape[d]-max(distance, -distance))
			}
			if hops != want {
				t.Fatalf("torus %v: the route from %d to %d has %d hops, want %d", shape, a, b, hops, want)
			}
			path := m.PathBetweenRanks(ranks, 2*a, 2*b)
			if path.Hops != hops || path.Turns != turns {
				t.Fatalf("torus %v, %d to %d: %d hops and %d turns, package model has %+v", shape, a, b, hops, turns, path)
			}
			if a != b {
				if want := unit.Time(100_000 + 50_000*hops + 7_000*turns); flight != want {
					t.Fatalf("torus %v: the latency from %d to %d is %v, want %v", shape, a, b, flight, want)
				}
			}
		}
		if nodes <= 64 {
			for a := range nodes {
				for b := range nodes {
					check(a, b)
				}
			}
			continue
		}
		for range 3000 {
			check(r.IntN(nodes), r.IntN(nodes))
		}
	}
}

// taken is a time for which a chunk has an output, and when it got there.
type taken struct{ reached, from, to unit.Time }

// step is the output of a switch that a chunk has taken last, or -1, and when.
type step struct {
	out int
	at  unit.Time
}

// watch is a probe that keeps what takes each output. Transfers have one chunk.
type watch struct {
	core.Probe
	net  *network
	by   map[*sim.Server][]taken
	last map[any]step
}

func (w *watch) ReportIfObserved(core.ProbeReporter, uint64) {}

func (w *watch) ServerOccupied(s *sim.Server, x any, _ model.Activity, from, long unit.Time, _ int) {
	out := -1 // an interface, or an engine
	for i := range w.net.SwitchOutputs {
		if s == &w.net.SwitchOutputs[i].Server {
			out = i % outputsPerNode
		}
	}
	if last := w.last[x]; out >= 0 {
		reached := last.at
		if out != ejectOutput {
			reached += w.net.HopLatency
		}
		if out != ejectOutput && last.out >= 0 && last.out/2 != out/2 {
			reached += w.net.Torus.TurnLatency
		}
		w.by[s] = append(w.by[s], taken{reached, from, from + long})
	}
	w.last[x] = step{out, from}
}

// A chunk takes an output when it arrives, or when the output becomes free: never before it
// arrives, never while another chunk holds the output, and it does not wait for a free one.
func TestOutputsAreTakenWhenReached(t *testing.T) {
	const seed, ranks, puts = 3, 27, 40
	to := &model.Torus{ProcessorsPerNode: 1, HopLatency: 50_000, TurnLatency: 7_001, Deliver: 100_003, Link: 130e6, Chunk: 4000,
		Send: model.Channel{Bandwidth: 100e6}, Put: model.Channel{Bandwidth: 125e6}, Get: model.Channel{Bandwidth: 50e6}}
	w := &watch{Probe: core.NullProbe, by: map[*sim.Server][]taken{}, last: map[any]step{}}
	j := core.NewJob(core.Config{Machine: &model.Machine{Name: "torus", TimerResolution: 1, Network: to}, Ranks: ranks, Probe: w})
	n := New(j, to, core.AttachedRanks{RankCount: ranks, InterfaceCount: ranks, InterfaceOf: func(rank int) int { return rank }})
	w.net = n.(*network)
	for i := range j.Ports {
		j.Ports[i].AttachNetworks(n, nil, 0, 0)
	}
	if err := j.Run(t.Context(), func(p device.Port) error {
		key := p.Memory().Expose(make([]byte, to.Chunk))
		p.Delay(unit.Microsecond) // memory is exposed
		r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
		for range puts / 4 {
			for range 4 {
				p.Memory().Put(r.IntN(ranks), key, 0, make([]byte, 1+r.IntN(to.Chunk)), device.Head{})
			}
			for range 4 {
				p.Recv(true)
			}
		}
		p.Delay(unit.Second) // memory stays exposed
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	waited := 0
	for s, all := range w.by {
		free := unit.Time(0)  // when the last has passed
		since := unit.Time(0) // from when on it is busy without a gap
		for _, x := range all {
			if x.from > free {
				since = x.from
			}
			if x.from < max(x.reached, free) || x.from > x.reached && x.reached < since {
				t.Errorf("seed %d, %p: a chunk that is there at %v takes it at %v, it is busy from %v to %v", seed, s, x.reached, x.from, since, free)
			}
			if x.from > x.reached {
				waited++
			}
			free = x.to
		}
	}
	if waited < 100 {
		t.Errorf("seed %d: %d chunks waited, which tests nothing", seed, waited)
	}
}
