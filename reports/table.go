package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Table is a table before it is decided how it is shown.
type Table struct {
	Name    string // of a file of it
	Title   string
	Columns []Column
	Groups  []Group
	Notes   []string // what the signs in it mean

	Slim  bool // on phones what heads a row is broken into lines
	Cards bool // its rows stand alone: in a page, links lead to a row by the text of its first cell, and phones show rows as cards
}

// Column is the head of a column.
type Column struct {
	Head  string // lines: the quantity, then its unit or the size that it is of
	Key   bool   // it says what the row is about, so that it is repeated where a table is broken into parts
	Right bool   // numbers
	Wrap  bool   // text that may be broken into lines
}

// Group is rows under a heading of their own. The heading may be empty.
type Group struct {
	Name string
	Rows [][]Cell
}

// Cell is a text and how much weight it has.
type Cell struct {
	Text string
	Tone Tone
}

// Tone says how to take a cell.
type Tone uint8

// The tones.
const (
	Normal Tone = iota
	Strong      // a heading
	Faint       // nothing to see
	Doubt       // weak: not to be relied upon
	Good        // a word that says that all is well
	Bad         // a word that says the contrary
)

// doubt marks what is weak where there are no colours, and for those who cannot tell them.
const doubt = "!"

// none stands where there is no number.
var none = Cell{"-", Faint}

func text(s string) Cell { return Cell{Text: s} }

// add appends a row to the last group.
func (t *Table) add(cells ...Cell) {
	if len(t.Groups) == 0 {
		t.Groups = append(t.Groups, Group{})
	}
	g := &t.Groups[len(t.Groups)-1]
	g.Rows = append(g.Rows, cells)
}

// group begins a group.
func (t *Table) group(name string) { t.Groups = append(t.Groups, Group{Name: name}) }

// within begins a group, unless the last one has that name.
func (t *Table) within(name string) {
	if n := len(t.Groups); n == 0 || t.Groups[n-1].Name != name {
		t.group(name)
	}
}

// tables are made as what they show comes.
type tables []*Table

// titled returns the table of a title, which make makes if there is none.
func (ts *tables) titled(title string, make func() *Table) *Table {
	for _, t := range *ts {
		if t.Title == title {
			return t
		}
	}
	t := make()
	t.Title = title
	*ts = append(*ts, t)
	return t
}

// rows returns how many rows the table has.
func (t *Table) rows() int {
	n := 0
	for _, g := range t.Groups {
		n += len(g.Rows)
	}
	return n
}

// note adds a note, once.
func (t *Table) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	for _, n := range t.Notes {
		if n == s {
			return
		}
	}
	t.Notes = append(t.Notes, s)
}

// units adds a note if sizes stand in units of 1000 and of 1024 bytes.
func (t *Table) units() {
	var thousands, binary bool
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			for _, c := range r {
				thousands = thousands || strings.Contains(c.Text, glue+"KB") || strings.Contains(c.Text, glue+"MB")
				binary = binary || strings.Contains(c.Text, "iB")
			}
		}
	}
	if thousands && binary {
		t.note("KB and MB are 1000 and 1000² bytes, KiB and MiB 1024 and 1024².")
	}
}

// CSV writes the cells as they are shown, under the heads. Where there are groups, the first column is their names.
func (t *Table) CSV(w io.Writer) error {
	grouped := slices.ContainsFunc(t.Groups, func(g Group) bool { return g.Name != "" })
	line := func(group string) []string {
		if grouped {
			return []string{group}
		}
		return nil
	}
	head := line("group")
	for _, x := range t.Columns {
		head = append(head, flat(x.Head))
	}
	all := [][]string{head}
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			row := line(g.Name)
			for _, x := range r {
				s := flat(x.Text)
				if x.Tone == Doubt {
					s += doubt
				}
				row = append(row, s)
			}
			all = append(all, row)
		}
	}
	return writeLines(w, "table "+t.Name, all)
}

// writeLines writes lines as CSV.
func writeLines(w io.Writer, what string, lines [][]string) error {
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// flat returns a text in one line, of ordinary spaces.
func flat(s string) string { return strings.NewReplacer("\n", " ", glue, " ").Replace(s) }
