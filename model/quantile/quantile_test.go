package quantile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Definition 7 at u is definition 4, which gonum has, at (u·(n−1) + 1)/n.
func TestAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		x := make([]float64, 1+rng.IntN(50))
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		slices.Sort(x)
		n := float64(len(x))
		for _, u := range []float64{0, 0.25, 0.5, rng.Float64(), 1} {
			got, want := Of(x, u), stat.Quantile(min(1, (u*(n-1)+1)/n), stat.LinInterp, x, nil)
			if math.Abs(got-want) > 1e-12 {
				t.Fatalf("quantile %v of %v is %v, by gonum %v", u, x, got, want)
			}
		}
	}
}

func TestMedians(t *testing.T) {
	for _, c := range []struct {
		x             []float64
		median, upper float64
	}{{[]float64{3}, 3, 3}, {[]float64{2, 1}, 1.5, 2}, {[]float64{5, 1, 2}, 2, 2}, {[]float64{9, 1, 2, 4}, 3, 4}} {
		if m := Median(c.x); m != c.median || UpperMedian(c.x) != c.upper || !slices.IsSorted(c.x) {
			t.Errorf("%v has the medians %v and %v, want %v and %v", c.x, m, UpperMedian(c.x), c.median, c.upper)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	x := make([]float64, 400)
	for i := range x {
		x[i] = float64(i)
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			Of(x, 0.5)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		for b.Loop() {
			stat.Quantile(0.5, stat.LinInterp, x, nil)
		}
	})
}
