package reports

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
)

// Contests writes what collective operations take on several machines, or by several libraries, side by side: of each entrant its fastest
// algorithm, and its time over that of the first.
func Contests(w io.Writer, entrants []compare.Entrant, all []compare.Contest, s Style) error {
	out := &writer{w: w, style: s}
	out.table(contestTable(entrants, all))
	return out.err
}

// ContestsCSV writes the same as CSV.
func ContestsCSV(w io.Writer, entrants []compare.Entrant, all []compare.Contest) error {
	return contestTable(entrants, all).CSV(w)
}

// contestTable has a group of rows for each operation and number of ranks.
func contestTable(entrants []compare.Entrant, all []compare.Contest) *Table {
	t := &Table{Name: "side-by-side", Title: "Collective operations side by side", Columns: []Column{{Head: "bytes", Key: true, Right: true}}}
	var shown []int // those that were measured beside another
	for i := range entrants {
		if slices.ContainsFunc(all, func(c compare.Contest) bool { return !math.IsNaN(c.Micros(i)) }) {
			shown = append(shown, i)
		}
	}
	for n, i := range shown {
		x, name := entrants[i], string(rune('A'+n%26))
		t.Columns = append(t.Columns, Column{Head: name + "\nus", Right: true}, Column{Head: name + "'s\nfastest"})
		if n > 0 {
			t.Columns = append(t.Columns, Column{Head: name + "/A", Right: true})
		}
		t.note("%s is %s, of %s.", name, where(x.Platform, x.Library, x.Place), strings.Join(x.Files, " and "))
	}
	for _, c := range all {
		t.within(ofRanks(c.Operation, c.Ranks))
		if o, ok := collective.OperationNamed(c.Operation); ok && o.ByBlocks() {
			t.note("Where there is a block for each rank, bytes are those of a block.")
		}
		if t.note("Times are medians: from a common start until the last rank has ended."); c.Timer == sample.CollMax {
			t.note("Where one had no common start, they are of the slowest rank's call behind a barrier.")
		}
		row := []Cell{text(size(c.Bytes))}
		for n, i := range shown {
			row = append(row, text(number(c.Micros(i))), text(c.Fastest[i].Algorithm))
			if n > 0 {
				row = append(row, text(number(c.Micros(i)/c.Micros(shown[0]))))
			}
		}
		t.add(row...)
	}
	t.units()
	return t
}
