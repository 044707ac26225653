package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// effort has the flags that say how long and how well to measure where times are real: on this
// machine, with any of its transports and with its MPI.
type effort struct {
	quick     bool
	budget    time.Duration
	precision string
	launches  int
}

// effortFlags are their names; emulated machines do not have them.
var effortFlags = []string{"quick", "budget", "precision", "launches"}

func (e *effort) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&e.quick, "quick", false, "on this machine: take one second instead of five, with fewer modes and sizes and three launches")
	f.DurationVar(&e.budget, "budget", 0, "on this machine: time limit of the measurement, such as 30s (default 4s, with --quick 1s, with --reps none)")
	f.StringVar(&e.precision, "precision", "2%", "on this machine: wanted half width of a median's 95 % interval; medians that have it are not measured further")
	f.IntVar(&e.launches, "launches", 0, "on this machine: how often the ranks are started, because times differ from start to start (default 5 or more, with --quick 3)")
}

// experiment makes an experiment of the flags and a plan. --quick is for fewer sizes and modes,
// unless flags name them.
func (e *effort) experiment(cmd *cobra.Command, plan *microbench.Plan, seed uint64) (*microbench.Experiment, error) {
	given := cmd.Flags().Changed
	if err := inRange("--launches", e.launches, 1, microbench.MaxLaunches); given("launches") && err != nil {
		return nil, err
	}
	if given("budget") && (e.budget < 10*time.Millisecond || e.budget > microbench.MaxBudget) {
		return nil, fmt.Errorf("--budget %v: it must be from 10ms to %v", e.budget, microbench.MaxBudget)
	}
	wanted, err := unit.ParsePercent(e.precision)
	if err != nil {
		return nil, fmt.Errorf("--precision: %w", err)
	}
	if wanted < 0.0001 || wanted > 0.5 {
		return nil, fmt.Errorf("--precision %s: it must be from 0.01%% to 50%%", e.precision)
	}
	x := &microbench.Experiment{Plan: *plan, Launches: e.launches, Budget: e.budget, Precision: wanted, Seed: seed}
	x.SharedMachine = true
	named := given("sizes") || given("max-size")
	if !named {
		x.RefineSizes, x.RoundTripSizes, x.MaxTrainBytes = !e.quick, microbench.LogRoundTripSizes, slices.Max(microbench.LogSizes)
	}
	if !given("reps") {
		x.Reps = 0
	}
	if !e.quick {
		return x, nil
	}
	x.RoundTripSizes = nil
	if !named {
		x.Sizes = microbench.QuickSizes
	}
	if !given("modes") && len(x.Modes) > 1 {
		x.Modes = microbench.QuickModes
	}
	if x.Budget == 0 && x.Reps == 0 {
		x.Budget = microbench.QuickBudget
	}
	if x.Launches == 0 {
		x.Launches = microbench.QuickLaunches
	}
	return x, nil
}

// facts returns what became of an experiment.
func (e *effort) facts(c *microbench.Experiment, out *microbench.ExperimentResult) []sample.Fact {
	facts := []sample.Fact{
		{Key: "begun", Value: out.WallStart.Format(time.RFC3339)},
		{Key: "launches", Value: strconv.Itoa(out.Launches)},
		{Key: "order_seed", Value: strconv.FormatUint(c.Seed, 10)},
		{Key: "took", Value: out.WallDuration.Round(time.Millisecond).String()},
		{Key: "precision", Value: unit.Percent(c.WantedPrecision())},
		{Key: "reached", Value: fmt.Sprintf("%d of %d medians", out.KnownMedians, out.Medians)},
	}
	if c.Reps > 0 {
		facts = append(facts, sample.Fact{Key: "reps", Value: strconv.Itoa(c.Reps)})
	}
	if c.TimeLimit() > 0 {
		facts = append(facts, sample.Fact{Key: "budget", Value: c.TimeLimit().String()})
	}
	if len(out.AddedSizes) > 0 {
		facts = append(facts, sample.Fact{Key: "sizes_added", Value: strings.Trim(fmt.Sprint(out.AddedSizes), "[]")})
	}
	if len(out.BatchSizes) > 0 {
		facts = append(facts, sample.Fact{Key: "batches", Value: batches(out.BatchSizes)})
	}
	return facts
}

// batches lists the timers whose samples are means of several operations, and the largest number of
// operations.
func batches(all []microbench.BatchSize) string {
	var each []string
	for _, b := range all {
		each = append(each, fmt.Sprintf("%s %d", b.Timer, b.MaxOperations))
	}
	slices.Sort(each)
	return strings.Join(each, ", ")
}

// shortage describes what an experiment had no time for. what names the flags, beside --sizes, that
// choose what it measures.
func shortage(c *microbench.Experiment, out *microbench.ExperimentResult, what string) spoiled {
	switch {
	case out.MissingTasks > 0:
		return spoiled{fmt.Sprintf("budget: there was no time for %d of %d stages of modes and sizes: give a longer --budget or fewer %s or --sizes", out.MissingTasks, out.Tasks, what)}
	case out.Launches < c.MinLaunches():
		return spoiled{fmt.Sprintf("budget: it was enough for %d of %d launches: give a longer --budget or fewer %s or --sizes", out.Launches, c.MinLaunches(), what)}
	}
	return nil
}
