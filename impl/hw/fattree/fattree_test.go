package fattree

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model"
)

// A route goes up to the first switch above both ends and down to the right one, through as many
// switches as package model counts. Each output leads to where the next one is, which is told from
// the numbers of outputs alone.
func TestRoutes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, tree := range []*model.FatTree{
		{Arity: 4, UpLinks: []int{4, 4}}, {Arity: 4, UpLinks: []int{2, 2, 4}}, {Arity: 2, UpLinks: []int{2, 2, 2, 2}}, {Arity: 3, UpLinks: []int{2, 5}}, {Arity: 16}, {Arity: 2, UpLinks: []int{1, 1, 3}},
	} {
		tree.HopLatency, tree.Deliver = 1000, 7
		for _, ends := range []int{2, 3, tree.Arity + 1, tree.Capacity() / 2, tree.Capacity()} {
			if ends > tree.Capacity() {
				continue
			}
			m := &model.Machine{Network: tree}
			n := newNetwork(tree, ends)
			for range 500 {
				a, b := r.IntN(ends), r.IntN(ends)
				way, flight := n.RouteBetween(a, b)
				if a == b {
					if out, _, last := n.AdvanceRoute(&way); !last || int(out)%(tree.Arity+n.levels[0].upLinks) != b%tree.Arity {
						t.Fatalf("%+v: from end %d to itself by output %d", tree, a, out)
					}
					continue
				}
				hops, level, at, last := 0, 1, a/tree.Arity, false
				twin := 0
				for !last {
					v := n.levels[level-1]
					var out int32
					out, _, last = n.AdvanceRoute(&way)
					hops++
					degree := tree.Arity + v.upLinks
					s, port := (int(out)-int(v.firstOutput))/degree, (int(out)-int(v.firstOutput))%degree
					if s < 0 || s >= v.switches || s != at*v.twinSwitches+twin {
						t.Fatalf("%+v of %d ends, %d to %d: hop %d takes output %d, which is not of switch %d of level %d", tree, ends, a, b, hops, out, at*v.twinSwitches+twin, level)
					}
					if port >= tree.Arity {
						twin = twin*v.upLinks + port - tree.Arity
						at /= tree.Arity
						level++
						continue
					}
					at = at*tree.Arity + port
					if level--; level > 0 {
						twin /= n.levels[level-1].upLinks
					}
				}
				if level != 0 || at != b {
					t.Fatalf("%+v of %d ends: the route from %d to %d ends at %d", tree, ends, a, b, at)
				}
				if path := m.PathBetweenRanks(ends, a, b); path.Hops != hops || flight != tree.Latency(hops) {
					t.Fatalf("%+v, %d to %d: %d hops in %v, package model has %+v", tree, a, b, hops, flight, path)
				}
			}
		}
	}
}
