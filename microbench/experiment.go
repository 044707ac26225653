package microbench

import (
	"fmt"
	"slices"
	"time"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Experiment says what to measure, and how precisely. On a real machine times scatter, drift, and
// differ from one start of the processes to the next. So a plan is executed in several launches,
// each with newly started ranks, until the medians are precise enough or the time budget is used
// up. In the plan, Reps 0 means as many repetitions as that takes.
type Experiment struct {
	Plan
	Collectives []CollectiveCell // measured by all ranks, instead of modes and sizes
	Pairs       [][2]int         // of ranks, the lower first, measured one pair at a time instead of the plan's pair

	MaxTrainMessageBytes int           // longest messages that are sent in trains, which take tens of times as long as one message; 0: any
	Launches             int           // starts of the ranks; 0: DefaultLaunches, more if launches differ by more than Precision and time is left, fewer if time is short
	Budget               time.Duration // for all launches; 0: DefaultBudget, or no limit if Reps is set
	Precision            float64       // half width of the 95 % interval of a median, relative to it, at which the median counts as known; 0: 0.02
	ClockStep            unit.Time     // the smallest difference that the clock shows; 0: every difference
	Seed                 uint64        // of the order of cells, which differs between launches
	RefineSizes          bool          // add sizes around the eager limit
	MeasureClockOffset   bool          // each launch begins with bounds of the offset of the pair's clocks
}

// Defaults of an experiment.
const (
	DefaultLaunches  = 5
	DefaultBudget    = 4 * time.Second
	defaultPrecision = 0.02
)

// MaxMessageBytes is the longest message that is measured, in bytes. Both ranks hold it several
// times.
const MaxMessageBytes = 1 << 28

// Upper limits of the settings of an experiment.
const (
	MaxLaunches = 1000
	MaxBudget   = 24 * time.Hour
)

// RealMachineSizes are the default lengths of messages on real machines: powers of two, among which
// sizes are added around the eager limit. Note: from 64 KiB on, where the kernel's TCP behaves
// differently, there are three sizes, since fewer do not define a line fit.
var RealMachineSizes = []int{0, 1, 16, 64, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 96 << 10, 128 << 10}

// SegmentedTransportSizes replace RealMachineSizes where long messages are sent in several parts,
// as by TCP on one machine, where a part is 64 KiB and the parts after the first are handled
// differently: the cost per byte shows only over many parts. Beyond 128 KiB, the longest message
// that this library sends at once, there are four sizes, so that their line can be distinguished
// from the previous one.
var SegmentedTransportSizes = append(RealMachineSizes[:len(RealMachineSizes)-2:len(RealMachineSizes)-2], 128<<10, 192<<10, 256<<10, 384<<10, 512<<10)

// RealMachineRoundTripSizes are additional sizes at which only round trips are measured: between
// RealMachineSizes, where bisection of a gap never ends at one of them, and above them powers of
// two up to 4 MiB, the largest of the OSU benchmarks. Round trips take the least time, and show
// best how times grow with length.
var RealMachineRoundTripSizes = []int{4, 8, 32, 128, 360, 720, 1440, 2880, 5760, 11520, 23040, 46080, 92160, 256 << 10, 512 << 10, 1 << 20, 2 << 20, maxDefaultSize}

var (
	// The quick plan measures a real machine in a second: it has fewer sizes and modes, with as
	// many repetitions.
	QuickModes = []string{"send", "isend"}
	QuickSizes = []int{0, 16, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10}
)

const (
	// QuickBudget and QuickLaunches belong to QuickModes and QuickSizes.
	QuickBudget   = time.Second
	QuickLaunches = 3
)

// MeasuresOnlyRoundTripsAt reports whether only round trips are measured at a size.
func (e *Experiment) MeasuresOnlyRoundTripsAt(bytes int) bool {
	return slices.Contains(e.RoundTripSizes, bytes) && !slices.Contains(e.Sizes, bytes)
}

// Check returns an error that says what is wrong with the experiment.
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
	case slices.ContainsFunc(e.RoundTripSizes, func(k int) bool { return k < 0 || k > MaxMessageBytes }):
		return fmt.Errorf("round trips of %v bytes: a size is from 0 to %d", e.RoundTripSizes, MaxMessageBytes)
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

// countRequestedSamples returns the number of samples if the number of repetitions is set, else 0.
func (e *Experiment) countRequestedSamples() int {
	n := 0
	for _, t := range e.listTasks() {
		n += len(stages[t.stageIndex].timers) * t.barrierRootCount() * stages[t.stageIndex].roundsForReps(e.Reps)
	}
	if e.Reps == 0 {
		return 0
	}
	if !e.IsRealMachine {
		return n
	}
	return n * e.LaunchesOrDefault()
}

// LaunchesOrDefault returns the number of launches if they differ by no more than the precision
// and the time suffices.
func (e *Experiment) LaunchesOrDefault() int {
	if e.Launches == 0 {
		return DefaultLaunches
	}
	return e.Launches
}

// TotalTimeLimit returns how long all launches together may take; 0: no limit, as the number of
// repetitions is set.
func (e *Experiment) TotalTimeLimit() time.Duration {
	if e.Reps > 0 || e.Budget > 0 {
		return e.Budget
	}
	return DefaultBudget
}

// PrecisionOrDefault returns the precision at which a median counts as known.
func (e *Experiment) PrecisionOrDefault() float64 {
	if e.Precision == 0 {
		return defaultPrecision
	}
	return e.Precision
}
