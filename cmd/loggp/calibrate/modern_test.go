package calibrate

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// medianErrors are the median errors in percent, at most, of round trips and windows of the OSU
// benchmarks between two nodes, in the platforms of today that were fitted to them
// (docs/machines.md).
var medianErrors = map[string]float64{"hdr-fattree": 10, "slingshot-dragonfly": 2, "roce-clos": 2, "c5n-efa": 5, "hpc6a-efa": 5, "ethernet-tcp": 16}

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

// Chunks of long transfers are fine enough: with half of them an exchange among all ranks, in which
// flows contend for links, takes the same time but for 2 %, as the sources of these numbers say.
func TestChunksOfMachinesOfToday(t *testing.T) {
	const most = 0.02
	for _, name := range platform.Names() {
		if !platform.IsModern(name) {
			continue
		}
		d := open(t, name)
		for _, n := range d.Numbers {
			if !strings.HasSuffix(n.Path, ".chunk") {
				continue
			}
			whole, err := unit.ParseSize(n.Value)
			if err != nil {
				t.Fatal(err)
			}
			halved, err := d.With(map[string]string{n.Path: unit.Bytes(whole / 2)})
			if err != nil {
				t.Fatal(err)
			}
			placement := model.Placement{3, 3, 3, 3}
			if strings.HasPrefix(n.Path, "machine.nodes.") {
				placement = model.Placement{4}
			}
			for _, bytes := range []int{16 << 10, 100_000, 300_000} {
				var ratios []float64 // of three sizes: with one, messages may happen to meet in another order
				for _, more := range []int{0, bytes / 100, bytes / 50} {
					long, short := exchangeTime(t, d.Platform, placement, bytes+more), exchangeTime(t, halved, placement, bytes+more)
					ratios = append(ratios, short.Micros()/long.Micros())
				}
				slices.Sort(ratios)
				if math.Abs(ratios[1]-1) > most {
					t.Errorf("%s, exchange of %d B: with half of %s of %s it takes %.3f times as long", name, bytes, n.Path, n.Value, ratios[1])
				}
			}
		}
	}
}

// exchangeTime returns how long an MPI_Alltoall takes on a machine without noise: until the last
// rank has ended.
func exchangeTime(t *testing.T, p *platform.Platform, placement model.Placement, bytes int) unit.Time {
	t.Helper()
	placed, err := p.Machine.WithPlacement(placement)
	if err != nil {
		t.Fatal(err)
	}
	of := *p
	of.Machine = placed
	j, err := job.New(&of, "", placement.Ranks(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := j.World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var last unit.Time
	err = mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
		mpi.Alltoall(c, make([]byte, bytes*c.Size()), make([]byte, bytes*c.Size()))
		last = max(last, c.Wtime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}
