package main

import (
	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
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
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFlagRange("--ranks", o.Ranks, 1, 1_000_000); err != nil {
				return newUsageError(cmd, err)
			}
			checks, err := loggp.CheckHost(cmd.Context(), o)
			if err != nil {
				return err
			}
			if cmd.Flag("format").Value.String() == "json" && !cmd.Flags().Changed("table") {
				err = checks.WriteJSON(cmd.OutOrStdout())
			} else {
				err = printDocument(cmd, checks.Document())
			}
			if err != nil {
				return err
			}
			return checks.Problem()
		},
	}
	cmd.Flags().IntVar(&o.Ranks, "ranks", 2, "number of ranks of the job to be measured")
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "take half a second, with a shorter watch for interruptions")
	addOutputFlags(cmd)
	return cmd
}
