package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/microbench/foreign"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/platform"
)

// InputFileFlags are the flags of all verbs that name files to read.
var InputFileFlags = []string{"samples", "params", "platform", "schedule", "phases", "from", "noise", "to", "token-file", "mpicc", "remote-program", "template", "groups"}

// CheckFilesAndFormat checks, before any work, what is to be written and how it is to be printed.
func CheckFilesAndFormat(cmd *cobra.Command, args []string) error {
	for _, check := range []func() error{
		func() error { return rejectLongFlagAfterOneDash(cmd) },
		func() error { return checkFormatFlags(cmd) },
		func() error { return rejectOverwrittenInput(cmd, args) },
		func() error { return checkOutputs(cmd) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// rejectLongFlagAfterOneDash says that -output=FILE is not --output=FILE: it would write a file
// utput=FILE.
func rejectLongFlagAfterOneDash(cmd *cobra.Command) (wrong error) {
	cmd.Flags().Visit(func(f *flag) {
		if name, _, _ := strings.Cut(f.Shorthand+f.Value.String(), "="); f.Shorthand != "" && name == f.Name {
			wrong = Usagef("-%s: did you mean --%[1]s, with two dashes?", name)
		}
	})
	return wrong
}

// rejectOverwrittenInput says which output of a verb is one of its inputs, which would be lost: the
// same file under any name, or a directory that holds it.
func rejectOverwrittenInput(cmd *cobra.Command, args []string) (wrong error) {
	inputs := possibleInputFiles(cmd, args)
	written := map[string]string{} // flag by path
	cmd.Flags().VisitAll(func(f *flag) {
		name := f.Value.String()
		if wrong != nil || !IsOutput(f) || name == "" || name == StandardStream {
			return
		}
		for _, read := range inputs {
			if input.IsOverwrittenBy(name, read) {
				wrong = Usagef("%s %s: this would overwrite %s, which is an input: name another file", flagLabel(f), name, read)
				return
			}
		}
		path := input.ResolveLinks(name)
		if other := written[path]; other != "" {
			wrong = Usagef("%s %s: %s writes the same file: name another one", flagLabel(f), name, other)
		}
		written[path] = flagLabel(f)
	})
	return wrong
}

// possibleInputFiles returns the names that a verb may read files of.
func possibleInputFiles(cmd *cobra.Command, args []string) []string {
	var names []string
	switch cmd.Name() {
	case "reproduce": // papers
	case "schedule": // patterns, or a command and files
		names = args[min(1, len(args)):]
	case "export": // the first is a format
		names = args[min(1, len(args)):]
	case "import": // the first may be a format
		if names = args; len(args) > 0 && foreign.FormatNamed(args[0]) != nil {
			names = args[1:]
		}
	case "calibrate", "sensitivity":
		names = slices.DeleteFunc(slices.Clone(args), isBuiltInPlatform)
	case "run": // behind the program are flags, of this verb or the program
		if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); i >= 0 {
			args = args[:i]
		}
		fallthrough
	default:
		names = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return slices.Contains(cmd.ValidArgs, a) })
	}
	for _, flag := range InputFileFlags {
		f := cmd.Flags().Lookup(flag)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if flag == "platform" {
			values = slices.DeleteFunc(values, isBuiltInPlatform)
		}
		names = append(names, values...)
	}
	return names
}

func isBuiltInPlatform(name string) bool { return slices.Contains(platform.Names(), name) }
