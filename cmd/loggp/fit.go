package main

import (
	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
)

func fitCommand() *cobra.Command {
	var o loggp.FitOptions
	var file string
	var holdOut bool
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
		Args: cli.RequireArgs("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Files = args
			if holdOut {
				if file != "" || !cli.PrintsText(cmd) || o.View != loggp.ViewLogGP {
					return cli.Usagef("--holdout: it prints only a table of errors; leave out -o, --format and --view")
				}
				d, err := loggp.HoldOut(o)
				if err != nil {
					return err
				}
				return cli.PrintText(cmd, d)
			}
			r, err := loggp.Fit(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := cli.WriteFile(cmd, file, r.WriteCSV, "%d parameters", len(r.Result.Parameters)); err != nil {
				return err
			}
			return cli.Print(cmd, r.Document())
		},
	}
	cli.AddOutput(cmd, &file, "output", "o", "file for the parameters, as CSV", cli.WritableCSV)
	cli.AddPrintFlags(cmd)
	cli.AddChoice(cmd, &o.View, "view", []string{loggp.ViewLogGP, loggp.ViewLogGPS, loggp.ViewPLogP}, loggp.ViewLogGP, "model of the printed parameters", nil)
	cmd.Flags().BoolVar(&holdOut, "holdout", false, "fit every second size, predict half round trips at the sizes in between, and print the errors")
	return cmd
}
