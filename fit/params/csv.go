package params

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxRows bounds a table of parameters or comparisons.
const maxRows = 1_000_000

// table reads rows of one header. Its methods take the cells of the current row in order.
type table struct {
	name    string
	columns []string
	in      *csv.Reader
	row     []string
	column  int
	err     error // the first, with its place
}

// readTable calls row for each row of a CSV file that has the columns of header. Lines that begin with # are passed over.
func readTable(r io.Reader, name, header string, row func(*table)) error {
	t := &table{name: name, columns: strings.Split(header, ","), in: csv.NewReader(r)}
	t.in.Comment = '#'
	t.in.FieldsPerRecord = -1
	t.in.ReuseRecord = true
	for n := 0; ; n++ {
		cells, err := t.in.Read()
		switch {
		case err == io.EOF && n == 0:
			return fmt.Errorf("%s:1:1: no header: the columns are %s", name, header)
		case err == io.EOF:
			return nil
		case err != nil:
			return t.broken(err)
		case n > maxRows:
			return t.errorf(0, "more than %d rows", maxRows)
		}
		t.row, t.column = cells, 0
		if n == 0 {
			err = t.header()
		} else {
			err = t.width()
		}
		if err != nil {
			return err
		}
		if n > 0 {
			if row(t); t.err != nil {
				return t.err
			}
		}
	}
}

func (t *table) broken(err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%d:%d: %w", t.name, syntax.Line, syntax.Column, syntax.Err)
	}
	return fmt.Errorf("read %s: %w", t.name, err)
}

func (t *table) errorf(column int, format string, args ...any) error {
	line, col := t.in.FieldPos(min(column, len(t.row)-1))
	return fmt.Errorf("%s:%d:%d: %s", t.name, line, col, fmt.Sprintf(format, args...))
}

func (t *table) header() error {
	for i, c := range t.row {
		if i == 0 {
			c = strings.TrimPrefix(c, "\ufeff")
		}
		if i < len(t.columns) && c != t.columns[i] {
			return t.errorf(i, "column %q where %q belongs: the columns are %s", c, t.columns[i], strings.Join(t.columns, ","))
		}
	}
	return t.width()
}

func (t *table) width() error {
	if len(t.row) != len(t.columns) {
		return t.errorf(len(t.columns), "a row has %d columns, this one %d", len(t.columns), len(t.row))
	}
	return nil
}

// fail keeps the first error, about the cell taken last.
func (t *table) fail(format string, args ...any) {
	if t.err == nil {
		i := t.column - 1
		t.err = t.errorf(i, "column %q: %s", t.columns[i], fmt.Sprintf(format, args...))
	}
}

func (t *table) text() string {
	t.column++
	return strings.Clone(t.row[t.column-1])
}

// name takes a cell with a name.
func (t *table) word() string {
	s := t.text()
	if !plain(s) {
		t.fail("%q is not a name", s)
	}
	return s
}

// plain says whether a text can stand in a cell.
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) && !strings.HasPrefix(s, "#")
}

func (t *table) among(words []string) string {
	s := t.text()
	if !slices.Contains(words, s) {
		t.fail("%q is none of %s", s, strings.Join(words, " "))
	}
	return s
}

// whole takes a whole number that is not negative, or -1 for an empty cell.
func (t *table) whole(what string) int {
	s := t.text()
	if s == "" {
		return -1
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 || s[0] == '+' || s[0] == '-' {
		t.fail("%q is not %s", s, what)
	}
	return int(n)
}

// number takes a finite number, or NaN for an empty cell.
func (t *table) number() float64 {
	s := t.text()
	if s == "" {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(s, "xX_") {
		t.fail("%q is not a number", s)
	}
	return x
}

// WriteTable writes rows under a header.
func WriteTable(w io.Writer, header string, rows int, row func(i int) []string) error {
	c := csv.NewWriter(w)
	columns := strings.Split(header, ",")
	err := c.Write(columns)
	for i := 0; i < rows && err == nil; i++ {
		cells := row(i)
		for j, s := range cells {
			if !plain(s) {
				return fmt.Errorf("row %d: column %q: %q cannot stand in a table", i+1, columns[j], s)
			}
		}
		err = c.Write(cells)
	}
	c.Flush()
	return errors.Join(err, c.Error())
}

// Printed returns a number as it stands in a table: empty for NaN, which nobody should compute with.
func Printed(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// PrintSize returns a number of bytes as it stands in a table: empty where it has no meaning.
func PrintSize(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

const Header = "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples"

var parameterNames = strings.Fields("L o_s o_r g G s_s s_r S H P")

// WriteParameters writes parameters as CSV.
func WriteParameters(w io.Writer, ps []Parameter) error {
	err := WriteTable(w, Header, len(ps), func(i int) []string {
		p := ps[i]
		return []string{p.Platform, p.Library, p.Place, p.Mode, p.Name, PrintSize(p.From), PrintSize(p.To),
			Printed(p.Value), Printed(p.Low), Printed(p.High), p.Unit, p.Method, strconv.Itoa(max(p.Samples, 0))}
	})
	if err != nil {
		return fmt.Errorf("write parameters: %w", err)
	}
	return nil
}

// ReadParameters reads parameters as WriteParameters writes them. name stands for the input in errors. The verdict is not in
// the file: it is NotIdentifiable where there is no number, otherwise empty.
func ReadParameters(r io.Reader, name string) ([]Parameter, error) {
	var ps []Parameter
	err := readTable(r, name, Header, func(t *table) {
		p := Parameter{
			Platform: t.word(), Library: t.word(), Place: t.word(), Mode: t.word(),
			Name: t.among(parameterNames),
			From: t.whole("a number of bytes"), To: t.whole("a number of bytes"),
			Value: t.number(), Low: t.number(), High: t.number(),
			Unit: t.word(), Method: t.word(),
			Samples: t.whole("a number of samples"),
		}
		switch {
		case p.Samples < 0:
			t.fail("is empty")
		case p.From > p.To || (p.From < 0) != (p.To < 0):
			t.column = 7
			t.fail("the range from %s to %s bytes is none", orEmpty(p.From), orEmpty(p.To))
		case p.Low > p.High:
			t.column = 10
			t.fail("the interval from %v to %v is none", p.Low, p.High)
		}
		if math.IsNaN(p.Value) {
			p.Verdict = NotIdentifiable
		}
		ps = append(ps, p)
	})
	return ps, err
}

func orEmpty(n int) string {
	if n < 0 {
		return "nothing"
	}
	return strconv.Itoa(n)
}
