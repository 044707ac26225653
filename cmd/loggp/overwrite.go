package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/platform"
)

// outputFlagNames and inputFileFlagNames are the flags of all verbs that name files to write and to
// read.
var (
	outputFlagNames    = []string{"output", "finish", "record", "diagram", "picture", "cpuprofile", "memprofile"}
	inputFileFlagNames = []string{"samples", "params", "platform", "schedule", "phases", "from", "noise", "to", "token-file", "mpicc", "remote-program", "template", "groups"}
)

// rejectOverwrittenInput says which output of a verb is one of its inputs, which would be lost: the
// same file under any name, or a directory that holds it. Root runs it before every verb.
func rejectOverwrittenInput(cmd *cobra.Command, args []string) error {
	inputs := possibleInputFiles(cmd, args)
	written := map[string]string{} // flag by path
	for _, flag := range outputFlagNames {
		f := cmd.Flags().Lookup(flag)
		if f == nil || f.Value.String() == "" || f.Value.String() == standardStream {
			continue
		}
		name := f.Value.String()
		label := "--" + flag
		if f.Shorthand != "" {
			label = "-" + f.Shorthand
		}
		for _, read := range inputs {
			if input.IsOverwrittenBy(name, read) {
				return newUsageError(cmd, fmt.Errorf("%s %s: this would overwrite %s, which is an input: name another file", label, name, read))
			}
		}
		path := input.ResolveLinks(name)
		if other := written[path]; other != "" {
			return newUsageError(cmd, fmt.Errorf("%s %s: %s writes the same file: name another one", label, name, other))
		}
		written[path] = label
	}
	return nil
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
	case "calibrate", "sensitivity":
		names = slices.DeleteFunc(slices.Clone(args), isBuiltInPlatform)
	default:
		names = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return slices.Contains(cmd.ValidArgs, a) })
	}
	for _, flag := range inputFileFlagNames {
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
