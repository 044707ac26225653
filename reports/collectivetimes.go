package reports

import (
	"fmt"
	"io"
	"math"

	"github.com/loggp/loggp/fit"
)

// CollectiveTimes writes what collective operations took: a table of each, with a group of rows for each algorithm, the fastest at each length marked.
func CollectiveTimes(w io.Writer, cs []fit.Collective, s Style) error {
	out := &writer{w: w, style: s}
	for _, t := range timesTables(cs) {
		out.table(t)
	}
	return out.err
}

// timesTables are one for each operation of a platform, library, place and number of ranks.
func timesTables(cs []fit.Collective) []*Table {
	var all []*Table
	best := fastest(cs)
	for i, c := range cs {
		title := fmt.Sprintf("%s of %d ranks on %s", c.Operation, c.Ranks, where(c.Platform, c.Library, c.Place))
		if len(all) == 0 || all[len(all)-1].Title != title {
			t := &Table{Name: c.Operation, Title: title, Columns: []Column{{Head: "bytes", Key: true, Right: true},
				{Head: "min\nus", Right: true}, {Head: "median\nus", Right: true}, {Head: "max\nus", Right: true}, {Head: "last\nus", Right: true}, {Head: "repetitions", Right: true}}}
			t.blocks(c.Operation)
			t.note("min, median and max: of the ranks' own calls behind a barrier; last: from a common start until the last rank has ended. Each is the median of repetitions.")
			all = append(all, t)
		}
		t := all[len(all)-1]
		if len(t.Groups) == 0 || t.Groups[len(t.Groups)-1].Name != c.Algorithm {
			t.group(c.Algorithm)
		}
		row := []Cell{text(size(c.Bytes)), text(number(c.Min)), text(number(c.Median)), text(number(c.Max)), text(number(c.Last)), text(fmt.Sprint(c.Samples))}
		if best[i] {
			row[3].Tone = Strong
			if !math.IsNaN(c.Last) {
				row[3].Tone, row[4].Tone = Normal, Strong
			}
		}
		t.add(row...)
	}
	for _, t := range all {
		t.units()
	}
	return all
}

// fastest says of each whether no other algorithm is faster for the same.
func fastest(cs []fit.Collective) []bool {
	same := func(c fit.Collective) fit.Collective { // but for algorithm and times
		return fit.Collective{Platform: c.Platform, Library: c.Library, Place: c.Place, Operation: c.Operation, Ranks: c.Ranks, Bytes: c.Bytes}
	}
	least := make(map[fit.Collective]int)
	for i, c := range cs {
		took, _ := c.Took()
		j, known := least[same(c)]
		if !known {
			least[same(c)] = i
		} else if before, _ := cs[j].Took(); took < before {
			least[same(c)] = i
		}
	}
	best := make([]bool, len(cs))
	for _, i := range least {
		best[i] = true
	}
	return best
}

// CollectiveComparisons writes what a model says of collective operations beside what they took, and which algorithms are the fastest by either.
func CollectiveComparisons(w io.Writer, cs []fit.CollectiveComparison, s Style) error {
	out := &writer{w: w, style: s}
	for _, t := range append(collectiveComparisons(cs), fastestTables(fit.FastestOf(cs))...) {
		out.table(t)
	}
	return out.err
}

func collectiveComparisons(cs []fit.CollectiveComparison) []*Table {
	var all []*Table
	for _, c := range cs {
		title := fmt.Sprintf("%s of %d ranks on %s, by the model and measured", c.Operation, c.Ranks, where(c.Platform, c.Library, c.Place))
		if len(all) == 0 || all[len(all)-1].Title != title {
			t := &Table{Name: c.Operation, Title: title, Columns: []Column{{Head: "bytes", Key: true, Right: true},
				{Head: "predicted\nus", Right: true}, {Head: "measured\nus", Right: true}, {Head: "error\n%", Right: true}}}
			t.blocks(c.Operation)
			t.note("predicted: by LogGP with the parameters of %s; error is (predicted − measured) / measured.", c.By)
			all = append(all, t)
		}
		t := all[len(all)-1]
		if len(t.Groups) == 0 || t.Groups[len(t.Groups)-1].Name != c.Algorithm {
			t.group(c.Algorithm)
		}
		if math.IsNaN(c.Last) {
			t.note("measured is the slowest rank's call behind a barrier, which ranks leave one after another: there is no common start.")
		}
		x := c.Comparison()
		t.add(text(size(c.Bytes)), text(number(x.Predicted)), text(number(x.Measured)), text(percent(x.Error)))
	}
	for _, t := range all {
		t.units()
	}
	return all
}

// fastestTables are one for each platform, library, place and number of ranks.
func fastestTables(fs []fit.Fastest) []*Table {
	var all []*Table
	for _, f := range fs {
		title := fmt.Sprintf("The fastest algorithms of %d ranks on %s", f.Ranks, where(f.Platform, f.Library, f.Place))
		if len(all) == 0 || all[len(all)-1].Title != title {
			t := &Table{Name: "fastest", Title: title, Columns: []Column{{Head: "bytes", Key: true, Right: true},
				{Head: "measured"}, {Head: "us", Right: true}, {Head: "by the model"}, {Head: "loss\n%", Right: true}}}
			t.note("loss: by how much what the model takes for the fastest is slower than what is.")
			all = append(all, t)
		}
		t := all[len(all)-1]
		if len(t.Groups) == 0 || t.Groups[len(t.Groups)-1].Name != f.Operation {
			t.group(f.Operation)
		}
		took, _ := f.Took()
		t.add(text(size(f.Bytes)), text(f.Algorithm), text(number(took)), text(f.ByModel.Algorithm), text(percent(f.Loss())))
	}
	for _, t := range all {
		t.units()
	}
	return all
}
