package main

import (
	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
)

func doctorCommand() *cobra.Command {
	var o loggp.HostOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine for what disturbs measurements, and say what to do",
		Long: `doctor checks this machine before a measurement: processors and their load, interruptions, clock
rates, container limits, the clock, cache line transfers, memory, and the installed MPI. It changes
nothing, and takes about two seconds.

A note is something that results depend on; a warning is something that disturbs them; a problem
makes measuring impossible. The exit status is 1 if there is a problem, else 0.`,
		Example: `  loggp doctor
  loggp doctor --ranks 4 --quick
  loggp doctor --quick --format json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckRange("--ranks", o.Ranks, 1, 1_000_000); err != nil {
				return err
			}
			checks, err := loggp.CheckHost(cmd.Context(), o)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == "json" && !cmd.Flags().Changed("table") {
				err = checks.WriteJSON(cmd.OutOrStdout())
			} else {
				err = cli.Print(cmd, checks.Document())
			}
			if err != nil {
				return err
			}
			return checks.Problem()
		},
	}
	cmd.Flags().IntVar(&o.Ranks, "ranks", 2, "number of ranks of the job to be measured")
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "take half a second, with a shorter watch for interruptions")
	cli.AddPrintFlags(cmd)
	return cmd
}
