package torus

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// A route goes by the dimensions, the shorter way round, and turns between them. Package model
// counts it in another way.
func TestRoutes(t *testing.T) {
	m := &model.Machine{Network: &model.Torus{PerNode: 2, Hop: 50_000, Turn: 7_000, Deliver: 100_000}}
	r := rand.New(rand.NewPCG(1, 0))
	for _, ranks := range []int{2, 3, 4, 6, 8, 10, 16, 24, 36, 54, 64, 90, 128, 250, 256, 512, 1000, 1024, 2047, 2048} {
		shape := m.Network.(*model.Torus).Shape(ranks)
		nodes := shape[0] * shape[1] * shape[2]
		n := &network{Torus: m.Network.(*model.Torus), shape: shape, ways: make([]way, nodes), ranks: make([]rank, 2*nodes)}
		for i := range n.ranks {
			n.ranks[i].node = int32(i / 2)
		}
		if 2*nodes < ranks {
			t.Fatalf("%d ranks: a torus of %v has %d nodes", ranks, shape, nodes)
		}
		check := func(a, b int) {
			at, dimension, hops, turns := n.place(a), -1, 0, 0
			n.along(a, n.way(a, b), func(link int, step unit.Time) {
				node, d, back := link/6, link%6/2, link%2
				if n.place(node) != at {
					t.Fatalf("torus %v, %d to %d: the route is at %v and takes a link of %v", shape, a, b, at, n.place(node))
				}
				turn := dimension >= 0 && d != dimension
				if want := map[bool]unit.Time{false: 50_000, true: 57_000}[turn]; d < dimension || step != want {
					t.Fatalf("torus %v, %d to %d: dimension %d after %d takes %v", shape, a, b, d, dimension, step)
				}
				dimension = d
				hops++
				if turn {
					turns++
				}
				at[d] = (at[d] + 1 + back*(shape[d]-2)) % shape[d]
			})
			if at != n.place(b) {
				t.Fatalf("torus %v: the route from %d to %d ends at %v", shape, a, b, at)
			}
			want := 0
			for d := range 3 {
				distance := n.place(a)[d] - n.place(b)[d]
				want += min(max(distance, -distance), shape[d]-max(distance, -distance))
			}
			if hops != want {
				t.Fatalf("torus %v: the route from %d to %d has %d hops, want %d", shape, a, b, hops, want)
			}
			path := m.Path(ranks, 2*a, 2*b)
			if path.Hops != hops || path.Turns != turns {
				t.Fatalf("torus %v, %d to %d: %d hops and %d turns, package model has %+v", shape, a, b, hops, turns, path)
			}
			if a != b {
				if got, want := n.latency(int32(2*a), int32(2*b+1)), unit.Time(100_000+50_000*hops+7_000*turns); got != want {
					t.Fatalf("torus %v: the latency from %d to %d is %v, want %v", shape, a, b, got, want)
				}
			}
		}
		if nodes <= 64 {
			for a := range nodes {
				for b := range nodes {
					check(a, b)
				}
			}
			continue
		}
		for range 3000 {
			check(r.IntN(nodes), r.IntN(nodes))
		}
	}
}
