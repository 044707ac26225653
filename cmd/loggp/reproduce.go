package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/calibrate"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports/study"
	"github.com/loggp/loggp/testdata"
)

// reproduceFlags has the flags of the verb.
type reproduceFlags struct {
	options    paper.Options
	outputPath string
}

// reproducePaper runs the experiments of a paper. Tests run them once for several commands.
var reproducePaper = func(ctx context.Context, p *paper.Paper, o paper.Options) (*study.Study, error) {
	return p.Reproduce(ctx, o)
}

// markAssumptionDependentValues marks the published values that assumed numbers decide. Tests find
// these once for several commands.
var markAssumptionDependentValues = calibrate.MarkAssumptionDependentValues

// paperNames are the names of the papers.
func paperNames() []string {
	names, err := paper.List(testdata.Published)
	if err != nil {
		panic(err)
	}
	return names
}

func reproduceCommand() *cobra.Command {
	var r reproduceFlags
	cmd := &cobra.Command{
		Use:   "reproduce [paper]",
		Short: "Reproduce a paper: its tables, figures and claims",
		Long: `reproduce runs all experiments of a paper on the emulated machines: every table, figure and
statement that a program can check, with published, measured and predicted values side by side.
Without a name it lists the papers. It prints the verdict on each claim. -o writes a directory with
index.html, which needs no network, cells.csv with a row for each value, and claims.csv with the
verdicts. docs/reproduce.md explains how each number is obtained, docs/papers.md how to add a paper.`,
		Example: `  loggp reproduce
  loggp reproduce altawil-moritz
  loggp reproduce altawil-moritz -o paper
  loggp reproduce altawil-moritz --reps 20 --noise off --format claims`,
		Args: r.checkPaperNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listPapers(cmd)
			}
			return r.run(cmd, args[0])
		},

		ValidArgsFunction: cobra.FixedCompletions(paperNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	f := cmd.Flags()
	targetFlags{seed: &r.options.Seed}.addFlags(cmd)
	f.IntVar(&r.options.Reps, "reps", 0, "repetitions with each root of the barrier (default: by platform)")
	r.options.Noise = job.PlatformNoise
	cli.AddParsed(cmd, &r.options.Noise, "noise", "on", parseNoise, "timing noise: on (that of the platforms), off, or a relative standard deviation such as 5%")
	cli.AddOutput(cmd, &r.outputPath, "output", "o", "directory to write", cli.WritableDirectory)
	cli.AddFormatFlags(cmd, "cells", "claims")
	return cmd
}

// checkPaperNames wants the name of a paper, or nothing at all.
func (r *reproduceFlags) checkPaperNames(cmd *cobra.Command, args []string) error {
	names := strings.Join(paperNames(), ", ")
	switch {
	case len(args) == 0 && !slices.ContainsFunc([]string{"seed", "reps", "noise", "output"}, cmd.Flags().Changed) && !slices.Contains([]string{"cells", "claims"}, cli.Format(cmd)):
		return nil
	case len(args) != 1:
		return fmt.Errorf("name one paper: %s", names)
	case !slices.Contains(paperNames(), args[0]):
		return fmt.Errorf("there is no paper %q%s", args[0], table.NameChoices(args[0], paperNames()))
	}
	return nil
}

// listPapers prints the papers that can be reproduced.
func listPapers(cmd *cobra.Command) error {
	papers, err := paper.ReadAll(testdata.Published)
	if err != nil {
		return err
	}
	return cli.Print(cmd, paper.ListDocument(papers))
}

func (r *reproduceFlags) run(cmd *cobra.Command, name string) error {
	if cmd.Flags().Changed("reps") {
		if err := cli.CheckRange("--reps", r.options.Reps, 2, 1_000_000); err != nil {
			return err
		}
	}
	p, err := paper.Read(testdata.Published, name)
	if err != nil {
		return err
	}
	study, err := cli.WithProgress(cmd, func(report func(done, total int)) (*study.Study, error) {
		o := r.options
		o.Progress = report
		study, err := reproducePaper(cmd.Context(), p, o)
		if err != nil {
			return nil, err
		}
		return study, markAssumptionDependentValues(cmd.Context(), p, study)
	})
	if err != nil {
		return fmt.Errorf("reproduce %s: %w", name, err)
	}
	study.Facts = append([][2]string{{"loggp", moduleVersion()}, {"command", cli.CommandLine(cmd, name)}}, study.Facts...)
	if r.outputPath != "" {
		if err := cli.WritePage(cmd, r.outputPath, study.Document(true), "reproduction"); err != nil {
			return err
		}
		if !cmd.Flags().Changed("format") {
			return cli.PrintText(cmd, study.VerdictDocument(false))
		}
	}
	switch cli.Format(cmd) {
	case "table":
		return cli.PrintText(cmd, study.Document(cmd.Flags().Changed("tables")))
	case "markdown":
		return cli.Print(cmd, study.Document(false))
	case "cells":
		return study.WriteCells(cmd.OutOrStdout())
	case "claims":
		return study.WriteClaims(cmd.OutOrStdout())
	}
	return cli.Print(cmd, study.Document(true))
}
