// Package table reads and writes the project's CSV files: lines of facts that begin with #, a
// header, and rows of typed columns.
//
//	# seed: 1
//	platform,bytes,time_us
//	t3d,16,30.5
//
// A Schema is the only place that names the columns of a kind of file. It gives a Reader and a
// Writer, so that a program reads what it writes. Errors in what is read begin with
// file:line:column.
//
// Note: cells are not split by encoding/csv. A set of samples repeats most of the cells of a row in
// the next, and Schema.Group takes these at once: reading such rows, typed and checked, takes 40 %
// of the time in which csv.Reader only splits them (BenchmarkReader). csv.Reader also has no limit
// for the length of a line, and lets a quoted cell go on in the next.
package table

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Fact is something known about all rows of a file: a line "# key: value" above the header.
type Fact struct{ Key, Value string }

// Schema describes a kind of file with rows of type T.
type Schema[T any] struct {
	Name    string // of the rows in errors: samples
	Columns []Column[T]
	MaxRows int    // a reader refuses more; default 1,000,000
	Group   string // the first column in which neighbouring rows often differ; those before it are parsed and written once for all of them

	// Check is an error if columns do not fit together, and the column that the error is about. It
	// may be nil. Readers and writers call it for each row.
	Check func(*T) (column string, err error)
}

// Column is a column of rows of type T.
type Column[T any] struct {
	Name     string
	OldName  string // that older files have; "": none
	Optional bool   // a file may lack it: a reader then leaves the field zero

	parse  func(row *T, text []byte, names map[string]string) error
	append func(b []byte, row *T) ([]byte, error)
}

// Name is a column of names: printable, without space at its ends, not beginning with #, of at most
// 1000 bytes. check may be nil.
func Name[T any, S ~string](name string, field func(*T) *S, check func(string) error) Column[T] {
	valid := func(s string) error {
		if err := checkName(s); err != nil || check == nil {
			return err
		}
		return check(s)
	}
	return Column[T]{
		Name: name,
		parse: func(row *T, text []byte, names map[string]string) error {
			s, ok := names[string(text)]
			if !ok {
				s = string(text)
				names[s] = s
			}
			*field(row) = S(s)
			return valid(s)
		},
		append: func(b []byte, row *T) ([]byte, error) {
			s := string(*field(row))
			if strings.ContainsAny(s, `",`) {
				return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"'), valid(s)
			}
			return append(b, s...), valid(s)
		},
	}
}

// OneOf is a check of names: they are in the list.
func OneOf[S ~string](list ...S) func(string) error {
	return func(s string) error {
		if slices.Contains(list, S(s)) {
			return nil
		}
		var words []string
		for _, w := range list {
			if w != "" {
				words = append(words, string(w))
			}
		}
		if meant := Suggestion(s, words); meant != "" {
			return fmt.Errorf("%q is none of %s: did you mean %s?", s, strings.Join(words, ", "), meant)
		}
		return fmt.Errorf("%q is none of %s", s, strings.Join(words, ", "))
	}
}

// NotEmpty is a check of names.
func NotEmpty(s string) error {
	if s == "" {
		return fmt.Errorf("it is empty")
	}
	return nil
}

// Whole is a column of whole numbers from 0 to most, at most 2³¹−1. what says in errors what they
// are: "a number of bytes".
func Whole[T any](name string, field func(*T) *int, what string, most int) Column[T] {
	return Column[T]{
		Name: name,
		parse: func(row *T, text []byte, _ map[string]string) error {
			n, ok := ParseWhole(text)
			if !ok || n > most {
				return fmt.Errorf("%q is not %s", text, what)
			}
			*field(row) = n
			return nil
		},
		append: func(b []byte, row *T) ([]byte, error) {
			n := *field(row)
			if n < 0 || n > most {
				return b, fmt.Errorf("%d is not %s", n, what)
			}
			return strconv.AppendInt(b, int64(n), 10), nil
		},
	}
}

// WholeOrNone is Whole, or -1, which is an empty cell.
func WholeOrNone[T any](name string, field func(*T) *int, what string) Column[T] {
	c := Whole(name, field, what, math.MaxInt32)
	parse, appendTo := c.parse, c.append
	c.parse = func(row *T, text []byte, names map[string]string) error {
		if len(text) == 0 {
			*field(row) = -1
			return nil
		}
		return parse(row, text, names)
	}
	c.append = func(b []byte, row *T) ([]byte, error) {
		if *field(row) < 0 {
			return b, nil
		}
		return appendTo(b, row)
	}
	return c
}

// Number is a column of numbers whose magnitude is at most most, or NaN, which is an empty cell. A
// writer leaves the cell empty for infinities too.
func Number[T any](name string, field func(*T) *float64, most float64) Column[T] {
	return Column[T]{
		Name: name,
		parse: func(row *T, text []byte, _ map[string]string) error {
			if len(text) == 0 {
				*field(row) = math.NaN()
				return nil
			}
			x, err := strconv.ParseFloat(string(text), 64)
			switch {
			case err != nil && !math.IsInf(x, 0), math.IsNaN(x), bytes.ContainsAny(text, "xX_nN"):
				return fmt.Errorf("%q is not a number", text)
			case math.Abs(x) > most:
				return fmt.Errorf("%s is impossible: the limit is %g", text, most)
			}
			*field(row) = x
			return nil
		},
		append: func(b []byte, row *T) ([]byte, error) {
			return append(b, NumberText(*field(row))...), nil
		},
	}
}

// Micros is a column of times in microseconds, exact to the picosecond.
func Micros[T any](name string, field func(*T) *unit.Time) Column[T] {
	return Column[T]{
		Name: name,
		parse: func(row *T, text []byte, _ map[string]string) error {
			t, err := ParseMicros(text)
			*field(row) = t
			return err
		},
		append: func(b []byte, row *T) ([]byte, error) { return append(b, field(row).MicrosString()...), nil },
	}
}

// MicrosList is a column of one or several times in microseconds, exact to the picosecond, with
// spaces between them. Its reader uses the memory of the field again.
func MicrosList[T any](name string, field func(*T) *[]unit.Time) Column[T] {
	return Column[T]{
		Name: name,
		parse: func(row *T, text []byte, _ map[string]string) error {
			list := (*field(row))[:0]
			for rest, more := text, true; more; {
				var one []byte
				one, rest, more = bytes.Cut(rest, []byte(" "))
				t, err := ParseMicros(one)
				if err != nil {
					return err
				}
				list = append(list, t)
			}
			*field(row) = list
			return nil
		},
		append: func(b []byte, row *T) ([]byte, error) {
			for i, t := range *field(row) {
				if i > 0 {
					b = append(b, ' ')
				}
				b = append(b, t.MicrosString()...)
			}
			return b, nil
		},
	}
}

// Bounds of what readers accept, so that no input can take the memory of the machine.
const (
	maxLine = 1 << 16 // bytes
	maxFact = 60_000
	maxName = 1000
)

func (s *Schema[T]) maxRows() int {
	if s.MaxRows > 0 {
		return s.MaxRows
	}
	return 1_000_000
}

// columnNames returns the names of columns.
func columnNames[T any](columns []Column[T]) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name
	}
	return list
}

// Header returns the first line of a file below its facts, with all columns.
func (s *Schema[T]) Header() string { return strings.Join(columnNames(s.Columns), ",") }

func checkName(s string) error {
	switch {
	case len(s) > maxName:
		return fmt.Errorf("a name of %d characters, the limit is %d", len(s), maxName)
	case !isPrintable(s) || strings.TrimSpace(s) != s || strings.HasPrefix(s, "#"):
		return fmt.Errorf("%q is not a name", s)
	}
	return nil
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// ParseFact reads a line "# key: value". It is false for a line without a colon, or with nothing
// before it.
func ParseFact(line string) (Fact, bool) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "#"), ":")
	f := Fact{strings.TrimSpace(key), strings.TrimSpace(value)}
	return f, ok && f.Key != ""
}

// Check is an error if a fact cannot stand in a file.
func (f Fact) Check() error {
	if fact, ok := ParseFact("# " + f.Key + ": " + f.Value); !ok || fact != f || !isPrintable(f.Key+f.Value) {
		return fmt.Errorf("fact %q with value %q cannot stand in a line \"# key: value\"", f.Key, f.Value)
	}
	if n := len(f.Key) + len(f.Value); n > maxFact {
		return fmt.Errorf("fact %q has %d characters, the limit is %d", f.Key, n, maxFact)
	}
	return nil
}

// ParseWhole reads digits alone, of a number up to 2³¹−1.
func ParseWhole(s []byte) (int, bool) {
	if len(s) == 0 || len(s) > 10 {
		return 0, false
	}
	n := int64(0)
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return int(n), n <= math.MaxInt32
}

// ParseMicros is unit.ParseMicros, but fast if the number has an ordinary length.
func ParseMicros(s []byte) (unit.Time, error) {
	const most = 18 // digits that an int64 holds in any case
	n, digits, after, point := int64(0), 0, 0, false
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9':
			n = 10*n + int64(c-'0')
			digits++
			if point {
				after++
			}
		case c == '.' && !point && digits > 0:
			point = true
		default:
			digits = most + 1 // something else
		}
		if digits > most {
			return unit.ParseMicros(string(s))
		}
	}
	if digits == 0 || point && after == 0 || after > 6 || digits-after+6 > most {
		return unit.ParseMicros(string(s))
	}
	for ; after < 6; after++ {
		n *= 10
	}
	return unit.Time(n), nil
}
