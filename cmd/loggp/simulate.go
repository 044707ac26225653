package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
)

// simulateFlags has the flags of the verb.
type simulateFlags struct {
	options                                                           loggp.SimulateOptions
	changes                                                           loggp.MachineChanges
	workload                                                          workloadFlags
	jobs                                                              []string
	paramsFile, noiseText, finishFile, outputPath, dialectText, level string
	noiseSeed                                                         uint64
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
			return cli.RequireArgs("file of a schedule, - for standard input, or the files of a trace or a training step")(cmd, args)
		},
		RunE: s.run,
	}
	s.addFlags(cmd)
	return cmd
}

// addFlags declares the flags.
func (s *simulateFlags) addFlags(cmd *cobra.Command) {
	f, o := cmd.Flags(), &s.options
	f.StringVar(&s.paramsFile, "params", "", paramsHelp)
	f.StringVar(&o.Platform, "platform", "", "take the parameters of this machine, fitted to small schedules that it runs: a name of 'loggp platforms', a file, shm or tcp")
	f.StringVar(&o.Library, "library", "", "library of the machine, or of the parameters if the file has several")
	f.StringVar(&o.Place, "place", "", "place of the parameters if the file has several")
	cli.AddParsed(cmd, &o.LogGOPS, "loggops", schedule.DefaultParams.String(), cli.Pointer(schedule.ParseParams), "LogGOPS parameters; those left out are 0, and without S no message waits for its receive")
	cli.AddChoice(cmd, &s.dialectText, "dialect", schedule.Dialects, schedule.LogGP.String(), "rules by which a schedule takes time", nil)
	cli.AddOutput(cmd, &s.finishFile, "finish", "", "file for the finishing time of each rank: rank,finish_ns", cli.WritableFile)
	f.BoolVar(&o.CriticalPath, "critical-path", false, "print the critical path, and how the finishing time changes with each parameter")
	f.StringVar(&o.Sweep, "sweep", "", "print finishing times for values of a parameter: L=FROM..TO/STEP, also of o, g, G, O or S; with flows also of a number of the platform or of a training step, such as taper=1,2,4, rails, nodes, links.bandwidth or data")
	cli.AddParsed(cmd, &o.Tolerances, "tolerance", "", s.parseTolerances, "print how far L, or with flows the latency of links between nodes, may grow until the finishing time grows by this part, such as 1% or 1%,2%,5%").TypeName = "strings"
	f.StringVar(&s.noiseText, "noise", "", "noise of the operating system: period=1ms,length=20us, or a file of detours (docs/schedule.md)")
	f.Uint64Var(&s.noiseSeed, "seed", 1, "seed of the noise")
	cli.AddOutput(cmd, &s.outputPath, "output", "o", cli.TimelineHelp+"; with --sweep: chart (.svg) or table (.csv)", func(name string) error {
		if s.outputHasSweep() || o.Sweep != "" && s.isFlowLevel(cmd) {
			return cli.WritableSweep(name)
		}
		return cli.WritableTimeline(name)
	})
	f.IntVar(&s.changes.Nodes, "nodes", 0, "nodes of the machine, whose network is enlarged if it is too small (default: as many as --platform has)")
	f.StringVar(&s.changes.Buffers, "buffers", "", buffersHelp)
	f.StringSliceVar(&s.changes.Fail, "fail", nil, "failed links and switches between the nodes, such as 'link:3', 'switch:2' or 'switch 0 to switch 32'")
	f.StringArrayVar(&s.jobs, "job", nil, "with --platform: simulate several jobs by flows, together and each alone: workload and ranks, as a.yaml@0-31; may be given more than once")
	cli.AddChoice(cmd, &s.level, "level", simulationLevels, simulationLevels[0], "model of messages: loggops, each by itself; flows, which share the links of --platform; all compares both with packets", nil)
	s.workload.addFlags(cmd)
	cli.AddPrintFlags(cmd)
	cli.AddGoProfileFlags(cmd)
}

func (s *simulateFlags) run(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("nodes") {
		if err := cli.CheckRange("--nodes", s.changes.Nodes, 1, 1<<16); err != nil {
			return err
		}
	}
	if len(s.jobs) > 0 {
		return s.runJobs(cmd)
	}
	name := args[0]
	if loggp.IsWorkloadFile(name) {
		w, err := s.workload.readWorkload(cmd, args)
		if err != nil {
			return err
		}
		if s.isFlowLevel(cmd) {
			return s.runFlows(cmd, name, w)
		}
		sched, err := w.Schedule()
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		return s.runSchedule(cmd, name, sched, w.CollectiveTable())
	}
	if len(args) > 1 {
		return cli.Usagef("unexpected argument %q: a schedule is one file; the files of a trace end with .et, .json or -RANK.txt", args[1])
	}
	if err := cli.RejectFlags(cmd, "--%s: it is for traces and training steps, whose files end with .et, .json, -RANK.txt or .yaml", workloadFlagNames...); err != nil {
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
	if err := cli.RejectFlags(cmd, "--%s: it does not go with --job", "params", "loggops", "place", "dialect", "critical-path", "tolerance", "noise", "seed", "output", "sweep", "finish", "level", "ranks"); err != nil {
		return err
	}
	var jobs []loggp.Job
	for _, text := range s.jobs {
		job, err := s.readJob(cmd, text)
		if err != nil {
			return err
		}
		jobs = append(jobs, job)
	}
	sim, err := loggp.SimulateJobs(cmd.Context(), jobs, s.flowOptions(""))
	if err != nil {
		return err
	}
	return cli.Print(cmd, sim.Document())
}

// readJob reads a workload or a schedule with its ranks, such as a.yaml@0-31.
func (s *simulateFlags) readJob(cmd *cobra.Command, text string) (job loggp.Job, err error) {
	file, ranks, err := loggp.SplitJob(text)
	if err != nil {
		return job, cli.Usagef("--job %s: %w", text, err)
	}
	job = loggp.Job{Name: filepath.Base(text), Ranks: ranks}
	if loggp.IsWorkloadFile(file) {
		job.Workload, err = s.workload.readWorkload(cmd, []string{file})
		return job, err
	}
	sched, err := readSchedule(cmd, file)
	if err != nil {
		return job, err
	}
	job.Workload, err = loggp.WorkloadOfSchedule(sched, file)
	return job, err
}

// flowOptions are the options of a simulation by flows.
func (s *simulateFlags) flowOptions(name string) loggp.FlowOptions {
	o := &s.options
	return loggp.FlowOptions{Name: name, Platform: o.Platform, Library: o.Library, LogGOPS: o.LogGOPS, Tolerances: o.Tolerances, MachineChanges: s.changes}
}

// flowFlagNames are the flags of which each asks for --level flows.
var flowFlagNames = []string{"nodes", "fail", "buffers"}

// isFlowLevel reports whether flows are simulated: if --level says so, or something that only they
// have is asked for.
func (s *simulateFlags) isFlowLevel(cmd *cobra.Command) bool {
	if cmd.Flags().Changed("level") {
		return s.level != simulationLevels[0]
	}
	sweep := s.options.Sweep
	return sweep != "" && !loggp.IsParameterSweep(sweep) && strings.Contains(sweep, "=") || slices.ContainsFunc(flowFlagNames, cmd.Flags().Changed)
}

// runFlows simulates a workload by flows.
func (s *simulateFlags) runFlows(cmd *cobra.Command, name string, w *loggp.Workload) error {
	refuse := func(why string, names ...string) error { return cli.RejectFlags(cmd, "--%s: "+why, names...) }
	if err := refuse("it needs --level loggops", "params", "place", "dialect", "critical-path", "noise", "seed"); err != nil {
		return err
	}
	sweeps, comparesLevels := s.options.Sweep != "", s.level == allLevels
	var err error
	switch {
	case !sweeps:
		err = refuse("flows have no time line; it needs --level loggops or --sweep", "output")
	case !comparesLevels:
		err = refuse("it does not go with --sweep", "finish", "tolerance")
	}
	if err == nil && comparesLevels {
		err = refuse("it does not go with --level all", "sweep", "finish", "tolerance")
	}
	if err = cmp.Or(err, cli.RejectPrintFlags(cmd)); err != nil {
		return err
	}
	o := s.flowOptions(filepath.Base(name))
	switch {
	case comparesLevels:
		c, err := loggp.CompareLevels(cmd.Context(), w, o)
		if err != nil {
			return err
		}
		return cli.Print(cmd, c.Document())
	case sweeps:
		sweep, err := cli.WithProgress(cmd, func(report func(done, total int)) (*loggp.FlowSweep, error) {
			o.Progress = report
			return loggp.SweepFlows(cmd.Context(), w, o, s.options.Sweep)
		})
		if err != nil {
			return err
		}
		return cli.WriteSweep(cmd, s.outputPath, sweep.Document(), sweep.Chart())
	}
	sim, err := cli.WithProgress(cmd, func(report func(done, total int)) (*loggp.FlowSimulation, error) {
		o.Progress = report
		return loggp.SimulateFlows(cmd.Context(), w, o)
	})
	if err != nil {
		return err
	}
	if err := cli.WriteFile(cmd, s.finishFile, sim.WriteFinish, "finishing times of %d ranks", len(sim.Result.RankFinish)); err != nil {
		return err
	}
	return cli.Print(cmd, sim.Document())
}

// runSchedule simulates a schedule. source says what it was made of, if it was not in a file.
func (s *simulateFlags) runSchedule(cmd *cobra.Command, name string, sched *schedule.Schedule, source *doc.Table) (err error) {
	if err := cli.RejectFlags(cmd, "--%s: it needs --level flows", flowFlagNames...); err != nil {
		return err
	}
	if s.noiseText == "" && cmd.Flags().Changed("seed") {
		return cli.Usagef("--seed: it has no effect without --noise")
	}
	if err := cli.RejectPrintFlags(cmd); err != nil {
		return err
	}
	o := s.options
	o.Name, o.Args, o.Source, o.Dialect = filepath.Base(name), processArgs(cmd), source, schedule.Dialect(slices.Index(schedule.Dialects, s.dialectText))
	if o.Params, err = readParameters(s.paramsFile); err != nil {
		return err
	}
	if o.Noise, err = s.readNoise(cmd); err != nil {
		return err
	}
	sim, err := loggp.Simulate(cmd.Context(), sched, o)
	if err != nil {
		return err
	}
	cli.PrintLines(cmd, warningPrefix, sim.WarningTexts())
	if err := cli.WriteFile(cmd, s.finishFile, sim.WriteFinish, "finishing times of %d ranks", len(sim.Result.FinishTimes)); err != nil {
		return err
	}
	return s.writeSimulation(cmd, sim)
}

// parseTolerances adds to the parts by which the finishing time may grow.
func (s *simulateFlags) parseTolerances(list string) (parts []float64, err error) {
	texts, _ := cli.List(list)
	for _, text := range texts {
		number, isPercent := strings.CutSuffix(text, "%")
		x, err := strconv.ParseFloat(number, 64)
		if err != nil || !isPercent || !(x >= 0 && x <= 1000) {
			return nil, cli.ValueError("it must be a percentage from 0% to 1000%, such as 1%")
		}
		parts = append(parts, x/100)
	}
	return append(s.options.Tolerances, parts...), nil
}

// readNoise returns the noise of a file, or that which the flag describes.
func (s *simulateFlags) readNoise(cmd *cobra.Command) (*schedule.Noise, error) {
	if s.noiseText == "" {
		return nil, nil
	}
	f, err := cli.OpenInput(cmd, s.noiseText)
	if err == nil {
		defer f.Close()
		return schedule.ReadNoise(f, s.noiseText, s.noiseSeed)
	}
	noise, err := schedule.ParseNoise(s.noiseText, s.noiseSeed)
	if err != nil {
		return nil, cli.Usagef("--noise: %w", err)
	}
	return noise, nil
}

// outputHasSweep reports whether -o has the sweep, and not a time line or a page with both.
func (s *simulateFlags) outputHasSweep() bool {
	extension := cli.FileExtension(s.outputPath)
	return s.options.Sweep != "" && extension != "" && extension != ".json"
}

// writeSimulation writes what was simulated, or prints it.
func (s *simulateFlags) writeSimulation(cmd *cobra.Command, sim *loggp.Simulation) error {
	if s.outputHasSweep() {
		return cli.WriteSweep(cmd, s.outputPath, sim.SweepDocument(), sim.SweepChart())
	}
	if s.outputPath == "" {
		return cli.Print(cmd, sim.Document())
	}
	ranks := maxTimelineRanks
	switch e := cli.FileExtension(s.outputPath); {
	case e == ".json":
		ranks = maxTraceEventRanks
	case e == "" && len(sim.Result.FinishTimes) <= maxPageRanks:
		ranks = maxPageRanks
	}
	t := sim.Trace(ranks)
	t.Command = cli.CommandLine(cmd)
	return cli.WriteTimeline(cmd, s.outputPath, "the simulation of "+strings.TrimPrefix(t.Title, "Simulation of "), t, sim.Page(t))
}
