package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// loadEmulatedPlatform returns an emulated platform.
func loadEmulatedPlatform(cmd *cobra.Command, name string) (*platform.Platform, error) {
	p, err := loggp.LoadPlatform(name)
	return p, usageErrorWithFlag(cmd, err)
}

// usageErrorWithFlag turns the error of an option into an error of usage that names the flag.
func usageErrorWithFlag(cmd *cobra.Command, err error) error {
	if _, is := err.(*loggp.OptionError); is {
		return newUsageError(cmd, replaceOptionByFlag(err))
	}
	return err
}

// replaceOptionByFlag replaces the name of an option in an error by that of its flag.
func replaceOptionByFlag(err error) error {
	if o, is := err.(*loggp.OptionError); is {
		return errors.New(o.Text(flagNameOfOption))
	}
	return err
}

// flagNameOfOption returns the flag of an option, such as --per-node of PerNode.
func flagNameOfOption(field string) string {
	if rest, negated := strings.CutPrefix(field, "No"); negated && unicode.IsUpper(rune(rest[0])) {
		field = rest // the option turns off what the flag has on
	}
	field = strings.Replace(field, "LogGOPS", "Loggops", 1)
	var b strings.Builder
	b.WriteString("--")
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(field[i-1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// formatHelpList lists items of a kind for the help of a verb, a line each, with their names in a
// column.
func formatHelpList[T any](width int, items []T, describe func(T) (name, description string)) string {
	var list strings.Builder
	for _, x := range items {
		name, description := describe(x)
		fmt.Fprintf(&list, "  %-*s %s\n", width, name, description)
	}
	return list.String()
}

// completeFirstArg completes the first argument with names, and the others with files.
func completeFirstArg(names []string, first cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return names, first
	}
}

// rejectFlagsWithoutEffect refuses flags that have no effect here, and says why by a format with
// the name of the flag.
func rejectFlagsWithoutEffect(cmd *cobra.Command, format string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return newUsageError(cmd, fmt.Errorf(format, name))
		}
	}
	return nil
}

// printWithWarningPrefix prints texts on standard error, each marked as a warning.
func printWithWarningPrefix(cmd *cobra.Command, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "loggp: warning:", w)
	}
}

// printWarnings prints the warnings of a result on standard error.
func printWarnings(cmd *cobra.Command, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), w)
	}
}

// choiceFlag is a flag with a few values.
type choiceFlag struct {
	value         string
	allowedValues []string
	valueByAlias  map[string]string // other names that are accepted
}

func (c *choiceFlag) String() string { return c.value }

// Type is what the help shows of the value: the list of values, if it is short.
func (c *choiceFlag) Type() string {
	if list := strings.Join(c.allowedValues, "|"); len(list) <= maxValueListLength {
		return list
	}
	return "name"
}

// maxValueListLength is the length of the longest list of values in a column of the help.
const maxValueListLength = 40

func (c *choiceFlag) Set(s string) error {
	s = cmp.Or(c.valueByAlias[s], s)
	if !slices.Contains(c.allowedValues, s) {
		list := "it must be " + strings.Join(c.allowedValues[:len(c.allowedValues)-1], ", ") + " or " + c.allowedValues[len(c.allowedValues)-1]
		if meant := table.Suggestion(s, slices.Concat(c.allowedValues, slices.Sorted(maps.Keys(c.valueByAlias)))); meant != "" {
			list += "; did you mean " + meant + "?"
		}
		return errors.New(list)
	}
	c.value = s
	return nil
}

// addChoiceFlag adds a flag whose values are few, and completes it.
func addChoiceFlag(cmd *cobra.Command, name string, of []string, preset, help string) *string {
	c := &choiceFlag{value: preset, allowedValues: of}
	cmd.Flags().Var(c, name, help)
	addFlagCompletion(cmd, name, of)
	return &c.value
}

// addChoiceAlias lets a flag of a few values take another name for one of them.
func addChoiceAlias(cmd *cobra.Command, flag, alias, value string) {
	c := cmd.Flags().Lookup(flag).Value.(*choiceFlag)
	if c.valueByAlias == nil {
		c.valueByAlias = map[string]string{}
	}
	c.valueByAlias[alias] = value
}

// maxInputBytesFlag is the value of a flag that bounds the files of this process.
type maxInputBytesFlag struct{}

func (maxInputBytesFlag) String() string { return unit.Bytes(int(input.MaxBytes())) }
func (maxInputBytesFlag) Type() string   { return "size" }

func (maxInputBytesFlag) Set(s string) error {
	n, err := unit.ParseSize(s)
	if err == nil && n < 1 {
		err = errors.New("it must be at least 1 byte")
	}
	if err == nil {
		input.SetMaxBytes(int64(n))
	}
	return err
}

// addModeFlag adds the flag of a send mode, which is named by a call of MPI. The name of the mode,
// such as synchronous, is accepted for its blocking call.
func addModeFlag(cmd *cobra.Command, of []string, help string) *string {
	c := &choiceFlag{value: loggp.SendCalls[model.StandardMode], allowedValues: of, valueByAlias: map[string]string{}}
	for m, call := range loggp.SendCalls {
		c.valueByAlias[model.Mode(m).String()] = call
	}
	cmd.Flags().Var(c, "mode", help)
	addFlagCompletion(cmd, "mode", of)
	return &c.value
}

func addFlagCompletion(cmd *cobra.Command, flag string, of []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// parseSizes parses a flag of message lengths; "" is the preset.
func parseSizes(s string, preset []int) ([]int, error) {
	if s == "" {
		return preset, nil
	}
	list, err := unit.ParseSizes(s)
	if err != nil {
		return nil, fmt.Errorf("--sizes: %w", err)
	}
	return list, nil
}

// checkFlagRange checks the number of a flag.
func checkFlagRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s %d: it must be from %d to %d", flag, n, low, high)
	}
	return nil
}

// splitList splits a list at its commas.
func splitList(s string) []string {
	list := strings.Split(s, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// recordedCommandLine returns the command line without where its output goes, so that the same work
// leaves the same record.
func recordedCommandLine(cmd *cobra.Command, args ...string) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
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
