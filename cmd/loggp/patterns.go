package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/microbench/patterns"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/render"
)

// patternsProgram is what run takes for a program to time communication patterns.
const patternsProgram = "patterns"

// patternFlags has the flags of run that are for communication patterns alone.
type patternFlags struct {
	options         loggp.PatternOptions
	printsLibraries bool
}

// formatPatternHelp returns the part of run's help on communication patterns.
func formatPatternHelp() string {
	return `

patterns times communication patterns by the libraries of a platform, side by side: MPI by
synchronous sends (sync) and by standard sends (async), ACLMPL by its synchronous and asynchronous
calls, and shmem, which is raw puts, if the machine has remote memory. All are timed by the same
code. --library then takes a list, and -o a directory. The patterns are

` + strings.TrimSuffix(cli.HelpList(11, patterns.Patterns, func(p patterns.Pattern) (string, string) { return p.Name, p.Description }), "\n")
}

// addFlags declares the flags.
func (p *patternFlags) addFlags(cmd *cobra.Command) {
	cli.AddParsed(cmd, &p.options.Patterns, "patterns", "", cli.List, "patterns: a list (default: all)")
	cli.AddParsed(cmd, &p.options.Sizes, "sizes", "", unit.ParseSizes, "patterns: lengths of messages (default: 8,1KiB)")
	cmd.Flags().BoolVar(&p.printsLibraries, "parameters", false, "patterns: print the LogGP parameters of the libraries side by side instead")
	cli.AddCompletion(cmd, "patterns", patterns.Names())
}

// checkPatternFlags returns an error for a flag that has no effect on what is run.
func checkPatternFlags(cmd *cobra.Command, program string) (wrong error) {
	patternsOnly := []string{"patterns", "sizes", "parameters"}
	forPatterns := append(patternsOnly, "platform", "library", "ranks", "rounds", "output", "format", "table", "tables", "verbose")
	if program != patternsProgram {
		return cli.RejectFlags(cmd, "--%s: it is for patterns, not for "+program, patternsOnly...)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if wrong == nil && !slices.Contains(forPatterns, f.Name) {
			wrong = cli.Usagef("--%s: patterns does not take it; it takes %s", f.Name, strings.Join(forPatterns, ", "))
		}
	})
	return wrong
}

// runPatternBenchmark times patterns, or fits parameters of libraries.
func (r *runFlags) runPatternBenchmark(cmd *cobra.Command) (err error) {
	o := r.patterns.options
	o.Platform, o.Ranks, o.Args = r.options.Platform, r.options.Ranks, processArgs(cmd)
	if rounds, given := r.options.Parameters["rounds"]; given {
		if o.Rounds, err = strconv.Atoi(rounds); err == nil {
			err = cli.CheckRange("--rounds", o.Rounds, 1, 1000)
		}
		if err != nil {
			return cli.Usage(err)
		}
	}
	if r.options.Library != "" {
		o.Library, _ = cli.List(r.options.Library)
	}
	run := loggp.TimePatterns
	if r.patterns.printsLibraries {
		run = loggp.FitLibraries
	}
	d, err := run(cmd.Context(), o)
	if err != nil {
		return err
	}
	if r.outputPath != "" {
		if err := render.WritePage(r.outputPath, d); err != nil {
			return err
		}
	}
	return cli.Print(cmd, d)
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
			ran, err := root.ExecuteContextC(cmd.Context())
			if err = nameFlagOfOption(err); err != nil && cli.IsUsage(err) {
				return cli.UsageOf(ran, err)
			}
			return err
		},
	}
}
