package hw

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// machine is a torus with round numbers: a packet of n bytes keeps its sender busy for 1 µs and 10
// ns a byte, a link for 5 ns.
func machine() *model.Machine {
	return &model.Machine{Name: "torus", Ranks: model.Ranks{Min: 1, Max: 4096}, Timer: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}},
		Network: &model.Torus{PerNode: 2, Hop: 50_000, Turn: 7_000, Deliver: 100_000, Link: 200e6, Chunk: 1000, Header: 0,
			Send: model.Channel{Start: us, Bandwidth: 100e6}, Receive: 200_000,
			Put: model.Channel{Start: 2 * us, Bandwidth: 125e6}, Get: model.Channel{Start: 3 * us, Bandwidth: 50e6}, Counter: us, Barrier: us}}
}

// run runs a program on a machine.
func run(t testing.TB, m *model.Machine, ranks int, program func(p device.Port)) {
	t.Helper()
	w, err := New(Config{Machine: m, Ranks: ranks, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(func(p device.Port) error { program(p); return nil }); err != nil {
		t.Fatal(err)
	}
}

// With noise, too, a short packet does not overtake the long one before it, whatever is charged for
// that.
func TestOrderWithNoise(t *testing.T) {
	w, err := New(Config{Machine: machine(), Ranks: 4, Seed: 1, Noise: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	const packets = 200
	err = w.Run(func(p device.Port) error {
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

// stream sends packets of n bytes, and returns when the sender was free again.
func stream(p device.Port, dst, packets, n int) unit.Time {
	for range packets {
		p.Send(dst, &device.Packet{Data: make([]byte, n)})
	}
	return p.Now()
}

// drain receives and returns when the last packet was there.
func drain(p device.Port, packets int) unit.Time {
	for range packets {
		p.Recv(true)
	}
	return p.Now()
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
		m := machine()
		m.Network.(*model.Torus).Link = 150e6
		run(t, m, 10, func(p device.Port) {
			for _, pair := range c.pairs {
				if pair[0] == p.Rank() {
					sent[p.Rank()] = stream(p, pair[1], packets, n)
				}
			}
			mine := 0
			for _, pair := range c.pairs {
				if pair[1] == p.Rank() {
					mine += packets
				}
			}
			received[p.Rank()] = drain(p, mine)
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

// traffic is what random transfers did.
type traffic struct {
	packets  []crossing // by sender, in order
	accesses []crossing
}

// crossing is a transfer: who, how much, from when to when.
type crossing struct {
	src, dst, bytes int
	get             bool
	from, to        unit.Time
}

// free makes taking a packet cost nothing, so that a receiver which waits sees when it came.
func free(m *model.Machine) {
	if m.Network.Kind() == "torus" {
		m.Network.(*model.Torus).Receive = 0
	}
	if h, ok := m.Network.(*model.Hypernodes); ok {
		for t := range h.Access {
			h.Access[t].Receive, h.Access[t].Fetch = 0, 0
		}
	}
}

// random runs random transfers. Even ranks send packets to odd ones, which do nothing but receive,
// and read and write what these expose. Each looks at its clock after each step, or only where it
// must.
func random(t *testing.T, m *model.Machine, ranks int, seed uint64, watched bool) (x traffic) {
	byRank := make([]traffic, ranks)
	type arrival struct {
		at    unit.Time
		bytes int
	}
	arrived := make(map[[2]int][]arrival)
	free(m)
	run(t, m, ranks, func(p device.Port) {
		p.Memory().Expose(make([]byte, 10000))
		if p.Rank()%2 == 1 {
			for left := (ranks + 1) / 2; left > 0; {
				q := p.Recv(true)
				if q.Head[0] == 2 {
					left--
					continue
				}
				pair := [2]int{q.Src, p.Rank()}
				arrived[pair] = append(arrived[pair], arrival{p.Now(), len(q.Data)})
			}
			return
		}
		r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
		me := &byRank[p.Rank()]
		p.Delay(unit.Time(r.IntN(1000_000)))
		open := 0
		end := func() {
			q := p.Recv(true)
			me.accesses[q.Head[1]].to = p.Now()
			open--
		}
		for range 60 {
			dst, n := r.IntN(ranks/2)*2+1, r.IntN(4000)
			at := unit.Time(0)
			if watched {
				at = p.Now()
			}
			switch r.IntN(6) {
			case 0:
				p.Delay(unit.Time(r.IntN(20_000_000)))
			case 1:
				get := r.IntN(2) == 0
				done := device.Head{1, uint64(len(me.accesses))}
				me.accesses = append(me.accesses, crossing{p.Rank(), dst, n, get, at, 0})
				open++
				if get {
					p.Memory().Get(dst, 0, 0, make([]byte, n), done)
				} else {
					p.Memory().Put(dst, 0, 0, make([]byte, n), done)
				}
				if m.Network.Kind() == "hypernodes" { // it has ended
					end()
				}
			default:
				p.Send(dst, &device.Packet{Data: make([]byte, n)})
				me.packets = append(me.packets, crossing{p.Rank(), dst, n, false, at, 0})
			}
		}
		for open > 0 {
			end()
		}
		for dst := 1; dst < ranks; dst += 2 {
			p.Send(dst, &device.Packet{Head: device.Head{2}})
		}
	})
	for _, me := range byRank {
		for _, c := range me.packets {
			pair := [2]int{c.src, c.dst}
			if len(arrived[pair]) == 0 {
				t.Fatalf("seed %d: a packet of %d bytes from %d to %d is lost", seed, c.bytes, c.src, c.dst)
			}
			if got := arrived[pair][0].bytes; got != c.bytes {
				t.Fatalf("seed %d: a packet of %d bytes from %d to %d comes as one of %d", seed, c.bytes, c.src, c.dst, got)
			}
			c.to, arrived[pair] = arrived[pair][0].at, arrived[pair][1:]
			x.packets = append(x.packets, c)
		}
		x.accesses = append(x.accesses, me.accesses...)
	}
	return x
}

// TestPhysics checks random traffic: nothing is lost, nothing beats its processor, its engine or
// its wire, and no interface lets more pass than it can.
func TestPhysics(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := machine()
		ranks := 2 + r.IntN(14)
		m.Network.(*model.Torus).Link = []unit.Rate{200e6, 125e6, 130e6, 1e9}[r.IntN(4)]
		m.Network.(*model.Torus).Header = []int{0, 40}[r.IntN(2)]
		x := random(t, m, ranks, seed, true)
		n := m.Network.(*model.Torus)
		latency := func(a, b int) unit.Time {
			p := m.Path(ranks, a, b)
			return n.Deliver + n.Hop*unit.Time(p.Hops) + n.Turn*unit.Time(p.Turns)
		}
		var in, out [100]load
		pass := func(c crossing, bytes int, least unit.Time) {
			if c.to-c.from < least {
				t.Errorf("seed %d: %d bytes from %d to %d (get %v) took %v, they need %v", seed, c.bytes, c.src, c.dst, c.get, c.to-c.from, least)
			}
			from, to := c.src/n.PerNode, c.dst/n.PerNode
			if c.get {
				from, to = to, from
			}
			out[from].add(bytes, c.from, c.to)
			in[to].add(bytes, c.from, c.to)
		}
		for _, c := range x.packets {
			pass(c, c.bytes+n.Header, n.Send.Time(c.bytes+n.Header)+latency(c.src, c.dst))
		}
		for _, c := range x.accesses {
			there, back := latency(c.src, c.dst), latency(c.dst, c.src)
			channel := n.Put
			if c.get {
				channel = n.Get
			}
			pass(c, c.bytes, channel.Time(c.bytes)+there+back)
		}
		for node := range in {
			for what, l := range map[string]*load{"into": &in[node], "out of": &out[node]} {
				if l.bytes > 0 && l.to-l.from < n.Link.Time(l.bytes) {
					t.Errorf("seed %d: %d bytes came %s node %d in %v, a link needs %v", seed, l.bytes, what, node, l.to-l.from, n.Link.Time(l.bytes))
				}
			}
		}
	}
}

// load is what passed an interface.
type load struct {
	bytes    int
	from, to unit.Time
}

func (l *load) add(bytes int, from, to unit.Time) {
	if l.bytes == 0 || from < l.from {
		l.from = from
	}
	l.bytes += bytes
	l.to = max(l.to, to)
}

// To look at the clock does not change what happens.
func TestWatched(t *testing.T) {
	for seed := range uint64(20) {
		torus, hypernodes := machine(), shared(3, 3)
		torus.Network.(*model.Torus).Link = 130e6
		hypernodes.Network.(*model.Hypernodes).Port, hypernodes.Network.(*model.Hypernodes).Rings, hypernodes.Network.(*model.Hypernodes).Ring = 130e6, 1, 60e6
		for _, m := range []*model.Machine{torus, hypernodes} {
			a, b := random(t, m, 6, seed, true), random(t, m, 6, seed, false)
			for i := range a.packets {
				if a.packets[i].to != b.packets[i].to {
					t.Errorf("%s, seed %d: packet %d arrives at %v, or at %v if its sender looks at the clock", m.Name, seed, i, b.packets[i].to, a.packets[i].to)
					break
				}
			}
		}
	}
}
