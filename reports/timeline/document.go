// Package timeline makes documents of recorded runs: the time of each rank and of each part of the
// network by activity, a list of all steps, the calls of ranks, and a file for viewers of trace
// events.
package timeline

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Trace is a recording of a run with its title and command.
type Trace struct {
	Name      string // of files
	Title     string
	Command   string // that made it
	Recording *model.Timeline
}

// Document reports the activities of processors, network and protocol: a time line, the time by
// activity, and all steps in the order of time. trace.json is a file for viewers of trace events.
func (t Trace) Document() *doc.Document {
	d := &doc.Document{Title: t.Title, Answer: t.answerSentence(), KeyNumbers: t.keyNumbers(), Footer: "Made by loggp.",
		Introduction: []string{"What every processor, the network and the protocol did, as the emulated machine itself recorded it. Nothing here is estimated."},
		Files:        []doc.File{{Name: "trace.json", Write: func(w io.Writer) error { return WriteEvents(w, t) }}},
	}
	d.AddSection(doc.Section{ID: "time-line", Title: "Time line", Figures: doc.Figures(doc.FullWidth, t.Chart())})
	d.AddTables("course", "Step by step", t.stepTable())
	d.AddTables("time", "Where the time went", t.activityTables()...)
	d.AddSection(doc.Section{ID: "more", Title: "To look closer", PageOnly: true, Commands: []string{t.Command},
		Text: []string{"trace.json beside this page is for https://ui.perfetto.dev and chrome://tracing, which can zoom. The same command gives the same run again:"}})
	d.AddSection(doc.Section{ID: "words", Title: "Glossary", PageOnly: true, Terms: traceTerms})
	d.FoldAllBut("time-line", "time")
	return d
}

// answerSentence returns how long the run took, and the main activity of the busiest rank.
func (t Trace) answerSentence() string {
	ranks, _ := chart.BusyRanks(t.Recording)
	whole := t.Recording.End()
	if len(ranks) == 0 || whole <= 0 {
		return ""
	}
	last, name, busy := ranks[0], "", unit.Time(-1)
	var most unit.Time
	for _, r := range ranks {
		var sum, largest unit.Time
		what := ""
		for _, s := range r.SumSpans() {
			if s.Activity == model.WaitActivity {
				continue
			}
			sum += s.Time
			if s.Time > largest && s.Name != "" {
				largest, what = s.Time, s.Name
			}
		}
		if sum > busy {
			last, busy, name, most = r, sum, what, largest
		}
	}
	out := fmt.Sprintf("The run takes %s. The busiest is %s, whose processor works for %s%s%% of that", format.MicrosWithUnit(whole.Micros()), last.Name, formatShare(busy, whole), format.NonBreakingSpace)
	if name != "" {
		out += fmt.Sprintf(", the largest part in %s (%s)", name, format.MicrosWithUnit(most.Micros()))
	}
	return out + "."
}

// Chart returns the time line.
func (t Trace) Chart() *chart.Chart {
	return chart.TimelineChart(format.FileName("trace", t.Name), t.Title, t.Recording)
}

// Rows of a course that are shown: in a terminal, and in a page, where they can be scrolled.
const (
	maxTextRows = 120
	maxPageRows = 2000
)

// traceStep is a step of a run.
type traceStep struct {
	start, duration unit.Time
	depth           int // of what is at one time, what is around the others comes first
	row             []doc.Cell
}

// stepTable returns a table of the first steps.
func (t Trace) stepTable() *doc.Table {
	out := &doc.Table{Name: "course", Title: t.Title, TerminalRows: maxTextRows, Columns: []doc.Column{
		{Heading: "at\nus", Kind: doc.NumberColumn, IsKey: true}, {Heading: "for\nus", Kind: doc.NumberColumn}, {Heading: "where"}, {Heading: "what"}, {Heading: "of", Kind: doc.ProseColumn},
	}}
	all := t.steps()
	for i, e := range all {
		if i == maxPageRows {
			out.AddNote("%d more lines are not shown, from %s us on.", len(all)-i, e.start.MicrosString())
			break
		}
		out.AddRow(e.row...)
	}
	if len(all) > maxTextRows {
		out.AddNote("--window shows a part, -o DIR a page, and -o FILE.json all.")
	}
	return out
}

// steps returns all steps in the order of time.
func (t Trace) steps() []traceStep {
	var all []traceStep
	put := func(at, to unit.Time, depth int, where string, what doc.Cell, of string) {
		long := doc.EmptyCell
		if to > at {
			long = doc.TextCell((to - at).MicrosString())
		}
		all = append(all, traceStep{at, to - at, depth, []doc.Cell{doc.TextCell(at.MicrosString()), long, doc.TextCell(where), what, doc.TextCell(of)}})
	}
	calls := callExchanges(t.Recording)
	for rank, r := range t.Recording.Ranks {
		for i, c := range r.Calls {
			of := "call"
			if what := calls[rank][i].String(); what != "" {
				of += ": " + what
			}
			put(c.From, c.To, 1, r.Name, doc.TextCell(c.Name).WithTone(doc.StrongTone), of)
		}
		for _, s := range r.Spans {
			tone := doc.NormalTone
			if s.Activity == model.WaitActivity {
				tone = doc.FaintTone
			}
			put(s.From, s.To, 2, r.Name, doc.TextCell(chart.SpanName(s)).WithTone(tone), spanBytes(s))
		}
	}
	for _, f := range t.Recording.Flights {
		where := fmt.Sprintf("rank %d → %d", f.From, f.To)
		to := f.Arrive
		if !f.Arrived() {
			to = f.Depart
		}
		put(f.Depart, to, 3, where, doc.TextCell(f.Name).WithTone(doc.StrongTone), flightDetail(f))
	}
	slices.SortStableFunc(all, func(a, b traceStep) int {
		switch {
		case a.start != b.start:
			return int(min(max(a.start-b.start, -1), 1))
		default:
			return a.depth - b.depth
		}
	})
	return all
}

func spanBytes(s model.Span) string {
	if s.Bytes == 0 {
		return ""
	}
	return format.Plural(s.Bytes, "byte")
}

// flightDetail returns the details of a message.
func flightDetail(f model.Flight) string {
	var parts []string
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	} else if f.Bytes > 0 {
		parts = append(parts, format.Plural(f.Bytes, "byte"))
	}
	if f.IsRemoteAccess {
		parts = append(parts, "by hardware")
	}
	if !f.Arrived() {
		parts = append(parts, "has not arrived")
	}
	return strings.Join(parts, ", ")
}

// OmittedText returns what a recording has left out, or an empty string.
func (t Trace) OmittedText() string { return omittedText(t.Recording) }

// omittedText returns what a recording has left out, or an empty string.
func omittedText(r *model.Timeline) string {
	switch {
	case r.OtherRanks > 0:
		return "Left out: " + format.Plural(r.OtherRanks, "rank") + "."
	case r.OmittedCount == 0:
		return ""
	}
	return fmt.Sprintf("Recorded until %s us: %s after that, with calls and messages, are left out; a page may hold fewer calls and messages.", format.Number(r.OmittedFrom.Micros()), format.Plural(r.OmittedCount, "span"))
}

// activityTables returns the tables of the time by activity, of the ranks and of the network.
func (t Trace) activityTables() []*doc.Table {
	busy, moreRanks := chart.BusyRanks(t.Recording)
	ranks := t.activityTable("time-of-ranks", "Time of the ranks", "not waiting", busy)
	whole := fmt.Sprintf("%% is of all %s us.", format.Number(t.Recording.End().Micros()))
	if s := omittedText(t.Recording); s != "" {
		whole += " " + s
	}
	idle := -moreRanks - len(busy) + len(t.Recording.Ranks)
	if idle > 0 {
		whole += fmt.Sprintf(" %s did nothing then.", format.Plural(idle, "other rank"))
	}
	if moreRanks > 0 {
		whole += fmt.Sprintf(" %s more are not shown.", format.Plural(moreRanks, "rank"))
	}
	ranks.AddNote("%s", whole)
	resources, more := chart.BusyResources(t.Recording)
	network := t.activityTable("time-of-network", "Use of the network", "all", resources)
	if more > 0 {
		network.AddNote("%s of the network that were busy for a shorter time are not shown.", format.Plural(more, "part"))
	}
	return []*doc.Table{ranks, network}
}

func (t Trace) activityTable(name, title, total string, tracks []model.Track) *doc.Table {
	out := &doc.Table{Name: name, Title: title, Columns: []doc.Column{
		{Heading: "what", IsKey: true}, {Heading: "kind"}, {Heading: "times", Kind: doc.NumberColumn}, {Heading: "bytes", Kind: doc.NumberColumn}, {Heading: "us", Kind: doc.NumberColumn}, {Heading: "%", Kind: doc.NumberColumn},
	}}
	whole := max(t.Recording.End(), 1)
	for _, x := range tracks {
		out.BeginGroup(x.Name)
		var busy unit.Time
		for _, s := range x.SumSpans() {
			bytes := doc.EmptyCell
			if s.Bytes > 0 {
				bytes = doc.TextCell(fmt.Sprint(s.Bytes))
			}
			name := s.Name
			if name == "" {
				name = "other"
			}
			out.AddRow(doc.TextCell(name), doc.TextCell(s.Activity.String()), doc.TextCell(fmt.Sprint(s.Count)), bytes, doc.NumberCell(s.Time.Micros()), doc.TextCell(formatShare(s.Time, whole)))
			if s.Activity != model.WaitActivity {
				busy += s.Time
			}
		}
		out.AddRow(doc.TextCell(total).WithTone(doc.StrongTone), doc.TextCell(""), doc.TextCell(""), doc.TextCell(""), doc.TextCell(format.Number(busy.Micros())).WithTone(doc.StrongTone), doc.TextCell(formatShare(busy, whole)).WithTone(doc.StrongTone))
	}
	return out
}

func formatShare(part, whole unit.Time) string {
	return format.WithDecimals(100*part.Micros()/whole.Micros(), 1)
}

// keyNumbers returns the main numbers.
func (t Trace) keyNumbers() []doc.KeyNumber {
	packets, accesses := map[string]int{}, 0
	var names []string
	for _, f := range t.Recording.Flights {
		if f.IsRemoteAccess {
			accesses++
			continue
		}
		if packets[f.Name] == 0 {
			names = append(names, f.Name)
		}
		packets[f.Name]++
	}
	var list []string
	for _, n := range names {
		list = append(list, fmt.Sprintf("%d %s", packets[n], n))
	}
	out := []doc.KeyNumber{runTrust, {Name: "time", Value: format.MicrosWithUnit(t.Recording.End().Micros()), Note: "from the first event to the last"}}
	if len(list) > 0 {
		out = append(out, doc.KeyNumber{Name: "packets", Value: strings.Join(list, ", ")})
	}
	if accesses > 0 {
		out = append(out, doc.KeyNumber{Name: "remote access", Value: format.Plural(accesses, "transfer"), Note: "requests, data and confirmations, without a processor"})
	}
	return out
}

// traceTerms explains the terms of the report.
var traceTerms = []doc.Term{
	{Name: "software", Meaning: "What the library does, by the names of its costs in the platform's file."},
	{Name: "copy", Meaning: "The processor copies in its own memory."},
	{Name: "send, receive", Meaning: "The processor brings a packet onto the network, or takes one off it."},
	{Name: "wait", Meaning: "The processor has nothing to do until what it names has come."},
	{Name: "blocked", Meaning: "The network does not take what the processor sends."},
	{Name: "carry", Meaning: "This part of the network is taken by a message, and others wait before it."},
	{Name: "RM, R", Meaning: "The first packet of a message, with its data or without."},
	{Name: "ACK, M, FIN", Meaning: "The receive is there; the data alone; the data has come."},
	{Name: "get, done", Meaning: "The hardware asks for data, or tells that it has come."},
	{Name: "credit", Meaning: "Room in the receiver's buffer is given back."},
}
