package loggp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Defaults and limits of repetitions.
const (
	defaultReps   = 600
	defaultWarmup = 10
	maxReps       = 1_000_000
)

// MaxMessageBytes is the largest message size in bytes.
const MaxMessageBytes = microbench.MaxMessageBytes

// repetitions returns the repetitions and warm-up rounds of a plan.
func (m *measurement) repetitions() (reps, warmup int, err error) {
	if reps = cmp.Or(m.Reps, defaultReps); m.Reps == 0 && m.measuresAllPairs() {
		reps = microbench.AllPairsReps
	}
	if err := checkRange("Reps", reps, 1, maxReps); err != nil {
		return 0, 0, err
	}
	warmup = max(0, cmp.Or(m.Warmup, defaultWarmup))
	return reps, warmup, checkRange("Warmup", warmup, 0, maxReps)
}

// newPlan returns the plan for messages between two ranks. For the installed MPI there is no job.
func (m *measurement) newPlan() (*microbench.Plan, error) {
	if m.measuresAllPairs() && m.Place != "" {
		return nil, optionErrorf("Pairs, Place", "one of them says which ranks to measure")
	}
	plan := &microbench.Plan{ForcedProtocol: m.forcedProtocol(), MeasuresDeliveryTimes: m.Protocol == ProtocolAuto, Delta: m.Delta, HasCommonClock: true}
	var err error
	if plan.Reps, plan.WarmupRounds, err = m.repetitions(); err != nil {
		return nil, err
	}
	if plan.Sizes, err = m.planSizes(); err != nil {
		return nil, err
	}
	if m.Delta < 0 {
		return nil, &OptionError{"Delta", m.Delta.String(), errors.New("it must be above zero")}
	}
	if plan.Modes, err = m.planModes(); err != nil {
		return nil, err
	}
	return plan, badOption("", plan.Check())
}

// planSizes returns the message sizes: the requested ones, or the usual ones of the platform up to
// MaxSize.
func (m *measurement) planSizes() ([]int, error) {
	sizes := m.Sizes
	switch {
	case sizes != nil:
	case m.measuresAllPairs():
		sizes = microbench.AllPairsSizes
	case m.Platform == job.TCPPlatform && !m.isOnSeveralHosts():
		sizes = microbench.SegmentedTransportSizes
	case m.usesTransport() || m.usesInstalledMPI():
		sizes = microbench.RealMachineSizes
	default:
		sizes = microbench.DefaultSizes(m.job.Platform.Machine)
	}
	if m.MaxSize != 0 {
		if m.MaxSize < 0 || m.MaxSize > MaxMessageBytes {
			return nil, optionErrorf("MaxSize", "messages of %s are too long to measure: at most %s", unit.Bytes(m.MaxSize), unit.Bytes(MaxMessageBytes))
		}
		if sizes = limitSizes(sizes, m.MaxSize, m.Sizes == nil && !m.measuresAllPairs()); len(sizes) == 0 {
			return nil, &OptionError{"MaxSize", unit.Bytes(m.MaxSize), errors.New("no size of --sizes is that short")}
		}
	}
	if k := slices.Max(sizes); k > MaxMessageBytes {
		return nil, optionErrorf("Sizes", "messages of %s are too long to measure: at most %s", unit.Bytes(k), unit.Bytes(MaxMessageBytes))
	}
	return sizes, nil
}

// limitSizes returns the sizes up to a limit. If extend is set, it adds powers of two up to the
// limit.
func limitSizes(sizes []int, limit int, extend bool) []int {
	sizes = slices.Clone(sizes)
	if last := slices.Max(sizes); extend {
		for k := 1; k < limit; k *= 2 {
			if k > last {
				sizes = append(sizes, k)
			}
		}
		sizes = append(sizes, limit)
	}
	sizes = slices.DeleteFunc(sizes, func(k int) bool { return k > limit })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// planModes returns the modes to measure: those that the forced protocol supports.
func (m *measurement) planModes() ([]string, error) {
	hasMessages := m.job != nil && m.job.Library.CarriedBy().HasLowLevelMessages
	if m.Level == LevelMessage {
		if m.job != nil && !hasMessages {
			return nil, &OptionError{"Level", LevelMessage, fmt.Errorf("the library %s has no low-level messages, as its engine %s has none; leave it out", m.job.Library.Name, m.job.Library.CarriedBy().Name)}
		}
		if m.namesModes() {
			return nil, optionErrorf("Modes", "low-level messages have none; leave it out with --level message")
		}
		return []string{microbench.LowLevelMode}, nil
	}
	if m.Level != "" && m.Level != LevelMPI && m.Level != LevelBoth {
		return nil, optionErrorf("Level", "it is one of %s, %s, %s", LevelBoth, LevelMPI, LevelMessage)
	}
	if forced := m.forcedProtocol(); forced != "" {
		if err := checkProtocol("Protocol", forced); err != nil {
			return nil, err
		}
	}
	switch {
	case m.Modes == nil && m.measuresAllPairs() && (m.usesTransport() || m.usesInstalledMPI()):
		return m.servedModes(microbench.QuickModes), nil
	case m.Modes == nil && m.measuresAllPairs():
		return m.servedModes(microbench.AllPairsModes), nil
	case m.namesModes():
		known := append(microbench.SendModeNames(), microbench.OptionalModeNames()...)
		for _, mode := range m.Modes {
			if !slices.Contains(known, mode) && mode != microbench.LowLevelMode {
				return nil, optionErrorf("Modes", "there is no mode %q%s", mode, table.NameChoices(mode, known))
			}
		}
		return m.Modes, nil
	}
	modes := m.servedModes(microbench.SendModeNames())
	if hasMessages && !m.job.IsLocal() && m.forcedProtocol() == "" && m.Level != LevelMPI {
		modes = append(modes, microbench.LowLevelMode)
	}
	return modes, nil
}

// namesModes reports whether the options name modes other than "all".
func (m *measurement) namesModes() bool {
	return m.Modes != nil && !slices.Equal(m.Modes, []string{ModesAll})
}

// newExperiment returns the experiment for a plan on this computer. Quick reduces sizes and modes,
// unless options name them.
func (m *measurement) newExperiment(plan *microbench.Plan) (*microbench.Experiment, error) {
	if err := checkRange("Launches", m.Launches, 0, microbench.MaxLaunches); err != nil {
		return nil, err
	}
	if m.Budget != 0 && (m.Budget < 10*time.Millisecond || m.Budget > microbench.MaxBudget) {
		return nil, &OptionError{"Budget", m.Budget.String(), fmt.Errorf("it must be from 10ms to %v", microbench.MaxBudget)}
	}
	if m.Precision != 0 && (m.Precision < 0.0001 || m.Precision > 0.5) {
		return nil, &OptionError{"Precision", unit.Percent(m.Precision), errors.New("it must be from 0.01% to 50%")}
	}
	x := &microbench.Experiment{Plan: *plan, Launches: m.Launches, Budget: m.Budget, Precision: m.Precision, Seed: m.Seed}
	x.IsRealMachine, x.Reps = true, m.Reps
	named := m.Sizes != nil || m.MaxSize != 0
	if !named && !m.measuresAllPairs() {
		x.RefineSizes, x.MaxTrainMessageBytes = !m.Quick, slices.Max(microbench.RealMachineSizes)
		if !m.Quick {
			x.RoundTripSizes = microbench.RealMachineRoundTripSizes
		}
	}
	if m.Quick {
		if !named {
			x.Sizes = microbench.QuickSizes
		}
		if m.Modes == nil && len(x.Modes) > 1 {
			x.Modes = microbench.QuickModes
		}
		if x.Budget == 0 && x.Reps == 0 {
			x.Budget = microbench.QuickBudget
		}
		x.Launches = cmp.Or(x.Launches, microbench.QuickLaunches)
	}
	if m.measuresAllPairs() {
		x.Pairs, x.Modes, x.Sizes = m.rankPairs(m.pairRanks()), plan.Modes, plan.Sizes
		x.Launches = cmp.Or(m.Launches, microbench.AllPairsLaunches)
		if m.Budget == 0 {
			x.Reps, x.Budget = plan.Reps, 0
		}
	}
	return x, nil
}

// pairRanks returns the number of ranks among which all pairs are measured.
func (m *measurement) pairRanks() int {
	if m.job != nil {
		return m.job.Ranks
	}
	return m.Ranks
}
