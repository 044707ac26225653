package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
)

// vendor has the flags of measure that concern the machine's own MPI.
type vendor struct {
	compiler, launcher string
	launches           int
	timeout            time.Duration
}

// vendorFlags are their names; others do not concern it.
var (
	vendorFlags = []string{"mpicc", "launcher", "launches", "timeout"}
	otherFlags  = []string{"library", "ranks", "pairs", "protocol", "level", "noise", "wait", "pin"}
)

// vendorReps is how often, unless --reps says otherwise: launches differ by more than repetitions, so there are several launches of fewer.
const vendorReps = 200

func (v *vendor) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.compiler, "mpicc", "", "with --platform mpi: its compiler (default: $MPICC, or mpicc)")
	f.StringVar(&v.launcher, "launcher", "", "with --platform mpi: what starts two ranks, such as 'srun -n 2' (default: the mpirun beside the compiler, with -n 2)")
	f.IntVar(&v.launches, "launches", 3, "with --platform mpi: how often it is started, each time for all cells")
	f.DurationVar(&v.timeout, "timeout", probe.DefaultTimeout, "with --platform mpi: what a launch may take")
}

// unasked refuses the flags of the machine's own MPI for another platform.
func (v *vendor) unasked(cmd *cobra.Command) error {
	for _, name := range vendorFlags {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for --platform %s alone", name, probe.Platform)
		}
	}
	return nil
}

func (v *vendor) run(cmd *cobra.Command, m *measure) error {
	settings, err := v.settings(cmd, m)
	if err != nil {
		return misuse(cmd, err)
	}
	plan, err := m.plan()
	if err != nil {
		return misuse(cmd, err)
	}
	bar := newProgress(cmd.ErrOrStderr(), v.launches)
	set, err := probe.Measure(cmd.Context(), plan, settings, bar.done)
	bar.end()
	if err != nil {
		return fmt.Errorf("measure the MPI of this machine: %w", err)
	}
	set.Facts = append([]sample.Fact{{Key: "loggp", Value: version()}, {Key: "command", Value: recall(cmd)}}, set.Facts...)
	return m.write(cmd, nil, plan, set)
}

// settings checks the flags.
func (v *vendor) settings(cmd *cobra.Command, m *measure) (s probe.Settings, err error) {
	for _, name := range otherFlags {
		if cmd.Flags().Changed(name) {
			return s, fmt.Errorf("--%s: the machine's own MPI has nothing of the kind", name)
		}
	}
	if err := output(m.output); err != nil {
		return s, err
	}
	if m.place != "" && !slices.Contains(places, m.place) {
		return s, fmt.Errorf("--place %s: it is intra or inter, and leaves to the launcher where the two ranks are", m.place)
	}
	if err := inRange("--launches", v.launches, 1, 1000); err != nil {
		return s, err
	}
	if v.timeout < time.Second || v.timeout > 24*time.Hour {
		return s, fmt.Errorf("--timeout %v: it must be from 1s to 24h", v.timeout)
	}
	if !cmd.Flags().Changed("reps") {
		m.reps = vendorReps
	}
	s = probe.Settings{Compiler: v.compiler, Launches: v.launches, Timeout: v.timeout, Seed: m.seed, Place: m.place}
	if s.Launcher, err = probe.Words(v.launcher); err != nil {
		return s, fmt.Errorf("--launcher: %w", err)
	}
	if cmd.Flags().Changed("launcher") && len(s.Launcher) == 0 {
		return s, errors.New("--launcher: it names no command")
	}
	return s, nil
}
