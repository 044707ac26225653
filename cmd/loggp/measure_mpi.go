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
	otherFlags  = append([]string{"library", "ranks", "pairs", "protocol", "level", "noise", "wait", "pin"}, hostFlags...)
)

func (v *vendor) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.compiler, "mpicc", "", "with --platform mpi: its compiler (default: $MPICC, or mpicc)")
	f.StringVar(&v.launcher, "launcher", "", "with --platform mpi: what starts the ranks, such as 'srun -n 2' (default: the mpirun beside the compiler, with -n and their number)")
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
	if m.together.vendor {
		return v.collectives(cmd, m, settings)
	}
	plan, err := m.plan()
	if err != nil {
		return misuse(cmd, err)
	}
	c, err := m.effort.campaign(cmd, plan, m.seed)
	if err != nil {
		return misuse(cmd, err)
	}
	bar := newProgress(cmd.ErrOrStderr(), thousandths)
	set, out, err := probe.Measure(cmd.Context(), c, settings, func(part float64) { bar.done(int(part * thousandths)) })
	bar.end()
	if err != nil {
		return fmt.Errorf("measure the MPI of this machine: %w", err)
	}
	v.complete(cmd, m, set, c, out)
	return m.write(cmd, nil, plan, set)
}

// collectives measures collective operations.
func (v *vendor) collectives(cmd *cobra.Command, m *measure, settings probe.Settings) error {
	if !cmd.Flags().Changed("ranks") {
		m.ranks = 2
	}
	c, err := m.ensemble(cmd, m.ranks, nil)
	if err != nil {
		return misuse(cmd, err)
	}
	c.Warmup = m.warmup
	bar := newProgress(cmd.ErrOrStderr(), thousandths)
	set, out, err := probe.MeasureCollectives(cmd.Context(), c, settings, func(part float64) { bar.done(int(part * thousandths)) })
	bar.end()
	if err != nil {
		return fmt.Errorf("measure the MPI of this machine: %w", err)
	}
	v.complete(cmd, m, set, &c.Campaign, out)
	m.spoiled = append(m.spoiled, fewer(&c.Campaign, out, "--collective")...)
	start, _ := set.Fact(sample.Start)
	apart, is := strings.CutPrefix(start, sample.NoStart)
	if !is {
		apart = ""
	}
	return m.writeCollectives(cmd, c, set, apart)
}

// complete adds to a data set what the probe does not know, and says what spoils it.
func (v *vendor) complete(cmd *cobra.Command, m *measure, set *sample.Set, c *microbench.Campaign, out *microbench.Outcome) {
	set.Facts = slices.Concat([]sample.Fact{{Key: "loggp", Value: version()}, {Key: "command", Value: recall(cmd)}}, set.Facts, m.effort.facts(c, out))
	if b, _ := set.Fact(probe.Binding); strings.Contains(b, probe.Unbound) {
		m.spoiled = append(m.spoiled, "binding: "+strings.TrimPrefix(b, probe.Unbound+": ")+", as its launcher does not bind ranks")
	}
}

// settings checks the flags.
func (v *vendor) settings(cmd *cobra.Command, m *measure) (s probe.Settings, err error) {
	for _, name := range otherFlags {
		if cmd.Flags().Changed(name) && !(name == "ranks" && m.together.vendor) {
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
	s = probe.Settings{Compiler: v.compiler, Timeout: v.timeout, Place: m.place}
	if s.Launcher, err = probe.Words(v.launcher); err != nil {
		return s, fmt.Errorf("--launcher: %w", err)
	}
	if cmd.Flags().Changed("launcher") && len(s.Launcher) == 0 {
		return s, errors.New("--launcher: it names no command")
	}
	return s, nil
}
