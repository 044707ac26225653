package fattree_test

import (
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

// By the routing, each shift of a tree with as many links up as down has every link for itself: all
// nodes together put at the rate of links, through any bisection. With half of the links a level up
// nodes get half, where all flows go that far.
func TestFatTreeBisection(t *testing.T) {
	rate := func(m *model.Machine, target []int) (low, high float64) {
		rates := hwtest.MeasurePutRates(t, m, target, 40*unit.Millisecond)
		link := float64(m.Network.(*model.FatTree).Link)
		return slices.Min(rates) / link, slices.Max(rates) / link
	}
	for _, c := range []struct {
		arity, nodes int
		up           []int
		by           []int
		want         float64
	}{
		{4, 64, []int{4, 4}, []int{1, 5, 16, 32, 63}, 1},
		{2, 16, []int{2, 2, 2}, []int{1, 3, 8, 11}, 1},
		{4, 64, []int{2, 4}, []int{16, 32}, 0.5},
		{4, 64, []int{2, 2}, []int{32}, 0.25}, // as the CM-5: 20, 10 and 5 MB/s
	} {
		for _, by := range c.by {
			if low, high := rate(hwtest.FatTree(c.arity, 100e6, c.up...), hwtest.ShiftedTargets(c.nodes, by)); low < 0.97*c.want || high > 1.01*c.want {
				t.Errorf("arity %d, up %v, shift of %d by %d: nodes get %.3f to %.3f of a link, want %v", c.arity, c.up, c.nodes, by, low, high, c.want)
			}
		}
	}
}

// Flows that share links get what links can carry, each its share, in random permutations of trees
// of several shapes.
func TestFatTreeContention(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	var all []float64
	for i, m := range []*model.Machine{hwtest.FatTree(4, 90e6, 4, 4), hwtest.FatTree(4, 60e6, 2, 2), hwtest.FatTree(3, 60e6, 2, 3), hwtest.FatTree(2, 60e6, 1, 2, 1, 1), hwtest.FatTree(5, 90e6, 2)} {
		n := min(m.Network.(*model.FatTree).Capacity(), 64)
		for range 3 {
			hwtest.CheckFairShares(t, fmt.Sprintf("tree %d, seed 1", i), m, r.Perm(n-i%2), 200*unit.Millisecond, &all)
		}
	}
	slices.Sort(all)
	t.Logf("%d flows, throughput over max-min fair share: lowest %.3f, median %.3f, highest %.3f", len(all), all[0], all[len(all)/2], all[len(all)-1])
	if all[0] < 0.9 || all[len(all)-1] > 1.1 {
		t.Errorf("throughput is %.3f to %.3f of the max-min fair share, want 0.9 to 1.1", all[0], all[len(all)-1])
	}
}

// A message goes in packets of the interface, which its sender stores one after the other and its
// receiver takes in. The expected times are added up by hand.
func TestFatTreePackets(t *testing.T) {
	m := hwtest.FatTree(4, 100e6, 4)
	f := m.Network.(*model.FatTree)
	f.Send.Burst = model.AccessWidth{Size: 64, Time: 250_000}
	f.Receive.Word.Time = 1_000_000
	for _, c := range []struct {
		bytes      int
		sent, took unit.Time // when its sender is free, and when its receiver has it
	}{
		// Of 16 bytes, two words: 0.3 + 2·0.1 us. Three switches, and delivery: 3·0.15 + 0.3 us;
		// then 0.3 + 2·0.1.
		{8, 500_000, 500_000 + 750_000 + 300_000 + 2_000_000},
		// 96 bytes: a burst and four words, 0.3 + 0.25 + 4·0.1. The link takes 0.96 us, 0.01 more.
		{88, 950_000, 950_000 + 10_000 + 750_000 + 300_000 + 12_000_000},
		// Two of these: the second is stored when the link has taken the first. Then one of 8 + 4
		// bytes.
		{180, 2*960_000 + 500_000, 2*960_000 + 500_000 + 750_000 + 2*12_300_000 + 2_300_000},
	} {
		var sent, took unit.Time
		hwtest.Run(t, m, 16, func(p device.Port) {
			switch p.Rank() {
			case 0:
				p.Send(15, &device.Packet{Data: make([]byte, c.bytes)})
				p.Delay(0)
				sent = p.Now()
			case 15:
				if got := len(p.Recv(true).Data); got != c.bytes {
					t.Errorf("%d bytes arrive, want %d", got, c.bytes)
				}
				took = p.Now()
			}
		})
		if sent != c.sent || took != c.took {
			t.Errorf("%d bytes: sent in %v, received at %v, want %v and %v", c.bytes, sent, took, c.sent, c.took)
		}
	}
}

// Only interfaces with an engine access memory, and none has counters.
func TestFatTreeCapabilities(t *testing.T) {
	for _, rdma := range []bool{false, true} {
		m := hwtest.FatTree(4, 100e6)
		if !rdma {
			m.Network.(*model.FatTree).Put, m.Network.(*model.FatTree).Get = model.Channel{}, model.Channel{}
		}
		hwtest.Run(t, m, 2, func(p device.Port) {
			if got := p.Memory() != nil; got != rdma || p.Counters() != nil {
				t.Errorf("engine %v: memory %v, counters %v", rdma, got, p.Counters() != nil)
			}
		})
	}
}

// smpsOf returns SMPs of so many ranks on a tree, each with one interface that has a lock.
func smpsOf(ranks int) *model.Machine {
	m := hwtest.FatTree(4, 60e6, 4)
	m.Network.(*model.FatTree).InterfaceLock = us
	m.Nodes = &model.Nodes{Ranks: ranks, Interfaces: 1, Inside: &model.Hypernodes{Sizes: []int{ranks}, ProcessorsPerBlock: ranks, Port: 1e9, Rings: 1, Chunk: 1000,
		Access: [model.NumTiers]model.MemoryAccess{model.IntraNode: {Send: model.Channel{Bandwidth: 1e8}, Put: model.Channel{Bandwidth: 1e8}, Get: model.Channel{Bandwidth: 1e8}}}}}
	return m
}

// Ranks of an SMP that send at once take the lock of the interface one after the other, and those
// that receive do, too. Ranks of several SMPs do not wait for each other.
func TestInterfaceLock(t *testing.T) {
	const each = us + 300_000 + 12*100_000 // the lock, and a packet of 96 bytes in 12 words
	for senders := 1; senders <= 4; senders++ {
		for _, apart := range []int{1, 4} { // in one SMP, or in SMPs of their own
			var sent, received []unit.Time
			hwtest.Run(t, smpsOf(4), 32, func(p device.Port) {
				r := p.Rank()
				switch {
				case r%apart == 0 && r/apart < senders:
					p.Send(16+r, &device.Packet{Data: make([]byte, 88)})
					p.Delay(0)
					sent = append(sent, p.Now())
				case r >= 16 && (r-16)%apart == 0 && (r-16)/apart < senders:
					p.Delay(unit.Millisecond)
					p.Recv(true)
					received = append(received, p.Now()-unit.Millisecond)
				}
			})
			for _, ends := range [][]unit.Time{sent, received} {
				for i, got := range slices.Sorted(slices.Values(ends)) {
					want := unit.Time(each)
					if apart == 1 {
						want *= unit.Time(i + 1)
					}
					if got != want {
						t.Errorf("%d ranks, %d apart: number %d is done after %v, want %v", senders, apart, i, got, want)
					}
				}
			}
		}
	}
}

// An interface takes in one remote write at a time, and carries one: those to one target come one
// after the other, those to several at once. A write in each direction is two, which take turns
// where the interface is half duplex.
func TestOneConnection(t *testing.T) {
	const n = 60_000
	one := us + unit.Rate(60e6).Time(n) + 2*(300_000+150_000)
	for _, c := range []struct {
		target map[int]int
		times  int
		half   bool
	}{
		{map[int]int{0: 4}, 1, false}, {map[int]int{0: 4, 4: 0}, 1, false}, {map[int]int{0: 4, 1: 5}, 2, false}, {map[int]int{0: 4, 8: 4}, 2, false},
		{map[int]int{0: 4, 8: 12}, 1, false}, {map[int]int{0: 8, 1: 9, 4: 10, 5: 11}, 4, false}, {map[int]int{0: 4, 4: 0}, 2, true}, {map[int]int{0: 4, 4: 8}, 2, true}, {map[int]int{0: 4, 8: 12}, 1, true},
	} {
		var last unit.Time
		m := smpsOf(4)
		m.Network.(*model.FatTree).HalfDuplex = c.half
		hwtest.Run(t, m, 16, func(p device.Port) {
			key := p.Memory().Expose(make([]byte, n))
			p.Delay(us)
			if to, ok := c.target[p.Rank()]; ok {
				p.Memory().Put(to, key, 0, make([]byte, n), device.Head{})
				p.Recv(true)
				last = max(last, p.Now()-us)
			}
			p.Delay(unit.Second)
		})
		want := one + unit.Time(c.times-1)*unit.Rate(60e6).Time(n)
		if last < want || last > want+us {
			t.Errorf("puts %v: the last ends after %v, want %v", c.target, last, want)
		}
	}
}

// prioritized returns a tree of SMPs of one rank whose interfaces have queues of two priorities.
func prioritized() *model.Machine {
	m := smpsOf(1)
	m.Network.(*model.FatTree).PriorityQueueLength = 8
	return m
}

// receive looks for a message of a priority until there is one, and returns when it has been taken.
func receive(p device.Port, pri device.Priority) unit.Time {
	for p.Channel().Recv(pri) == nil {
	}
	return p.Now()
}

// A remote write keeps messages of high priority out of both interfaces until it has ended, and of
// no others. Low ones pass.
func TestPriorityAndRDMA(t *testing.T) {
	const bytes = 600_000
	took := unit.Rate(60e6).Time(bytes)
	for _, c := range []struct {
		from, to int
		pri      device.Priority
		held     bool
	}{{0, 1, device.HighPriority, true}, {2, 1, device.HighPriority, true}, {0, 2, device.HighPriority, true}, {1, 0, device.HighPriority, true}, {2, 3, device.HighPriority, false}, {0, 1, device.LowPriority, false}, {2, 1, device.LowPriority, false}} {
		var sent, come unit.Time
		hwtest.Run(t, prioritized(), 4, func(p device.Port) {
			key := p.Memory().Expose(make([]byte, bytes))
			p.Delay(us)
			if p.Rank() == 0 {
				p.Memory().Put(1, key, 0, make([]byte, bytes), device.Head{})
			}
			p.Delay(5 * us)
			switch p.Rank() {
			case c.from:
				for !p.Channel().Send(c.to, c.pri, make([]byte, 8)) {
				}
				sent = p.Now()
			case c.to:
				come = receive(p, c.pri)
			}
			p.Delay(unit.Second)
		})
		if held := sent > took; held != c.held || sent > took+10*us || come > sent+50*us { // a chunk of the write
			t.Errorf("from %d to %d with priority %d: sent at %v and received at %v, and a write from 0 to 1 takes %v", c.from, c.to, c.pri, sent, come, took)
		}
	}
}

// Where messages wait for a link, those of high priority go first, and wait for one on it at most.
func TestPriorityOnLinks(t *testing.T) {
	last := func(pri device.Priority) (at unit.Time) {
		m := prioritized()
		f := m.Network.(*model.FatTree)
		f.Link, f.PriorityQueueLength = 20e6, 100
		hwtest.Run(t, m, 8, func(p device.Port) {
			p.Delay(us)
			switch r := p.Rank(); r {
			case 7: // from another switch than the others
				for p.Now() < 3*unit.Millisecond {
					for _, x := range []device.Priority{device.LowPriority, device.HighPriority} {
						if q := p.Channel().Recv(x); q != nil && q.Src == 6 {
							at = p.Now()
						}
					}
				}
			case 6:
				p.Delay(50 * us)
				p.Channel().Send(7, pri, make([]byte, 80))
			default: // six at the rate of one link each to one
				for range 12 {
					p.Channel().Send(7, device.LowPriority, make([]byte, 88))
				}
			}
		})
		return at - 51*us
	}
	low, high := last(device.LowPriority), last(device.HighPriority)
	if high <= 0 || high > 40*us || low < 2*high {
		t.Errorf("a message is %v on its way with high priority and %v with low", high, low)
	}
}
