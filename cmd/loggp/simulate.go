package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/reports/chart"
)

// simulateFlags has the flags of the verb.
type simulateFlags struct {
	paramsFile, parameterLibrary, parameterPlace, loggops, finishFile, parameterSweep, noise, outputPath, parameterPlatform string
	dialect                                                                                                                 *string
	printsCriticalPath                                                                                                      bool
	slowdownLimits                                                                                                          []string
	trace                                                                                                                   executionTraceFlags
	seed                                                                                                                    uint64
}

// Ranks of large schedules that are shown: in a time line, and in files for viewers of trace
// events.
const (
	maxTimelineRanks = chart.MaxTracks
	maxEventRanks    = 1024
)

func simulateCommand() *cobra.Command {
	var s simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate FILE.goal|- | TRACE.0.et TRACE.1.et ...",
		Short: "Compute when a communication schedule ends, by LogGOPS",
		Long: `simulate reads a schedule, in GOAL text or in the format of LogGOPSim's txt2bin, also compressed by gzip, and computes by LogGOPS when each
rank finishes. It prints the finishing time and where the time of the critical path went.

Chakra execution traces, one file a rank (.et or .json), are simulated as the schedule that 'loggp schedule trace' writes.

Dialect loggp follows the rules of this program; loggopsim and lgs reproduce the results of LogGOPSim and of the LogGOPSim of ATLAHS. See docs/schedule.md.`,
		Example: `  loggp schedule bcast --algorithm binomial -n 64 --size 4KiB -o bcast.goal
  loggp simulate bcast.goal --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns,S=65535
  loggp simulate bcast.goal --dialect loggopsim --finish finish.csv
  loggp simulate bcast.goal --platform t3d
  loggp simulate bcast.goal --critical-path --tolerance 1%,5%
  loggp simulate bcast.goal --sweep L=0..10us/0.5us --format csv
  loggp simulate bcast.goal --noise period=1ms,length=20us -o bcast.svg
  loggp simulate step.0.et.gz -n 8 --loggops L=1us,G=0.0025ns`,
		Args: requireArgs("file of a schedule, - for standard input, or the files of a trace"),
		RunE: s.run,
	}
	f := cmd.Flags()
	f.StringVar(&s.paramsFile, "params", "", "file of parameters, as 'loggp fit -o' keeps them")
	f.StringVar(&s.parameterPlatform, "platform", "", "take the parameters of this machine, fitted to small schedules that it runs: a name of 'loggp platforms', a file, shm or tcp")
	f.StringVar(&s.parameterLibrary, "library", "", "library of the machine, or of the parameters if the file has several")
	f.StringVar(&s.parameterPlace, "place", "", "place of the parameters if the file has several")
	f.StringVar(&s.loggops, "loggops", schedule.DefaultParams.String(), "parameters; omitted ones are 0, and without S no message waits for its receive")
	s.dialect = addChoiceFlag(cmd, "dialect", schedule.Dialects, schedule.LogGP.String(), "rules by which a schedule takes time")
	f.StringVar(&s.finishFile, "finish", "", "file for the finishing time of each rank: rank,finish_ns")
	f.BoolVar(&s.printsCriticalPath, "critical-path", false, "print the critical path, and how the finishing time changes with each parameter")
	f.StringVar(&s.parameterSweep, "sweep", "", "print finishing times for values of a parameter: L=FROM..TO/STEP, or the same of o, g, G, O or S")
	f.StringSliceVar(&s.slowdownLimits, "tolerance", nil, "print how far L may grow until the finishing time grows by 1%, or by each of 1%,2%,5%")
	f.StringVar(&s.noise, "noise", "", "time that an operating system takes from CPUs: period=1ms,length=20us, or a file of detours (docs/schedule.md)")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the noise")
	f.StringVarP(&s.outputPath, "output", "o", "", timelineOutputHelp)
	s.trace.addTo(cmd)
	addPrintFlags(cmd)
	return cmd
}

func (s *simulateFlags) run(cmd *cobra.Command, args []string) error {
	name, isTrace := args[0], traceFilePattern.MatchString(args[0])
	if !isTrace {
		if len(args) > 1 {
			return newUsageError(cmd, fmt.Errorf("unexpected argument %q: a schedule is one file; the files of a trace end with .et or .json", args[1]))
		}
		if err := rejectFlagsWithoutEffect(cmd, "--%s: it is for traces, whose files end with .et or .json", executionTraceFlagNames...); err != nil {
			return err
		}
	}
	o := loggp.SimulateOptions{
		Name: filepath.Base(name), Platform: s.parameterPlatform, Library: s.parameterLibrary, Place: s.parameterPlace, Args: commandLine(cmd),
		Dialect: schedule.Dialect(slices.Index(schedule.Dialects, *s.dialect)), CriticalPath: s.printsCriticalPath, Sweep: s.parameterSweep,
	}
	if err := errors.Join(s.parseOptions(cmd, &o), checkTimelineOutput(s.outputPath), checkWritableFile(s.finishFile)); err != nil {
		return newUsageError(cmd, err)
	}
	var err error
	if s.paramsFile != "" {
		if o.Params, err = loggp.ReadParameters(s.paramsFile); err != nil {
			return err
		}
	}
	if o.Noise, err = s.readNoise(cmd); err != nil {
		return err
	}
	var sched *schedule.Schedule
	if isTrace {
		traced, err := s.trace.readTrace(cmd, args)
		if err != nil {
			return err
		}
		sched, o.Source = traced.Schedule, traced.Table()
	} else if sched, err = readSchedule(cmd, name); err != nil {
		return err
	}
	sim, err := loggp.Simulate(cmd.Context(), sched, o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	printWithWarningPrefix(cmd, sim.WarningTexts())
	if err := writeFile(cmd, s.finishFile, sim.WriteFinish, "finishing times of %d ranks", len(sim.Result.FinishTimes)); err != nil {
		return err
	}
	return s.writeSimulation(cmd, sim)
}

// parseOptions makes options of the flags.
func (s *simulateFlags) parseOptions(cmd *cobra.Command, o *loggp.SimulateOptions) (wrong error) {
	if cmd.Flags().Changed("loggops") || s.paramsFile == "" && s.parameterPlatform == "" {
		p, err := schedule.ParseParams(s.loggops)
		if err != nil {
			wrong = fmt.Errorf("--loggops: %w", err)
		}
		o.LogGOPS = &p
	}
	for _, text := range s.slowdownLimits {
		x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
		if err != nil || !strings.HasSuffix(strings.TrimSpace(text), "%") || !(x >= 0 && x <= 1000) {
			wrong = errors.Join(wrong, fmt.Errorf("--tolerance %s: it is a percentage such as 1%%, up to 1000%%", text))
		}
		o.Tolerances = append(o.Tolerances, x/100)
	}
	return wrong
}

// readNoise returns the noise of a file, or that which the flag describes.
func (s *simulateFlags) readNoise(cmd *cobra.Command) (*schedule.Noise, error) {
	if s.noise == "" {
		return nil, nil
	}
	f, err := openInput(cmd, s.noise)
	if err == nil {
		defer f.Close()
		return schedule.ReadNoise(f, s.noise, s.seed)
	}
	noise, err := schedule.ParseNoise(s.noise, s.seed)
	if err != nil {
		return nil, newUsageError(cmd, fmt.Errorf("--noise: %w", err))
	}
	return noise, nil
}

// readSchedule reads a schedule from a file or standard input.
func readSchedule(cmd *cobra.Command, name string) (*schedule.Schedule, error) {
	f, err := openInput(cmd, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if name == standardStream {
		name = "standard input"
	}
	return loggp.ReadSchedule(f, name)
}

// writeSimulation writes what was simulated, or prints it.
func (s *simulateFlags) writeSimulation(cmd *cobra.Command, sim *loggp.Simulation) error {
	if s.outputPath == "" {
		return printDocument(cmd, sim.Document())
	}
	ranks := maxTimelineRanks
	if filepath.Ext(s.outputPath) == ".json" {
		ranks = maxEventRanks
	}
	t := sim.Trace(ranks)
	t.Command = recordedCommandLine(cmd)
	return writeTimeline(cmd, s.outputPath, "the simulation of "+strings.TrimPrefix(t.Title, "Simulation of "), t, sim.Page(t))
}
