package render

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// WriteCSV writes the data of a document: its first file that is WriteCSV, or else its tables, with
// a line "# title" above each.
func WriteCSV(w io.Writer, d *doc.Document) error {
	for _, f := range d.Files {
		if strings.HasSuffix(f.Name, ".csv") {
			return f.Write(w)
		}
	}
	for _, s := range d.Sections {
		for _, t := range s.Tables {
			if _, err := fmt.Fprintf(w, "# title: %s\n", format.SingleLine(t.Title)); err != nil {
				return err
			}
			if err := WriteTableCSV(w, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// TableFile returns a table as a file.
func TableFile(t *doc.Table) doc.File {
	return doc.File{Name: t.Name + ".csv", Write: func(w io.Writer) error { return WriteTableCSV(w, t) }}
}

// WriteTableCSV writes the cells of a table under its heads: numbers with all their digits, and
// intervals in columns "low" and "high" of their own; other cells as they are shown. Where there
// are groups, the first column is their names.
func WriteTableCSV(w io.Writer, t *doc.Table) error {
	intervals := make([]bool, len(t.Columns))
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			for i, c := range r {
				intervals[i] = intervals[i] || len(c.Values) == 3
			}
		}
	}
	var head []string
	if t.HasGroups() {
		head = append(head, "group")
	}
	for i, x := range t.Columns {
		h := format.SingleLine(x.Heading)
		head = append(head, h)
		if intervals[i] {
			head = append(head, h+" low", h+" high")
		}
	}
	all := [][]string{head}
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			var row []string
			if t.HasGroups() {
				row = append(row, g.Name)
			}
			for i, c := range r {
				row = append(row, fileText(c))
				if intervals[i] && len(c.Values) == 3 {
					row = append(row, format.FileNumber(c.Values[1]), format.FileNumber(c.Values[2]))
				} else if intervals[i] {
					row = append(row, "", "")
				}
			}
			all = append(all, row)
		}
	}
	if err := csv.NewWriter(w).WriteAll(all); err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	return nil
}

// fileText returns what a file has of a cell: its number, or its text in one line with the mark of
// what is weak.
func fileText(c doc.Cell) string {
	switch {
	case len(c.Values) > 0:
		return format.FileNumber(c.Values[0])
	case c.Equal(doc.EmptyCell):
		return ""
	case c.Tone == doc.DoubtfulTone:
		return format.SingleLine(c.Text) + doc.WeakMark
	}
	return format.SingleLine(c.Text)
}

// WriteJSON writes a document as WriteJSON: its sections with their text, tables and warnings. A
// row is an object by the heads of its columns; a number with an interval is an object of value,
// low, high and, if the number is weak, weak.
func WriteJSON(w io.Writer, d *doc.Document) error {
	type table struct {
		Name  string           `json:"name"`
		Title string           `json:"title,omitempty"`
		Rows  []map[string]any `json:"rows"`
		Notes []string         `json:"notes,omitempty"`
	}
	type section struct {
		ID       string        `json:"id"`
		Title    string        `json:"title"`
		Text     []string      `json:"text,omitempty"`
		Items    []string      `json:"items,omitempty"`
		Tables   []table       `json:"tables,omitempty"`
		Warnings []doc.Warning `json:"warnings,omitempty"`
	}
	out := struct {
		Title    string          `json:"title,omitempty"`
		Answer   string          `json:"answer,omitempty"`
		Lead     []string        `json:"lead,omitempty"`
		Keys     []doc.KeyNumber `json:"keys,omitempty"`
		Sections []section       `json:"sections"`
	}{Title: d.Title, Answer: d.Answer, Lead: d.Introduction, Keys: d.KeyNumbers}
	for _, s := range d.Sections {
		x := section{ID: s.ID, Title: s.Title, Text: s.Text, Items: s.Items, Warnings: s.Warnings}
		for _, t := range s.Tables {
			y := table{Name: t.Name, Title: t.Title, Notes: t.Notes}
			for _, g := range t.Groups {
				for _, r := range g.Rows {
					row := map[string]any{}
					if g.Name != "" {
						row["group"] = g.Name
					}
					for i, c := range r {
						row[format.SingleLine(t.Columns[i].Heading)] = jsonValue(c)
					}
					y.Rows = append(y.Rows, row)
				}
			}
			x.Tables = append(x.Tables, y)
		}
		out.Sections = append(out.Sections, x)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// jsonValue returns what WriteJSON has of a cell.
func jsonValue(c doc.Cell) any {
	finite := func(x float64) any {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		x, _ = strconv.ParseFloat(format.FileNumber(x), 64)
		return x
	}
	switch {
	case c.Equal(doc.EmptyCell):
		return nil
	case len(c.Values) == 0:
		return fileText(c)
	case len(c.Values) == 1 && c.Tone != doc.DoubtfulTone:
		return finite(c.Values[0])
	}
	out := map[string]any{"value": finite(c.Values[0])}
	if len(c.Values) == 3 {
		out["low"], out["high"] = finite(c.Values[1]), finite(c.Values[2])
	}
	if c.Tone == doc.DoubtfulTone {
		out["weak"] = true
	}
	return out
}
