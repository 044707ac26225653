package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// BenchmarkRuns measures this machine several times, fits each run, and reports by how much each
// parameter at the smallest size varies between the runs: the coefficient of variation in percent,
// of all modes the median. -v prints each mode. LOGGP_RUNS is the number of runs (6), LOGGP_MEASURE
// has other flags for measure, such as '--platform tcp', and LOGGP_FILES names files of runs that
// were measured before.
func BenchmarkRuns(b *testing.B) {
	files := strings.Fields(os.Getenv("LOGGP_FILES"))
	if len(files) == 0 {
		b.Chdir(b.TempDir())
		runs, err := strconv.Atoi(cmp.Or(os.Getenv("LOGGP_RUNS"), "6"))
		if err != nil {
			b.Fatal(err)
		}
		flags := strings.Fields(cmp.Or(os.Getenv("LOGGP_MEASURE"), "--platform shm"))
		for n := range runs {
			file := fmt.Sprintf("%d.csv", n)
			var out, errs buffer
			if status := runCommandLine(b.Context(), append([]string{"measure", "-o", file}, flags...), &out, &errs); status != exitSuccess {
				b.Fatal(errs.String())
			}
			files = append(files, file)
		}
	}
	var order []string
	values := map[string][]float64{} // by mode, parameter and method
	for _, file := range files {
		set, err := sample.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		all, disturbed := 0, 0
		for _, s := range set.Series {
			if all += len(s.Times); s.Disturbed {
				disturbed += len(s.Times)
			}
		}
		b.Logf("%s: %d samples, %.1f %% of them disturbed", file, all, 100*float64(disturbed)/float64(all))
		r, err := fit.Fit(set, clean.Options{ReplicateCount: 20})
		if err != nil {
			b.Fatal(err)
		}
		seen := map[string]bool{}
		for _, p := range r.Parameters {
			name := fmt.Sprintf("%s %-8s %s", p.Name, p.Mode, p.Method)
			if math.IsNaN(p.Value) || seen[name] || (p.Name == "G") != (p.Unit == params.UnitMicrosPerByte) {
				continue
			}
			seen[name] = true
			if values[name] == nil {
				order = append(order, name)
			}
			values[name] = append(values[name], p.Value)
		}
	}
	percents := map[string][]float64{} // by parameter
	for _, name := range order {
		if v := values[name]; len(v) > 1 && len(v) > len(files)/2 {
			mean, squares := 0.0, 0.0
			for _, x := range v {
				mean += x / float64(len(v))
			}
			for _, x := range v {
				squares += (x - mean) * (x - mean)
			}
			percent := 100 * math.Sqrt(squares/float64(len(v)-1)) / math.Abs(mean)
			b.Logf("%-60s %8.4g  cv %4.1f %%  %.4g", name, mean, percent, v)
			parameter, _, _ := strings.Cut(name, " ")
			percents[parameter] = append(percents[parameter], percent)
		}
	}
	for parameter, all := range percents {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], parameter+"-cv%")
	}
}
