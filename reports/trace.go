package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Trace is a recording of a run, and what it is of.
type Trace struct {
	Name      string // of files
	Title     string
	Ranks     int    // of the job
	Command   string // that made it
	Recording *model.Recording
}

// TraceText writes the course of a run, one thing a line in the order of time, and where the time went.
func TraceText(w io.Writer, t Trace, s Style) error {
	tables := append([]*Table{t.course(textRows)}, t.sums()...)
	for i, x := range tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := x.Text(w, s); err != nil {
			return err
		}
	}
	return nil
}

// Rows of a course that are shown: on a terminal, and in a page, where they can be scrolled.
const (
	textRows = 120
	pageRows = 2000
)

// entry is something in the course of a run.
type entry struct {
	at, long unit.Time
	depth    int // of what is at one time, what is around the others comes first
	row      []Cell
}

// course returns a table of all that happened, the first so many rows.
func (t Trace) course(rows int) *Table {
	out := &Table{Name: "course", Title: t.Title, Columns: []Column{
		{Head: "at\nus", Right: true, Key: true}, {Head: "for\nus", Right: true}, {Head: "where"}, {Head: "what"}, {Head: "of", Wrap: true},
	}}
	all := t.entries()
	for i, e := range all {
		if i == rows {
			out.note("%d more lines are not shown, from %s us on: --window shows a part, and -o FILE.json all.", len(all)-rows, e.at.MicrosString())
			break
		}
		out.add(e.row...)
	}
	return out
}

// entries returns all that happened in order.
func (t Trace) entries() []entry {
	var all []entry
	put := func(at, to unit.Time, depth int, where string, what Cell, of string) {
		long := none
		if to > at {
			long = text((to - at).MicrosString())
		}
		all = append(all, entry{at, to - at, depth, []Cell{text(at.MicrosString()), long, text(where), what, text(of)}})
	}
	for _, r := range t.Recording.Ranks {
		for _, c := range r.Calls {
			put(c.From, c.To, 1, r.Name, Cell{c.Name, Strong}, "call")
		}
		for _, s := range r.Spans {
			tone := Normal
			if s.Activity == model.Waiting {
				tone = Faint
			}
			put(s.From, s.To, 2, r.Name, Cell{spanName(s), tone}, spanBytes(s))
		}
	}
	for _, f := range t.Recording.Flights {
		where := fmt.Sprintf("rank %d → %d", f.From, f.To)
		to := f.Arrive
		if !f.Arrived() {
			to = f.Depart
		}
		put(f.Depart, to, 3, where, Cell{f.Name, Strong}, flightDetail(f))
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

// spanName says what a processor does.
func spanName(s model.Span) string {
	switch s.Activity {
	case model.Waiting:
		return "waits for " + s.Name
	case model.Blocked:
		return "held up by the " + s.Name
	case model.Computing:
		return "computes"
	case model.Interrupt:
		return "interrupt: " + s.Name
	}
	return s.Name
}

func spanBytes(s model.Span) string {
	if s.Bytes == 0 {
		return ""
	}
	return plural(s.Bytes, "byte")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// flightDetail says what else is known of a message.
func flightDetail(f model.Flight) string {
	var parts []string
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	} else if f.Bytes > 0 {
		parts = append(parts, plural(f.Bytes, "byte"))
	}
	if f.Hardware {
		parts = append(parts, "by hardware")
	}
	if !f.Arrived() {
		parts = append(parts, "has not arrived")
	}
	return strings.Join(parts, ", ")
}

// mostTracks is how many ranks, and how many parts of the network, are shown in tables and pictures.
const mostTracks = 16

// Left says what a recording left out, or "".
func (t Trace) Left() string { return left(t.Recording) }

func left(r *model.Recording) string {
	if r.Omitted == 0 {
		return ""
	}
	return fmt.Sprintf("Recorded until %s us: %s, calls and messages after that are left out.", number(r.Cut.Micros()), plural(r.Omitted, "span"))
}

// sums returns the tables of where the time went: of the ranks, and of the network.
func (t Trace) sums() []*Table {
	ranks := t.sumTable("time-of-ranks", "Where the time of the ranks went", "not waiting", t.busyRanks())
	ranks.note("%s", t.idle())
	network := t.sumTable("time-of-network", "By what the network was taken", "all", t.busiest())
	if n := len(t.Recording.Resources) - mostTracks; n > 0 {
		network.note("%s of the network that were taken for a shorter time are not shown.", plural(n, "part"))
	}
	if len(t.Recording.Resources) == 0 {
		return []*Table{ranks}
	}
	return []*Table{ranks, network}
}

func (t Trace) sumTable(name, title, total string, tracks []model.Track) *Table {
	out := &Table{Name: name, Title: title, Columns: []Column{
		{Head: "what", Key: true}, {Head: "kind"}, {Head: "times", Right: true}, {Head: "bytes", Right: true}, {Head: "us", Right: true}, {Head: "%", Right: true},
	}}
	whole := max(t.Recording.End(), 1)
	for _, x := range tracks {
		out.group(x.Name)
		var busy unit.Time
		for _, s := range x.Sums() {
			bytes := none
			if s.Bytes > 0 {
				bytes = text(fmt.Sprint(s.Bytes))
			}
			name := s.Name
			if name == "" {
				name = "other"
			}
			out.add(text(name), text(s.Activity.String()), text(fmt.Sprint(s.Count)), bytes, text(number(s.Time.Micros())), text(share(s.Time, whole)))
			if s.Activity != model.Waiting {
				busy += s.Time
			}
		}
		out.add(Cell{total, Strong}, text(""), text(""), text(""), Cell{number(busy.Micros()), Strong}, Cell{share(busy, whole), Strong})
	}
	return out
}

func share(part, whole unit.Time) string { return fixed(100*part.Micros()/whole.Micros(), 1) }

// busyRanks returns the ranks that did anything, the first of them if they are many.
func (t Trace) busyRanks() []model.Track {
	var out []model.Track
	for _, r := range t.Recording.Ranks {
		if len(r.Spans) > 0 && len(out) < mostTracks {
			out = append(out, r)
		}
	}
	return out
}

// idle says what is not shown of the ranks.
func (t Trace) idle() string {
	busy := 0
	for _, r := range t.Recording.Ranks {
		if len(r.Spans) > 0 {
			busy++
		}
	}
	whole := fmt.Sprintf("%% is of all %s us.", number(t.Recording.End().Micros()))
	if t.Recording.Omitted > 0 {
		whole += " " + t.Left()
	}
	if idle := len(t.Recording.Ranks) - busy; idle > 0 {
		whole += fmt.Sprintf(" %s did nothing then.", plural(idle, "other rank"))
	}
	if busy > mostTracks {
		whole += fmt.Sprintf(" %s more are not shown.", plural(busy-mostTracks, "rank"))
	}
	return whole
}

// busiest returns the parts of the network that were taken longest, in their own order.
func (t Trace) busiest() []model.Track {
	all := slices.Clone(t.Recording.Resources)
	if len(all) <= mostTracks {
		return all
	}
	taken := func(x model.Track) (sum unit.Time) {
		for _, s := range x.Spans {
			sum += s.Time()
		}
		return sum
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b model.Track) int { return int(min(max(taken(b)-taken(a), -1), 1)) })
	least := order[mostTracks-1]
	n := 0
	return slices.DeleteFunc(all, func(x model.Track) bool {
		if taken(x) < taken(least) || n == mostTracks {
			return true
		}
		n++
		return false
	})
}
