package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// compareFlags has the flags of the verb.
type compareFlags struct {
	options         loggp.CompareOptions
	maxSlowdown     *float64 // nil: any
	outputPath      string
	scheduleOptions loggp.ScheduleOptions
	scheduleFiles   []string
}

func compareCommand() *cobra.Command {
	var c compareFlags
	cmd := &cobra.Command{
		Use:   "compare A.csv B.csv | --samples A.csv --samples B.csv... | --samples SAMPLES.csv --params PARAMS.csv | --platform NAME,... --collective all",
		Short: "Compare runs, machines, or predictions with measurements",
		Long: `compare A.csv B.csv shows how much faster or slower each time of B is than that of A, the reference,
with the confidence interval of the change, and the geometric mean. With --fail-over 5% the exit
status is 1 if the mean or a time is slower by more than 5 % with its whole interval, 3 if it is
slower by more than 5 % but its interval includes 5 % (inconclusive), and 0 otherwise.

With several --samples it sets machines, libraries or places side by side: overheads and parameters
with intervals, ratios to the first, the size from which non-blocking calls pay off, and the sizes up
to which each machine is the faster one.

With --params it predicts the times in the samples: T_s and T_s-r of protocols by equations (1) to
(7), from parameters of low-level messages, and one-way times by equation (9), or (8) within a node.
Overheads are compared with their own fitted line, and marked as calibration.

For samples of collective operations (measure --collective) it compares each algorithm with LogGP,
and shows which algorithm is fastest by measurement and by the model. The model uses --params, or
else low-level messages of the emulated platform. A vendor's MPI, whose algorithms are unknown, is
compared by its total times.

With --platform it runs schedules on machines and simulates them by LogGOPS, with parameters that
are given or fitted to each machine, to show where LogGOPS is accurate.`,
		Example: `  loggp compare here.csv mpi.csv
  loggp compare --samples samples.csv --samples intra.csv
  loggp compare --samples samples.csv --samples intra.csv --margin 50% --sizes 16,10KB -o side-by-side.csv
  loggp compare --samples rta.csv --params params.csv
  loggp compare --samples rta.csv --params params.csv -o comparison.csv
  loggp compare --samples together.csv -o together-comparison.csv
  loggp compare --platform t3d,now,convex -n 8 --collective all
  loggp compare --platform shm -n 2 --collective bcast,allreduce --sizes 8,4KiB`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 && !cmd.Flags().Changed("platform") {
				return errors.New("compare: name two files, the reference first; name more than two, and several files of one machine, with --samples")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("platform") {
				if len(args) > 0 {
					return cli.Usagef("--platform: it runs schedules and takes no files of samples")
				}
				if err := cli.RejectFlags(cmd, "--%s: it does not go with --platform, which runs schedules", "samples", "margin", "fail-over"); err != nil {
					return err
				}
				return c.compareSchedules(cmd)
			}
			if err := cli.RejectFlags(cmd, "--%s: it needs --platform, machines that run schedules", "schedule", "collective", "library", "loggops", "ranks"); err != nil {
				return err
			}
			if len(args) == 2 {
				return c.compareRuns(cmd, args[0], args[1])
			}
			return c.compareSamples(cmd)
		},
	}
	c.addFlags(cmd)
	return cmd
}

// addFlags declares the flags.
func (c *compareFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&c.options.Samples, "samples", nil, "file of samples; may be given more than once, and files of one machine are joined")
	f.StringVar(&c.options.ParamsFile, "params", "", paramsHelp)
	cli.AddParsed(cmd, &c.options.Margin, "margin", "20%", parseMargin, "how much more a blocking call must cost for the non-blocking one to pay off")
	cli.AddParsed(cmd, &c.options.Sizes, "sizes", "", unit.ParseSizes, "message sizes at which to show overheads (default: those nearest to 16 bytes, 1 KB and 10 KB)")
	cli.AddParsed(cmd, &c.maxSlowdown, "fail-over", "", cli.Pointer(parseMaxSlowdown), "for A.csv B.csv: fail if B is slower by more than this, such as 5%; exit status 3 if the interval includes it")
	cli.AddOutput(cmd, &c.outputPath, "output", "o", "file for the comparison, as CSV, with all sizes", cli.WritableCSV)
	c.addScheduleFlags(cmd)
	cli.AddPrintFlags(cmd)
}

// parseMargin returns a margin as an option, where none is the smallest that is not 0.
func parseMargin(text string) (float64, error) {
	x, err := unit.ParsePercent(text)
	switch {
	case err != nil:
		err = cli.ValueError(err.Error())
	case x == 0:
		x = math.SmallestNonzeroFloat64
	}
	return x, err
}

// parseMaxSlowdown returns the part by which times may grow.
func parseMaxSlowdown(text string) (float64, error) {
	x, err := unit.ParsePercent(text)
	if err != nil || x < 0 {
		err = cli.ValueError("it must be a percentage such as 5%")
	}
	return x, err
}

// compareRuns compares each time of a file with that of a reference.
func (c *compareFlags) compareRuns(cmd *cobra.Command, reference, file string) error {
	if err := cli.RejectFlags(cmd, "--%s: it does not go with two files as arguments: name them with --samples", "samples", "params", "margin", "sizes"); err != nil {
		return err
	}
	x, err := loggp.CompareRuns(reference, file)
	if err != nil {
		return err
	}
	if err := c.writeComparison(cmd, x.Rows, x.Document()); err != nil || c.maxSlowdown == nil {
		return err
	}
	r := x.JudgeRegression(*c.maxSlowdown)
	judgement := fmt.Errorf("compare: %s against %s: %v", file, reference, r)
	switch r.Judgement {
	case compare.PassJudgement:
		fmt.Fprintln(cmd.ErrOrStderr(), judgement)
		return nil
	case compare.UndecidedJudgement:
		return &inconclusiveError{judgement}
	}
	return judgement
}

// compareSamples compares machines, or predictions with measurements.
func (c *compareFlags) compareSamples(cmd *cobra.Command) error {
	if c.maxSlowdown != nil {
		return cli.Usagef("--fail-over: it needs two files as arguments, the reference first")
	}
	x, err := loggp.Compare(cmd.Context(), c.options)
	if err != nil {
		return err
	}
	return c.writeComparison(cmd, x.Rows, x.Document())
}

// writeComparison prints a comparison. If there is to be a file, it has the CSV.
func (c *compareFlags) writeComparison(cmd *cobra.Command, rows int, d *doc.Document) error {
	if err := cli.WriteCSV(cmd, c.outputPath, d, "%d comparisons", rows); err != nil {
		return err
	}
	return cli.Print(cmd, d)
}
