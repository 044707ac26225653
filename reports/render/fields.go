package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// records are the rows of tables for programs. A value is nil, a float64, a bool or a string.
type records struct {
	fields []string
	rows   [][]any
}

// record is a row with its fields, in their order.
type record struct {
	fields []string
	values []any
}

// MarshalJSON writes an object.
func (r record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range r.fields {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(r.values[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%s:%s", key, value)
	}
	return append([]byte("{"), append(bytes.TrimPrefix(b.Bytes(), []byte(",")), '}')...), nil
}

func (x records) records() []record {
	all := []record{}
	for _, r := range x.rows {
		all = append(all, record{x.fields, r})
	}
	return all
}

// newRecords returns the rows of tables with the same columns: for each column a field, and fields
// of the same name that end in _low and _high where there are intervals, in _unit where each number
// has its own unit, and in _weak where some are weak. A column with the field of one before it has
// the interval of that one, whether or not a row has one. Rows begin with the title of their table
// if there are several, and with the name of their group if there are groups. Of a table of
// settings, which has a name and a value a row, it is one row with a field a setting.
func newRecords(tables []*doc.Table) records {
	first := tables[0]
	if first.IsRecord {
		return newSettingsRecords(tables)
	}
	var x records
	hasGroups := slices.ContainsFunc(tables, (*doc.Table).HasGroups)
	if len(tables) > 1 {
		x.fields = append(x.fields, "title")
	}
	if hasGroups {
		x.fields = append(x.fields, "group")
	}
	parts := make([]valueParts, len(first.Columns))
	for i, c := range first.Columns {
		if slices.Contains(x.fields, columnField(c)) {
			parts[i] = valueParts{isInterval: true, hasInterval: true}
		}
		for _, t := range tables {
			for _, g := range t.Groups {
				for _, r := range g.Rows {
					parts[i].add(c, r[i])
				}
			}
		}
		x.fields = append(x.fields, parts[i].fields(columnField(c))...)
	}
	for _, t := range tables {
		for _, g := range t.Groups {
			for _, r := range g.Rows {
				var values []any
				if len(tables) > 1 {
					values = append(values, format.SingleLine(t.Title))
				}
				if hasGroups {
					values = append(values, g.Name)
				}
				for i, c := range r {
					values = append(values, parts[i].values(first.Columns[i], c)...)
				}
				x.rows = append(x.rows, values)
			}
		}
	}
	return x
}

// newSettingsRecords returns a row for each of some tables of settings.
func newSettingsRecords(tables []*doc.Table) records {
	var x records
	for _, t := range tables {
		var values []any
		for _, g := range t.Groups {
			for _, r := range g.Rows {
				column := doc.Column{Heading: r[0].Text + " " + r[1].Unit}
				if len(r[1].Values) > 0 {
					column.Kind = doc.NumberColumn
				}
				if len(x.rows) == 0 {
					x.fields = append(x.fields, columnField(column))
				}
				values = append(values, cellValue(column, r[1]))
			}
		}
		x.rows = append(x.rows, values)
	}
	return x
}

// valueParts says which fields the cells of a column need beside their value.
type valueParts struct{ isInterval, hasInterval, hasUnits, hasWeak bool }

// add adds the needs of a cell.
func (p *valueParts) add(column doc.Column, c doc.Cell) {
	p.isInterval = p.isInterval || len(c.Values) == 2
	p.hasInterval = p.hasInterval || len(intervalEnds(column, c)) == 2
	p.hasUnits = p.hasUnits || c.Unit != ""
	p.hasWeak = p.hasWeak || c.Tone == doc.DoubtfulTone
}

// fields returns the names of the fields of a column.
func (p valueParts) fields(name string) []string {
	var all []string
	if !p.isInterval {
		all = append(all, name)
	}
	if p.hasInterval {
		all = append(all, name+"_low", name+"_high")
	}
	if p.hasUnits {
		all = append(all, name+"_unit")
	}
	if p.hasWeak {
		all = append(all, name+"_weak")
	}
	return all
}

// values returns the values of the fields of a cell.
func (p valueParts) values(column doc.Column, c doc.Cell) []any {
	var all []any
	if !p.isInterval {
		all = append(all, cellValue(column, c))
	}
	if p.hasInterval {
		low, high := any(nil), any(nil)
		if ends := intervalEnds(column, c); len(ends) == 2 {
			low, high = finiteNumber(ends[0]), finiteNumber(ends[1])
		}
		all = append(all, low, high)
	}
	if p.hasUnits {
		all = append(all, c.Unit)
	}
	if p.hasWeak {
		all = append(all, c.Tone == doc.DoubtfulTone)
	}
	return all
}

// cellValue returns the value of a cell: its number, or nil if there is nothing, or its text.
func cellValue(column doc.Column, c doc.Cell) any {
	switch {
	case len(c.Values) == 2:
		return nil
	case len(c.Values) > 0:
		return finiteNumber(c.Values[0])
	case c.Equal(doc.EmptyCell), c.Text == "":
		return nil
	}
	text := format.SingleLine(c.Text)
	if column.Kind != doc.NumberColumn {
		return text
	}
	if text == "?" || strings.HasPrefix(text, boundMark) {
		return nil
	}
	return fileValue(strings.TrimPrefix(strings.TrimPrefix(text, "~"), "±"))
}

// boundMark begins the text of an upper bound.
const boundMark = "≤"

// intervalEnds returns the ends of the interval of a cell, if it has one; of a bound the upper end.
func intervalEnds(column doc.Column, c doc.Cell) []float64 {
	if n := len(c.Values); n > 1 {
		return c.Values[n-2:]
	}
	if bound, ok := strings.CutPrefix(c.Text, boundMark); ok && column.Kind == doc.NumberColumn {
		bound, _, _ = strings.Cut(format.SingleLine(bound), " ")
		if high, ok := fileValue(bound).(float64); ok {
			return []float64{math.NaN(), high}
		}
	}
	return nil
}

// fileValue returns the number that a text is, nil if there is no text, or else the text.
func fileValue(text string) any {
	if text == "" {
		return nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return finiteNumber(x)
	}
	return text
}

// finiteNumber returns a number with the digits that files have, or nil if it is none.
func finiteNumber(x float64) any {
	text := format.FileNumber(x)
	if text == "" {
		return nil
	}
	x, _ = strconv.ParseFloat(text, 64)
	return x
}

// csvText returns a value as the cell of a CSV file.
func csvText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return format.FileNumber(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return value.(string)
}

// fieldReplacer turns the heading of a column into the name of a field.
var fieldReplacer = strings.NewReplacer("us/B", "us_per_B", "MB/s", "MB_per_s", "/s", "_per_s", "%", "percent", "±", "half_width", ",", "", "(", "", ")", "", ":", "", " ", "_", format.NonBreakingSpace, "_")

// columnField returns the name of the field of a column.
func columnField(c doc.Column) string {
	if c.Field != "" {
		return c.Field
	}
	name := fieldReplacer.Replace(strings.TrimSpace(format.SingleLine(c.Heading)))
	switch name {
	case "":
		return "subject"
	case "size":
		return "bytes"
	case "us":
		return "time_us"
	}
	return name
}

// haveSameColumns reports whether two tables have the same fields.
func haveSameColumns(a, b *doc.Table) bool {
	return a.IsRecord == b.IsRecord && slices.EqualFunc(a.Columns, b.Columns, func(x, y doc.Column) bool { return columnField(x) == columnField(y) })
}
