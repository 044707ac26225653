package doc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/reports/format"
)

// Table is rows of cells under heads.
type Table struct {
	Name     string // of its file
	DataName string // its name for programs; default: Name
	Title    string
	Columns  []Column
	Groups   []Group
	Notes    []string // what the signs in it mean

	TerminalRows int    // the rows that a terminal shows unless all are asked for; 0: all
	File         string // beside the page, that has its numbers; default: one of its own, by its name
	WrapsKeys    bool   // on phones what heads a row is broken into lines
	// RowsAsCards says that its rows stand alone: in a page, links lead to a row by the text of its
	// first cell, and phones show rows as cards.
	RowsAsCards bool
	// IsRecord says that a row is a name and its value: for programs the table is one row.
	IsRecord bool
}

// Column is the head of a column and what stands in it.
type Column struct {
	Heading string // lines: the quantity, then its unit or the size that it is of
	Kind    ColumnKind
	Field   string // its name for programs; default: by the heading
	IsKey   bool   // it says what the row is about, so that it is repeated where a table is broken into parts
}

// ColumnKind is what stands in a column.
type ColumnKind uint8

// The kinds of columns.
const (
	TextColumn   ColumnKind = iota // words on one line
	ProseColumn                    // words that may be broken into lines
	NumberColumn                   // numbers and sizes, aligned at the right
)

// Group is rows under a heading of their own. The heading may be empty.
type Group struct {
	Name string
	Rows [][]Cell
}

// Cell is a text, the number that it shows, if any, and how much weight it has.
type Cell struct {
	Text   string
	Tone   CellTone
	Values []float64 // value, value and both ends of its interval, or these ends; CSV and JSON have these
	Unit   string    // of the value, in a column whose cells have several
}

// CellTone says how to take a cell.
type CellTone uint8

// The tones.
const (
	NormalTone   CellTone = iota
	StrongTone            // a heading
	FaintTone             // nothing to see
	DoubtfulTone          // weak: not to be relied upon
	GoodTone              // a word that says that all is well
	BadTone               // a word that says the contrary
	BlindTone             // a prediction of what was not known
)

// WeakMark follows what is weak where there are no colours, and for those who cannot tell them.
const WeakMark = "!"

// EmptyCell is the cell of a number that is not there.
var EmptyCell = Cell{Text: format.NoNumber, Tone: FaintTone}

// TextCell returns a cell of text.
func TextCell(s string) Cell { return Cell{Text: s} }

// TextCells returns cells of text.
func TextCells(all ...string) []Cell {
	var out []Cell
	for _, s := range all {
		out = append(out, TextCell(s))
	}
	return out
}

// TextColumns returns columns of text.
func TextColumns(all ...string) []Column {
	var out []Column
	for _, s := range all {
		out = append(out, Column{Heading: s})
	}
	return out
}

// NumberCell returns a cell with a number.
func NumberCell(x float64) Cell {
	if x != x {
		return EmptyCell
	}
	return Cell{Text: format.Number(x), Values: []float64{x}}
}

// IntervalCell returns a cell with a value and its interval.
func IntervalCell(value, low, high float64) Cell {
	if value != value {
		return EmptyCell
	}
	c := Cell{Text: format.WithInterval(value, low, high), Values: []float64{value, low, high}}
	if low != low || high != high {
		c.Values = c.Values[:1]
	}
	return c
}

// CountCell returns a cell with a count.
func CountCell(n int) Cell { return Cell{Text: strconv.Itoa(n), Values: []float64{float64(n)}} }

// BytesCell returns a cell with a size in bytes.
func BytesCell(n int) Cell { return Cell{Text: format.Size(n), Values: []float64{float64(n)}} }

// QuantityCell returns a cell with a number in a unit of its own.
func QuantityCell(text string, value float64, unit string) Cell {
	return Cell{Text: text, Values: []float64{value}, Unit: unit}
}

// PercentCell returns a cell with a signed difference in percent.
func PercentCell(x float64) Cell {
	if x != x {
		return EmptyCell
	}
	return Cell{Text: format.Percent(x), Values: []float64{x}}
}

// WithTone returns the cell with a tone.
func (c Cell) WithTone(t CellTone) Cell {
	c.Tone = t
	return c
}

// Equal says whether two cells show the same.
func (c Cell) Equal(o Cell) bool { return c.Text == o.Text && c.Tone == o.Tone }

// TextWithMark returns a number with its unit, and a mark if it is weak.
func (c Cell) TextWithMark(unit string) string {
	if c.Tone == DoubtfulTone {
		unit += " " + WeakMark
	}
	return c.Text + " " + unit
}

// AddRow appends a row to the last group.
func (t *Table) AddRow(cells ...Cell) {
	if len(t.Groups) == 0 {
		t.Groups = append(t.Groups, Group{})
	}
	g := &t.Groups[len(t.Groups)-1]
	g.Rows = append(g.Rows, cells)
}

// BeginGroup begins a group, unless the last one has that name.
func (t *Table) BeginGroup(name string) {
	if n := len(t.Groups); n == 0 || t.Groups[n-1].Name != name {
		t.Groups = append(t.Groups, Group{Name: name})
	}
}

// HasGroups says whether groups have names.
func (t *Table) HasGroups() bool {
	return slices.ContainsFunc(t.Groups, func(g Group) bool { return g.Name != "" })
}

// HasHeadings says whether columns have heads.
func (t *Table) HasHeadings() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Heading != "" })
}

// CountRows returns how many rows the table has.
func (t *Table) CountRows() int {
	n := 0
	for _, g := range t.Groups {
		n += len(g.Rows)
	}
	return n
}

// AddNote adds a note, once.
func (t *Table) AddNote(note string, args ...any) {
	if s := fmt.Sprintf(note, args...); !slices.Contains(t.Notes, s) {
		t.Notes = append(t.Notes, s)
	}
}

// AddUnitNote adds a note if sizes stand in units of 1000 and of 1024 bytes.
func (t *Table) AddUnitNote() {
	var thousands, binary bool
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			for _, c := range r {
				thousands = thousands || strings.Contains(c.Text, format.NonBreakingSpace+"KB") || strings.Contains(c.Text, format.NonBreakingSpace+"MB")
				binary = binary || strings.Contains(c.Text, "iB")
			}
		}
	}
	if thousands && binary {
		t.AddNote("KB and MB are 1000 and 1000² bytes, KiB and MiB 1024 and 1024².")
	}
}

// DropEmpty removes columns in which nothing stands, unless they say what a row is about.
func (t *Table) DropEmpty() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		empty := true
		for _, g := range t.Groups {
			for _, r := range g.Rows {
				empty = empty && (r[i].Text == "" || r[i].Equal(EmptyCell))
			}
		}
		if !empty || t.Columns[i].IsKey {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for _, g := range t.Groups {
			for n := range g.Rows {
				g.Rows[n] = slices.Delete(g.Rows[n], i, i+1)
			}
		}
	}
}

// TablesByTitle is tables with different titles, in the order in which their first rows came.
type TablesByTitle []*Table

// FindOrAdd returns the table of a title, which make makes if there is none.
func (ts *TablesByTitle) FindOrAdd(title string, make func() *Table) *Table {
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
