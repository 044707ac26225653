package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
)

// compareScheduleFlags has the flags of compare for schedules.
type compareScheduleFlags struct {
	platforms, scheduleFiles                        []string
	library, collectivesText, loggopsParametersText string
	ranks                                           int
}

func (s *compareScheduleFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.platforms, "platform", nil, "machine that runs schedules, which are compared with LogGOPS: a name of 'loggp platforms', a file, loggp:PARAMETERS, "+
		strings.Join(job.LocalPlatforms, " or ")+"; or a list of names; may be given more than once")
	f.StringArrayVar(&s.scheduleFiles, "schedule", nil, "with --platform: file of a schedule; may be given more than once")
	f.StringVar(&s.collectivesText, "collective", "", "with --platform: schedules of collective operations by all their algorithms, a list such as bcast,allreduce, or all")
	f.StringVar(&s.library, "library", "", "with --platform: library on the machine (default: its first)")
	f.StringVar(&s.loggopsParametersText, "loggops", "", "with --platform: parameters of LogGOPS such as L=5us,o=1us,g=1us,G=1ns (default: those of --params, or fitted to the machine)")
	f.IntVarP(&s.ranks, "ranks", "n", 8, "with --collective: number of ranks")
	addFlagCompletion(cmd, "platform", append(platform.Names(), job.LocalPlatforms...))
}

// compareSchedules runs schedules on machines, and simulates them with their parameters.
func (c *compareFlags) compareSchedules(cmd *cobra.Command) error {
	s := &c.schedules
	o := loggp.ScheduleOptions{Library: s.library, Ranks: s.ranks, Args: processArgs(cmd)}
	for _, p := range s.platforms {
		if strings.HasPrefix(p, "loggp:") { // whose parameters may have commas
			o.Platform = append(o.Platform, p)
		} else {
			o.Platform = append(o.Platform, splitList(p)...)
		}
	}
	if s.collectivesText != "" {
		o.Collective = splitList(s.collectivesText)
	}
	if s.collectivesText == "" {
		if err := rejectFlagsWithoutEffect(cmd, "--%s: it needs --collective; a schedule has its own", "ranks", "sizes"); err != nil {
			return err
		}
	}
	if s.loggopsParametersText != "" {
		p, err := schedule.ParseParams(s.loggopsParametersText)
		if err != nil {
			return newUsageError(cmd, fmt.Errorf("--loggops: %w", err))
		}
		o.LogGOPS = &p
	}
	if c.paramsFile != "" && s.loggopsParametersText != "" {
		return newUsageError(cmd, errors.New("--params and --loggops: give one of them"))
	}
	var err error
	if o.Sizes, err = parseSizes(c.sizesText, nil); err == nil {
		err = checkWritableCSVFile(c.outputPath)
	}
	if err != nil {
		return newUsageError(cmd, err)
	}
	if c.paramsFile != "" {
		if o.Params, err = loggp.ReadParameters(c.paramsFile); err != nil {
			return err
		}
	}
	for _, file := range s.scheduleFiles {
		x, err := readSchedule(cmd, file)
		if err != nil {
			return err
		}
		o.Schedule = append(o.Schedule, loggp.NamedSchedule{Name: filepath.Base(file), Schedule: x})
	}
	x, err := loggp.CompareSchedules(cmd.Context(), o)
	if err != nil || x == nil {
		return usageErrorWithFlag(cmd, err)
	}
	printWithWarningPrefix(cmd, x.Warnings)
	return c.writeComparison(cmd, x.Rows, x.Document())
}
