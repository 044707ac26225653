// Package fit turns samples into LogGP parameters, with intervals and warnings, and sets predictions beside what was
// measured.
//
// The way is: samples, in cells of one timer, mode and size, become medians; medians over sizes become curves; curves
// are cut into straight pieces; parameters are pieces and differences of curves, by the rules of Al-Tawil and Moritz.
// Every cell carries bootstrap replicates of its median along that way, so that an interval stands at the end of it.
// docs/fit.md has the conventions. The package knows nothing of platforms: it sees times only.
package fit

import (
	"fmt"
	"strconv"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Options says how to fit. The zero value is right.
type Options struct {
	Replicates int     // bootstrap replicates; default 400
	Seed       uint64  // of the bootstrap
	Level      float64 // of the intervals; default 0.95
	Pieces     int     // most pieces of a curve; default 5
	Tolerance  float64 // relative deviation from a straight line that is of no interest; default 0.005
}

func (o Options) defaults() Options {
	if o.Replicates <= 0 {
		o.Replicates = 400
	}
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = 0.95
	}
	if o.Pieces <= 0 {
		o.Pieces = 5
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 0.005
	}
	return o
}

// Result is what the samples say.
type Result struct {
	Parameters []Parameter
	Warnings   []Warning
	Curves     []Curve
	PLogP      []PLogP // of the modes that have round trips
	Tiers      []Tiers // of the platforms and libraries of which all pairs of ranks were measured
}

// Fit derives parameters from samples. It is an error if the facts of the set make no sense, or if one place of a
// library has samples of two clocks. Data from which a parameter cannot be had is none: that is a warning.
// The same set and options give the same result, however many processors work on it.
func Fit(set *sample.Set, o Options) (*Result, error) {
	o = o.defaults()
	cleaned, err := clean(set)
	if err != nil {
		return nil, err
	}
	curves, err := load(cleaned.Set, o)
	if err != nil {
		return nil, err
	}
	parallel(len(curves), func(i int) { curves[i].cut(o) })
	r := &Result{Warnings: cleaned.warnings}
	for _, t := range cleaned.tierings {
		r.Tiers = append(r.Tiers, t.public())
		r.Parameters = append(r.Parameters, t.parameters()...)
		r.Warnings = append(r.Warnings, t.warnings()...)
	}
	for _, c := range curves {
		r.Curves = append(r.Curves, c.public())
		r.Warnings = append(r.Warnings, c.warnings()...)
	}
	places := byPlace(curves)
	parts := make([]extraction, len(places))
	parallel(len(places), func(i int) {
		parts[i] = extraction{subject: places[i][0].subject, curves: places[i], o: o}
		parts[i].run()
	})
	for _, p := range parts {
		r.Parameters = append(r.Parameters, p.parameters...)
		r.Warnings = append(r.Warnings, p.warnings...)
		r.Curves = append(r.Curves, p.derived...)
		r.PLogP = append(r.PLogP, p.views...)
	}
	return r, nil
}

// byPlace splits curves, which are in order, by platform, library and place.
func byPlace(curves []*curve) [][]*curve {
	var places [][]*curve
	for i, c := range curves {
		if i == 0 || c.subject != curves[i-1].subject {
			places = append(places, nil)
		}
		last := len(places) - 1
		places[last] = append(places[last], c)
	}
	return places
}

// facts are those on which the fit depends.
type facts struct {
	roots       int
	resolutions []float64 // of the timer of each file, microseconds; 0: not known
	places      []string  // by file: where all its pairs of ranks are, or ""
}

// place returns where all pairs are of which a series is one, or inter.
func (f facts) place(s *sample.Series) string {
	if s.File < len(f.places) && f.places[s.File] != "" {
		return f.places[s.File]
	}
	return "inter"
}

// rooted returns the times of a series with each root of the barrier, or all of them where nobody knows which are which.
func (f facts) rooted(s *sample.Series) [][]unit.Time {
	n := len(s.Times)
	if f.roots == 1 || n%2 != 0 {
		return [][]unit.Time{s.Times}
	}
	return [][]unit.Time{s.Times[:n/2], s.Times[n/2:]}
}

// resolution returns what the timer of some series, launches of one, could tell apart: the coarsest of theirs.
func (f facts) resolution(launches ...*sample.Series) float64 {
	r := 0.0
	for _, s := range launches {
		if s.File < len(f.resolutions) {
			r = max(r, f.resolutions[s.File])
		}
	}
	return r
}

func readFacts(set *sample.Set) (facts, error) {
	f := facts{roots: 1}
	if v, ok := set.Fact(sample.Roots); ok {
		switch v {
		case "1":
		case "2":
			f.roots = 2
		default:
			return f, fmt.Errorf("fit: fact %q is %q, neither 1 nor 2", sample.Roots, v)
		}
	}
	for _, file := range set.FactsByFile() {
		x, err := readResolution(file)
		if err != nil {
			return f, err
		}
		f.resolutions = append(f.resolutions, x)
		place, _ := (&sample.Set{Facts: file}).Fact(sample.OnePlace)
		if place != "" && place != "intra" && place != "inter" {
			return f, fmt.Errorf("fit: fact %q is %q, neither intra nor inter", sample.OnePlace, place)
		}
		f.places = append(f.places, place)
	}
	return f, nil
}

func readResolution(file []sample.Fact) (float64, error) {
	r := 0.0
	for _, fact := range file {
		if fact.Key != sample.Resolution {
			continue
		}
		x, err := strconv.ParseFloat(fact.Value, 64)
		if err != nil || !(x >= 0 && x < 1e12) {
			return 0, fmt.Errorf("fit: fact %q is %q, not microseconds", sample.Resolution, fact.Value)
		}
		r = max(r, x)
	}
	return r, nil
}
