package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/timeline"
)

// alltoallv has the flags of schedule alltoallv.
type alltoallv struct {
	from, platform, library, threshold, output, picture string
	scheduler                                           *string
	ranks, exchange                                     int
}

func alltoallvCommand() *cobra.Command {
	var a alltoallv
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
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&a.from, "from", "", "schedule of 'loggp run --record', or CSV file of messages")
	f.StringVar(&a.platform, "platform", "cc-cluster", "machine of the prediction")
	f.StringVar(&a.library, "library", "", "library on the machine (default: its first one that exchanges in phases)")
	a.scheduler = chosen(cmd, "scheduler", schedulerNames(), "", "which phases are written (default: the library's)")
	f.StringVar(&a.threshold, "threshold", "", "once all messages that are left are shorter than this they form the last phase together (default: the library's)")
	f.IntVar(&a.exchange, "exchange", -1, "number of the exchange whose phases are listed and drawn (default: the one that takes longest)")
	f.IntVarP(&a.ranks, "ranks", "n", 0, "number of ranks of a file of messages (default: as many as it names)")
	f.StringVar(&a.picture, "picture", "", "SVG file for a time line of an exchange, as it is predicted")
	f.StringVarP(&a.output, "output", "o", "", "file for the phases, as CSV")
	printing(cmd)
	mustComplete(cmd, "platform", platform.Names())
	return cmd
}

func schedulerNames() []string {
	var names []string
	for _, s := range phases.Schedulers {
		names = append(names, s.Name)
	}
	return names
}

func (a *alltoallv) run(cmd *cobra.Command) error {
	if a.from == "" {
		return misuse(cmd, errors.New("--from: say which record: one that 'loggp run --record' has written, or a CSV file of messages"))
	}
	if a.picture != "" && filepath.Ext(a.picture) != ".svg" {
		return misuse(cmd, fmt.Errorf("--picture %s: it is an SVG file, name it so", a.picture))
	}
	if err := errors.Join(output(a.output), output(a.picture)); err != nil {
		return misuse(cmd, err)
	}
	exchanges, err := a.read(cmd)
	if err != nil {
		return err
	}
	ranks := 0
	for _, x := range exchanges {
		ranks = max(ranks, len(x.Members), slices.Max(x.Members)+1)
	}
	p, by, err := a.prediction(cmd, exchanges, ranks)
	if err != nil {
		return err
	}
	threshold := by.Threshold
	if a.threshold != "" {
		if threshold, err = unit.ParseSize(a.threshold); err != nil {
			return misuse(cmd, fmt.Errorf("--threshold: %w", err))
		}
	}
	for i, s := range phases.Schedulers {
		planned := timeline.SchedulerPlan{Scheduler: s}
		for k, x := range exchanges {
			plan, err := x.Plan(s, threshold)
			if err != nil {
				return fmt.Errorf("%s: exchange %d: %w", a.from, k, err)
			}
			planned.Schedules = append(planned.Schedules, plan)
		}
		p.Planned = append(p.Planned, planned)
		if s.Name == *a.scheduler || *a.scheduler == "" && s.Name == by.Scheduler {
			p.Chosen = i
		}
	}
	switch {
	case !cmd.Flags().Changed("exchange"):
		p.Shown = p.Longest()
	case a.exchange < 0 || a.exchange >= len(exchanges):
		return misuse(cmd, fmt.Errorf("--exchange %d: %s has exchanges 0 to %d", a.exchange, a.from, len(exchanges)-1))
	default:
		p.Shown = a.exchange
	}
	if err := show(cmd, p.Document()); err != nil {
		return err
	}
	chosen := p.Planned[p.Chosen]
	if a.output != "" {
		facts := []table.Fact{{Key: "scheduler", Value: chosen.Scheduler.Name}, {Key: "threshold", Value: fmt.Sprint(threshold)}}
		if err := sample.Save(a.output, func(w io.Writer) error { return phases.WriteSchedules(w, chosen.Schedules, facts...) }); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "phases of %s, by %s, written to %s\n", count(len(exchanges), "exchange"), chosen.Scheduler.Name, a.output)
	}
	if a.picture != "" {
		if err := sample.Save(a.picture, func(w io.Writer) error { return p.Chart().SVG(w, chart.Width) }); err != nil {
			return fmt.Errorf("picture: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "time line of exchange %d written to %s\n", p.Shown, a.picture)
	}
	return nil
}

// read reads the exchanges of a record.
func (a *alltoallv) read(cmd *cobra.Command) ([]phases.Exchange, error) {
	if filepath.Ext(a.from) == ".csv" {
		f, err := os.Open(a.from)
		if err != nil {
			return nil, fmt.Errorf("messages: %w", err)
		}
		defer f.Close()
		return phases.ReadPattern(f, a.from, a.ranks)
	}
	if a.ranks != 0 {
		return nil, misuse(cmd, fmt.Errorf("--ranks: it is for a CSV file of messages, and %s says itself how many there are", a.from))
	}
	s, err := readSchedule(cmd, a.from)
	if err != nil {
		return nil, err
	}
	all, err := phases.Recorded(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.from, err)
	}
	return all, nil
}

// prediction says what messages and barriers take by the closed forms of a platform, and how its
// library plans.
func (a *alltoallv) prediction(cmd *cobra.Command, exchanges []phases.Exchange, ranks int) (*timeline.PhasedExchanges, *model.Compiled, error) {
	known, err := load(cmd, a.platform)
	if err != nil {
		return nil, nil, err
	}
	library := a.library
	if i := slices.IndexFunc(known.Libraries, func(l *model.Library) bool { return l.Compiled != nil }); library == "" && i >= 0 {
		library = known.Libraries[i].Name
	}
	job, messages, err := loggp.MessageModel(known, library, ranks)
	if err != nil {
		return nil, nil, flagError(cmd, err)
	}
	if job.Ranks < ranks {
		return nil, nil, misuse(cmd, fmt.Errorf("--platform %s: it has up to %d ranks, and %s has %d", a.platform, job.Ranks, a.from, ranks))
	}
	by := job.Library.Compiled
	if by == nil {
		by = &model.Compiled{Scheduler: phases.AllToAllBased.Name}
	}
	if err := job.Library.ClosedForm(); err != nil {
		return nil, nil, err
	}
	barriers := map[int]unit.Time{}
	return &timeline.PhasedExchanges{
		Title:     fmt.Sprintf("%s in phases on %s, %s", count(len(exchanges), "exchange"), job.Platform.Machine.Name, job.Library.Name),
		Exchanges: exchanges,
		Message:   func(bytes int) unit.Time { return messageTime(job, bytes) },
		Barrier: func(n int) unit.Time {
			if _, known := barriers[n]; !known {
				j := collective.Job{Ranks: n}
				a := collective.Tuned(collective.Table(job.Library)).Choose(collective.Barrier, &j, true)
				if by.Barrier > 0 {
					a = collective.Named(collective.Barrier, "linear")
				}
				barriers[n] = messages.Cost(a, j).Last + unit.Time(n-1)*by.Barrier
			}
			return barriers[n]
		},
	}, by, nil
}

// messageTime returns what a message between the first and the last rank takes, from its send to
// the end of its receive.
func messageTime(job *job.Job, bytes int) unit.Time {
	m := job.Platform.Machine
	last := job.Ranks - 1
	name := job.Library.Proto.Protocol(model.Standard, m.Tier(0, last), bytes)
	t := model.Transfer{Machine: m, Library: job.Library, Protocol: model.Named(name), Mode: model.Standard, Bytes: bytes, Path: m.Path(job.Ranks, 0, last)}
	return t.Cost().Delivery.Sum()
}
