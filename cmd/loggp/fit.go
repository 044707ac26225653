package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports"
)

func fitCommand() *cobra.Command {
	var file string
	var format *string
	cmd := &cobra.Command{
		Use:   "fit SAMPLES.csv...",
		Short: "Fit LogGP parameters to samples",
		Long: `fit derives L, o_s, o_r, g and G from samples by the rules of Al-Tawil and Moritz, with 95 % intervals, finds the ranges of
length between which the library changes its ways, and says which numbers to doubt. In samples of all pairs of ranks it finds which are near
each other, and gives the parameters of each tier, H and P.`,
		Example: `  loggp fit samples.csv
  loggp fit samples.csv message.csv -o params.csv
  loggp fit pairs.csv -o tiers.csv`,
		Args: some("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output(file); err != nil {
				return misuse(cmd, err)
			}
			set, err := sample.ReadFile(args...)
			if err != nil {
				return err
			}
			result, err := fit.Fit(set, fit.Options{})
			if err != nil {
				return err
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			write := func(w io.Writer) error {
				if err := fit.WriteGroups(w, result.Tiers); err != nil {
					return err
				}
				return fit.WriteParameters(w, result.Parameters)
			}
			out := cmd.OutOrStdout()
			if *format == "csv" && file == "" {
				return write(out)
			}
			if file != "" {
				if err := sample.Save(file, write); err != nil {
					return fmt.Errorf("parameters: %w", err)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%d parameters written to %s\n", len(result.Parameters), file)
			}
			return reports.Parameters(out, result, style(out))
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "file for the parameters, as CSV")
	format = chosen(cmd, "format", []string{"table", "csv"}, "table", "what to print")
	return cmd
}
