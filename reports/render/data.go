package render

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/reports/doc"
)

// DataTable is a table that a document has for programs.
type DataTable struct {
	Name, Title string

	write  func(io.Writer) error // as CSV, of a file
	tables []*doc.Table          // else of these, which have the same columns
}

// DataTables returns the tables of a document for programs. The first is what the document is as
// CSV: its first CSV file, or else its first table. A table that is a file too is that file. Tables
// of one name and the same columns are one table, with a column for their titles.
func DataTables(d *doc.Document) []DataTable {
	var all []DataTable
	for _, f := range d.Files {
		if name, ok := strings.CutSuffix(f.Name, ".csv"); ok {
			all = append(all, DataTable{Name: name, Title: "the file " + f.Name + " of a page", write: f.Write})
		}
	}
	find := func(name string) *DataTable {
		for i := range all {
			if all[i].Name == name {
				return &all[i]
			}
		}
		return nil
	}
	for _, s := range d.Sections {
		for _, t := range s.Tables {
			name := dataName(t)
			same := find(name)
			for n := 2; same != nil && same.write == nil && !haveSameColumns(same.tables[0], t); n++ {
				name = fmt.Sprintf("%s-%d", dataName(t), n)
				same = find(name)
			}
			switch {
			case same == nil:
				all = append(all, DataTable{Name: name, Title: t.Title, tables: []*doc.Table{t}})
			case same.write == nil:
				same.tables = append(same.tables, t)
			}
		}
	}
	return all
}

// dataName returns the name of a table for programs.
func dataName(t *doc.Table) string { return cmp.Or(t.DataName, t.Name) }

// findDataTable returns the table of a name, or the first one if the name is "".
func findDataTable(d *doc.Document, name string) (DataTable, error) {
	all := DataTables(d)
	var names []string
	for _, t := range all {
		if name == "" || t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	if len(all) == 0 {
		return DataTable{}, errors.New("there is no table")
	}
	return DataTable{}, fmt.Errorf("there is no table %q%s", name, table.NameChoices(name, names))
}

// CheckTable says why a document has no table of a name. "" is always right.
func CheckTable(d *doc.Document, name string) error {
	if name == "" {
		return nil
	}
	_, err := findDataTable(d, name)
	return err
}

// WriteTableNames lists the tables of a document for programs, a line each.
func WriteTableNames(w io.Writer, d *doc.Document) error {
	rows := &doc.Table{Columns: doc.TextColumns("table", "title")}
	for _, t := range DataTables(d) {
		rows.AddRow(doc.TextCells(t.Name, t.Title)...)
	}
	var b bytes.Buffer
	if err := PlainStyle.writeTable(&b, rows); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteCSV writes one table of a document, by its name, or the first one if the name is "". It
// writes nothing of a document without tables.
func WriteCSV(w io.Writer, d *doc.Document, name string) error {
	if name == "" && len(DataTables(d)) == 0 {
		return nil
	}
	t, err := findDataTable(d, name)
	if err != nil {
		return err
	}
	return t.writeCSV(w)
}

func (t DataTable) writeCSV(w io.Writer) error {
	if t.write != nil {
		return t.write(w)
	}
	x := newRecords(t.tables)
	all := [][]string{x.fields}
	for _, values := range x.rows {
		var row []string
		for _, v := range values {
			row = append(row, csvText(v))
		}
		all = append(all, row)
	}
	if err := csv.NewWriter(w).WriteAll(all); err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	return nil
}

// TableFile returns tables with the same columns as a file.
func TableFile(tables ...*doc.Table) doc.File {
	t := DataTable{Name: dataName(tables[0]), tables: tables}
	return doc.File{Name: t.Name + ".csv", Write: t.writeCSV}
}

// WriteTableCSV writes a table as CSV: numbers with all their digits.
func WriteTableCSV(w io.Writer, t *doc.Table) error {
	return DataTable{Name: t.Name, tables: []*doc.Table{t}}.writeCSV(w)
}

// WriteJSON writes a document as JSON: its sections with their text, tables and warnings. A row is
// an object with the fields of the CSV. With the name of a table it writes the rows of that one.
func WriteJSON(w io.Writer, d *doc.Document, name string) error {
	if name != "" {
		t, err := findDataTable(d, name)
		if err != nil {
			return err
		}
		rows, err := t.records()
		if err != nil {
			return err
		}
		return writeIndented(w, rows)
	}
	type jsonTable struct {
		Name  string   `json:"name"`
		Title string   `json:"title,omitempty"`
		Rows  []record `json:"rows"`
		Notes []string `json:"notes,omitempty"`
	}
	type section struct {
		ID       string        `json:"id"`
		Title    string        `json:"title"`
		Text     []string      `json:"text,omitempty"`
		Items    []string      `json:"items,omitempty"`
		Tables   []jsonTable   `json:"tables,omitempty"`
		Warnings []doc.Warning `json:"warnings,omitempty"`
	}
	out := struct {
		Title    string    `json:"title,omitempty"`
		Answer   string    `json:"answer,omitempty"`
		Lead     []string  `json:"lead,omitempty"`
		Sections []section `json:"sections"`
	}{Title: d.Title, Answer: d.Answer, Lead: d.Introduction}
	for _, s := range d.Sections {
		x := section{ID: s.ID, Title: s.Title, Text: s.Text, Items: s.Items, Warnings: s.Warnings}
		for _, t := range s.Tables {
			x.Tables = append(x.Tables, jsonTable{dataName(t), t.Title, newRecords([]*doc.Table{t}).records(), t.Notes})
		}
		out.Sections = append(out.Sections, x)
	}
	return writeIndented(w, out)
}

// records returns the rows of a table as objects. Those of a file are of its cells, where numbers
// are numbers.
func (t DataTable) records() ([]record, error) {
	if t.write == nil {
		return newRecords(t.tables).records(), nil
	}
	var b bytes.Buffer
	if err := t.write(&b); err != nil {
		return nil, err
	}
	r := csv.NewReader(&b)
	r.Comment = '#'
	cells, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", t.Name, err)
	}
	x := records{fields: cells[0]}
	for _, row := range cells[1:] {
		var values []any
		for _, c := range row {
			values = append(values, fileValue(c))
		}
		x.rows = append(x.rows, values)
	}
	return x.records(), nil
}

func writeIndented(w io.Writer, x any) error {
	b, err := json.MarshalIndent(x, "", "  ")
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
