package loggp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// progressSteps is the number of steps for a job that reports only a fraction.
const progressSteps = 1000

// reportFraction reports the completed fraction to the caller.
func (m *measurement) reportFraction(part float64) {
	m.reportProgress(progressSteps)(int(part * progressSteps))
}

// measureTransport measures the plan on this computer.
func (m *measurement) measureTransport(ctx context.Context, plan *microbench.Plan) (*Measurement, error) {
	x, err := m.newExperiment(plan)
	if err != nil {
		return nil, err
	}
	x.ClockStep, x.MeasureClockOffset = m.job.Platform.Machine.TimerResolution, !m.job.HasCommonClock() && !m.measuresAllPairs()
	outcome, err := m.runLaunches(ctx, x)
	if err != nil {
		return nil, m.failure(err)
	}
	set := m.pairSamples(plan, outcome.Series)
	set.Facts = append(set.Facts, m.outcomeFacts(x, outcome)...)
	set.Facts = append(set.Facts, sample.Fact{Key: sample.ClockCostHandlingFact, Value: sample.ClockCostSubtracted})
	set.Facts = append(set.Facts, clockFacts(outcome.ClockOffsets)...)
	m.addShortage(x, outcome, "--modes")
	return &Measurement{Samples: set}, nil
}

// runLaunches runs an experiment on this computer.
func (m *measurement) runLaunches(ctx context.Context, x *microbench.Experiment) (*microbench.ExperimentResult, error) {
	s := microbench.NewScheduler(x)
	return s.RunLaunches(ctx, func(ctx context.Context, _ int) error {
		w, err := m.job.World(ctx, 0)
		if err != nil {
			return err
		}
		return s.MeasureLaunchInWorld(w, m.job.MPIOptions(m.forcedProtocol()))
	}, m.reportFraction)
}

// addShortage adds to the disturbances what an experiment had no time for. tooMany names the flags,
// in addition to --sizes, that increase what it measures.
func (m *measurement) addShortage(x *microbench.Experiment, outcome *microbench.ExperimentResult, tooMany string) {
	switch {
	case outcome.TasksWithoutSamples > 0:
		m.disturbances = append(m.disturbances, fmt.Sprintf("budget: there was no time for %d of %d stages of modes and sizes: give a longer --budget or fewer %s or --sizes", outcome.TasksWithoutSamples, outcome.TaskCount, tooMany))
	case outcome.LaunchCount < x.LaunchesOrDefault():
		m.disturbances = append(m.disturbances, fmt.Sprintf("budget: it was enough for %d of %d launches: give a longer --budget or fewer %s or --sizes", outcome.LaunchCount, x.LaunchesOrDefault(), tooMany))
	}
}

// headFacts returns the first facts of a job's samples.
func (m *measurement) headFacts() []sample.Fact {
	j := m.job
	facts := append(m.commandFacts(), sample.Fact{Key: "platform", Value: j.Platform.Machine.Description})
	if j.IsLocal() {
		_, cost := host.ClockStepAndCost()
		facts = append(facts,
			sample.Fact{Key: sample.WaitFact, Value: j.WaitPolicy()},
			sample.Fact{Key: sample.PinFact, Value: j.DescribePinning()},
			sample.Fact{Key: sample.ClockCostFact, Value: cost.MicrosString()})
		for _, f := range j.HostFacts() {
			facts = append(facts, sample.Fact(f))
		}
	} else {
		facts = append(facts, sample.Fact{Key: sample.PlatformFileFact, Value: m.Platform}, sample.Fact{Key: sample.PlatformSumFact, Value: j.Platform.Hash})
	}
	return append(facts, sample.Fact{Key: "library", Value: j.Library.Description}, sample.Fact{Key: sample.RanksFact, Value: strconv.Itoa(j.Ranks)})
}

// commandFacts returns the version and the command line.
func (m *measurement) commandFacts() []sample.Fact {
	facts := []sample.Fact{{Key: "loggp", Value: launch.ProgramVersion()}}
	if m.Command != "" {
		facts = append(facts, sample.Fact{Key: "command", Value: m.Command})
	}
	return facts
}

// emulationFacts describe a measurement on an emulated machine.
func (m *measurement) emulationFacts(reps, warmup int) []sample.Fact {
	return []sample.Fact{
		{Key: "seed", Value: strconv.FormatUint(m.Seed, 10)},
		{Key: sample.NoiseFact, Value: unit.Percent(m.job.Noise) + " relative standard deviation of every processor step"},
		{Key: "reps", Value: strconv.Itoa(reps)},
		{Key: "warmup", Value: strconv.Itoa(warmup)},
	}
}

// outcomeFacts describes the outcome of an experiment.
func (m *measurement) outcomeFacts(x *microbench.Experiment, outcome *microbench.ExperimentResult) []sample.Fact {
	facts := []sample.Fact{
		{Key: "begun", Value: outcome.WallStart.Format(time.RFC3339)},
		{Key: "launches", Value: strconv.Itoa(outcome.LaunchCount)},
		{Key: "order_seed", Value: strconv.FormatUint(x.Seed, 10)},
		{Key: "took", Value: outcome.WallDuration.Round(time.Millisecond).String()},
		{Key: "precision", Value: unit.Percent(x.PrecisionOrDefault())},
		{Key: "reached", Value: fmt.Sprintf("%d of %d medians", outcome.PreciseMedianCount, outcome.MedianCount)},
	}
	if x.Reps > 0 {
		facts = append(facts, sample.Fact{Key: "reps", Value: strconv.Itoa(x.Reps)})
	}
	if x.TotalTimeLimit() > 0 {
		facts = append(facts, sample.Fact{Key: "budget", Value: x.TotalTimeLimit().String()})
	}
	if len(outcome.AddedSizes) > 0 {
		facts = append(facts, sample.Fact{Key: "sizes_added", Value: strings.Trim(fmt.Sprint(outcome.AddedSizes), "[]")})
	}
	if len(outcome.BatchOperations) > 0 {
		var batches []string // timers whose samples are means over several operations
		for _, b := range outcome.BatchOperations {
			batches = append(batches, fmt.Sprintf("%s %d", b.Timer, b.LargestBatch))
		}
		slices.Sort(batches)
		facts = append(facts, sample.Fact{Key: "batches", Value: strings.Join(batches, ", ")})
	}
	return facts
}

// clockFacts describes the clock of P2's host relative to that of P1's.
func clockFacts(bounds []microbench.ClockOffsetBounds) []sample.Fact {
	if len(bounds) == 0 {
		return nil
	}
	facts := []sample.Fact{{Key: "clock_offset_us", Value: "not identifiable"}, {Key: "clock_drift_ppm", Value: "not identifiable"}}
	first := bounds[0]
	if middle, ok := first.Middle(); ok {
		facts[0].Value = fmt.Sprintf("%s, within %s..%s at the first launch", middle.MicrosString(), first.Low.MicrosString(), first.High.MicrosString())
	}
	if low, high, ok := microbench.ClockDriftBounds(bounds); ok {
		facts[1].Value = fmt.Sprintf("%.2f, within %.2f..%.2f, from %d launches", (low+high)/2, low, high, len(bounds))
	}
	return facts
}
