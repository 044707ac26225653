package loggp

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/timeline"
)

// ExchangeOptions say which exchanges PlanExchanges divides into phases, and for which machine it
// predicts their time.
type ExchangeOptions struct {
	Exchanges []phases.Exchange
	From      string // file name, or another name for errors
	Platform  string // an emulated machine
	Library   string // "": the first that exchanges in phases, or the first
	Scheduler string // scheduler whose phases are written, in phases.Schedulers; "": the library's
	Threshold *int   // size in bytes below which all remaining messages form one last phase; nil: the library's
	Exchange  *int   // index of the exchange whose phases are shown; nil: the longest one
}

// ExchangePlans has the phases of exchanges for each scheduler, with predicted times.
type ExchangePlans struct {
	*timeline.PhasedExchanges
	threshold int
}

// PlanExchanges divides the messages of each exchange (MPI_Alltoallv) into phases, as CC-MPI does.
// In a phase no rank sends twice or receives twice, and there is a barrier between phases.
func PlanExchanges(ctx context.Context, o ExchangeOptions) (*ExchangePlans, error) {
	ranks := 0
	for _, x := range o.Exchanges {
		ranks = max(ranks, len(x.Members), slices.Max(x.Members)+1)
	}
	p, compiled, err := o.predictPhases(ranks)
	if err != nil {
		return nil, err
	}
	threshold := compiled.ShortMessageThreshold
	if o.Threshold != nil {
		threshold = *o.Threshold
	}
	for i, s := range phases.Schedulers {
		planned := timeline.SchedulerPlan{Scheduler: s}
		for k, x := range o.Exchanges {
			plan, err := x.Plan(s, threshold)
			if err != nil {
				return nil, fmt.Errorf("%s: exchange %d: %w", o.From, k, err)
			}
			planned.Schedules = append(planned.Schedules, plan)
		}
		p.Plans = append(p.Plans, planned)
		if s.Name == o.Scheduler || o.Scheduler == "" && s.Name == compiled.Scheduler {
			p.ChosenPlan = i
		}
	}
	switch {
	case o.Exchange == nil:
		p.ListedExchange = p.LongestExchange()
	case *o.Exchange < 0 || *o.Exchange >= len(o.Exchanges):
		return nil, &OptionError{"Exchange", fmt.Sprint(*o.Exchange), fmt.Errorf("%s has exchanges 0 to %d", o.From, len(o.Exchanges)-1)}
	default:
		p.ListedExchange = *o.Exchange
	}
	return &ExchangePlans{p, threshold}, ctx.Err()
}

// SchedulerName returns the name of the scheduler whose phases are written.
func (p *ExchangePlans) SchedulerName() string { return p.Plans[p.ChosenPlan].Scheduler.Name }

// WritePhases writes the phases as CSV for 'loggp run --phases'.
func (p *ExchangePlans) WritePhases(w io.Writer) error {
	return phases.WriteSchedules(w, p.Plans[p.ChosenPlan].Schedules,
		table.Fact{Key: "scheduler", Value: p.SchedulerName()}, table.Fact{Key: "threshold", Value: fmt.Sprint(p.threshold)})
}

// predictPhases computes the times of messages and barriers by the closed forms of a platform. It
// also returns how its library plans.
func (o *ExchangeOptions) predictPhases(ranks int) (*timeline.PhasedExchanges, *model.CompiledCommunication, error) {
	known, err := LoadPlatform(o.Platform)
	if err != nil {
		return nil, nil, err
	}
	library := o.Library
	if i := slices.IndexFunc(known.Libraries, func(l *model.Library) bool { return l.Compiled != nil }); library == "" && i >= 0 {
		library = known.Libraries[i].Name
	}
	j, messages, err := MessageModel(known, library, ranks)
	if err != nil {
		return nil, nil, err
	}
	if j.Ranks < ranks {
		return nil, nil, &OptionError{"Platform", o.Platform, fmt.Errorf("it has up to %d ranks, and %s has %d", j.Ranks, o.From, ranks)}
	}
	compiled := j.Library.Compiled
	if compiled == nil {
		compiled = &model.CompiledCommunication{Scheduler: phases.AllToAllBased.Name}
	}
	if err := j.Library.ClosedForm(); err != nil {
		return nil, nil, err
	}
	barriers := map[int]unit.Time{}
	return &timeline.PhasedExchanges{
		Title:       fmt.Sprintf("%s in phases on %s, %s", format.PluralInWords(len(o.Exchanges), "exchange"), j.Platform.Machine.Name, j.Library.Name),
		Exchanges:   o.Exchanges,
		MessageTime: func(bytes int) unit.Time { return deliveryTime(j, bytes) },
		BarrierTime: func(n int) unit.Time {
			if _, known := barriers[n]; !known {
				x := collective.Job{Ranks: n}
				a := collective.NewTuning(collective.RulesOfLibrary(j.Library)).ChooseAlgorithm(collective.Barrier, &x, true)
				if compiled.BarrierTimePerMessage > 0 {
					a = collective.AlgorithmNamed(collective.Barrier, "binomial")
				}
				// Upper bound: messages that are received one after another, up and down the tree.
				way := 2 * bits.Len(uint(n-1))
				barriers[n] = messages.Cost(a, x).LastEnd + unit.Time(way)*compiled.BarrierTimePerMessage
			}
			return barriers[n]
		},
	}, compiled, nil
}

// deliveryTime returns the time of a message between the first and the last rank, from its send to
// the end of its receive.
func deliveryTime(j *job.Job, bytes int) unit.Time {
	m, last := j.Platform.Machine, j.Ranks-1
	name := j.Library.Proto.Protocol(model.StandardMode, m.TierOfRanks(0, last), bytes)
	t := model.Transfer{Machine: m, Library: j.Library, Protocol: model.FindProtocol(name), Mode: model.StandardMode, Bytes: bytes, Path: m.PathBetweenRanks(j.Ranks, 0, last)}
	return t.Cost().Delivery.Sum()
}
