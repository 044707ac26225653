package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// RunTimes reports how much time each rank of a program spent computing, on communication overhead,
// and waiting. With calls it also reports how often the ranks made each call of the library and how
// long those took, in the order of their total time.
func RunTimes(title, note string, r *model.Timeline, calls bool) *doc.Document {
	d := &doc.Document{Title: title}
	d.AddTables("run", title, runTable(title, note, r))
	if calls {
		d.AddTables("calls", "Calls of all ranks", CallTable(r))
	}
	return d
}

// EndTimes reports when each rank of a program ended on a real machine. All ranks began at the same
// time.
func EndTimes(title, note string, ends []unit.Time) *doc.Document {
	t := &doc.Table{Name: "run", Title: title, Columns: []doc.Column{{Heading: "rank", IsKey: true, Kind: doc.NumberColumn}, {Heading: "ends at\nus", Kind: doc.NumberColumn}}}
	var sum unit.Time
	for rank, end := range ends {
		if sum += end; rank < maxRankRows {
			t.AddRow(doc.CountCell(rank), doc.NumberCell(end.Micros()))
		}
	}
	if more := len(ends) - maxRankRows; more > 0 {
		t.AddNote("%d more ranks are in the summary only.", more)
	}
	t.BeginGroup("summary")
	t.AddRow(doc.TextCell("mean").WithTone(doc.StrongTone), doc.NumberCell(sum.Micros()/float64(len(ends))))
	t.AddRow(doc.TextCell("max").WithTone(doc.StrongTone), doc.NumberCell(slices.Max(ends).Micros()))
	t.AddNote("Times are from a common start. %s", note)
	d := &doc.Document{Title: title}
	d.AddTables("run", title, t)
	return d
}

// CallTable reports how often the ranks made each call of the library and how long those took.
func CallTable(r *model.Timeline) *doc.Table { return callsTable("calls of all ranks", r) }

// rankTime is the time of a rank by activity.
type rankTime struct{ computing, overhead, waiting, end unit.Time }

func rankTimeOf(t model.Track) rankTime {
	var x rankTime
	for a, d := range t.Totals {
		switch model.Activity(a) {
		case model.ComputeActivity:
			x.computing += d
		case model.WaitActivity, model.BlockedActivity:
			x.waiting += d
		default:
			x.overhead += d
		}
	}
	x.end = x.computing + x.overhead + x.waiting
	return x
}

// maxRankRows is how many ranks are shown one by one.
const maxRankRows = 64

func runTable(title, note string, r *model.Timeline) *doc.Table {
	t := &doc.Table{Name: "run", Title: title, Columns: []doc.Column{{Heading: "rank", IsKey: true, Kind: doc.NumberColumn},
		{Heading: "computes\nus", Kind: doc.NumberColumn}, {Heading: "overhead\nus", Kind: doc.NumberColumn}, {Heading: "waits\nus", Kind: doc.NumberColumn}, {Heading: "ends at\nus", Kind: doc.NumberColumn}, {Heading: "computes\n%", Kind: doc.NumberColumn}}}
	var all []rankTime
	for _, x := range r.Ranks {
		all = append(all, rankTimeOf(x))
	}
	for rank, x := range all {
		if rank == maxRankRows {
			t.AddNote("%d more ranks are in the summary only.", len(all)-maxRankRows)
			break
		}
		t.AddRow(x.row(doc.CountCell(rank), x.computingPercent())...)
	}
	t.BeginGroup("summary")
	mean, most := meanAndMax(all)
	t.AddRow(mean.row(doc.TextCell("mean").WithTone(doc.StrongTone), mean.computingPercent())...)
	t.AddRow(most.row(doc.TextCell("max").WithTone(doc.StrongTone), maxComputingPercent(all))...)
	t.AddNote("Overhead is processor time for communication; a waiting processor is idle. %s", note)
	return t
}

// computingPercent returns the share of a rank's time in which it computes; NaN if it takes none.
func (x rankTime) computingPercent() float64 { return 100 * x.computing.Micros() / x.end.Micros() }

// maxComputingPercent returns the largest share; NaN if no rank takes time.
func maxComputingPercent(all []rankTime) float64 {
	most := math.NaN()
	for _, x := range all {
		if p := x.computingPercent(); p > most || math.IsNaN(most) {
			most = p
		}
	}
	return most
}

func (x rankTime) row(name doc.Cell, computingPercent float64) []doc.Cell {
	share := doc.EmptyCell
	if !math.IsNaN(computingPercent) {
		share = doc.NumberCell(computingPercent)
	}
	return []doc.Cell{name, doc.NumberCell(x.computing.Micros()), doc.NumberCell(x.overhead.Micros()), doc.NumberCell(x.waiting.Micros()), doc.NumberCell(x.end.Micros()), share}
}

// meanAndMax returns the mean of all, and the most of each.
func meanAndMax(all []rankTime) (mean, most rankTime) {
	for _, x := range all {
		mean.computing, most.computing = mean.computing+x.computing, max(most.computing, x.computing)
		mean.overhead, most.overhead = mean.overhead+x.overhead, max(most.overhead, x.overhead)
		mean.waiting, most.waiting = mean.waiting+x.waiting, max(most.waiting, x.waiting)
		mean.end, most.end = mean.end+x.end, max(most.end, x.end)
	}
	n := unit.Time(len(all))
	return rankTime{mean.computing / n, mean.overhead / n, mean.waiting / n, mean.end / n}, most
}

func callsTable(title string, r *model.Timeline) *doc.Table {
	t := &doc.Table{Name: "calls", Title: title, Columns: []doc.Column{{Heading: "call", IsKey: true}, {Heading: "calls", Kind: doc.NumberColumn}, {Heading: "time\n%", Kind: doc.NumberColumn}, {Heading: "time\nus", Kind: doc.NumberColumn},
		{Heading: "waits\nus", Kind: doc.NumberColumn}, {Heading: "for late\nranks, us", Kind: doc.NumberColumn}, {Heading: "mean\nus", Kind: doc.NumberColumn}, {Heading: "min\nus", Kind: doc.NumberColumn}, {Heading: "max\nus", Kind: doc.NumberColumn}, {Heading: "sends\nB", Kind: doc.NumberColumn}}}
	var whole unit.Time
	for _, x := range r.Ranks {
		whole += rankTimeOf(x).end
	}
	for _, c := range callsByTime(r) {
		share := doc.EmptyCell
		if whole > 0 {
			share = doc.NumberCell(100 * c.Time.Micros() / whole.Micros())
		}
		us := func(d unit.Time) doc.Cell { return doc.NumberCell(d.Micros()) }
		t.AddRow(doc.TextCell(c.Name), doc.CountCell(c.Count), share, us(c.Time), us(c.Waiting+c.Blocked), us(c.LateSender+c.LateReceiver), us(c.Time/unit.Time(max(c.Count, 1))), us(c.Shortest), us(c.Longest), doc.CountCell(c.Bytes))
	}
	t.AddNote("Times are sums over all ranks, and shares are of the sum of their times from beginning to end. A rank waits in a call while its processor is idle; part of that is for late ranks, which have not sent or received yet (late senders and late receivers, as in Scalasca)." +
		" sends counts bytes of data without headers: of messages, their parts, and remote accesses.")
	return t
}

// callsByTime returns the calls of all ranks in the order of their total time.
func callsByTime(r *model.Timeline) []model.CallProfile {
	all := slices.Clone(r.Profile.Calls)
	slices.SortStableFunc(all, func(a, b model.CallProfile) int { return cmp.Compare(b.Time, a.Time) })
	return all
}

// visitThingsInCall tells of the things that begin in a call, and returns those from which on to
// look for the next one. Things are in the order of time, and a call that takes no time has what
// happens at that time.
func visitThingsInCall[T any](things []T, call model.Span, when func(T) unit.Time, tell func(T)) []T {
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
