package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
)

// runFlags has the flags of run that are not parameters of programs.
type runFlags struct {
	targetFlags
	rankPlacements, collectiveAlgorithms, mcaSettings, genvSettings                        []string
	buffers, protocol, noiseText, pictureFile, recordFile, alltoallvPhasesFile, outputPath string
	printsProfile                                                                          bool
	mpiCheckLevel                                                                          *string
	programParameters                                                                      map[string]*programParameterFlag
	patterns                                                                               patternFlags
}

// programParameterFlag is the flag of a parameter of programs.
type programParameterFlag struct {
	program.Parameter
	valueText string
}

func (p *programParameterFlag) String() string { return p.valueText }
func (p *programParameterFlag) Type() string   { return p.Parameter.Type }

// Set implements pflag.Value. What is wrong with a text is found when the program is known.
func (p *programParameterFlag) Set(text string) (err error) {
	switch p.valueText = text; p.Parameter.Type {
	case "int":
		_, err = strconv.ParseInt(text, 0, 64)
	case "bool":
		_, err = strconv.ParseBool(text)
	}
	return err
}

func runCommand() *cobra.Command {
	var r runFlags
	names := append(program.Names(), patternsProgram)
	cmd := &cobra.Command{
		Use:   "run --platform NAME -n RANKS PROGRAM | FILE.goal | ./PROGRAM [ARGUMENTS]",
		Short: "Run a parallel program on an emulated machine, or on this one",
		Long: `run executes a program on an emulated machine, with real data unless --data is none, and prints
where the time of each rank went: computing, processor time for communication (overhead), and
waiting.

A path such as ./hello is a C or Fortran program that 'loggp cc' or 'loggp fc' has compiled:
docs/c.md. Its output goes to standard output, the times to standard error. Put flags before the
path and the program's arguments after it.

Programs that ship with loggp check their results. Computing is charged by the number of operations,
at the platform's time for one, or at --operation. Collective operations use the library's table of
algorithms, or those of --collective; docs/algorithms.md lists them.

shift, incast and permutation are traffic without computing: they print the throughput of each flow
and the busiest parts of the network.

A name that ends in .goal is a schedule ('loggp schedule' makes some), which the ranks execute
through MPI; 'loggp simulate' computes its time by LogGOPS. --record writes the schedule of any
program: docs/schedule.md.

On platforms shm and tcp, which are this machine, ranks are processes and times are real.

A flag that has no effect on a program, or on a machine, is an error.

The programs that ship with loggp, and kinds of files, are
` + strings.TrimSuffix(formatHelpList(12, program.Programs, func(p program.Program) (string, string) { return p.Name, p.Usage() }), "\n") + formatPatternHelp(),
		Example: `  loggp run --platform t3d -n 4 ./hello
  loggp run --platform t3d -n 8 -o stencil stencil
  loggp run --platform t3d -n 8 --profile matmul
  loggp run --platform convex -n 12 --collective allreduce=ring,alltoall=bruck cg
  loggp run --platform start-x --place 8,4+4,3+3+2 --size 64KiB broadcasts
  loggp run --platform t3d -n 8 --class W npb-is
  loggp run --platform t3d -n 8 --stride 2 -o shift.json shift
  loggp run --platform t3d -n 16 --library aclmpl --picture volume.png volume
  loggp run --platform t3d -n 2 --record cg.goal cg
  loggp run --platform shm cg.goal
  loggp run --platform t3d -n 8 --library aclmpl,shmem --patterns all-to-all --sizes 8,1KiB,64KiB patterns
  loggp run --platform t3d -n 2 --parameters -o parameters patterns`,
		Args: func(cmd *cobra.Command, args []string) error {
			if p, ok := program.ProgramNamed(append(args, "")[0]); ok && p.IsExecutable {
				return nil
			}
			if len(args) > 1 && strings.HasPrefix(args[1], "-") { // flags behind the name of a program that ships with loggp
				if err := cmd.Flags().Parse(args[1:]); err != nil {
					return err
				}
				args = append(args[:1:1], cmd.Flags().Args()...)
			}
			if _, known := program.ProgramNamed(append(args, "")[0]); len(args) > 1 && (known || args[0] == patternsProgram) {
				return fmt.Errorf("unexpected argument %q: %s takes no arguments; flags go before its name", args[1], args[0])
			}
			if len(args) == 0 {
				return errors.New("say which program: " + strings.Join(names, ", ") + hintOfProgramTakenAsValue(cmd, names))
			}
			return nil
		},
		ValidArgs: names,
		RunE:      func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	r.addFlags(cmd)
	addGoProfileFlags(cmd)
	return cmd
}

// hintOfProgramTakenAsValue says that a flag has the name of a program as its value, as --noise has
// in '--noise stencil'.
func hintOfProgramTakenAsValue(cmd *cobra.Command, programs []string) (hint string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(programs, f.Value.String()) {
			hint = fmt.Sprintf("; %[2]s was taken as the value of --%[1]s: write --%[1]s VALUE %[2]s", f.Name, f.Value)
		}
	})
	return hint
}

// addFlags declares the flags.
func (r *runFlags) addFlags(cmd *cobra.Command) {
	r.targetFlags.addFlags(cmd, helpTextByFlag{"platform": "machine: a name of 'loggp platforms', a file, loggp:PARAMETERS, or this machine: shm or tcp", "library": "", "ranks": "", "seed": ""}, emulatedPlatformNames)
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringSliceVar(&r.rankPlacements, "place", nil, "ranks of each node, such as 4+4, or 2x4 for two nodes with 4 each, on a platform of nodes; the placements of a list such as 8,4+4 are compared")
	f.StringVar(&r.buffers, "buffers", "", buffersHelp)
	f.StringVar(&r.protocol, "protocol", "", "force one protocol")
	f.StringArrayVar(&r.collectiveAlgorithms, "collective", nil, "force algorithms of collective operations: a list such as bcast=binomial,allreduce=ring; may be given more than once")
	f.StringArrayVar(&r.mcaSettings, "mca", nil, "force algorithms as Open MPI's mpirun does, on a platform whose library is an Open MPI: a variable and its value, such as coll_tuned_bcast_algorithm 6; may be given more than once")
	f.StringArrayVar(&r.genvSettings, "genv", nil, "force algorithms as MPICH's mpiexec does, on a platform whose library is an MPICH: a variable and its value, such as MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial")
	f.StringVar(&r.pictureFile, "picture", "", "file for the picture of volume or spheres, as PNG; for shift, incast and permutation for the load of each link of a network of kind fabric, as SVG")
	f.StringVar(&r.noiseText, "noise", "off", "timing noise: on (that of the platform), off, or a relative standard deviation such as 5%")
	f.StringVar(&r.recordFile, "record", "", "write what the program sends, receives and computes to this file, as a schedule for 'loggp simulate' and 'loggp run'")
	f.StringVar(&r.alltoallvPhasesFile, "phases", "", "with library cc-mpi: file of 'loggp schedule alltoallv' with the phases in which MPI_Alltoallv exchanges")
	f.StringVarP(&r.outputPath, "output", "o", "", "on an emulated machine: "+timelineOutputHelp)
	f.BoolVar(&r.printsProfile, "profile", false, "also print the number and the time of each kind of call")
	r.mpiCheckLevel = addChoiceFlag(cmd, "check", []string{"warn", "strict", "off"}, "warn", "what to do about errors that MPI forbids and other implementations accept, such as overlapping receive buffers: warn of the first, fail, or do not check")
	r.programParameters = map[string]*programParameterFlag{}
	for _, p := range program.Parameters {
		x := &programParameterFlag{Parameter: p, valueText: p.Default}
		r.programParameters[p.Name] = x
		f.Var(x, p.Name, p.Help)
		if p.Type == "bool" {
			f.Lookup(p.Name).NoOptDefVal = "true"
		}
	}
	r.patterns.addFlags(cmd)
	addOutputFlags(cmd)
	var rules []string
	for _, o := range collective.Operations() {
		for _, a := range slices.Concat(collective.AlgorithmsOf(o), collective.AdditionalAlgorithms(o)) {
			rules = append(rules, o.String()+"="+a.Name)
		}
	}
	addFlagCompletion(cmd, "collective", rules)
}

// run runs a program, prints what came of it and writes the files that were asked for.
func (r *runFlags) run(cmd *cobra.Command, args []string) error {
	isPatterns := args[0] == patternsProgram
	if err := checkPatternFlags(cmd, isPatterns, args[0]); err != nil {
		return newUsageError(cmd, err)
	}
	if isPatterns {
		return r.runPatternBenchmark(cmd)
	}
	o, p, err := r.parseOptions(cmd, args)
	if err != nil {
		return err
	}
	begin := time.Now()
	x, err := loggp.RunProgram(cmd.Context(), o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	printWarnings(cmd, x.Notes)
	printDisturbanceWarnings(cmd, x.Disturbances)
	if p.IsExecutable { // standard output is that of the program
		out := cmd.OutOrStdout()
		cmd.SetOut(cmd.ErrOrStderr())
		defer cmd.SetOut(out)
	}
	switch {
	case r.pictureFile == "":
	case p.HasFlows:
		err = writeNetworkPicture(cmd, r.pictureFile, x.Platform, x.LinkLoads)
	default:
		err = prefixFlagToError("--picture", r.pictureFile, sample.Save(r.pictureFile, x.Picture.Write))
	}
	if err != nil {
		return err
	}
	if err := printDocument(cmd, x.Document()); err != nil {
		return err
	}
	if s := x.Schedule; s != nil {
		if err := prefixFlagToError("--record", r.recordFile, writeFile(cmd, r.recordFile, s.Write, "schedule of %d operations in %d ranks", s.CountOps(), s.CountRanks())); err != nil {
			return err
		}
	}
	if x.Recording == nil {
		return x.Failure
	}
	if r.outputPath != "" {
		shown := x.Trace()
		shown.Command = recordedCommandLine(cmd, args...)
		if err := writeTimeline(cmd, r.outputPath, shown.Title, shown, shown.DocumentOfRun(x.Document())); err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return x.Failure
}

// parseOptions makes options of the flags.
func (r *runFlags) parseOptions(cmd *cobra.Command, args []string) (o loggp.ProgramOptions, p program.Program, err error) {
	p, _ = program.ProgramNamed(args[0]) // RunProgram complains if there is none
	o = loggp.ProgramOptions{
		RunOptions: loggp.RunOptions{Platform: r.platform, Library: r.library, Buffers: r.buffers, Ranks: r.ranks, Protocol: r.protocol, Seed: r.seed, MaxSpans: r.maxRecordedSpans()},
		Program:    args[0], Parameters: map[string]string{}, Arguments: args[1:],
		Place: r.rankPlacements, Record: r.recordFile != "", Profile: r.printsProfile,
		Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(), Args: processArgs(cmd),
		Open: func(file string) (io.ReadCloser, error) { return openInput(cmd, file) },
	}
	if cmd.Flags().Changed("check") {
		o.Check = *r.mpiCheckLevel
	}
	o.Warn = func(w mpi.Warning) {
		strict := ""
		if w.IsViolation() {
			strict = "--check=strict makes this an error, "
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "loggp: warning: %v; %s--check=off silences it\n", w, strict)
	}
	if !p.IsExecutable {
		o.Arguments = nil
	} else {
		o.RankOutput = os.Stdout
	}
	for name, x := range r.programParameters {
		if cmd.Flags().Changed(name) {
			o.Parameters[name] = x.valueText
		}
	}
	o.MCA, o.Genv = r.mcaSettings, r.genvSettings
	if r.collectiveAlgorithms != nil {
		o.Collective = splitList(strings.Join(r.collectiveAlgorithms, ","))
	}
	isHere := slices.Contains(job.LocalPlatforms, r.platform)
	if isHere && !p.UsesSeed && !cmd.Flags().Changed("seed") {
		o.Seed = 0
	}
	o.Noise, err = parseNoise(r.noiseText)
	if r.pictureFile != "" && p.HasFlows {
		wrong := checkNetworkPictureFile(r.pictureFile)
		if isHere {
			wrong = errors.Join(wrong, fmt.Errorf("%s is this machine, whose network is not known", r.platform))
		}
		err = errors.Join(err, prefixFlagToError("--picture", r.pictureFile, wrong))
	}
	if r.pictureFile != "" && !p.DrawsPicture && !p.HasFlows {
		err = errors.Join(err, fmt.Errorf("--picture: %s makes no picture", p.Name))
	}
	if r.pictureFile != "" && len(r.rankPlacements) > 1 {
		err = errors.Join(err, errors.New("--picture: it is for a single run: name one placement"))
	}
	err = errors.Join(err, checkWritableFileOfFlag("--record", r.recordFile))
	if p.DrawsPicture && r.pictureFile != "" {
		if fileExtension(r.pictureFile) != ".png" {
			err = errors.Join(err, fmt.Errorf("--picture %s: %s draws a PNG file: use a name that ends in .png", r.pictureFile, p.Name))
		}
		err = errors.Join(err, checkWritableFileOfFlag("--picture", r.pictureFile))
	}
	if err = newUsageError(cmd, errors.Join(err, r.checkOutputPath(isHere))); err != nil {
		return o, p, err
	}
	if r.alltoallvPhasesFile != "" {
		if o.Phases, err = phases.ReadSchedulesFile(r.alltoallvPhasesFile); err != nil {
			return o, p, fmt.Errorf("--phases: %w", err)
		}
	}
	if cmd.Flags().Changed("seed") {
		uses, err := o.UsesSeed()
		if err == nil && !uses {
			err = errors.New("--seed: this run draws no random numbers; --noise adds some")
			return o, p, newUsageError(cmd, err)
		}
		return o, p, usageErrorWithFlag(cmd, err)
	}
	return o, p, nil
}

// Spans, calls and messages of a run that are recorded: for a page as many as there may be that it
// can show, and for trace events as many as there may be, which takes some hundreds of megabytes.
const (
	maxHTMLSpans       = 1_500_000
	maxTraceEventSpans = 10_000_000
)

// maxRecordedSpans is how much of a run is recorded: nothing but totals, sums of calls, or more.
func (r *runFlags) maxRecordedSpans() int {
	switch {
	case strings.Contains(r.outputPath, ".json"):
		return maxTraceEventSpans
	case r.outputPath != "":
		return maxHTMLSpans
	case r.printsProfile:
		return 1
	}
	return job.TotalsOnly
}

// checkOutputPath checks whether the course of the run can be written.
func (r *runFlags) checkOutputPath(isHere bool) error {
	if r.outputPath == "" {
		return nil
	}
	err := checkTimelineOutput(r.outputPath)
	switch {
	case isHere:
		err = errors.Join(err, fmt.Errorf("-o: it is for emulated machines, and %s is this machine", r.platform))
	case len(r.rankPlacements) > 1:
		err = errors.Join(err, errors.New("-o: it is for a single run: name one placement"))
	}
	return err
}
