package export

import (
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// charged returns what SMPI charges for k bytes by sections size:startup:per-byte, each for
// messages longer than its size, in microseconds.
func charged(t *testing.T, sections string, k int) float64 {
	t.Helper()
	value := math.NaN()
	for _, section := range strings.Split(sections, ";") {
		var size int
		var startup, perByte float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(section, ":", " "), "%d %g %g", &size, &startup, &perByte); err != nil {
			t.Fatal(section, err)
		}
		if k > size || math.IsNaN(value) {
			value = 1e6 * (startup + perByte*float64(k))
		}
	}
	return value
}

// What is exported predicts the samples that it came from: overheads of each size that is sent at
// once, the smallest first, of synthetic machines and of real ones.
func TestExportPredictsItsSamples(t *testing.T) {
	sets := map[string]*sample.Set{"synthetic": fittest.TypicalMachine().Samples(1, fittest.WholePlan)}
	for _, name := range []string{"openmpi", "mpich", "shm", "tcp", "t3d", "now", "convex-intra"} {
		f, err := os.Open("../testdata/reference/" + name + ".samples.csv.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if sets[name], err = sample.Read(z, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, set := range sets {
		r, err := fit.Fit(set, clean.Options{ReplicateCount: 40})
		if err != nil {
			t.Fatal(err)
		}
		m := &simulatedMachine{params: r.Parameters, mode: "send"}
		m.eager.value = 1 << 30
		for quantity, timers := range map[string][]string{"o_s": {"timer11", "idle"}, "o_r": {"timer12"}} {
			pieces := m.overheadRanges("send", quantity)
			sections := m.sections("send", quantity, Options{})
			i := slices.IndexFunc(r.Curves, func(c curve.Curve) bool {
				return c.Mode == "send" && c.Timer == pieces[0].Method && slices.Contains(timers, c.Timer)
			})
			var errors []float64
			for j, p := range r.Curves[i].Points {
				if p.Value <= 0 {
					continue
				}
				off := math.Abs(charged(t, sections, p.Bytes)/p.Value - 1)
				if j == 0 && off > 0.25 {
					t.Errorf("%s: %s of %d bytes is %.4g us, the median is %.4g: %s", name, quantity, p.Bytes, charged(t, sections, p.Bytes), p.Value, sections)
				}
				errors = append(errors, off)
			}
			if middle := quantile.Median(errors); middle > 0.25 || middle > 0.05 && !strings.Contains("openmpi mpich shm tcp", name) {
				t.Errorf("%s: half of the sizes of %s are off by more than %.0f %%: %s", name, quantity, 100*middle, sections)
			}
		}
	}
}

// An export says how far its one-way times are from those that were measured.
func TestExportDoubts(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise = 0
	r, err := fit.Fit(m.Samples(1, fittest.WholePlan), clean.Options{ReplicateCount: 20})
	if err != nil {
		t.Fatal(err)
	}
	far := regexp.MustCompile(`up to S: \S+ % at most`)
	good := written(t, "simgrid", r.Parameters, Options{Mode: "send", EagerLimit: 4096})
	if !far.MatchString(good) || strings.Contains(good, "DOUBTFUL") {
		t.Error(good)
	}
	for i := range r.Parameters {
		if p := &r.Parameters[i]; p.Name == "T" && p.Mode == "send" {
			p.Value *= 2
		}
	}
	for _, format := range []string{"simgrid", "logopsim"} {
		if out := written(t, format, r.Parameters, Options{Mode: "send", EagerLimit: 4096, TakesBounds: true}); !strings.Contains(out, "DOUBTFUL") {
			t.Error(out)
		}
	}
}
