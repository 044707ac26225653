package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// The emulation and the closed form of package model share only the data of the machine. If a
// single message is under way they must agree to the picosecond.

// odd returns a library with costs whose sums are all different, so that a wrong term cannot hide
// behind another.
func odd(stage bool, bounce int) *model.Library {
	l := lib()
	l.Software = [model.MaxCosts]unit.Time{1000003, 1100009, 1200007, 1300021, 1400017, 1500007, 1600033, 1700021, 1800017,
		1900009, 2000003, 2100001, 2200013, 1709, 509}
	l.Proto.LongMessages = model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: stage, BounceBufferBytes: bounce})
	l.Proto.FirstBytes = 1024
	return l
}

// pair is two ranks of a job.
type pair struct{ ranks, from, to int }

// taken has the times of a transfer: the duration of the sender's call, the time until the receiver
// has the message, and the time until the send is complete.
type taken struct{ sender, delivery, rid unit.Time }

// world returns the emulated machine.
func world(t testing.TB, m *model.Machine, l *model.Library, ranks int) device.World {
	t.Helper()
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: ranks})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// withoutMemory returns the same machine without remote memory access.
func withoutMemory(m *model.Machine) *model.Machine {
	x := *m
	x.ProcessorsCannotShareMemory = true
	return &x
}

// call makes the sender's call of a transfer. A blocking call returns the null request.
func call(c *mpi.Comm, x model.Transfer, b []byte, to int) (r mpi.Request) {
	if x.IsNonblocking {
		return [...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Irsend, c.Ibsend}[x.Mode](mpi.BufferOf(b), to, 7)
	}
	[...]func(mpi.Buffer, int, int){c.Send, c.Ssend, c.Rsend, c.Bsend}[x.Mode](mpi.BufferOf(b), to, 7)
	return r
}

// transfer returns a program that makes one transfer, long after the start of the job.
func transfer(x model.Transfer, p pair, took *taken) func(*mpi.Comm) error {
	var start unit.Time
	return func(c *mpi.Comm) error {
		b := make([]byte, x.Bytes)
		switch c.Rank() {
		case p.from:
			c.AttachBuffer(make([]byte, x.Bytes+mpi.BsendOverhead))
			c.Compute(unit.Second)
			start = c.Wtime()
			r := call(c, x, b, p.to)
			took.sender = c.Wtime() - start
			r.Wait()
			c.DetachBuffer()
			took.rid = c.Wtime() - start
		case p.to:
			r := mpi.Irecv(c, b, p.from, 7)
			r.Wait()
			took.delivery = c.Wtime() - start
		}
		return nil
	}
}

// emulate runs one transfer.
func emulate(t testing.TB, x model.Transfer, p pair, protocol string) (took taken) {
	t.Helper()
	err := mpi.Run(world(t, x.Machine, x.Library, p.ranks), mpi.Options{Engine: carry, Library: x.Library, Protocol: protocol}, transfer(x, p, &took))
	if err != nil {
		t.Fatal(err)
	}
	return took
}

// exact compares emulation and closed form, and prints the terms if they differ.
func exact(t *testing.T, x model.Transfer, p pair) {
	t.Helper()
	got, want := emulate(t, x, p, x.Protocol.Name), x.Cost()
	if got.sender != want.Sender.Sum() {
		t.Errorf("T_s of %s: emulated %v, closed form %v:%s", describeTransfer(x, p), got.sender, want.Sender.Sum(), terms(want.Sender))
	}
	if got.delivery != want.Delivery.Sum() {
		t.Errorf("T_s-r of %s: emulated %v, closed form %v:%s", describeTransfer(x, p), got.delivery, want.Delivery.Sum(), terms(want.Delivery))
	}
	if end := x.Timeline().Ranks[model.SenderSide].End(); got.rid != end {
		t.Errorf("the sender of %s: emulated it ends at %v, in the time line at %v", describeTransfer(x, p), got.rid, end)
	}
}

func describeTransfer(x model.Transfer, p pair) string {
	return fmt.Sprintf("%v %s, %d B, nonblocking %v, stage %v, bounce %d, ranks %d to %d of %d on %s", x.Mode, x.Protocol.Name, x.Bytes,
		x.IsNonblocking, x.Library.Proto.LongMessages[0].CopiesToAccessibleMemory, x.Library.Proto.LongMessages[0].BounceBufferBytes, p.from, p.to, p.ranks, x.Machine.Name)
}

func terms(sum model.Terms) (s string) {
	for _, x := range sum {
		s += fmt.Sprintf("\n\t%-4s %-8v %-20s %-40v %v", x.Step, x.Side, x.Name, x, x.Time)
	}
	return s
}

// eachWay runs a test for every protocol and mode in which k bytes can travel between two ranks.
func eachWay(t *testing.T, m *model.Machine, l *model.Library, k int, p pair, test func(*testing.T, model.Transfer, pair)) {
	t.Helper()
	x := model.Transfer{Machine: m, Library: l, Bytes: k, Path: m.PathBetweenRanks(p.ranks, p.from, p.to)}
	for _, x.Protocol = range model.Protocols {
		for x.Mode = range model.NumModes {
			for _, x.IsNonblocking = range []bool{false, true} {
				if x.Protocol.IsSynchronous() || x.Mode != model.SynchronousMode {
					test(t, x, p)
				}
			}
		}
	}
}

// copyingLogGP returns a LogGP machine whose processor takes time to copy.
func copyingLogGP(g model.LogGP) *model.Machine {
	return &model.Machine{Name: "loggp", Ranks: model.RankLimits{Min: 1, Max: 1 << 20}, TimerResolution: 1, Network: &g,
		Processor: model.Processor{Copy: model.Channel{Start: 30011, Bandwidth: 171e6}}}
}

// edges are sizes around the limits of the torus: no data, bounce buffer and first part, chunk, and
// chunk with header.
var edges = []int{0, 1, 2, 16, 1023, 1024, 1025, 4055, 4056, 4057, 4095, 4096, 4097, 8191, 8192, 8193, 12345, 65536, 1<<20 - 1, 1 << 20}

// rounded are sizes with every remainder modulo chunks of seven bytes. Three chunks take a whole
// number of picoseconds.
var rounded = []int{0, 1, 6, 7, 8, 14, 21, 28, 35, 1000, 1001, 1008, 1015, 1017}

// TestExactTorus compares every protocol in every mode at every size between two ranks, and all
// other parameters one at a time.
func TestExactTorus(t *testing.T) {
	m := machine()
	m.Processor.Copy.Start = 30011
	for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
		for _, k := range edges {
			eachWay(t, m, l, k, pair{2, 0, 1}, exact)
		}
	}
	// 64 ranks are 32 nodes, a torus of 4 × 4 × 2.
	for _, p := range []pair{{64, 2, 3}, {64, 0, 2}, {64, 1, 7}, {64, 63, 0}, {64, 5, 42}, {64, 21, 63}, {3, 2, 0}} {
		for _, l := range []*model.Library{odd(true, 0), odd(false, 1024)} {
			for _, k := range []int{0, 1000, 5000} {
				eachWay(t, m, l, k, p, exact)
			}
		}
	}
}

// shared returns a machine of hypernodes with costs whose sums are all different.
func shared(sizes ...int) *model.Machine {
	h := &model.Hypernodes{Sizes: sizes, ProcessorsPerBlock: 2, Port: 260e6, Rings: 4, Ring: 610e6, Hop: 51_001, Chunk: 1024, Header: 41, Access: [model.NumTiers]model.MemoryAccess{
		model.IntraNode: {Latency: 310_003, Send: model.Channel{Start: 170_021, Bandwidth: 93e6}, SettleTime: 450_007, Receive: 270_031, FetchPerByte: 5123.4,
			Put: model.Channel{Start: 190_027, Bandwidth: 89e6}, Get: model.Channel{Start: 130_043, Bandwidth: 117e6}, CounterTime: us},
		model.InterNode: {Latency: 710_009, Send: model.Channel{Start: 4_100_041, Bandwidth: 61e6}, SettleTime: 22_000_051, Receive: 530_053, FetchPerByte: 22_654.3,
			Put: model.Channel{Start: 4_300_057, Bandwidth: 67e6}, Get: model.Channel{Start: 2_200_069, Bandwidth: 31e6}, CounterTime: us},
	}}
	return &model.Machine{Name: fmt.Sprint("hypernodes ", sizes), Ranks: model.RankLimits{Min: 1, Max: h.CountProcessors()}, TimerResolution: 1, Network: h,
		Processor: model.Processor{Copy: model.Channel{Start: 30011, Bandwidth: 171e6}}}
}

// TestExactHypernodes compares every protocol in every mode within a hypernode and between two, at
// all sizes around a limit. It does so also if ports and rings are as fast as processors, with
// chunks so small that rounding shows, and if they are slower.
func TestExactHypernodes(t *testing.T) {
	m, tight, slow := shared(2, 3, 3), shared(2, 3, 3), shared(2, 3, 3)
	const rate = 7e12 / 56700.6 // as in TestExactLinks
	h := tight.Network.(*model.Hypernodes)
	h.Port, h.Ring, h.Chunk = rate, rate, 7
	for i := range h.Access {
		a := &h.Access[i]
		a.Send.Bandwidth, a.Put.Bandwidth, a.Get.Bandwidth = rate, rate, rate
	}
	slow.Network.(*model.Hypernodes).Port, slow.Network.(*model.Hypernodes).Ring = 19e6, 11e6
	for _, p := range []pair{{8, 0, 1}, {8, 0, 2}} {
		for _, k := range rounded {
			eachWay(t, tight, odd(true, 0), k, p, exact)
		}
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 1, 2, 16, 982, 983, 984, 1023, 1024, 1025, 2006, 2007, 2008, 2047, 2048, 2049, 12345, 65536} {
				eachWay(t, m, l, k, p, exact)
			}
			for _, k := range []int{0, 100, 1025, 4096, 10000} {
				eachWay(t, slow, l, k, p, exact)
			}
		}
	}
	for _, p := range []pair{{8, 4, 2}, {8, 7, 1}, {5, 3, 0}} {
		for _, l := range []*model.Library{odd(true, 0), odd(false, 1024)} {
			for _, k := range []int{0, 1000, 5000} {
				eachWay(t, m, l, k, p, exact)
			}
		}
	}
}

// cores returns a node of cores that share memory, with costs whose sums are all different. A core
// is faster than memory only between sockets.
func cores() *model.Machine {
	n := &model.NUMA{Sockets: 2, Domains: 2, Clusters: 2, Cores: 2, Caches: []model.CacheCopy{{UpTo: 1024, Bandwidth: 407e6}, {UpTo: 4096, Bandwidth: 251e6}},
		Memory: 409e6, Link: 83e6, Header: 41, Send: model.Channel{Start: 170_021, Bandwidth: 93e6}, Receive: 270_031,
		Put: model.Channel{Start: 190_027, Bandwidth: 89e6}, Get: model.Channel{Start: 130_043, Bandwidth: 217e6}, Page: model.PageCost{Size: 4096, Time: 53_003}, Counter: us}
	for d := range n.Distances {
		n.Distances[d] = model.CoreAccess{Latency: 310_003 + unit.Time(d)*101_009, Fetch: 123.4 + unit.PerByte(d)*1013.7}
	}
	n.Distances[model.SameSocket].Bandwidth = 91e6
	return &model.Machine{Name: "numa", Ranks: model.RankLimits{Min: 1, Max: n.Capacity()}, TimerResolution: 1, Network: n,
		Processor: model.Processor{Copy: model.Channel{Start: 30011, Bandwidth: 171e6}}}
}

// TestExactNUMA compares every protocol in every mode at every distance, at all sizes around a
// limit, in both orders of ranks, without caches, and if memory is slower than a core.
func TestExactNUMA(t *testing.T) {
	m, plain, slow := cores(), cores(), cores()
	plain.Network.(*model.NUMA).Caches, plain.Network.(*model.NUMA).Page = nil, model.PageCost{}
	slow.Network.(*model.NUMA).Memory, slow.Network.(*model.NUMA).Order = 61e6, model.RoundRobinOrder
	for _, p := range []pair{{16, 0, 1}, {16, 3, 0}, {16, 1, 6}, {16, 15, 7}, {3, 2, 0}} {
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 1, 983, 984, 1024, 1025, 4055, 4056, 4096, 4097, 8192, 12345} {
				eachWay(t, m, l, k, p, exact)
			}
			for _, k := range []int{0, 1, 1025, 5000} {
				eachWay(t, plain, l, k, p, exact)
				eachWay(t, slow, l, k, p, exact)
			}
		}
	}
}

// tree returns a fat tree with costs whose sums are all different.
func tree(up ...int) *model.Machine {
	f := &model.FatTree{Arity: 4, UpLinks: up, HopLatency: 151_003, Deliver: 310_019, Link: 151e6, Header: 41, InterfaceLock: 900_011, Packet: model.PacketSize{Header: 8, Payload: 88},
		Send:    model.PIO{Start: 333_023, Word: model.AccessWidth{Size: 8, Time: 133_007}, Burst: model.AccessWidth{Size: 64, Time: 66_041}},
		Receive: model.PIO{Start: 233_029, Word: model.AccessWidth{Size: 8, Time: 1_383_043}, Burst: model.AccessWidth{Size: 64, Time: 3_267_049}},
		Chunk:   1024, Put: model.Channel{Start: 2_000_057, Bandwidth: 61e6}, Get: model.Channel{Start: 2_300_069, Bandwidth: 53e6}}
	return &model.Machine{Name: "fattree", Ranks: model.RankLimits{Min: 1, Max: f.Capacity()}, TimerResolution: 1, Network: f,
		Processor: model.Processor{Copy: model.Channel{Start: 30011, Bandwidth: 171e6}}}
}

// TestExactFatTree compares every protocol in every mode below one switch and across three levels,
// at all sizes around a limit, with and without interfaces that access memory, and if links are
// slower than their sources.
func TestExactFatTree(t *testing.T) {
	m, plain, slow := tree(4, 4), tree(2, 2), tree(4, 4)
	f := plain.Network.(*model.FatTree)
	f.Put, f.Get, f.Header, f.Send.Burst = model.Channel{}, model.Channel{}, 0, model.AccessWidth{}
	slow.Network.(*model.FatTree).Link = 11e6
	for _, p := range []pair{{64, 0, 1}, {64, 5, 62}, {17, 16, 3}} {
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 1, 47, 48, 87, 88, 89, 135, 136, 176, 983, 1024, 1025, 2048, 12345} {
				eachWay(t, m, l, k, p, exact)
			}
			for _, k := range []int{0, 88, 1000, 5000} {
				eachWay(t, plain, l, k, p, exact)
				eachWay(t, slow, l, k, p, exact)
			}
		}
	}
}

// fabric returns a graph with costs whose sums are all different, and with trunks that are the
// slowest links.
func fabric(t testing.TB, g *topology.Graph, err error) *model.Machine {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	f := &model.Fabric{Graph: g, SwitchLatency: 151_003, Buffer: 8192, Deliver: 310_019, Header: 41, Packet: model.PacketSize{Header: 26, Payload: 256}, Chunk: 1024,
		Send: model.Channel{Start: 333_023, Bandwidth: 733e6}, Receive: 233_029, Put: 2_000_057, Get: 2_300_069, RDMA: true}
	for c := range f.Links {
		f.Links[c] = model.FabricLink{Bandwidth: unit.Rate(173e6 - 31e6*float64(c)), Width: 1 + c%2, Latency: 51_001 + unit.Time(c)*7_013}
	}
	return &model.Machine{Name: g.Kind, Ranks: model.RankLimits{Min: 1, Max: g.Hosts}, TimerResolution: 1, Network: f,
		Processor: model.Processor{Copy: model.Channel{Start: 30011, Bandwidth: 171e6}}}
}

// TestExactFabric compares every protocol in every mode on graphs of each kind, at all sizes around
// a limit, with and without interfaces that access memory.
func TestExactFabric(t *testing.T) {
	tree, err := topology.NewFatTree(3, 4, []int{2})
	treeMachine := fabric(t, tree, err)
	plain := *treeMachine
	f := *treeMachine.Network.(*model.Fabric)
	f.RDMA, f.Header, f.Buffer, f.Arbitration = false, 0, 0, model.FIFOArbitration
	plain.Network = &f
	mesh, err := topology.NewMesh(5)
	meshMachine := fabric(t, mesh, err)
	dragonfly, err := topology.NewDragonfly(5, 2, 2, 2)
	for _, c := range []struct {
		m *model.Machine
		p pair
	}{{treeMachine, pair{64, 5, 62}}, {treeMachine, pair{17, 16, 3}}, {&plain, pair{64, 0, 1}}, {meshMachine, pair{5, 4, 1}}, {fabric(t, dragonfly, err), pair{20, 1, 18}}} {
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 1, 215, 216, 983, 984, 1024, 1025, 2048, 12345} {
				eachWay(t, c.m, l, k, c.p, exact)
			}
		}
	}
}

// TestExactNIC compares every protocol in every mode with RDMA interfaces. Their buses are faster
// than links, slower, and faster for whole chunks only. It uses connections, and datagrams that
// processors create faster or slower than links carry them.
func TestExactNIC(t *testing.T) {
	g, err := topology.NewFatTree(3, 4, []int{2})
	for _, bus := range []unit.Rate{611e6, 97e6, 135e6} {
		for _, datagrams := range []*model.DatagramCosts{nil, {Send: model.Channel{Start: 120_017, Bandwidth: 1933e6}, Receive: model.Channel{Start: 90_023, Bandwidth: 1531e6}},
			{Send: model.Channel{Start: 3_120_017, Bandwidth: 533e6}, Receive: model.Channel{Start: 90_023, Bandwidth: 1531e6}}} {
			m := fabric(t, g, err)
			f := m.Network.(*model.Fabric)
			f.Send, f.Receive, f.Put, f.Get, f.RDMA = model.Channel{}, 0, 0, 0, false
			f.NIC = &model.NIC{Doorbell: 71_003, Inline: model.InlineData{Size: 141, Bandwidth: 1733e6}, Bus: model.Bus{Latency: 131_009, Bandwidth: bus},
				Message: 9_007, Complete: 43_019, OneSided: datagrams == nil, Datagrams: datagrams}
			for _, k := range []int{0, 100, 101, 142, 216, 983, 984, 1025, 12345} {
				eachWay(t, m, odd(k%2 == 0, k%3*512), k, pair{64, 5, 62}, exact)
			}
		}
	}
}

// TestExactStaging compares remote accesses through host memory, with copy engines that are faster
// than the links, slower, and one of each.
func TestExactStaging(t *testing.T) {
	g, err := topology.NewFatTree(3, 4, []int{2})
	for _, rates := range [][2]unit.Rate{{911e6, 877e6}, {61e6, 877e6}, {911e6, 53e6}, {61e6, 53e6}} {
		m := fabric(t, g, err)
		f := m.Network.(*model.Fabric)
		f.Send, f.Receive, f.Put, f.Get, f.RDMA = model.Channel{}, 0, 0, 0, false
		f.NIC = &model.NIC{Doorbell: 71_003, Inline: model.InlineData{Size: 141, Bandwidth: 1733e6}, Bus: model.Bus{Latency: 131_009, Bandwidth: 611e6},
			Message: 9_007, Complete: 43_019, OneSided: true, Staging: &model.Staging{Fragment: 3 * f.Chunk, Launch: 1_300_021, Complete: 410_009, Out: rates[0], In: rates[1]}}
		for _, k := range []int{0, 100, 142, 216, f.Chunk, 3 * f.Chunk, 3*f.Chunk + 1, 12345} {
			eachWay(t, m, odd(k%2 == 0, k%3*512), k, pair{64, 5, 62}, exact)
		}
	}
}

// TestExactGrants compares messages for which the receiver grants window after window, without
// copies in between.
func TestExactGrants(t *testing.T) {
	for _, m := range []*model.Machine{machine(), withoutMemory(machine())} {
		for _, grant := range []int{1000, 5000, 1 << 20} {
			l := odd(false, 0)
			l.Proto.LongMessages = model.ForEveryTier(model.LongMessage{GrantBytes: grant})
			for _, k := range []int{0, 1, 999, 1000, 1001, 5001, 12345} {
				eachWay(t, m, l, k, pair{2, 0, 1}, exact)
			}
		}
	}
}

// TestExactStripes compares remote accesses that are striped over rails, in stripes from a part of
// a packet to whole chunks.
func TestExactStripes(t *testing.T) {
	g, err := topology.NewRails(3, 2, 4, []int{2})
	m := fabric(t, g, err)
	f := m.Network.(*model.Fabric)
	f.Send, f.Receive, f.Put, f.Get, f.RDMA = model.Channel{}, 0, 0, 0, false
	f.NIC = &model.NIC{Doorbell: 71_003, Inline: model.InlineData{Size: 141, Bandwidth: 1733e6}, Bus: model.Bus{Latency: 131_009, Bandwidth: 97e6},
		Message: 9_007, Complete: 43_019, OneSided: true, StripeFrom: 250}
	m.Nodes = &model.Nodes{Ranks: 4, Interfaces: 3, Inside: shared(4).Network}
	m.Ranks.Max = 64
	for _, k := range []int{0, 249, 250, 256, 257, 512, 513, 768, 769, 3072, 3073, 12345} {
		eachWay(t, m, odd(k%2 == 0, k%3*512), k, pair{64, 5, 46}, exact)
	}
}

// TestExactCopy compares each protocol if a rule makes the sender copy the data into the first
// packet.
func TestExactCopy(t *testing.T) {
	g, err := topology.NewFatTree(3, 4, []int{2})
	m := fabric(t, g, err)
	l := odd(true, 0)
	l.Proto.Rules = nil
	for mode := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: mode, MaxBytes: 99, Protocol: "TA"}, model.ProtocolRule{Mode: mode, MaxBytes: 2000, Protocol: "TA", CopyFirst: true}, model.ProtocolRule{Mode: mode, MaxBytes: -1, Protocol: "RTA"})
	}
	for _, k := range []int{0, 99, 100, 1500, 2000, 2001} {
		eachWay(t, m, l, k, pair{64, 5, 62}, exact)
		x := model.Transfer{Machine: m, Library: l, Bytes: k, Path: m.PathBetweenRanks(64, 5, 62)}
		isCopied := false
		for _, term := range x.Cost().Sender {
			isCopied = isCopied || term.Name == "processor.copy" && term.Step == model.KindRM && term.Side == model.SenderSide
		}
		if want := k >= 100 && k <= 2000; isCopied != want {
			t.Errorf("%d B are copied first: %v, want %v", k, isCopied, want)
		}
	}
}

// TestExactSendCompletions compares messages that the interface reads from the user's buffer while
// the sender waits for its completion. A blocking send takes at least the wire's time, unless the
// message is inline.
func TestExactSendCompletions(t *testing.T) {
	g, err := topology.NewFatTree(3, 4, []int{2})
	m := fabric(t, g, err)
	f := m.Network.(*model.Fabric)
	f.Send, f.Receive, f.Put, f.Get, f.RDMA = model.Channel{}, 0, 0, 0, false
	f.NIC = &model.NIC{Doorbell: 71_003, Inline: model.InlineData{Size: 141, Bandwidth: 1733e6}, Bus: model.Bus{Latency: 131_009, Bandwidth: 611e6}, Message: 9_007, Complete: 43_019}
	l := odd(true, 0)
	l.Proto.Rules = nil
	for mode := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: mode, MaxBytes: -1, Protocol: "T", AwaitsCompletion: true})
	}
	for _, k := range []int{0, 141 - f.Header, 142 - f.Header, f.Chunk, 12345} {
		eachWay(t, m, l, k, pair{64, 5, 62}, exact)
		x := model.Transfer{Machine: m, Library: l, Bytes: k, Path: m.PathBetweenRanks(64, 5, 62)}
		wire := x.Path.SlowestLink.Time(f.WireBytes(k))
		if waits, want := x.Cost().Sender.Sum() > wire+2*x.Path.FirstByte, f.Header+k > 141; waits != want {
			t.Errorf("a send of %d B waits for its completion: %v, want %v", k, waits, want)
		}
	}
}

// TestExactBusy compares transfers whose answer arrives before the sender's call ends: nonblocking
// and buffered sends do not notice it earlier.
func TestExactBusy(t *testing.T) {
	l := odd(true, 1024)
	for m := range model.NumModes {
		l.Software[model.SendEpilogueCost(m)] = 300*us + unit.Time(m)
	}
	for _, k := range []int{0, 1000, 5000} {
		m := machine()
		eachWay(t, m, l, k, pair{2, 0, 1}, exact)
	}
}

// TestExactLinks compares on tori whose links are not faster than their sources: equally fast, with
// chunks so small that rounding makes them wait for each other, and slower, so that every chunk
// waits.
func TestExactLinks(t *testing.T) {
	tight, slow := machine(), machine()
	n := tight.Network.(*model.Torus)
	const rate = 7e12 / 56700.6 // seven bytes take 56701, 56700 or 56701 ps in turn, and always hold a link for 56701
	n.Link, n.Send.Bandwidth, n.Put.Bandwidth, n.Get.Bandwidth, n.Chunk = rate, rate, rate, rate, 7
	slow.Network.(*model.Torus).Link = 11e6
	for _, p := range []pair{{64, 0, 62}, {64, 0, 1}} {
		for _, k := range rounded {
			eachWay(t, tight, odd(true, 0), k, p, exact)
		}
		for _, k := range []int{0, 100, 1025, 4056, 4096, 4097, 10000} {
			for _, l := range []*model.Library{odd(true, 1024), odd(true, 0)} {
				eachWay(t, slow, l, k, p, exact)
			}
		}
	}
}

// TestExactProcessor compares if processors store and prefetch data that engines could transfer,
// with a write buffer, and with memory of any speed.
func TestExactProcessor(t *testing.T) {
	for _, memory := range []unit.Rate{0, 31.3e6, 77.7e6, 131.3e6, 500e6} {
		for _, engine := range []unit.Rate{0, 93.7e6} {
			m := machine()
			n := m.Network.(*model.Torus)
			n.MemoryRate, n.WriteBuffer = memory, 131
			n.TransferEngine = model.Channel{Start: 61 * us, Bandwidth: engine} // faster from some length on
			for _, k := range []int{0, 1, 130, 131, 132, 1000, 4096, 4097, 20000} {
				eachWay(t, m, odd(true, 0), k, pair{8, 0, 7}, func(t *testing.T, x model.Transfer, p pair) { exact(t, x, p) })
			}
		}
	}
}

// TestExactLogGP compares on the LogGP machine with software costs, also with a gap for which
// messages wait.
func TestExactLogGP(t *testing.T) {
	for _, gap := range []unit.Time{4 * us, 100 * us} {
		m := copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: gap, GapPerByte: 9876.5})
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 1, 2, 1023, 1024, 1025, 100000} {
				eachWay(t, m, l, k, pair{2, 0, 1}, exact)
			}
		}
	}
}

// TestExactByMessages compares machines whose engines access remote memory by messages, with and
// without bounce buffers.
func TestExactByMessages(t *testing.T) {
	torus := machine()
	torus.Processor.Copy.Start = 30011
	loggp := copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 9876.5})
	for _, m := range []*model.Machine{withoutMemory(torus), withoutMemory(loggp)} {
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 1, 2, 1023, 1024, 1025, 5000, 100000} {
				eachWay(t, m, l, k, pair{2, 0, 1}, exact)
			}
		}
	}
}

// TestEquations compares the LogGP machine, with software that costs nothing, with equations (1) to
// (7) for random parameters.
//
// A message occupies an interface for g + (k−1)·G. The message that follows soonest on the same
// interface is RAT's FIN, (k−1)·G + L + o_s after the start of M. With g ≤ L + o_s no message waits
// for the gap, which the equations do not contain.
//
// Equations (1) to (3) are for short messages and have no G, so k = 1 for T and TA. The receiver's
// time of TA is not (3), which the source gives for both times, but that of model.CompletionTime.
// With PTAT all data goes in the second packet: the library has no first part.
func TestEquations(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	time := func(most unit.Time) unit.Time { return unit.Time(r.Int64N(int64(most) + 1)) }
	for i := range 300 {
		g := model.LogGP{L: time(100 * us), SendOverhead: time(50 * us), RecvOverhead: time(50 * us), GapPerByte: unit.PerByte(r.Float64() * 1e5)}
		g.Gap = time(g.L + g.SendOverhead)
		k := 1 + r.IntN(5000)
		params := g.Parameters()
		free := &model.Library{Name: "free", Proto: model.ProtoSettings{WindowBytes: 1 << 20}}
		m := copyingLogGP(g)
		m.Processor.Copy = model.Channel{Bandwidth: 1e30}
		for _, p := range model.Protocols {
			k := k
			if p.Steps[0].Data == model.AllData {
				k = 1
			}
			x := model.Transfer{Machine: m, Library: free, Protocol: p, Bytes: k}
			if p.IsSynchronous() {
				x.Mode = model.SynchronousMode
			}
			got := emulate(t, x, pair{2, 0, 1}, p.Name)
			if want := model.SenderTime(p, params, k); got.sender != want {
				t.Fatalf("seed %d, set %d, %+v: T_s of %s with %d bytes: emulated %v, equation %v", seed, i, g, p.Name, k, got.sender, want)
			}
			if want := model.CompletionTime(p, params, k); got.delivery != want {
				t.Fatalf("seed %d, set %d, %+v: T_s-r of %s with %d bytes: emulated %v, equation %v", seed, i, g, p.Name, k, got.delivery, want)
			}
		}
	}
}

// TestExactMessages compares low-level messages.
func TestExactMessages(t *testing.T) {
	slow := machine()
	slow.Processor.Copy.Start = 30011
	for _, m := range []*model.Machine{slow, copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 9876.5}), withoutMemory(slow),
		shared(16, 16, 32), shared(4, 60), tree(2, 4), cores()} {
		p := pair{min(64, m.Ranks.Max), 5, min(42, m.Ranks.Max-1)}
		l := odd(true, 1024)
		path := m.PathBetweenRanks(p.ranks, p.from, p.to)
		for _, k := range edges {
			for _, by := range []model.TransportMeans{model.ByPacket, model.ByGet, model.ByPut} {
				got, want := emulateMessage(t, m, l, by, k, p), messageCost(m, l, by, k, path)
				if got.sender != want.Sender.Sum() || got.delivery != want.Delivery.Sum() {
					t.Errorf("%s: %v of %d bytes: emulated %v and %v, closed form %v and %v", m.Name, by, k, got.sender, got.delivery,
						want.Sender.Sum(), want.Delivery.Sum())
				}
			}
		}
	}
}

// messageCost returns the cost of a low-level message of k bytes: that of a protocol which sends
// only this message, in calls without cost. The sender makes a packet, or accesses the other rank's
// memory. An access is delivered when its call ends.
func messageCost(m *model.Machine, lib *model.Library, by model.TransportMeans, k int, path model.Path) model.Cost {
	bare := &model.Library{}
	for _, w := range []model.CostKey{model.ProtoHandleCost, model.ProtoControlCost, model.ProtoUnpackCost} {
		bare.Software[w] = lib.Software[w]
	}
	message := model.Step{Means: by, Data: model.AllData, From: model.SenderSide}
	switch by {
	case model.ByPacket: // packing is part of the call, and the packet is not unpacked
		bare.Software[model.ProtoSendCost], bare.Software[model.ProtoUnpackCost] = lib.Software[model.ProtoControlCost], 0
	case model.ByGet:
		message.From = model.ReceiverSide
	}
	c := model.Transfer{Machine: m, Library: bare, Protocol: &model.Protocol{Steps: []model.Step{message}}, Bytes: k, Path: path}.Cost()
	if by != model.ByPacket {
		c.Delivery = c.Sender
	}
	return c
}

func emulateMessage(t *testing.T, m *model.Machine, l *model.Library, by model.TransportMeans, k int, p pair) (took taken) {
	t.Helper()
	w := world(t, m, l, p.ranks)
	var start unit.Time
	var key device.Key
	err := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		b := make([]byte, k)
		switch c.Rank() {
		case p.from:
			c.Compute(unit.Second)
			start = c.Wtime()
			switch by {
			case model.ByPacket:
				c.LowLevelMessages().Send(b, p.to)
			case model.ByGet:
				c.LowLevelMessages().Get(b, p.to, key)
			case model.ByPut:
				c.LowLevelMessages().Put(b, p.to, key)
			}
			took.sender = c.Wtime() - start
			if by != model.ByPacket {
				took.delivery = took.sender
			}
			if !m.HasRemoteMemory() && by != model.ByPacket {
				mpi.Send[byte](c, nil, p.to, 7)
			}
		case p.to:
			if by != model.ByPacket {
				key = c.LowLevelMessages().Expose(b)
				if !m.HasRemoteMemory() {
					mpi.Recv[byte](c, nil, p.from, 7) // its progress answers the message
				}
				return nil
			}
			c.LowLevelMessages().Recv(b)
			took.delivery = c.Wtime() - start
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return took
}

// The library and the models each have a table of protocols, as two independent derivations. Both
// must state the same properties of a protocol.
func TestProtocolTablesAgree(t *testing.T) {
	if len(proto.Protocols) != len(model.Protocols) {
		t.Fatalf("%d protocols in the library, %d in the models", len(proto.Protocols), len(model.Protocols))
	}
	for i, p := range proto.Protocols {
		m := model.Protocols[i]
		if p.Name != m.Name || p.Eager != m.IsEager() || p.Synchronous != m.IsSynchronous() || p.UsesRemoteMemory != m.UsesRemoteMemory() {
			t.Errorf("%s is eager %v, synchronous %v, remote %v in the library; %s %v, %v, %v in the models", p.Name, p.Eager, p.Synchronous, p.UsesRemoteMemory,
				m.Name, m.IsEager(), m.IsSynchronous(), m.UsesRemoteMemory())
		}
	}
}

// nodesOf returns a machine of nodes with one network inside and another between them. Its name,
// for errors, contains both.
func nodesOf(m *model.Machine, ranks, interfaces int, inside model.Network) *model.Machine {
	x := *m
	x.Nodes = &model.Nodes{Ranks: ranks, Interfaces: interfaces, Inside: inside}
	x.Name = fmt.Sprintf("%s of nodes of %d ranks on %s with %d interfaces", m.Name, ranks, inside.Kind(), interfaces)
	x.Ranks = model.RankLimits{Min: 1, Max: 64}
	x.Processor.Copy.Start = 30011
	return &x
}

// TestExactComposed compares every protocol in every mode within a node and between two, for all
// pairs of networks inside and between. The ranks are neither in the first node nor the first ranks
// of theirs, and the last node is not full.
func TestExactComposed(t *testing.T) {
	synthetic := copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 9876.5})
	one := machine()
	one.Network.(*model.Torus).ProcessorsPerNode = 1
	gpus, err := topology.NewMesh(4)
	leaves, wrong := topology.NewFatTree(2, 4, nil)
	inside := []model.Network{shared(4).Network, machine().Network, synthetic.Network, shared(2, 2).Network, tree().Network, fabric(t, gpus, err).Network, cores().Network}
	sizes := []int{0, 1, 1024, 5000}
	for i, net := range inside {
		for _, m := range []*model.Machine{one, machine(), synthetic, shared(3, 3), workstations(), tree(2), fabric(t, leaves, wrong)} {
			m := nodesOf(m, 4, 1+i%2, net)
			_, streams := m.Network.(*model.Ethernet)
			l := odd(i%2 == 0, 1024*(i/2))
			for _, p := range []pair{{11, 6, 5}, {11, 5, 10}, {11, 9, 2}} {
				for _, k := range sizes {
					if k > 1420 && streams && m.TierOfRanks(p.from, p.to) == model.InterNode {
						continue // the closed form of packets of several segments is a recurrence
					}
					eachWay(t, m, l, k, p, func(t *testing.T, x model.Transfer, p pair) {
						if !streams || x.Path.Tier == model.IntraNode || oneAfterTheOther(x.Protocol) {
							exact(t, x, p)
						}
					})
				}
			}
		}
	}
}

// emulateMeeting runs a transfer with given start times, long after the start of the job.
func emulateMeeting(t testing.TB, x model.TimedTransfer) (e model.ReturnTimes) {
	t.Helper()
	const zero = unit.Second
	err := mpi.Run(world(t, x.Machine, x.Library, 2), mpi.Options{Engine: carry, Library: x.Library, Protocol: x.Protocol.Name}, func(c *mpi.Comm) error {
		b := make([]byte, x.Bytes)
		var r mpi.Request
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, x.Bytes+mpi.BsendOverhead))
			c.Compute(zero + x.SendStart - c.Wtime())
			r = call(c, x.Transfer, b, 1)
			e.SendCall = c.Wtime() - zero
			r.Wait()
			e.SendWait = c.Wtime() - zero
			c.DetachBuffer()
			return nil
		}
		if x.IsPosted {
			r = mpi.Irecv(c, b, 0, 7)
		}
		c.Compute(zero + x.ReceiveStart - c.Wtime())
		switch {
		case x.IsPosted:
		case x.IsBlocking:
			mpi.Recv(c, b, 0, 7)
		default:
			r = mpi.Irecv(c, b, 0, 7)
		}
		e.ReceiveCall = c.Wtime() - zero
		r.Wait()
		e.ReceiveWait = c.Wtime() - zero
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExactMeeting starts the receive long before the send, at the same time, at odd times after
// it, and long after the message has arrived.
func TestExactMeeting(t *testing.T) {
	for _, m := range []*model.Machine{machine(), copyingLogGP(model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 9876.5})} {
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 16, 1025, 5000} {
				eachWay(t, m, l, k, pair{2, 0, 1}, func(t *testing.T, x model.Transfer, _ pair) {
					for _, apart := range []unit.Time{-unit.Millisecond, 0, 3*us + 1, 7*us + 1, 11*us + 1, 400*us + 1, 3 * unit.Millisecond} {
						y := model.TimedTransfer{Transfer: x, SendStart: unit.Millisecond, ReceiveStart: unit.Millisecond + apart}
						for _, y.IsBlocking = range []bool{false, true} {
							y.IsPosted = false
							exactMeeting(t, y)
						}
						y.IsPosted = true
						exactMeeting(t, y)
					}
				})
			}
		}
	}
}

func exactMeeting(t *testing.T, x model.TimedTransfer) {
	t.Helper()
	if got, want := emulateMeeting(t, x), x.ReturnTimes(); got != want {
		t.Fatalf("%s, receive %v after the send, blocking %v, posted %v: emulated %+v, closed form %+v", describeTransfer(x.Transfer, pair{2, 0, 1}),
			x.ReceiveStart-x.SendStart, x.IsBlocking, x.IsPosted, got, want)
	}
}

// TestExactPlaced compares placements of ranks on nodes: which ranks are near, and which interface
// they use to other nodes. Full nodes follow the placed ones.
func TestExactPlaced(t *testing.T) {
	m, err := nodesOf(tree(2), 4, 2, shared(4).Network).WithPlacement(model.Placement{2, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	nodes := []int{0, 0, 1, 2, 2, 2, 3, 3, 3, 3, 4}
	for a, x := range nodes {
		if want := []int{0, 1, 2, 4, 5, 4, 6, 7, 6, 7, 8}[a]; m.EndOfRank(a) != want {
			t.Errorf("rank %d of %v uses interface %d, want %d", a, m.Nodes.Placed, m.EndOfRank(a), want)
		}
		for b, y := range nodes {
			if got := m.TierOfRanks(a, b) == model.IntraNode; got != (x == y) {
				t.Errorf("ranks %d and %d of %v are near: %v", a, b, m.Nodes.Placed, got)
			}
		}
	}
	l := odd(true, 0)
	for _, p := range []pair{{11, 0, 1}, {11, 1, 2}, {11, 4, 5}, {11, 3, 10}, {3, 2, 0}, {7, 6, 4}} {
		for _, k := range []int{0, 1000} {
			eachWay(t, m, l, k, p, exact)
		}
	}
	for _, p := range []model.Placement{{5}, {2, 5}, make(model.Placement, 17)} {
		if _, err := nodesOf(tree(2), 4, 2, shared(4).Network).WithPlacement(p); err == nil {
			t.Errorf("placement %v on nodes of 4 processors for 64 ranks: no error", p)
		}
	}
	if _, err := tree(2).WithPlacement(model.Placement{1, 1}); err == nil {
		t.Error("a placement on a machine without nodes: no error")
	}
}
