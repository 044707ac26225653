package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model/schedule"
)

// addScheduleFlags declares the flags for schedules.
func (c *compareFlags) addScheduleFlags(cmd *cobra.Command) {
	f, o := cmd.Flags(), &c.scheduleOptions
	f.StringArrayVar(&o.Platform, "platform", nil, "machine that runs schedules, which are compared with LogGOPS: a name of 'loggp platforms', a file, loggp:PARAMETERS, "+
		strings.Join(job.LocalPlatforms, " or ")+"; or a list of names; may be given more than once")
	f.StringArrayVar(&c.scheduleFiles, "schedule", nil, "with --platform: file of a schedule; may be given more than once")
	cli.AddParsed(cmd, &o.Collective, "collective", "", cli.List, "with --platform: schedules of collective operations by all their algorithms, a list such as bcast,allreduce, or all")
	f.StringVar(&o.Library, "library", "", "with --platform: library on the machine (default: its first)")
	cli.AddParsed(cmd, &o.LogGOPS, "loggops", "", cli.Pointer(schedule.ParseParams), "with --platform: parameters of LogGOPS such as L=5us,o=1us,g=1us,G=1ns (default: those of --params, or fitted to the machine)")
	f.IntVarP(&o.Ranks, "ranks", "n", 8, "with --collective: number of ranks")
	cli.AddCompletion(cmd, "platform", runnablePlatformNames)
}

// compareSchedules runs schedules on machines, and simulates them with their parameters.
func (c *compareFlags) compareSchedules(cmd *cobra.Command) (err error) {
	o := c.scheduleOptions
	if o.Collective == nil {
		if err := cli.RejectFlags(cmd, "--%s: it needs --collective; a schedule has its own", "ranks", "sizes"); err != nil {
			return err
		}
	}
	if c.options.ParamsFile != "" && o.LogGOPS != nil {
		return cli.Usagef("--params and --loggops: give one of them")
	}
	o.Args, o.Sizes, o.Platform = processArgs(cmd), c.options.Sizes, splitPlatformLists(o.Platform)
	if o.Params, err = readParameters(c.options.ParamsFile); err != nil {
		return err
	}
	for _, file := range c.scheduleFiles {
		s, err := readSchedule(cmd, file)
		if err != nil {
			return err
		}
		o.Schedule = append(o.Schedule, loggp.NamedSchedule{Name: filepath.Base(file), Schedule: s})
	}
	x, err := loggp.CompareSchedules(cmd.Context(), o)
	if err != nil || x == nil {
		return err
	}
	cli.PrintLines(cmd, warningPrefix, x.Warnings)
	return c.writeComparison(cmd, x.Rows, x.Document())
}

// splitPlatformLists splits lists of platforms, but not the parameters of a synthetic one.
func splitPlatformLists(lists []string) (platforms []string) {
	for _, list := range lists {
		names := []string{list}
		if !strings.HasPrefix(list, "loggp:") {
			names, _ = cli.List(list)
		}
		platforms = append(platforms, names...)
	}
	return platforms
}
