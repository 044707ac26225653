package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/calibrate"
	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/study"
	"github.com/loggp/loggp/testdata"
)

// reproduceFlags has the flags of the verb.
type reproduceFlags struct {
	noiseText, outputPath string
	reps                  int
	seed                  uint64
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
	f.Uint64Var(&r.seed, "seed", 1, "seed of the random numbers")
	f.IntVar(&r.reps, "reps", 0, "repetitions with each root of the barrier (default: by platform)")
	f.StringVar(&r.noiseText, "noise", "on", "timing noise: on (that of the platforms), off, or a relative standard deviation such as 5%")
	f.StringVarP(&r.outputPath, "output", "o", "", "directory to write")
	addFormatFlags(cmd, "cells", "claims")
	return cmd
}

// checkPaperNames wants the name of a paper, or nothing at all.
func (r *reproduceFlags) checkPaperNames(cmd *cobra.Command, args []string) error {
	names := strings.Join(paperNames(), ", ")
	switch {
	case len(args) == 0 && !slices.ContainsFunc([]string{"seed", "reps", "noise", "output"}, cmd.Flags().Changed) && !slices.Contains([]string{"cells", "claims"}, cmd.Flag("format").Value.String()):
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
	t := &doc.Table{Name: "papers", Title: "Papers", Columns: []doc.Column{{Heading: "paper", IsKey: true}, {Heading: "claims", Kind: doc.NumberColumn}, {Heading: "source", Kind: doc.ProseColumn}}}
	papers, err := paper.ReadAll(testdata.Published)
	if err != nil {
		return err
	}
	for _, p := range papers {
		t.AddRow(doc.TextCell(p.Name), doc.CountCell(len(p.Claims)), doc.TextCell(p.Source))
	}
	d := &doc.Document{}
	d.AddTables("papers", "Papers", t)
	return printDocument(cmd, d)
}

func (r *reproduceFlags) run(cmd *cobra.Command, name string) error {
	o := paper.Options{Seed: r.seed, Reps: r.reps}
	var err error
	if o.Noise, err = parseNoise(r.noiseText); err == nil && cmd.Flags().Changed("reps") {
		err = checkFlagRange("--reps", r.reps, 2, 1_000_000)
	}
	if err == nil {
		err = checkWritableDirectory(r.outputPath)
	}
	if err != nil {
		return newUsageError(cmd, err)
	}
	p, err := paper.Read(testdata.Published, name)
	if err != nil {
		return err
	}
	bar := newProgressBar(cmd.ErrOrStderr(), 1)
	o.Progress = bar.Report
	study, err := reproducePaper(cmd.Context(), p, o)
	if err == nil {
		err = markAssumptionDependentValues(cmd.Context(), p, study)
	}
	bar.End()
	if err != nil {
		return fmt.Errorf("reproduce %s: %w", name, err)
	}
	study.Facts = append([][2]string{{"loggp", moduleVersion()}, {"command", recordedCommandLine(cmd, name)}}, study.Facts...)
	if r.outputPath != "" {
		if err := writeHTMLPage(cmd, r.outputPath, study.Document(true), "reproduction"); err != nil {
			return err
		}
		if !cmd.Flags().Changed("format") {
			return printDocumentAsText(cmd, study.Verdicts(false))
		}
	}
	switch cmd.Flag("format").Value.String() {
	case "table":
		return printDocumentAsText(cmd, study.Document(cmd.Flags().Changed("tables")))
	case "markdown":
		return printDocument(cmd, study.Document(false))
	case "cells":
		return study.WriteCells(cmd.OutOrStdout())
	case "claims":
		return study.WriteClaims(cmd.OutOrStdout())
	}
	return printDocument(cmd, study.Document(true))
}
