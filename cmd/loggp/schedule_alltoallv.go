package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// alltoallvFlags has the flags of schedule alltoallv.
type alltoallvFlags struct {
	inputRecordFile, platform, library, lastPhaseThresholdText, outputPath, pictureFile string
	scheduler                                                                           *string
	ranks, exchangeIndex                                                                int
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
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&a.inputRecordFile, "from", "", "schedule of 'loggp run --record', or CSV file of messages")
	f.StringVar(&a.platform, "platform", "cc-cluster", "machine of the prediction")
	f.StringVar(&a.library, "library", "", "library on the machine (default: its first one that exchanges in phases)")
	a.scheduler = addChoiceFlag(cmd, "scheduler", phases.SchedulerNames(), "", "which phases are written (default: the library's)")
	f.StringVar(&a.lastPhaseThresholdText, "threshold", "", "once all messages that are left are shorter than this they form the last phase together (default: the library's)")
	f.IntVar(&a.exchangeIndex, "exchange", -1, "number of the exchange whose phases are listed and drawn (default: the one that takes longest)")
	f.IntVarP(&a.ranks, "ranks", "n", 0, "number of ranks of a file of messages (default: as many as it names)")
	f.StringVar(&a.pictureFile, "picture", "", "SVG file for a time line of an exchange, as it is predicted")
	f.StringVarP(&a.outputPath, "output", "o", "", "file for the phases, as CSV")
	addOutputFlags(cmd)
	addFlagCompletion(cmd, "platform", platform.Names())
	return cmd
}

func (a *alltoallvFlags) run(cmd *cobra.Command) error {
	if a.inputRecordFile == "" {
		return newUsageError(cmd, errors.New("--from: say which record: one that 'loggp run --record' has written, or a CSV file of messages"))
	}
	if a.pictureFile != "" && filepath.Ext(a.pictureFile) != ".svg" {
		return newUsageError(cmd, fmt.Errorf("--picture %s: it is an SVG file, name it so", a.pictureFile))
	}
	o := loggp.ExchangeOptions{From: a.inputRecordFile, Platform: a.platform, Library: a.library, Scheduler: *a.scheduler}
	err := applyGivenFlags(cmd, []optionSetter{
		{"threshold", parseInto(&o.Threshold, pointerParser(unit.ParseSize))},
		{"exchange", parseInto(&o.Exchange, pointerParser(strconv.Atoi))},
	})
	if err := errors.Join(err, checkWritableFile(a.outputPath), checkWritableFile(a.pictureFile)); err != nil {
		return newUsageError(cmd, err)
	}
	if o.Exchanges, err = a.readExchanges(cmd); err != nil {
		return err
	}
	p, err := loggp.PlanExchanges(cmd.Context(), o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	if err := printDocument(cmd, p.Document()); err != nil {
		return err
	}
	if err := writeFile(cmd, a.outputPath, p.WritePhases, "phases of %s, by %s,", format.PluralInWords(len(o.Exchanges), "exchange"), p.SchedulerName()); err != nil {
		return err
	}
	if err := writeFile(cmd, a.pictureFile, func(w io.Writer) error { return p.Chart().SVG(w, chart.DefaultWidth) }, "time line of exchange %d", p.ListedExchange); err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	return nil
}

// readExchanges reads the exchanges of a record.
func (a *alltoallvFlags) readExchanges(cmd *cobra.Command) ([]phases.Exchange, error) {
	if filepath.Ext(a.inputRecordFile) == ".csv" {
		f, err := openInput(cmd, a.inputRecordFile)
		if err != nil {
			return nil, fmt.Errorf("messages: %w", err)
		}
		defer f.Close()
		return phases.ReadPattern(f, a.inputRecordFile, a.ranks)
	}
	if a.ranks != 0 {
		return nil, newUsageError(cmd, fmt.Errorf("--ranks: it is for a CSV file of messages, and %s says itself how many there are", a.inputRecordFile))
	}
	s, err := readSchedule(cmd, a.inputRecordFile)
	if err != nil {
		return nil, err
	}
	all, err := phases.Recorded(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.inputRecordFile, err)
	}
	return all, nil
}
