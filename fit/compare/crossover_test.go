package compare

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// calls are formulas of a call that blocks and one that does not, by the number of bytes.
type calls struct{ block, start func(k float64) float64 }

// samples measures the send calls, with relative noise.
func (c calls) samples(platform string, seed uint64, sizes []int, reps int, noise float64) sample.Machine {
	rng := rand.New(rand.NewPCG(seed, 21))
	set := &sample.Set{}
	for i, f := range []func(float64) float64{c.block, c.start} {
		if f == nil {
			continue
		}
		mode := []string{"send", "isend"}[i]
		for _, k := range sizes {
			s := sample.Series{Key: fittest.Key(mode, sample.Timer11, k), Times: make([]unit.Time, reps)}
			s.Platform = platform
			for i := range s.Times {
				s.Times[i] = unit.FromMicros(f(float64(k)) * (1 + noise*rng.NormFloat64()))
			}
			set.Series = append(set.Series, s)
		}
	}
	return sample.Machine{Files: []string{platform + ".csv"}, Set: set}
}

func straight(value, slope float64) func(float64) float64 {
	return func(k float64) float64 { return value + slope*k }
}

// switched changes from one formula to another above a size.
func switched(at float64, below, above func(float64) float64) func(float64) float64 {
	return func(k float64) float64 {
		if k <= at {
			return below(k)
		}
		return above(k)
	}
}

var paperSizes = []int{0, 1, 4, 16, 64, 128, 256, 500, 700, 1000, 1400, 2000, 3000, 5000, 10000, 20000, 40000, 100000}

// Crossovers that are known must be found: on lines that cross, at a switch of protocol, and both
// ways. At is the first size with the new answer.
func TestCrossovers(t *testing.T) {
	tests := []struct {
		name string
		calls
		sizes []int
		at    []float64
		step  bool
		width float64 // that no interval exceeds, over the size
	}{
		// 30 + 0.03k = 1.2·(30 + 0.005k)
		{"slopes", calls{straight(30, 0.03), straight(30, 0.005)}, paperSizes, []float64{250}, false, 0.2},
		// 15 + 0.006k = 1.2·24
		{"slope meets constant", calls{straight(15, 0.006), straight(24, 0)}, paperSizes, []float64{2300}, false, 0.06},
		{"sizes that double", calls{straight(15, 0.006), straight(24, 0)}, fittest.DoublingSizes(17), []float64{2300}, false, 0.06},
		{"step up", calls{switched(512, straight(30, 0.01), straight(60, 0.02)), straight(30, 0.01)}, paperSizes, []float64{513}, true, 0.39},
		{"step of the call that starts", calls{straight(60, 0.01), switched(2048, straight(58, 0.01), straight(30, 0.001))}, paperSizes, []float64{2049}, true, 0.49},
		{"there and back", calls{switched(600, straight(30, 0.001), straight(70, 0.001)), switched(12000, straight(30, 0.001), straight(80, 0.001))}, paperSizes, []float64{601, 12001}, true, 0.84},
	}
	seeds := 200
	if !fittest.IsSoakTest() {
		seeds = 60
	}
	for _, test := range tests {
		held := make([]bool, seeds)
		width := make([]float64, seeds)
		clean.RunParallel(seeds, func(seed int) {
			m := test.samples("x", uint64(seed), test.sizes, 100, 0.05)
			c, err := CompareSubjects([]sample.Machine{m}, clean.Options{Seed: uint64(seed)}, 0.2, false)
			if err != nil {
				panic(err)
			}
			if len(c.Overlaps) != 1 || len(c.Overlaps[0].Crossings) != len(test.at) {
				return
			}
			held[seed] = true
			for i, x := range c.Overlaps[0].Crossings {
				held[seed] = held[seed] && float64(x.Low) <= test.at[i] && test.at[i] <= float64(x.High) &&
					x.Low <= x.Bytes && x.Bytes <= x.High
				width[seed] = float64(x.High-x.Low) / test.at[i]
				if test.step { // between two measured sizes, neighbours of one another
					held[seed] = held[seed] && slices.Contains(test.sizes, x.Low) && slices.Contains(test.sizes, x.High)
				}
			}
		})
		n, wide := 0, 0.0
		for i, h := range held {
			if h {
				n++
			}
			wide = max(wide, width[i])
		}
		t.Logf("%s: %d of %d seeds, width %.2f at most, %.2f once", test.name, n, seeds, wide, width[0])
		if wide > test.width {
			t.Errorf("%s: an interval is %.3f wide", test.name, wide)
		}
		if n*100 < seeds*95 {
			t.Errorf("%s: the interval held what is known in %d of %d seeds", test.name, n, seeds)
		}
	}
}

// Answers that are no size: never, always, and that intervals do not say. Without noise and with.
func TestZones(t *testing.T) {
	nine := fittest.DoublingSizes(9)
	for _, test := range []struct {
		name string
		calls
		noise float64
		sizes []int
		want  []Zone
		reps  int // 0: 100
	}{
		{"never", calls{straight(30, 0.01), straight(30, 0.01)}, 0.05, paperSizes, []Zone{{0, 100000, ShorterSide}}, 0},
		{"always", calls{straight(30, 0.01), straight(20, 0.001)}, 0.05, paperSizes, []Zone{{0, 100000, LongerSide}}, 0},
		{"just at the margin", calls{straight(36, 0), straight(30, 0)}, 0.05, paperSizes, []Zone{{0, 100000, UndecidedSide}}, 0},
		{"at the margin itself", calls{straight(36, 0), straight(30, 0)}, 0, paperSizes, []Zone{{0, 100000, UndecidedSide}}, 0},
		{"one size", calls{straight(30, 0), straight(20, 0)}, 0, []int{16}, []Zone{{16, 16, LongerSide}}, 0},
		{"from an open begin", calls{straight(36, 0.1), straight(30, 0)}, 0, nine, []Zone{{1, 2, UndecidedSide}, {3, 256, LongerSide}}, 0},
		{"to an open end", calls{straight(61.6, 0), straight(30, 64.0/3/256)}, 0, nine, []Zone{{1, 251, LongerSide}, {252, 256, UndecidedSide}}, 0},
		{"few samples", calls{straight(30, 0.01), straight(20, 0.001)}, 0.05, paperSizes, []Zone{{0, 100000, UndecidedSide}}, clean.MinSamplesForInterval - 1},
		{"enough samples", calls{straight(30, 0.01), straight(20, 0.001)}, 0.01, paperSizes, []Zone{{0, 100000, LongerSide}}, clean.MinSamplesForInterval},
	} {
		c, err := CompareSubjects([]sample.Machine{test.samples("x", 1, test.sizes, cmp.Or(test.reps, 100), test.noise)}, clean.Options{}, 0.2, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Overlaps) != 1 || !slices.Equal(c.Overlaps[0].Zones, test.want) || len(c.Overlaps[0].Crossings) > 0 {
			t.Errorf("%s: %+v, want zones %+v", test.name, c.Overlaps, test.want)
		}
	}
}

// Where a piece is not straight nothing is known between two sizes, and the crossing is weak.
func TestCrossingOnBentPiece(t *testing.T) {
	bent := func(k float64) float64 { return 10 + k*k/4000 } // 20 at 200, where the other is 21.6, and 32.5 at 300, where it is 18.6; 20 were 21.6 at 254
	m := calls{bent, straight(23, -0.025)}.samples("x", 1, []int{16, 64, 128, 200, 300}, 100, 0.01)
	c, err := CompareSubjects([]sample.Machine{m}, clean.Options{MaxPieces: 1}, 0.2, false)
	if err != nil {
		t.Fatal(err)
	}
	x := c.Overlaps[0]
	if want := []Zone{{16, 200, ShorterSide}, {201, 299, UndecidedSide}, {300, 300, LongerSide}}; !slices.Equal(x.Zones, want) {
		t.Errorf("%+v, want %+v", x.Zones, want)
	}
	if want := []Crossing{{300, 200, 300, LongerSide}}; !slices.Equal(x.Crossings, want) || !x.IsWeak {
		t.Errorf("%+v, want %+v and weak", x, want)
	}
}

// Without a margin other than what is asked for; and a machine may be faster than another up to
// some size only.
func TestPairwise(t *testing.T) {
	// 20 + 0.02k = 30 + 0.01k at 1000
	a := calls{block: straight(30, 0.01)}.samples("a", 1, paperSizes, 100, 0.05)
	b := calls{block: straight(20, 0.02)}.samples("b", 2, paperSizes, 100, 0.05)
	twin := calls{block: straight(30, 0.01)}.samples("c", 3, paperSizes, 100, 0.05)
	c, err := CompareSubjects([]sample.Machine{a, b, twin}, clean.Options{}, 0.2, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Pairwise) != 3 || len(c.Overlaps) != 0 {
		t.Fatalf("%+v", c)
	}
	ab, ac := c.Pairwise[0], c.Pairwise[1]
	if x := ab.Crossings; ab.SubjectIndex != 1 || ab.OtherSubjectIndex != 0 || len(x) != 1 || x[0].SideAfter != LongerSide || x[0].Low > 1000 || x[0].High < 1000 || x[0].High-x[0].Low > 200 {
		t.Errorf("b against a: %+v", ab)
	}
	if want := []Zone{{0, 100000, UndecidedSide}}; ac.SubjectIndex != 2 || ac.OtherSubjectIndex != 0 || !slices.Equal(ac.Zones, want) {
		t.Errorf("c against its twin a: %+v", ac)
	}
	// around a crossing they are alike, which is no answer: 30 + 0.01k − 20 − 0.02k is within half
	// a percent of both, by hand, from 972 to 1028
	c, err = CompareSubjects([]sample.Machine{calls{block: straight(30, 0.01)}.samples("a", 1, paperSizes, 100, 0), calls{block: straight(20, 0.02)}.samples("b", 1, paperSizes, 100, 0)}, clean.Options{}, 0.2, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Zone{{0, 972, ShorterSide}, {973, 1028, UndecidedSide}, {1029, 100000, LongerSide}}; !slices.Equal(c.Pairwise[0].Zones, want) {
		t.Errorf("%+v, want %+v", c.Pairwise[0].Zones, want)
	}
	// with less noise it is known that they are alike; up to a switch, one cannot tell them apart
	a = calls{block: straight(30, 0.01)}.samples("a", 1, paperSizes, 100, 0.005)
	twin = calls{block: straight(30, 0.01)}.samples("c", 3, paperSizes, 100, 0.005)
	b = calls{block: switched(512, straight(30, 0.01), straight(60, 0.01))}.samples("b", 4, paperSizes, 100, 0.005)
	if c, err = CompareSubjects([]sample.Machine{a, twin, b}, clean.Options{}, 0.2, false); err != nil {
		t.Fatal(err)
	}
	if want := []Zone{{0, 100000, NeitherSide}}; !slices.Equal(c.Pairwise[0].Zones, want) {
		t.Errorf("a and its twin: %+v", c.Pairwise[0])
	}
	if want := []Crossing{{700, 500, 700, LongerSide}}; !slices.Equal(c.Pairwise[1].Crossings, want) || c.Pairwise[1].Zones[0].Side != NeitherSide {
		t.Errorf("a and b: %+v", c.Pairwise[1])
	}
}
