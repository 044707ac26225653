package torus_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

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
					run(fmt.Sprintf("shift by %d", by), 120e6, hwtest.ShiftedTargets(nodes, by))
				}
			}
			run("shift by 4", 280e6, hwtest.ShiftedTargets(512, 4)) // 8x8x8
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
			hwtest.CheckFairShares(t, what, hwtest.TorusAtRate(source), target, 20*unit.Millisecond, &all)
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
	m := hwtest.TorusAtRate(280e6)
	if got := m.Network.(*model.Torus).Shape(nodes); got != [3]int{size, size, size} {
		t.Fatalf("%d nodes are a torus of %v", nodes, got)
	}
	for d, stride := range []int{1, size, size * size} {
		target := make([]int, nodes)
		for i := range target {
			target[i] = i + (size-1-2*(i/stride%size))*stride
		}
		sum := 0.0
		for _, rate := range hwtest.MeasurePutRates(t, m, target, 6*unit.Millisecond) {
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
	m := hwtest.TorusAtRate(280e6)
	n := m.Network.(*model.Torus)
	shape := n.Shape(nodes)
	r := rand.New(rand.NewPCG(2, 0))
	target, sizes := r.Perm(nodes), make([][puts]int, nodes)
	want := map[string]int{}
	for i, to := range target {
		for j := range sizes[i] {
			sizes[i][j] = 1 + r.IntN(20_000)
			for _, name := range hwtest.TorusResources(shape, i, to) {
				want[name] += sizes[i][j]
			}
		}
	}
	text := func(from, j int) []byte {
		b := make([]byte, sizes[from][j])
		rand.NewChaCha8([32]byte{byte(from), byte(j)}).Read(b)
		return b
	}
	x := hwtest.TimelineOf(t, m, nodes, func(p device.Port) {
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
	if x.OmittedCount > 0 {
		t.Fatalf("%d things are not recorded", x.OmittedCount)
	}
	for _, track := range x.Resources {
		if strings.Contains(track.Name, "engine") || strings.Contains(track.Name, "counters") {
			continue
		}
		carried := 0
		for i, s := range track.Spans {
			carried += s.Bytes
			if s.Duration() != n.Link.Time(s.Bytes) {
				t.Errorf("%s carries %d bytes in %v, at its rate they take %v", track.Name, s.Bytes, s.Duration(), n.Link.Time(s.Bytes))
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
