package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/microbench/patterns"
	"github.com/loggp/loggp/reports/render"
)

// patternsProgram is what run takes for a program to time communication patterns.
const patternsProgram = "patterns"

// patternFlags has the flags of run that are for communication patterns alone.
type patternFlags struct {
	patternsText, sizesText string
	printsParameters        bool
}

// formatPatternHelp returns the part of run's help on communication patterns.
func formatPatternHelp() string {
	return `

patterns times communication patterns by the libraries of a platform, side by side: MPI by
synchronous sends (sync) and by standard sends (async), ACLMPL by its synchronous and asynchronous
calls, and shmem, which is raw puts, if the machine has remote memory. All are timed by the same
code. --library then takes a list, and -o a directory. The patterns are

` + strings.TrimSuffix(formatHelpList(11, patterns.Patterns, func(p patterns.Pattern) (string, string) { return p.Name, p.Description }), "\n")
}

// addFlags declares the flags.
func (p *patternFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.patternsText, "patterns", "", "patterns: a list (default: all)")
	f.StringVar(&p.sizesText, "sizes", "", "patterns: lengths of messages (default: 8,1KiB)")
	f.BoolVar(&p.printsParameters, "parameters", false, "patterns: print the LogGP parameters of the libraries side by side instead")
	addFlagCompletion(cmd, "patterns", patterns.Names())
}

// checkPatternFlags returns an error for a flag that has no effect on what is run.
func checkPatternFlags(cmd *cobra.Command, isPatterns bool, name string) (wrong error) {
	patternsOnly := []string{"patterns", "sizes", "parameters"}
	forPatterns := append(patternsOnly, "platform", "library", "ranks", "rounds", "output", "format", "table", "tables", "verbose")
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case wrong != nil:
		case isPatterns && !slices.Contains(forPatterns, f.Name):
			wrong = fmt.Errorf("--%s: patterns does not take it; it takes %s", f.Name, strings.Join(forPatterns, ", "))
		case !isPatterns && slices.Contains(patternsOnly, f.Name):
			wrong = fmt.Errorf("--%s: it is for patterns, not for %s", f.Name, name)
		}
	})
	return wrong
}

// runPatternBenchmark times patterns, or fits parameters of libraries.
func (r *runFlags) runPatternBenchmark(cmd *cobra.Command) error {
	o := loggp.PatternOptions{Platform: r.platform, Ranks: r.ranks, Args: processArgs(cmd)}
	var err error
	if o.Sizes, err = parseSizes(r.patterns.sizesText, nil); err == nil {
		err = checkWritableDirectory(r.outputPath)
	}
	if cmd.Flags().Changed("rounds") {
		var wrong error
		if o.Rounds, wrong = strconv.Atoi(r.programParameters["rounds"].valueText); wrong == nil {
			wrong = checkFlagRange("--rounds", o.Rounds, 1, 1000)
		}
		err = errors.Join(err, wrong)
	}
	if err != nil {
		return newUsageError(cmd, err)
	}
	if r.library != "" {
		o.Library = splitList(r.library)
	}
	if r.patterns.patternsText != "" {
		o.Patterns = splitList(r.patterns.patternsText)
	}
	run := loggp.TimePatterns
	if r.patterns.printsParameters {
		run = loggp.FitLibraries
	}
	d, err := run(cmd.Context(), o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	if r.outputPath != "" {
		if err := render.WritePage(r.outputPath, d); err != nil {
			return err
		}
	}
	return printDocument(cmd, d)
}

// patternsCommand is another name of run ... patterns.
func patternsCommand() *cobra.Command {
	return &cobra.Command{
		Use:                patternsProgram,
		Short:              "Another name of 'loggp run [FLAGS] patterns'",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.SetArgs(append(append([]string{"run"}, args...), patternsProgram))
			return root.ExecuteContext(cmd.Context())
		},
	}
}
