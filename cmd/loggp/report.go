package main

import (
	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
)

func reportCommand() *cobra.Command {
	var dir, params string
	cmd := &cobra.Command{
		Use:   "report SAMPLES.csv... [-o DIR]",
		Short: "Write a page with tables, charts and provenance",
		Long: `report fits parameters to samples and writes a directory: index.html, which needs no network, every
chart as PNG and SVG, and every table as CSV. Without -o it prints the tables. Samples of low-level
messages and of forced protocols add the comparison of equations (1) to (7) with measurements; an
emulated platform adds the source of each of its numbers.

If all samples are from real machines, the page sets the transports side by side: shared memory,
TCP, MPI libraries, and results of other tools.

For collective operations (measure --collective) it shows which algorithm is the fastest for which
ranks and sizes, each algorithm beside LogGP, and machines and libraries side by side. The model
uses --params, or else the single messages among the samples, or else the low-level messages of the
emulated platform.`,
		Example: `  loggp report samples.csv -o report
  loggp report samples.csv message.csv rta.csv -o report
  loggp report here.csv mpi.csv
  loggp report together.csv -o together
  loggp report together.csv samples.csv`,
		Args: cli.RequireArgs("file of samples"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.RejectPrintFlags(cmd); err != nil {
				return err
			}
			d, err := loggp.Report(cmd.Context(), loggp.ReportOptions{Samples: args, ParamsFile: params})
			if err != nil {
				return err
			}
			if dir == "" {
				return cli.Print(cmd, d)
			}
			return cli.WritePage(cmd, dir, d, "report")
		},
	}
	cli.AddPrintFlags(cmd)
	cli.AddOutput(cmd, &dir, "output", "o", "directory to write (default: print the tables)", cli.WritableDirectory)
	cmd.Flags().StringVar(&params, "params", "", "for samples of collective operations: file of parameters for the predictions")
	return cmd
}
