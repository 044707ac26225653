package microbench

import (
	"fmt"
	"slices"
	"time"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Campaign says how a real machine is measured, whose times scatter, drift, and differ from one start of the processes to the next: a plan that is gone
// through in several launches, each of which starts its ranks anew, until medians are known well enough or the time is over.
//
// Of the plan, Reps 0 means as many repetitions as that takes, and Delta 0 half the shortest round; Shared counts as set.
type Campaign struct {
	Plan

	Trips     []int         // further sizes, of which only round trips are measured, by those modes that have them
	Trains    int           // longest messages of which trains are measured, which take tens of times as long as one; 0: any
	Quick     bool          // what is 0 below is little: a second in all
	Launches  int           // how often ranks are started; 0: 5 (3), more while there is time and launches differ by more than Precision, and fewer where there is none
	Budget    time.Duration // what all launches may take, but that each goes through all cells once, and one is begun if there is time for half of it; 0: 4 s (0.6 s), and without end if Reps is given
	Precision float64       // half width of the 95 % interval of a median, over it, at which a cell is known; 0: 0.02
	Step      unit.Time     // of the clock: the smallest difference that it shows; 0: it shows all
	Seed      uint64        // of the order of cells, which is another in each launch
	Refine    bool          // sizes are added where a curve breaks
	Clocks    bool          // each launch begins by bounding the offset of the pair's clocks, which becomes one of Bounds

	// Of the launches that were:
	Bounds  []Clock
	Batches []Batch      // of timers that had any
	Paces   [][2]float64 // of each launch, in ns: what P1's processor took at its best moments for a piece of work that is always the same, and P2's; nil: nobody could look

	best     looks // so far
	leads    []*leader
	met      map[Cell]met              // by the names of items
	hindered map[string]bool           // modes in which sends right behind a barrier take longer than others
	sought   state                     // of the processors, that the last launch aimed at
	look     func(*mpi.Comm) unit.Time // how long the work of a look takes; nil: look
}

// The most of what a campaign may be asked for.
const (
	MaxLaunches = 1000
	MaxBudget   = 24 * time.Hour
)

// What a campaign is unless it says otherwise, and a quick one.
const (
	launches      = 5
	quickLaunches = 3
	budget        = 4 * time.Second
	quickBudget   = 600 * time.Millisecond
	precision     = 0.02
)

// LogSizes are the lengths that a campaign measures unless others are asked for: powers of two, among which sizes are added where curves break.
//
// Note: behind 64 KiB, where the kernel's TCP takes another way, there are three sizes, as fewer make no line.
var LogSizes = []int{0, 1, 16, 64, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 96 << 10, 128 << 10}

// LongSizes are those of a campaign whose long messages go in several parts, as by TCP on one machine, where a part is 64 KiB and another way is taken behind the first: what a byte costs is to be seen
// over many parts. Behind the longest message that this library sends at once, of 128 KiB, there are four sizes, so that a line is told from the one before.
var LongSizes = append(LogSizes[:len(LogSizes)-2:len(LogSizes)-2], 128<<10, 192<<10, 256<<10, 384<<10, 512<<10)

// LogTrips are the sizes between LogSizes at which round trips alone are measured beside them: these take less time than anything else, and show best how times
// grow with length. Where they stand no halving of a gap between LogSizes ends.
var LogTrips = []int{4, 8, 32, 128, 360, 720, 1440, 2880, 5760, 11520, 23040, 46080, 92160}

// OnlyTrips says whether nothing but round trips is measured at a size.
func (c *Campaign) OnlyTrips(bytes int) bool {
	return slices.Contains(c.Trips, bytes) && !slices.Contains(c.Sizes, bytes)
}

// All returns the cells of the plan, and those of round trips alone.
func (c *Campaign) All() []Cell {
	cells := c.Cells()
	for _, m := range c.Modes {
		for _, k := range c.Trips {
			if c.OnlyTrips(k) && find(m).returns() {
				cells = append(cells, Cell{m, k})
			}
		}
	}
	return cells
}

// Check says what is wrong with the campaign.
func (c *Campaign) Check() error {
	p := c.Plan
	p.Reps = max(p.Reps, 1)
	if err := p.Check(); err != nil {
		return err
	}
	if slices.ContainsFunc(c.Trips, func(k int) bool { return k < 0 || k > slices.Max(c.Sizes) }) {
		return fmt.Errorf("round trips of %v bytes: each is of a size up to the largest of %v", c.Trips, c.Sizes)
	}
	return c.effort()
}

// effort says what is wrong with how often to measure, and for how long.
func (c *Campaign) effort() error {
	switch {
	case c.Launches < 0 || c.Launches > MaxLaunches:
		return fmt.Errorf("%d launches: there may be from 1 to %d", c.Launches, MaxLaunches)
	case c.Budget < 0 || c.Budget > MaxBudget:
		return fmt.Errorf("a budget of %v: it may be up to %v", c.Budget, MaxBudget)
	case !(c.Precision >= 0 && c.Precision < 1):
		return fmt.Errorf("a precision of %v: it is from 0 to 1", c.Precision)
	case c.Reps < 0 || c.Reps > sample.MaxRows:
		return fmt.Errorf("%d repetitions", c.Reps)
	}
	return nil
}

// LeastLaunches returns how many launches there are at least, if there is time for them or so many were asked for.
func (c *Campaign) LeastLaunches() int { return unless(c.Launches, c.Quick, launches, quickLaunches) }

// Time returns what all launches together may take; 0: as long as it takes, as the number of repetitions is given.
func (c *Campaign) Time() time.Duration {
	if c.Reps > 0 {
		return c.Budget
	}
	return unless(c.Budget, c.Quick, budget, quickBudget)
}

// Wanted returns the precision at which a cell is known.
func (c *Campaign) Wanted() float64 { return unless(c.Precision, false, precision, precision) }

// unless returns a value, or if it is zero the one or the other that stands for that.
func unless[T comparable](value T, quick bool, thorough, brief T) T {
	var zero T
	switch {
	case value != zero:
		return value
	case quick:
		return brief
	}
	return thorough
}
