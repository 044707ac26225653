package numa_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// free returns a node in which nothing takes time but the bytes that pass memories and links.
func free() (*model.Machine, *model.NUMA) {
	m := hwtest.NUMA()
	n := m.Network.(*model.NUMA)
	n.Caches, n.Page, n.Receive, n.Distances = nil, model.PageCost{}, 0, [model.NumDistances]model.CoreAccess{}
	n.Send, n.Put, n.Get = model.Channel{Bandwidth: 100e6}, model.Channel{Bandwidth: 100e6}, model.Channel{Bandwidth: 100e6}
	m.Processor.Copy = model.Channel{Bandwidth: 100e6}
	return m, n
}

// copying says what a rank does all the time: it copies its own memory, or gets that of another.
type copying struct{ rank, of int }

// measureRates returns how many bytes a second each of the ranks moves, that all move at once for a
// time, in transfers of some size.
func measureRates(t *testing.T, m *model.Machine, all []copying, size int, lasts unit.Time) []float64 {
	t.Helper()
	rates := make([]float64, len(all))
	hwtest.Run(t, m, m.Ranks.Max, func(p device.Port) {
		b := make([]byte, size)
		key := p.Memory().Expose(make([]byte, size))
		p.Delay(us) // memory is exposed
		i := slices.IndexFunc(all, func(c copying) bool { return c.rank == p.Rank() })
		begin, last, bytes := unit.Time(0), unit.Time(0), 0
		for i >= 0 && p.Now() < lasts {
			if all[i].of == all[i].rank {
				p.Copy(b, b[:size])
			} else {
				p.Memory().Get(all[i].of, key, 0, b, device.Head{})
				p.Recv(true)
			}
			switch at := p.Now(); {
			case begin == 0: // all have begun
				begin = at
			case at < lasts: // none has ended
				bytes, last = bytes+size, at
			}
		}
		if i >= 0 {
			rates[i] = float64(bytes) * float64(unit.Second) / float64(last-begin)
		}
		p.Delay(unit.Second - p.Now()%unit.Second) // memory stays exposed
	})
	return rates
}

// resourcesOf returns what a rank's copies use, by name, counted from places that are told in
// another way than the emulation does: two cores a cluster, four a domain, eight a socket.
func resourcesOf(c copying) (names []string) {
	names = []string{fmt.Sprint("memory ", c.rank/4), fmt.Sprint("memory ", c.of/4)}
	if a, b := c.rank/8, c.of/8; a != b {
		names = append(names, fmt.Sprint("link into ", a))
	}
	return names
}

// Ranks that copy at random places get their max-min fair shares of memories and links.
func TestFairShares(t *testing.T) {
	least, greatest := 1.0, 1.0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		m, n := free()
		n.Memory, n.Link = unit.Rate(150e6+300e6*r.Float64()), unit.Rate(50e6+200e6*r.Float64())
		var all []copying
		var flows [][]string
		for rank := range 16 {
			c := copying{rank, r.IntN(16)}
			if r.IntN(4) == 0 {
				c.of = rank
			}
			if r.IntN(5) > 0 {
				all, flows = append(all, c), append(flows, resourcesOf(c))
			}
		}
		_, fair := hwtest.FairShares(flows, 100e6, func(name string) float64 {
			if name[0] == 'm' {
				return float64(n.Memory)
			}
			return float64(n.Link)
		})
		for i, got := range measureRates(t, m, all, 10_000, 100*unit.Millisecond) {
			x := got / fair[i]
			if least, greatest = min(least, x), max(greatest, x); x < 0.97 || x > 1.03 {
				t.Errorf("seed %d: rank %d copies %.1f MB/s of rank %d, its fair share is %.1f", seed, all[i].rank, got/1e6, all[i].of, fair[i]/1e6)
			}
		}
	}
	t.Logf("throughput over max-min fair share: %.4f to %.4f", least, greatest)
}

// Many transfers at once never beat their cores, nor the memories and links between them, in any
// span of time; none is lost.
func TestNothingIsFasterThanItsWay(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := hwtest.NUMA()
		n := m.Network.(*model.NUMA)
		n.Memory = []unit.Rate{90e6, 230e6, 1e9}[r.IntN(3)]
		n.Link = []unit.Rate{40e6, 120e6, 1e9}[r.IntN(3)]
		n.Page.Time = []unit.Time{0, 20, 100}[r.IntN(3)] * us
		if n.Order = model.CoreOrder(r.IntN(2)); r.IntN(2) == 0 {
			n.Caches = nil
		}
		x := hwtest.RandomTransfers(t, m, 16, seed, true)
		passed := map[string][]hwtest.Transfer{}
		pass := func(c hwtest.Transfer, way model.CoreTransfer) {
			d := n.DistanceBetween(c.Src, c.Dst)
			if fastest := n.Channel(way).Time(c.Bytes) + n.PinTime(way, c.Bytes) + n.Distances[d].Latency; c.EndTime-c.StartTime < fastest-1 {
				t.Errorf("seed %d: %d bytes from %d to %d (get %v) took %v, they need %v", seed, c.Bytes, c.Src, c.Dst, c.Get, c.EndTime-c.StartTime, fastest)
			}
			from, to := c.Src, c.Dst
			if c.Get {
				from, to = to, from
			}
			if n.Caches == nil || c.Bytes > 2000 {
				for _, end := range []int{from, to} {
					name := fmt.Sprint("memory ", n.DomainOf(end))
					passed[name] = append(passed[name], c)
				}
			}
			if a, b := n.SocketOf(from), n.SocketOf(to); a != b {
				name := fmt.Sprint("link into ", b)
				passed[name] = append(passed[name], c)
			}
		}
		for _, c := range x.Packets {
			pass(c, model.PacketTransfer)
		}
		for _, c := range x.Accesses {
			if n.Page.Time > 0 {
				name := fmt.Sprint("pages of ", c.Dst)
				passed[name] = append(passed[name], c)
			}
			if c.Get {
				pass(c, model.GetTransfer)
			} else {
				pass(c, model.PutTransfer)
			}
		}
		for name, all := range passed {
			rate := n.Memory
			switch name[0] {
			case 'l':
				rate = n.Link
			case 'p':
				rate = unit.Rate(4096 * float64(unit.Second) / float64(n.Page.Time))
			}
			for _, first := range all {
				slices.SortFunc(all, func(a, b hwtest.Transfer) int { return int(a.EndTime - b.EndTime) })
				sum := 0
				for _, c := range all {
					if c.StartTime < first.StartTime {
						continue
					}
					if sum += c.Bytes; c.EndTime-first.StartTime < rate.Time(sum)-unit.Time(5*len(all)) {
						t.Fatalf("seed %d: %d bytes passed the %s from %v to %v, which takes %v", seed, sum, name, first.StartTime, c.EndTime, rate.Time(sum))
					}
				}
			}
		}
	}
}

// A flow that has part of its bytes behind it when another begins or ends continues at its new
// share: 10 kB at 100 MB/s take 100 µs alone; two on a memory of 200 MB/s, which each uses twice,
// get 50 MB/s.
func TestSharesChangeInTheMiddle(t *testing.T) {
	m, n := free()
	n.Memory = 200e6
	var ends [2]unit.Time
	hwtest.Run(t, m, 2, func(p device.Port) {
		p.Delay(unit.Time(p.Rank()) * 40 * us)
		p.Copy(make([]byte, 10_000), make([]byte, 10_000-2000*p.Rank()))
		ends[p.Rank()] = p.Now()
	})
	// Rank 0 has 4 kB behind it at 40 µs, and the other 6 kB at 160 µs. Rank 1 has 6 of its 8 kB
	// then, and the last 2 kB at 100 MB/s.
	if want := [2]unit.Time{160 * us, 180 * us}; ends != want {
		t.Errorf("copies end at %v, want %v", ends, want)
	}
}

// What fits a cache of its node, and stays in its socket, disturbs nobody.
func TestCachedDataUsesNoMemory(t *testing.T) {
	m := hwtest.NUMA()
	var ends [8]unit.Time
	hwtest.Run(t, m, 8, func(p device.Port) {
		b := make([]byte, 2000)
		for range 100 {
			p.Copy(b[:900], b)
			p.Copy(b, b)
		}
		ends[p.Rank()] = p.Now()
	})
	for rank, end := range ends { // 900 bytes at 400 MB/s, 2000 at 250
		if want := 100 * (2250*unit.Nanosecond + 8*us); end != want {
			t.Errorf("rank %d: %v, want %v", rank, end, want)
		}
	}
}

// Single copies of one process's memory pin its pages one after the other: a page of 4 kB in 40 µs,
// so 100 MB/s at most for all. A core that copies at 100 MB/s gets 50 alone, as it pins each page
// before it copies it.
func TestPagesArePinnedInTurn(t *testing.T) {
	m, n := free()
	n.Memory, n.Link, n.Page = 10e9, 10e9, model.PageCost{Size: 4000, Time: 40 * us}
	for _, c := range []struct {
		what string
		all  []copying
		want float64
	}{
		{"one", []copying{{1, 0}}, 50e6},
		{"two of one process", []copying{{1, 0}, {9, 0}}, 50e6},
		{"five of one process", []copying{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {9, 0}}, 20e6},
		{"three of three processes", []copying{{1, 0}, {2, 3}, {4, 5}}, 50e6},
		{"copies without pages", []copying{{1, 1}, {2, 2}, {4, 4}}, 100e6},
	} {
		for i, got := range measureRates(t, m, c.all, 10_000, 20*unit.Millisecond) {
			if got < 0.99*c.want || got > 1.01*c.want {
				t.Errorf("%s: rank %d copies %.1f MB/s, want %.1f", c.what, c.all[i].rank, got/1e6, c.want/1e6)
			}
		}
	}
}

// Ranks sit on cores in the order of the platform.
func TestOrders(t *testing.T) {
	n := hwtest.NUMA().Network.(*model.NUMA)
	for order, want := range map[model.CoreOrder][]int{
		model.BlockOrder:            {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		model.RoundRobinOrder:       {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15},
		model.DomainRoundRobinOrder: {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
	} {
		n.Order = order
		for end, core := range want {
			if got := n.CoreOf(end); got != core || n.SocketOf(end) != core/8 || n.DomainOf(end) != core/4 {
				t.Errorf("order %v: end %d is on core %d of domain %d and socket %d, want %d, %d, %d", order, end, got, n.DomainOf(end), n.SocketOf(end), core, core/4, core/8)
			}
		}
	}
}

// A counter takes the cache line there and back.
func TestCounter(t *testing.T) {
	hwtest.Run(t, hwtest.NUMA(), 16, func(p device.Port) {
		if p.Rank() != 3 {
			return
		}
		for dst, want := range map[int]unit.Time{2: us + 200_000, 0: us + 400_000, 7: us + 600_000, 12: us + 800_000} {
			at := p.Now()
			p.Counters().FetchAndAddRegister(dst, 0, 1)
			if took := p.Now() - at; took != want {
				t.Errorf("to count at %d takes %v, want %v", dst, took, want)
			}
		}
	})
}

// Written data can be read when the write has ended, and not before.
func TestPutsEndWhenTheyAreSeen(t *testing.T) {
	const n = 2500
	end := us + us + 30_518 + unit.Rate(100e6).Time(n) + 400_000 // start, 2500/4096 of a page, the bytes, the latency to the other socket
	b := make([]byte, n)
	hwtest.Run(t, hwtest.NUMA(), 16, func(p device.Port) {
		key := p.Memory().Expose(b)
		switch p.Rank() {
		case 0:
			p.Delay(us) // memory is exposed
			p.Memory().Put(15, key, 0, bytes.Repeat([]byte{1}, n), device.Head{})
			if p.Now() != end {
				t.Errorf("a write from 1us on ends at %v, want %v", p.Now(), end)
			}
		case 15:
			p.Delay(end - 1)
			before := b[n-1]
			p.Delay(2)
			if before != 0 || b[n-1] != 1 {
				t.Errorf("the last byte is %d before the end and %d after, want 0 and 1", before, b[n-1])
			}
		}
	})
}

// What an observer is told of memories and links adds up to the bytes that passed them, one after
// the other, at their bandwidths, and within the time of the run. Observing changes nothing.
func TestReportedSharesAddUp(t *testing.T) {
	m := hwtest.NUMA()
	n := m.Network.(*model.NUMA)
	n.Caches = nil
	const ranks, size, rounds = 16, 6000, 5
	program := func(end []unit.Time) func(p device.Port) {
		return func(p device.Port) {
			r := rand.New(rand.NewPCG(1, uint64(p.Rank())))
			for i := range rounds {
				p.Delay(unit.Time(r.IntN(int(50 * us))))
				p.Send((p.Rank()+8)%ranks, &device.Packet{Data: make([]byte, size)}) // to the other socket
				p.Recv(true)
				p.Copy(make([]byte, size), make([]byte, size-1000*i))
			}
			end[p.Rank()] = p.Now()
		}
	}
	observed, alone := make([]unit.Time, ranks), make([]unit.Time, ranks)
	line := hwtest.TimelineOf(t, m, ranks, program(observed))
	hwtest.Run(t, m, ranks, program(alone))
	if !slices.Equal(observed, alone) {
		t.Errorf("ranks end at %v, observed at %v", alone, observed)
	}
	copied := 0
	for i := range rounds {
		copied += size - 1000*i
	}
	// Four ranks of a domain copy, and send and receive what they got.
	want := map[string]int{"link 0 to 1": 8 * rounds * size, "link 1 to 0": 8 * rounds * size}
	for d := range 4 {
		want[fmt.Sprintf("domain %d memory", d)] = 4 * (2*rounds*size + 2*copied)
	}
	for _, x := range line.Resources {
		bytes, ok := want[x.Name]
		if !ok {
			continue
		}
		delete(want, x.Name)
		rate := n.Memory
		if x.Name[0] == 'l' {
			rate = n.Link
		}
		if busy := x.Totals[model.CarryActivity]; x.Bytes != bytes || busy > rate.Time(bytes)+unit.Time(len(x.Spans)) || busy < rate.Time(bytes)-unit.Time(len(x.Spans)) {
			t.Errorf("%s carried %d bytes in %v, want %d in %v", x.Name, x.Bytes, busy, bytes, rate.Time(bytes))
		}
		at := unit.Time(0)
		for _, s := range x.Spans {
			if s.From < at || s.To > slices.Max(observed) {
				t.Fatalf("%s is taken from %v to %v, after %v", x.Name, s.From, s.To, at)
			}
			at = s.To
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is reported of %v", want)
	}
}

// Messages of any length, cached or not, contending or not, allocate nothing once a run has begun.
func TestTransfersAllocateNothing(t *testing.T) {
	allocated := func(rounds int) float64 {
		return testing.AllocsPerRun(3, func() {
			hwtest.Run(t, hwtest.NUMA(), 16, func(p device.Port) {
				b := make([]byte, 5000)
				key := p.Memory().Expose(make([]byte, len(b)))
				p.Delay(us)
				x := &device.Packet{Data: b}
				for range rounds {
					p.Send((p.Rank()+5)%16, x)
					p.Recv(true)
					p.Copy(b, b)
					p.Memory().Get((p.Rank()+9)%16, key, 0, b, device.Head{})
					p.Recv(true)
				}
				p.Delay(unit.Second)
			})
		})
	}
	if few, many := allocated(20), allocated(220); many > few+20 {
		t.Errorf("200 more rounds of 16 ranks allocate %v times more", many-few)
	}
}
