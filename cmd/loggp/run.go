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

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
)

// runFlags has the flags of run.
type runFlags struct {
	options                             loggp.ProgramOptions
	checkLevel, noiseText, phasesFile   string
	pictureFile, recordFile, outputPath string
	patterns                            patternFlags
}

// programParameterFlag is the flag of a parameter of programs.
type programParameterFlag struct {
	program.Parameter
	valueText string
	given     map[string]string // the parameters of the program, by name
}

func (p *programParameterFlag) String() string { return p.valueText }
func (p *programParameterFlag) Type() string   { return p.Parameter.Type }

// Set implements pflag.Value. What is wrong with a text is found when the program is known.
func (p *programParameterFlag) Set(text string) (err error) {
	p.valueText, p.given[p.Name] = text, text
	switch p.Parameter.Type {
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
` + strings.TrimSuffix(cli.HelpList(12, program.Programs, func(p program.Program) (string, string) { return p.Name, p.Usage() }), "\n") + formatPatternHelp(),
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
			r.options.Program = append(args, "")[0]
			p, known := program.ProgramNamed(r.options.Program)
			if known && p.IsExecutable {
				return nil
			}
			if len(args) > 1 && strings.HasPrefix(args[1], "-") { // flags behind the name of a program that ships with loggp
				if err := cmd.Flags().Parse(args[1:]); err != nil {
					return cli.ExplainFlagError(cmd, err)
				}
				args = append(args[:1:1], cmd.Flags().Args()...)
			}
			if len(args) > 1 && (known || args[0] == patternsProgram) {
				return fmt.Errorf("unexpected argument %q: %s takes no arguments; flags go before its name", args[1], args[0])
			}
			if len(args) == 0 {
				return errors.New("say which program: " + strings.Join(names, ", ") + cli.HintOfArgTakenAsValue(cmd, names))
			}
			return nil
		},
		ValidArgs: names,
		RunE:      func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	r.addFlags(cmd)
	cli.AddGoProfileFlags(cmd)
	return cmd
}

// addFlags declares the flags.
func (r *runFlags) addFlags(cmd *cobra.Command) {
	f, o := cmd.Flags(), &r.options
	targetFlags{
		platform: &o.Platform, library: &o.Library, ranks: &o.Ranks, seed: &o.Seed, platforms: emulatedPlatformNames,
		platformHelp: "machine: a name of 'loggp platforms', a file, loggp:PARAMETERS, or this machine: shm or tcp",
	}.addFlags(cmd)
	f.SetInterspersed(false)
	f.StringSliceVar(&o.Place, "place", nil, "ranks of each node, such as 4+4, or 2x4 for two nodes with 4 each, on a platform of nodes; the placements of a list such as 8,4+4 are compared")
	f.StringVar(&o.Buffers, "buffers", "", buffersHelp)
	f.StringVar(&o.Protocol, "protocol", "", "force one protocol")
	f.StringArrayVar(&o.Collective, "collective", nil, "force algorithms of collective operations: a list such as bcast=binomial,allreduce=ring; may be given more than once")
	f.StringArrayVar(&o.MCA, "mca", nil, "force algorithms as Open MPI's mpirun does, on a platform whose library is an Open MPI: a variable and its value, such as coll_tuned_bcast_algorithm 6; may be given more than once")
	f.StringArrayVar(&o.Genv, "genv", nil, "force algorithms as MPICH's mpiexec does, on a platform whose library is an MPICH: a variable and its value, such as MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial")
	cli.AddOutput(cmd, &r.pictureFile, "picture", "", "file for the picture of volume or spheres, as PNG; for shift, incast and permutation for the load of each link of a network of kind fabric, as SVG", r.checkPicture)
	f.StringVar(&r.noiseText, "noise", "off", noiseHelp) // parsed when it is known to be no program
	cli.AddOutput(cmd, &r.recordFile, "record", "", "write what the program sends, receives and computes to this file, as a schedule for 'loggp simulate' and 'loggp run'", cli.WritableFile)
	f.StringVar(&r.phasesFile, "phases", "", "with library cc-mpi: file of 'loggp schedule alltoallv' with the phases in which MPI_Alltoallv exchanges")
	cli.AddOutput(cmd, &r.outputPath, "output", "o", "on an emulated machine: "+cli.TimelineHelp, func(name string) error {
		switch {
		case o.Program == patternsProgram:
			return cli.WritableDirectory(name)
		case r.isHere():
			return fmt.Errorf("it is for emulated machines, and %s is this machine", o.Platform)
		case len(o.Place) > 1:
			return errors.New("it is for a single run: name one placement")
		}
		return cli.WritableTimeline(name)
	})
	f.BoolVar(&o.Profile, "profile", false, "also print the number and the time of each kind of call")
	cli.AddChoice(cmd, &r.checkLevel, "check", []string{"warn", "strict", "off"}, "warn", "what to do about errors that MPI forbids and other implementations accept, such as overlapping receive buffers: warn of the first, fail, or do not check", nil)
	o.Parameters = map[string]string{}
	for _, p := range program.Parameters {
		f.Var(&programParameterFlag{p, p.Default, o.Parameters}, p.Name, p.Help)
		if p.Type == "bool" {
			f.Lookup(p.Name).NoOptDefVal = "true"
		}
	}
	r.patterns.addFlags(cmd)
	cli.AddPrintFlags(cmd)
	var rules []string
	for _, o := range collective.Operations() {
		for _, a := range slices.Concat(collective.AlgorithmsOf(o), collective.AdditionalAlgorithms(o)) {
			rules = append(rules, o.String()+"="+a.Name)
		}
	}
	cli.AddCompletion(cmd, "collective", rules)
}

// isHere reports whether the program runs on this machine.
func (r *runFlags) isHere() bool { return slices.Contains(job.LocalPlatforms, r.options.Platform) }

// checkPicture says why a program makes no picture, or why its file cannot be written.
func (r *runFlags) checkPicture(file string) error {
	p, _ := program.ProgramNamed(r.options.Program) // RunProgram complains if there is none
	switch {
	case !p.DrawsPicture && !p.HasFlows:
		return fmt.Errorf("%s makes no picture", r.options.Program)
	case len(r.options.Place) > 1:
		return errors.New("it is for a single run: name one placement")
	case p.HasFlows && r.isHere():
		return fmt.Errorf("%s is this machine, whose network is not known", r.options.Platform)
	case p.HasFlows:
		return writableNetworkPicture(file)
	}
	return cli.WritableWithExtension(".png", p.Name+" draws a PNG file")(file)
}

// run runs a program, prints what came of it and writes the files that were asked for.
func (r *runFlags) run(cmd *cobra.Command, args []string) error {
	if err := checkPatternFlags(cmd, args[0]); err != nil {
		return err
	}
	if args[0] == patternsProgram {
		return r.runPatternBenchmark(cmd)
	}
	p, _ := program.ProgramNamed(args[0]) // RunProgram complains if there is none
	if err := r.completeOptions(cmd, p, args); err != nil {
		return err
	}
	begin := time.Now()
	x, err := loggp.RunProgram(cmd.Context(), r.options)
	if err != nil {
		return err
	}
	cli.PrintLines(cmd, "", x.Notes)
	printDisturbanceWarnings(cmd, x.Disturbances)
	if p.IsExecutable { // standard output is that of the program
		out := cmd.OutOrStdout()
		cmd.SetOut(cmd.ErrOrStderr())
		defer cmd.SetOut(out)
	}
	if err := r.writePicture(cmd, x); err != nil {
		return err
	}
	if err := cli.Print(cmd, x.Document()); err != nil {
		return err
	}
	if x.Schedule != nil {
		if err := writeSchedule(cmd, r.recordFile, x.Schedule); err != nil {
			return err
		}
	}
	if x.Recording == nil {
		return x.Failure
	}
	if r.outputPath != "" {
		shown := x.Trace()
		shown.Command = cli.CommandLine(cmd, args...)
		if err := cli.WriteTimeline(cmd, r.outputPath, shown.Title, shown, shown.DocumentOfRun(x.Document())); err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return x.Failure
}

// writePicture writes the picture of a run.
func (r *runFlags) writePicture(cmd *cobra.Command, x *loggp.Execution) error {
	switch {
	case r.pictureFile == "":
		return nil
	case x.Picture == nil:
		return writeNetworkPicture(cmd, r.pictureFile, x.Platform, x.LinkLoads)
	}
	return sample.Save(r.pictureFile, x.Picture.Write)
}

// completeOptions sets the options that are not set by their flags.
func (r *runFlags) completeOptions(cmd *cobra.Command, p program.Program, args []string) (err error) {
	o, given := &r.options, cmd.Flags().Changed
	o.Args, o.Record, o.MaxSpans = processArgs(cmd), r.recordFile != "", r.maxRecordedSpans()
	o.Stdout, o.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.Open = func(file string) (io.ReadCloser, error) { return cli.OpenInput(cmd, file) }
	if p.IsExecutable {
		o.Arguments, o.RankOutput = args[1:], os.Stdout
		if o.Platform == "" && slices.ContainsFunc(args[1:], func(a string) bool { return strings.HasPrefix(a, "--platform") }) {
			return cli.Usagef("--platform: behind %s it is an argument of the program: write it before the program, with the other flags of run", args[0])
		}
	}
	if given("check") {
		o.Check = r.checkLevel
	}
	o.Warn = func(w mpi.Warning) {
		strict := ""
		if w.IsViolation() {
			strict = "--check=strict makes this an error, "
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s%v; %s--check=off silences it\n", warningPrefix, w, strict)
	}
	if o.Collective != nil {
		o.Collective, _ = cli.List(strings.Join(o.Collective, ","))
	}
	if r.isHere() && !p.UsesSeed && !given("seed") {
		o.Seed = 0
	}
	if o.Noise, err = parseNoise(r.noiseText); err != nil {
		return cli.Usagef("--noise: %w", err)
	}
	if r.phasesFile != "" {
		if o.Phases, err = phases.ReadSchedulesFile(r.phasesFile); err != nil {
			return fmt.Errorf("--phases: %w", err)
		}
	}
	if given("seed") {
		if uses, err := o.UsesSeed(); err != nil {
			return err
		} else if !uses {
			return cli.Usagef("--seed: this run draws no random numbers; --noise adds some")
		}
	}
	return nil
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
	case r.options.Profile:
		return 1
	}
	return job.TotalsOnly
}
