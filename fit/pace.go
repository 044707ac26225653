package fit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
)

// What a rank does alone takes up to twice as long while something else runs on its processor's core. A median of samples with and without that would say how much of
// the time the machine was disturbed. So what counts is of one state of the two processors: of full pace if there are enough samples of it, or else of the state of which
// there are the most.

// When there are enough samples of a state.
const (
	leastOfCell = 8   // samples of all launches together: an interval of a median by ranks takes as many
	leastCells  = 0.8 // of all cells of a subject: if no state has as many, samples of all states count
	muchSlowed  = 0.2 // of the samples: that is told
)

// Pace is how quickly the processors of a subject worked.
type Pace struct {
	Platform, Library, Place string

	Launches []LaunchPace // in order
	State    string       // of the processors, in which what counts was measured: one of sample.Paced; or "": samples of all states count, as of none there are enough, or nobody looked
}

// LaunchPace is how quickly processors worked in a launch.
type LaunchPace struct {
	Launch  int
	P1, P2  float64 // how long the same work took each of the two at best, in ns; 0: not known
	Samples int     // of which somebody looked
	Slowed  int     // of these, while a processor was slowed
	Out     int     // of these, in another state than that which counts
	Aside   bool    // the launch does not count
}

// Slowed returns the part of the samples that are slowed, in launches that count.
func (p Pace) Slowed() float64 { return p.part(func(l LaunchPace) int { return l.Slowed }) }

// Out returns the part of the samples that are left out, in launches that count.
func (p Pace) Out() float64 { return p.part(func(l LaunchPace) int { return l.Out }) }

func (p Pace) part(of func(LaunchPace) int) float64 {
	all, some := 0, 0
	for _, l := range p.Launches {
		if !l.Aside {
			all, some = all+l.Samples, some+of(l)
		}
	}
	return float64(some) / float64(max(all, 1))
}

// Mixed says whether samples of all states count. Where nobody looked there is none.
func (p Pace) Mixed() bool { return p.State == "" && len(p.Launches) > 0 }

// who says whose processors are slowed in a state.
var who = map[string]string{
	sample.SlowedP1:   "P1's processor was",
	sample.SlowedP2:   "P2's processor was",
	sample.SlowedBoth: "the processors of both ranks were",
}

// Doubt says in words what more than a fifth of the samples, or those that count, had to do with something else on the ranks' cores; else it is empty.
func (p Pace) Doubt() string {
	const cause = "something else ran on their cores, or their clocks were lower"
	switch slowed := p.Slowed(); {
	case len(p.Launches) == 0:
	case p.Mixed():
		return fmt.Sprintf("processors were slowed in %.0f %% of the samples, which count as well, as there are too few others: %s", 100*slowed, cause)
	case p.State != sample.Full:
		return fmt.Sprintf("%s slowed in what counts, as there is too little else (%.0f %% of the samples are left out): something else ran there as well, or the clock was lower, and what a rank does alone takes up to twice as long", who[p.State], 100*p.Out())
	case slowed > muchSlowed:
		return fmt.Sprintf("processors were slowed in %.0f %% of the samples, which are left out: %s", 100*slowed, cause)
	}
	return ""
}

// share is what a launch that counts has of a cell: of a state, and in all.
type share struct {
	launch      [2]int
	in, samples int
}

// pacing finds out which samples of a subject count.
type pacing struct {
	Pace
	subject
	both  map[sample.Key]bool // timers of a mode that depend on both processors
	cells int                 // of which somebody looked
	few   map[sample.Key]bool // of these: too little of them is of the state
}

func newPacing(set *sample.Set, where subject, launches, aside []probed) *pacing {
	p := &pacing{subject: where, Pace: Pace{Platform: where.platform, Library: where.library, Place: where.place}, both: map[sample.Key]bool{}}
	launches = slices.Clone(launches)
	slices.SortStableFunc(launches, func(a, b probed) int { return cmp.Compare(a.launch, b.launch) })
	at := map[[2]int]int{}
	for i, l := range launches {
		at[[2]int{l.file, l.launch}] = i
		p.Launches = append(p.Launches, LaunchPace{Launch: l.launch, P1: l.least[0], P2: l.least[1], Aside: among(aside, [2]int{l.file, l.launch})})
	}
	var own []*sample.Series
	for i := range set.Series {
		if x := &set.Series[i]; subjectOf(x) == where && len(x.Times) > 0 {
			own = append(own, x)
			if x.Pace == sample.SlowedP2 || x.Pace == sample.SlowedBoth {
				p.both[timerKey(x)] = true
			}
		}
	}
	launch := func(x *sample.Series) *LaunchPace { return &p.Launches[at[launchOf(x)]] }
	p.choose(slices.DeleteFunc(slices.Clone(own), func(x *sample.Series) bool { return launch(x).Aside }))
	for _, x := range own {
		if l := launch(x); x.Pace != "" {
			l.Samples += len(x.Times)
			if x.Pace != sample.Full {
				l.Slowed += len(x.Times)
			}
			if !p.keeps(x) {
				l.Out += len(x.Times)
			}
		}
	}
	return p
}

// choose finds the state that counts: that of full pace if enough cells have enough samples of it, or else the one of which most have.
func (p *pacing) choose(of []*sample.Series) {
	best := -1
	for _, state := range sample.Paced {
		few, cells := p.lack(of, state)
		enough := cells - len(few)
		if float64(enough) < leastCells*float64(cells) || enough <= best {
			continue
		}
		p.State, p.few, best = state, few, enough
		if p.cells = cells; state == sample.Full {
			return
		}
	}
	if best < 0 {
		p.few, p.cells = p.lack(of, sample.Full)
	}
}

// lack returns the cells of which there is too little in a state, and how many there are of which somebody looked.
func (p *pacing) lack(of []*sample.Series, state string) (few map[sample.Key]bool, cells int) {
	shares, looked := map[sample.Key][]share{}, map[sample.Key]bool{}
	for _, x := range of {
		k := cellKey(x)
		shares[k] = shared(shares[k], x, p.in(x, state))
		looked[k] = looked[k] || x.Pace != ""
	}
	few = map[sample.Key]bool{}
	for k, yes := range looked {
		if yes {
			if cells++; !enough(shares[k]) {
				few[k] = true
			}
		}
	}
	return few, cells
}

// in says whether a series is of a state of the processors, as far as it depends on them: what P1 does alone, on its own.
func (p *pacing) in(x *sample.Series, state string) bool {
	if x.Pace == "" {
		return true
	}
	if !p.both[timerKey(x)] {
		return (x.Pace == sample.SlowedP1) == (state == sample.SlowedP1 || state == sample.SlowedBoth)
	}
	return x.Pace == state
}

// timerKey returns the mode and the timer of a series.
func timerKey(x *sample.Series) sample.Key { return sample.Key{Mode: x.Mode, Timer: x.Timer} }

// cellKey returns what was measured, in any launch and at any pace.
func cellKey(x *sample.Series) sample.Key {
	k := x.Key
	k.Launch, k.Pace = 0, ""
	return k
}

// shared adds a series to the shares of its cell.
func shared(all []share, x *sample.Series, in bool) []share {
	i := 0
	for i < len(all) && all[i].launch != launchOf(x) {
		i++
	}
	if i == len(all) {
		all = append(all, share{launch: launchOf(x)})
	}
	if all[i].samples += len(x.Times); in {
		all[i].in += len(x.Times)
	}
	return all
}

// enough says whether what is of a state of a cell counts: if all is, or if it is enough for a median, in two launches if there are several.
//
// Note: a launch with few samples of the state counts as one with many. To leave it out is worse: few launches make wide intervals.
func enough(all []share) bool {
	in, samples, launches := 0, 0, 0
	for _, s := range all {
		in, samples = in+s.in, samples+s.samples
		if s.in > 0 {
			launches++
		}
	}
	return in == samples || in >= leastOfCell && launches >= min(2, len(all))
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
	return p.Mixed() || p.in(x, p.State) && !p.few[cellKey(x)]
}

// warnings says what is to be known of the samples that count.
func (p *pacing) warnings() []Warning {
	if p.Mixed() {
		return []Warning{p.warning("pace", PaceMixed, fmt.Sprintf("processors were slowed for %.0f %% of the samples, and of %d of %d timers at a size there are too few others: all count, and numbers may be up to twice those of a machine of one's own",
			100*p.Slowed(), len(p.few), p.cells))}
	}
	var out []Warning
	if p.State != sample.Full {
		out = append(out, p.warning("pace", PaceSlowed, fmt.Sprintf("%s slowed in what counts, as there is too little at full pace: what a rank does alone takes up to twice as long as on a machine of one's own", who[p.State])))
	}
	if len(p.few) > 0 {
		out = append(out, p.warning("pace", PaceFew, fmt.Sprintf("of %d of %d timers at a size too few samples are %s: they are left out; a larger --budget or a quieter machine would have them",
			len(p.few), p.cells, inState(p.State))))
	}
	return out
}

// inState says in which state samples are.
func inState(state string) string {
	if state == sample.Full {
		return "at full pace"
	}
	return "of the state of the processors that counts"
}
