package timeline

import (
	"fmt"
	"io"
	"slices"

	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Bounds of the recordings that a page of a run shows step by step, as that of one message.
const (
	maxDetailedRanks = 8
	maxDetailedSpans = 400
)

// DocumentOfRun is the page of a run: why it takes as long, all ranks, the calls, who communicates
// with whom, and the sections of its own document. A short run of few ranks is shown step by step
// too.
func (t Trace) DocumentOfRun(run *doc.Document) *doc.Document {
	r := t.Recording
	d := &doc.Document{Title: t.Title, Answer: causeSentence(r), KeyNumbers: t.runKeyNumbers(), Footer: "Made by loggp.",
		FrontFigures: doc.Figures(doc.FullWidth, chart.RunChart(format.FileName("run", t.Name), "All ranks", r)),
		Files:        []doc.File{{Name: "trace.json", Write: func(w io.Writer) error { return WriteEvents(w, t) }}},
	}
	if len(r.Profile.Calls) > 0 {
		d.AddTables("calls", "Calls", callsTable("Calls of all ranks", r))
	}
	d.AddSection(doc.Section{ID: "matrix", Title: "Communication matrix", Figures: doc.Figures(doc.SingleWidth, chart.TrafficChart(format.FileName("matrix", t.Name), "Communication matrix", len(r.Ranks), r.Profile.Traffic))})
	shown := []string{"calls", "matrix", "time-line"}
	for _, s := range run.Sections {
		shown = append(shown, s.ID)
		if s.ID == "calls" {
			continue
		}
		if s.Title == d.Title {
			s.Title = "By rank"
		}
		d.Sections = append(d.Sections, s)
	}
	if t.isShort() {
		d.AddSection(doc.Section{ID: "time-line", Title: "Time line", Figures: doc.Figures(doc.FullWidth, t.Chart())})
		d.AddTables("course", "Step by step", t.stepTable())
	}
	d.AddTables("time", "Where the time went", t.activityTables()...)
	d.AddSection(doc.Section{ID: "more", Title: "To look closer", PageOnly: true, Commands: slices.DeleteFunc([]string{t.Command}, func(s string) bool { return s == "" }),
		Text: []string{"trace.json beside this page is for https://ui.perfetto.dev and chrome://tracing. " + fmt.Sprintf("It has %s.", describeEventDetail(t)) + " The same command gives the same run again:"}})
	d.AddSection(doc.Section{ID: "words", Title: "Glossary", PageOnly: true, Terms: runTerms})
	d.FoldAllBut(shown...)
	return d
}

// isShort reports whether a run can be shown step by step.
func (t Trace) isShort() bool {
	spans := 0
	for _, x := range t.Recording.Ranks {
		spans += len(x.Spans)
	}
	return len(t.Recording.Ranks) <= maxDetailedRanks && spans <= maxDetailedSpans
}

// runKeyNumbers returns the main numbers of a run.
func (t Trace) runKeyNumbers() []doc.KeyNumber {
	var all []rankTime
	for _, x := range t.Recording.Ranks {
		all = append(all, rankTimeOf(x))
	}
	if len(all) == 0 {
		return nil
	}
	mean, most := meanAndMax(all)
	out := []doc.KeyNumber{runTrust, {Name: "time", Value: format.MicrosWithUnit(most.end.Micros()), Note: "until the last rank ends"}}
	if mean.end > 0 {
		share := func(name, note string, d int64) doc.KeyNumber {
			return doc.KeyNumber{Name: name, Value: format.WithDecimals(100*float64(d)/float64(mean.end), 1) + format.NonBreakingSpace + "%", Note: note}
		}
		out = append(out, share("computing", "of the time of ranks, in the mean", int64(mean.computing)), share("communicating", "processor time for it", int64(mean.overhead)), share("waiting", "idle processors", int64(mean.waiting)))
	}
	messages, bytes := 0, 0
	for _, x := range t.Recording.Profile.Traffic {
		messages, bytes = messages+x.Messages, bytes+x.Bytes
	}
	if messages > 0 {
		out = append(out, doc.KeyNumber{Name: "messages", Value: fmt.Sprint(messages), Note: format.Size(bytes) + " of data"})
	}
	return out
}

// runTrust says how far to trust the times of a run.
var runTrust = doc.EmulationTrust("the same command gives the same run")

// runTerms explains the terms of the page of a run.
var runTerms = []doc.Term{
	{Name: "computes", Meaning: "The program's own work between calls."},
	{Name: "works for communication", Meaning: "The processor works for the library: calls, copies, packets, interrupts."},
	{Name: "waits", Meaning: "The processor is idle in a call. For late ranks: a message was not sent yet (late sender), or its receiver was not ready (late receiver); in a collective call, ranks that enter it last. The rest is the way of messages."},
	{Name: "held up by the network", Meaning: "The network does not take what the processor sends."},
	{Name: "for rank N", Meaning: "While others waited, this rank was busy longest on the critical path to the messages that ended their waits."},
}
