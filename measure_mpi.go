package loggp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
)

// measureVendor measures the MPI installed on this computer.
func (m *measurement) measureVendor(ctx context.Context) (*Measurement, error) {
	settings, err := m.probeSettings()
	if err != nil {
		return nil, err
	}
	isCollective := len(m.Collective) > 0
	newExperiment := m.newVendorPairExperiment
	if isCollective {
		newExperiment = m.newVendorCollectiveExperiment
	}
	x, err := newExperiment()
	if err == nil {
		err = x.Check()
	}
	if err != nil {
		return nil, badOption("", err)
	}
	settings.Ranks = m.Ranks
	set, outcome, err := probe.Measure(ctx, x, settings, m.reportFraction)
	if err != nil {
		return nil, fmt.Errorf("measure the MPI of this machine: %w", err)
	}
	set.Facts = slices.Concat(m.commandFacts(), set.Facts, m.outcomeFacts(x, outcome))
	if b, _ := set.Fact(probe.BindingFact); strings.Contains(b, probe.UnboundValue) {
		m.disturbances = append(m.disturbances, "binding: "+strings.TrimPrefix(b, probe.UnboundValue+": ")+", as its launcher does not bind ranks")
	}
	if !isCollective {
		m.addShortage(x, outcome, "--modes")
		return &Measurement{Samples: set}, nil
	}
	m.addShortage(x, outcome, "--collective")
	start, _ := set.Fact(sample.StartFact)
	noCommonStart, hasNone := strings.CutPrefix(start, sample.NoCommonStartPrefix)
	if !hasNone {
		noCommonStart = ""
	}
	return newCollectiveMeasurement(set, outcome, noCommonStart), nil
}

func (m *measurement) newVendorPairExperiment() (*microbench.Experiment, error) {
	plan, err := m.newPlan()
	if err != nil {
		return nil, err
	}
	return m.newExperiment(plan)
}

func (m *measurement) newVendorCollectiveExperiment() (*microbench.Experiment, error) {
	if m.Ranks == 0 {
		m.Ranks = 2
	}
	_, warmup, err := m.repetitions()
	if err != nil {
		return nil, err
	}
	x, err := m.newCollectiveExperiment(m.Ranks, nil)
	if err == nil {
		x.WarmupRounds = warmup
	}
	return x, err
}

// probeSettings returns how to compile and start the timer program.
func (m *measurement) probeSettings() (s probe.Settings, err error) {
	switch {
	case m.Place != "" && !slices.Contains(Places, m.Place):
		return s, &OptionError{"Place", m.Place, errors.New("it is intra or inter, and leaves to the launcher where the two ranks are")}
	case m.Timeout != 0 && (m.Timeout < time.Second || m.Timeout > 24*time.Hour):
		return s, &OptionError{"Timeout", m.Timeout.String(), errors.New("it must be from 1s to 24h")}
	case m.measuresAllPairs() && m.Ranks < 2:
		return s, optionErrorf("Pairs", "say with --ranks how many ranks there are, two or more")
	case m.Launcher != nil && len(m.Launcher) == 0:
		return s, optionErrorf("Launcher", "it names no command")
	}
	return probe.Settings{Compiler: m.MPICC, Launcher: m.Launcher, Timeout: m.Timeout, Place: m.Place, SkipsEagerLimits: m.Quick}, nil
}
