package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
)

// alltoallvFlags has the flags of schedule alltoallv.
type alltoallvFlags struct {
	options                 loggp.ExchangeOptions
	outputPath, pictureFile string
	ranks                   int
}

func alltoallvCommand() *cobra.Command {
	var a alltoallvFlags
	cmd := &cobra.Command{
		Use:   "alltoallv --from RECORD",
		Short: "Divide the exchanges of a recorded program into phases without contention",
		Long: `alltoallv divides the messages of each MPI_Alltoallv of a program into phases in which no rank sends
twice or receives twice, with a barrier between phases, as CC-MPI does. It prints how many phases
each of its two schedulers makes, and their predicted time on a platform. -o writes the phases; with
'loggp run --phases FILE' the program's next run exchanges no lengths and computes no phases (level
3 of CC-MPI).

RECORD is a schedule that 'loggp run --record' has written, or a CSV file of messages with the
columns source, destination and bytes, and exchange if there are several.`,
		Example: `  loggp run --platform cc-cluster --library cc-mpi -n 8 --record is.goal npb-is
  loggp schedule alltoallv --from is.goal --picture phases.svg -o phases.csv
  loggp run --platform cc-cluster --library cc-mpi -n 8 --phases phases.csv npb-is`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd) },
	}
	f, o := cmd.Flags(), &a.options
	f.StringVar(&o.From, "from", "", "schedule of 'loggp run --record', or CSV file of messages")
	f.StringVar(&o.Platform, "platform", "cc-cluster", "machine of the prediction")
	f.StringVar(&o.Library, "library", "", "library on the machine (default: its first one that exchanges in phases)")
	cli.AddChoice(cmd, &o.Scheduler, "scheduler", phases.SchedulerNames(), "", "which phases are written (default: the library's)", nil)
	cli.AddParsed(cmd, &o.Threshold, "threshold", "", cli.Pointer(unit.ParseSize), "once all messages that are left are shorter than this they form the last phase together (default: the library's)")
	cli.AddParsed(cmd, &o.Exchange, "exchange", "-1", cli.Pointer(strconv.Atoi), "number of the exchange whose phases are listed and drawn (default: the one that takes longest)").TypeName = "int"
	f.IntVarP(&a.ranks, "ranks", "n", 0, "number of ranks of a file of messages (default: as many as it names)")
	cli.AddOutput(cmd, &a.pictureFile, "picture", "", "SVG file for a time line of an exchange, as it is predicted", cli.WritableWithExtension(".svg", "the picture is an SVG file"))
	cli.AddOutput(cmd, &a.outputPath, "output", "o", "file for the phases, as CSV", cli.WritableFile)
	cli.AddPrintFlags(cmd)
	cli.AddCompletion(cmd, "platform", emulatedPlatformNames)
	return cmd
}

func (a *alltoallvFlags) run(cmd *cobra.Command) (err error) {
	if a.options.From == "" {
		return cli.Usagef("--from: say which record: one that 'loggp run --record' has written, or a CSV file of messages")
	}
	if a.options.Exchanges, err = a.readExchanges(cmd); err != nil {
		return err
	}
	p, err := loggp.PlanExchanges(cmd.Context(), a.options)
	if err != nil {
		return err
	}
	if err := cli.Print(cmd, p.Document()); err != nil {
		return err
	}
	if err := cli.WriteFile(cmd, a.outputPath, p.WritePhases, "phases of %s, by %s,", format.PluralInWords(len(a.options.Exchanges), "exchange"), p.SchedulerName()); err != nil {
		return err
	}
	if a.pictureFile == "" {
		return nil
	}
	return cli.WriteChart(cmd, a.pictureFile, p.Chart(), "time line of exchange %d", p.ListedExchange)
}

// readExchanges reads the exchanges of a record.
func (a *alltoallvFlags) readExchanges(cmd *cobra.Command) ([]phases.Exchange, error) {
	if filepath.Ext(a.options.From) == ".csv" {
		f, err := cli.OpenInput(cmd, a.options.From)
		if err != nil {
			return nil, fmt.Errorf("messages: %w", err)
		}
		defer f.Close()
		return phases.ReadPattern(f, a.options.From, a.ranks)
	}
	if a.ranks != 0 {
		return nil, cli.Usagef("--ranks: it is for a CSV file of messages, and %s says itself how many there are", a.options.From)
	}
	s, err := readSchedule(cmd, a.options.From)
	if err != nil {
		return nil, err
	}
	all, err := phases.Recorded(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.options.From, err)
	}
	return all, nil
}
