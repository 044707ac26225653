package main

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/microbench/paper"
	"github.com/loggp/loggp/reports"
)

// reproduce has the flags of the verb.
type reproduce struct {
	noise, output string
	format        *string
	reps          int
	seed          uint64
}

// papers are those that can be run again, by name.
var papers = map[string]func(context.Context, paper.Options) (*reports.Study, error){"altawil-moritz": paper.Reproduce}

func paperNames() []string {
	var names []string
	for name := range papers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// formats are what can be printed of a study.
var formats = map[string]func(io.Writer, *reports.Study) error{
	"table":  func(w io.Writer, s *reports.Study) error { return reports.StudyText(w, s, style(w)) },
	"cells":  reports.WriteCells,
	"claims": reports.WriteClaims,
}

func reproduceCommand() *cobra.Command {
	var r reproduce
	cmd := &cobra.Command{
		Use:   "reproduce " + strings.Join(paperNames(), "|"),
		Short: "Run a paper's experiments again, and judge its claims",
		Long: `reproduce runs all experiments of a paper on the emulated machines: every table, figure and statement that a program can check, with published,
measured and predicted values side by side. It prints what came of them; -o writes a directory with index.html, which needs no network, cells.csv with a row for each
value, and claims.csv with the verdicts. docs/reproduce.md says how each number is read.`,
		Example: `  loggp reproduce altawil-moritz
  loggp reproduce altawil-moritz -o paper
  loggp reproduce altawil-moritz --reps 20 --noise off --format claims`,
		Args: r.named,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },

		ValidArgsFunction: cobra.FixedCompletions(paperNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	f := cmd.Flags()
	f.Uint64Var(&r.seed, "seed", 1, "of all that is random")
	f.IntVar(&r.reps, "reps", 0, "repetitions with each root of the barrier (default: by platform)")
	f.StringVar(&r.noise, "noise", "on", "timing noise: on (as the platforms say), off, or a deviation such as 5%")
	f.StringVarP(&r.output, "output", "o", "", "directory to write")
	r.format = chosen(cmd, "format", []string{"table", "cells", "claims"}, "table", "what to print")
	return cmd
}

// named wants the name of a paper.
func (r *reproduce) named(cmd *cobra.Command, args []string) error {
	if err := one("paper")(cmd, args); err != nil {
		return fmt.Errorf("%w: there is %s", err, strings.Join(paperNames(), ", "))
	}
	if papers[args[0]] == nil {
		return fmt.Errorf("there is no paper %q: there is %s", args[0], strings.Join(paperNames(), ", "))
	}
	return nil
}

func (r *reproduce) run(cmd *cobra.Command, name string) error {
	o := paper.Options{Seed: r.seed, Reps: r.reps}
	var err error
	if o.Noise, err = parseNoise(r.noise); err == nil && cmd.Flags().Changed("reps") {
		err = inRange("--reps", r.reps, 2, 1_000_000)
	}
	if err == nil {
		err = output(r.output)
	}
	if err != nil {
		return misuse(cmd, err)
	}
	bar := newProgress(cmd.ErrOrStderr(), 1)
	o.Progress = func(done, total int) {
		bar.of(total)
		bar.done(done)
	}
	study, err := papers[name](cmd.Context(), o)
	bar.end()
	if err != nil {
		return fmt.Errorf("reproduce %s: %w", name, err)
	}
	study.Facts = append([][2]string{{"loggp", version()}, {"command", recall(cmd, name)}}, study.Facts...)
	if r.output != "" {
		if err := reports.StudyPage(r.output, study); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "reproduction written to %s/index.html\n", r.output)
		if !cmd.Flags().Changed("format") {
			return nil
		}
	}
	return formats[*r.format](cmd.OutOrStdout(), study)
}
