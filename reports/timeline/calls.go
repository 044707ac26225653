package timeline

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// Run reports how much time each rank of a program spent computing, on communication overhead, and
// waiting. With calls it also reports how often the ranks made each call of the library and how
// long those took, in the order of their total time.
func Run(title, note string, r *model.Timeline, calls bool) *doc.Document {
	d := &doc.Document{Title: title}
	d.AddTables("run", title, runTable(title, note, r))
	if calls {
		d.AddTables("calls", "Calls of all ranks", Calls(r))
	}
	return d
}

// Ends reports when each rank of a program ended on a real machine. All ranks began at the same
// time.
func Ends(title, note string, ends []unit.Time) *doc.Document {
	t := &doc.Table{Name: "run", Title: title, Columns: []doc.Column{{Head: "rank", Key: true, Kind: doc.Number}, {Head: "ends at\nus", Kind: doc.Number}}}
	var sum unit.Time
	for rank, end := range ends {
		if sum += end; rank < rankRows {
			t.Add(doc.Count(rank), doc.Num(end.Micros()))
		}
	}
	if more := len(ends) - rankRows; more > 0 {
		t.Note("%d more ranks are in the summary only.", more)
	}
	t.Group("summary")
	t.Add(doc.Words("mean").In(doc.Strong), doc.Num(sum.Micros()/float64(len(ends))))
	t.Add(doc.Words("most").In(doc.Strong), doc.Num(slices.Max(ends).Micros()))
	t.Note("Times are from a common start. %s", note)
	d := &doc.Document{Title: title}
	d.AddTables("run", title, t)
	return d
}

// Calls reports how often the ranks made each call of the library and how long those took.
func Calls(r *model.Timeline) *doc.Table { return callsTable("calls of all ranks", r) }

// spent is the time of a rank by activity.
type spent struct{ computing, overhead, waiting, end unit.Time }

func spentBy(t model.Track) spent {
	var x spent
	for a, d := range t.Totals {
		switch model.Activity(a) {
		case model.Computing:
			x.computing += d
		case model.Waiting, model.Blocked:
			x.waiting += d
		default:
			x.overhead += d
		}
	}
	x.end = x.computing + x.overhead + x.waiting
	return x
}

// rankRows is how many ranks are shown one by one.
const rankRows = 64

func runTable(title, note string, r *model.Timeline) *doc.Table {
	t := &doc.Table{Name: "run", Title: title, Columns: []doc.Column{{Head: "rank", Key: true, Kind: doc.Number},
		{Head: "computes\nus", Kind: doc.Number}, {Head: "overhead\nus", Kind: doc.Number}, {Head: "waits\nus", Kind: doc.Number}, {Head: "ends at\nus", Kind: doc.Number}, {Head: "computes\n%", Kind: doc.Number}}}
	var all []spent
	for _, x := range r.Ranks {
		all = append(all, spentBy(x))
	}
	for rank, x := range all {
		if rank == rankRows {
			t.Note("%d more ranks are in the summary only.", len(all)-rankRows)
			break
		}
		t.Add(x.row(doc.Count(rank))...)
	}
	t.Group("summary")
	mean, most := summary(all)
	t.Add(mean.row(doc.Words("mean").In(doc.Strong))...)
	t.Add(most.row(doc.Words("most").In(doc.Strong))...)
	t.Note("Overhead is processor time for communication; a waiting processor is idle. %s", note)
	return t
}

func (x spent) row(name doc.Cell) []doc.Cell {
	share := doc.None
	if x.end > 0 {
		share = doc.Num(100 * x.computing.Micros() / x.end.Micros())
	}
	return []doc.Cell{name, doc.Num(x.computing.Micros()), doc.Num(x.overhead.Micros()), doc.Num(x.waiting.Micros()), doc.Num(x.end.Micros()), share}
}

// summary returns the mean of all, and the most of each.
func summary(all []spent) (mean, most spent) {
	for _, x := range all {
		mean.computing, most.computing = mean.computing+x.computing, max(most.computing, x.computing)
		mean.overhead, most.overhead = mean.overhead+x.overhead, max(most.overhead, x.overhead)
		mean.waiting, most.waiting = mean.waiting+x.waiting, max(most.waiting, x.waiting)
		mean.end, most.end = mean.end+x.end, max(most.end, x.end)
	}
	n := unit.Time(len(all))
	return spent{mean.computing / n, mean.overhead / n, mean.waiting / n, mean.end / n}, most
}

// called sums up all calls of a name.
type called struct {
	name                      string
	times                     int
	total, waits, least, most unit.Time
	bytes                     int // that left the ranks
}

func callsTable(title string, r *model.Timeline) *doc.Table {
	t := &doc.Table{Name: "calls", Title: title, Columns: []doc.Column{{Head: "call", Key: true}, {Head: "calls", Kind: doc.Number}, {Head: "time\n%", Kind: doc.Number}, {Head: "time\nus", Kind: doc.Number},
		{Head: "waits\nus", Kind: doc.Number}, {Head: "mean\nus", Kind: doc.Number}, {Head: "least\nus", Kind: doc.Number}, {Head: "most\nus", Kind: doc.Number}, {Head: "sends\nB", Kind: doc.Number}}}
	var whole unit.Time
	for _, x := range r.Ranks {
		whole += spentBy(x).end
	}
	for _, c := range profile(r) {
		share := doc.None
		if whole > 0 {
			share = doc.Num(100 * c.total.Micros() / whole.Micros())
		}
		us := func(d unit.Time) doc.Cell { return doc.Num(d.Micros()) }
		t.Add(doc.Words(c.name), doc.Count(c.times), share, us(c.total), us(c.waits), us(c.total/unit.Time(c.times)), us(c.least), us(c.most), doc.Count(c.bytes))
	}
	t.Note("Times are sums over all ranks, and shares are of the sum of their times from beginning to end. A rank waits in a call while its processor is idle." +
		" sends counts bytes of data without headers: of messages, their parts, and remote accesses.")
	return t
}

// profile sums up the calls of all ranks, in the order of their total time.
func profile(r *model.Timeline) []called {
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

// during tells of the things that begin in a call, and returns those from which on to look for the
// next one. Things are in the order of time, and a call that takes no time has what happens at that
// time.
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
