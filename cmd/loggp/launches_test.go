package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
)

// BenchmarkLaunches measures this machine once, fits every launch by itself, and reports the coefficient of variation between launches of each
// parameter at the smallest size, in percent: of all modes the median, and with -v each. How long it took to measure and to fit is the time. LOGGP_MEASURE may have other
// flags for measure, such as '--platform tcp --launches 10 --budget 8s'.
func BenchmarkLaunches(b *testing.B) {
	b.Chdir(b.TempDir())
	flags := cmp.Or(os.Getenv("LOGGP_MEASURE"), "--platform shm")
	for b.Loop() {
		var out, errs buffer
		if status := run(b.Context(), append(strings.Fields("measure -o here.csv"), strings.Fields(flags)...), &out, &errs); status != succeeded {
			b.Fatal(errs.String())
		}
	}
	set, err := sample.ReadFile("here.csv")
	if err != nil {
		b.Fatal(err)
	}
	all := map[string][]float64{}
	for _, v := range variations(b, set) {
		b.Logf("%-8s %-4s %-45s %8.4g %s  cv %4.1f %%  %.4g", v.Mode, v.Name, v.Method, v.mean, v.Unit, v.percent, v.values)
		all[v.Name] = append(all[v.Name], v.percent)
	}
	for name, cv := range all {
		slices.Sort(cv)
		b.ReportMetric(cv[len(cv)/2], name+"-cv%")
	}
}

// variation is how a parameter varies between launches.
type variation struct {
	fit.Parameter
	values        []float64
	mean, percent float64
}

// variations fits each launch of a set alone.
func variations(b *testing.B, set *sample.Set) []variation {
	launches := map[int]*sample.Set{}
	facts := slices.DeleteFunc(slices.Clone(set.Facts), func(f sample.Fact) bool { return f.Key == sample.Lines }) // it is of all launches
	last := 0
	for _, s := range set.Series {
		if launches[s.Launch] == nil {
			launches[s.Launch] = &sample.Set{Facts: facts}
		}
		of := launches[s.Launch]
		last = max(last, s.Launch)
		s.Launch = 0
		of.Series = append(of.Series, s)
	}
	var order []string
	found := map[string]*variation{}
	for n := range last + 1 {
		r, err := fit.Fit(launches[n], fit.Options{Replicates: 20})
		if err != nil {
			b.Fatal(err)
		}
		seen := map[string]bool{}
		for _, p := range r.Parameters {
			rate := p.Name == "G"
			name := fmt.Sprint(p.Mode, p.Name, p.Method)
			if math.IsNaN(p.Value) || seen[name] || rate != (p.Unit == fit.PerByte) {
				continue
			}
			seen[name] = true
			if found[name] == nil {
				order = append(order, name)
				found[name] = &variation{Parameter: p}
			}
			found[name].values = append(found[name].values, p.Value)
		}
	}
	var all []variation
	for _, name := range order {
		if v := found[name]; len(v.values) > last/2 && len(v.values) > 1 {
			for _, x := range v.values {
				v.mean += x / float64(len(v.values))
			}
			sum := 0.0
			for _, x := range v.values {
				sum += (x - v.mean) * (x - v.mean)
			}
			v.percent = 100 * math.Sqrt(sum/float64(len(v.values)-1)) / math.Abs(v.mean)
			all = append(all, *v)
		}
	}
	return all
}
