// Command loggp measures, models and compares the communication performance of message passing.
//
// A verb is a file: its flags, a call into the packages that do the work, and what is printed. The
// function measureCommand returns the command line of the verb measure, and the type measureFlags
// has its flags and runs it. Results for people go to standard output as tables, for programs as
// CSV or JSON; errors and progress go to standard error.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
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
	root.SetArgs(joinNameValueArgs(root, args))
	out := &firstErrorWriter{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	addCompletionCommand(root)
	err := checkVerbExists(root, args)
	if err == nil {
		err = root.ExecuteContext(context.WithValue(ctx, argumentsContextKey{}, args))
	}
	if err == nil && out.firstError != nil {
		err = fmt.Errorf("output is lost: %w", out.firstError)
	}
	switch {
	case err == nil:
		return exitSuccess
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, interruptedMessage)
		return exitFailure
	}
	fmt.Fprintln(stderr, "loggp:", err)
	var u *usageError
	if errors.As(err, &u) {
		fmt.Fprintf(stderr, "See '%s --help'.\n", u.command)
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

// firstErrorWriter keeps the first error of what is written, which not everything that writes
// returns.
type firstErrorWriter struct {
	io.Writer
	firstError error
}

func (o *firstErrorWriter) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.firstError == nil {
		o.firstError = err
	}
	return n, err
}

// underlyingFile returns the file that is written to, if it is one.
func underlyingFile(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*firstErrorWriter); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

// argumentsContextKey is the key of a command's arguments in its context.
type argumentsContextKey struct{}

// processArgs returns the arguments of the program that runs the command.
func processArgs(cmd *cobra.Command) []string {
	args, _ := cmd.Context().Value(argumentsContextKey{}).([]string)
	return args
}

// usageError is an error in how a command was called.
type usageError struct {
	command string
	err     error
}

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

// newUsageError makes an error one of usage.
func newUsageError(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &usageError{cmd.CommandPath(), err}
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
		Args:          rejectUnknownCommand,

		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(checkOutputFlags(cmd), rejectOverwrittenInput(cmd, args))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return newUsageError(cmd, addFlagSuggestion(cmd, rewordNumberError(err)))
	})
	for _, g := range verbGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, verb := range g.verbs {
			c := verb()
			c.GroupID = g.title
			if slices.Contains(fileReadingVerbs, c.Name()) {
				c.PersistentFlags().Var(maxInputBytesFlag{}, "max-input", "size limit of an input file, in bytes of uncompressed text")
			}
			reportArgumentErrorsAsUsage(c)
			root.AddCommand(c)
		}
	}
	last := verbGroups[len(verbGroups)-1].title
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID(last)
	root.SetCompletionCommandGroupID(last)
	return root
}

// addCompletionCommand adds cobra's command completion, which writes to the output that root has.
func addCompletionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = rejectUnknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range c.Commands() {
			shell.Args = noArgs
		}
		reportArgumentErrorsAsUsage(c)
	}
}

// helpCommand prints the help of a command, and refuses a command that does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			about, rest, _ := root.Find(args)
			if about == nil {
				about, rest = root, args
			}
			if len(rest) > 0 {
				return rejectUnknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// rewordNumberError replaces the name of the Go function that could not read a number
// by what the number should be.
func rewordNumberError(err error) error {
	text := err.Error()
	i := strings.Index(text, "strconv.")
	if i < 0 {
		return err
	}
	kind := "a whole number"
	if strings.Contains(text, "ParseUint") {
		kind = "a whole number, 0 or above"
	}
	return errors.New(text[:i] + "it must be " + kind)
}

// addFlagSuggestion adds to the error of an unknown flag the one that is nearest.
func addFlagSuggestion(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if meant := table.Suggestion(unknown.GetSpecifiedName(), names); meant != "" {
		err = fmt.Errorf("%w; did you mean --%s?", err, meant)
	}
	return err
}

// rejectUnknownCommand refuses a command that does not exist.
func rejectUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("%s has no command %q", cmd.CommandPath(), args[0])
	var verbs []string
	for _, c := range cmd.Commands() {
		verbs = append(verbs, c.Name())
	}
	if meant := table.Suggestion(args[0], verbs); meant != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, meant)
	} else if cmd.HasParent() && slices.Contains(platform.Names(), args[0]) {
		err = fmt.Errorf("%w; did you mean 'show %s'?", err, args[0])
	}
	return newUsageError(cmd, err)
}

// checkVerbExists complains of a verb that does not exist before its flags are found to be unknown.
func checkVerbExists(root *cobra.Command, args []string) error {
	if cmd, rest, _ := root.Find(args); cmd == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[0], "__") &&
		rest[0] != "help" && rest[0] != "completion" {
		return rejectUnknownCommand(root, rest)
	}
	return nil
}

// noArgs refuses arguments. It explains the name of a platform, and the file for what a flag
// names.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unexpected argument %q", args[0])
	switch machines := slices.Concat(platform.Names(), job.LocalPlatforms, []string{probe.PlatformName}); {
	case cmd.Flag("platform") != nil && !cmd.Flags().Changed("platform") && table.Suggestion(args[0], machines) != "":
		return fmt.Errorf("%w; did you mean --platform %s?", err, table.Suggestion(args[0], machines))
	case cmd.Flag("params") != nil && strings.HasSuffix(args[0], ".csv"):
		return fmt.Errorf("%w; name files with --params or --samples", err)
	}
	return fmt.Errorf("%w: %s takes only flags", err, commandName(cmd))
}

// requireArgs requires at least one argument, requireOneArg exactly one.
func requireArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: name at least one %s", commandName(cmd), what)
		}
		return nil
	}
}

func requireOneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: name one %s", commandName(cmd), what)
		}
		return nil
	}
}

// commandName returns the name of a command as it follows loggp, such as "platforms show".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// reportArgumentErrorsAsUsage makes every complaint about a verb's arguments one of usage.
func reportArgumentErrorsAsUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error { return newUsageError(cmd, check(cmd, args)) }
	}
	for _, sub := range c.Commands() {
		reportArgumentErrorsAsUsage(sub)
	}
}
