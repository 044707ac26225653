package timeline

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports/doc"
)

// PlacedRun is a run with a placement of its ranks on nodes.
type PlacedRun struct {
	Placement model.Placement
	Recording *model.Timeline
}

// PlacementTimes reports the time of a program on each of several placements, and the mean time of
// its ranks by activity.
func PlacementTimes(title string, runs []PlacedRun) *doc.Document {
	t := &doc.Table{Name: "placements", Title: title, Columns: []doc.Column{{Heading: "placement", IsKey: true, Kind: doc.TextColumn},
		{Heading: "ranks", Kind: doc.NumberColumn}, {Heading: "nodes", Kind: doc.NumberColumn}, {Heading: "ends at\nus", Kind: doc.NumberColumn}, {Heading: "of the\nfirst", Kind: doc.NumberColumn},
		{Heading: "computes\nus", Kind: doc.NumberColumn}, {Heading: "overhead\nus", Kind: doc.NumberColumn}, {Heading: "waits\nus", Kind: doc.NumberColumn}}}
	first := 0.0
	for _, x := range runs {
		var all []rankTime
		for _, r := range x.Recording.Ranks {
			all = append(all, rankTimeOf(r))
		}
		mean, most := meanAndMax(all)
		end := most.end.Micros()
		if first == 0 {
			first = end
		}
		share := doc.EmptyCell
		if first > 0 {
			share = doc.NumberCell(end / first)
		}
		t.AddRow(doc.TextCell(x.Placement.String()), doc.CountCell(x.Placement.Ranks()), doc.CountCell(len(x.Placement)), doc.NumberCell(end), share,
			doc.NumberCell(mean.computing.Micros()), doc.NumberCell(mean.overhead.Micros()), doc.NumberCell(mean.waiting.Micros()))
	}
	t.AddNote("A placement is the number of ranks on each node. The run ends with its last rank; the columns after that are means over all ranks.")
	d := &doc.Document{Title: title}
	d.AddTables("placements", title, t)
	return d
}
