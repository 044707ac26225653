package fit

import (
	"fmt"

	"github.com/loggp/loggp/microbench/sample"
)

// cleaned is the samples of a set that count, each pair of ranks with the place of its tier.
type cleaned struct {
	*sample.Set
	tierings []*tiering
	warnings []Warning
}

// clean finds the samples that count.
func clean(set *sample.Set) (*cleaned, error) {
	set, tierings, err := split(set)
	if err != nil {
		return nil, err
	}
	c := &cleaned{tierings: tierings}
	c.Set, c.warnings = undisturbed(set)
	return c, nil
}

// leastUndisturbed is how many samples of a timer of a mode at a size, of all launches together,
// are enough to leave out the disturbed ones.
const leastUndisturbed = 5

// undisturbed leaves out the disturbed samples of each cell that has enough others. In the other
// cells all samples count, and a warning says how many such cells there are.
func undisturbed(set *sample.Set) (*sample.Set, []Warning) {
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
	tallies := map[subject]tally{}
	any := false
	for k, x := range shares {
		t := tallies[subject{k.Platform, k.Library, k.Place}]
		t.cells++
		if any = any || x.disturbed > 0; x.disturbed > 0 && x.others < leastUndisturbed {
			t.used++
		}
		tallies[subject{k.Platform, k.Library, k.Place}] = t
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
		where := subjectOf(&s)
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
