package sample

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Bounds on what Read accepts, so that no input can take the memory of the machine.
const (
	MaxRows = 50_000_000

	maxLine   = 1 << 16 // bytes
	maxFact   = 60_000
	maxName   = 1000
	maxNumber = math.MaxInt32
)

var columns, pacedColumns = strings.Split(header, ","), strings.Split(paced, ",")

// Places of the columns that hold numbers, and of the pace, where there is one: then what follows is one farther.
const (
	colBytes = 7 + iota
	colLaunch
	colRep
	colPace = colRep
)

// Read reads a set as Write writes it. name stands for the input in errors, which begin with file:line:column.
//
// Rows may come in any order: a series has the place of its first row, and rep says where in its series a sample
// belongs. The column pace may be missing. Names may stand in quotes. A comment above the header that has no colon is passed over.
func Read(r io.Reader, name string) (*Set, error) {
	p := &parser{
		in:      bufio.NewReaderSize(r, maxLine),
		name:    name,
		columns: columns,
		index:   make(map[Key]int),
		names:   make(map[string]string),
	}
	if err := p.head(); err != nil {
		return nil, err
	}
	if err := p.rows(); err != nil {
		return nil, err
	}
	if err := p.place(); err != nil {
		return nil, err
	}
	return &p.set, nil
}

type parser struct {
	in      *bufio.Reader
	name    string
	line    int
	columns []string
	set     Set
	index   map[Key]int       // series
	names   map[string]string // one copy of each
	early   map[int][]early   // by series
	total   int               // rows
	prefix  []byte            // the columns of the last row before rep, where no quote stood in it
	series  int               // of the last row
	cells   []cell
	free    []unit.Time // for the next series
}

// early is a sample that came before one of a smaller rep.
type early struct {
	rep, line, col int
	time           unit.Time
}

// cell is a column of a row.
type cell struct {
	text []byte
	col  int // where it begins, from 1
}

func (p *parser) errorf(line, col int, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", p.name, line, col, fmt.Sprintf(format, args...))
}

// next returns the next line without its end, which is valid until the next call, or io.EOF.
func (p *parser) next() ([]byte, error) {
	p.line++
	line, err := p.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, p.errorf(p.line, 1, "the line is longer than %d bytes", maxLine)
	case err == io.EOF && len(line) > 0:
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", p.name, err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// head reads the facts and the header.
func (p *parser) head() error {
	for {
		line, err := p.next()
		if err == io.EOF {
			return p.errorf(p.line, 1, "no header: a data set has the columns %s", header)
		}
		if err != nil {
			return err
		}
		if p.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		switch text := string(line); {
		case text == "":
		case text[0] == '#':
			f, ok := parseFact(text)
			if !ok {
				continue
			}
			if err := f.check(); err != nil {
				return p.errorf(p.line, 1, "a fact with a character that is none or of more than %d characters", maxFact)
			}
			p.set.Facts = append(p.set.Facts, f)
		default:
			return p.header(line)
		}
	}
}

func (p *parser) header(line []byte) error {
	if err := p.split(line); err != nil {
		return err
	}
	if len(p.cells) > colPace && string(p.cells[colPace].text) == pacedColumns[colPace] {
		p.columns = pacedColumns
	}
	for i, c := range p.cells {
		if i < len(p.columns) && string(c.text) != p.columns[i] {
			return p.errorf(p.line, c.col, "column %q where %q belongs: a data set has the columns %s", c.text, p.columns[i], strings.Join(p.columns, ","))
		}
	}
	return p.width(line)
}

// width is an error unless the row has as many cells as there are columns.
func (p *parser) width(line []byte) error {
	switch n := len(p.cells); {
	case n < len(p.columns):
		return p.errorf(p.line, len(line)+1, "column %q is missing: a row has %d columns, this one %d", p.columns[n], len(p.columns), n)
	case n > len(p.columns):
		return p.errorf(p.line, p.cells[len(p.columns)].col, "a row has %d columns, this one %d", len(p.columns), n)
	}
	return nil
}

// split cuts a line into p.cells.
func (p *parser) split(line []byte) error {
	p.cells = p.cells[:0]
	for at := 0; ; {
		text, end, ok := cut(line[at:])
		if !ok {
			return p.errorf(p.line, at+1, "a quoted cell that does not end with a quote before the comma")
		}
		p.cells = append(p.cells, cell{text, at + 1})
		if at += end; at == len(line) || len(p.cells) > len(pacedColumns) {
			return nil
		}
		at++ // the comma
	}
}

// cut returns the text of the first cell of a line and the place of the comma behind it, or of the end.
func cut(s []byte) (text []byte, end int, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		if end = bytes.IndexByte(s, ','); end < 0 {
			end = len(s)
		}
		return s[:end], end, true
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '"':
			text = append(text, s[i])
		case i+1 < len(s) && s[i+1] == '"':
			text = append(text, '"')
			i++
		default:
			return text, i + 1, i+1 == len(s) || s[i+1] == ','
		}
	}
	return nil, 0, false
}

func (p *parser) rows() error {
	for {
		line, err := p.next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(line) == 0:
			continue
		case p.total == MaxRows:
			return p.errorf(p.line, 1, "more than %d samples", MaxRows)
		}
		p.total++
		if err := p.row(line); err != nil {
			return err
		}
	}
}

func (p *parser) row(line []byte) error {
	rep, time := cell{}, cell{}
	if n := len(p.prefix); n > 0 && bytes.HasPrefix(line, p.prefix) {
		rest := line[n:]
		if comma := bytes.IndexByte(rest, ','); comma >= 0 && bytes.IndexByte(rest, '"') < 0 && bytes.IndexByte(rest[comma+1:], ',') < 0 {
			rep, time = cell{rest[:comma], n + 1}, cell{rest[comma+1:], n + comma + 2}
		}
	}
	if rep.col == 0 {
		if line[0] == '#' {
			return p.errorf(p.line, 1, "a comment below the header: facts stand above it")
		}
		if err := p.split(line); err != nil {
			return err
		}
		if err := p.width(line); err != nil {
			return err
		}
		if err := p.key(); err != nil {
			return err
		}
		last := len(p.columns) - 1
		rep, time = p.cells[last-1], p.cells[last]
		p.prefix = p.prefix[:0]
		if bytes.IndexByte(line, '"') < 0 {
			p.prefix = append(p.prefix, line[:rep.col-1]...)
		}
	}
	n, ok := whole(rep.text)
	if !ok || n >= MaxRows {
		return p.errorf(p.line, rep.col, "column \"rep\": %q is not the number of a repetition", rep.text)
	}
	t, err := micros(time.text)
	if err != nil {
		return p.errorf(p.line, time.col, "column \"time_us\": %v", err)
	}
	if s := &p.set.Series[p.series]; n == len(s.Times) {
		s.Times = append(s.Times, t)
	} else {
		if p.early == nil {
			p.early = make(map[int][]early)
		}
		p.early[p.series] = append(p.early[p.series], early{n, p.line, rep.col, t})
	}
	return nil
}

// key finds the series to which the row in p.cells belongs.
func (p *parser) key() error {
	var k Key
	for i, text := range k.texts() {
		c := p.cells[i]
		s := p.one(c.text)
		if err := checkName(columns[i], s); err != nil {
			return p.errorf(p.line, c.col, "%v", err)
		}
		*text = s
	}
	c, ok := p.cells[colBytes], false
	if k.Bytes, ok = whole(c.text); !ok {
		return p.errorf(p.line, c.col, "column \"bytes\": %q is not a whole number of bytes", c.text)
	}
	c = p.cells[colLaunch]
	if k.Launch, ok = whole(c.text); !ok {
		return p.errorf(p.line, c.col, "column \"launch\": %q is not the number of a launch", c.text)
	}
	if len(p.columns) > len(columns) {
		c = p.cells[colPace]
		if k.Pace = p.one(c.text); checkPace(k.Pace) != nil {
			return p.errorf(p.line, c.col, "%v", checkPace(k.Pace))
		}
	}
	i, ok := p.index[k]
	if !ok {
		i = len(p.set.Series)
		p.index[k] = i
		p.set.Series = append(p.set.Series, Series{Key: k, Times: p.room()})
	}
	p.series = i
	return nil
}

// one returns a name, of which there is one copy.
func (p *parser) one(text []byte) string {
	s, ok := p.names[string(text)]
	if !ok {
		s = string(text)
		p.names[s] = s
	}
	return s
}

// room returns space for a series as long as the one before.
func (p *parser) room() []unit.Time {
	const most = 1 << 14
	n := 0
	if len(p.set.Series) > 0 {
		n = min(len(p.set.Series[p.series].Times), most)
	}
	if len(p.free) < n {
		p.free = make([]unit.Time, most)
	}
	times := p.free[:0:n]
	p.free = p.free[n:]
	return times
}

// place puts the samples that came early where they belong.
func (p *parser) place() error {
	var errs []early // one a faulty series; the first line is reported
	why := make(map[int]string)
	for i := range p.set.Series {
		s := &p.set.Series[i]
		late := p.early[i]
		slices.SortFunc(late, func(a, b early) int { return cmp.Or(cmp.Compare(a.rep, b.rep), cmp.Compare(a.line, b.line)) })
		for _, e := range late {
			switch n := len(s.Times); {
			case e.rep == n:
				s.Times = append(s.Times, e.time)
				continue
			case e.rep < n:
				why[e.line] = fmt.Sprintf("column \"rep\": repetition %d of %v is there twice", e.rep, s.Key)
			default:
				why[e.line] = fmt.Sprintf("column \"rep\": repetition %d of %v, of which repetition %d is missing", e.rep, s.Key, n)
			}
			errs = append(errs, e)
			break
		}
	}
	if len(errs) == 0 {
		return nil
	}
	e := slices.MinFunc(errs, func(a, b early) int { return cmp.Compare(a.line, b.line) })
	return p.errorf(e.line, e.col, "%s", why[e.line])
}

// whole reads a number without sign of at most nine digits, or maxNumber.
func whole(s []byte) (int, bool) {
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
	return int(n), n <= maxNumber
}

// micros is unit.ParseMicros, but fast where the number has an ordinary length.
func micros(s []byte) (unit.Time, error) {
	const most = 18 // digits that an int64 surely holds
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
