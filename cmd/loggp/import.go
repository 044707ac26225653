package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/microbench/foreign"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/table"
)

func importCommand() *cobra.Command {
	var file string
	var o foreign.Options
	cmd := &cobra.Command{
		Use:   "import [FORMAT] FILE...",
		Short: "Convert results of other benchmarks to samples",
		Long: `import converts the output of other benchmarks to samples, which can be fitted and compared like
any others. A file may be the log of a job, with the output of several tools. It detects the
formats unless you name one:

` + cli.HelpList(10, foreign.Formats, func(f *foreign.Format) (string, string) { return f.Name, f.Description }) + `
It prints which tables it read and what it left out: results without a matching timer, rows that
cannot be read, and lines that are no results. Several files with the same benchmark are several
launches.`,
		Example: `  loggp import osu-latency.txt osu-bw.txt -o osu.csv
  loggp import prtt trains.csv -o trains-samples.csv --platform-name mycluster --library openmpi
  loggp fit trains-samples.csv -o trains-params.csv`,
		Args: cli.RequireArgs("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Ranks < 0 {
				return cli.Usagef("--ranks %d: it must be at least 1", o.Ranks)
			}
			names := args
			if f := foreign.FormatNamed(args[0]); f != nil {
				o.Format, names = f, args[1:]
			}
			if len(names) == 0 {
				return cli.Usagef("import %s: name at least one file", args[0])
			}
			if _, err := os.Stat(names[0]); len(names) > 1 && o.Format == nil && names[0] != cli.StandardStream && errors.Is(err, os.ErrNotExist) {
				return cli.Usagef("import: %q is neither a format nor a file%s", names[0], table.NameChoices(names[0], foreign.CompletionNames()))
			}
			for i, name := range names {
				if slices.Contains(names[:i], name) {
					return cli.Usagef("import: %s is named twice, and would count as two launches", name)
				}
			}
			set, report, err := foreign.ImportFiles(names, o)
			if err != nil {
				return err
			}
			set.Facts = append([]sample.Fact{{Key: "command", Value: cli.CommandLine(cmd, args...)}}, set.Facts...)
			if err := writeSamples(cmd, set, cmp.Or(file, cli.StandardStream)); err != nil {
				return err
			}
			cli.PrintLines(cmd, "read ", report.Tables)
			cli.PrintLines(cmd, "left out of ", report.Notes)
			return nil
		},
		ValidArgsFunction: cli.CompleteFirstArg(foreign.CompletionNames(), cobra.ShellCompDirectiveDefault),
	}
	cli.AddOutput(cmd, &file, "output", "o", "file for the samples, as CSV (default: standard output)", cli.WritableFile)
	cmd.Flags().StringVar(&o.Platform, "platform-name", "", "platform of the samples (default: the name of the format)")
	cmd.Flags().StringVar(&o.Library, "library", "", "library of the samples (default: what the file says, or none)")
	o.Place = "inter"
	cli.AddParsed(cmd, &o.Place, "place", o.Place, parsePlaceName, "where the two ranks were: inter, intra, or two ranks such as 0-7")
	cmd.Flags().IntVar(&o.Ranks, "ranks", 0, "ranks of collective operations, if the tool does not print them")
	cli.AddCompletion(cmd, "place", loggp.Places)
	return cmd
}

// parsePlaceName accepts the names of loggp.Places, and two ranks.
func parsePlaceName(place string) (string, error) {
	if _, _, pair := sample.ParsePairPlace(place); !pair && !slices.Contains(loggp.Places, place) {
		return "", fmt.Errorf("there is no place %q%s, or two ranks such as 0-7", place, table.NameChoices(place, loggp.Places))
	}
	return place, nil
}

// writeSamples writes a set to a file, as its name says.
func writeSamples(cmd *cobra.Command, set *sample.Set, file string) error {
	write := sample.Write
	if cli.FileExtension(file) == ".json" {
		write = sample.WriteJSON
	}
	return cli.WriteFile(cmd, file, func(w io.Writer) error { return write(w, set) }, "%d samples", set.SampleCount())
}
