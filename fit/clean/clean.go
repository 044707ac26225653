// Package clean turns samples into cells: the repetitions of one timer, mode and size, as a median
// with bootstrap replicates (Cell). SelectUndisturbed excludes disturbed samples. NewCell detects
// tails, drift, coarse timers, and barrier roots that disagree. Each size is treated separately;
// package curve combines sizes.
package clean

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// minUndisturbedSamples is the minimum number of undisturbed samples for each size.
const minUndisturbedSamples = 5

// SelectUndisturbed selects the samples that count, for all sizes of a timer and mode together.
// These are the undisturbed samples of the launches that have some at every size, if they are at
// least half of all launches and have five samples at each size; otherwise all samples. All sizes
// of a curve thus use the same launches; otherwise differences between launches would appear as
// steps in the curve. A warning for each place states the number of curves with disturbed samples.
func SelectUndisturbed(set *sample.Set) (*sample.Set, []Warning) {
	calm, disturbed := undisturbedLaunches(set)
	if len(disturbed) == 0 {
		return set, nil
	}
	type tally struct{ used, curves int }
	tallies := map[Subject]tally{}
	for c, launches := range calm {
		where := Subject{Platform: c.Platform, Library: c.Library, Place: c.Place}
		t := tallies[where]
		t.curves++
		if disturbed[c] && launches == nil {
			t.used++
		}
		tallies[where] = t
	}
	out := &sample.Set{Facts: set.Facts}
	var warnings []Warning
	for _, s := range set.Series {
		where := SubjectOf(&s)
		if t := tallies[where]; t.used > 0 {
			w := where.warning("samples", CodeDisturbedUsed, fmt.Sprintf("disturbed samples count for %d of %d timers: too few launches have others at every size", t.used, t.curves))
			w.AffectedSizeCount, w.SizeCount = t.used, t.curves
			warnings = append(warnings, w)
			tallies[where] = tally{}
		}
		if c := calm[curveKey(s.Key)]; c != nil && (s.Disturbed || !c[s.Launch]) {
			continue
		}
		s.Disturbed = false
		out.Series = append(out.Series, s)
	}
	out.Series = sample.JoinSeries(out.Series)
	return out, warnings
}

// curveKey returns the common key of all samples of a curve.
func curveKey(k sample.Key) sample.Key {
	k.Bytes, k.Launch, k.Disturbed = 0, 0, false
	return k
}

// undisturbedLaunches returns, for each curve, the launches that count without their disturbed
// samples, or nil if all samples count. It also returns the curves with disturbed samples.
func undisturbedLaunches(set *sample.Set) (calm map[sample.Key]map[int]bool, disturbed map[sample.Key]bool) {
	curves := map[sample.Key]launchCounts{}
	calm, disturbed = map[sample.Key]map[int]bool{}, map[sample.Key]bool{}
	for _, s := range set.Series {
		c := curveKey(s.Key)
		if curves[c] == nil {
			curves[c] = launchCounts{}
		}
		curves[c].add(&s)
		if s.Disturbed {
			disturbed[c] = true
		}
	}
	for c, of := range curves {
		calm[c] = of.undisturbedLaunches()
	}
	return calm, disturbed
}

// FindCurvesWithDisturbed returns the keys, without size and launch, of the curves for which
// SelectUndisturbed uses disturbed samples.
func FindCurvesWithDisturbed(set *sample.Set) map[sample.Key]bool {
	calm, disturbed := undisturbedLaunches(set)
	for c := range disturbed {
		if calm[c] != nil {
			delete(disturbed, c)
		}
	}
	return disturbed
}

// launchCounts has the numbers of undisturbed samples of a curve, by launch and size.
type launchCounts map[int]map[int]int

func (l launchCounts) add(s *sample.Series) {
	if l[s.Launch] == nil {
		l[s.Launch] = map[int]int{}
	}
	n := len(s.Times)
	if s.Disturbed {
		n = 0
	}
	l[s.Launch][s.Bytes] += n
}

// undisturbedLaunches returns the launches with undisturbed samples at every size that they
// measured, or nil if there are too few.
func (l launchCounts) undisturbedLaunches() map[int]bool {
	out, counted := map[int]bool{}, map[int]int{}
	for launch, sizes := range l {
		if slices.Contains(slices.Collect(maps.Values(sizes)), 0) {
			continue
		}
		out[launch] = true
		for bytes, n := range sizes {
			counted[bytes] += n
		}
	}
	if 2*len(out) < len(l) {
		return nil
	}
	for _, sizes := range l {
		for bytes := range sizes {
			if counted[bytes] < minUndisturbedSamples {
				return nil
			}
		}
	}
	return out
}

// FindCollectiveSamples reports whether a set has samples of collective operations, and whether it
// has others.
func FindCollectiveSamples(set *sample.Set) (some, others bool) {
	for i := range set.Series {
		if sample.IsCollectiveTimer(set.Series[i].Timer) {
			some = true
		} else {
			others = true
		}
	}
	return some, others
}

// ErrCollective is the error of a fit if all samples are of collective operations.
var ErrCollective = errors.New("fit: all samples are of collective operations, which show no parameters of single messages: measure those without --collective; 'loggp report FILE -o DIR' shows these, and 'loggp compare --samples FILE' sets them beside the model")
