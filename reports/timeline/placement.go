package timeline

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports/doc"
)

// Placed is a run with a placement of its ranks on nodes.
type Placed struct {
	Placement model.Placement
	Record    *model.Timeline
}

// Placements reports the time of a program on each of several placements, and the mean time of its
// ranks by activity.
func Placements(title string, runs []Placed) *doc.Document {
	t := &doc.Table{Name: "placements", Title: title, Columns: []doc.Column{{Head: "placement", Key: true, Kind: doc.Text},
		{Head: "ranks", Kind: doc.Number}, {Head: "nodes", Kind: doc.Number}, {Head: "ends at\nus", Kind: doc.Number}, {Head: "of the\nfirst", Kind: doc.Number},
		{Head: "computes\nus", Kind: doc.Number}, {Head: "overhead\nus", Kind: doc.Number}, {Head: "waits\nus", Kind: doc.Number}}}
	first := 0.0
	for _, x := range runs {
		var all []spent
		for _, r := range x.Record.Ranks {
			all = append(all, spentBy(r))
		}
		mean, most := summary(all)
		end := most.end.Micros()
		if first == 0 {
			first = end
		}
		share := doc.None
		if first > 0 {
			share = doc.Num(end / first)
		}
		t.Add(doc.Words(x.Placement.String()), doc.Count(x.Placement.Ranks()), doc.Count(len(x.Placement)), doc.Num(end), share,
			doc.Num(mean.computing.Micros()), doc.Num(mean.overhead.Micros()), doc.Num(mean.waiting.Micros()))
	}
	t.Note("A placement is the number of ranks on each node. The run ends with its last rank; the columns after that are means over all ranks.")
	d := &doc.Document{Title: title}
	d.AddTables("placements", title, t)
	return d
}
