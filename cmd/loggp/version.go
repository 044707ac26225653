package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/real/launch"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  loggp version",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "loggp %s, built with %s\n", moduleVersion(), runtime.Version())
			return err
		},
	}
}

// moduleVersion returns the module's version, as the go command knows it.
func moduleVersion() string { return launch.ProgramVersion() }
