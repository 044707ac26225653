package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/microbench/sample"
)

// Of a machine whose round trips are two lines, one half of the sizes predicts the other but at the change, where the nearer piece counts.
func TestHoldOut(t *testing.T) {
	set := fittest.Trips(3, func(k float64) float64 {
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
	if h.Fitted != 9 || len(h.Others) != 9 || h.Median > 3 || h.Others[0].Bytes != 1 || h.Mode != "send" {
		t.Errorf("%+v", h)
	}
	for _, p := range h.Others {
		if want := 100 * (p.Predicted/p.Measured - 1); math.Abs(p.Error-want) > 1e-6 || math.Abs(p.Error) > h.Largest {
			t.Errorf("%+v", p)
		}
	}
	if hs, err := HoldOut(fittest.Formula(rand.New(rand.NewPCG(1, 1)), fittest.Doubling(5), 20, 0, func(float64) float64 { return 1 }), clean.Options{}); err != nil || len(hs) != 0 {
		t.Errorf("without round trips: %v, %v", hs, err)
	}
}

// On real machines, through shared memory, TCP and two libraries of MPI, half of the sizes predict half round trips at the others with a median error of 5 % at most:
// with sizes that were chosen for it, and with those of every measurement.
func TestHoldOutReal(t *testing.T) {
	for file, fitted := range map[string]int{"trips.csv": 15, "grid.csv": 14} {
		set, err := sample.ReadFile("../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		hs, err := HoldOut(set, clean.Options{})
		if err != nil || len(hs) != 4 {
			t.Fatal(hs, err)
		}
		for _, h := range hs {
			t.Logf("%s: %s, %s: median error %.1f %%, largest %.1f %%", file, h.Platform, h.Library, h.Median, h.Largest)
			if h.Median > 5 || h.Fitted < fitted || len(h.Others) < fitted-1 {
				t.Errorf("%s: %+v", file, h)
			}
		}
	}
}
