//go:build unix

package probe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// Open MPI's eager limit can be set, and so says how well a change of protocol is found: by a quick
// measurement and a fit, again and again. Metrics are the parts of all runs in which S was found
// within one size of the limit, and the number of further ones that there are not.
func BenchmarkEagerLimit(b *testing.B) {
	if !slices.Contains(compilers(b), "mpicc.openmpi") {
		b.Skip("Open MPI is not installed")
	}
	for limit := 1 << 10; limit <= 16<<10; limit *= 2 {
		b.Run(strconv.Itoa(limit), func(b *testing.B) {
			for _, transport := range []string{"vader", "sm"} { // of version 4, and of 5
				b.Setenv("OMPI_MCA_btl_"+transport+"_eager_limit", strconv.Itoa(limit))
			}
			found, spurious := 0, 0
			seed := uint64(0)
			for b.Loop() {
				seed++
				set := quickly(b, seed)
				is, others := within(set, limits(b, set), limit)
				found, spurious = found+is, spurious+others
				if is == 0 || others > 0 {
					b.Logf("seed %d: %v, of sizes %v", seed, limits(b, set), sizesOf(set))
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "found/run")
			b.ReportMetric(float64(spurious)/float64(b.N), "spurious/run")
		})
	}
}

// quickly measures standard sends for a second.
func quickly(b *testing.B, seed uint64) *sample.Set {
	c := &microbench.Experiment{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: microbench.RealMachineSizes}, Budget: microbench.QuickBudget, Launches: 3, RefineSizes: true, Seed: seed}
	set, _, err := Measure(b.Context(), c, Settings{Compiler: "mpicc.openmpi"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// limits returns the eager limits that fit finds.
func limits(b *testing.B, set *sample.Set) []int {
	r, err := fit.Fit(set, clean.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var list []int
	for _, p := range r.Parameters {
		if p.Name == "S" && p.Kind() == params.EagerLimit {
			list = append(list, int(p.Value))
		}
	}
	return list
}

// sizesOf returns the sizes that were measured.
func sizesOf(set *sample.Set) []int {
	var sizes []int
	for i := range set.Series {
		sizes = append(sizes, set.Series[i].Bytes)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// within counts the limits found, one at most, that are within one step of the grid of the right
// one, which is the last size below what was set, as the library counts its header; and all others.
func within(set *sample.Set, found []int, limit int) (is, others int) {
	sizes := sizesOf(set)
	right, _ := slices.BinarySearch(sizes, limit)
	right--
	for _, k := range found {
		at, ok := slices.BinarySearch(sizes, k)
		if ok && is == 0 && right-1 <= at && at <= right+1 {
			is++
		} else {
			others++
		}
	}
	return is, others
}

// The step is that of the sizes around the limit, whichever there are.
func TestWithin(t *testing.T) {
	set := &sample.Set{}
	for _, k := range []int{512, 1024, 1536, 1792, 2048, 4096} {
		set.Series = append(set.Series, sample.Series{Key: sample.Key{Bytes: k}})
	}
	for found, want := range map[string]string{"[1792]": "1 0", "[1536]": "1 0", "[2048]": "1 0", "[1024]": "0 1", "[4096]": "0 1", "[]": "0 0", "[1792 512]": "1 1", "[1792 1536]": "1 1"} {
		var list []int
		for _, s := range strings.Fields(strings.Trim(found, "[]")) {
			k, _ := strconv.Atoi(s)
			list = append(list, k)
		}
		if is, others := within(set, list, 2048); fmt.Sprint(is, " ", others) != want {
			t.Errorf("%s: %d and %d, want %s", found, is, others, want)
		}
	}
}
