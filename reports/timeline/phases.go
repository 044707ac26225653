package timeline

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
)

// PhasedExchanges is exchanges divided into phases, with their predicted times: a phase takes as
// long as its longest message, and there is a barrier between phases.
type PhasedExchanges struct {
	Title          string
	Exchanges      []phases.Exchange
	Plans          []SchedulerPlan
	ChosenPlan     int // of Planned
	ListedExchange int // the exchange whose phases are listed
	MessageTime    func(bytes int) unit.Time
	BarrierTime    func(ranks int) unit.Time
}

// SchedulerPlan is the schedules of a scheduler, one for each exchange.
type SchedulerPlan struct {
	Scheduler *phases.Scheduler
	Schedules []*phases.Schedule
}

// ScheduleTime returns the predicted time of a schedule.
func (p *PhasedExchanges) ScheduleTime(s *phases.Schedule) unit.Time {
	return s.Time(p.MessageTime, p.BarrierTime(s.Ranks))
}

// LongestExchange returns the exchange whose schedule takes longest.
func (p *PhasedExchanges) LongestExchange() int {
	longest := 0
	for i, s := range p.Plans[p.ChosenPlan].Schedules {
		if p.ScheduleTime(s) > p.ScheduleTime(p.Plans[p.ChosenPlan].Schedules[longest]) {
			longest = i
		}
	}
	return longest
}

// maxNamedMessages is how many messages of a phase are named.
const maxNamedMessages = 32

// Document compares the schedulers, and lists the phases of the exchange that is shown.
func (p *PhasedExchanges) Document() *doc.Document {
	d := &doc.Document{Title: p.Title}
	columns := []doc.Column{{Heading: "exchange", IsKey: true, Kind: doc.NumberColumn}, {Heading: "ranks", Kind: doc.NumberColumn}, {Heading: "messages", Kind: doc.NumberColumn}, {Heading: "bytes", Kind: doc.NumberColumn}}
	for _, by := range p.Plans {
		columns = append(columns, doc.Column{Heading: by.Scheduler.Name + "\nphases", Kind: doc.NumberColumn}, doc.Column{Heading: by.Scheduler.Name + "\nus", Kind: doc.NumberColumn})
	}
	all := &doc.Table{Name: "exchanges", Title: p.Title, Columns: columns, TerminalRows: 20}
	sums := make([]unit.Time, len(p.Plans))
	for i, x := range p.Exchanges {
		bytes := 0
		for _, m := range x.Messages {
			bytes += m.Bytes
		}
		row := []doc.Cell{doc.CountCell(i), doc.CountCell(len(x.Members)), doc.CountCell(len(x.Messages)), doc.CountCell(bytes)}
		for k, by := range p.Plans {
			s := by.Schedules[i]
			row = append(row, doc.CountCell(len(s.Phases)), doc.NumberCell(p.ScheduleTime(s).Micros()))
			sums[k] += p.ScheduleTime(s)
		}
		all.AddRow(row...)
	}
	var totals []string
	for k, by := range p.Plans {
		totals = append(totals, fmt.Sprintf("%s %s us", by.Scheduler.Name, sums[k].MicrosString()))
	}
	all.AddNote("Together: %s. A phase takes as long as its longest message, and a barrier stands between phases.", strings.Join(totals, ", "))
	d.AddTables("exchanges", "Exchanges", all)

	chosen := p.Plans[p.ChosenPlan]
	s := chosen.Schedules[p.ListedExchange]
	title := fmt.Sprintf("Phases of exchange %d, %s", p.ListedExchange, chosen.Scheduler.Name)
	t := &doc.Table{Name: "phases", Title: title, Columns: []doc.Column{{Heading: "phase", IsKey: true, Kind: doc.NumberColumn}, {Heading: "messages", Kind: doc.NumberColumn},
		{Heading: "longest\nB", Kind: doc.NumberColumn}, {Heading: "shortest\nB", Kind: doc.NumberColumn}, {Heading: "takes\nus", Kind: doc.NumberColumn}, {Heading: "from - to", Kind: doc.ProseColumn}}}
	for i, phase := range s.Phases {
		longest, shortest := 0, phase[0].Bytes
		var pairs []string
		for k, m := range phase {
			longest, shortest = max(longest, m.Bytes), min(shortest, m.Bytes)
			if k < maxNamedMessages {
				pairs = append(pairs, fmt.Sprintf("%d-%d", s.Member(m.Src), s.Member(m.Dst)))
			}
		}
		if n := len(phase) - maxNamedMessages; n > 0 {
			pairs = append(pairs, fmt.Sprintf("and %d more", n))
		}
		t.AddRow(doc.CountCell(i), doc.CountCell(len(phase)), doc.CountCell(longest), doc.CountCell(shortest), doc.NumberCell(p.MessageTime(longest).Micros()), doc.TextCell(strings.Join(pairs, " ")))
	}
	t.AddNote("A barrier of %d ranks takes %s us.", s.Ranks, p.BarrierTime(s.Ranks).MicrosString())
	if s.Conflicts {
		t.AddNote("In the last phase, which has the messages shorter than the threshold, ranks send and receive several times.")
	}
	d.AddTables("phases", title, t)
	return d
}

// maxDrawnMessages is how many messages are drawn. Of more, brackets say to whom they go.
const maxDrawnMessages = 24

// Chart returns the predicted time line of the exchange that is shown.
func (p *PhasedExchanges) Chart() *chart.Chart {
	s := p.Plans[p.ChosenPlan].Schedules[p.ListedExchange]
	r := &model.Timeline{}
	for i := range s.Ranks {
		r.Ranks = append(r.Ranks, model.Track{Name: fmt.Sprintf("rank %d", s.Member(i))})
	}
	messages := 0
	for _, phase := range s.Phases {
		messages += len(phase)
	}
	arrows := messages <= maxDrawnMessages
	at, barrier := unit.Time(0), p.BarrierTime(s.Ranks)
	for i, phase := range s.Phases {
		if i > 0 {
			for k := range r.Ranks {
				r.Ranks[k].Spans = append(r.Ranks[k].Spans, model.Span{Name: "barrier", Activity: model.BlockedActivity, From: at, To: at + barrier})
			}
			at += barrier
		}
		end := at
		for _, m := range phase {
			end = max(end, at+p.MessageTime(m.Bytes))
		}
		sends := make([]unit.Time, s.Ranks) // until when
		for _, m := range phase {
			from := max(at, sends[m.Src])
			sends[m.Src] = min(from+p.MessageTime(m.Bytes), end)
			if sends[m.Src] > from {
				t := &r.Ranks[m.Src]
				t.Spans = append(t.Spans, model.Span{Name: "message", Activity: model.SendActivity, From: from, To: sends[m.Src], Bytes: m.Bytes})
				t.Calls = append(t.Calls, model.Span{Name: fmt.Sprintf("to %d", s.Member(m.Dst)), From: from, To: sends[m.Src]})
			}
			if arrows {
				r.Flights = append(r.Flights, model.Flight{Name: "message", From: m.Src, To: m.Dst, Initiator: m.Src, Bytes: m.Bytes, Sent: from, Depart: from, Arrive: sends[m.Src], TakenIn: -1})
			}
		}
		for k := range r.Ranks {
			if idle := max(at, sends[k]); idle < end {
				r.Ranks[k].Spans = append(r.Ranks[k].Spans, model.Span{Name: "the next phase", Activity: model.WaitActivity, From: idle, To: end})
			}
		}
		at = end
	}
	return chart.TimelineChart("phases", fmt.Sprintf("%s: exchange %d in %d phases", p.Title, p.ListedExchange, len(s.Phases)), r)
}
