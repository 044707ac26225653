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
	"github.com/loggp/loggp/microbench/sample"
)

// BenchmarkLaunches measures this machine once, fits every launch by itself that is in the mode of the machine that most are in, and reports the coefficient of
// variation between them of each parameter at the smallest size, in percent: of all modes of sending the median, and with -v each. How long it took to measure and to fit is the time. LOGGP_MEASURE may have other
// flags for measure, such as '--platform tcp --launches 10 --budget 8s', and LOGGP_FILES name runs that were measured before, whose launches are taken together.
func BenchmarkLaunches(b *testing.B) {
	files := strings.Fields(os.Getenv("LOGGP_FILES"))
	if len(files) == 0 {
		files = []string{"here.csv"}
		b.Chdir(b.TempDir())
		for b.Loop() {
			measureHere(b, files[0])
		}
	}
	set, err := sample.ReadFile(files...)
	if err != nil {
		b.Fatal(err)
	}
	set, state := inOneMode(b, set)
	tell(b, variations(b, set, state))
}

// measureHere measures this machine, by the flags of LOGGP_MEASURE.
func measureHere(b *testing.B, file string) {
	flags := cmp.Or(os.Getenv("LOGGP_MEASURE"), "--platform shm")
	var out, errs buffer
	if status := run(b.Context(), append([]string{"measure", "-o", file}, strings.Fields(flags)...), &out, &errs); status != succeeded {
		b.Fatal(errs.String())
	}
}

// inOneMode returns the launches of a set in which a cache line took as long, by no more than a factor of 1.3, and the same work at best, by 1.1: those that are most. It also returns
// the state of the processors that counts.
func inOneMode(b *testing.B, set *sample.Set) (*sample.Set, string) {
	survey, err := fit.NewSurvey([]sample.Machine{{Set: set}}, fit.Options{Replicates: 20})
	if err != nil {
		b.Fatal(err)
	}
	if len(survey.Scatters) == 0 {
		return set, ""
	}
	x := survey.Scatters[0]
	one := &sample.Set{Facts: set.Facts}
	for _, s := range set.Series {
		if i := slices.Index(x.Launches, s.Launch); i >= 0 && !x.Aside[i] {
			one.Series = append(one.Series, s)
		}
	}
	text, _ := set.Fact(sample.Lines)
	paces, _ := set.Fact(sample.Paces)
	b.Logf("%d launches, of which %d are in one mode: cache lines took %s ns, the same work at best %s ns, %.1f %% of the samples are at full pace", len(x.Launches), x.Counted(), text, paces, 100*(1-survey.Paces[0].Slowed()))
	return one, survey.Paces[0].State
}

// varied is how a parameter varies between launches, or runs.
type varied struct {
	fit.Parameter
	values        []float64
	mean, percent float64
}

// BenchmarkRuns measures this machine as often as LOGGP_RUNS says, 6 unless given, fits each run with all its launches, as a user does who measures again, and reports the coefficients of variation
// between the runs in one mode of the machine as BenchmarkLaunches does. LOGGP_FILES may name runs that were measured before, and LOGGP_STATE the state of the processors of which runs are to be, such as full.
func BenchmarkRuns(b *testing.B) {
	all := again(b)
	var most []repeat
	want := os.Getenv("LOGGP_STATE")
	for _, x := range all {
		for _, y := range all {
			for _, z := range all { // the quickest line, and the quickest of each processor, of some runs
				var alike []repeat
				for _, m := range all {
					if (want == "" || m.state == want) && m.state == x.state && within(m.line, x.line, 1.3) && within(m.least[0], y.least[0], 1.1) && within(m.least[1], z.least[1], 1.1) {
						alike = append(alike, m)
					}
				}
				if len(alike) > len(most) {
					most = alike
				}
			}
		}
	}
	var sets []*sample.Set
	for _, m := range most {
		sets = append(sets, m.set)
	}
	b.Logf("%d runs, of which %d are in one mode", len(all), len(most))
	for _, m := range all {
		b.Logf("cache lines took %.4g ns, the same work at best %.4g ns, %.1f %% of the samples are at full pace; those that count are %s", m.line, m.least, 100*m.full, cmp.Or(m.state, "of all states"))
	}
	tell(b, variation(b, sets))
}

// again measures as often as asked for, or reads what was measured.
func again(b *testing.B) (all []repeat) {
	read := func(file string) {
		set, err := sample.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, seen(b, set))
	}
	if files := strings.Fields(os.Getenv("LOGGP_FILES")); len(files) > 0 {
		for _, f := range files {
			read(f)
		}
		return all
	}
	b.Chdir(b.TempDir())
	runs, err := strconv.Atoi(cmp.Or(os.Getenv("LOGGP_RUNS"), "6"))
	if err != nil {
		b.Fatal(err)
	}
	for range runs {
		measureHere(b, "here.csv")
		read("here.csv")
	}
	return all
}

// repeat is a run, and what was seen of the machine in it.
type repeat struct {
	set   *sample.Set
	line  float64    // ns; 0 where nobody looked
	least [2]float64 // likewise, of P1 and of P2
	full  float64    // part of the samples
	state string     // of what counts
}

func seen(b *testing.B, set *sample.Set) repeat {
	r, err := fit.Fit(set, fit.Options{Replicates: 20})
	if err != nil {
		b.Fatal(err)
	}
	text, _ := set.Fact(sample.Lines)
	m := repeat{set: set, line: lineTime(b, text), full: 1}
	for _, p := range r.Paces {
		var of [2][]float64
		for _, l := range p.Launches {
			if !l.Aside && min(l.P1, l.P2) > 0 {
				of[0], of[1] = append(of[0], l.P1), append(of[1], l.P2)
			}
		}
		for i, least := range of {
			if len(least) > 0 {
				m.least[i] = slices.Min(least)
			}
		}
		m.full, m.state = 1-p.Slowed(), p.State
	}
	return m
}

// within says whether v is from least to a factor of it.
func within(v, least, factor float64) bool { return v >= least && v <= factor*least }

// lineTime returns the median of the times of a fact.
func lineTime(b *testing.B, text string) float64 {
	var all []float64
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '/' }) {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// variations fits each launch of a set alone, of those that have enough in a state of the processors.
func variations(b *testing.B, set *sample.Set, state string) []varied {
	var launches []*sample.Set
	facts := slices.DeleteFunc(slices.Clone(set.Facts), func(f sample.Fact) bool { return f.Key == sample.Lines || f.Key == sample.Paces }) // they are of all launches
	of := map[int]*sample.Set{}
	for _, s := range set.Series {
		if of[s.Launch] == nil {
			of[s.Launch] = &sample.Set{Facts: facts}
			launches = append(launches, of[s.Launch])
		}
		x := of[s.Launch]
		s.Launch = 0
		x.Series = append(x.Series, s)
	}
	launches = slices.DeleteFunc(launches, func(l *sample.Set) bool { return seen(b, l).state != state })
	b.ReportMetric(float64(len(launches)), "launches")
	return variation(b, launches)
}

// variation fits each set alone.
func variation(b *testing.B, sets []*sample.Set) []varied {
	var order []string
	found := map[string]*varied{}
	for _, set := range sets {
		r, err := fit.Fit(set, fit.Options{Replicates: 20})
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
				found[name] = &varied{Parameter: p}
			}
			found[name].values = append(found[name].values, p.Value)
		}
	}
	var all []varied
	for _, name := range order {
		if v := found[name]; len(v.values) > len(sets)/2 && len(v.values) > 1 {
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

// tell reports the median coefficient of variation of each parameter.
func tell(b *testing.B, of []varied) {
	all := map[string][]float64{}
	for _, v := range of {
		b.Logf("%-8s %-4s %-45s %8.4g %s  cv %4.1f %%  %.4g", v.Mode, v.Name, v.Method, v.mean, v.Unit, v.percent, v.values)
		all[v.Name] = append(all[v.Name], v.percent)
	}
	for name, cv := range all {
		slices.Sort(cv)
		b.ReportMetric(cv[len(cv)/2], name+"-cv%")
	}
}
