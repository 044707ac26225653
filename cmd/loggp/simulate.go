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
	"github.com/loggp/loggp/reports/doc"
)

// simulateFlags has the flags of the verb.
type simulateFlags struct {
	paramsFile, parameterLibrary, parameterPlace, loggopsParametersText, finishTimesFile, parameterSweep, noiseText, outputPath, parameterPlatform string
	buffers                                                                                                                                        string
	timingDialect, level                                                                                                                           *string
	printsCriticalPath                                                                                                                             bool
	toleranceSlowdowns, failedLinksAndSwitches, jobs                                                                                               []string
	nodes                                                                                                                                          int
	workload                                                                                                                                       workloadFlags
	noiseSeed                                                                                                                                      uint64
}

// Ranks of large schedules that are shown: in a time line, in files for viewers of trace events,
// and in a page. The page of more ranks has a time line of some.
const (
	maxTimelineRanks   = chart.MaxTracks
	maxTraceEventRanks = 1024
	maxPageRanks       = 4096
)

// simulationLevels are the values of --level.
var simulationLevels = []string{"loggops", flowLevel, allLevels}

const (
	flowLevel = "flows"
	allLevels = "all"
)

func simulateCommand() *cobra.Command {
	var s simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate FILE.goal|- | TRACE.0.et TRACE.1.et ... | STEP.yaml",
		Short: "Compute when a communication schedule ends, by LogGOPS",
		Long: `simulate reads a schedule, in GOAL text or in the format of LogGOPSim's txt2bin, also compressed by
gzip, and computes by LogGOPS when each rank finishes. It prints the finishing time and where the
time of the critical path went.

Chakra execution traces (.et or .json) and records of MPI calls (-RANK.txt), one file a rank, and
descriptions of training steps (.yaml) are simulated as the schedule that 'loggp schedule trace'
writes, or with --level flows as messages and collective operations that share the links of a
machine.

Dialect loggp follows the rules of this program; loggopsim and lgs reproduce the results of
LogGOPSim and of the LogGOPSim of ATLAHS. See docs/dialects.md.`,
		Example: `  loggp schedule bcast --algorithm binomial -n 64 --size 4KiB -o bcast.goal
  loggp simulate bcast.goal --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns,S=65535
  loggp simulate bcast.goal --dialect loggopsim --finish finish.csv
  loggp simulate bcast.goal --platform t3d
  loggp simulate bcast.goal --critical-path --tolerance 1%,5%
  loggp simulate bcast.goal --sweep L=0..10us/0.5us --format csv
  loggp simulate bcast.goal --noise period=1ms,length=20us -o bcast.svg
  loggp simulate step.0.et.gz -n 8 --loggops L=1us,G=0.0025ns
  loggp simulate gpt.yaml --level flows --platform dgx-h100
  loggp simulate gpt.yaml --platform dgx-h100 --sweep taper=1,4 -o sweep.svg
  loggp simulate bcast.goal --platform hdr-fattree --level all`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(s.jobs) > 0 && len(args) > 0 {
				return fmt.Errorf("unexpected argument %q: with --job each workload has its ranks, as --job %[1]s@0-31", args[0])
			}
			if len(s.jobs) > 0 {
				return nil
			}
			return requireArgs("file of a schedule, - for standard input, or the files of a trace or a training step")(cmd, args)
		},
		RunE: s.run,
	}
	f := cmd.Flags()
	f.StringVar(&s.paramsFile, "params", "", "file of parameters, as 'loggp fit -o' writes them")
	f.StringVar(&s.parameterPlatform, "platform", "", "take the parameters of this machine, fitted to small schedules that it runs: a name of 'loggp platforms', a file, shm or tcp")
	f.StringVar(&s.parameterLibrary, "library", "", "library of the machine, or of the parameters if the file has several")
	f.StringVar(&s.parameterPlace, "place", "", "place of the parameters if the file has several")
	f.StringVar(&s.loggopsParametersText, "loggops", schedule.DefaultParams.String(), "LogGOPS parameters; those left out are 0, and without S no message waits for its receive")
	s.timingDialect = addChoiceFlag(cmd, "dialect", schedule.Dialects, schedule.LogGP.String(), "rules by which a schedule takes time")
	f.StringVar(&s.finishTimesFile, "finish", "", "file for the finishing time of each rank: rank,finish_ns")
	f.BoolVar(&s.printsCriticalPath, "critical-path", false, "print the critical path, and how the finishing time changes with each parameter")
	f.StringVar(&s.parameterSweep, "sweep", "", "print finishing times for values of a parameter: L=FROM..TO/STEP, also of o, g, G, O or S; with flows also of a number of the platform or of a training step, such as taper=1,2,4, rails, nodes, links.bandwidth or data")
	f.StringSliceVar(&s.toleranceSlowdowns, "tolerance", nil, "print how far L, or with flows the latency of links between nodes, may grow until the finishing time grows by this part, such as 1% or 1%,2%,5%")
	f.StringVar(&s.noiseText, "noise", "", "noise of the operating system: period=1ms,length=20us, or a file of detours (docs/schedule.md)")
	f.Uint64Var(&s.noiseSeed, "seed", 1, "seed of the noise")
	f.StringVarP(&s.outputPath, "output", "o", "", timelineOutputHelp+"; with --sweep: chart (.svg) or table (.csv)")
	f.IntVar(&s.nodes, "nodes", 0, "nodes of the machine, whose network is enlarged if it is too small (default: as many as --platform has)")
	f.StringVar(&s.buffers, "buffers", "", buffersHelp)
	f.StringSliceVar(&s.failedLinksAndSwitches, "fail", nil, "failed links and switches between the nodes, such as 'link:3', 'switch:2' or 'switch 0 to switch 32'")
	f.StringArrayVar(&s.jobs, "job", nil, "with --platform: simulate several jobs by flows, together and each alone: workload and ranks, as a.yaml@0-31; may be given more than once")
	s.level = addChoiceFlag(cmd, "level", simulationLevels, simulationLevels[0], "model of messages: loggops, each by itself; flows, which share the links of --platform; all compares both with packets")
	s.workload.addFlags(cmd)
	addOutputFlags(cmd)
	addGoProfileFlags(cmd)
	return cmd
}

func (s *simulateFlags) run(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("nodes") {
		if err := checkFlagRange("--nodes", s.nodes, 1, 1<<16); err != nil {
			return newUsageError(cmd, err)
		}
	}
	if len(s.jobs) > 0 {
		return s.runJobs(cmd)
	}
	name := args[0]
	if workloadFilePattern.MatchString(name) {
		return s.runWorkload(cmd, args)
	}
	if len(args) > 1 {
		return newUsageError(cmd, fmt.Errorf("unexpected argument %q: a schedule is one file; the files of a trace end with .et, .json or -RANK.txt", args[1]))
	}
	if err := rejectFlagsWithoutEffect(cmd, "--%s: it is for traces and training steps, whose files end with .et, .json, -RANK.txt or .yaml", workloadFlagNames...); err != nil {
		return err
	}
	sched, err := readSchedule(cmd, name)
	if err != nil {
		return err
	}
	if !s.isFlowLevel(cmd) {
		return s.runSchedule(cmd, name, sched, nil)
	}
	w, err := loggp.WorkloadOfSchedule(sched, name)
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	return s.runFlows(cmd, name, w)
}

// runJobs simulates several workloads on one machine.
func (s *simulateFlags) runJobs(cmd *cobra.Command) error {
	if err := rejectFlagsWithoutEffect(cmd, "--%s: it does not go with --job", "params", "loggops", "place", "dialect", "critical-path", "tolerance", "noise", "seed", "output", "sweep", "finish", "level", "ranks"); err != nil {
		return err
	}
	var jobs []loggp.Job
	for _, text := range s.jobs {
		file, ranks, err := loggp.SplitJob(text)
		if err != nil {
			return newUsageError(cmd, fmt.Errorf("--job %s: %w", text, err))
		}
		var w *loggp.Workload
		if workloadFilePattern.MatchString(file) {
			w, err = s.workload.readWorkload(cmd, []string{file})
		} else if sched, e := readSchedule(cmd, file); e != nil {
			err = e
		} else {
			w, err = loggp.WorkloadOfSchedule(sched, file)
		}
		if err != nil {
			return err
		}
		jobs = append(jobs, loggp.Job{Workload: w, Name: filepath.Base(text), Ranks: ranks})
	}
	sim, err := loggp.SimulateJobs(cmd.Context(), jobs, s.flowOptions(""))
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	return printDocument(cmd, sim.Document())
}

// flowOptions are the options of a simulation by flows.
func (s *simulateFlags) flowOptions(name string) loggp.FlowOptions {
	return loggp.FlowOptions{Name: name, Platform: s.parameterPlatform, Library: s.parameterLibrary, MachineChanges: loggp.MachineChanges{Nodes: s.nodes, Buffers: s.buffers, Fail: s.failedLinksAndSwitches}}
}

// runWorkload simulates a trace or a training step, as a schedule or by flows.
func (s *simulateFlags) runWorkload(cmd *cobra.Command, args []string) error {
	w, err := s.workload.readWorkload(cmd, args)
	if err != nil {
		return err
	}
	if !s.isFlowLevel(cmd) {
		sched, err := w.Schedule()
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		return s.runSchedule(cmd, args[0], sched, w.CollectiveTable())
	}
	return s.runFlows(cmd, args[0], w)
}

// flowFlagNames are the flags of which each asks for --level flows.
var flowFlagNames = []string{"nodes", "fail", "buffers"}

// isFlowLevel reports whether flows are simulated: if --level says so, or something that only they
// have is asked for.
func (s *simulateFlags) isFlowLevel(cmd *cobra.Command) bool {
	if cmd.Flags().Changed("level") {
		return *s.level != simulationLevels[0]
	}
	return s.parameterSweep != "" && !loggp.IsParameterSweep(s.parameterSweep) && strings.Contains(s.parameterSweep, "=") || slices.ContainsFunc(flowFlagNames, cmd.Flags().Changed)
}

// runFlows simulates a workload by flows.
func (s *simulateFlags) runFlows(cmd *cobra.Command, name string, w *loggp.Workload) error {
	if err := rejectFlagsWithoutEffect(cmd, "--%s: it needs --level loggops", "params", "place", "dialect", "critical-path", "noise", "seed"); err != nil {
		return err
	}
	if s.parameterSweep == "" {
		if err := rejectFlagsWithoutEffect(cmd, "--%s: flows have no time line; it needs --level loggops or --sweep", "output"); err != nil {
			return err
		}
	} else if err := errors.Join(rejectFlagsWithoutEffect(cmd, "--%s: it does not go with --sweep", "finish", "tolerance"), checkSweepOutput(s.outputPath)); err != nil {
		return newUsageError(cmd, err)
	}
	if err := rejectPrintFlags(cmd); err != nil {
		return err
	}
	if err := checkWritableFileOfFlag("--finish", s.finishTimesFile); err != nil {
		return newUsageError(cmd, err)
	}
	o := s.flowOptions(filepath.Base(name))
	var err error
	if o.Tolerances, err = s.parseTolerances(); err != nil {
		return newUsageError(cmd, err)
	}
	if cmd.Flags().Changed("loggops") {
		p, err := schedule.ParseParams(s.loggopsParametersText)
		if err != nil {
			return newUsageError(cmd, fmt.Errorf("--loggops: %w", err))
		}
		o.LogGOPS = &p
	}
	if *s.level == allLevels {
		if err := rejectFlagsWithoutEffect(cmd, "--%s: it does not go with --level all", "sweep", "finish", "tolerance"); err != nil {
			return err
		}
		c, err := loggp.CompareLevels(cmd.Context(), w, o)
		if err != nil {
			return usageErrorWithFlag(cmd, err)
		}
		return printDocument(cmd, c.Document())
	}
	if s.parameterSweep != "" {
		sweep, err := loggp.SweepFlows(cmd.Context(), w, o, s.parameterSweep)
		if err != nil {
			return usageErrorWithFlag(cmd, err)
		}
		return writeSweep(cmd, s.outputPath, sweep.Document(), sweep.Chart())
	}
	sim, err := loggp.SimulateFlows(cmd.Context(), w, o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	if err := writeFile(cmd, s.finishTimesFile, sim.WriteFinish, "finishing times of %d ranks", len(sim.Result.RankFinish)); err != nil {
		return err
	}
	return printDocument(cmd, sim.Document())
}

// runSchedule simulates a schedule. source says what it was made of, if it was not in a file.
func (s *simulateFlags) runSchedule(cmd *cobra.Command, name string, sched *schedule.Schedule, source *doc.Table) error {
	if err := rejectFlagsWithoutEffect(cmd, "--%s: it needs --level flows", flowFlagNames...); err != nil {
		return err
	}
	o := loggp.SimulateOptions{
		Name: filepath.Base(name), Platform: s.parameterPlatform, Library: s.parameterLibrary, Place: s.parameterPlace, Args: processArgs(cmd),
		Source: source, Dialect: schedule.Dialect(slices.Index(schedule.Dialects, *s.timingDialect)), CriticalPath: s.printsCriticalPath, Sweep: s.parameterSweep,
	}
	if s.noiseText == "" && cmd.Flags().Changed("seed") {
		return newUsageError(cmd, errors.New("--seed: it has no effect without --noise"))
	}
	if err := rejectPrintFlags(cmd); err != nil {
		return err
	}
	if err := errors.Join(s.parseOptions(cmd, &o), s.checkOutput(), checkWritableFileOfFlag("--finish", s.finishTimesFile)); err != nil {
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
	sim, err := loggp.Simulate(cmd.Context(), sched, o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	printWithWarningPrefix(cmd, sim.WarningTexts())
	if err := writeFile(cmd, s.finishTimesFile, sim.WriteFinish, "finishing times of %d ranks", len(sim.Result.FinishTimes)); err != nil {
		return err
	}
	return s.writeSimulation(cmd, sim)
}

// parseOptions makes options of the flags.
func (s *simulateFlags) parseOptions(cmd *cobra.Command, o *loggp.SimulateOptions) (wrong error) {
	if cmd.Flags().Changed("loggops") || s.paramsFile == "" && s.parameterPlatform == "" {
		p, err := schedule.ParseParams(s.loggopsParametersText)
		if err != nil {
			wrong = fmt.Errorf("--loggops: %w", err)
		}
		o.LogGOPS = &p
	}
	tolerances, err := s.parseTolerances()
	o.Tolerances = tolerances
	return errors.Join(wrong, err)
}

// parseTolerances returns the parts by which the finishing time may grow.
func (s *simulateFlags) parseTolerances() (parts []float64, wrong error) {
	for _, text := range s.toleranceSlowdowns {
		x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
		if err != nil || !strings.HasSuffix(strings.TrimSpace(text), "%") || !(x >= 0 && x <= 1000) {
			wrong = errors.Join(wrong, fmt.Errorf("--tolerance %s: it must be a percentage from 0%% to 1000%%, such as 1%%", text))
		}
		parts = append(parts, x/100)
	}
	return parts, wrong
}

// readNoise returns the noise of a file, or that which the flag describes.
func (s *simulateFlags) readNoise(cmd *cobra.Command) (*schedule.Noise, error) {
	if s.noiseText == "" {
		return nil, nil
	}
	f, err := openInput(cmd, s.noiseText)
	if err == nil {
		defer f.Close()
		return schedule.ReadNoise(f, s.noiseText, s.noiseSeed)
	}
	noise, err := schedule.ParseNoise(s.noiseText, s.noiseSeed)
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

// checkOutput checks that -o can be written: a sweep as a chart or a table, all else as a time
// line.
func (s *simulateFlags) checkOutput() error {
	if s.outputHasSweep() {
		return checkSweepOutput(s.outputPath)
	}
	return checkTimelineOutput(s.outputPath)
}

// outputHasSweep reports whether -o has the sweep, and not a time line or a page with both.
func (s *simulateFlags) outputHasSweep() bool {
	return s.parameterSweep != "" && s.outputPath != "" && fileExtension(s.outputPath) != "" && fileExtension(s.outputPath) != ".json"
}

// writeSimulation writes what was simulated, or prints it.
func (s *simulateFlags) writeSimulation(cmd *cobra.Command, sim *loggp.Simulation) error {
	if s.outputHasSweep() {
		return writeSweep(cmd, s.outputPath, sim.SweepDocument(), sim.SweepChart())
	}
	if s.outputPath == "" {
		return printDocument(cmd, sim.Document())
	}
	ranks := maxTimelineRanks
	switch e := fileExtension(s.outputPath); {
	case e == ".json":
		ranks = maxTraceEventRanks
	case e == "" && len(sim.Result.FinishTimes) <= maxPageRanks:
		ranks = maxPageRanks
	}
	t := sim.Trace(ranks)
	t.Command = recordedCommandLine(cmd)
	return writeTimeline(cmd, s.outputPath, "the simulation of "+strings.TrimPrefix(t.Title, "Simulation of "), t, sim.Page(t))
}
