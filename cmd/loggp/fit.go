package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
)

// fitting has the flags of the verb.
type fitting struct {
	file             string
	format, view     *string
	verbose, holdOut bool
}

// Views of what was fitted.
const (
	viewLogGP  = "loggp"
	viewLogGPS = "loggps"
	viewPLogP  = "plogp"
)

func fitCommand() *cobra.Command {
	var f fitting
	cmd := &cobra.Command{
		Use:   "fit SAMPLES.csv...",
		Short: "Fit LogGP parameters to samples",
		Long: `fit derives L, o_s, o_r, g and G from samples by the rules of Al-Tawil and Moritz, with 95 %
confidence intervals. It finds the sizes at which the library changes its protocol, and warns about
doubtful numbers. From samples of all pairs of ranks it finds tiers of ranks that are near each
other, H and P, and the parameters of each tier.

--view plogp shows overheads and gap as functions of the size (PLogP); --view loggps shows the eager
limit S (LogGPS).`,
		Example: `  loggp fit samples.csv
  loggp fit samples.csv message.csv -o params.csv
  loggp fit pairs.csv -o tiers.csv
  loggp fit here.csv --view plogp
  loggp fit here.csv --view loggps
  loggp fit here.csv --holdout`,
		Args: some("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "output", "o", "", "file for the parameters, as CSV")
	f.format = chosen(cmd, "format", []string{"table", "csv", "json", "markdown"}, "table", "what to print")
	f.view = chosen(cmd, "view", []string{viewLogGP, viewLogGPS, viewPLogP}, viewLogGP, "model of the printed parameters")
	flags.BoolVar(&f.verbose, "verbose", false, "print every warning, not one line for each cause")
	flags.BoolVar(&f.holdOut, "holdout", false, "fit every other size, predict half round trips at the sizes between, and print how far off they are")
	return cmd
}

func (f *fitting) run(cmd *cobra.Command, args []string) error {
	if err := output(f.file); err != nil {
		return misuse(cmd, err)
	}
	if f.holdOut && (f.file != "" || *f.format != "table" && *f.format != "markdown" || *f.view != viewLogGP) {
		return misuse(cmd, errors.New("--holdout: it prints a table of errors; leave out -o, --format and --view"))
	}
	set, err := sample.ReadFile(args...)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.holdOut {
		hs, err := compare.HoldOut(set, clean.Options{})
		if err != nil {
			return err
		}
		return text(cmd, reports.HeldOut(hs))
	}
	result, err := fit.Fit(set, clean.Options{})
	if err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if *f.format == "csv" && f.file == "" {
		return f.csv(out, result)
	}
	if f.file != "" {
		if err := keep(cmd, f.file, func(w io.Writer) error { return f.csv(w, result) }, "%d parameters", len(result.Parameters)); err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
	}
	return f.print(cmd, result)
}

// csv writes what goes to files: parameters with the groups of tiers above them, or the functions
// of PLogP.
func (f *fitting) csv(w io.Writer, r *fit.Result) error {
	if *f.view == viewPLogP {
		return params.WritePLogP(w, r.PLogP)
	}
	return params.WriteParameters(w, r.Parameters, tiers.GroupFacts(r.Tiers)...)
}

// print prints the tables of a view.
func (f *fitting) print(cmd *cobra.Command, r *fit.Result) error {
	switch *f.view {
	case viewPLogP:
		return show(cmd, reports.PLogP(r))
	case viewLogGPS:
		return show(cmd, reports.LogGPS(r))
	}
	return show(cmd, reports.Parameters(r))
}

// byRealClock says whether samples are of a real machine, which give many warnings.
func byRealClock(set *sample.Set) bool {
	for i := range set.Series {
		if set.Series[i].Clock == "real" {
			return true
		}
	}
	return false
}
