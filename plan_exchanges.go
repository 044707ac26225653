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

// ExchangeOptions say which exchanges PlanExchanges divides into phases, and on which machine it
// predicts their time.
type ExchangeOptions struct {
	Exchanges []phases.Exchange
	From      string // their file, or what else errors call them
	Platform  string // an emulated machine
	Library   string // on it; "": its first one that exchanges in phases, or its first
	Scheduler string // whose phases are written, of phases.Schedulers; "": the library's
	Threshold *int   // once all messages that are left are shorter, in bytes, they form the last phase together; nil: the library's
	Exchange  *int   // whose phases are shown; nil: the one that takes longest
}

// ExchangePlans has the phases of exchanges by each scheduler, and predicts their time.
type ExchangePlans struct {
	*timeline.PhasedExchanges
	threshold int
}

// PlanExchanges divides the messages of each exchange (MPI_Alltoallv) into phases in which no rank
// sends twice or receives twice, with a barrier between phases, as CC-MPI does.
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

// SchedulerName returns whose phases are written.
func (p *ExchangePlans) SchedulerName() string { return p.Plans[p.ChosenPlan].Scheduler.Name }

// WritePhases writes the phases as CSV, which 'loggp run --phases' takes.
func (p *ExchangePlans) WritePhases(w io.Writer) error {
	return phases.WriteSchedules(w, p.Plans[p.ChosenPlan].Schedules,
		table.Fact{Key: "scheduler", Value: p.SchedulerName()}, table.Fact{Key: "threshold", Value: fmt.Sprint(p.threshold)})
}

// predictPhases says what messages and barriers take by the closed forms of a platform, and how its
// library plans.
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
				// Messages that are received one after the other, up the tree and down: at most.
				way := 2 * bits.Len(uint(n-1))
				barriers[n] = messages.Cost(a, x).LastEnd + unit.Time(way)*compiled.BarrierTimePerMessage
			}
			return barriers[n]
		},
	}, compiled, nil
}

// deliveryTime returns what a message between the first and the last rank takes, from its send to
// the end of its receive.
func deliveryTime(j *job.Job, bytes int) unit.Time {
	m, last := j.Platform.Machine, j.Ranks-1
	name := j.Library.Proto.Protocol(model.StandardMode, m.TierOfRanks(0, last), bytes)
	t := model.Transfer{Machine: m, Library: j.Library, Protocol: model.FindProtocol(name), Mode: model.StandardMode, Bytes: bytes, Path: m.PathBetweenRanks(j.Ranks, 0, last)}
	return t.Cost().Delivery.Sum()
}
