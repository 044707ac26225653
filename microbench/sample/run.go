package sample

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// RunFacts is what the facts of one file say to programs. Facts that are missing leave their fields
// zero.
type RunFacts struct {
	RootCount  int     // 1, or 2: the second half of every series has the barrier's root at P2
	Resolution float64 // microseconds: the smallest difference that the timer shows; the coarsest, if there are several
	Place      string  // of all pairs of ranks: intra or inter, if that is true of each of them

	PlatformFile, PlatformSum string
	RankCount                 int    // of the job; 0 if that is not known
	Pair                      [2]int // that was measured, P1 first; {0, 0} if that is not known
	HasAllPairs               bool   // all pairs were measured
	IsNoisy                   bool   // repetitions on an emulated machine differ

	LateStartCount, AgreedStartAttempts int    // of collective operations: so many of the starts that ranks agreed on came too late to one
	NoCommonStartReason                 string // why ranks agreed on none
}

// Runs are those of the files of a set, in their order.
type Runs []RunFacts

// Runs resolves the facts of a set. It is an error if one of those that say how to read samples
// makes no sense. What is said of ranks may be wrong: those who use it check it against the
// machine.
func (s *Set) Runs() (Runs, error) {
	var all Runs
	for _, facts := range s.FactsByFile() {
		r, err := resolveFacts(facts)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	roots := 1 // files that were read together agree
	for _, r := range all {
		roots = max(roots, r.RootCount)
	}
	for i := range all {
		all[i].RootCount = roots
	}
	return all, nil
}

func resolveFacts(facts []Fact) (RunFacts, error) {
	r := RunFacts{RootCount: 1}
	seen := make(map[string]bool)
	for _, f := range facts {
		if seen[f.Key] && f.Key != ResolutionFact {
			continue // the first counts
		}
		seen[f.Key] = true
		wrong := func(what string) error { return fmt.Errorf("fact %q is %q, %s", f.Key, f.Value, what) }
		switch f.Key {
		case RootsFact:
			if f.Value != "1" && f.Value != "2" {
				return r, wrong("neither 1 nor 2")
			}
			r.RootCount = int(f.Value[0] - '0')
		case ResolutionFact:
			x, err := strconv.ParseFloat(f.Value, 64)
			if err != nil || !(x >= 0 && x < 1e12) {
				return r, wrong("not microseconds")
			}
			r.Resolution = max(r.Resolution, x)
		case OnePlaceFact:
			if r.Place = f.Value; f.Value != "" && f.Value != "intra" && f.Value != "inter" {
				return r, wrong("neither intra nor inter")
			}
		case PlatformFileFact:
			r.PlatformFile = f.Value
		case PlatformSumFact:
			r.PlatformSum = f.Value
		case RanksFact:
			if n, err := strconv.Atoi(f.Value); err == nil {
				r.RankCount = max(n, 0)
			}
		case PairFact:
			var a, b int
			if r.HasAllPairs = f.Value == AllPairsValue; !r.HasAllPairs {
				if _, err := fmt.Sscanf(f.Value, "%d %d", &a, &b); err == nil && a != b && min(a, b) >= 0 {
					r.Pair = [2]int{a, b}
				}
			}
		case NoiseFact:
			r.IsNoisy = !strings.HasPrefix(f.Value, "0% ")
		case StartFact:
			r.LateStartCount, r.AgreedStartAttempts, _ = f.ParseLateStarts()
			r.NoCommonStartReason, _ = strings.CutPrefix(f.Value, NoCommonStartPrefix)
			if r.NoCommonStartReason == f.Value {
				r.NoCommonStartReason = ""
			}
		}
	}
	return r, nil
}

// runOf returns the run of a series.
func (all Runs) runOf(s *Series) RunFacts {
	if s.File < len(all) {
		return all[s.File]
	}
	return RunFacts{RootCount: 1}
}

// PlaceOf returns the fact one_place of the run of a series, or inter.
func (all Runs) PlaceOf(s *Series) string {
	if place := all.runOf(s).Place; place != "" {
		return place
	}
	return "inter"
}

// RootCount returns with how many roots of the barrier a series was measured.
func (all Runs) RootCount(s *Series) int { return all.runOf(s).RootCount }

// SplitByRoot returns the times of a series with each root of the barrier, or all of them if the
// roots are not known.
func (all Runs) SplitByRoot(s *Series) [][]unit.Time {
	n := len(s.Times)
	if all.RootCount(s) == 1 || n%2 != 0 {
		return [][]unit.Time{s.Times}
	}
	return [][]unit.Time{s.Times[:n/2], s.Times[n/2:]}
}

// ResolutionFact returns what the timer of some series, launches of one, could tell apart: the
// coarsest of theirs, in microseconds.
func (all Runs) Resolution(launches ...*Series) float64 {
	r := 0.0
	for _, s := range launches {
		r = max(r, all.runOf(s).Resolution)
	}
	return r
}
