package table

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Writer writes rows one by one, through a buffer.
type Writer[T any] struct {
	schema       *Schema[T]
	columns      []Column[T]
	out          *bufio.Writer
	row          []byte
	groupColumn  int // the column Schema.Group
	prefixLength int // bytes of row before it
	rowCount     int
}

// Writer writes facts and a header. Optional columns are left out unless they are named.
func (s *Schema[T]) Writer(out io.Writer, facts []Fact, optional ...string) (*Writer[T], error) {
	w := &Writer[T]{schema: s, out: bufio.NewWriterSize(out, 1<<16)}
	for _, f := range facts {
		if err := f.Check(); err != nil {
			return nil, fmt.Errorf("write %s: %w", s.Name, err)
		}
		fmt.Fprintf(w.out, "# %s: %s\n", f.Key, f.Value)
	}
	for i, c := range s.Columns {
		if c.Optional && !slices.Contains(optional, c.Name) {
			continue
		}
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.out.WriteString(c.Name)
		w.columns = append(w.columns, c)
	}
	w.out.WriteByte('\n')
	w.groupColumn = max(0, slices.IndexFunc(w.columns, func(c Column[T]) bool { return c.Name == s.Group }))
	return w, nil
}

// Write writes a row. With same, its columns before Schema.Group are as in the row before. A row
// that a Reader would refuse is an error. Errors of the output are reported by Flush.
func (w *Writer[T]) Write(row *T, same bool) error {
	w.rowCount++
	if most := w.schema.maxRows(); w.rowCount > most {
		return fmt.Errorf("write %s: more than %d of them", w.schema.Name, most)
	}
	b, first := w.row[:0], 0
	if same {
		b, first = w.row[:w.prefixLength], w.groupColumn
	}
	for i := first; i < len(w.columns); i++ {
		if i == w.groupColumn {
			w.prefixLength = len(b)
		}
		var err error
		if b, err = w.columns[i].append(b, row); err != nil {
			return w.columnError(w.columns[i].Name, err)
		}
		b = append(b, ',')
	}
	if w.schema.Check != nil {
		if column, err := w.schema.Check(row); err != nil {
			return w.columnError(column, err)
		}
	}
	b[len(b)-1] = '\n'
	w.row = b
	w.out.Write(b) // its error stays until Flush
	return nil
}

func (w *Writer[T]) columnError(column string, err error) error {
	return fmt.Errorf("write %s: row %d: column %q: %w", w.schema.Name, w.rowCount, column, err)
}

// Flush writes what is in the buffer.
func (w *Writer[T]) Flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", w.schema.Name, err)
	}
	return nil
}

// Write writes a whole file, with the optional columns that are named.
func (s *Schema[T]) Write(out io.Writer, facts []Fact, rows []T, optional ...string) error {
	w, err := s.Writer(out, facts, optional...)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := w.Write(&rows[i], false); err != nil {
			return err
		}
	}
	return w.Flush()
}

// WriteText writes a file of texts: a row of them for each row of the table. NumberText and
// SizeText return those of numbers. ReadText reads it again.
func WriteText(out io.Writer, name, header string, rows [][]string) error {
	s := Schema[[]string]{Name: name}
	for i, column := range strings.Split(header, ",") {
		s.Columns = append(s.Columns, Name(column, func(row *[]string) *string { return &(*row)[i] }, nil))
	}
	return s.Write(out, nil, rows)
}

// NumberText returns a number as a column of numbers has it: empty for NaN and infinities.
func NumberText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// SizeText returns a number of bytes as a table has it: empty if it is below zero, where size has
// no meaning.
func SizeText(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}
