package fit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// What a rank does alone takes up to twice as long while something else runs on its processor's core. Samples of such moments are left out where there are enough
// others, since a median of both would say how much of the time the machine was disturbed.

// When there are enough at full pace.
const (
	leastOfCell = 8   // samples of all launches together: an interval of a median by ranks takes as many
	leastCells  = 0.8 // of all cells of a subject: with fewer, slowed samples count as well
	muchSlowed  = 0.2 // of the samples: that is told
)

// Pace is how quickly the processors of a subject worked.
type Pace struct {
	Platform, Library, Place string

	Launches []LaunchPace // in order
	Mixed    bool         // slowed samples count as well, since there are too few others
}

// LaunchPace is how quickly processors worked in a launch.
type LaunchPace struct {
	Launch          int
	P1, P2          float64 // how long the same work took each of the two at best, in ns; 0: not known
	Samples, Slowed int     // of which somebody looked, and of these
	Aside           bool    // it does not count
}

// Slowed returns the part of the samples that are slowed, in launches that count.
func (p Pace) Slowed() float64 {
	all, slowed := 0, 0
	for _, l := range p.Launches {
		if !l.Aside {
			all, slowed = all+l.Samples, slowed+l.Slowed
		}
	}
	return float64(slowed) / float64(max(all, 1))
}

// Doubt says in words what more than a fifth of the samples had to do with something else on the ranks' cores; else it is empty.
func (p Pace) Doubt() string {
	if p.Slowed() <= muchSlowed {
		return ""
	}
	what := "are left out"
	if p.Mixed {
		what = "count as well, as there are too few others"
	}
	return fmt.Sprintf("processors were slowed in %.0f %% of the samples, which %s: something else ran on their cores", 100*p.Slowed(), what)
}

// share is what a launch that counts has of a cell.
type share struct {
	launch       [2]int
	full, slowed int // samples; those of which nobody knows are full
}

// pacing finds out which samples of a subject count.
type pacing struct {
	Pace
	subject
	cells int                 // of which somebody looked
	few   map[sample.Key]bool // of these: too little of them is at full pace
}

func newPacing(set *sample.Set, where subject, launches, aside []probed) *pacing {
	p := &pacing{subject: where, Pace: Pace{Platform: where.platform, Library: where.library, Place: where.place}, few: map[sample.Key]bool{}}
	launches = slices.Clone(launches)
	slices.SortStableFunc(launches, func(a, b probed) int { return cmp.Compare(a.launch, b.launch) })
	at := map[[2]int]int{}
	for i, l := range launches {
		at[[2]int{l.file, l.launch}] = i
		p.Launches = append(p.Launches, LaunchPace{Launch: l.launch, P1: l.least[0], P2: l.least[1], Aside: among(aside, [2]int{l.file, l.launch})})
	}
	shares, looked := map[sample.Key][]share{}, map[sample.Key]bool{}
	for i := range set.Series {
		x := &set.Series[i]
		if subjectOf(x) != where || len(x.Times) == 0 {
			continue
		}
		l := &p.Launches[at[launchOf(x)]]
		if x.Pace != "" {
			l.Samples += len(x.Times)
		}
		if slowed(x) {
			l.Slowed += len(x.Times)
		}
		if !l.Aside {
			k := cellKey(x)
			shares[k] = shared(shares[k], x)
			if x.Pace != "" {
				looked[k] = true
			}
		}
	}
	p.cells = len(looked)
	for k := range looked {
		if !enough(shares[k]) {
			p.few[k] = true
		}
	}
	p.Mixed = float64(p.cells-len(p.few)) < leastCells*float64(p.cells)
	return p
}

// slowed says whether a processor was, of those that a series depends on.
func slowed(x *sample.Series) bool { return x.Pace != "" && x.Pace != sample.Full }

// cellKey returns what was measured, in any launch and at any pace.
func cellKey(x *sample.Series) sample.Key {
	k := x.Key
	k.Launch, k.Pace = 0, ""
	return k
}

// shared adds a series to the shares of its cell.
func shared(all []share, x *sample.Series) []share {
	i := 0
	for i < len(all) && all[i].launch != launchOf(x) {
		i++
	}
	if i == len(all) {
		all = append(all, share{launch: launchOf(x)})
	}
	if slowed(x) {
		all[i].slowed += len(x.Times)
	} else {
		all[i].full += len(x.Times)
	}
	return all
}

// enough says whether what is at full pace of a cell counts: if nothing was slowed, or if it is enough for a median, in two launches if there are several.
//
// Note: a launch with few samples at full pace counts as one with many. To leave it out is worse: few launches make wide intervals.
func enough(all []share) bool {
	samples, slowed, launches := 0, 0, 0
	for _, s := range all {
		samples, slowed = samples+s.full, slowed+s.slowed
		if s.full > 0 {
			launches++
		}
	}
	return slowed == 0 || samples >= leastOfCell && launches >= min(2, len(all))
}

// known says whether anybody looked.
func (p *pacing) known() bool {
	for _, l := range p.Launches {
		if l.Samples > 0 || l.P1 > 0 || l.P2 > 0 {
			return true
		}
	}
	return false
}

// keeps says whether a series counts, if its launch does.
func (p *pacing) keeps(x *sample.Series) bool {
	return p.Mixed || !slowed(x) && !p.few[cellKey(x)]
}

// warnings says what is to be known of the samples that count.
func (p *pacing) warnings() []Warning {
	switch {
	case p.Mixed:
		return []Warning{p.warning("pace", PaceMixed, fmt.Sprintf("processors were slowed for %.0f %% of the samples, and of %d of %d timers at a size there are too few others: all count, and numbers may be up to twice those of a machine of one's own",
			100*p.Slowed(), len(p.few), p.cells))}
	case len(p.few) > 0:
		return []Warning{p.warning("pace", PaceSlowed, fmt.Sprintf("of %d of %d timers at a size too few samples are at full pace: they are left out; a larger --budget or a quieter machine would have them",
			len(p.few), p.cells))}
	}
	return nil
}
