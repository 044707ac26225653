package foreign

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Bounds on what is read, so that no file can take the memory of the machine.
const (
	MaxBytes = 64 << 20 // of a file
	maxLine  = 1 << 12  // bytes of a line
)

// contents returns the text of a file.
func contents(f File) (string, error) {
	b, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", f.Name, err)
	case len(b) > MaxBytes:
		return "", fmt.Errorf("%s: more than %s", f.Name, unit.Bytes(MaxBytes))
	}
	return strings.TrimPrefix(string(b), "\ufeff"), nil
}

// input is a text that is read line by line.
type input struct {
	name string
	rest string
	last int // number of the line that was read last
}

// next returns the next line. It is false at the end.
func (in *input) next() (line, bool) {
	if in.rest == "" {
		return line{}, false
	}
	text, rest, _ := strings.Cut(in.rest, "\n")
	in.rest = rest
	in.last++
	return line{in: in, number: in.last, text: strings.TrimSuffix(text, "\r")}, true
}

// line is a line of text, and its words.
type line struct {
	in     *input
	number int
	text   string
	words  []word
}

// word is a part of a line.
type word struct {
	text string
	col  int // where it begins, from 1
}

// short is an error if the line is longer than any of a tool.
func (l *line) short() error {
	if len(l.text) > maxLine {
		return l.errorf(maxLine+1, "the line is longer than %d bytes", maxLine)
	}
	return nil
}

// blank says whether there is nothing in the line.
func (l *line) blank() bool { return strings.TrimSpace(l.text) == "" }

// comment returns what follows the # of a line that begins with one.
func (l *line) comment() (string, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(l.text), "#")
	return strings.TrimSpace(text), ok
}

// split cuts the line at spaces, or at commas, into words: least at least, and most at most. what is what the line should be.
func (l *line) split(comma bool, least, most int, what string) error {
	if err := l.short(); err != nil {
		return err
	}
	l.words = l.words[:0]
	begin := -1
	for i := range len(l.text) + 1 {
		end := i == len(l.text) || comma && l.text[i] == ',' || !comma && (l.text[i] == ' ' || l.text[i] == '\t')
		switch {
		case !end && begin < 0:
			begin = i
		case end && begin >= 0:
			l.words, begin = append(l.words, word{l.text[begin:i], begin + 1}), -1
		case end && comma:
			l.words = append(l.words, word{"", i + 1})
		}
	}
	switch n := len(l.words); {
	case n < least:
		return l.errorf(len(l.text)+1, "%s where %s belongs", columns(n), what)
	case n > most:
		return l.errorf(l.words[most].col, "%s where %s belongs", columns(n), what)
	}
	return nil
}

func columns(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}

// errorf makes an error of a column.
func (l *line) errorf(col int, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", l.in.name, l.number, col, fmt.Sprintf(format, args...))
}

// wrong is the error of a word that is not what belongs there.
func (l *line) wrong(i int, what string) error {
	return l.errorf(l.words[i].col, "%s where %s belongs", cited(l.words[i].text), what)
}

// cited quotes a text that may be long.
func cited(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

// whole reads a word as a number from low to high.
func (l *line) whole(i, low, high int, what string) (int, error) {
	s := l.words[i].text
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high || s[0] == '+' || s[0] == '-' {
		return 0, l.wrong(i, what)
	}
	return n, nil
}

// bytes reads a word as the length of a message.
func (l *line) bytes(i int) (int, error) {
	return l.whole(i, 0, maxBytes, "a number of bytes")
}

const maxBytes = 1<<31 - 1

// maxTime bounds a time, so that sums of two and products with counts of messages stay far from the end of what a unit.Time holds.
const maxTime = 1000 * unit.Second

// time reads a word as a time in a unit, exactly. What is not finite, such as -nan, is no time.
func (l *line) time(i int, unitName, what string) (unit.Time, error) {
	s := l.words[i].text
	if !decimal(s) {
		return 0, l.wrong(i, what)
	}
	t, err := unit.ParseTime(s + unitName)
	if err != nil || t > maxTime {
		return 0, l.wrong(i, what)
	}
	return t, nil
}

// decimal says whether a text is digits with at most one point between them.
func decimal(s string) bool {
	before, after, point := strings.Cut(s, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(before) && (!point || digits(after)) && len(s) <= 30
}

// rate reads a word as a positive number.
func (l *line) rate(i int, what string) (float64, error) {
	s := l.words[i].text
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !decimal(s) || !(x > 0 && x < 1e15) {
		return 0, l.wrong(i, what)
	}
	return x, nil
}

// none says whether a word is a number that is none: nan or inf with either sign, as C prints them.
func none(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s, "+-"))
	return s == "nan" || s == "inf"
}
