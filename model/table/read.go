package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/model/input"
)

// textPerFact is how many bytes of text a file may have for each fact that it may have.
const textPerFact = 32 << 10

// Reader reads rows one by one.
type Reader[T any] struct {
	Facts []Fact // those above the header
	Row   T      // the last row that Next has read; it belongs to the reader
	Same  bool   // the columns before Schema.Group are as in the row before

	schema      *Schema[T]
	columns     []Column[T] // those that the file has
	in          *bufio.Reader
	name        string
	line        int // of the last row
	rowCount    int
	cellStarts  []int  // where its cells begin, and one more: behind its end
	groupColumn int    // the column Schema.Group
	lastPrefix  []byte // the text of the last row before it
	text        []byte // of a quoted cell
	names       map[string]string
}

// Reader reads facts and header of a file. name stands for it in errors.
func (s *Schema[T]) Reader(in io.Reader, name string) (*Reader[T], error) {
	r := &Reader[T]{schema: s, in: bufio.NewReaderSize(in, maxLine), name: name, names: make(map[string]string)}
	for {
		line, err := r.nextLine()
		switch {
		case err == io.EOF:
			return nil, r.errorAtColumn(r.line, 1, "no header: %s have the columns %s", s.Name, s.Header())
		case err != nil:
			return nil, err
		}
		if r.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			return r, r.readHeader(line)
		}
		if f, ok := ParseFact(string(line)); ok {
			if f.Check() != nil {
				return nil, r.errorAtColumn(r.line, 1, "a fact with a character that is not printable, or with more than %d characters", maxFact)
			}
			if most := input.MaxBytes() / textPerFact; int64(len(r.Facts)) >= most {
				return nil, r.errorAtColumn(r.line, 1, "more than %d facts above the header; %s", most, input.RaiseHint)
			}
			r.Facts = append(r.Facts, f)
		}
	}
}

// Read reads a whole file.
func (s *Schema[T]) Read(in io.Reader, name string) (rows []T, facts []Fact, err error) {
	r, err := s.Reader(in, name)
	if err != nil {
		return nil, nil, err
	}
	for {
		switch err := r.Next(); {
		case err == io.EOF:
			return rows, r.Facts, nil
		case err != nil:
			return nil, nil, err
		}
		rows = append(rows, r.Row)
	}
}

// Text is a row of a file of texts.
type Text struct {
	Line  int
	Cells []string
}

// ReadText reads a file of texts, with any columns.
func ReadText(in io.Reader, name string) (columns []string, rows []Text, err error) {
	s := Schema[Text]{Name: "rows"}
	r := &Reader[Text]{schema: &s, in: bufio.NewReaderSize(in, maxLine), name: name, names: make(map[string]string)}
	line, err := r.nextLine()
	if err == io.EOF {
		return nil, nil, r.errorAtColumn(r.line, 1, "no header")
	}
	if err != nil {
		return nil, nil, err
	}
	if columns, err = r.splitLine(line); err != nil {
		return nil, nil, err
	}
	for i, column := range columns {
		s.Columns = append(s.Columns, Name(column, func(row *Text) *string { return &row.Cells[i] }, nil))
	}
	if err := r.readHeader(line); err != nil {
		return nil, nil, err
	}
	for {
		r.Row = Text{Cells: make([]string, len(columns))}
		switch err := r.Next(); {
		case err == io.EOF:
			return columns, rows, nil
		case err != nil:
			return nil, nil, err
		}
		r.Row.Line = r.line
		rows = append(rows, r.Row)
	}
}

// Next reads the next row, or returns io.EOF. Cells before Schema.Group that are the same as in the
// row before are not parsed again, so programs may not change fields of Row.
func (r *Reader[T]) Next() error {
	var line []byte
	for len(line) == 0 {
		var err error
		if line, err = r.nextLine(); err != nil {
			return err
		}
	}
	if line[0] == '#' {
		return r.errorAtColumn(r.line, 1, "a comment below the header: facts stand above it")
	}
	if r.rowCount++; r.rowCount > r.schema.maxRows() {
		return r.errorAtColumn(r.line, 1, "more than %d %s", r.schema.maxRows(), r.schema.Name)
	}
	first := 0
	if r.Same = len(r.lastPrefix) > 0 && bytes.HasPrefix(line, r.lastPrefix); r.Same {
		first = r.groupColumn
	}
	r.cellStarts = r.cellStarts[:first+1]
	for i, n := first, len(r.columns); i < n; i++ {
		text, err := r.cellText(line, i)
		if err != nil {
			return err
		}
		if err := r.columns[i].parse(&r.Row, text, r.names); err != nil {
			for j := i + 1; j < n; j++ { // a row of another width explains it better
				if _, err := r.cellText(line, j); err != nil {
					return err
				}
			}
			return r.Errorf(r.columns[i].Name, "%v", err)
		}
	}
	if first < r.groupColumn {
		r.lastPrefix = append(r.lastPrefix[:0], line[:r.cellStarts[r.groupColumn]]...)
	}
	if r.schema.Check != nil {
		if column, err := r.schema.Check(&r.Row); err != nil {
			return r.Errorf(column, "%v", err)
		}
	}
	return nil
}

// cellText returns the text of a cell of a row, whose beginning is known, and notes where the next
// begins.
func (r *Reader[T]) cellText(line []byte, i int) ([]byte, error) {
	start := r.cellStarts[i]
	if start > len(line) {
		return nil, r.errorAtColumn(r.line, len(line)+1, "column %q is missing: a row has %d columns, this one %d", r.columns[i].Name, len(r.columns), i)
	}
	text, end, ok := r.cutCell(line[start:])
	if !ok {
		return nil, r.errorAtColumn(r.line, start+1, "a quoted cell that does not end with a quote before the comma")
	}
	end += start
	r.cellStarts = append(r.cellStarts, end+1)
	if i == len(r.columns)-1 && end < len(line) {
		return nil, r.errorAtColumn(r.line, end+2, "a row has %d columns, this one %d", len(r.columns), len(r.columns)+1+bytes.Count(line[end+1:], []byte(",")))
	}
	return text, nil
}

// cutCell returns the text of the first cell of a line and the place of the comma behind it, or of
// the end.
func (r *Reader[T]) cutCell(s []byte) (text []byte, end int, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		if end = bytes.IndexByte(s, ','); end < 0 {
			end = len(s)
		}
		return s[:end], end, true
	}
	r.text = r.text[:0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '"':
			r.text = append(r.text, s[i])
		case i+1 < len(s) && s[i+1] == '"':
			r.text = append(r.text, '"')
			i++
		default:
			return r.text, i + 1, i+1 == len(s) || s[i+1] == ','
		}
	}
	return nil, 0, false
}

// nextLine returns the next line without its end, which is valid until the next call, or io.EOF.
func (r *Reader[T]) nextLine() ([]byte, error) {
	r.line++
	line, err := r.in.ReadSlice('\n')
	switch {
	case err == nil:
		line = line[:len(line)-1]
	case err == bufio.ErrBufferFull:
		return nil, r.errorAtColumn(r.line, 1, "the line is longer than %d bytes", maxLine)
	case errors.As(err, new(*input.TooLongError)):
		return nil, err
	case err != io.EOF:
		return nil, fmt.Errorf("read %s: %w", r.name, err)
	case len(line) == 0:
		return nil, io.EOF
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// splitLine returns the cells of a line.
func (r *Reader[T]) splitLine(line []byte) (cells []string, err error) {
	for rest := line; ; {
		text, end, ok := r.cutCell(rest)
		if !ok {
			return nil, r.errorAtColumn(r.line, len(line)-len(rest)+1, "a quoted cell that does not end with a quote before the comma")
		}
		cells = append(cells, string(text))
		if end == len(rest) {
			return cells, nil
		}
		rest = rest[end+1:]
	}
}

// readHeader finds out which of the optional columns are there.
func (r *Reader[T]) readHeader(line []byte) error {
	if bytes.HasPrefix(line, []byte("{")) || bytes.HasPrefix(line, []byte("[")) {
		return r.errorAtColumn(r.line, 1, "this is JSON: %s are read as CSV", r.schema.Name)
	}
	cells, err := r.splitLine(line)
	if err != nil {
		return err
	}
	r.columns = nil
	for _, c := range r.schema.Columns {
		n := len(r.columns)
		if n < len(cells) && c.OldName != "" && cells[n] == c.OldName {
			c.Name = c.OldName
		}
		if !c.Optional || n < len(cells) && cells[n] == c.Name {
			r.columns = append(r.columns, c)
		}
	}
	r.groupColumn = max(0, slices.IndexFunc(r.columns, func(c Column[T]) bool { return c.Name == r.schema.Group }))
	r.cellStarts = []int{0}
	all := strings.Join(columnNames(r.columns), ",")
	col := 1
	for i, cell := range cells {
		switch {
		case i == len(r.columns):
			return r.errorAtColumn(r.line, col, "a row has %d columns, this one %d", i, len(cells))
		case cell != r.columns[i].Name:
			return r.errorAtColumn(r.line, col, "column %q where %q belongs: %s have the columns %s", shortenCell(cell), r.columns[i].Name, r.schema.Name, all)
		}
		col += len(cell) + 1
	}
	if n := len(cells); n < len(r.columns) {
		return r.errorAtColumn(r.line, len(line)+1, "column %q is missing: a row has %d columns, this one %d", r.columns[n].Name, len(r.columns), n)
	}
	return nil
}

// shortenCell returns a cell as errors show it: the text of another kind of file may be long.
func shortenCell(cell string) string {
	const most = 60
	if len(cell) > most {
		return cell[:most] + "…"
	}
	return cell
}

// Place is where a cell is.
type Place struct{ Line, Column int }

// Place returns the place of a column in the last row.
func (r *Reader[T]) Place(column string) Place {
	for i, c := range r.columns {
		if c.Name == column && i < len(r.cellStarts) {
			return Place{r.line, r.cellStarts[i] + 1}
		}
	}
	return Place{r.line, 1}
}

// Errorf returns an error about a column of the last row.
func (r *Reader[T]) Errorf(column, format string, args ...any) error {
	return r.ErrorAt(r.Place(column), column, format, args...)
}

// ErrorAt returns an error about a column of a row that was read before.
func (r *Reader[T]) ErrorAt(p Place, column, format string, args ...any) error {
	return r.errorAtColumn(p.Line, p.Column, "column %q: %s", column, fmt.Sprintf(format, args...))
}

func (r *Reader[T]) errorAtColumn(line, column int, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", r.name, line, column, fmt.Sprintf(format, args...))
}
