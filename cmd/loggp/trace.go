package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/mpitracer"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// traceFlags has the flags of the verb.
type traceFlags struct {
	options          loggp.TraceOptions
	mode, outputPath string

	buildsTracer bool   // instead of all that: the library that records MPI programs
	mpicc        string // its compiler
}

func traceCommand() *cobra.Command {
	var t traceFlags
	cmd := &cobra.Command{
		Use:   "trace --platform NAME [--mode CALL | --program NAME] | trace --mpi -o FILE",
		Short: "Show one message, or a small program, step by step",
		Long: `trace runs one message between the first and the last rank of a platform, or a small program, and
shows each step: what the processors do, the messages of the protocol, which parts of the network
are busy, and the calls of the library. Time begins with the sender's call; the receive has been
posted before, unless --late delays it.

Without -o it prints a table. -o writes
  NAME.json  for https://ui.perfetto.dev or chrome://tracing
  NAME.svg   a picture
  DIRECTORY  a page with the picture and where the time went, and the files above

With --mpi it builds a library instead that records programs of any MPI: load it before the program
(LD_PRELOAD), and give the files that it writes, mpi-trace-RANK.txt in $LOGGP_TRACE_DIR or the
working directory, to 'loggp simulate' or 'loggp schedule trace'.

The programs are
` + strings.TrimSuffix(cli.HelpList(10, program.SmallPrograms, func(p program.SmallProgram) (string, string) { return p.Name, p.Help }), "\n"),
		Example: `  loggp trace --platform t3d --mode ssend --size 2KB
  loggp trace --platform t3d --mode send --size 100 --late 50us
  loggp trace --platform t3d --mode ssend --size 10KB --protocol RAT -o rat.svg
  loggp trace --platform t3d --program exchange --size 4KB -o exchange.json
  loggp trace --platform t3d --program overlap --size 20KB --compute 500us -o overlap
  loggp trace --mpi --mpicc mpicc -o tracer.so`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd) },
	}
	f, o := cmd.Flags(), &t.options
	targetFlags{
		platform: &o.Platform, library: &o.Library, ranks: &o.Ranks, place: &o.Place, seed: &o.Seed, platforms: emulatedPlatformNames,
		rankHelp: fmt.Sprintf("number of ranks (default: the platform's; of programs among all ranks %d)", loggp.DefaultTraceRanks),
	}.addFlags(cmd)
	addModeFlag(cmd, &t.mode, microbench.SendModeNames(), "call that sends the message: "+strings.Join(microbench.SendModeNames(), ", "))
	f.StringVar(&o.Protocol, "protocol", "", "force one protocol: "+strings.Join(model.ProtocolNames(), ", "))
	cli.AddParsed(cmd, &o.Size, "size", "", parseMessageSize, fmt.Sprintf("length of a message (default %d bytes)", loggp.DefaultTraceBytes))
	cli.AddParsed(cmd, &o.Late, "late", "", cli.Pointer(cli.Duration), "time from the sender's call until the receive is posted (default: it is posted before)")
	f.StringVar(&o.Program, "program", "", "a program instead of one message: "+strings.Join(program.SmallProgramNames(), ", "))
	cli.AddParsed(cmd, &o.Rounds, "rounds", "1", cli.PositiveInt, "repetitions of the program").TypeName = "int"
	cli.AddParsed(cmd, &o.Compute, "compute", "", cli.Pointer(cli.Duration), fmt.Sprintf("with --program overlap: computing time (default %v)", loggp.DefaultTraceCompute))
	cli.AddParsed(cmd, &o.Noise, "noise", "off", parseNoise, noiseHelp)
	f.StringVar(&o.Window, "window", "", "part of the time to show, such as 10us..50us (default: all)")
	cli.AddOutput(cmd, &t.outputPath, "output", "o", cli.TimelineHelp, func(name string) error {
		if t.buildsTracer {
			return cli.WritableFile(name)
		}
		return cli.WritableTimeline(name)
	})
	f.BoolVar(&t.buildsTracer, "mpi", false, "build the library that records MPI programs; -o names it")
	f.StringVar(&t.mpicc, "mpicc", "", "with --mpi: the compiler of the programs' MPI (default: $MPICC, or mpicc)")
	cli.AddPrintFlags(cmd)
	cli.AddCompletion(cmd, "protocol", model.ProtocolNames())
	cli.AddCompletion(cmd, "program", program.SmallProgramNames())
	return cmd
}

func (t *traceFlags) run(cmd *cobra.Command) error {
	if t.buildsTracer {
		return t.buildTracer(cmd)
	}
	if t.mpicc != "" {
		return cli.Usagef("--mpicc: it needs --mpi")
	}
	if err := cli.RejectPrintFlags(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") && t.options.Noise == 0 {
		return cli.Usagef("--seed: without --noise no random numbers are drawn")
	}
	if cmd.Flags().Changed("mode") {
		t.options.Mode = t.mode
	}
	shown, err := loggp.Trace(cmd.Context(), t.options)
	if err != nil {
		return err
	}
	if t.outputPath == "" {
		return cli.Print(cmd, shown.Document())
	}
	shown.Command = cli.CommandLine(cmd)
	return cli.WriteTimeline(cmd, t.outputPath, shown.Title, *shown, shown.Document())
}

// buildTracer builds the library that records MPI programs.
func (t *traceFlags) buildTracer(cmd *cobra.Command) error {
	var unused []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "mpi" && f.Name != "mpicc" && f.Name != "output" {
			unused = append(unused, f.Name)
		}
	})
	if err := cli.RejectFlags(cmd, "--%s: it has no effect with --mpi", unused...); err != nil {
		return err
	}
	if t.outputPath == "" {
		return cli.Usagef("--mpi: name the library with -o, such as tracer.so")
	}
	if err := mpitracer.Build(cmd.Context(), t.mpicc, t.outputPath); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	file, err := filepath.Abs(t.outputPath)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s; record a program by\n  LD_PRELOAD=%[2]s mpirun -n 4 ./program                     (MPICH)\n  mpirun -n 4 -x LD_PRELOAD=%[2]s ./program                  (Open MPI)\nand simulate it by\n  loggp simulate mpi-trace-*.txt\n", t.outputPath, file)
	return nil
}

// parseMessageSize returns a size as an option, where none is loggp.EmptyMessage.
func parseMessageSize(text string) (int, error) {
	n, err := unit.ParseSize(text)
	if n == 0 {
		n = loggp.EmptyMessage
	}
	return n, err
}
