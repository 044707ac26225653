package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/fit/export"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

func exportCommand() *cobra.Command {
	var file, overheads string
	var o export.Options
	cmd := &cobra.Command{
		Use:   "export " + strings.Join(export.Names(), "|") + " PARAMS.csv",
		Short: "Write parameters for other tools",
		Long: `export writes fitted parameters (fit -o) for other tools:

` + cli.HelpList(9, export.Formats, func(f *export.Format) (string, string) { return f.Name, f.Description }) + `
The output says how each number was derived. If the tool needs a parameter that the samples do not
determine, the error says what to measure.`,
		Example: `  loggp export json params.csv
  loggp export simgrid trains-params.csv -o platform.xml
  loggp export logopsim trains-params.csv --bounds -o loggopsim.sh`,
		Args: checkExportArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "json" {
				if err := cli.RejectFlags(cmd, "--%s: it has no effect on json, which has the parameters as they are", "eager", "bounds", "overheads"); err != nil {
					return err
				}
			}
			o.TakesSmallOverheads = overheads == "small"
			p, err := loggp.ReadParameters(args[1])
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return export.Write(w, export.FormatNamed(args[0]), p.All, o) }
			if err := cli.WriteFileOrPrint(cmd, file, write, "parameters for %s", args[0]); err != nil {
				return fmt.Errorf("%s: %w", args[1], err)
			}
			return nil
		},
		ValidArgsFunction: cli.CompleteFirstArg(export.Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	f := cmd.Flags()
	cli.AddOutput(cmd, &file, "output", "o", "file to write (default: standard output)", cli.WritableFile)
	f.StringVar(&o.Platform, "platform-name", "", "platform, if the parameters are of several")
	f.StringVar(&o.Library, "library", "", "library, if the parameters are of several")
	f.StringVar(&o.Place, "place", "", "place, if the parameters are of several: inter, intra or another")
	f.StringVar(&o.Mode, "mode", "", "mode of the send calls (default: send; for JSON all)")
	cli.AddParsed(cmd, &o.EagerLimit, "eager", "", parseEagerLimit, "eager limit, such as 4KiB (default: found from round trips or o_s)")
	f.BoolVar(&o.TakesBounds, "bounds", false, "export a bound of g if g itself is not known")
	cli.AddChoice(cmd, &overheads, "overheads", []string{"measured", "small"}, "measured", "overheads as measured at each size, or those of small messages at all sizes", nil)
	cli.AddCompletion(cmd, "place", loggp.Places)
	return cmd
}

func checkExportArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 2:
		return fmt.Errorf("export: name a format (%s) and one file of parameters", strings.Join(export.Names(), ", "))
	case !slices.Contains(export.Names(), args[0]):
		return fmt.Errorf("export: there is no format %q%s", args[0], table.NameChoices(args[0], export.Names()))
	}
	return nil
}

// parseEagerLimit returns the eager limit in bytes.
func parseEagerLimit(text string) (int, error) {
	n, err := unit.ParseSize(text)
	if err != nil || n < 1 {
		err = cli.ValueError("it must be a size of at least 1 byte, such as 4KiB")
	}
	return n, err
}
