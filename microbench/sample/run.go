package sample

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Run is what the facts of one file say to programs. Facts that are missing leave their fields
// zero.
type Run struct {
	Roots      int     // 1, or 2: the second half of every series has the barrier's root at P2
	Resolution float64 // microseconds: the smallest difference that the timer shows; the coarsest, if there are several
	Place      string  // of all pairs of ranks: intra or inter, if that is true of each of them

	PlatformFile, PlatformSum string
	Ranks                     int    // of the job; 0 if that is not known
	Pair                      [2]int // that was measured, P1 first; {0, 0} if that is not known
	AllPairs                  bool   // all pairs were measured
	Noisy                     bool   // repetitions on an emulated machine differ

	LateStarts, Starts int    // of collective operations: so many of the starts that ranks agreed on came too late to one
	NoCommonStart      string // why ranks agreed on none
}

// Runs are those of the files of a set, in their order.
type Runs []Run

// Runs resolves the facts of a set. It is an error if one of those that say how to read samples
// makes no sense. What is said of ranks may be wrong: those who use it check it against the
// machine.
func (s *Set) Runs() (Runs, error) {
	var all Runs
	for _, facts := range s.FactsByFile() {
		r, err := resolve(facts)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	roots := 1 // files that were read together agree
	for _, r := range all {
		roots = max(roots, r.Roots)
	}
	for i := range all {
		all[i].Roots = roots
	}
	return all, nil
}

func resolve(facts []Fact) (Run, error) {
	r := Run{Roots: 1}
	seen := make(map[string]bool)
	for _, f := range facts {
		if seen[f.Key] && f.Key != Resolution {
			continue // the first counts
		}
		seen[f.Key] = true
		wrong := func(what string) error { return fmt.Errorf("fact %q is %q, %s", f.Key, f.Value, what) }
		switch f.Key {
		case Roots:
			if f.Value != "1" && f.Value != "2" {
				return r, wrong("neither 1 nor 2")
			}
			r.Roots = int(f.Value[0] - '0')
		case Resolution:
			x, err := strconv.ParseFloat(f.Value, 64)
			if err != nil || !(x >= 0 && x < 1e12) {
				return r, wrong("not microseconds")
			}
			r.Resolution = max(r.Resolution, x)
		case OnePlace:
			if r.Place = f.Value; f.Value != "" && f.Value != "intra" && f.Value != "inter" {
				return r, wrong("neither intra nor inter")
			}
		case PlatformFile:
			r.PlatformFile = f.Value
		case PlatformSum:
			r.PlatformSum = f.Value
		case Ranks:
			if n, err := strconv.Atoi(f.Value); err == nil {
				r.Ranks = max(n, 0)
			}
		case Pair:
			var a, b int
			if r.AllPairs = f.Value == AllPairs; !r.AllPairs {
				if _, err := fmt.Sscanf(f.Value, "%d %d", &a, &b); err == nil && a != b && min(a, b) >= 0 {
					r.Pair = [2]int{a, b}
				}
			}
		case Noise:
			r.Noisy = !strings.HasPrefix(f.Value, "0% ")
		case Start:
			r.LateStarts, r.Starts, _ = f.Late()
			r.NoCommonStart, _ = strings.CutPrefix(f.Value, NoStart)
			if r.NoCommonStart == f.Value {
				r.NoCommonStart = ""
			}
		}
	}
	return r, nil
}

// of returns the run of a series.
func (all Runs) of(s *Series) Run {
	if s.File < len(all) {
		return all[s.File]
	}
	return Run{Roots: 1}
}

// Place returns the fact one_place of the run of a series, or inter.
func (all Runs) Place(s *Series) string {
	if place := all.of(s).Place; place != "" {
		return place
	}
	return "inter"
}

// Roots returns with how many roots of the barrier a series was measured.
func (all Runs) Roots(s *Series) int { return all.of(s).Roots }

// Rooted returns the times of a series with each root of the barrier, or all of them if the roots
// are not known.
func (all Runs) Rooted(s *Series) [][]unit.Time {
	n := len(s.Times)
	if all.Roots(s) == 1 || n%2 != 0 {
		return [][]unit.Time{s.Times}
	}
	return [][]unit.Time{s.Times[:n/2], s.Times[n/2:]}
}

// Resolution returns what the timer of some series, launches of one, could tell apart: the coarsest
// of theirs, in microseconds.
func (all Runs) Resolution(launches ...*Series) float64 {
	r := 0.0
	for _, s := range launches {
		r = max(r, all.of(s).Resolution)
	}
	return r
}
