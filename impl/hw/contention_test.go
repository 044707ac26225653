package hw

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// torusOf returns a torus with rounded numbers of a Cray T3D and one rank a node.
func torusOf(source unit.Rate) *model.Machine {
	channel := model.Channel{Start: us, Bandwidth: source}
	return &model.Machine{Name: "torus", Ranks: model.Ranks{Min: 1, Max: 4096}, Timer: 1, Network: &model.Torus{PerNode: 1,
		Hop: 13_333, Turn: 6_667, Deliver: 100_000, Link: 300e6, Chunk: 4096, Send: channel, Put: channel, Get: channel, Counter: us}}
}

// resources returns what a flow from a node of a torus to another needs, by name: both interfaces,
// and links by the order of dimensions, the shorter way round. A way that is half of a ring goes
// up.
func resources(shape [3]int, from, to int) []string {
	names := []string{fmt.Sprintf("node %d inject", from)}
	at := [3]int{from % shape[0], from / shape[0] % shape[1], from / (shape[0] * shape[1])}
	end := [3]int{to % shape[0], to / shape[0] % shape[1], to / (shape[0] * shape[1])}
	for d, size := range shape {
		for at[d] != end[d] {
			sign, step := "+", 1
			if up := (end[d] + size - at[d]) % size; 2*up > size {
				sign, step = "-", size-1
			}
			names = append(names, fmt.Sprintf("node %d link %s%c", at[0]+shape[0]*(at[1]+shape[1]*at[2]), sign, "xyz"[d]))
			at[d] = (at[d] + step) % size
		}
	}
	return append(names, fmt.Sprintf("node %d eject", to))
}

// share returns what each flow gets at least where flows that share a link share it equally, and
// what it gets if all get as much as is possible without taking from one that has no more (max-min
// fairness, by progressive filling: Bertsekas and Gallager, Data Networks, section 6.5.2).
func share(flows [][]string, source, link float64) (least, fair []float64) {
	users := map[string][]int{}
	for i, f := range flows {
		for _, r := range f {
			users[r] = append(users[r], i)
		}
	}
	least, fair = make([]float64, len(flows)), make([]float64, len(flows))
	for i, f := range flows {
		least[i] = source
		for _, r := range f {
			least[i] = min(least[i], link/float64(len(users[r])))
		}
	}
	fixed := make([]bool, len(flows))
	for level := 0.0; level < source; {
		next := source
		for _, of := range users {
			left, open := link, 0
			for _, i := range of {
				if left -= fair[i]; !fixed[i] {
					left += fair[i]
					open++
				}
			}
			if open > 0 {
				next = min(next, left/float64(open))
			}
		}
		level = next
		for i := range fair {
			if !fixed[i] {
				fair[i] = level
			}
		}
		for _, of := range users {
			sum := 0.0
			for _, i := range of {
				sum += fair[i]
			}
			if sum > link*(1-1e-9) {
				for _, i := range of {
					fixed[i] = true
				}
			}
		}
	}
	return least, fair
}

// Each node keeps four puts of 16 KiB under way.
const (
	putBytes  = 16 << 10
	putWindow = 4
)

// fabric is what a network of switches says of itself, for these tests.
type fabric struct {
	put       model.Channel
	link      unit.Rate
	wire      func(model.Path) unit.Time // of a first byte
	resources func(nodes, from, to int) []string
}

// fabricOf returns that of a machine's network.
func fabricOf(m *model.Machine) fabric {
	if f, ok := m.Network.(*model.FatTree); ok {
		return fabric{f.Put, f.Link, func(p model.Path) unit.Time { return f.Deliver + f.Hop*unit.Time(p.Hops) }, func(_, from, to int) []string { return treeResources(f, from, to) }}
	}
	n := m.Network.(*model.Torus)
	return fabric{n.Put, n.Link, func(p model.Path) unit.Time { return n.Deliver + n.Hop*unit.Time(p.Hops) + n.Turn*unit.Time(p.Turns) },
		func(nodes, from, to int) []string { return resources(n.Shape(nodes), from, to) }}
}

// throughput returns at what rate each node puts to its target, in bytes a second, in the time from
// a quarter of what it lasts on. No put may be faster than its engine and its way there and back.
func throughput(t *testing.T, m *model.Machine, target []int, lasts unit.Time) []float64 {
	t.Helper()
	n := fabricOf(m)
	rates := make([]float64, len(target))
	begin := lasts / 4
	run(t, m, len(target), func(p device.Port) {
		key := p.Memory().Expose(make([]byte, putBytes))
		data := make([]byte, putBytes)
		path := m.Path(len(target), p.Rank(), target[p.Rank()])
		wire := n.put.Time(putBytes) + 2*n.wire(path)
		p.Delay(us) // memory is exposed
		var started []unit.Time
		open, done := 0, 0
		for {
			for ; open < putWindow && p.Now() < lasts; open++ {
				started = append(started, p.Now())
				p.Memory().Put(target[p.Rank()], key, 0, data, device.Head{})
			}
			if open == 0 {
				break
			}
			p.Recv(true)
			open--
			if took := p.Now() - started[0]; took < wire {
				t.Errorf("a put from %d to %d took %v, its wire needs %v", p.Rank(), target[p.Rank()], took, wire)
			}
			started = started[1:]
			if at := p.Now(); at >= begin && at < lasts {
				done += putBytes
			}
		}
		rates[p.Rank()] = float64(done) * float64(unit.Second) / float64(lasts-begin)
		p.Delay(unit.Second - p.Now()%unit.Second) // memory stays exposed
	})
	return rates
}

// ratios compares the rates of a pattern of flows with what they should be, and adds the ratios to
// those of other patterns. None gets a tenth less than its share of the busiest link on its way.
func ratios(t *testing.T, what string, m *model.Machine, target []int, lasts unit.Time, all *[]float64) {
	t.Helper()
	n := fabricOf(m)
	flows := make([][]string, len(target))
	for i, to := range target {
		flows[i] = n.resources(len(target), i, to)
	}
	least, fair := share(flows, float64(n.put.Bandwidth), float64(n.link))
	for i, got := range throughput(t, m, target, lasts) {
		if got < 0.9*least[i] {
			t.Errorf("%v, %s: node %d puts %.1f MB/s to node %d, its share is %.1f", m.Network, what, i, got/1e6, target[i], least[i]/1e6)
		}
		*all = append(*all, got/fair[i])
	}
}

// shift returns the pattern in which each node puts to the one so many behind it.
func shift(nodes, by int) (target []int) {
	for i := range nodes {
		target = append(target, (i+by)%nodes)
	}
	return target
}

// Flows that share links get what links can carry, each its share, within a tenth: shifts on
// rings and tori, and random permutations. Where sources are nearly as fast as links, most flows
// wait for others.
func TestContention(t *testing.T) {
	for _, c := range []struct {
		what     string
		patterns func(run func(what string, source unit.Rate, target []int))
	}{
		{"shifts", func(run func(string, unit.Rate, []int)) {
			for _, nodes := range []int{3, 5, 7, 13, 12, 16, 27, 64} { // rings of 3 to 13, 4x3, 4x4, 3x3x3, 4x4x4; of the last two some
				for by := 1; by < nodes; by += 1 + nodes/20 {
					run(fmt.Sprintf("shift by %d", by), 120e6, shift(nodes, by))
				}
			}
			run("shift by 4", 280e6, shift(512, 4)) // 8x8x8
		}},
		{"random permutations", func(run func(string, unit.Rate, []int)) {
			r := rand.New(rand.NewPCG(1, 0))
			for i := range 24 {
				run(fmt.Sprintf("permutation %d, seed 1", i), []unit.Rate{120e6, 280e6}[i%2], r.Perm([]int{7, 16, 27, 64}[i/2%4]))
			}
			run("permutation of 512, seed 1", 280e6, r.Perm(512))
		}},
	} {
		var all []float64
		c.patterns(func(what string, source unit.Rate, target []int) {
			ratios(t, what, torusOf(source), target, 20*unit.Millisecond, &all)
		})
		slices.Sort(all)
		at := func(q float64) float64 { return all[int(q*float64(len(all)-1))] }
		t.Logf("%s: %d flows, throughput over max-min fair share: lowest %.3f, 1 %% %.3f, 10 %% %.3f, median %.3f, 90 %% %.3f, 99 %% %.3f, highest %.3f",
			c.what, len(all), at(0), at(0.01), at(0.1), at(0.5), at(0.9), at(0.99), at(1))
		if at(0) < 0.9 || at(1) > 1.1 {
			t.Errorf("%s: throughput is %.3f to %.3f of the max-min fair share, want 0.9 to 1.1", c.what, at(0), at(1))
		}
	}
}

// If each node puts to its mirror image behind the middle of a dimension, all of a ring of eight go
// through its middle or its ends, by four links. Together they get what these carry.
func TestBisection(t *testing.T) {
	const nodes, size = 512, 8
	m := torusOf(280e6)
	if got := m.Network.(*model.Torus).Shape(nodes); got != [3]int{size, size, size} {
		t.Fatalf("%d nodes are a torus of %v", nodes, got)
	}
	for d, stride := range []int{1, size, size * size} {
		target := make([]int, nodes)
		for i := range target {
			target[i] = i + (size-1-2*(i/stride%size))*stride
		}
		sum := 0.0
		for _, rate := range throughput(t, m, target, 6*unit.Millisecond) {
			sum += rate
		}
		want := float64(m.Network.(*model.Torus).Link) * 4 * nodes / size
		if sum < 0.97*want || sum > 1.01*want {
			t.Errorf("dimension %d: %.0f MB/s through the bisection, its links carry %.0f", d, sum/1e6, want/1e6)
		}
	}
}

// Each byte of a put crosses each link of its route once. A link carries one chunk at a time, no
// faster than its rate. The target receives the bytes that were put.
func TestBytesAreConserved(t *testing.T) {
	const nodes, puts = 64, 6
	m := torusOf(280e6)
	n := m.Network.(*model.Torus)
	shape := n.Shape(nodes)
	r := rand.New(rand.NewPCG(2, 0))
	target, sizes := r.Perm(nodes), make([][puts]int, nodes)
	want := map[string]int{}
	for i, to := range target {
		for j := range sizes[i] {
			sizes[i][j] = 1 + r.IntN(20_000)
			for _, name := range resources(shape, i, to) {
				want[name] += sizes[i][j]
			}
		}
	}
	text := func(from, j int) []byte {
		b := make([]byte, sizes[from][j])
		rand.NewChaCha8([32]byte{byte(from), byte(j)}).Read(b)
		return b
	}
	x := recorded(t, m, nodes, func(p device.Port) {
		mine := make([]byte, puts*20_000)
		key := p.Memory().Expose(mine)
		p.Delay(us) // memory is exposed
		for j := range puts {
			p.Memory().Put(target[p.Rank()], key, 20_000*j, text(p.Rank(), j), device.Head{})
		}
		for range puts {
			p.Recv(true)
		}
		p.Delay(unit.Second - p.Now()) // all puts are there
		from := slices.Index(target, p.Rank())
		for j := range puts {
			if !bytes.Equal(mine[20_000*j:][:sizes[from][j]], text(from, j)) {
				t.Errorf("node %d has not got what node %d put", p.Rank(), from)
			}
		}
	})
	if x.Omitted > 0 {
		t.Fatalf("%d things are not recorded", x.Omitted)
	}
	for _, track := range x.Resources {
		if strings.Contains(track.Name, "engine") || strings.Contains(track.Name, "counters") {
			continue
		}
		carried := 0
		for i, s := range track.Spans {
			carried += s.Bytes
			if s.Time() != n.Link.Time(s.Bytes) {
				t.Errorf("%s carries %d bytes in %v, at its rate they take %v", track.Name, s.Bytes, s.Time(), n.Link.Time(s.Bytes))
			}
			if i > 0 && s.From < track.Spans[i-1].To {
				t.Errorf("%s carries a chunk from %v on, the one before it until %v", track.Name, s.From, track.Spans[i-1].To)
			}
		}
		if carried != want[track.Name] {
			t.Errorf("%s carries %d bytes, %d are for it", track.Name, carried, want[track.Name])
		}
		delete(want, track.Name)
	}
	if len(want) > 0 {
		t.Errorf("nothing is recorded of %d parts of the network", len(want))
	}
}
