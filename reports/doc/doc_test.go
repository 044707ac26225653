package doc

import (
	"testing"
)

// Sizes in units of 1000 and of 1024 bytes in one table are explained, once.
func TestNoteUnits(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		want  int
	}{{[]int{16, 1000}, 0}, {[]int{1024, 65536}, 0}, {[]int{1000, 1024}, 1}, {[]int{1 << 20, 1e6}, 1}} {
		x := &Table{}
		for _, k := range c.sizes {
			x.AddRow(BytesCell(k))
		}
		x.AddUnitNote()
		x.AddUnitNote()
		if len(x.Notes) != c.want {
			t.Errorf("%v: notes %v", c.sizes, x.Notes)
		}
	}
}

// An empty section is not there, and no two have one ID.
func TestAdd(t *testing.T) {
	d := &Document{}
	full := &Table{}
	full.AddRow(NumberCell(1))
	d.AddTables("a", "Nothing", &Table{}, nil)
	d.AddTables("a", "First", full, &Table{})
	d.AddTables("a", "Second", full)
	if len(d.Sections) != 2 || d.Sections[0].ID != "a" || len(d.Sections[0].Tables) != 1 || d.Sections[1].ID != "a-2" {
		t.Errorf("%+v", d.Sections)
	}
}

// A column without cells goes, one that says what a row is about stays.
func TestDropEmpty(t *testing.T) {
	x := &Table{Columns: []Column{{Heading: "key", IsKey: true}, {Heading: "empty"}, {Heading: "some"}}}
	x.AddRow(EmptyCell, EmptyCell, NumberCell(1))
	x.AddRow(EmptyCell, TextCell(""), EmptyCell)
	x.DropEmpty()
	if len(x.Columns) != 2 || x.Columns[1].Heading != "some" || len(x.Groups[0].Rows[0]) != 2 || x.Groups[0].Rows[0][1].Text != "1.000" {
		t.Errorf("%+v", x)
	}
}
