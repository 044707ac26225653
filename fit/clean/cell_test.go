package clean

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
)

// launchesOfRoots returns series of one size, of a launch each, the first half of whose samples is
// with the one root of the barrier.
func launchesOfRoots(bytes int, step unit.Time, us ...[2][]float64) []*sample.Series {
	var all []*sample.Series
	for launch, with := range us {
		s := &sample.Series{Key: sample.Key{Platform: "here", Clock: "real", Place: "intra", Mode: "send", Timer: sample.TimerRTT, Bytes: bytes, Launch: launch}}
		for _, x := range slices.Concat(with[0], with[1]) {
			s.Times = append(s.Times, unit.FromMicros(x)/step*step)
		}
		all = append(all, s)
	}
	return all
}

// Launches of two repetitions with each root show together what none shows alone: that it takes
// longer with one. One sample that is far off hides nothing, nor do launches that differ.
func TestRootsTogether(t *testing.T) {
	f := sample.Runs{{RootCount: 2, Resolution: 0.01}}
	slow, quick := []float64{10.3, 9.2}, []float64{8.4, 8.5}
	apart := [][2][]float64{{slow, quick}, {{10.4, 10.1}, {8.3, 67}}, {{9.2, 10.5}, {8.6, 8.4}}, {{19.9, 20.8}, {17.9, 18.1}}, {{10.2, 9.9}, {8.2, 8.4}}, {{10.1, 10}, {8.3, 8.2}}, {{9.8, 10.2}, {8.4, 8.3}}}
	for n, want := range map[int]bool{1: false, 7: true} {
		if got := rootsDisagree(launchesOfRoots(8, 1, apart[:n]...), f); got != want {
			t.Errorf("%d launches: roots disagree: %v", n, got)
		}
	}
	var scaled [][2][]float64
	for launch, x := range apart {
		for root := range x {
			x[root] = slices.Clone(x[root])
			for i := range x[root] {
				x[root][i] += 20 * float64(launch)
			}
		}
		scaled = append(scaled, x)
	}
	if !rootsDisagree(launchesOfRoots(8, 1, scaled...), f) {
		t.Error("that launches differ hides that roots do")
	}
	same := [][2][]float64{{{10.3, 8.6}, {8.4, 10.2}}, {{8.4, 10.1}, {8.3, 67}}, {{9.2, 10.5}, {8.6, 10.4}}, {{19.9, 18.8}, {17.9, 20.1}}, {{8.2, 9.9}, {8.2, 10.4}}}
	if rootsDisagree(launchesOfRoots(8, 1, same...), f) {
		t.Error("roots disagree whose samples are alike")
	}
}

// A step of the clock between two roots is no difference, but of batches, of which samples are
// means, a step is a part of the clock's.
func TestStepsOfBatches(t *testing.T) {
	f := sample.Runs{{RootCount: 2, Resolution: 0.01}}
	with := func(us, step float64) (x []float64) {
		for i := range 40 {
			x = append(x, us+step*float64(i%3-1))
		}
		return x
	}
	clock := launchesOfRoots(8, 1, [2][]float64{slices.Repeat([]float64{0.02}, 40), slices.Repeat([]float64{0.03}, 40)})
	if rootsDisagree(clock, f) {
		t.Error("roots disagree by a step of the clock")
	}
	if !rootsDisagree(launchesOfRoots(8, 1, [2][]float64{with(0.02, 0.00125), with(0.029, 0.00125)}), f) {
		t.Error("roots of batches agree that are seven steps apart")
	}
	if s := clockStep([]unit.Time{5, 5, 5}); !math.IsInf(s, 1) {
		t.Errorf("times that are alike have a step of %g", s)
	}
}

// The sizes of a curve go one way: of one that disagrees by chance both roots count, and of those
// that agree where more than a fifth do not the lower one. What is emulated goes each its own.
func TestRootsOfCurve(t *testing.T) {
	f := sample.Runs{{RootCount: 2, Resolution: 0.01}}
	near := [2][]float64{{9, 9.1, 9.2, 9.3}, {9.05, 9.15, 9.25, 9.35}}
	far := [2][]float64{{10.9, 11, 11.1, 11.2}, {8.4, 8.5, 8.6, 8.7}}
	for _, clock := range []string{"real", "virtual"} {
		for n := range 6 { // sizes of five that disagree
			var keys []sample.Key
			of := map[sample.Key][]*sample.Series{}
			for k := range 5 {
				cell := near
				if k < n {
					cell = far
				}
				launches := launchesOfRoots(k, 1, cell)
				launches[0].Clock = clock
				keys = append(keys, launches[0].Key)
				of[launches[0].Key] = launches
			}
			for k, got := range RootCombinations(keys, of, f) {
				want := PoolRoots
				if clock == "virtual" && k < n || clock == "real" && n > 1 {
					want = takeLowerRoot
				}
				if got != want {
					t.Errorf("%s: %d of 5 disagree, size %d goes %v", clock, n, k, got)
				}
			}
		}
	}
	receive := launchesOfRoots(8, 1, far)
	receive[0].Timer = sample.Timer21
	if got := RootCombinations([]sample.Key{receive[0].Key}, map[sample.Key][]*sample.Series{receive[0].Key: receive}, f); got[0] != averageRoots {
		t.Errorf("a receive goes %v", got[0])
	}
}

// A median is between two steps of a clock as there are more samples of the one or the other, and
// what a clock tells apart stays as it is.
func TestBlur(t *testing.T) {
	between := func(short, long int) float64 {
		return groupOfSorted(spreadEqualSamples(slices.Concat(slices.Repeat([]unit.Time{17_000}, short), slices.Repeat([]unit.Time{27_000}, long)), 10_000)).Median * 1000
	}
	for _, c := range []struct {
		short, long int
		want        float64 // ns
	}{{10, 0, 17}, {9, 1, 17.6}, {6, 4, 20.3}, {5, 5, 22}, {4, 6, 23.7}, {1, 9, 26.4}, {0, 10, 27}} {
		if got := between(10*c.short, 10*c.long); math.Abs(got-c.want) > 0.1 {
			t.Errorf("of %d and %d the median is %.2f ns, not %.2f", c.short, c.long, got, c.want)
		}
	}
	for n := 1; n < 40; n++ {
		if got := groupOfSorted(spreadEqualSamples(slices.Repeat([]unit.Time{4_000_100}, n), 1000)).Median; got != 4.0001 {
			t.Errorf("%d times that are all alike have the median %v", n, got)
		}
	}
	fine := []unit.Time{10, 11, 13, 16, 20, 25, 31, 400_000}
	if got := spreadEqualSamples(fine, 10_000); !slices.Equal(got, fine) {
		t.Errorf("%v became %v", fine, got)
	}
	for _, times := range [][]unit.Time{{}, {5}, {5, 5}, {5, 5, 5, 9, 9, 9, 100, 100}, {0, 0, 0, 0, 1, 1, 1}} {
		for _, step := range []unit.Time{0, 1, 3, 1000} {
			got := spreadEqualSamples(times, step)
			if len(got) != len(times) || !slices.IsSorted(got) {
				t.Errorf("%v with steps of %d became %v", times, step, got)
			}
		}
	}
}

// The replicates of a median must have the spread that drawing all samples again has.
func TestResample(t *testing.T) {
	for _, n := range []int{1, 2, 5, 30, 101, 600} {
		rng := rand.New(rand.NewPCG(uint64(n), 13))
		times := make([]unit.Time, n)
		for i := range times {
			times[i] = unit.FromMicros(100 * math.Exp(rng.NormFloat64()))
		}
		g := groupOfSorted(sortedCopy(times))
		const replicates = 4000
		fast, slow := g.resample(replicates, rng), make([]float64, replicates)
		drawn := make([]float64, n)
		for b := range slow {
			for i := range drawn {
				drawn[i] = times[rng.IntN(n)].Micros()
			}
			slow[b] = quantile.Median(drawn)
		}
		a, b := stat.StdDev(fast, nil), stat.StdDev(slow, nil)
		// between few samples the replicates are smoothed, which narrows them: by a quarter for
		// five of such a skewed distribution
		if slack := 0.08 + 1/float64(n); math.Abs(a-b) > slack*b {
			t.Errorf("%d samples: standard deviation %v, by drawing %v", n, a, b)
		}
		if a, b := stat.Mean(fast, nil), stat.Mean(slow, nil); math.Abs(a-b) > 0.02*b+0.1*b/float64(n) {
			t.Errorf("%d samples: mean %v, by drawing %v", n, a, b)
		}
	}
}
