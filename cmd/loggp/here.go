package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
)

// What measure has for this machine, which is not emulated.

// here has the flags that are for this machine alone.
type here struct {
	wait *string
	pin  bool
	hosts
}

// emulatedOnly are the flags that this machine does not have.
var emulatedOnly = []string{"noise", "warmup"}

// hereOnly are those that emulated machines do not have.
var hereOnly = append([]string{"wait", "pin"}, hostFlags...)

// isHere reports whether a platform is this machine.
func isHere(name string) bool { return slices.Contains(job.Here, name) }

func (h *here) flags(cmd *cobra.Command) {
	h.wait = chosen(cmd, "wait", []string{"auto", "spin", "block"}, "auto", "how ranks of this machine wait: spin, or block in the kernel (auto: spin if each rank has its own processor)")
	cmd.Flags().BoolVar(&h.pin, "pin", true, "pin each rank of this machine to a processor of its own")
	h.hosts.flags(cmd)
}

// misplaced complains of a flag that the platform does not have.
func (m *measure) misplaced(cmd *cobra.Command) error {
	here := strings.Join(job.Here, ", ")
	if isHere(m.platform) {
		return m.without(cmd, emulatedOnly, "it is for emulated machines, and %s is this one")
	}
	if err := m.without(cmd, effortFlags, "it is for this machine ("+here+", "+probe.Platform+"), and %s is emulated"); err != nil {
		return err
	}
	return m.without(cmd, hereOnly, "it is for this machine ("+here+"), and %s is emulated")
}

// without complains of the first of some flags that was given, although the platform does not have
// it.
func (m *measure) without(cmd *cobra.Command, flags []string, why string) error {
	for _, flag := range flags {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: "+why, flag, m.platform)
		}
	}
	return nil
}

// openHere sets up a job on this machine.
func (m *measure) openHere(cmd *cobra.Command) (*job.Job, error) {
	if err := m.here.check(cmd, m.platform); err != nil {
		return nil, misuse(cmd, err)
	}
	if m.here.asked() {
		if err := m.gather(cmd); err != nil {
			return nil, err
		}
	}
	wait := *m.here.wait
	if wait == "auto" {
		wait = ""
	}
	job, err := job.NewHere(m.library, m.ranks, job.Placement{Platform: m.platform, Team: m.here.team, Wait: wait, Pin: m.here.pin, Command: commandLine(cmd)})
	return job, misuse(cmd, err)
}

// gather gets the hosts together, after what can be seen to be wrong without them.
func (m *measure) gather(cmd *cobra.Command) (err error) {
	if m.ranks, err = m.here.count(cmd, m.ranks); err != nil {
		return misuse(cmd, err)
	}
	if err := m.planned(cmd); err != nil {
		return misuse(cmd, err)
	}
	err = m.here.gather(cmd)
	if err == nil && m.here.manager != nil {
		m.spoiled.look(cmd, m)
	}
	return err
}

// planned says what is wrong with what is to be measured.
func (m *measure) planned(cmd *cobra.Command) error {
	if m.together.operations != "" {
		_, err := m.collectiveExperiment(cmd, m.ranks, nil)
		return err
	}
	plan, err := m.plan(nil)
	if err == nil {
		_, err = m.effort.experiment(cmd, plan, m.seed)
	}
	return err
}

// run measures the plan on this machine.
func (h *here) run(cmd *cobra.Command, m *measure, job *job.Job, plan *microbench.Plan) error {
	e, err := m.effort.experiment(cmd, plan, m.seed)
	if err != nil {
		return misuse(cmd, err)
	}
	e.ClockStep, e.MeasureClockOffset = job.Platform.Machine.Timer, !job.Common() && !m.all()
	m.amongAll(cmd, e, plan, job.Ranks)
	out, err := m.launches(cmd, job, e)
	if err != nil {
		return fmt.Errorf("measure on %s: %w", job.Platform.Machine.Name, err)
	}
	set := m.set(cmd, job, plan, out.Series)
	set.Facts = append(set.Facts, m.effort.facts(e, out)...)
	set.Facts = append(set.Facts, sample.Fact{Key: sample.ClockCostHandlingFact, Value: sample.ClockCostSubtracted})
	set.Facts = append(set.Facts, clockFacts(out.ClockOffsets)...)
	m.spoiled = append(m.spoiled, shortage(e, out, "--modes")...)
	return m.write(cmd, job, plan, set)
}

// launches runs an experiment on this machine.
func (m *measure) launches(cmd *cobra.Command, job *job.Job, e *microbench.Experiment) (*microbench.ExperimentResult, error) {
	bar := newProgress(cmd.ErrOrStderr(), thousandths)
	defer bar.end()
	s := microbench.NewScheduler(e)
	return s.Run(cmd.Context(), func(ctx context.Context, _ int) error {
		w, err := job.World(ctx, 0)
		if err != nil {
			return err
		}
		return s.RunLaunch(w, job.Options(m.forced()))
	}, func(part float64) { bar.done(int(part * thousandths)) })
}

// measurable complains of a pair of ranks that cannot be measured: samples come to the process that
// the user started, which is rank 0.
func measurable(job *job.Job, pair [2]int) error {
	if job.Real() && pair[0] != 0 {
		return fmt.Errorf("--place %d,%d: on this machine rank 0 is the first of the pair", pair[0], pair[1])
	}
	return nil
}

// origin returns the facts that say what was measured where.
func (m *measure) origin(job *job.Job) []sample.Fact {
	if !job.Real() {
		return []sample.Fact{{Key: sample.PlatformFileFact, Value: m.platform}, {Key: sample.PlatformSumFact, Value: job.Platform.Sum}}
	}
	_, cost := host.ClockStepAndCost()
	facts := []sample.Fact{
		{Key: sample.WaitFact, Value: job.Wait()},
		{Key: sample.PinFact, Value: job.Pins()},
		{Key: sample.ClockCostFact, Value: cost.MicrosString()},
	}
	for _, f := range job.Facts() {
		facts = append(facts, sample.Fact(f))
	}
	return facts
}
