package fittest

import (
	"math/rand/v2"

	"github.com/loggp/loggp/microbench/sample"
)

// Hierarchy is a machine of some tiers, from which the tests make samples of all pairs by the
// formulas alone. Group[l][rank] is the group of a rank in tier l, the nearest first; the last tier
// joins all and has none. Tier l is the machine times[l].
type Hierarchy struct {
	Group [][]int
	Times []Machine
	Pair  float64 // relative deviation of all times of a pair
	Slow  map[[2]int]float64
}

var PairPlan = map[string][]string{
	"send":  {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.TimerRTT},
	"ssend": {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.TimerRTT},
	"isend": {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
}

// tierOfPair is the tier of a pair.
func (h Hierarchy) tierOfPair(a, b int) int {
	for l, g := range h.Group {
		if g[a] == g[b] {
			return l
		}
	}
	return len(h.Group)
}

// Samples measures all pairs of so many ranks.
func (h Hierarchy) Samples(ranks int, seed uint64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 2))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}}
	for a := range ranks {
		for b := a + 1; b < ranks; b++ {
			m := h.Times[h.tierOfPair(a, b)]
			x := max(0.5, 1+h.Pair*rng.NormFloat64())
			if s := h.Slow[[2]int{a, b}]; s > 0 {
				x *= s
			}
			m.SendO, m.RecvO, m.ISendO, m.IRecvO, m.L, m.G = m.SendO*x, m.RecvO*x, m.ISendO*x, m.IRecvO*x, m.L*x, m.G*x
			for _, s := range m.Samples(rng.Uint64(), PairPlan).Series {
				s.Place = sample.PairPlace(a, b)
				set.Series = append(set.Series, s)
			}
		}
	}
	return set
}

// ConvexMachines is about what table 4 of Al-Tawil and Moritz has for the Convex, inside a
// hypernode and between two, with some noise.
func ConvexMachines() (inside, between Machine) {
	between = Machine{L: 7, SendO: 30, RecvO: 30, ISendO: 25, IRecvO: 5, Gap: 30, G: 0.05, SendSlope: 0.017, RecvSlope: 0.017, Noise: 0.05, Sizes: []int{16, 1000, 10000}, Reps: 20}
	inside = between
	inside.L, inside.SendO, inside.RecvO, inside.ISendO, inside.IRecvO, inside.Gap, inside.G = 0.5, 2, 2, 1.5, 0.5, 2, 0.01
	inside.SendSlope, inside.RecvSlope = 0.0018, 0.0018
	return inside, between
}

// MachinesWithDoubledOverheads has overheads twice as large between as inside, and all else alike.
func MachinesWithDoubledOverheads() (inside, between Machine) {
	_, between = ConvexMachines()
	inside = between
	inside.SendO, inside.RecvO, inside.ISendO, inside.IRecvO = inside.SendO/2, inside.RecvO/2, inside.ISendO/2, inside.IRecvO/2
	return inside, between
}

// GroupOfRanks are hypernodes of so many ranks, in order.
func GroupOfRanks(sizes ...int) []int {
	var group []int
	for g, n := range sizes {
		for range n {
			group = append(group, g)
		}
	}
	return group
}

// SmallMachine is a machine and a plan that measure little, where many are needed.
func SmallMachine(m Machine) Machine {
	m.Sizes, m.Reps = []int{16, 10000}, 12
	return m
}
