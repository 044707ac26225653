package main

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// measureFlags has the flags of the verb.
type measureFlags struct {
	options                  loggp.MeasureOptions
	pairs, level, outputPath string
	pins                     bool
}

func measureCommand() *cobra.Command {
	var m measureFlags
	cmd := &cobra.Command{
		Use:   "measure --platform NAME|FILE|'loggp:L=5us,...'|shm|tcp|mpi",
		Short: "Measure latency, bandwidth and LogGP parameters",
		Long: `measure sends messages of many sizes between two ranks and prints what a message costs: latency,
bandwidth and message rate by size, and the LogGP parameters of MPI's eight send modes. On emulated
machines it also measures the low-level messages below MPI. The ranks are the first and the last, or
those of --place; with --pairs all every pair is measured, to find which ranks are near each other.
-o keeps the samples for 'loggp fit', 'compare' and 'report'.

Platforms shm and tcp are this machine, with loggp's own library between processes that share memory
or are connected by TCP. Platform mpi is this machine with the MPI that is installed on it: the same
timers in a C program, built by its mpicc and started by its launcher.

With --collective it measures collective operations of all ranks, by every algorithm. 'loggp
compare' sets them beside the model.`,
		Example: `  loggp measure --platform shm -o here.csv
  loggp measure --platform tcp --quick
  loggp measure --platform mpi --modes send,isend,ssend --reps 100 -o mpi.csv
  loggp measure --platform mpi --collective all --quick -o vendor.csv
  loggp measure --platform t3d --modes send,isend,ssend --sizes 0,16,1KB,10KB -o samples.csv
  loggp measure --platform t3d --protocol RTA --modes ssend -o rta.csv
  loggp measure --platform t3d --place intra -o intra.csv
  loggp measure --platform t3d --ranks 8 --pairs all -o pairs.csv
  loggp measure --platform t3d --level message -o message.csv
  loggp measure --platform t3d -n 16 --collective bcast,allreduce -o together.csv
  loggp measure --platform dgx-h100 --library nccl -n 16 --collective allreduce --sizes 8..16GiB*8
  loggp measure --platform 'loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B' --noise 5%`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd) },
	}
	m.addFlags(cmd)
	return cmd
}

// addFlags declares the flags.
func (m *measureFlags) addFlags(cmd *cobra.Command) {
	f, o := cmd.Flags(), &m.options
	targetFlags{
		platform: &o.Platform, library: &o.Library, ranks: &o.Ranks, place: &o.Place, seed: &o.Seed, platforms: allPlatformNames,
		platformHelp: "machine: a name of 'loggp platforms', a file, loggp:PARAMETERS, or this machine: shm (shared memory), tcp (loopback, or --hosts) or mpi (the installed MPI)",
	}.addFlags(cmd)
	cli.AddChoice(cmd, &m.pairs, "pairs", []string{loggp.PairsOne, loggp.PairsAll}, loggp.PairsOne, "measure one pair of ranks, or all, to find which are near each other; all uses fewer modes, sizes and repetitions unless flags name them, and beyond 4096 pairs a random sample of ranks", nil)
	cli.AddParsed(cmd, &o.Modes, "modes", loggp.ModesAll, cli.List, "list of "+strings.Join(microbench.SendModeNames(), " ")+", or all; and "+strings.Join(microbench.OptionalModeNames(), " "))
	cli.AddParsed(cmd, &o.Sizes, "sizes", "", unit.ParseLongSizes, "message sizes, such as 0,16,1KB or 1..1MiB*2 (default: powers of two to 4 MiB, on machines of papers 0 to 100,000 bytes; on this machine beyond 128 KiB only round trips, and more sizes around protocol changes)")
	cli.AddParsed(cmd, &o.MaxSize, "max-size", "", unit.ParseSize, "largest size, such as 64K, 1M or 4MiB: leaves out larger sizes, and without --sizes adds powers of two up to it")
	f.StringVar(&o.Protocol, "protocol", "", "force a protocol, and also measure its T_s and T_s-r: "+strings.Join(model.ProtocolNames(), ", ")+"; auto measures them of the protocol that the library chooses")
	cli.AddChoice(cmd, &m.level, "level", []string{loggp.LevelBoth, loggp.LevelMPI, loggp.LevelMessage}, loggp.LevelBoth, "measure messages of MPI, the low-level messages below it, or both (on this machine both means mpi)", nil)
	cli.AddParsed(cmd, &o.Reps, "reps", "600", strconv.Atoi, "repetitions for each root of the barrier; on this machine in each launch (default there: from --precision and --budget)").TypeName = "int"
	cli.AddParsed(cmd, &o.Warmup, "warmup", "10", parseWarmupRounds, "untimed rounds before the repetitions; shm and tcp warm up until times are stable").TypeName = "int"
	cli.AddParsed(cmd, &o.Delta, "delta", "", unit.ParseTime, "wait before timer12 (default: twice the longest round of the warm-up; on this machine half the shortest)")
	cli.AddChoice(cmd, &o.Wait, "wait", []string{waitAuto, "spin", "block"}, waitAuto, "how ranks of this machine wait: spin, or block in the kernel (auto: spin if each rank has its own processor)", nil)
	f.BoolVar(&m.pins, "pin", true, "pin each rank of this machine to a processor of its own")
	cli.AddParsed(cmd, &o.Hosts, "hosts", "", cli.List, "with --platform tcp: hosts of the ranks from 1 up, started over ssh, such as node2,me@node3; rank 0 is this process")
	f.IntVar(&o.Expect, "expect", 0, "with --platform tcp: number of further ranks that are started by hand with 'loggp launch'")
	cli.AddParsed(cmd, &o.SSH, "ssh", "ssh -o BatchMode=yes", parseShellWords, "command that runs a command on a host of --hosts")
	f.StringVar(&o.RemoteProgram, "remote-program", "", "path of loggp on the hosts of --hosts (default: the path here)")
	f.StringVar(&o.Listen, "listen", "", "address, with or without a port, at which ranks of other hosts reach this one (default: that of the interface that leads to --hosts; loopback with --expect alone)")
	f.StringVar(&o.SharedDir, "shared-dir", "", "under mpirun or srun: directory shared by the hosts, through which ranks find each other (default: the key-value space of the process manager, or on one host a temporary directory)")
	f.BoolVar(&o.Quick, "quick", false, "on this machine: measure for about one second, with fewer modes and sizes and three launches")
	f.DurationVar(&o.Budget, "budget", 0, "on this machine: time limit of the measurement, such as 30s (default 4s, with --quick 1s, with --reps none)")
	cli.AddParsed(cmd, &o.Precision, "precision", "2%", unit.ParsePercent, "on this machine: target half-width of the 95 % interval of each median; a median that has reached it is not measured further")
	f.IntVar(&o.Launches, "launches", 0, "on this machine: number of times the ranks are started, as times differ from start to start (default 5 or more, with --quick 3)")
	cli.AddParsed(cmd, &o.Collective, "collective", "", cli.List, "measure collective operations of all ranks instead: a list of "+strings.Join(loggp.CollectiveNames(), ", ")+", or all")
	cli.AddParsed(cmd, &o.Algorithm, "algorithm", "all", cli.Verbatim, "with --collective: measure only the algorithm of this name, of the operations that have it")
	cli.AddParsed(cmd, &o.Noise, "noise", "on", parseNoise, noiseHelp)
	cli.AddOutput(cmd, &m.outputPath, "output", "o", "file for the samples: CSV, or JSON if it ends in .json", nil)
	cli.AddPrintFlags(cmd)
	f.StringVar(&o.MPICC, "mpicc", "", "with --platform mpi: its compiler (default: $MPICC, or mpicc)")
	cli.AddParsed(cmd, &o.Launcher, "launcher", "", parseShellWords, "with --platform mpi: the command that starts the ranks, such as 'srun -n 2' (default: the mpirun beside the compiler, with -n)")
	cli.AddParsed(cmd, &o.Timeout, "timeout", probe.DefaultTimeout.String(), time.ParseDuration, "with --platform mpi: time limit of a launch").TypeName = "duration"
	cli.AddCompletion(cmd, "protocol", append(model.ProtocolNames(), loggp.ProtocolAuto))
	cli.AddCompletion(cmd, "collective", append([]string{"all"}, loggp.CollectiveNames()...))
}

// waitAuto is the value of --wait that leaves the choice to Measure.
const waitAuto = "auto"

func (m *measureFlags) run(cmd *cobra.Command) error {
	managed, ended, err := findManagedJob(cmd, m.options.Platform, m.options.SharedDir)
	if err != nil || ended {
		return err
	}
	if launch.IsRank() {
		m.outputPath = "" // rank 0 writes, where there is such a directory
	}
	m.options.Managed = managed
	if err := m.completeOptions(cmd); err != nil {
		if managed != nil {
			managed.Disband()
		}
		return err
	}
	x, err := cli.WithProgress(cmd, func(report func(done, total int)) (*loggp.Measurement, error) {
		m.options.Progress = report
		return loggp.Measure(cmd.Context(), m.options)
	})
	if err != nil {
		return err
	}
	if err := m.writeMeasurement(cmd, x); err != nil {
		return err
	}
	cli.PrintLines(cmd, "", x.Notices)
	printDisturbanceWarnings(cmd, x.Disturbances)
	return nil
}

// printDisturbanceWarnings warns of what may have disturbed measured times.
func printDisturbanceWarnings(cmd *cobra.Command, found []string) {
	if len(found) > 0 {
		cli.PrintLines(cmd, "possible disturbances: ", []string{strings.Join(found, "; ") + " ('loggp doctor' says what to do)"})
	}
}

// completeOptions sets the options that are not set by their flags, and checks all.
func (m *measureFlags) completeOptions(cmd *cobra.Command) error {
	o, given := &m.options, cmd.Flags().Changed
	o.Args, o.Command, o.AgentArgs = processArgs(cmd), cli.CommandLine(cmd), agentCommandArgs
	o.Announce = func(address string, token auth.Token, ranks []int) {
		printJoinInstructions(cmd.ErrOrStderr(), address, token, ranks)
	}
	if isEmulated := slices.Contains(emulatedPlatformNames, o.Platform) || !slices.Contains(allPlatformNames, o.Platform); isEmulated && !given("noise") {
		o.Noise = job.PlatformNoise
	}
	if given("pairs") {
		o.Pairs = m.pairs
	}
	if given("level") {
		o.Level = m.level
	}
	if o.Wait == waitAuto {
		o.Wait = ""
	}
	o.NoPin = !m.pins
	return cmp.Or(m.checkFlagsHaveEffect(cmd), cli.CheckOutput(cmd, "output", cli.WritableFile))
}

// flagsThatMustNotBeZero are flags of which zero would mean the default value.
var flagsThatMustNotBeZero = []string{"reps", "max-size", "delta", "budget", "precision", "launches", "expect", "timeout"}

// checkFlagsHaveEffect checks that each flag that was given has an effect.
func (m *measureFlags) checkFlagsHaveEffect(cmd *cobra.Command) error {
	if m.options.Platform == "" {
		return nil // which Measure says first
	}
	options := reflect.ValueOf(m.options)
	for i := range options.NumField() {
		field := options.Type().Field(i).Name
		flag := strings.TrimPrefix(flagNameOfOption(field), "--")
		if cmd.Flag(flag) == nil || !cmd.Flags().Changed(flag) {
			continue
		}
		if err := m.options.CheckScope(field); err != nil {
			return err
		}
		if slices.Contains(flagsThatMustNotBeZero, flag) && options.Field(i).IsZero() {
			return cli.Usagef("--%s %v: it must be above zero", flag, cmd.Flag(flag).Value)
		}
	}
	return nil
}

// parseShellWords splits a command at its spaces as a shell would.
func parseShellWords(text string) ([]string, error) {
	list, err := probe.SplitCommand(text)
	return append([]string{}, list...), err
}

// parseWarmupRounds returns the number of warm-up rounds as an option, where none are -1.
func parseWarmupRounds(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err == nil && n < 0:
		return 0, cli.ValueError("it must be 0 or above")
	case n == 0:
		n = -1
	}
	return n, err
}

// writeMeasurement saves the samples, and prints what they say.
func (m *measureFlags) writeMeasurement(cmd *cobra.Command, x *loggp.Measurement) error {
	if err := writeSamples(cmd, x.Samples, m.outputPath); err != nil || cli.UsesStandardOutput(cmd) {
		return err
	}
	document, err := x.Document()
	if err != nil {
		return err
	}
	return cli.Print(cmd, document)
}
