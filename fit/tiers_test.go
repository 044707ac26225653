package fit

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// hierarchy is a machine of some tiers, from which the tests make samples of all pairs by the formulas alone. Group[l][rank] is the group
// of a rank in tier l, the nearest first; the last tier joins all and has none. Tier l is the machine times[l].
type hierarchy struct {
	group [][]int
	times []machine
	pair  float64 // relative deviation of all times of a pair
	slow  map[[2]int]float64
}

var pairPlan = map[string][]string{
	"send":  {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.RTT},
	"ssend": {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.RTT},
	"isend": {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
}

// of is the tier of a pair.
func (h hierarchy) of(a, b int) int {
	for l, g := range h.group {
		if g[a] == g[b] {
			return l
		}
	}
	return len(h.group)
}

// samples measures all pairs of so many ranks.
func (h hierarchy) samples(ranks int, seed uint64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 2))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}}}
	for a := range ranks {
		for b := a + 1; b < ranks; b++ {
			m := h.times[h.of(a, b)]
			x := max(0.5, 1+h.pair*rng.NormFloat64())
			if s := h.slow[[2]int{a, b}]; s > 0 {
				x *= s
			}
			m.os, m.or, m.ios, m.ior, m.L, m.G = m.os*x, m.or*x, m.ios*x, m.ior*x, m.L*x, m.G*x
			for _, s := range m.samples(rng.Uint64(), pairPlan).Series {
				s.Place = sample.PlaceOf(a, b)
				set.Series = append(set.Series, s)
			}
		}
	}
	return set
}

// convex is about what table 4 of Al-Tawil and Moritz has for the Convex, inside a hypernode and between two, with some noise.
func convex() (inside, between machine) {
	between = machine{L: 7, os: 30, or: 30, ios: 25, ior: 5, g: 30, G: 0.05, slopeS: 0.017, slopeR: 0.017, noise: 0.05, sizes: []int{16, 1000, 10000}, reps: 20}
	inside = between
	inside.L, inside.os, inside.or, inside.ios, inside.ior, inside.g, inside.G = 0.5, 2, 2, 1.5, 0.5, 2, 0.01
	inside.slopeS, inside.slopeR = 0.0018, 0.0018
	return inside, between
}

// weaker has overheads twice as large between as inside, and all else alike.
func weaker() (inside, between machine) {
	_, between = convex()
	inside = between
	inside.os, inside.or, inside.ios, inside.ior = inside.os/2, inside.or/2, inside.ios/2, inside.ior/2
	return inside, between
}

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

func found(t *testing.T, set *sample.Set) *tiering {
	t.Helper()
	_, all, err := split(set)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d tierings, %v", len(all), err)
	}
	return all[0]
}

// Two tiers come back from times alone: H, P and who is with whom, in 95 of 100 seeds.
func TestTiersComeBack(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 20
	}
	for _, c := range []struct {
		name string
		m    func() (machine, machine)
		pair float64
	}{
		{"convex", convex, 0}, {"convex, pairs differ", convex, 0.05}, {"weaker", weaker, 0}, {"weaker, pairs differ", weaker, 0.05},
	} {
		right := 0
		var wrong []string
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 3))
			hypernodes := 1 + int(seed)%16
			group := divide(rng, hypernodes)
			inside, between := c.m()
			h := hierarchy{group: [][]int{group}, times: []machine{inside, between}, pair: c.pair}
			if len(group) < 2 {
				right++
				continue
			}
			got := found(t, h.samples(len(group), seed))
			want := groupsOf(group)
			if hypernodes == 1 || len(want) == len(group) {
				want = [][]int{sequence(len(group))}
			}
			if g := got.groups(got.levels[0]); reflect.DeepEqual(g, want) && len(got.levels) == min(2, len(want)) {
				right++
			} else {
				wrong = append(wrong, fmt.Sprintf("seed %d: %d tiers, %v for %v", seed, len(got.levels), g, want))
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

// small is a machine and a plan that measure little, where many are needed.
func small(m machine) machine {
	m.sizes, m.reps = []int{16, 10000}, 12
	return m
}

// Pairs that differ by chance make no tiers, however few they are.
func TestOneTierIsOne(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 25
	}
	_, m := convex()
	for _, ranks := range []int{2, 3, 4, 6, 12} {
		for _, pair := range []float64{0, 0.02, 0.05} {
			wrong := 0
			for seed := range seeds {
				h := hierarchy{times: []machine{small(m)}, pair: pair}
				if x := found(t, h.samples(ranks, seed)); len(x.levels) != 1 {
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

// Three tiers: nodes of two or three ranks in cabinets of some nodes. Each is a machine of its own, one after the other.
func TestThreeTiersComeBack(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 20
	}
	inside, between := convex()
	middle := between
	middle.os, middle.or, middle.ios, middle.L = 10, 10, 8, 3
	right := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 5))
		h := hierarchy{group: make([][]int, 2), times: []machine{small(inside), small(middle), small(between)}, pair: 0.05}
		node := 0
		for cabinet := range 2 + rng.IntN(2) {
			for range 2 + rng.IntN(2) {
				for range 2 + rng.IntN(2) {
					h.group[0], h.group[1] = append(h.group[0], node), append(h.group[1], cabinet)
				}
				node++
			}
		}
		x := found(t, h.samples(len(h.group[0]), seed))
		if len(x.levels) == 3 && reflect.DeepEqual(x.groups(x.levels[0]), groupsOf(h.group[0])) && reflect.DeepEqual(x.groups(x.levels[1]), groupsOf(h.group[1])) {
			right++
			for i, l := range x.public().Levels {
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

// blocks are hypernodes of so many ranks, in order.
func blocks(sizes ...int) []int {
	var group []int
	for g, n := range sizes {
		for range n {
			group = append(group, g)
		}
	}
	return group
}

// A pair that is held up, and pairs that are missing, do not take their ranks out of their groups; both are told.
func TestOddAndMissingPairs(t *testing.T) {
	group := blocks(4, 3, 1)
	inside, between := convex()
	h := hierarchy{group: [][]int{group}, times: []machine{small(inside), small(between)}, pair: 0.03,
		slow: map[[2]int]float64{{0, 2}: 40, {3, 5}: 40}}
	set := h.samples(len(group), 1)
	set.Series = slices.DeleteFunc(set.Series, func(s sample.Series) bool { return s.Place == "1-3" || s.Place == "2-7" })
	x := found(t, set)
	if g := x.groups(x.levels[0]); !reflect.DeepEqual(g, groupsOf(group)) {
		t.Fatalf("groups %v", g)
	}
	codes := map[string]string{}
	for _, w := range x.warnings() {
		codes[w.Code] = w.Text
	}
	for code, says := range map[string]string{OddPairs: "pairs 0-2, 3-5: nearer or farther", PairsMissing: "pairs 1-3, 2-7:", UnequalGroups: "from 1 to 4"} {
		if !strings.Contains(codes[code], says) {
			t.Errorf("warnings %q: %s does not say %q", codes, code, says)
		}
	}
}

// Who is called what does not matter: other numbers give the same groups under these, and nothing else changes.
func TestRelabelling(t *testing.T) {
	inside, between := weaker()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		group := divide(rng, 4)
		h := hierarchy{group: [][]int{group}, times: []machine{small(inside), small(between)}, pair: 0.05}
		set := h.samples(len(group), seed)
		names := rng.Perm(2 * len(group))
		other := &sample.Set{Facts: set.Facts}
		for _, i := range rng.Perm(len(set.Series)) {
			s := set.Series[i]
			a, b, _ := sample.RanksOf(s.Place)
			s.Place = sample.PlaceOf(names[a], names[b])
			other.Series = append(other.Series, s)
		}
		x, y := found(t, set), found(t, other)
		var want [][]int
		for _, g := range x.groups(x.levels[0]) {
			var renamed []int
			for _, rank := range g {
				renamed = append(renamed, names[rank])
			}
			slices.Sort(renamed)
			want = append(want, renamed)
		}
		slices.SortFunc(want, func(a, b []int) int { return a[0] - b[0] })
		if got := y.groups(y.levels[0]); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %v, under other names %v", seed, want, got)
		}
		if p, q := x.parameters(), y.parameters(); !reflect.DeepEqual(p, q) {
			t.Errorf("seed %d: %v, under other names %v", seed, p, q)
		}
	}
}

// Samples of pairs give the parameters of both tiers, H and P, and these come back from a file.
func TestParametersOfTiers(t *testing.T) {
	inside, between := convex()
	h := hierarchy{group: [][]int{blocks(4, 3)}, times: []machine{inside, between}, pair: 0.02}
	set := h.samples(7, 1)
	pooled, _, err := split(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Write(io.Discard, pooled); err != nil { // each pair is a launch of its own
		t.Error(err)
	}
	r, err := Fit(set, Options{Replicates: 60})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tiers) != 1 || len(r.Tiers[0].Levels) != 2 || len(r.Tiers[0].Pairs) != 21 {
		t.Fatalf("tiers %+v", r.Tiers)
	}
	if l := r.Tiers[0].Levels; l[0].Pairs != 9 || l[1].Pairs != 12 || l[0].Times != 1 || l[1].Times < 5 {
		t.Errorf("levels %+v", l)
	}
	var file bytes.Buffer
	if err := WriteParameters(&file, r.Parameters); err != nil {
		t.Fatal(err)
	}
	ps, err := ReadParameters(&file, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		place, name string
		m           machine
	}{{"intra", "P", machine{}}, {"inter", "H", machine{}}, {"intra", "", inside}, {"inter", "", between}} {
		here := Select(ps, "", "", c.place)
		switch c.name {
		case "P":
			if p := parameterOf(here, "P"); p == nil || p.Value != 4 || p.Low != 3 || p.High != 4 || p.Unit != Count || p.Samples != 21 || p.From >= 0 {
				t.Errorf("P is %+v", p)
			}
			continue
		case "H":
			if p := parameterOf(here, "H"); p == nil || p.Value != 2 || p.Low != 2 || p.High != 2 {
				t.Errorf("H is %+v", p)
			}
			continue
		}
		for name, want := range map[string]float64{"o_s": c.m.os + 16*c.m.slopeS, "o_r": c.m.or + 16*c.m.slopeR} {
			if got, ok := Value(here, "send", name, 16); !ok || math.Abs(got-want) > 0.05*want {
				t.Errorf("%s of %s is %v, found %v", name, c.place, want, got)
			}
		}
		want := c.m.G + c.m.slopeS // the sender's bytes are on the way of a receive that waits
		if got, ok := Value(here, "send", "G", 0); !ok || math.Abs(got-want) > 0.1*want {
			t.Errorf("G of %s is %v, found %v", c.place, want, got)
		}
	}
	if g := parameterOf(Select(ps, "", "", "intra"), "G"); g == nil {
		t.Error("no G inside")
	}
}

func parameterOf(ps []Parameter, name string) *Parameter {
	for i := range ps {
		if ps[i].Name == name {
			return &ps[i]
		}
	}
	return nil
}

// Places that were measured for themselves are not mixed with the pairs, of which H and P remain.
func TestOwnPlaces(t *testing.T) {
	inside, between := convex()
	h := hierarchy{group: [][]int{blocks(3, 3)}, times: []machine{small(inside), small(between)}}
	set := h.samples(6, 1)
	own := between
	own.os = 100
	set.Series = append(set.Series, own.samples(3, pairPlan).Series...)
	r, err := Fit(set, Options{Replicates: 20})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := Value(Select(r.Parameters, "", "", "inter"), "send", "o_s", 16); !ok || math.Abs(v-100) > 5 {
		t.Errorf("o_s is %v, of the samples of place inter it is 100", v)
	}
	if p := parameterOf(r.Parameters, "H"); p == nil || p.Value != 2 {
		t.Errorf("H is %+v", p)
	}
}

// One tier has neither H nor P, and says so.
func TestOneTierHasNoGroups(t *testing.T) {
	_, m := convex()
	r, err := Fit(hierarchy{times: []machine{small(m)}}.samples(5, 1), Options{Replicates: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"H", "P"} {
		if p := parameterOf(r.Parameters, name); p == nil || p.Value == p.Value || p.Verdict != NotIdentifiable || p.Place != "inter" {
			t.Errorf("%s is %+v", name, p)
		}
	}
	if !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == OneTier }) {
		t.Errorf("warnings %v", r.Warnings)
	}
	if _, ok := Value(Select(r.Parameters, "", "", "inter"), "send", "o_s", 16); !ok {
		t.Error("no o_s of place inter")
	}
	near := hierarchy{times: []machine{small(m)}}.samples(5, 1)
	near.Facts = append(near.Facts, sample.Fact{Key: sample.OnePlace, Value: "intra"})
	if r, err = Fit(near, Options{Replicates: 20}); err != nil || len(Select(r.Parameters, "", "", "inter")) > 0 || r.Tiers[0].Levels[0].Place != "intra" {
		t.Errorf("all in one node: %v, %+v", err, r.Parameters)
	}
	near.Facts[len(near.Facts)-1].Value = "near"
	if _, err = Fit(near, Options{}); err == nil || !strings.Contains(err.Error(), "neither intra nor inter") {
		t.Errorf("a place that is none: %v", err)
	}
	if r, err = Fit(hierarchy{times: []machine{small(m)}}.samples(2, 1), Options{Replicates: 20}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == OneTier && strings.Contains(w.Text, "measure more ranks") }) {
		t.Errorf("of one pair: warnings %v", r.Warnings)
	}
}

// tableOf is pairs of ranks with the logarithms of some times, by hand.
func tableOf(pairs [][2]int, logs ...[]float64) pairTable {
	t := pairTable{pairs: pairs, logs: logs}
	for i, p := range pairs {
		t.se = append(t.se, make([]float64, len(logs[i])))
		t.ranks = append(t.ranks, p[0], p[1])
	}
	slices.Sort(t.ranks)
	t.ranks = slices.Compact(t.ranks)
	return t
}

// Farther is what takes longer in all, even if the timer that differs most says otherwise; what is missing does not count.
func TestScore(t *testing.T) {
	none := math.NaN()
	x := tableOf([][2]int{{0, 1}, {0, 2}, {1, 2}, {0, 3}},
		[]float64{1, 0, 0, 0, 0, 0}, []float64{1, 0, 0, none, 0, 0}, []float64{0, .3, .3, .3, .3, .3}, []float64{0, .3, .3, .3, none, .3})
	s, se := x.score([]int{0, 1, 2, 3})
	if !(s[0] < s[2]) || math.Abs(s[0]-s[1]) > 0.1 || math.Abs(s[2]-s[3]) > 0.1 || se != 0 {
		t.Errorf("scores %v ± %v: the last two take longer in five of six times", s, se)
	}
}

// A far pair that is a little fast is not a near one that is very slow.
func TestALittleFast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	group := blocks(3, 3, 1, 1, 1)
	var edges []edge
	for a := range group {
		for b := a + 1; b < len(group); b++ {
			e := edge{a, b, 2.5}
			if group[a] == group[b] {
				e.far = 0
			}
			e.far += 0.03 * rng.NormFloat64()
			if a == 6 && b == 7 {
				e.far = 2.5 - 0.03*3.6
			}
			edges = append(edges, e)
		}
	}
	c := newCut(len(group), edges, likely)
	if want := partition(group); !reflect.DeepEqual(c.group, want) || c.gain < clearGain {
		t.Errorf("groups %v, want %v; gain %v", c.group, want, c.gain)
	}
}

// Two items that are nearest of all, but each of them more with its own company: joining takes them together, and moving parts them.
func TestMove(t *testing.T) {
	group := blocks(3, 3)
	w := make([][]float64, len(group))
	for a := range w {
		w[a] = make([]float64, len(group))
		for b := range w {
			switch {
			case a == b:
			case min(a, b) == 2 && max(a, b) == 3:
				w[a][b] = -5
			case group[a] == group[b]:
				w[a][b] = -4
			default:
				w[a][b] = 3
			}
		}
	}
	joined := join(w)
	if joined[2] != joined[3] {
		t.Fatalf("joining gives %v: this is no test of moving", joined)
	}
	if got := move(w, joined).number(); !reflect.DeepEqual(got, partition(group)) {
		t.Errorf("%v, want %v", got, group)
	}
}
