package tiers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/microbench/sample"
)

// divide draws sizes of hypernodes, from 1 to 8 ranks, and spreads the ranks over them.
func divide(rng *rand.Rand, hypernodes int) []int {
	var group []int
	for g := range hypernodes {
		for range 1 + rng.IntN(max(1, min(8, 24/hypernodes))) {
			group = append(group, g)
		}
	}
	rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
	return group
}

// groupsOf are the ranks of each group, by their first.
func groupsOf(group []int) [][]int {
	by := map[int][]int{}
	var first []int
	for i, g := range group {
		if by[g] == nil {
			first = append(first, g)
		}
		by[g] = append(by[g], i)
	}
	var out [][]int
	for _, g := range first {
		out = append(out, by[g])
	}
	return out
}

func found(t *testing.T, set *sample.Set) *tierSearch {
	t.Helper()
	_, all, err := AssignTiers(set)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d tierings, %v", len(all), err)
	}
	return all[0]
}

// Two tiers come back from times alone: H, P and the groups of ranks, in 95 of 100 seeds.
func TestTiersComeBack(t *testing.T) {
	seeds := uint64(100)
	if !fittest.IsSoakTest() {
		seeds = 20
	}
	for _, c := range []struct {
		name string
		m    func() (fittest.Machine, fittest.Machine)
		pair float64
	}{
		{"convex", fittest.ConvexMachines, 0}, {"convex, pairs differ", fittest.ConvexMachines, 0.05}, {"weaker", fittest.MachinesWithDoubledOverheads, 0}, {"weaker, pairs differ", fittest.MachinesWithDoubledOverheads, 0.05},
	} {
		right := 0
		var wrong []string
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 3))
			hypernodes := 1 + int(seed)%16
			group := divide(rng, hypernodes)
			inside, between := c.m()
			h := fittest.Hierarchy{Group: [][]int{group}, Times: []fittest.Machine{inside, between}, Pair: c.pair}
			if len(group) < 2 {
				right++
				continue
			}
			got := found(t, h.Samples(len(group), seed))
			want := groupsOf(group)
			if hypernodes == 1 || len(want) == len(group) {
				want = [][]int{sequence(len(group))}
			}
			if g := got.ranksOfGroups(got.groupsOfTier[0]); reflect.DeepEqual(g, want) && len(got.groupsOfTier) == min(2, len(want)) {
				right++
			} else {
				wrong = append(wrong, fmt.Sprintf("seed %d: %d tiers, %v for %v", seed, len(got.groupsOfTier), g, want))
			}
		}
		t.Logf("%s: %d of %d", c.name, right, seeds)
		if right*100 < int(seeds)*95 {
			t.Errorf("%s: %d of %d: %q", c.name, right, seeds, wrong)
		} else if len(wrong) > 0 {
			t.Log(wrong)
		}
	}
}

func sequence(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

// Pairs that differ by chance make no tiers, however few they are.
func TestOneTierIsOne(t *testing.T) {
	seeds := uint64(100)
	if !fittest.IsSoakTest() {
		seeds = 25
	}
	_, m := fittest.ConvexMachines()
	for _, ranks := range []int{2, 3, 4, 6, 12} {
		for _, pair := range []float64{0, 0.02, 0.05} {
			wrong := 0
			for seed := range seeds {
				h := fittest.Hierarchy{Times: []fittest.Machine{fittest.SmallMachine(m)}, Pair: pair}
				if x := found(t, h.Samples(ranks, seed)); len(x.groupsOfTier) != 1 {
					wrong++
				}
			}
			t.Logf("%d ranks, pairs differ by %v: %d of %d seeds show a tier that is none", ranks, pair, wrong, seeds)
			if wrong*20 > int(seeds) {
				t.Errorf("%d ranks, pairs differ by %v: %d of %d seeds show a tier that is none", ranks, pair, wrong, seeds)
			}
		}
	}
}

// Three tiers: nodes of two or three ranks in cabinets of some nodes. Each is a machine of its own,
// one after the other.
func TestThreeTiersComeBack(t *testing.T) {
	seeds := uint64(100)
	if !fittest.IsSoakTest() {
		seeds = 20
	}
	inside, between := fittest.ConvexMachines()
	middle := between
	middle.SendO, middle.RecvO, middle.ISendO, middle.L = 10, 10, 8, 3
	right := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 5))
		h := fittest.Hierarchy{Group: make([][]int, 2), Times: []fittest.Machine{fittest.SmallMachine(inside), fittest.SmallMachine(middle), fittest.SmallMachine(between)}, Pair: 0.05}
		node := 0
		for cabinet := range 2 + rng.IntN(2) {
			for range 2 + rng.IntN(2) {
				for range 2 + rng.IntN(2) {
					h.Group[0], h.Group[1] = append(h.Group[0], node), append(h.Group[1], cabinet)
				}
				node++
			}
		}
		x := found(t, h.Samples(len(h.Group[0]), seed))
		if len(x.groupsOfTier) == 3 && reflect.DeepEqual(x.ranksOfGroups(x.groupsOfTier[0]), groupsOf(h.Group[0])) && reflect.DeepEqual(x.ranksOfGroups(x.groupsOfTier[1]), groupsOf(h.Group[1])) {
			right++
			for i, l := range x.Exported().Levels {
				if want := fmt.Sprintf("tier%d", i+1); l.Place != want {
					t.Errorf("seed %d: the place of tier %d is %q, want %q", seed, i, l.Place, want)
				}
			}
		}
	}
	t.Logf("%d of %d", right, seeds)
	if right*100 < int(seeds)*95 {
		t.Errorf("%d of %d seeds", right, seeds)
	}
}

// A pair that is held up, and pairs that are missing, do not take their ranks out of their groups;
// both are told.
func TestOddAndMissingPairs(t *testing.T) {
	group := fittest.GroupOfRanks(4, 3, 1)
	inside, between := fittest.ConvexMachines()
	h := fittest.Hierarchy{Group: [][]int{group}, Times: []fittest.Machine{fittest.SmallMachine(inside), fittest.SmallMachine(between)}, Pair: 0.03,
		Slow: map[[2]int]float64{{0, 2}: 40, {3, 5}: 40}}
	set := h.Samples(len(group), 1)
	set.Series = slices.DeleteFunc(set.Series, func(s sample.Series) bool { return s.Place == "1-3" || s.Place == "2-7" })
	x := found(t, set)
	if g := x.ranksOfGroups(x.groupsOfTier[0]); !reflect.DeepEqual(g, groupsOf(group)) {
		t.Fatalf("groups %v", g)
	}
	codes := map[string]string{}
	for _, w := range x.Warnings() {
		codes[w.Code] = w.Text
	}
	for code, says := range map[string]string{clean.CodeOddPairs: "pairs 0-2, 3-5: nearer or farther", clean.CodePairsMissing: "pairs 1-3, 2-7:", clean.CodeUnequalGroups: "from 1 to 4"} {
		if !strings.Contains(codes[code], says) {
			t.Errorf("warnings %q: %s does not say %q", codes, code, says)
		}
	}
}

// Who is called what does not matter: other numbers give the same groups under these, and nothing
// else changes.
func TestRelabelling(t *testing.T) {
	inside, between := fittest.MachinesWithDoubledOverheads()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		group := divide(rng, 4)
		h := fittest.Hierarchy{Group: [][]int{group}, Times: []fittest.Machine{fittest.SmallMachine(inside), fittest.SmallMachine(between)}, Pair: 0.05}
		set := h.Samples(len(group), seed)
		names := rng.Perm(2 * len(group))
		other := &sample.Set{Facts: set.Facts}
		for _, i := range rng.Perm(len(set.Series)) {
			s := set.Series[i]
			a, b, _ := sample.ParsePairPlace(s.Place)
			s.Place = sample.PairPlace(names[a], names[b])
			other.Series = append(other.Series, s)
		}
		x, y := found(t, set), found(t, other)
		var want [][]int
		for _, g := range x.ranksOfGroups(x.groupsOfTier[0]) {
			var renamed []int
			for _, rank := range g {
				renamed = append(renamed, names[rank])
			}
			slices.Sort(renamed)
			want = append(want, renamed)
		}
		slices.SortFunc(want, func(a, b []int) int { return a[0] - b[0] })
		if got := y.ranksOfGroups(y.groupsOfTier[0]); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %v, under other names %v", seed, want, got)
		}
		if p, q := x.Parameters(), y.Parameters(); !reflect.DeepEqual(p, q) {
			t.Errorf("seed %d: %v, under other names %v", seed, p, q)
		}
	}
}

// tableOf is pairs of ranks with the logarithms of some times, by hand.
func tableOf(pairs [][2]int, logs ...[]float64) pairTable {
	t := pairTable{pairs: pairs, logs: logs}
	for i, p := range pairs {
		t.standardErrors = append(t.standardErrors, make([]float64, len(logs[i])))
		t.ranks = append(t.ranks, p[0], p[1])
	}
	slices.Sort(t.ranks)
	t.ranks = slices.Compact(t.ranks)
	return t
}

// Farther is what takes longer in all, even if the timer that differs most says otherwise; what is
// missing does not count.
func TestScore(t *testing.T) {
	none := math.NaN()
	x := tableOf([][2]int{{0, 1}, {0, 2}, {1, 2}, {0, 3}},
		[]float64{1, 0, 0, 0, 0, 0}, []float64{1, 0, 0, none, 0, 0}, []float64{0, .3, .3, .3, .3, .3}, []float64{0, .3, .3, .3, none, .3})
	s, se := x.pairDistances([]int{0, 1, 2, 3})
	if !(s[0] < s[2]) || math.Abs(s[0]-s[1]) > 0.1 || math.Abs(s[2]-s[3]) > 0.1 || se != 0 {
		t.Errorf("scores %v ± %v: the last two take longer in five of six times", s, se)
	}
}

// A far pair that is a little fast is not a near one that is very slow.
func TestALittleFast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	group := fittest.GroupOfRanks(3, 3, 1, 1, 1)
	var edges []rankDistance
	for a := range group {
		for b := a + 1; b < len(group); b++ {
			e := rankDistance{a, b, 2.5}
			if group[a] == group[b] {
				e.logDistance = 0
			}
			e.logDistance += 0.03 * rng.NormFloat64()
			if a == 6 && b == 7 {
				e.logDistance = 2.5 - 0.03*3.6
			}
			edges = append(edges, e)
		}
	}
	c := bestBipartition(len(group), edges, priorDeviation)
	if want := partition(group); !reflect.DeepEqual(c.group, want) || c.evidenceGain < minClearGain {
		t.Errorf("groups %v, want %v; gain %v", c.group, want, c.evidenceGain)
	}
}
