package timeline

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// busiest is how many parts of the network are shown.
const busiest = 10

// Traffic reports the throughput of flows between ranks, and the busiest parts of the network.
func Traffic(title string, flows []model.Flow, r *model.Timeline) *doc.Document {
	d := &doc.Document{Title: title}
	d.AddTables("traffic", title, flowTable(title, flows))
	if t := busyTable(flows, r); t != nil {
		d.AddTables("links", t.Title, t)
	}
	return d
}

func flowTable(title string, flows []model.Flow) *doc.Table {
	t := &doc.Table{Name: "traffic", Title: title, Columns: []doc.Column{{Head: "from rank", Key: true, Kind: doc.Number}, {Head: "to rank", Kind: doc.Number},
		{Head: "sent\nB", Kind: doc.Number}, {Head: "time\nus", Kind: doc.Number}, {Head: "throughput\nMB/s", Kind: doc.Number}}}
	rate := func(r unit.Rate) doc.Cell { return doc.Num(float64(r) / 1e6) }
	rates, sum, bytes, last := []unit.Rate{}, unit.Rate(0), 0, unit.Time(0)
	for i, f := range flows {
		rates, bytes, last = append(rates, f.Rate()), bytes+f.Bytes, max(last, f.Time)
		if i < rankRows {
			t.Add(doc.Count(f.Src), doc.Count(f.Dst), doc.Count(f.Bytes), doc.Num(f.Time.Micros()), rate(f.Rate()))
		}
	}
	if more := len(flows) - rankRows; more > 0 {
		t.Note("%s more are in the summary only.", format.Plural(more, "flow"))
	}
	slices.Sort(rates)
	sum = model.Flow{Bytes: bytes, Time: last}.Rate()
	t.Group("summary")
	for _, x := range []struct {
		name string
		rate unit.Rate
	}{{"least", rates[0]}, {"median", rates[len(rates)/2]}, {"most", rates[len(rates)-1]}} {
		t.Add(doc.Words(x.name).In(doc.Strong), doc.None, doc.None, doc.None, rate(x.rate))
	}
	t.Add(doc.Words("all").In(doc.Strong), doc.None, doc.Count(bytes), doc.Num(last.Micros()), rate(sum))
	t.Note("The time is from the common start until the last message of the flow was received.")
	return t
}

// busyTable returns the parts of the network that were busy longest, or nil if none was.
func busyTable(flows []model.Flow, r *model.Timeline) *doc.Table {
	var long unit.Time
	for _, f := range flows {
		long = max(long, f.Time)
	}
	busy := func(x model.Track) (d unit.Time) {
		for a, t := range x.Totals {
			if model.Activity(a) != model.Waiting {
				d += t
			}
		}
		return d
	}
	all := slices.Clone(r.Resources)
	slices.SortStableFunc(all, func(a, b model.Track) int { return cmp.Compare(busy(b), busy(a)) })
	if len(all) == 0 {
		return nil
	}
	t := &doc.Table{Name: "links", Title: "Busiest parts of the network", Columns: []doc.Column{{Head: "part", Key: true}, {Head: "carried\nB", Kind: doc.Number}, {Head: "busy\nus", Kind: doc.Number}, {Head: "busy\n%", Kind: doc.Number}}}
	for i, x := range all {
		if i == busiest {
			t.Note("%s of the network that were busy for a shorter time are not shown.", format.Plural(len(all)-i, "part"))
			break
		}
		t.Add(doc.Words(x.Name), doc.Count(x.Bytes), doc.Num(busy(x).Micros()), doc.Num(100*busy(x).Micros()/long.Micros()))
	}
	t.Note("The share is of the time until the last message was received. Bytes include packet headers, and the barrier before the start.")
	return t
}
