package torus_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// With noise, too, a short packet does not overtake the long one before it, whatever is charged for
// that.
func TestOrderWithNoise(t *testing.T) {
	w := hwtest.Open(t, hw.Config{Machine: hwtest.Torus(), Ranks: 4, Seed: 1, Noise: 0.3})
	const packets = 200
	err := w.Run(func(p device.Port) error {
		for i := range packets {
			switch p.Rank() {
			case 0:
				p.Send(3, &device.Packet{Head: device.Head{uint64(i)}, Data: make([]byte, (i+1)%2*900)})
				p.Delay(unit.Time(i%3) * us) // so that the next begins when this one is leaving, or has left
			case 3:
				if got := p.Recv(true).Head[0]; got != uint64(i) {
					return fmt.Errorf("packet %d came before packet %d", got, i)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Streams that share a link take as long as the link needs for all of them, and those that do not,
// as long as their senders need. Five nodes are a ring.
func TestSharing(t *testing.T) {
	const packets, n = 50, 5000
	alone := unit.Time(packets) * (us + n*10_000)
	for _, c := range []struct {
		what   string
		pairs  [][2]int
		shared int // streams on the busiest link
		behind int // streams on the busiest interface out
	}{
		{"alone", [][2]int{{0, 2}}, 1, 1},
		{"two of a node to two nodes", [][2]int{{0, 2}, {1, 8}}, 2, 2},
		{"three through one link", [][2]int{{0, 4}, {2, 5}, {3, 6}}, 3, 2},
		{"four into one node", [][2]int{{0, 4}, {2, 5}, {6, 4}, {8, 5}}, 4, 1},
		{"two ways of one link", [][2]int{{0, 2}, {2, 0}, {1, 3}, {3, 1}}, 2, 2},
		{"inside a node", [][2]int{{0, 1}}, 1, 1},
	} {
		var sent, received [10]unit.Time
		m := hwtest.Torus()
		m.Network.(*model.Torus).Link = 150e6
		hwtest.Run(t, m, 10, func(p device.Port) {
			for _, pair := range c.pairs {
				if pair[0] == p.Rank() {
					sent[p.Rank()] = hwtest.SendPackets(p, pair[1], packets, n)
				}
			}
			mine := 0
			for _, pair := range c.pairs {
				if pair[1] == p.Rank() {
					mine += packets
				}
			}
			received[p.Rank()] = hwtest.ReceivePackets(p, mine)
		})
		link := m.Network.(*model.Torus).Link // two streams are more than it takes
		least := max(alone, link.Time(c.shared*packets*n))
		var last, late unit.Time
		for r := range 10 {
			last, late = max(last, received[r]), max(late, sent[r])
		}
		if last < least || last > least+least/10 {
			t.Errorf("%s: all is there after %v, want %v and little more", c.what, last, least)
		}
		// A busy interface delays the processors behind it. Packets that wait for
		// a link farther on wait in the switches.
		if c.behind > 0 {
			if least := max(alone, link.Time(c.behind*packets*n)); late < least*9/10 {
				t.Errorf("%s: the last sender was free after %v, its interface needs %v", c.what, late, least)
			}
		}
	}
}

// TestPhysics checks random traffic: nothing is lost, nothing beats its processor, its engine or
// its wire, and no interface lets more pass than it can.
func TestPhysics(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := hwtest.Torus()
		ranks := 2 + r.IntN(14)
		m.Network.(*model.Torus).Link = []unit.Rate{200e6, 125e6, 130e6, 1e9}[r.IntN(4)]
		m.Network.(*model.Torus).Header = []int{0, 40}[r.IntN(2)]
		x := hwtest.RandomTransfers(t, m, ranks, seed, true)
		n := m.Network.(*model.Torus)
		latency := func(a, b int) unit.Time {
			p := m.PathBetweenRanks(ranks, a, b)
			return n.Deliver + n.HopLatency*unit.Time(p.Hops) + n.TurnLatency*unit.Time(p.Turns)
		}
		var in, out [100]load
		pass := func(c hwtest.Transfer, bytes int, least unit.Time) {
			if c.EndTime-c.StartTime < least {
				t.Errorf("seed %d: %d bytes from %d to %d (get %v) took %v, they need %v", seed, c.Bytes, c.Src, c.Dst, c.Get, c.EndTime-c.StartTime, least)
			}
			from, to := c.Src/n.ProcessorsPerNode, c.Dst/n.ProcessorsPerNode
			if c.Get {
				from, to = to, from
			}
			out[from].add(bytes, c.StartTime, c.EndTime)
			in[to].add(bytes, c.StartTime, c.EndTime)
		}
		for _, c := range x.Packets {
			pass(c, c.Bytes+n.Header, n.Send.Time(c.Bytes+n.Header)+latency(c.Src, c.Dst))
		}
		for _, c := range x.Accesses {
			there, back := latency(c.Src, c.Dst), latency(c.Dst, c.Src)
			channel := n.Put
			if c.Get {
				channel = n.Get
			}
			pass(c, c.Bytes, channel.Time(c.Bytes)+there+back)
		}
		for node := range in {
			for what, l := range map[string]*load{"into": &in[node], "out of": &out[node]} {
				if l.Bytes > 0 && l.To-l.From < n.Link.Time(l.Bytes) {
					t.Errorf("seed %d: %d bytes came %s node %d in %v, a link needs %v", seed, l.Bytes, what, node, l.To-l.From, n.Link.Time(l.Bytes))
				}
			}
		}
	}
}

// load is what passed an interface.
type load struct {
	Bytes    int
	From, To unit.Time
}

func (l *load) add(bytes int, from, to unit.Time) {
	if l.Bytes == 0 || from < l.From {
		l.From = from
	}
	l.Bytes += bytes
	l.To = max(l.To, to)
}

// To look at the clock does not change what happens.
func TestWatched(t *testing.T) {
	for seed := range uint64(20) {
		torus, hypernodes := hwtest.Torus(), hwtest.Hypernodes(3, 3)
		torus.Network.(*model.Torus).Link = 130e6
		hypernodes.Network.(*model.Hypernodes).Port, hypernodes.Network.(*model.Hypernodes).Rings, hypernodes.Network.(*model.Hypernodes).Ring = 130e6, 1, 60e6
		for _, m := range []*model.Machine{torus, hypernodes, hwtest.NUMA()} {
			a, b := hwtest.RandomTransfers(t, m, 6, seed, true), hwtest.RandomTransfers(t, m, 6, seed, false)
			for i := range a.Packets {
				if a.Packets[i].EndTime != b.Packets[i].EndTime {
					t.Errorf("%s, seed %d: packet %d arrives at %v, or at %v if its sender looks at the clock", m.Name, seed, i, b.Packets[i].EndTime, a.Packets[i].EndTime)
					break
				}
			}
		}
	}
}
