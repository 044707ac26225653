package foreign

import (
	"fmt"
	"io"
	"math"
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
	last int   // number of the line that was read last
	err  error // the first; there are no lines after it
}

// next returns the next line. It is false at the end, and after an error.
func (in *input) next() (line, bool) {
	if in.rest == "" || in.err != nil {
		return line{}, false
	}
	text, rest, _ := strings.Cut(in.rest, "\n")
	in.rest = rest
	in.last++
	return line{in: in, number: in.last, text: strings.TrimSuffix(text, "\r")}, true
}

// each calls comment with each line that begins with #, and what follows that, and row with each
// other that is not blank, until the first error.
func (in *input) each(comment func(l *line, text string), row func(l *line)) {
	for l, ok := in.next(); ok; l, ok = in.next() {
		if text, ok := l.comment(); ok {
			comment(&l, text)
		} else if !l.blank() {
			row(&l)
		}
	}
}

// none passes over comments.
func (in *input) none(*line, string) {}

// errorf keeps an error of a line, if it is the first.
func (in *input) errorf(number int, format string, args ...any) {
	(&line{in: in, number: max(number, 1)}).errorf(1, format, args...)
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

// short is false, and an error, if the line is longer than any of a tool.
func (l *line) short() bool {
	if len(l.text) > maxLine {
		l.errorf(maxLine+1, "the line is longer than %d bytes", maxLine)
		return false
	}
	return true
}

// blank says whether there is nothing in the line.
func (l *line) blank() bool { return strings.TrimSpace(l.text) == "" }

// comment returns what follows the # of a line that begins with one.
func (l *line) comment() (string, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(l.text), "#")
	return strings.TrimSpace(text), ok
}

// split cuts the line at spaces, or at commas, into words: least at least, and most at most. what
// is what the line should be. It is false, and an error, if the line is something else.
func (l *line) split(comma bool, least, most int, what string) bool {
	if !l.short() {
		return false
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
		l.errorf(len(l.text)+1, "%s where %s belongs", columns(n), what)
		return false
	case n > most:
		l.errorf(l.words[most].col, "%s where %s belongs", columns(n), what)
		return false
	}
	return true
}

func columns(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}

// errorf keeps an error of a column, if it is the first of the input.
func (l *line) errorf(col int, format string, args ...any) {
	if l.in.err == nil {
		l.in.err = fmt.Errorf("%s:%d:%d: %s", l.in.name, l.number, col, fmt.Sprintf(format, args...))
	}
}

// wrong keeps the error of a word that is not what belongs there.
func (l *line) wrong(i int, what string) {
	l.errorf(l.words[i].col, "%s where %s belongs", cited(l.words[i].text), what)
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
func (l *line) whole(i, low, high int, what string) int {
	s := l.words[i].text
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high || s[0] == '+' || s[0] == '-' {
		l.wrong(i, what)
		return 0
	}
	return n
}

// bytes reads a word as the length of a message.
func (l *line) bytes(i int) int { return l.whole(i, 0, maxBytes, "a number of bytes") }

const maxBytes = 1<<31 - 1

// maxTime bounds a time, so that sums of two and products with counts of messages stay far from the
// end of what a unit.Time holds.
const maxTime = 1000 * unit.Second

// time reads a word as a time in a unit, exactly. A value that is not finite, such as -nan, is not
// a time.
func (l *line) time(i int, unitName, what string) unit.Time {
	s := l.words[i].text
	t, err := unit.ParseTime(s + unitName)
	if !decimal(s) || err != nil || t > maxTime {
		l.wrong(i, what)
		return 0
	}
	return t
}

// decimal says whether a text is digits with at most one point between them.
func decimal(s string) bool {
	before, after, point := strings.Cut(s, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(before) && (!point || digits(after)) && len(s) <= 30
}

// per reads a word as a rate a second, in a unit, and returns how long an amount takes at that
// rate, to the picosecond.
func (l *line) per(i int, amount, rateUnit float64, what string) unit.Time {
	s := l.words[i].text
	x, err := strconv.ParseFloat(s, 64)
	t := math.Round(amount / (x * rateUnit) * float64(unit.Second))
	if err != nil || !decimal(s) || !(x > 0 && x < 1e15) || !(t >= 0 && t <= float64(maxTime)) {
		l.wrong(i, what)
		return 0
	}
	return unit.Time(t)
}

// none says whether a word is a number that is none: nan or inf with either sign, as C prints them.
func none(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s, "+-"))
	return s == "nan" || s == "inf"
}
