package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports"
)

func platformsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "platforms",
		Short: "List, show and check platforms",
		Long: `A platform is a machine with the message-passing libraries on it: a data file in which every number
has a source. docs/platforms.md explains how to write one for your own machine.`,
		Example: `  loggp platforms
  loggp platforms show t3d
  loggp platforms show t3d --yaml
  loggp platforms validate my.yaml`,
		Args: cli.RejectUnknownCommand,
		RunE: listPlatforms,
	}
	list := &cobra.Command{
		Use:     "list",
		Short:   "List the catalogue",
		Example: "  loggp platforms list",
		Args:    cli.NoArgs,
		RunE:    listPlatforms,
	}
	var picture string
	details := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Show every number of a platform with its basis and source",
		Long: `show prints every number of a platform with its basis and source. With --yaml it prints the platform
file, as a start for your own: change its name and numbers, and pass the file to --platform.
--picture draws the network of kind fabric.`,
		Example: `  loggp platforms show t3d
  loggp platforms show t3d --yaml`,
		Args:              cli.RequireOneArg("platform"),
		ValidArgsFunction: cobra.FixedCompletions(platform.Names(), cobra.ShellCompDirectiveDefault),
		RunE:              func(cmd *cobra.Command, args []string) error { return showPlatform(cmd, args[0], picture) },
	}
	details.Flags().Bool("yaml", false, "print the platform's file")
	cli.AddOutput(details, &picture, "picture", "", "write the picture of the network to this file, as SVG", writableNetworkPicture)
	for _, c := range []*cobra.Command{cmd, list, details} {
		cli.AddPrintFlags(c)
	}
	cmd.AddCommand(list, details, sensitivityCommand(), &cobra.Command{
		Use:     "validate FILE",
		Short:   "Check a platform file",
		Example: "  loggp platforms validate my.yaml",
		Args:    cli.RequireOneArg("file"),
		RunE:    validatePlatform,
	})
	return cmd
}

func listPlatforms(cmd *cobra.Command, _ []string) error {
	all, err := platform.Catalogue()
	if err != nil {
		return err
	}
	return cli.Print(cmd, reports.PlatformList(all))
}

func showPlatform(cmd *cobra.Command, name, picture string) error {
	p, err := loggp.LoadPlatform(name)
	if err != nil {
		return err
	}
	if picture != "" {
		if err := writeNetworkPicture(cmd, picture, p, nil); err != nil {
			return err
		}
	}
	if yaml, _ := cmd.Flags().GetBool("yaml"); yaml {
		if err := cli.RejectFlags(cmd, "--%s: it has no effect with --yaml", "format", "table", "tables", "verbose"); err != nil {
			return err
		}
		_, file, err := platform.Text(name)
		if err != nil {
			return cli.Usage(err)
		}
		_, err = cmd.OutOrStdout().Write(file)
		return err
	}
	return cli.Print(cmd, reports.Platform(p))
}

func validatePlatform(cmd *cobra.Command, args []string) error {
	p, err := platform.Load(args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is valid: %s\n", args[0], p.CountsText())
	return err
}
