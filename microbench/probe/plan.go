package probe

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// plan is what a launch is told to do at a time. On disk it is words between white space:
//
//	loggp-plan 4
//	collective 0     1: cells are of collective operations, by all ranks; else of modes
//	time 150000000   nanoseconds that it may take, but that all is measured a little; 0: as long as the repetitions take
//	reps 0           with each root; 0: as many as the rest says
//	least 2          samples of each timer with each root, and
//	most 100000      at most
//	precision 20000  millionths of a median: half of its interval, at which it is known
//	warmup 10
//	delta 0          nanoseconds; 0: twice a round of the warm-up
//	seed 7           of the order in which what is not known is measured again
//	variables 0      1: the library's are wanted, in a file of their own
//	looks 1893 1901  nanoseconds: the best of P1's and of P2's looks in earlier launches; 0: there was none
//	cells 144        0: there is nothing any more
//	send 16 all      mode and bytes of each, in the order in which to measure them first; brief: only timers in which a change of protocol shows; trips: only round trips
//	bcast 16 all     or, if so, operation and bytes; barriers: only timers of calls behind barriers
type plan struct {
	ranks      int // of the program; it knows them
	collective bool
	time       time.Duration
	reps       int
	least      int
	most       int
	precision  float64
	warmup     int
	delta      unit.Time
	seed       uint64
	variables  bool
	looks      looks
	brief      bool
	barriers   bool                 // no start is agreed on
	trips      func(bytes int) bool // only round trips are measured at the size; nil: at none
	cells      []microbench.Cell
}

// Which timers a cell has.
const (
	all      = "all"
	brief    = "brief"
	trips    = "trips"
	barriers = "barriers"
)

// which says which timers a cell has.
func (p *plan) which(c microbench.Cell) string {
	switch {
	case p.barriers:
		return barriers
	case p.trips != nil && p.trips(c.Bytes):
		return trips
	case p.brief:
		return brief
	}
	return all
}

func (p *plan) text() []byte {
	var b strings.Builder
	nanoseconds := (p.delta + unit.Nanosecond - 1) / unit.Nanosecond
	fmt.Fprintf(&b, "loggp-plan 4\ncollective %d\ntime %d\nreps %d\nleast %d\nmost %d\nprecision %.0f\nwarmup %d\ndelta %d\nseed %d\nvariables %d\nlooks %d %d\ncells %d\n",
		bit(p.collective), p.time.Nanoseconds(), p.reps, max(p.least, 1), max(p.most, p.least, 1), math.Round(p.precision*1e6), p.warmup, nanoseconds, p.seed, bit(p.variables), p.looks[0], p.looks[1], len(p.cells))
	for _, c := range p.cells {
		fmt.Fprintf(&b, "%s %d %s\n", c.Mode, c.Bytes, p.which(c))
	}
	return []byte(b.String())
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Samples of a timer with each root: so many there are even if there is no time for them, and a launch takes no more of one.
const (
	leastSamples = 2
	mostSamples  = 2000 // at all paces together
)

// planOf returns the plan of some cells of a campaign.
func planOf(c *microbench.Campaign, cells []microbench.Cell, seed uint64, rows int, time time.Duration) *plan {
	p := &plan{
		ranks: 2, time: time, reps: c.Reps, least: leastSamples, precision: c.Wanted(),
		warmup: c.Warmup, delta: c.Delta, seed: seed >> 1, trips: c.OnlyTrips, cells: cells,
	}
	timers := 0
	for _, x := range cells {
		timers += 2 * len(p.timers(x))
	}
	p.most = min(mostSamples, rows/max(timers, 1))
	return p
}

// timers returns those of a cell.
func (p *plan) timers(c microbench.Cell) []string {
	switch {
	case p.collective && p.barriers:
		return []string{sample.CollMin, sample.CollMedian, sample.CollMax}
	case p.collective:
		return []string{sample.CollMin, sample.CollMedian, sample.CollMax, sample.CollLast}
	}
	return timersOf(c.Mode, p.which(c))
}

// timersOf returns the timers of a mode, in the order of package microbench; the brief ones are those in which a change of protocol shows.
func timersOf(mode, which string) []string {
	if which == trips {
		return []string{sample.RTT}
	}
	list := []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22}
	if which == all {
		list = append(list, sample.Idle)
	}
	streams := mode == "send" || mode == "isend"
	if streams || mode == "ssend" || mode == "bsend" {
		list = append(list, sample.RTT)
	}
	if streams && which == all {
		list = append(list, sample.Train, sample.PRTT(microbench.Carriages), sample.PRTTWaiting(microbench.Carriages))
	}
	return list
}

// repeated returns how many samples of a timer there are with both roots if repetitions of the paper's are given.
func repeated(timer string, reps int) int {
	const roots, fewer = 2, 4
	switch timer {
	case sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22:
		return roots * reps
	case sample.Idle, sample.RTT:
		return roots * max(1, reps/fewer)
	}
	return roots * max(min(reps, 10), reps/fewer/4)
}
