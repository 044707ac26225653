package reports

import (
	"fmt"
	"io"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
)

// Contests writes what collective operations take on several machines, or by several libraries, side by side: of each entrant its fastest
// algorithm, and its time over that of the first. Files names those of each machine.
func Contests(w io.Writer, entrants []fit.Entrant, files []string, all []fit.Contest, s Style) error {
	out := &writer{w: w, style: s}
	for _, t := range contestTables(entrants, files, all) {
		out.table(t)
	}
	return out.err
}

// ContestsCSV writes the same as CSV.
func ContestsCSV(w io.Writer, entrants []fit.Entrant, files []string, all []fit.Contest) error {
	for _, t := range contestTables(entrants, files, all) {
		if err := t.CSV(w); err != nil {
			return err
		}
	}
	return nil
}

// contestTables is one table, with a group of rows for each operation and number of ranks.
func contestTables(entrants []fit.Entrant, files []string, all []fit.Contest) []*Table {
	t := &Table{Name: "collectives", Title: "Collective operations side by side", Columns: []Column{{Head: "bytes", Key: true, Right: true}}}
	for i, x := range entrants {
		name := string(rune('A' + i%26))
		t.Columns = append(t.Columns, Column{Head: name + "\nus", Right: true}, Column{Head: name + "'s\nfastest"})
		if i > 0 {
			t.Columns = append(t.Columns, Column{Head: name + "/A", Right: true})
		}
		t.note("%s is %s, of %s.", name, where(x.Platform, x.Library, x.Place), files[x.Machine])
	}
	group := ""
	for _, c := range all {
		if name := fmt.Sprintf("%s of %d ranks", c.Operation, c.Ranks); name != group {
			t.group(name)
			group = name
		}
		if o, ok := collective.OperationNamed(c.Operation); ok && o.ByBlocks() {
			t.note("Where there is a block for each rank, bytes are those of a block.")
		}
		if t.note("Times are medians: from a common start until the last rank has ended."); c.Timer == sample.CollMax {
			t.note("Where one had no common start, they are of the slowest rank's call behind a barrier.")
		}
		row := []Cell{text(size(c.Bytes))}
		for i, x := range c.Fastest {
			row = append(row, text(number(c.Micros(i))), text(x.Algorithm))
			if i > 0 {
				row = append(row, text(number(c.Micros(i)/c.Micros(0))))
			}
		}
		t.add(row...)
	}
	t.units()
	return []*Table{t}
}
