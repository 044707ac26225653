package fabric_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// Each byte of a put crosses each link of its route once, with the headers of its packets, and no
// other link. A link carries one chunk at a time, no faster than its rate.
func TestBytesAreConserved(t *testing.T) {
	for name, g := range graphs(t) {
		if g.Routing == topology.AdaptiveRouting {
			continue
		}
		m := hwtest.Fabric(g)
		f := m.Network.(*model.Fabric)
		f.Packet.Header = 24
		const puts = 4
		r := rand.New(rand.NewPCG(2, 0))
		target, sizes := r.Perm(g.Hosts), make([][puts]int, g.Hosts)
		want := map[string]int{}
		for from, to := range target {
			for i := range puts {
				sizes[from][i] = 1 + r.IntN(20_000)
				if from == to {
					continue
				}
				route := g.RouteBetween(from, to)
				for at := int32(from); at != route.Destination; {
					link := g.NextLink(&route)
					want[g.LinkName(link)] += f.WireBytes(sizes[from][i])
					at = g.To(link)
				}
			}
		}
		x := hwtest.TimelineOf(t, m, g.Hosts, func(p device.Port) {
			key := p.Memory().Expose(make([]byte, 20_000))
			p.Delay(us)
			for i := range puts {
				p.Memory().Put(target[p.Rank()], key, 0, make([]byte, sizes[p.Rank()][i]), device.Head{})
			}
			for range puts {
				p.Recv(true)
			}
			p.Delay(unit.Second - p.Now())
		})
		carried := map[string]int{}
		for _, track := range x.Resources {
			for i, s := range track.Spans {
				carried[track.Name] += s.Bytes
				if s.Duration() != unit.Rate(100e6).Time(s.Bytes) {
					t.Fatalf("%s: %s carries %d bytes in %v", name, track.Name, s.Bytes, s.Duration())
				}
				if i > 0 && s.From < track.Spans[i-1].To {
					t.Fatalf("%s: %s carries a chunk from %v on, the one before it until %v", name, track.Name, s.From, track.Spans[i-1].To)
				}
			}
		}
		for link, bytes := range want {
			if carried[link] != bytes {
				t.Errorf("%s: %s carries %d bytes, %d are for it", name, link, carried[link], bytes)
			}
			delete(carried, link)
		}
		for link, bytes := range carried {
			var h int
			if target[hostOf(link, &h)] != h {
				t.Errorf("%s: %s carries %d bytes that are not for it", name, link, bytes)
			}
		}
	}
}

// hostOf returns the host of "host 3 to itself".
func hostOf(link string, h *int) int {
	for _, c := range link {
		if c >= '0' && c <= '9' {
			*h = *h*10 + int(c-'0')
		} else if *h > 0 {
			break
		}
	}
	return *h
}

// sendAtRandom lets all ranks send each other packets of random lengths, and checks that they come
// in order and unchanged. Ranks put and get as well. It returns when the last has ended.
func sendAtRandom(t *testing.T, name string, m *model.Machine, ranks int, seed uint64) (end unit.Time) {
	t.Helper()
	const each = 3
	latency := func(from, to int) unit.Time {
		return m.PathBetweenRanks(ranks, from, to).FirstByte + m.Network.(*model.Fabric).Deliver
	}
	hwtest.Run(t, m, ranks, func(p device.Port) {
		r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
		mine := make([]byte, 30_000)
		key := p.Memory().Expose(mine)
		p.Delay(us)
		expected, accesses, next := each*ranks, 0, make([]uint64, ranks)
		for i := range each {
			for j := range ranks {
				to := (p.Rank() + j) % ranks
				data := make([]byte, r.IntN(20_000)/(1+r.IntN(50)))
				for k := range data {
					data[k] = byte(k + i + p.Rank())
				}
				p.Send(to, &device.Packet{Head: device.Head{uint64(i), uint64(p.Now())}, Data: data})
				if r.IntN(8) == 0 {
					accesses++
					head := device.Head{1 << 20}
					if r.IntN(2) == 0 {
						p.Memory().Put(to, key, 0, make([]byte, r.IntN(20_000)), head)
					} else {
						p.Memory().Get(to, key, 0, make([]byte, r.IntN(20_000)), head)
					}
				}
			}
		}
		for expected+accesses > 0 {
			q := p.Recv(true)
			if q.Head[0] == 1<<20 {
				accesses--
				continue
			}
			expected--
			if q.Head[0] != next[q.Src] {
				t.Errorf("%s, seed %d: packet %d of rank %d comes to %d in place of %d", name, seed, q.Head[0], q.Src, p.Rank(), next[q.Src])
			}
			for k, b := range q.Data {
				if b != byte(k+int(q.Head[0])+q.Src) {
					t.Fatalf("%s, seed %d: byte %d of a packet of rank %d is wrong", name, seed, k, q.Src)
				}
			}
			if took, least := p.Now()-unit.Time(q.Head[1]), latency(q.Src, p.Rank())+unit.Rate(100e6).Time(len(q.Data)); took < least {
				t.Errorf("%s, seed %d: %d bytes of rank %d take %v to rank %d, the wire needs %v", name, seed, len(q.Data), q.Src, took, p.Rank(), least)
			}
			next[q.Src]++
		}
		end = max(end, p.Now())
		p.Delay(unit.Second * 5)
	})
	return end
}

// Random traffic comes to its end with buffers of any size, also where routes close cycles, in
// order between each two ranks, and nothing is faster than its wire.
func TestRandomTrafficEnds(t *testing.T) {
	for name, g := range graphs(t) {
		for _, by := range []model.Arbitration{model.FairArbitration, model.FIFOArbitration} {
			for _, buffer := range []int{1, 4096, 12_288, 0} {
				m := hwtest.Fabric(g)
				f := m.Network.(*model.Fabric)
				f.Arbitration, f.Buffer = by, buffer
				sendAtRandom(t, name, m, g.Hosts, uint64(buffer))
			}
		}
	}
}

// All hosts of a ring of switches send two switches on, so that all buffers of one channel would
// wait for each other. Channels that rise with each link break the cycle.
func TestRingDoesNotDeadlock(t *testing.T) {
	g := graphs(t)["ring"]
	m := hwtest.Fabric(g)
	f := m.Network.(*model.Fabric)
	f.Arbitration, f.Buffer = model.FIFOArbitration, 4096
	sum := 0.0
	for _, rate := range hwtest.MeasurePutRates(t, m, hwtest.ShiftedTargets(g.Hosts, 4), 40*unit.Millisecond) {
		sum += rate
	}
	// Two hosts a switch share a link to the next switch with two others.
	if want := 12 * 100e6 / 4.0; sum < 0.9*want || sum > 1.05*want {
		t.Errorf("%.0f MB/s, want about %.0f", sum/1e6, want/1e6)
	}
}

// Links of different rates: the slowest one decides, and a slow link before a fast one does, too.
func TestSlowLinks(t *testing.T) {
	g, err := topology.NewFatTree(2, 4, nil)
	generated(t, g, err)
	for _, width := range []int{1, 2, 8} {
		m := hwtest.Fabric(g)
		f := m.Network.(*model.Fabric)
		f.Links[topology.TrunkClass].Width = width
		slowest := unit.Rate(50e6 * min(width, 2))
		const bytes = 100_000
		var took unit.Time
		hwtest.Run(t, m, 16, func(p device.Port) {
			switch p.Rank() {
			case 0:
				p.Send(15, &device.Packet{Data: make([]byte, bytes)})
			case 15:
				p.Recv(true)
				took = p.Now()
			}
		})
		sent := us + unit.Rate(400e6).Time(bytes)
		latency := 4*f.Links[0].Latency + 3*f.SwitchLatency + f.Deliver
		if want := sent + latency + slowest.Time(bytes) + f.Receive; took != want {
			t.Errorf("trunks of %d lanes: %v, want %v", width, took, want)
		}
	}
}

// A run with more messages allocates no more: not for a packet, a chunk, or a link.
func TestMessagesAllocateNothing(t *testing.T) {
	for name, g := range graphs(t) {
		m := hwtest.Fabric(g)
		data := make([]byte, 20_000)
		run := func(packets int) float64 {
			return testing.AllocsPerRun(2, func() {
				hwtest.Run(t, m, g.Hosts, func(p device.Port) {
					q := &device.Packet{Data: data}
					for range packets {
						p.Send((p.Rank()+3)%g.Hosts, q)
						p.Recv(true)
					}
				})
			})
		}
		few, many := run(20), run(220)
		if perPacket := (many - few) / float64(200*g.Hosts); perPacket > 0.01 {
			t.Errorf("%s: a packet of five chunks allocates %.3f times", name, perPacket)
		}
	}
}

// BenchmarkAlltoall is an exchange of 1 KiB between all ranks of 32 nodes with an interface each,
// on a tree, with RDMA interfaces and without.
func BenchmarkAlltoall(b *testing.B) {
	g, err := topology.NewFatTree(2, 8, nil)
	for _, c := range []struct {
		perNode int
		machine func(*topology.Graph) *model.Machine
	}{{1, hwtest.Fabric}, {36, hwtest.Fabric}, {36, hwtest.RDMAFabric}} {
		m, perNode := c.machine(generated(b, g, err)), c.perNode
		b.Run(fmt.Sprintf("%d ranks, RDMA %v", 32*perNode, m.Network.(*model.Fabric).NIC != nil), func(b *testing.B) {
			f := m.Network.(*model.Fabric)
			f.Buffer = 1 << 16
			ranks := 32 * perNode
			if perNode > 1 {
				m.Nodes = &model.Nodes{Ranks: perNode, Interfaces: 1, Inside: &model.LogGP{L: us}}
			}
			m.Ranks.Max = ranks
			b.ReportAllocs()
			data := make([]byte, 1024)
			hwtest.Run(b, m, ranks, func(p device.Port) {
				q := &device.Packet{Data: data}
				for range b.N {
					for by := range ranks {
						p.Send((p.Rank()+by)%ranks, q)
					}
					for range ranks {
						p.Recv(true)
					}
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ranks*ranks), "ns/message")
		})
	}
}
