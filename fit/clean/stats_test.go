package clean

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/model/quantile"
)

// The tails are as if all had been sorted, whatever comes, and nothing is lost.
func TestSortTails(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		x := make([]float64, 1+r.IntN(500))
		kinds := 1 + r.IntN(len(x))
		for i := range x {
			x[i] = float64(r.IntN(kinds))
			if r.IntN(200) == 0 {
				x[i] = math.Inf(1)
			}
		}
		want := slices.Sorted(slices.Values(x))
		tail := r.Float64() / 2
		SortExtremes(x, tail)
		for _, u := range []float64{0, tail, 1 - tail, 1} {
			if a, b := quantile.Of(x, u), quantile.Of(want, u); a != b && (a == a || b == b) {
				t.Fatalf("quantile %v of %d numbers is %v, want %v", u, len(x), a, b)
			}
		}
		slices.Sort(x)
		if !slices.Equal(x, want) {
			t.Fatal("numbers were lost")
		}
	}
}
