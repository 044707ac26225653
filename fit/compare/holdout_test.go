package compare

import (
	"compress/gzip"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// Of a machine whose round trips are two lines, one half of the sizes predicts the other but at the
// change, where the nearer piece counts.
func TestHoldOut(t *testing.T) {
	set := fittest.RoundTripSamples(3, func(k float64) float64 {
		if k > 4096 {
			return 3 + 0.0002*k
		}
		return 1 + 0.0005*k
	})
	hs, err := HoldOut(set, clean.Options{})
	if err != nil || len(hs) != 1 {
		t.Fatal(hs, err)
	}
	h := hs[0]
	if h.FittedSizeCount != 9 || len(h.HeldOutSizes) != 9 || h.MedianError > 3 || h.HeldOutSizes[0].Bytes != 1 || h.Mode != "send" {
		t.Errorf("%+v", h)
	}
	for _, p := range h.HeldOutSizes {
		if want := 100 * (p.Predicted/p.Measured - 1); math.Abs(p.Error-want) > 1e-6 || math.Abs(p.Error) > h.LargestError {
			t.Errorf("%+v", p)
		}
	}
	if hs, err := HoldOut(fittest.SamplesOfFormula(rand.New(rand.NewPCG(1, 1)), fittest.DoublingSizes(5), 20, 0, func(float64) float64 { return 1 }), clean.Options{}); err != nil || len(hs) != 0 {
		t.Errorf("without round trips: %v, %v", hs, err)
	}
}

// Half of the sizes in half of the launches predict half round trips of the other sizes in the
// other launches with a median error of 5 % at most: on emulated machines, and on real ones through
// shared memory, TCP and two libraries of MPI, with sizes that were chosen for it and with those of
// every measurement.
func TestHoldOutPlatforms(t *testing.T) {
	errors := map[string][]float64{}
	for _, file := range []string{"trips.csv", "grid.csv", "reference/t3d.samples.csv.gz", "reference/now.samples.csv.gz",
		"reference/convex-intra.samples.csv.gz", "reference/convex-inter.samples.csv.gz"} {
		f, err := os.Open("../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var in io.Reader = f
		if strings.HasSuffix(file, ".gz") {
			if in, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		set, err := sample.Read(in, file)
		if err != nil {
			t.Fatal(err)
		}
		hs, err := HoldOut(set, clean.Options{})
		if err != nil || len(hs) == 0 {
			t.Fatal(file, hs, err)
		}
		for _, h := range hs {
			if h.FittedSizeCount < 8 || len(h.HeldOutSizes) < h.FittedSizeCount-2 {
				t.Errorf("%s: %+v", file, h)
			}
			name := strings.Join([]string{h.Platform, h.Library, h.Place}, ", ")
			for _, p := range h.HeldOutSizes {
				errors[name] = append(errors[name], math.Abs(p.Error))
			}
		}
	}
	if len(errors) != 8 {
		t.Errorf("%d platforms", len(errors))
	}
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		middle := quantile.Median(errors[name])
		t.Logf("%s: %d sizes, median error %.1f %%, largest %.1f %%", name, len(errors[name]), middle, slices.Max(errors[name]))
		if middle > 5 {
			t.Errorf("%s: the median error is %.1f %%", name, middle)
		}
	}
}
