package fabric_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// rdmaNodes returns nodes of some ranks with one RDMA interface around a switch.
func rdmaNodes(t testing.TB, nodes, ranks int) (*model.Machine, *model.Fabric) {
	g, err := topology.NewStar(nodes)
	m := hwtest.RDMAFabric(generated(t, g, err))
	m.Nodes = &model.Nodes{Ranks: ranks, Interfaces: 1, Inside: &model.LogGP{L: us}}
	m.Ranks.Max = nodes * ranks
	return m, m.Network.(*model.Fabric)
}

// putsOf returns how long it takes each rank to put so many times to its target, all at once.
func putsOf(t *testing.T, m *model.Machine, target map[int]int, puts, bytes int) map[int]unit.Time {
	t.Helper()
	took := map[int]unit.Time{}
	hwtest.Run(t, m, m.Ranks.Max, func(p device.Port) {
		key := p.Memory().Expose(make([]byte, bytes))
		p.Delay(100 * us)
		to, ok := target[p.Rank()]
		if ok {
			begin := p.Now()
			for range puts {
				p.Memory().Put(to, key, 0, make([]byte, bytes), device.Head{})
			}
			for range puts {
				p.Recv(true)
			}
			took[p.Rank()] = p.Now() - begin
		}
		p.Delay(unit.Second)
	})
	return took
}

// Two ranks of an interface whose bus is the slowest part get half of it each, and all of it where
// one sends and the other receives.
func TestRanksShareTheBus(t *testing.T) {
	m, f := rdmaNodes(t, 3, 2)
	f.NIC.Bus.Bandwidth = 40e6
	const puts, bytes = 20, 20_000
	for _, c := range []struct {
		target map[int]int
		share  float64
	}{{map[int]int{0: 2}, 1}, {map[int]int{0: 2, 1: 4}, 0.5}, {map[int]int{0: 2, 3: 1}, 1}, {map[int]int{0: 2, 4: 3}, 0.5}} {
		for rank, took := range putsOf(t, m, c.target, puts, bytes) {
			want := float64(puts*bytes) / (c.share * 40e6)
			if got := (took.Micros() / 1e6); got < 0.98*want || got > 1.02*want {
				t.Errorf("puts %v: those of rank %d take %.4f s, want %.4f", c.target, rank, got, want)
			}
		}
	}
}

// An interface sends and receives at most one message every Message, of all its ranks together.
func TestMessageRate(t *testing.T) {
	m, f := rdmaNodes(t, 5, 2)
	f.NIC.Message = 3 * us
	const puts = 200
	for _, c := range []struct {
		target map[int]int
		flows  unit.Time // that share an interface
	}{{map[int]int{0: 2}, 1}, {map[int]int{0: 2, 1: 4}, 2}, {map[int]int{0: 8, 2: 8, 4: 9, 6: 8}, 4}, {map[int]int{0: 2, 2: 0}, 1}} {
		for rank, took := range putsOf(t, m, c.target, puts, 8) {
			if want := c.flows * puts * f.NIC.Message; took < want-c.flows*f.NIC.Message || took > want+10*us {
				t.Errorf("puts %v: those of rank %d take %v, want about %v", c.target, rank, took, want)
			}
		}
	}
}

// A window of long messages reaches the rate of the slowest of link and bus, while the processor is
// busy with doorbells and completions only.
func TestWindowReachesTheRateOfTheWire(t *testing.T) {
	for _, bus := range []unit.Rate{200e6, 60e6} {
		m, f := rdmaNodes(t, 2, 2)
		f.NIC.Bus.Bandwidth = bus
		const window, bytes = 64, 100_000
		var sent, received unit.Time
		hwtest.Run(t, m, 4, func(p device.Port) {
			switch p.Rank() {
			case 0:
				for range window {
					p.Send(2, &device.Packet{Data: make([]byte, bytes)})
				}
				sent = p.Now()
			case 2:
				for range window {
					p.Recv(true)
				}
				received = p.Now()
			}
		})
		want := min(bus, 100e6)
		if rate := window * bytes / (received.Micros() / 1e6); rate < 0.99*float64(want) || rate > float64(want) {
			t.Errorf("bus of %v: %.2f MB/s, want %v", bus, rate/1e6, want)
		}
		if sent != window*f.NIC.Doorbell {
			t.Errorf("bus of %v: the processor sends for %v, want %d doorbells of %v", bus, sent, window, f.NIC.Doorbell)
		}
	}
}

// A bus carries each byte of a message once, without headers of packets, and no inline data on its
// way out. It carries one chunk at a time.
func TestBusesConserveBytes(t *testing.T) {
	m, f := rdmaNodes(t, 4, 3)
	f.Packet.Header, f.Header = 24, 10
	r := rand.New(rand.NewPCG(4, 0))
	var sizes [12][5]int
	want := map[string]int{}
	for rank := range sizes {
		for i := range sizes[rank] {
			n := []int{r.IntN(100), r.IntN(30_000)}[r.IntN(2)]
			sizes[rank][i] = n
			if n += f.Header; !f.NIC.IsInline(n) {
				want["host "+string(rune('0'+rank/3))+" bus out"] += n
			}
			want["host "+string(rune('0'+(rank+3)%12/3))+" bus in"] += n
		}
	}
	x := hwtest.TimelineOf(t, m, len(sizes), func(p device.Port) {
		for _, n := range sizes[p.Rank()] {
			p.Send((p.Rank()+3)%len(sizes), &device.Packet{Data: make([]byte, n)})
		}
		for range sizes[0] {
			p.Recv(true)
		}
	})
	carried := map[string]int{}
	for _, track := range x.Resources {
		if !strings.Contains(track.Name, "bus") {
			continue
		}
		for i, s := range track.Spans {
			if carried[track.Name] += s.Bytes; s.Duration() != f.NIC.Bus.Bandwidth.Time(s.Bytes) {
				t.Errorf("%s carries %d bytes in %v", track.Name, s.Bytes, s.Duration())
			}
			if i > 0 && s.From < track.Spans[i-1].To {
				t.Errorf("%s carries a chunk from %v on, the one before it until %v", track.Name, s.From, track.Spans[i-1].To)
			}
		}
	}
	for bus, n := range want {
		if carried[bus] != n {
			t.Errorf("%s carries %d bytes, %d are for it", bus, carried[bus], n)
		}
	}
}

// Random traffic between RDMA interfaces comes to its end, in order and unchanged, with buffers of
// any size and buses of any speed.
func TestRandomRDMATrafficEnds(t *testing.T) {
	for name, g := range graphs(t) {
		for _, bus := range []unit.Rate{30e6, 200e6} {
			for _, buffer := range []int{1, 12_288, 0} {
				m := hwtest.RDMAFabric(g)
				f := m.Network.(*model.Fabric)
				f.Buffer, f.NIC.Bus.Bandwidth = buffer, bus
				sendAtRandom(t, name, m, g.Hosts, uint64(buffer))
			}
		}
	}
}

// Flows of RDMA interfaces get their max-min fair shares of links.
func TestRDMAFairShares(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	var all []float64
	for name, g := range graphs(t) {
		if g.Routing != topology.AdaptiveRouting {
			hwtest.CheckFairShares(t, name+", seed 5", hwtest.RDMAFabric(g), r.Perm(g.Hosts), 200*unit.Millisecond, &all)
		}
	}
	slices.Sort(all)
	if all[0] < 0.95 || all[len(all)-1] > 1.05 {
		t.Errorf("throughput is %.3f to %.3f of the max-min fair share, want 0.95 to 1.05", all[0], all[len(all)-1])
	}
}

// A slow bus of the receiver fills the buffers on the way to it and stops its senders: together
// they get what it carries.
func TestSlowBusStopsItsSenders(t *testing.T) {
	edges := []topology.Edge{{A: 0, B: 4}, {A: 1, B: 4}, {A: 2, B: 5}, {A: 3, B: 5}, {A: 4, B: 5, Class: topology.TrunkClass}}
	g, err := topology.NewEdges(4, 2, edges)
	for _, by := range []model.Arbitration{model.FairArbitration, model.FIFOArbitration} {
		m := hwtest.RDMAFabric(generated(t, g, err))
		f := m.Network.(*model.Fabric)
		f.Arbitration, f.NIC.Bus.Bandwidth = by, 30e6
		rates := hwtest.MeasurePutRates(t, m, []int{2, 2, 3, 2}, 100*unit.Millisecond)
		if sum := (rates[0] + rates[1] + rates[3]) / 1e6; sum < 29 || sum > 31 {
			t.Errorf("%s: three hosts put %.1f MB/s through a bus of 30", model.ArbitrationNames[by], sum)
		}
	}
}

// The first use of a buffer registers it. A part of it needs nothing, until other buffers have
// displaced it. Short data goes inline and needs nothing either.
func TestRegistrationCache(t *testing.T) {
	m, f := rdmaNodes(t, 2, 2)
	f.NIC.Registration = &model.Registration{Start: us, PageSize: 1000, Page: 100_000, Entries: 3, Bytes: 40_000}
	first, second, third, large, short := make([]byte, 10_000), make([]byte, 20_000), make([]byte, 5_500), make([]byte, 40_000), make([]byte, 20)
	hwtest.Run(t, m, 4, func(p device.Port) {
		if p.Rank() != 0 {
			return
		}
		for i, c := range []struct {
			b    []byte
			want unit.Time
		}{
			{first, us + 10*100_000},
			{first, 0},
			{first[100:600], 0},
			{second, us + 20*100_000},
			{third, us + 6*100_000}, // 35,500 bytes
			{short, 0},
			{second, 0},
			{first, 0},
			{third, 0},
			{large, us + 40*100_000}, // displaces all
			{third, us + 6*100_000},
			{first, us + 10*100_000},
			{second, us + 20*100_000},
			{large, us + 40*100_000},
			{make([]byte, 1<<20), us + 1049*100_000}, // is never kept
			{large, 0},
			{first[5000:9000], us + 4*100_000},
			{first[2000:3000], us + 100_000},
			{first[2000:6000], us + 4*100_000}, // is no part of either; the second is one of it
			{first[5500:9000], 0},
			{first[2500:5500], 0},
			{first[1000:9000], us + 8*100_000}, // has all as parts
			{first[8000:8500], 0},
			{second, us + 20*100_000},
			{third, us + 6*100_000},
			{first[2000:6000], 0},
		} {
			begin := p.Now()
			p.Send(2, &device.Packet{Data: c.b})
			took := p.Now() - begin - f.NIC.Doorbell
			if len(c.b) == len(short) {
				took -= f.NIC.Inline.Bandwidth.Time(len(c.b))
			}
			if took != c.want {
				t.Errorf("use %d, of %d bytes: registration takes %v, want %v", i, len(c.b), took, c.want)
			}
		}
		begin := p.Now()
		p.Memory().Withdraw(p.Memory().Expose(make([]byte, 5_500)))
		if took := p.Now() - begin; took != us+6*100_000 {
			t.Errorf("exposing a buffer takes %v, want its registration", took)
		}
	})
}

// The interface of the target executes one atomic operation after the other.
func TestAtomicsTakeTheirTurn(t *testing.T) {
	m, f := rdmaNodes(t, 4, 2)
	f.NIC.Atomic, f.NIC.Message = 10*us, 0
	last := map[int]unit.Time{}
	hwtest.Run(t, m, 8, func(p device.Port) {
		p.Delay(us)
		if p.Rank()%2 == 0 && p.Rank() > 0 {
			begin := p.Now()
			if before := p.Counters().FetchAndAddRegister(1, 0, 1); before != int64(len(last)) {
				t.Errorf("rank %d reads %d, want %d", p.Rank(), before, len(last))
			}
			last[len(last)] = p.Now() - begin
		}
		p.Delay(unit.Millisecond)
	})
	c := f.NIC
	alone := c.Doorbell + 2*(c.Bus.Latency+2*f.Links[0].Latency+f.SwitchLatency+f.Deliver) + c.Atomic + c.Complete
	for i := range 3 {
		if want := alone + unit.Time(i)*c.Atomic; last[i] != want {
			t.Errorf("atomic operation %d takes %v, want %v", i, last[i], want)
		}
	}
}

// Interfaces add to words of exposed memory, and swap them if they equal a value, in the time of an
// update of a register. A word that is not exposed is refused, and nothing changes.
func TestAtomicsInMemory(t *testing.T) {
	m, f := rdmaNodes(t, 4, 2)
	f.NIC.Atomic = 10 * us
	hwtest.Run(t, m, 8, func(p device.Port) {
		memory := make([]byte, 32)
		key := p.Memory().Expose(memory)
		p.Delay(us)
		if p.Rank() != 2 {
			p.Delay(unit.Millisecond)
			if want := map[int]uint64{5: 107}[p.Rank()]; binary.NativeEndian.Uint64(memory[8:]) != want {
				t.Errorf("the word of rank %d is %d, want %d", p.Rank(), binary.NativeEndian.Uint64(memory[8:]), want)
			}
			return
		}
		atomics := device.Atomics(p.Memory())
		begin := p.Now()
		p.Counters().FetchAndAddRegister(5, 0, 1)
		register := p.Now() - begin
		for _, x := range []struct {
			compare, value, before uint64 // compare 0: value is added
		}{{0, 7, 0}, {9, 1, 7}, {7, 100, 7}, {0, 7, 100}} {
			begin := p.Now()
			old, refused := uint64(0), false
			if x.compare > 0 {
				old, refused = atomics.CompareAndSwapWord(5, key, 8, x.compare, x.value)
			} else {
				old, refused = atomics.FetchAndAddWord(5, key, 8, x.value)
			}
			if took := p.Now() - begin; old != x.before || refused || took != register {
				t.Errorf("%+v: %d before, refused: %v, in %v, want %v", x, old, refused, took, register)
			}
		}
		if _, refused := atomics.FetchAndAddWord(5, key, 32, 1); !refused {
			t.Error("a word behind the memory is not refused")
		}
		p.Delay(unit.Millisecond)
	})
}

// Ranks of a node access memory that no interface has registered. The ranks of other nodes do not.
func TestNodeMemoryIsNotRegistered(t *testing.T) {
	m, f := rdmaNodes(t, 2, 2)
	f.NIC.Registration = &model.Registration{Start: us, PageSize: 4096}
	hwtest.Run(t, m, 4, func(p device.Port) {
		if p.Rank() != 0 {
			return
		}
		for _, c := range []struct {
			memory device.Memory
			want   unit.Time
		}{{device.NodeMemoryOf(p), 0}, {p.Memory(), us}} {
			begin := p.Now()
			c.memory.Expose(make([]byte, 1<<16))
			if took := p.Now() - begin; took != c.want {
				t.Errorf("exposing memory takes %v, want %v", took, c.want)
			}
		}
	})
}

// Messages of RDMA interfaces allocate nothing, of any length, with registration.
func TestRDMAMessagesAllocateNothing(t *testing.T) {
	g := graphs(t)["dragonfly ugal"]
	m := hwtest.RDMAFabric(g)
	m.Network.(*model.Fabric).NIC.Registration = &model.Registration{Start: us, PageSize: 4096, Entries: 2}
	data, into := make([]byte, 20_000), make([][]byte, g.Hosts)
	for i := range into {
		into[i] = make([]byte, 20_000)
	}
	run := func(rounds int) float64 {
		return testing.AllocsPerRun(2, func() {
			hwtest.Run(t, m, g.Hosts, func(p device.Port) {
				key := p.Memory().Expose(into[p.Rank()])
				p.Delay(100 * us)
				var q device.Packet
				to := (p.Rank() + 3) % g.Hosts
				for range rounds {
					q.Data = data
					p.Send(to, &q)
					q.Data = data[:8]
					p.Send(to, &q)
					p.Memory().Put(to, key, 0, data, device.Head{1})
					p.Memory().Get(to, key, 0, data[:9000], device.Head{1})
					for range 4 {
						p.Recv(true)
					}
				}
				p.Delay(unit.Second)
			})
		})
	}
	few, many := run(20), run(120)
	if each := (many - few) / float64(400*g.Hosts); each > 0.01 {
		t.Errorf("a message allocates %.3f times", each)
	}
}
