package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
)

// makeScheduleFlags has the flags of the verb.
type makeScheduleFlags struct {
	pattern.Config
	outputPath, placement string
	placementSeed         uint64
}

type scheduleFileCommand struct{ name, helpText string }

// scheduleFileCommands are the commands that take schedules.
var scheduleFileCommands = []scheduleFileCommand{
	{"append", "run several files one after the other: each rank begins a file when it has ended the one before"},
	{"merge", "run several files at the same time, each on ranks of its own (--placement)"},
	{"check", "check that a file is correct and that its schedule ends"},
}

func scheduleCommand() *cobra.Command {
	var m makeScheduleFlags
	help := cli.HelpList(14, pattern.Patterns, func(p *pattern.Pattern) (string, string) { return p.Name, p.What }) +
		cli.HelpList(14, scheduleFileCommands, func(c scheduleFileCommand) (string, string) { return c.name, c.helpText })
	cmd := &cobra.Command{
		Use:   "schedule PATTERN | append|merge FILE... | check FILE",
		Short: "Write a communication schedule as a GOAL file",
		Long: `schedule writes a schedule for 'loggp simulate' and for the simulators that read GOAL, LogGOPSim and
ATLAHS. A pattern is a collective operation (barrier, bcast, reduce and so on, with --algorithm), or
one of

` + help + `
'loggp schedule alltoallv' divides what a recorded program exchanges into phases; 'loggp schedule
trace' reads execution traces.`,
		Example: `  loggp schedule bcast --algorithm binomial -n 1024 --size 4KiB -o bcast.goal
  loggp schedule halo -n 16 --size 8KiB --rounds 10 --compute 50us -o halo.goal
  loggp schedule pipeline -n 8 --rounds 4 --size 64KiB --compute 100us -o stages.goal
  loggp schedule merge halo.goal stages.goal --placement interleaved -o both.goal
  loggp schedule check both.goal`,
		Args:              cli.RequireArgs("pattern: " + strings.Join(pattern.Names(), ", ")),
		RunE:              func(cmd *cobra.Command, args []string) error { return m.run(cmd, args) },
		ValidArgsFunction: cli.CompleteFirstArg(append(pattern.Names(), "append", "merge", "check"), cobra.ShellCompDirectiveNoFileComp),
	}
	f := cmd.Flags()
	f.IntVarP(&m.Ranks, "ranks", "n", 8, "number of ranks of a pattern")
	m.Size = 8
	cli.AddParsed(cmd, &m.Size, "size", "8", unit.ParseSize, "bytes of a message, or of a block or the whole data of a collective operation")
	f.StringVar(&m.Algorithm, "algorithm", "", "algorithm of a collective operation (default: its first)")
	f.IntVar(&m.Root, "root", 0, "root of the operation or pattern")
	f.IntVar(&m.Rounds, "rounds", 1, "repetitions of the pattern")
	cli.AddParsed(cmd, &m.Compute, "compute", "0s", cli.Duration, "computing time of each rank in a round, in whole nanoseconds")
	f.StringVar(&m.placement, "placement", pattern.Placements[0], "ranks of merged schedules: consecutive (one schedule after the other), interleaved (in turn), random, or the ranks of each, such as 0-3,8/4-7")
	f.Uint64Var(&m.placementSeed, "seed", 1, "seed of --placement random")
	cli.AddOutput(cmd, &m.outputPath, "output", "o", "file to write (default: standard output)", cli.WritableFile)
	cmd.AddCommand(alltoallvCommand(), scheduleTraceCommand(), removedTrainingCommand())
	return cmd
}

// removedTrainingCommand says what describes a training step, in place of a pattern that had one
// of its own.
func removedTrainingCommand() *cobra.Command {
	return &cobra.Command{
		Use: "training", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageOf(cmd.Parent(), errors.New("a training step is described by a file and not by flags: write STEP.yaml (docs/training.md), and its schedule by 'loggp schedule trace STEP.yaml -o STEP.goal'"))
		},
	}
}

func (m *makeScheduleFlags) run(cmd *cobra.Command, args []string) error {
	name, files := args[0], args[1:]
	isFileCommand := slices.ContainsFunc(scheduleFileCommands, func(c scheduleFileCommand) bool { return c.name == name })
	switch {
	case name == "check" && len(files) != 1:
		return cli.Usagef("check: name one file of a schedule")
	case isFileCommand && len(files) == 0:
		return cli.Usagef("%s: name at least one file of a schedule", name)
	case !isFileCommand && len(files) > 0:
		return cli.Usagef("unexpected argument %q: %s has no files", files[0], name)
	}
	if err := m.rejectUnusedFlags(cmd, name); err != nil {
		return err
	}
	var s *schedule.Schedule
	var err error
	if isFileCommand {
		s, err = m.combineFiles(cmd, name, files)
	} else if err = cli.CheckRange("--rounds", m.Rounds, 1, pattern.MaxRounds); err == nil {
		s, err = pattern.Make(name, m.Config)
		err = cli.Usage(err)
	}
	if err != nil {
		return err
	}
	if name == "check" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d operations in %s with %s and %s each: all of them end\n", s.CountOps(), format.Plural(s.CountRanks(), "rank"), format.Plural(s.CPUsPerRank(), "CPU"), format.Plural(s.NICsPerRank(), "interface"))
		return nil
	}
	return writeSchedule(cmd, m.outputPath, s)
}

// combineFiles reads files of schedules and does what a command of scheduleFileCommands says.
func (m *makeScheduleFlags) combineFiles(cmd *cobra.Command, name string, files []string) (s *schedule.Schedule, err error) {
	var all []*schedule.Schedule
	for _, file := range files {
		if s, err = readSchedule(cmd, file); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	switch name {
	case "append":
		s, err = pattern.Append(all...)
	case "merge":
		places, wrong := pattern.Place(m.placement, m.placementSeed, all...)
		if wrong != nil {
			return nil, cli.Usagef("--placement: %w", wrong)
		}
		s, err = pattern.Merge(places, all...)
	default:
		if err := s.CheckEnds(); err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	return s, nil
}

// rejectUnusedFlags refuses the flags that have no effect on a pattern, or on a command of
// scheduleFileCommands.
func (m *makeScheduleFlags) rejectUnusedFlags(cmd *cobra.Command, name string) error {
	unused := []string{"ranks", "size", "algorithm", "root", "rounds", "compute"}
	switch name {
	case "check":
		unused = append(unused, "placement", "seed", "output")
	case "append":
		unused = append(unused, "placement", "seed")
	case "merge":
		if m.placement != pattern.RandomPlacement {
			unused = append(unused, "seed")
		}
	default:
		if !slices.Contains(pattern.Names(), name) {
			return nil // which Make says
		}
		unused = append(pattern.UnusedSettings(name), "placement", "seed")
	}
	return cli.RejectFlags(cmd, "--%s has no effect on "+name, unused...)
}
