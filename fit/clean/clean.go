// Package clean makes cells of samples: what the repetitions of one timer, mode and size say, as a
// median with bootstrap replicates. It leaves out disturbed samples and looks for tails, drift,
// coarse timers, and roots of the barrier that disagree. It knows one size at a time: package
// curve goes on over sizes.
package clean

import (
	"errors"
	"fmt"

	"github.com/loggp/loggp/microbench/sample"
)

// leastUndisturbed is how many samples of a timer of a mode at a size, of all launches together,
// are enough to leave out the disturbed ones.
const leastUndisturbed = 5

// Undisturbed leaves out the disturbed samples of each cell that has enough others. In the other
// cells all samples count, and a warning says how many such cells there are.
func Undisturbed(set *sample.Set) (*sample.Set, []Warning) {
	cellOf := func(k sample.Key) sample.Key {
		k.Launch, k.Disturbed = 0, false
		return k
	}
	type share struct{ disturbed, others int }
	shares := map[sample.Key]share{}
	for _, s := range set.Series {
		x := shares[cellOf(s.Key)]
		if s.Disturbed {
			x.disturbed += len(s.Times)
		} else {
			x.others += len(s.Times)
		}
		shares[cellOf(s.Key)] = x
	}
	type tally struct{ used, cells int }
	tallies := map[Subject]tally{}
	any := false
	for k, x := range shares {
		t := tallies[Subject{Platform: k.Platform, Library: k.Library, Place: k.Place}]
		t.cells++
		if any = any || x.disturbed > 0; x.disturbed > 0 && x.others < leastUndisturbed {
			t.used++
		}
		tallies[Subject{Platform: k.Platform, Library: k.Library, Place: k.Place}] = t
	}
	if !any {
		return set, nil
	}
	out := &sample.Set{Facts: set.Facts}
	var warnings []Warning
	for _, s := range set.Series {
		if s.Disturbed && shares[cellOf(s.Key)].others >= leastUndisturbed {
			continue
		}
		s.Disturbed = false
		out.Series = append(out.Series, s)
		where := SubjectOf(&s)
		if t := tallies[where]; t.used > 0 {
			w := where.warning("samples", DisturbedUsed, fmt.Sprintf("of %d of %d timers at a size fewer than %d samples are undisturbed: the disturbed ones count as well", t.used, t.cells, leastUndisturbed))
			w.Sizes, w.Of = t.used, t.cells
			warnings = append(warnings, w)
			tallies[where] = tally{}
		}
	}
	out.Series = sample.Joined(out.Series)
	return out, warnings
}

// OfCollectives says whether a set has samples of collective operations, and whether it has others.
func OfCollectives(set *sample.Set) (some, others bool) {
	for i := range set.Series {
		if sample.Collective(set.Series[i].Timer) {
			some = true
		} else {
			others = true
		}
	}
	return some, others
}

// ErrCollective is what a fit says to samples of collective operations alone.
var ErrCollective = errors.New("fit: all samples are of collective operations, which show no parameters of single messages: measure those without --collective; 'loggp report FILE -o DIR' shows these, and 'loggp compare --samples FILE' sets them beside the model")
