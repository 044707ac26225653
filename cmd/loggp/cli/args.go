package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
)

// RejectUnknownCommand refuses a command that does not exist.
func RejectUnknownCommand(cmd *cobra.Command, args []string) error {
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
	return UsageOf(cmd, err)
}

// NoArgs refuses arguments. It explains the name of a platform, and the file for what a flag names.
func NoArgs(cmd *cobra.Command, args []string) error {
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

// RequireArgs requires at least one argument.
func RequireArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: name at least one %s", commandName(cmd), what)
		}
		return nil
	}
}

// RequireOneArg requires exactly one argument.
func RequireOneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: name one %s", commandName(cmd), what)
		}
		return nil
	}
}

// HintOfArgTakenAsValue says that a flag has one of a verb's valid arguments as its value, as
// --noise has in '--noise stencil'.
func HintOfArgTakenAsValue(cmd *cobra.Command, validArgs []string) (hint string) {
	cmd.Flags().Visit(func(f *flag) {
		if slices.Contains(validArgs, f.Value.String()) {
			hint = fmt.Sprintf("; %[2]s was taken as the value of --%[1]s: write --%[1]s VALUE %[2]s", f.Name, f.Value)
		}
	})
	return hint
}

// commandName returns the name of a command as it follows loggp, such as "platforms show".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// ReportArgErrorsAsUsage makes every complaint about a command's arguments one of usage.
func ReportArgErrorsAsUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error { return Usage(check(cmd, args)) }
	}
	for _, sub := range c.Commands() {
		ReportArgErrorsAsUsage(sub)
	}
}

// CompleteFirstArg completes the first argument with names, and the others with files.
func CompleteFirstArg(names []string, first cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return names, first
	}
}

// HelpList lists items of a kind for the help of a verb, a line each, with their names in a column.
func HelpList[T any](width int, items []T, describe func(T) (name, description string)) string {
	var list strings.Builder
	for _, x := range items {
		name, description := describe(x)
		fmt.Fprintf(&list, "  %-*s %s\n", width, name, description)
	}
	return list.String()
}

// CommandLine returns the command line without where its output goes, so that the same work leaves
// the same record.
func CommandLine(cmd *cobra.Command, args ...string) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *flag) {
		if f.Name != "output" && f.Name != "format" {
			words = append(words, "--"+f.Name, quoteForShell(f.Value.String()))
		}
	})
	for _, a := range args {
		words = append(words, quoteForShell(a))
	}
	return strings.Join(words, " ")
}

// quoteForShell quotes a word for a shell if it needs that.
func quoteForShell(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`!*?[]{}()<>|&;#~=%") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
