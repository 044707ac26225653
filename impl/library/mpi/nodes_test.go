package mpi_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// inNodes is a world that reports that its ranks are in nodes.
type inNodes struct {
	device.World
	node func(rank int) int
}

func (w inNodes) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(portInNode{p, w.node}) })
}

type portInNode struct {
	device.Port
	node func(rank int) int
}

func (p portInNode) Tier(rank int) model.Tier {
	if p.node(rank) == p.node(p.Rank()) {
		return model.IntraNode
	}
	return model.InterNode
}

// layouts are placements of ranks on nodes: in blocks, round-robin, the first rank alone, and only
// two together. For algorithms of one level a single placement suffices.
func layouts(a *collective.Algorithm, ranks int) []func(rank int) int {
	if !a.NeedsNodes {
		return []func(int) int{func(int) int { return 0 }}
	}
	return []func(int) int{
		func(r int) int { return r / 3 },
		func(r int) int { return r % 3 },
		func(r int) int { return (r + 3) / 4 },
		func(r int) int { return r % max(ranks-1, 1) },
	}
}

// twoTiers returns a machine that is LogGP with g = G = 0 within nodes and LogGP with other
// parameters between them: hypernodes without copies, with ports and rings that are never busy.
func twoTiers(t *testing.T, ranks int) (device.World, mpi.Options, collective.Machine) {
	free := unit.Rate(math.Inf(1))
	of := func(l, send, recv unit.Time) model.MemoryAccess {
		return model.MemoryAccess{Latency: l, Send: model.Channel{Start: send, Bandwidth: free}, Receive: recv}
	}
	h := &model.Hypernodes{Sizes: []int{3, 1, 4, 4}, ProcessorsPerBlock: 1, Port: free, Rings: 1, Ring: free, Chunk: 1 << 20}
	h.Access[model.IntraNode], h.Access[model.InterNode] = of(7*us, 3*us, 2*us), of(70*us, 30*us, 20*us)
	m := &model.Machine{Name: "two tiers", Ranks: model.RankLimits{Default: 12, Min: 1, Max: 12}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: free}}, Network: h}
	_, o := syntheticOf(t, ranks, free)
	near := model.LowLevelParameters(m, o.Library, model.Path{Tier: model.IntraNode})
	cost := collective.Machine{Parameters: model.LowLevelParameters(m, o.Library, m.PathBetweenRanks(12, 0, 11)), IntraNode: &near}
	return build(t, hw.Config{Machine: m, Library: o.Library, Ranks: ranks, Seed: 1}), o, cost
}

// On a machine that is LogGP on both tiers, every algorithm takes the time that the model predicts,
// to the picosecond, for any order of ranks.
func TestCollectivesOnTwoTiers(t *testing.T) {
	tried := 0
	for _, a := range extendedAlgorithms() {
		for _, ranks := range []int{4, 7, 8, 12} {
			for _, stride := range []int{1, 5} { // 5 is coprime to all numbers of ranks
				w, o, m := twoTiers(t, ranks)
				names := make([]int, ranks)
				for r := range names {
					names[stride*r%ranks] = []int{0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3}[r]
				}
				j := jobOf(a, ranks, func(r int) int { return names[r] })
				if !a.Serves(j) {
					continue
				}
				if a.NeedsNodes {
					tried++
				}
				if got, want := lasts(t, w, o, a, j, stride), m.Cost(a, j).LastEnd; got != want {
					t.Errorf("%v on %d ranks took %v, the model says %v", a, ranks, got, want)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no algorithm of two levels was tried")
	}
}

// On a Convex of three hypernodes with ranks placed round-robin, two levels beat an algorithm of
// one level. A tree over 15 ranks crosses a ring at each step, because no power of two is a
// multiple of three.
func TestTwoLevelsOnConvex(t *testing.T) {
	const nodes, per = 3, 5
	m := scattered(nodes * per)
	m.Network.(*model.Hypernodes).Sizes = []int{per, per, per}
	took := func(a *collective.Algorithm) unit.Time {
		l := *load("convex").Libraries[0]
		w := virtual(t, load("convex"), m, &l, nodes*per, 0)
		ends := make([]unit.Time, nodes*per)
		holds(t, mpi.Run(w, mpi.Options{Engine: carry, Library: &l}, func(all *mpi.Comm) error {
			c := all.Split(0, all.Rank()%per) // 0 5 10 1 6 11 …
			if c.Rank()%nodes != all.Rank()/per {
				return fmt.Errorf("rank %d of the job is rank %d", all.Rank(), c.Rank())
			}
			c.SetCollectiveRules(forced(a))
			if err := works(c, a, 2, 0); err != nil {
				return err
			}
			abreast(all, unit.Second)
			err := works(c, a, 2, 0)
			ends[all.Rank()] = all.Wtime() - unit.Second
			return err
		}))
		return slices.Max(ends)
	}
	for o, flat := range map[collective.Operation]string{
		collective.Bcast: "binomial", collective.Reduce: "binomial", collective.Allreduce: "recursive-doubling", collective.Barrier: "dissemination",
		collective.Gather: "binomial", collective.Scatter: "binomial", collective.Allgather: "bruck",
	} {
		if one, two := took(collective.AlgorithmNamed(o, flat)), took(collective.AlgorithmNamed(o, "two-level")); two >= one {
			t.Errorf("%v: %s takes %v, two-level %v", o, flat, one, two)
		} else {
			t.Logf("%v: %s takes %v, two-level %v", o, flat, one, two)
		}
	}
}

// Programs use the rules for collective operations in the Convex's platform file. On twelve ranks
// placed at random on its hypernodes, short data takes at most slightly longer than with the usual
// rules, and mostly less.
func TestTableOfConvex(t *testing.T) {
	ranks := []int{9, 2, 14, 1, 5, 8, 12, 0, 11, 4, 10, 3}
	took := func(o collective.Operation, rules []collective.Rule) unit.Time {
		l := *load("convex").Libraries[0]
		ends := make([]unit.Time, 16)
		holds(t, mpi.Run(on("convex")(t, &l, 16), mpi.Options{Engine: carry, Library: &l, Tuning: rules}, func(all *mpi.Comm) error {
			c := all.Create(all.Group().Include(ranks))
			if c == nil {
				return nil
			}
			a := collective.AlgorithmNamed(o, "two-level") // its reduction, if any, commutes
			if err := works(c, a, 2, 3); err != nil {
				return err
			}
			abreast(c, unit.Second)
			err := works(c, a, 2, 3)
			ends[all.Rank()] = all.Wtime() - unit.Second
			return err
		}))
		return slices.Max(ends)
	}
	faster := 0
	operations := []collective.Operation{collective.Barrier, collective.Bcast, collective.Scatter, collective.Gather, collective.Allgather, collective.Reduce, collective.Allreduce}
	for _, o := range operations {
		own, usual := took(o, nil), took(o, collective.Defaults)
		if own > usual+usual/10 {
			t.Errorf("%v takes %v by the table, and %v by the usual one", o, own, usual)
		}
		if own < usual {
			faster++
		}
	}
	if faster < 5 {
		t.Errorf("the table is faster for %d of %d operations", faster, len(operations))
	}
}

// crossing is a port in a node that counts long packets to other nodes.
type crossing struct {
	portInNode
	bytes int64
}

func (p *crossing) Send(dst int, q *device.Packet) {
	if len(q.Data) >= 1000 && p.Tier(dst) == model.InterNode {
		p.bytes += int64(len(q.Data))
	}
	p.Port.Send(dst, q)
}

// crossings is a world in nodes that keeps the ports of the ranks in this process.
type crossings struct {
	inNodes
	ports []*crossing
}

func (w *crossings) Run(program func(device.Port) error) error { return w.World.Run(w.with(program)) }

// with returns the program with such ports.
func (w *crossings) with(program func(device.Port) error) func(device.Port) error {
	return func(p device.Port) error {
		w.ports[p.Rank()] = &crossing{portInNode: portInNode{p, w.node}}
		return program(w.ports[p.Rank()])
	}
}

// checkedCrossings is a crossings whose ranks are processes.
type checkedCrossings struct{ *crossings }

func (w checkedCrossings) RunChecked(program func(device.Port) error, check func(details [][]byte) error) error {
	return w.World.(device.CheckedWorld).RunChecked(w.with(program), check)
}

// If a library's rules prefer two levels for ranks in several nodes, a broadcast selects them, also
// over real transports, and each byte goes to each other node once. The library does not use two
// levels if all ranks share a node, or if none do.
func TestBroadcastChoosesTwoLevels(t *testing.T) {
	const ranks, bytes = 7, 10_000
	l, err := load("start-x").Library("mpi-start")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []enginetest.World{{Name: "loop", Open: places[0].Open}, enginetest.ProcessWorlds[0]} {
		if p.RanksAreProcesses && enginetest.RaceDetectorOn {
			continue
		}
		for name, c := range map[string]struct {
			node  func(rank int) int
			nodes int
		}{
			"one node": {func(int) int { return 0 }, 1}, "one after another": {func(r int) int { return r / 3 }, 3}, "in turn": {func(r int) int { return r % 3 }, 3}, "alone": {func(r int) int { return r }, ranks},
		} {
			t.Run(p.Name+"/"+name, func(t *testing.T) {
				l := *l
				l.Engine = packetsAlone
				w := &crossings{inNodes{p.Open(t, &l, ranks), c.node}, make([]*crossing, ranks)}
				var of device.World = w
				if p.RanksAreProcesses {
					of = checkedCrossings{w}
				}
				holds(t, mpi.Run(of, mpi.Options{Engine: carry, Library: &l}, func(comm *mpi.Comm) error {
					b := make([]byte, bytes)
					for root := range ranks {
						b[0], b[bytes-1] = 0, 0
						if comm.Rank() == root {
							b[0], b[bytes-1] = byte(root+1), byte(root+1)
						}
						mpi.Bcast(comm, b, root)
						if want := byte(root + 1); b[0] != want || b[bytes-1] != want {
							return fmt.Errorf("rank %d has not got the data of rank %d", comm.Rank(), root)
						}
					}
					sum := []int64{0}
					mpi.Allreduce(comm, []int64{w.ports[comm.Rank()].bytes}, sum, mpi.Sum)
					if want := int64(ranks * (c.nodes - 1) * bytes); sum[0] != want {
						return fmt.Errorf("%d bytes went to other nodes, want %d", sum[0], want)
					}
					return nil
				}))
			})
		}
	}
}

// If the launcher has told the ranks who shares a node, they do not exchange it, even on smaller
// communicators, and two-level algorithms work.
func TestKnownNodesNeedNoExchange(t *testing.T) {
	names := []int{0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3}
	two := collective.AlgorithmNamed(collective.Bcast, "two-level")
	took := func(nodes *collective.Nodes, isPart bool) unit.Time {
		w, o, _ := twoTiers(t, len(names))
		o.Nodes, o.Tuning = nodes, forced(two)
		ends := make([]unit.Time, len(names))
		holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
			if isPart {
				c = c.Create(c.Group().Include([]int{11, 1, 8, 0, 5, 4}))
			}
			if c == nil {
				return nil
			}
			err := works(c, two, 2, 0)
			ends[c.Rank()] = c.Wtime()
			return err
		}))
		return slices.Max(ends)
	}
	for _, isPart := range []bool{false, true} {
		known, asked := took(collective.NewNodes(names), isPart), took(nil, isPart)
		if known >= asked {
			t.Errorf("of a part %v: with known nodes %v, without %v", isPart, known, asked)
		}
	}
}
