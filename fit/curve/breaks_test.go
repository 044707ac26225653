package curve_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/fittest/fitcheck"
	"github.com/loggp/loggp/microbench/sample"
)

func pieces(t *testing.T, set *sample.Set) []curve.Piece {
	t.Helper()
	return fitcheck.Fit(t, set, clean.Options{ReplicateCount: 100}).Curves[0].Pieces
}

// A straight line must not be cut, whatever the noise and however many sizes there are.
func TestNoBreaksInNoise(t *testing.T) {
	seeds := 100
	if !fittest.IsSoakTest() {
		seeds = 50
	}
	for _, c := range []struct {
		sizes []int
		reps  int
		noise float64
		slope float64
	}{
		{fittest.DoublingSizes(16), 40, 0.05, 0.01},
		{fittest.DoublingSizes(16), 600, 0.05, 0},
		{fittest.Powers(1, 1<<20), 100, 0.05, 0.01},
		{fittest.DoublingSizes(8), 40, 0.3, 0.01},
		{fittest.EvenlySpacedSizes(60), 20, 0.05, 0.01},
		{fittest.DoublingSizes(16), 8, 0.05, 0.01},
	} {
		wrong := make([]bool, seeds)
		clean.RunParallel(seeds, func(seed int) {
			rng := rand.New(rand.NewPCG(uint64(seed), 3))
			set := fittest.SamplesOfFormula(rng, c.sizes, c.reps, c.noise, func(k float64) float64 { return 10 + c.slope*k })
			wrong[seed] = len(pieces(t, set)) > 1
		})
		n := 0
		for _, w := range wrong {
			if w {
				n++
			}
		}
		t.Logf("%d sizes, %d reps, noise %v, slope %v: %d of %d cut", len(c.sizes), c.reps, c.noise, c.slope, n, seeds)
		if n > seeds/50 {
			t.Errorf("%d sizes, %d reps, noise %v, slope %v: %d of %d straight lines were cut", len(c.sizes), c.reps, c.noise, c.slope, n, seeds)
		}
	}
}

// What two protocols look like: a jump, a kink, both, at several places. The numbers of the jump
// are relative to the value there.
func TestBreaks(t *testing.T) {
	step := func(at, jump, before, after float64) func(float64) float64 {
		return func(k float64) float64 {
			if k <= at {
				return 20 + before*k
			}
			return (20+before*at)*(1+jump) + after*(k-at)
		}
	}
	tests := []struct {
		name  string
		sizes []int
		f     func(float64) float64
		from  []int // of the pieces
	}{
		{"jump of 5 %", fittest.DoublingSizes(16), step(256, 0.05, 0.01, 0.01), []int{1, 512}},
		{"jump up at 4 KiB", fittest.DoublingSizes(17), step(4096, 0.5, 0.001, 0.001), []int{1, 8192}},
		{"jump down", fittest.DoublingSizes(17), step(1024, -0.3, 0.02, 0.02), []int{1, 2048}},
		{"jump after three sizes", fittest.DoublingSizes(14), step(4, 0.2, 0.01, 0.01), []int{1, 8}},
		{"jump before three sizes", fittest.DoublingSizes(14), step(1024, 0.2, 0.01, 0.01), []int{1, 2048}},
		{"kink up", fittest.DoublingSizes(17), step(1024, 0, 0.01, 0.04), []int{1, 2048}},
		{"kink down", fittest.EvenlySpacedSizes(20), step(640, 0, 0.1, 0.02), []int{64, 704}},
		{"two breaks", fittest.DoublingSizes(18), func(k float64) float64 {
			switch {
			case k <= 64:
				return 10
			case k <= 8192:
				return 14 + 0.002*k
			}
			return 60 + 0.001*k
		}, []int{1, 128, 16384}},
		{"uneven sizes", []int{1, 16, 100, 500, 1000, 2000, 4000, 4097, 6000, 10000, 50000, 100000}, step(4096, 0.4, 0.001, 0.004), []int{1, 4097}},
	}
	const seeds = 20
	for _, test := range tests {
		for _, noise := range []float64{0, 0.05} {
			wrong := 0
			for seed := range uint64(seeds) {
				rng := rand.New(rand.NewPCG(seed, 4))
				set := fittest.SamplesOfFormula(rng, test.sizes, 200, noise, test.f)
				var from []int
				for _, p := range pieces(t, set) {
					from = append(from, p.From)
				}
				// where a kink is no further than the noise from the next size, either belongs to
				// both pieces
				if !slices.EqualFunc(from, test.from, func(a, b int) bool { return near(test.sizes, a, b, test.name[:4] == "kink") }) {
					wrong++
					t.Logf("%s, noise %v, seed %d: pieces begin at %v, want %v", test.name, noise, seed, from, test.from)
				}
			}
			if wrong > 1 {
				t.Errorf("%s, noise %v: wrong pieces in %d of %d seeds", test.name, noise, wrong, seeds)
			}
		}
	}
}

// near says whether two sizes are the same, or neighbours where that is allowed.
func near(sizes []int, a, b int, neighbours bool) bool {
	i, j := slices.Index(sizes, a), slices.Index(sizes, b)
	return i == j || neighbours && (i == j+1 || j == i+1)
}

// One bad size is no protocol, and must not move the line. If it is the smallest it stands for
// itself, and so does the last of virtual time if it is far off.
func TestBadCell(t *testing.T) {
	for _, clock := range []string{"real", "virtual"} {
		testBadCell(t, clock)
	}
}

func testBadCell(t *testing.T, clock string) {
	for _, bad := range []int{1, 64, 4096, 1 << 15} {
		for _, factor := range []float64{0.5, 1.3, 50} {
			rng := rand.New(rand.NewPCG(uint64(bad), 5))
			set := fittest.SamplesOfFormula(rng, fittest.DoublingSizes(16), 200, 0.05, func(k float64) float64 {
				if int(k) == bad {
					return factor * (10 + 0.01*k)
				}
				return 10 + 0.01*k
			})
			for i := range set.Series {
				set.Series[i].Clock = clock
			}
			p := pieces(t, set)
			if bad == 1<<15 && factor == 50 && clock == "virtual" && len(p) == 2 && p[1].From == bad {
				p = p[:1]
			}
			if bad == 1 && (factor < 50 || clock == "virtual") && len(p) == 2 && p[0].To == 1 { // no line may miss its smallest size
				p = p[1:]
			}
			if len(p) != 1 {
				t.Errorf("%s clock, %d bytes times %v: pieces %+v", clock, bad, factor, p)
				continue
			}
			if math.Abs(p[0].Value-10) > 0.2 || math.Abs(p[0].Slope-0.01) > 0.0002 {
				t.Errorf("%d bytes times %v: %v + %v (k-1), want 10 + 0.01 k", bad, factor, p[0].Value, p[0].Slope)
			}
		}
	}
}

// Two sizes at the end that take three times as long are a rendezvous, not cells that were held up.
func TestLongSizesAtEnd(t *testing.T) {
	for _, clock := range []string{"real", "virtual"} {
		rng := rand.New(rand.NewPCG(1, 6))
		set := fittest.SamplesOfFormula(rng, fittest.DoublingSizes(16), 200, 0.01, func(k float64) float64 {
			if k >= 1<<14 {
				return 20 + 0.03*k
			}
			return 10 + 0.01*k
		})
		for i := range set.Series {
			set.Series[i].Clock = clock
		}
		p := pieces(t, set)
		if len(p) != 2 || p[0].To != 1<<13 || p[1].From != 1<<14 || p[1].To != 1<<15 || math.Abs(p[1].Slope-0.03) > 0.001 {
			t.Errorf("%s clock: %+v", clock, p)
		}
	}
}
