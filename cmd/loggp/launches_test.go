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

// BenchmarkLaunches measures this machine once, fits every launch by itself that is in the mode of the machine that most are in, and reports the coefficient of
// variation between them of each parameter at the smallest size, in percent: of all modes of sending the median, and with -v each. How long it took to measure and to fit is the time. LOGGP_MEASURE may have other
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
	set = inOneMode(b, set)
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

// inOneMode returns the launches of a set in which a cache line took as long, by no more than a factor of 1.3: those that are most.
func inOneMode(b *testing.B, set *sample.Set) *sample.Set {
	survey, err := fit.NewSurvey([]sample.Machine{{Set: set}}, fit.Options{Replicates: 20})
	if err != nil {
		b.Fatal(err)
	}
	if len(survey.Scatters) == 0 {
		return set
	}
	x := survey.Scatters[0]
	one := &sample.Set{Facts: set.Facts}
	for _, s := range set.Series {
		if i := slices.Index(x.Launches, s.Launch); i >= 0 && !x.Aside[i] {
			one.Series = append(one.Series, s)
		}
	}
	text, _ := set.Fact(sample.Lines)
	b.Logf("%d launches, of which %d are in one mode: cache lines took %s ns", len(x.Launches), x.Counted(), text)
	b.ReportMetric(float64(x.Counted()), "launches")
	return one
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
		if launches[n] == nil {
			continue
		}
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
		if v := found[name]; len(v.values) > len(launches)/2 && len(v.values) > 1 {
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
