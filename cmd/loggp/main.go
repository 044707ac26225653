// Command loggp measures, models and compares the communication performance of message passing.
//
// A verb is a file: its flags, a call into the packages that do the work, and what is printed. The
// function measureCommand returns the command line of the verb measure, and the type measureFlags
// has its flags and runs it. Results for people go to standard output as tables, for programs as
// CSV or JSON; errors and progress go to standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	if needsCleanup(os.Args[1:]) {
		status := runCommandLine(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(status)
	}
	ended := make(chan int, 1)
	go func() { ended <- runCommandLine(ctx, os.Args[1:], os.Stdout, os.Stderr) }()
	select {
	case status := <-ended:
		os.Exit(status)
	case <-ctx.Done():
	}
	select {
	case status := <-ended:
		os.Exit(status)
	case <-time.After(interruptGracePeriod):
		sample.RemoveTemporaries()
		fmt.Fprintln(os.Stderr, interruptedMessage)
		os.Exit(exitFailure)
	}
}

// interruptGracePeriod is how long a verb that was interrupted may take to end by itself.
const interruptGracePeriod = 500 * time.Millisecond

const interruptedMessage = "loggp: interrupted; nothing was written"

// needsCleanup reports whether a verb has processes, memory of the system or files of a compiler
// to clean up, so that it must end by itself. All others compute, and are abandoned where they are.
func needsCleanup(args []string) bool {
	cmd, _, err := newRootCommand().Find(args)
	if err != nil {
		return false
	}
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return slices.Contains([]string{"doctor", "measure", "launch", "reproduce", "run", "trace", "patterns", "cc", "c++", "fc"}, cmd.Name())
}

// Exit statuses, beside those that programs end with.
const (
	exitSuccess      = 0
	exitFailure      = 1
	exitUsage        = 2
	exitInconclusive = 3 // compare --fail-over: the samples do not tell
)

// inconclusiveError is an error that says that a question cannot be answered.
type inconclusiveError struct{ error }

// runCommandLine runs a command line and returns the exit status.
func runCommandLine(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(cli.JoinNameValueArgs(root, args))
	out := &cli.FirstErrorWriter{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	cli.AddCompletionCommand(root)
	cmd, err := root, cli.CheckVerbExists(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(context.WithValue(ctx, argumentsContextKey{}, args))
	}
	if err == nil && out.FirstError != nil {
		err = fmt.Errorf("output is lost: %w", out.FirstError)
	}
	switch {
	case err == nil:
		return exitSuccess
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, interruptedMessage)
		return exitFailure
	}
	err = nameFlagOfOption(err)
	fmt.Fprintln(stderr, "loggp:", err)
	if cli.IsUsage(err) {
		fmt.Fprintf(stderr, "See '%s --help'.\n", cli.MisusedCommand(cmd, err))
		return exitUsage
	}
	var ended *mpi.AbortError
	if errors.As(err, &ended) && ended.Code&255 != 0 {
		return ended.Code & 255
	}
	if errors.As(err, new(*inconclusiveError)) {
		return exitInconclusive
	}
	return exitFailure
}

// argumentsContextKey is the key of a command's arguments in its context.
type argumentsContextKey struct{}

// processArgs returns the arguments of the program that runs the command.
func processArgs(cmd *cobra.Command) []string {
	args, _ := cmd.Context().Value(argumentsContextKey{}).([]string)
	return args
}

// verbGroups are the verbs in the order of their use, in the groups of the list of verbs.
var verbGroups = []struct {
	title string
	verbs []func() *cobra.Command
}{
	{"Measure", []func() *cobra.Command{measureCommand, doctorCommand, importCommand, launchCommand}},
	{"Understand", []func() *cobra.Command{fitCommand, predictCommand, compareCommand, reportCommand, exportCommand}},
	{"Run and simulate", []func() *cobra.Command{runCommand, ccCommand, cxxCommand, fcCommand, simulateCommand, scheduleCommand, traceCommand, patternsCommand}},
	{"Machines and papers", []func() *cobra.Command{platformsCommand, calibrateCommand, reproduceCommand}},
	{"This program", []func() *cobra.Command{versionCommand}},
}

func init() { cobra.EnableCommandSorting = false }

// fileReadingVerbs are the verbs that read files of any length.
var fileReadingVerbs = []string{"import", "fit", "predict", "compare", "export", "report", "run", "simulate", "schedule", "calibrate"}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "loggp",
		Short: "Measure, model and compare the communication performance of message passing",
		Long: `loggp measures the communication performance of message passing, on this machine and on emulated
ones, fits LogGP parameters to the samples, predicts what calls and collective operations cost, and
compares predictions, machines and libraries. It also runs programs on emulated machines.`,
		Example: `  loggp measure --platform shm -o shm.csv   # this machine, by shared memory; mpi: by the installed MPI
  loggp report shm.csv -o report            # report/index.html
  loggp measure --platform t3d              # what a message costs on an emulated Cray T3D`,
		Version:       moduleVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cli.RejectUnknownCommand,

		PersistentPreRunE: cli.CheckFilesAndFormat,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(cli.ExplainFlagError)
	for _, g := range verbGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, verb := range g.verbs {
			c := verb()
			c.GroupID = g.title
			if slices.Contains(fileReadingVerbs, c.Name()) {
				cli.AddMaxInput(c)
			}
			cli.ReportArgErrorsAsUsage(c)
			root.AddCommand(c)
		}
	}
	last := verbGroups[len(verbGroups)-1].title
	root.SetHelpCommand(cli.HelpCommand())
	root.SetHelpCommandGroupID(last)
	root.SetCompletionCommandGroupID(last)
	return root
}
