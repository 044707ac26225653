package timeline

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// maxBusyParts is how many parts of the network are shown.
const maxBusyParts = 10

// FlowThroughput reports the throughput of flows between ranks, and the busiest parts of the
// network.
func FlowThroughput(title string, flows []model.Flow, r *model.Timeline) *doc.Document {
	d := &doc.Document{Title: title}
	d.AddTables("traffic", title, flowTable(title, flows))
	if t := busyTable(flows, r); t != nil {
		d.AddTables("links", t.Title, t)
	}
	return d
}

func flowTable(title string, flows []model.Flow) *doc.Table {
	t := &doc.Table{Name: "traffic", Title: title, Columns: []doc.Column{{Heading: "from rank", IsKey: true, Kind: doc.NumberColumn}, {Heading: "to rank", Kind: doc.NumberColumn},
		{Heading: "sent\nB", Kind: doc.NumberColumn}, {Heading: "time\nus", Kind: doc.NumberColumn}, {Heading: "throughput\nMB/s", Kind: doc.NumberColumn}}}
	rate := func(r unit.Rate) doc.Cell { return doc.NumberCell(float64(r) / 1e6) }
	rates, sum, bytes, last := []unit.Rate{}, unit.Rate(0), 0, unit.Time(0)
	for i, f := range flows {
		rates, bytes, last = append(rates, f.Rate()), bytes+f.Bytes, max(last, f.Time)
		if i < maxRankRows {
			t.AddRow(doc.CountCell(f.Src), doc.CountCell(f.Dst), doc.CountCell(f.Bytes), doc.NumberCell(f.Time.Micros()), rate(f.Rate()))
		}
	}
	if more := len(flows) - maxRankRows; more > 0 {
		t.AddNote("%s more are in the summary only.", format.Plural(more, "flow"))
	}
	slices.Sort(rates)
	sum = model.Flow{Bytes: bytes, Time: last}.Rate()
	t.BeginGroup("summary")
	for _, x := range []struct {
		name string
		rate unit.Rate
	}{{"min", rates[0]}, {"median", quantile.UpperMedian(rates)}, {"max", rates[len(rates)-1]}} {
		t.AddRow(doc.TextCell(x.name).WithTone(doc.StrongTone), doc.EmptyCell, doc.EmptyCell, doc.EmptyCell, rate(x.rate))
	}
	t.AddRow(doc.TextCell("all").WithTone(doc.StrongTone), doc.EmptyCell, doc.CountCell(bytes), doc.NumberCell(last.Micros()), rate(sum))
	t.AddNote("The time is from the common start until the last message of the flow was received.")
	return t
}

// lastArrival returns when the last message of all flows was received.
func lastArrival(flows []model.Flow) (end unit.Time) {
	for _, f := range flows {
		end = max(end, f.Time)
	}
	return end
}

// busyTime returns how long a part of the network was busy.
func busyTime(x model.Track) (d unit.Time) {
	for a, t := range x.Totals {
		if model.Activity(a) != model.WaitActivity {
			d += t
		}
	}
	return d
}

// LinkLoads returns for which share of the time of the flows each part of the network was busy, by
// its name.
func LinkLoads(flows []model.Flow, r *model.Timeline) map[string]float64 {
	loads, end := map[string]float64{}, lastArrival(flows)
	for _, x := range r.Resources {
		loads[x.Name] = busyTime(x).Micros() / end.Micros()
	}
	return loads
}

// busyTable returns the parts of the network that were busy longest, or nil if none was.
func busyTable(flows []model.Flow, r *model.Timeline) *doc.Table {
	long := lastArrival(flows)
	all := slices.Clone(r.Resources)
	slices.SortStableFunc(all, func(a, b model.Track) int { return cmp.Compare(busyTime(b), busyTime(a)) })
	if len(all) == 0 {
		return nil
	}
	t := &doc.Table{Name: "links", Title: "Busiest parts of the network", Columns: []doc.Column{{Heading: "part", IsKey: true}, {Heading: "carried\nB", Kind: doc.NumberColumn}, {Heading: "busy\nus", Kind: doc.NumberColumn}, {Heading: "busy\n%", Kind: doc.NumberColumn}}}
	for i, x := range all {
		if i == maxBusyParts {
			t.AddNote("%s of the network that were busy for a shorter time are not shown.", format.Plural(len(all)-i, "part"))
			break
		}
		t.AddRow(doc.TextCell(x.Name), doc.CountCell(x.Bytes), doc.NumberCell(busyTime(x).Micros()), doc.NumberCell(100*busyTime(x).Micros()/long.Micros()))
	}
	t.AddNote("The share is of the time until the last message was received. Bytes include packet headers, and the barrier before the start.")
	return t
}
