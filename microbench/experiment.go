package microbench

import (
	"fmt"
	"slices"
	"time"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Experiment says what to measure, and how well. On a real machine times scatter, drift, and differ
// from one start of the processes to the next. So a plan is executed in several launches, each with
// newly started ranks, until the medians are precise enough or the time budget is used up.
//
// Of the plan, Reps 0 means as many repetitions as that takes, and Delta 0 half the shortest round.
type Experiment struct {
	Plan
	Collectives []CollectiveCell // measured instead of modes and sizes, by all ranks
	Pairs       [][2]int         // of ranks, the lower first, that are measured instead of the plan's pair, one at a time

	RoundTripSizes     []int         // further sizes, of which only round trips are measured, by those modes that have them
	MaxTrainBytes      int           // longest messages of which trains are measured, which take tens of times as long as one; 0: any
	Launches           int           // how often ranks are started; 0: DefaultLaunches, more while there is time and launches differ by more than Precision, and fewer where there is none
	Budget             time.Duration // what all launches may take; 0: DefaultBudget, and without end if Reps is given
	Precision          float64       // half width of the 95 % interval of a median, over it, at which a cell is known; 0: 0.02
	ClockStep          unit.Time     // of the clock: the smallest difference that it shows; 0: it shows all
	Seed               uint64        // of the order of cells, which is another in each launch
	RefineSizes        bool          // sizes are added around the eager limit
	MeasureClockOffset bool          // each launch begins by bounding the offset of the pair's clocks
}

// Defaults of an experiment.
const (
	DefaultLaunches  = 5
	DefaultBudget    = 4 * time.Second
	defaultPrecision = 0.02
)

// Upper limits of the settings of an experiment.
const (
	MaxLaunches = 1000
	MaxBudget   = 24 * time.Hour
)

// LogSizes are the lengths that are measured on real machines unless others are asked for: powers
// of two, among which sizes are added around the eager limit.
//
// Note: from 64 KiB on, where the kernel's TCP behaves differently, there are three sizes, since
// fewer do not define a line fit.
var LogSizes = []int{0, 1, 16, 64, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 96 << 10, 128 << 10}

// LongSizes are those where long messages go in several parts, as by TCP on one machine, where a
// part is 64 KiB and the parts after the first are handled differently: the cost per byte shows
// only over many parts. Beyond 128 KiB, the longest message that this library sends at once, there
// are four sizes, so that their line can be distinguished from the previous one.
var LongSizes = append(LogSizes[:len(LogSizes)-2:len(LogSizes)-2], 128<<10, 192<<10, 256<<10, 384<<10, 512<<10)

// LogRoundTripSizes are additional sizes between LogSizes at which only round trips are measured:
// round trips take the least time, and show best how times grow with length. Bisection of a gap
// between LogSizes never ends at one of them.
var LogRoundTripSizes = []int{4, 8, 32, 128, 360, 720, 1440, 2880, 5760, 11520, 23040, 46080, 92160}

// The quick plan, which measures a real machine in a second: fewer sizes and modes, with as many
// repetitions.
var (
	QuickModes = []string{"send", "isend"}
	QuickSizes = []int{0, 16, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10}
)

// QuickBudget and QuickLaunches go with QuickModes and QuickSizes.
const (
	QuickBudget   = time.Second
	QuickLaunches = 3
)

// HasOnlyRoundTrips says whether nothing but round trips is measured at a size.
func (e *Experiment) HasOnlyRoundTrips(bytes int) bool {
	return slices.Contains(e.RoundTripSizes, bytes) && !slices.Contains(e.Sizes, bytes)
}

// Check says what is wrong with the experiment.
func (e *Experiment) Check() error {
	if len(e.Collectives) > 0 {
		if err := e.checkCollectives(); err != nil {
			return err
		}
	} else {
		p := e.Plan
		p.Reps = max(p.Reps, 1)
		if err := p.Check(); err != nil {
			return err
		}
	}
	switch {
	case slices.ContainsFunc(e.RoundTripSizes, func(k int) bool { return k < 0 || k > slices.Max(e.Sizes) }):
		return fmt.Errorf("round trips of %v bytes: each is of a size up to the largest of %v", e.RoundTripSizes, e.Sizes)
	case slices.ContainsFunc(e.Pairs, func(p [2]int) bool { return p[0] < 0 || p[0] >= p[1] }):
		return fmt.Errorf("pairs %v: each is of two ranks, the lower first", e.Pairs)
	case len(e.Pairs) > 0 && e.RefineSizes:
		return fmt.Errorf("sizes are not added between %d pairs of ranks", len(e.Pairs))
	case e.Launches < 0 || e.Launches > MaxLaunches:
		return fmt.Errorf("%d launches: there may be from 1 to %d", e.Launches, MaxLaunches)
	case e.Budget < 0 || e.Budget > MaxBudget:
		return fmt.Errorf("a budget of %v: it may be up to %v", e.Budget, MaxBudget)
	case !(e.Precision >= 0 && e.Precision < 1):
		return fmt.Errorf("a precision of %v: it is from 0 to 1", e.Precision)
	case e.Reps < 0 || e.Reps > sample.MaxRows:
		return fmt.Errorf("%d repetitions", e.Reps)
	}
	if n := e.countRequestedSamples(); n > sample.MaxRows {
		return fmt.Errorf("this makes %d samples, and at most %d can be kept: take fewer repetitions, sizes, modes or launches", n, sample.MaxRows)
	}
	return nil
}

// countRequestedSamples returns how many samples there will be if repetitions are given, else 0.
func (e *Experiment) countRequestedSamples() int {
	n := 0
	for _, t := range e.tasks() {
		n += len(stages[t.stage].timers) * t.rootCount() * stages[t.stage].roundsForReps(e.Reps)
	}
	if e.Reps == 0 {
		return 0
	}
	if !e.SharedMachine {
		return n
	}
	return n * e.MinLaunches()
}

// MinLaunches returns how many launches there are at least, if there is time for them or so many
// were asked for.
func (e *Experiment) MinLaunches() int {
	if e.Launches == 0 {
		return DefaultLaunches
	}
	return e.Launches
}

// TimeLimit returns what all launches together may take; 0: as long as it takes, as the number of
// repetitions is given.
func (e *Experiment) TimeLimit() time.Duration {
	if e.Reps > 0 || e.Budget > 0 {
		return e.Budget
	}
	return DefaultBudget
}

// WantedPrecision returns the precision at which a median is known.
func (e *Experiment) WantedPrecision() float64 {
	if e.Precision == 0 {
		return defaultPrecision
	}
	return e.Precision
}
