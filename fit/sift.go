package fit

import (
	"maps"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// sifted is the samples of a set that count: pairs of ranks have the place of their tier, launches are in one mode of the machine, and nothing says any more at which
// pace a processor worked.
type sifted struct {
	*sample.Set
	all      *sample.Set // with the launches that do not count
	tierings []*tiering
	probes   map[[2]int]probed
	aside    map[subject][]probed // the launches that do not count
	few      map[sample.Key]bool  // cells that do not, as too little of them is of the state of the processors that does
	paces    []Pace
	warnings []Warning
}

// sift finds out what counts.
func sift(set *sample.Set) (*sifted, error) {
	set, tierings, err := split(set)
	if err != nil {
		return nil, err
	}
	s := &sifted{Set: set, all: set, tierings: tierings, aside: map[subject][]probed{}, few: map[sample.Key]bool{}}
	if s.probes, err = readProbes(set); err != nil {
		return nil, err
	}
	paced := slices.ContainsFunc(set.Series, func(x sample.Series) bool { return x.Pace != "" })
	if len(s.probes) == 0 && !paced {
		return s, nil
	}
	paces := map[subject]*pacing{}
	for _, where := range subjects(set) {
		launches := launchesOf(set, where, s.probes)
		aside, warnings := regime(where, launches)
		p := newPacing(set, where, launches, aside)
		s.aside[where], paces[where] = aside, p
		s.warnings = append(append(s.warnings, warnings...), p.warnings()...)
		if p.known() {
			s.paces = append(s.paces, p.Pace)
		}
		if !p.Mixed() {
			maps.Copy(s.few, p.few)
		}
	}
	kept := &sample.Set{Facts: set.Facts}
	for _, x := range set.Series {
		if paces[subjectOf(&x)].keeps(&x) {
			kept.Series = append(kept.Series, x)
		}
	}
	s.all = atOnePace(kept)
	s.Set = &sample.Set{Facts: set.Facts}
	for _, x := range s.all.Series {
		if !s.isAside(&x) {
			s.Set.Series = append(s.Set.Series, x)
		}
	}
	return s, nil
}

// isAside says whether a series is of a launch that does not count.
func (s *sifted) isAside(x *sample.Series) bool { return among(s.aside[subjectOf(x)], launchOf(x)) }

// among says whether a launch is among some.
func among(all []probed, launch [2]int) bool {
	return slices.ContainsFunc(all, func(p probed) bool { return [2]int{p.file, p.launch} == launch })
}

// atOnePace makes one series of those of a launch that differ by nothing but their pace.
func atOnePace(set *sample.Set) *sample.Set {
	type place struct {
		sample.Key
		file int
	}
	out := &sample.Set{Facts: set.Facts}
	at := map[place]int{}
	for _, x := range set.Series {
		k := place{x.Key, x.File}
		k.Pace = ""
		i, ok := at[k]
		if ok && out.Series[i].Pace != x.Pace {
			out.Series[i].Times = interleave(out.Series[i].Times, x.Times)
			continue
		}
		at[k] = len(out.Series)
		out.Series = append(out.Series, x)
	}
	for i := range out.Series {
		out.Series[i].Pace = ""
	}
	return out
}

// interleave spreads the repetitions of two series evenly over one, so that what differs between the two is no drift. The first half of each, which is of one root of the barrier,
// is in the first half.
func interleave(a, b []unit.Time) []unit.Time {
	out := make([]unit.Time, 0, len(a)+len(b))
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if j == len(b) || i < len(a) && (2*i+1)*len(b) <= (2*j+1)*len(a) {
			out = append(out, a[i])
			i++
			continue
		}
		out = append(out, b[j])
		j++
	}
	return out
}
