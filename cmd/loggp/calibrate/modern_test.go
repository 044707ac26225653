package calibrate

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
)

// medianErrors are the median errors in percent, at most, of round trips and windows of the OSU
// benchmarks between two nodes, in the platforms of today that were fitted to them
// (docs/machines.md).
var medianErrors = map[string]float64{"hdr-fattree": 10, "slingshot-dragonfly": 2, "roce-clos": 2, "c5n-efa": 7, "hpc6a-efa": 5, "ethernet-tcp": 16}

// Platforms of today meet what their numbers were fitted to, with the median error that the
// documents state.
func TestMachinesOfToday(t *testing.T) {
	text, err := os.ReadFile("../../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range medianErrors {
		p, err := platform.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob("../../../testdata/modern/" + name + "-*.csv")
		if err != nil || files == nil {
			t.Fatal(name, files, err)
		}
		var errors []float64
		for _, f := range files {
			set, err := sample.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			// A window of long messages copies much memory and says nothing new.
			set.Series = slices.DeleteFunc(set.Series, func(s sample.Series) bool { return len(set.Series) > 1 && s.Bytes > 64<<10 })
			b, err := SamplesBench(t.Context(), f, set, p, SampleSelection{AllSizes: true})
			if err != nil {
				t.Fatal(err)
			}
			measured, err := b.Measure(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range b.Quantities {
				errors = append(errors, 100*math.Abs(measured[i]/q.MinTarget-1))
			}
		}
		slices.Sort(errors)
		median := errors[len(errors)/2]
		t.Logf("%s: median error %.1f %% of %d, at most %.1f %%", name, median, len(errors), errors[len(errors)-1])
		if median > most {
			t.Errorf("%s: a median error of %.1f %%, documented as %g %%", name, median, most)
		}
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("docs/machines.md has no row of %s", name)
		}
	}
}
