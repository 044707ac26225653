package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
)

// vendor has the flags of measure that concern the machine's own MPI.
type vendor struct {
	compiler, launcher string
	timeout            time.Duration
}

// vendorFlags are their names; others do not concern it.
var (
	vendorFlags = []string{"mpicc", "launcher", "timeout"}
	otherFlags  = append([]string{"library", "ranks", "protocol", "level", "noise", "wait", "pin"}, hostFlags...)
)

func (v *vendor) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.compiler, "mpicc", "", "with --platform mpi: its compiler (default: $MPICC, or mpicc)")
	f.StringVar(&v.launcher, "launcher", "", "with --platform mpi: the command that starts the ranks, such as 'srun -n 2' (default: the mpirun beside the compiler, with -n)")
	f.DurationVar(&v.timeout, "timeout", probe.DefaultTimeout, "with --platform mpi: time limit of a launch")
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
	bar := newProgress(cmd.ErrOrStderr(), thousandths)
	defer bar.end()
	var e *microbench.Experiment
	var plan *microbench.Plan
	if m.together.vendor {
		if !cmd.Flags().Changed("ranks") {
			m.ranks = 2
		}
		if e, err = m.collectiveExperiment(cmd, m.ranks, nil); err == nil {
			e.WarmupRounds = m.warmup
		}
	} else if err = m.briefly(cmd, true); err == nil {
		if plan, err = m.plan(nil); err == nil {
			e, err = m.effort.experiment(cmd, plan, m.seed)
		}
		if err == nil {
			m.amongAll(cmd, e, plan, m.ranks)
		}
	}
	if err != nil {
		return misuse(cmd, err)
	}
	if err := e.Check(); err != nil {
		return misuse(cmd, err)
	}
	set, out, err := probe.Measure(cmd.Context(), e, settings, func(part float64) { bar.done(int(part * thousandths)) })
	bar.end()
	if err != nil {
		return fmt.Errorf("measure the MPI of this machine: %w", err)
	}
	set.Facts = slices.Concat([]sample.Fact{{Key: "loggp", Value: version()}, {Key: "command", Value: recall(cmd)}}, set.Facts, m.effort.facts(e, out))
	if b, _ := set.Fact(probe.Binding); strings.Contains(b, probe.Unbound) {
		m.spoiled = append(m.spoiled, "binding: "+strings.TrimPrefix(b, probe.Unbound+": ")+", as its launcher does not bind ranks")
	}
	if !m.together.vendor {
		m.spoiled = append(m.spoiled, shortage(e, out, "--modes")...)
		return m.write(cmd, nil, plan, set)
	}
	m.spoiled = append(m.spoiled, shortage(e, out, "--collective")...)
	start, _ := set.Fact(sample.StartFact)
	apart, is := strings.CutPrefix(start, sample.NoCommonStartPrefix)
	if !is {
		apart = ""
	}
	return m.writeCollectives(cmd, out, set, apart)
}

// settings checks the flags.
func (v *vendor) settings(cmd *cobra.Command, m *measure) (s probe.Settings, err error) {
	for _, name := range otherFlags {
		if cmd.Flags().Changed(name) && !(name == "ranks" && (m.together.vendor || m.all())) {
			return s, fmt.Errorf("--%s: the machine's own MPI has nothing of the kind", name)
		}
	}
	if err := output(m.output); err != nil {
		return s, err
	}
	if m.place != "" && !slices.Contains(places, m.place) {
		return s, fmt.Errorf("--place %s: it is intra or inter, and leaves to the launcher where the two ranks are", m.place)
	}
	if v.timeout < time.Second || v.timeout > 24*time.Hour {
		return s, fmt.Errorf("--timeout %v: it must be from 1s to 24h", v.timeout)
	}
	if m.all() && m.ranks < 2 {
		return s, fmt.Errorf("--pairs all: say with --ranks how many ranks there are, two or more")
	}
	s = probe.Settings{Compiler: v.compiler, Timeout: v.timeout, Place: m.place, Brief: m.effort.quick, Ranks: m.ranks}
	if s.Launcher, err = probe.Words(v.launcher); err != nil {
		return s, fmt.Errorf("--launcher: %w", err)
	}
	if cmd.Flags().Changed("launcher") && len(s.Launcher) == 0 {
		return s, errors.New("--launcher: it names no command")
	}
	return s, nil
}
