package reports

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Calls writes a profile of a program: how often its ranks made each call of the library, and what that took. The calls that took most come first.
func Calls(w io.Writer, title string, r *model.Recording, s Style) error {
	out := &writer{w: w, style: s}
	out.table(callsTable(title, r))
	return out.err
}

// called is what all ranks did in calls of a name.
type called struct {
	name                      string
	times                     int
	total, waits, least, most unit.Time
	bytes                     int // that left the ranks
}

func callsTable(title string, r *model.Recording) *Table {
	t := &Table{Name: "calls", Title: title, Columns: []Column{{Head: "call", Key: true}, {Head: "calls", Right: true}, {Head: "time\n%", Right: true}, {Head: "time\nus", Right: true},
		{Head: "waits\nus", Right: true}, {Head: "mean\nus", Right: true}, {Head: "least\nus", Right: true}, {Head: "most\nus", Right: true}, {Head: "sends\nB", Right: true}}}
	var whole unit.Time
	for _, x := range r.Ranks {
		whole += spentBy(x).end
	}
	for _, c := range profile(r) {
		share := none
		if whole > 0 {
			share = text(number(100 * c.total.Micros() / whole.Micros()))
		}
		us := func(d unit.Time) Cell { return text(number(d.Micros())) }
		t.add(text(c.name), text(strconv.Itoa(c.times)), share, us(c.total), us(c.waits), us(c.total/unit.Time(c.times)), us(c.least), us(c.most), text(strconv.Itoa(c.bytes)))
	}
	t.note("Times are of all ranks together, and shares are of what all ranks took from the beginning to their ends. A rank waits in a call while its processor does nothing." +
		" What is sent is data alone, by every way: messages, parts of them, and remote accesses.")
	return t
}

// profile sums up the calls of all ranks, those that took most first.
func profile(r *model.Recording) []called {
	at := map[string]int{}
	var all []called
	for rank, x := range r.Ranks {
		waits, sends := x.Spans, sentBy(r.Flights, rank)
		for _, c := range x.Calls {
			i, ok := at[c.Name]
			if !ok {
				i = len(all)
				at[c.Name] = i
				all = append(all, called{name: c.Name, least: c.Time()})
			}
			e := &all[i]
			e.times++
			e.total += c.Time()
			e.least, e.most = min(e.least, c.Time()), max(e.most, c.Time())
			waits = during(waits, c, func(s model.Span) unit.Time { return s.From }, func(s model.Span) {
				if s.Activity == model.Waiting || s.Activity == model.Blocked {
					e.waits += s.Time()
				}
			})
			sends = during(sends, c, func(f model.Flight) unit.Time { return f.Sent }, func(f model.Flight) { e.bytes += f.Bytes })
		}
	}
	slices.SortStableFunc(all, func(a, b called) int { return cmp.Compare(b.total, a.total) })
	return all
}

// sentBy returns the flights of a rank in the order in which it sent them.
func sentBy(all []model.Flight, rank int) []model.Flight {
	var of []model.Flight
	for _, f := range all {
		if f.By == rank {
			of = append(of, f)
		}
	}
	slices.SortStableFunc(of, func(a, b model.Flight) int { return cmp.Compare(a.Sent, b.Sent) })
	return of
}

// during tells of the things that begin in a call, and returns those from which on to look for the next one. Things are in the order of time, and a
// call that takes no time has what happens at that time.
func during[T any](things []T, call model.Span, when func(T) unit.Time, tell func(T)) []T {
	for len(things) > 0 {
		at := when(things[0])
		if at > call.From && at >= call.To {
			break
		}
		if at >= call.From {
			tell(things[0])
		}
		things = things[1:]
	}
	return things
}
