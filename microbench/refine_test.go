package microbench

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// curve is a made response at the sizes: what time says of each, with noise that its intervals
// tell.
func curve(sizes []int, noise float64, rng *rand.Rand, time func(k int) float64) []curvePoint {
	var points []curvePoint
	for _, k := range sizes {
		v := time(k)
		points = append(points, curvePoint{k, intervalEstimate{v * (1 + noise*rng.NormFloat64()), 1.96 * noise * v}})
	}
	return points
}

// refined adds sizes until there is nothing to add, as the scheduler does.
func refined(noise float64, rng *rand.Rand, time func(k int) float64) (sizes, added []int) {
	sizes = slices.Clone(RealMachineSizes)
	for range maxAddedSizes {
		k := midpointOfLargestJump([][]curvePoint{curve(sizes, noise, rng, time)})
		if k < 0 {
			break
		}
		added, sizes = append(added, k), append(sizes, k)
		slices.Sort(sizes)
	}
	return sizes, added
}

// Where a rendezvous begins, two sizes are found that are not further apart than a sixteenth, and
// the limit is between them.
func TestRefineFindsLimit(t *testing.T) {
	for _, limit := range []int{1000, 1024, 2048, 3000, 4096, 8192, 10000, 16384, 40000} {
		for _, noise := range []float64{0, 0.01} {
			found := 0
			for seed := range uint64(20) {
				sizes, added := refined(noise, rand.New(rand.NewPCG(seed, 1)), func(k int) float64 {
					t := 500 + 0.2*float64(k)
					if k > limit {
						t = 1100 + 0.25*float64(k)
					}
					return t
				})
				if len(added) > maxAddedSizes {
					t.Errorf("%d sizes were added", len(added))
				}
				i, _ := slices.BinarySearch(sizes, limit+1)
				if i == 0 || i == len(sizes) {
					t.Fatalf("limit %d is not between sizes", limit)
				}
				if sizes[i]-sizes[i-1] <= max(minSizeDistance, sizes[i-1]/minSizeDistanceDivisor) {
					found++
				}
			}
			if found < 19 {
				t.Errorf("limit %d, noise %v: found within a step of the grid in %d of 20", limit, noise, found)
			}
		}
	}
}

// A line has no break, noisy or not; a corner at one of the sizes needs no further ones.
func TestRefineLeavesLines(t *testing.T) {
	for _, noise := range []float64{0, 0.01, 0.05} {
		added := 0
		for seed := range uint64(50) {
			rng := rand.New(rand.NewPCG(seed, 2))
			_, line := refined(noise, rng, func(k int) float64 { return 500 + 0.2*float64(k) })
			_, corner := refined(noise, rng, func(k int) float64 { return 500 + 0.2*float64(k) + 0.4*float64(max(0, k-4096)) })
			added += len(line) + len(corner)
		}
		if added > 5 {
			t.Errorf("noise %v: %d sizes were added to 100 curves", noise, added)
		}
	}
}
