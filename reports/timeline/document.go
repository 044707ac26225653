// Package recording makes documents of recorded runs: the time of each rank and of each part of the
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
	Ranks     int    // of the job
	Command   string // that made it
	Recording *model.Timeline
}

// Document reports the activities of processors, network and protocol: a time line, the time by
// activity, and all steps in the order of time. trace.json is a file for viewers of trace events.
func (t Trace) Document() *doc.Document {
	d := &doc.Document{Title: t.Title, Answer: t.answer(), Keys: t.keys(), Footer: "Made by loggp.",
		Lead:  []string{"What every processor, the network and the protocol did, as the emulated machine itself recorded it. Nothing here is estimated."},
		Files: []doc.File{{Name: "trace.json", Write: func(w io.Writer) error { return Events(w, t) }}},
	}
	d.Add(doc.Section{ID: "time-line", Title: "Time line", Figures: doc.Figures(doc.Across, t.Chart())})
	d.AddTables("course", "Step by step", t.course())
	d.AddTables("time", "Where the time went", t.sums()...)
	d.Add(doc.Section{ID: "more", Title: "To look closer", PageOnly: true, Commands: []string{t.Command},
		Text: []string{"trace.json beside this page is for https://ui.perfetto.dev and chrome://tracing, which can zoom. The same command gives the same run again:"}})
	d.Add(doc.Section{ID: "words", Title: "Glossary", PageOnly: true, Terms: terms})
	return d
}

// Page is the document of the trace with further sections of the run after its time line.
func (t Trace) Page(run *doc.Document) *doc.Document {
	d := t.Document()
	d.Answer = t.shares()
	at := 0
	for i, s := range d.Sections {
		if s.ID == "time-line" {
			at = i + 1
		}
	}
	d.Sections = slices.Insert(d.Sections, at, run.Sections...)
	for i := range d.Sections {
		if d.Sections[i].Title == d.Title {
			d.Sections[i].Title = "By rank"
		}
	}
	return d
}

// shares returns how long a run takes, and the mean time of its ranks by activity.
func (t Trace) shares() string {
	var all []spent
	for _, x := range t.Recording.Ranks {
		all = append(all, spentBy(x))
	}
	if len(all) == 0 {
		return ""
	}
	mean, most := summary(all)
	part := func(d unit.Time) string { return share(d, max(mean.end, 1)) + format.Glue + "%" }
	return fmt.Sprintf("The run takes %s. Of its time a rank computes %s in the mean, works %s for communication and waits %s.",
		format.Micros(most.end.Micros()), part(mean.computing), part(mean.overhead), part(mean.waiting))
}

// answer returns how long the run took, and the main activity of the busiest rank.
func (t Trace) answer() string {
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
		for _, s := range r.Sums() {
			if s.Activity == model.Waiting {
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
	out := fmt.Sprintf("The run takes %s. The busiest is %s, whose processor works for %s%s%% of that", format.Micros(whole.Micros()), last.Name, share(busy, whole), format.Glue)
	if name != "" {
		out += fmt.Sprintf(", the largest part in %s (%s)", name, format.Micros(most.Micros()))
	}
	return out + "."
}

// Chart returns the time line.
func (t Trace) Chart() *chart.Chart {
	return chart.Timeline(format.FileName("trace", t.Name), t.Title, t.Recording)
}

// Rows of a course that are shown: in a terminal, and in a page, where they can be scrolled.
const (
	textRows = 120
	pageRows = 2000
)

// entry is a step of a run.
type entry struct {
	at, long unit.Time
	depth    int // of what is at one time, what is around the others comes first
	row      []doc.Cell
}

// course returns a table of the first steps.
func (t Trace) course() *doc.Table {
	out := &doc.Table{Name: "course", Title: t.Title, Terse: textRows, Columns: []doc.Column{
		{Head: "at\nus", Kind: doc.Number, Key: true}, {Head: "for\nus", Kind: doc.Number}, {Head: "where"}, {Head: "what"}, {Head: "of", Kind: doc.Prose},
	}}
	all := t.entries()
	for i, e := range all {
		if i == pageRows {
			out.Note("%d more lines are not shown, from %s us on.", len(all)-i, e.at.MicrosString())
			break
		}
		out.Add(e.row...)
	}
	if len(all) > textRows {
		out.Note("--window shows a part, -o DIR a page, and -o FILE.json all.")
	}
	return out
}

// entries returns all steps in the order of time.
func (t Trace) entries() []entry {
	var all []entry
	put := func(at, to unit.Time, depth int, where string, what doc.Cell, of string) {
		long := doc.None
		if to > at {
			long = doc.Words((to - at).MicrosString())
		}
		all = append(all, entry{at, to - at, depth, []doc.Cell{doc.Words(at.MicrosString()), long, doc.Words(where), what, doc.Words(of)}})
	}
	calls := exchangedBy(t.Recording)
	for rank, r := range t.Recording.Ranks {
		for i, c := range r.Calls {
			of := "call"
			if what := calls[rank][i].String(); what != "" {
				of += ": " + what
			}
			put(c.From, c.To, 1, r.Name, doc.Words(c.Name).In(doc.Strong), of)
		}
		for _, s := range r.Spans {
			tone := doc.Normal
			if s.Activity == model.Waiting {
				tone = doc.Faint
			}
			put(s.From, s.To, 2, r.Name, doc.Words(chart.SpanName(s)).In(tone), spanBytes(s))
		}
	}
	for _, f := range t.Recording.Flights {
		where := fmt.Sprintf("rank %d → %d", f.From, f.To)
		to := f.Arrive
		if !f.Arrived() {
			to = f.Depart
		}
		put(f.Depart, to, 3, where, doc.Words(f.Name).In(doc.Strong), flightDetail(f))
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		switch {
		case a.at != b.at:
			return int(min(max(a.at-b.at, -1), 1))
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
	if f.Hardware {
		parts = append(parts, "by hardware")
	}
	if !f.Arrived() {
		parts = append(parts, "has not arrived")
	}
	return strings.Join(parts, ", ")
}

// Left returns what a recording has left out, or an empty string.
func (t Trace) Left() string { return left(t.Recording) }

// left returns what a recording has left out, or an empty string.
func left(r *model.Timeline) string {
	switch {
	case r.OtherRanks > 0:
		return "Left out: " + format.Plural(r.OtherRanks, "rank") + "."
	case r.Omitted == 0:
		return ""
	}
	return fmt.Sprintf("Recorded until %s us: %s, calls and messages after that are left out.", format.Number(r.Cut.Micros()), format.Plural(r.Omitted, "span"))
}

// sums returns the tables of the time by activity, of the ranks and of the network.
func (t Trace) sums() []*doc.Table {
	busy, moreRanks := chart.BusyRanks(t.Recording)
	ranks := t.sumTable("time-of-ranks", "Time of the ranks", "not waiting", busy)
	whole := fmt.Sprintf("%% is of all %s us.", format.Number(t.Recording.End().Micros()))
	if s := left(t.Recording); s != "" {
		whole += " " + s
	}
	idle := -moreRanks - len(busy) + len(t.Recording.Ranks)
	if idle > 0 {
		whole += fmt.Sprintf(" %s did nothing then.", format.Plural(idle, "other rank"))
	}
	if moreRanks > 0 {
		whole += fmt.Sprintf(" %s more are not shown.", format.Plural(moreRanks, "rank"))
	}
	ranks.Note("%s", whole)
	resources, more := chart.BusyResources(t.Recording)
	network := t.sumTable("time-of-network", "Use of the network", "all", resources)
	if more > 0 {
		network.Note("%s of the network that were busy for a shorter time are not shown.", format.Plural(more, "part"))
	}
	return []*doc.Table{ranks, network}
}

func (t Trace) sumTable(name, title, total string, tracks []model.Track) *doc.Table {
	out := &doc.Table{Name: name, Title: title, Columns: []doc.Column{
		{Head: "what", Key: true}, {Head: "kind"}, {Head: "times", Kind: doc.Number}, {Head: "bytes", Kind: doc.Number}, {Head: "us", Kind: doc.Number}, {Head: "%", Kind: doc.Number},
	}}
	whole := max(t.Recording.End(), 1)
	for _, x := range tracks {
		out.Group(x.Name)
		var busy unit.Time
		for _, s := range x.Sums() {
			bytes := doc.None
			if s.Bytes > 0 {
				bytes = doc.Words(fmt.Sprint(s.Bytes))
			}
			name := s.Name
			if name == "" {
				name = "other"
			}
			out.Add(doc.Words(name), doc.Words(s.Activity.String()), doc.Words(fmt.Sprint(s.Count)), bytes, doc.Num(s.Time.Micros()), doc.Words(share(s.Time, whole)))
			if s.Activity != model.Waiting {
				busy += s.Time
			}
		}
		out.Add(doc.Words(total).In(doc.Strong), doc.Words(""), doc.Words(""), doc.Words(""), doc.Words(format.Number(busy.Micros())).In(doc.Strong), doc.Words(share(busy, whole)).In(doc.Strong))
	}
	return out
}

func share(part, whole unit.Time) string { return format.Fixed(100*part.Micros()/whole.Micros(), 1) }

// keys returns the main numbers.
func (t Trace) keys() []doc.Key {
	packets, accesses := map[string]int{}, 0
	var names []string
	for _, f := range t.Recording.Flights {
		if f.Hardware {
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
	out := []doc.Key{{Name: "time", Value: format.Micros(t.Recording.End().Micros()), Note: "from the first event to the last"}}
	if len(list) > 0 {
		out = append(out, doc.Key{Name: "packets", Value: strings.Join(list, ", ")})
	}
	if accesses > 0 {
		out = append(out, doc.Key{Name: "remote access", Value: format.Plural(accesses, "transfer"), Note: "requests, data and confirmations, without a processor"})
	}
	return out
}

// terms explains the terms of the report.
var terms = []doc.Term{
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
