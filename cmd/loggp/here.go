package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// What measure has for this machine, which is not emulated.

// here has the flags that are for this machine alone.
type here struct {
	wait *string
	pin  bool
}

// Repetitions on this machine unless flags say otherwise: rounds take a microsecond, and the first ones find cold caches and slow clocks.
const (
	hereReps   = 200
	hereWarmup = 50
)

// emulatedOnly are the flags that this machine does not have.
var emulatedOnly = []string{"seed", "noise"}

// hereOnly are those that emulated machines do not have.
var hereOnly = []string{"wait", "pin"}

// isHere reports whether a platform is this machine.
func isHere(name string) bool { return slices.Contains(world.Here, name) }

func (h *here) flags(cmd *cobra.Command) {
	h.wait = chosen(cmd, "wait", []string{"auto", "spin", "block"}, "auto", "how ranks of this machine wait: spin, or block in the kernel (auto: spin if there are as many processors as ranks)")
	cmd.Flags().BoolVar(&h.pin, "pin", true, "each rank of this machine on a processor of its own")
}

// misplaced complains of a flag that the platform does not have.
func (m *measure) misplaced(cmd *cobra.Command) error {
	foreign, why := hereOnly, "it is for this machine ("+world.Shm+"), and %s is emulated"
	if isHere(m.platform) {
		foreign, why = emulatedOnly, "it is for emulated machines, and %s is this one"
	}
	for _, flag := range foreign {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: "+why, flag, m.platform)
		}
	}
	return nil
}

// openHere sets up a job on this machine.
func (m *measure) openHere(cmd *cobra.Command) (*world.Job, error) {
	if m.all() {
		return nil, misuse(cmd, errors.New("--pairs all: on this machine all ranks are in one node; measure a pair with --place"))
	}
	if !cmd.Flags().Changed("reps") {
		m.reps = hereReps
	}
	if !cmd.Flags().Changed("warmup") {
		m.warmup = hereWarmup
	}
	wait := *m.here.wait
	if wait == "auto" {
		wait = ""
	}
	job, err := world.NewHere(m.library, m.ranks, world.Placement{Wait: wait, Pin: m.here.pin, Command: commandLine(cmd)})
	return job, misuse(cmd, err)
}

// launch measures the plan on this machine.
func (m *measure) launch(cmd *cobra.Command, job *world.Job, plan *microbench.Plan) ([]sample.Series, error) {
	bar := newProgress(cmd.ErrOrStderr(), len(plan.Cells()))
	defer bar.end()
	return microbench.Launch(cmd.Context(), plan, job.Options(m.protocol), func(ctx context.Context) (mpi.World, error) {
		return job.World(ctx, 0)
	}, bar.done)
}

// measurable complains of a pair of ranks that cannot be measured: samples come to the process that the user started, which is rank 0.
func measurable(job *world.Job, pair [2]int) error {
	if job.Real() && pair[0] != 0 {
		return fmt.Errorf("--place %d,%d: on this machine rank 0 is the first of the pair", pair[0], pair[1])
	}
	return nil
}

// origin returns the facts that say what was measured where.
func (m *measure) origin(job *world.Job) []sample.Fact {
	if !job.Real() {
		return []sample.Fact{{Key: fileFact, Value: m.platform}, {Key: sample.PlatformSum, Value: job.Platform.Sum}}
	}
	return job.Facts()
}
