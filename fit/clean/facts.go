// Package clean makes cells of samples: what the repetitions of one timer, mode and size say, as a
// median with bootstrap replicates. It leaves out disturbed samples and looks for tails, drift,
// coarse timers, and roots of the barrier that disagree. It knows one size at a time: package
// curve goes on over sizes.
package clean

import (
	"fmt"
	"strconv"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Facts are those on which the fit depends.
type Facts struct {
	roots       int
	resolutions []float64 // of the timer of each file, microseconds; 0: not known
	places      []string  // by file: where all its pairs of ranks are, or ""
}

// Place returns where all pairs are of which a series is one, or inter.
func (f Facts) Place(s *sample.Series) string {
	if s.File < len(f.places) && f.places[s.File] != "" {
		return f.places[s.File]
	}
	return "inter"
}

// rooted returns the times of a series with each root of the barrier, or all of them where nobody knows which are which.
func (f Facts) rooted(s *sample.Series) [][]unit.Time {
	n := len(s.Times)
	if f.roots == 1 || n%2 != 0 {
		return [][]unit.Time{s.Times}
	}
	return [][]unit.Time{s.Times[:n/2], s.Times[n/2:]}
}

// Resolution returns what the timer of some series, launches of one, could tell apart: the coarsest of theirs.
func (f Facts) Resolution(launches ...*sample.Series) float64 {
	r := 0.0
	for _, s := range launches {
		if s.File < len(f.resolutions) {
			r = max(r, f.resolutions[s.File])
		}
	}
	return r
}

func ReadFacts(set *sample.Set) (Facts, error) {
	f := Facts{roots: 1}
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
