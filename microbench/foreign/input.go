package foreign

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Limits on input, so that no file can exhaust memory.
const (
	MaxFileBytes = 64 << 20 // of a file
	maxLineBytes = 1 << 12  // bytes of a line
)

// readContents returns the text of a file.
func readContents(f File) (fileText, error) {
	b, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	switch {
	case err != nil:
		return fileText{}, fmt.Errorf("read %s: %w", f.Name, err)
	case len(b) > MaxFileBytes:
		return fileText{}, fmt.Errorf("%s: more than %s", f.Name, unit.Bytes(MaxFileBytes))
	}
	c := cleanContents(b)
	if table, isReport, err := ncclTableOfJSON(f.Name, c.text); err != nil {
		return fileText{}, err
	} else if isReport {
		c = fileText{text: table}
	}
	return c, nil
}

// inputText is the text of a file, read line by line.
type inputText struct {
	fileText
	name       string
	unreadText string
	lineNumber int   // number of the last line that was read
	err        error // the first error; nothing is read after it
}

// nextLine returns the next line. It returns false at the end, and after an error.
func (in *inputText) nextLine() (inputLine, bool) {
	if in.unreadText == "" || in.err != nil {
		return inputLine{}, false
	}
	text, rest, ended := strings.Cut(in.unreadText, "\n")
	in.unreadText = rest
	in.lineNumber++
	return inputLine{input: in, number: in.lineNumber, text: strings.TrimSuffix(text, "\r"), mayBeTruncated: !ended && in.lacksFinalNewline}, true
}

// forEachLine calls comment for each line that starts with #, with the rest of the line, and row
// for each other line that is not blank, until the first error.
func (in *inputText) forEachLine(comment func(l *inputLine, text string), row func(l *inputLine)) {
	for l, ok := in.nextLine(); ok; l, ok = in.nextLine() {
		if text, ok := l.commentText(); ok {
			comment(&l, text)
		} else if !l.isBlank() {
			row(&l)
		}
	}
}

// ignoreComment ignores a comment.
func (in *inputText) ignoreComment(*inputLine, string) {}

// errorf records an error of a line, if it is the first error.
func (in *inputText) errorf(number int, format string, args ...any) {
	(&inputLine{input: in, number: max(number, 1)}).errorf(1, format, args...)
}

// inputLine is a line of the input with its words.
type inputLine struct {
	input  *inputText
	number int
	text   string
	words  []textWord

	mayBeTruncated bool // it is the last line, without a newline
}

// textWord is a word of a line.
type textWord struct {
	text   string
	column int // start column, from 1
}

// checkLength returns false, and records an error, if the line is longer than any line of a tool.
func (l *inputLine) checkLength() bool {
	if len(l.text) > maxLineBytes {
		l.errorf(maxLineBytes+1, "the line is longer than %d bytes", maxLineBytes)
		return false
	}
	return true
}

// isBlank reports whether the line is blank.
func (l *inputLine) isBlank() bool { return strings.TrimSpace(l.text) == "" }

// commentText returns the text after # of a line that starts with #.
func (l *inputLine) commentText() (string, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(l.text), "#")
	return strings.TrimSpace(text), ok
}

// splitWords splits the line at spaces, or at commas, into at least least and at most most words.
// what describes the expected line. It returns false, and records an error, for any other line.
func (l *inputLine) splitWords(comma bool, least, most int, what string) bool {
	if !l.checkLength() {
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
			l.words, begin = append(l.words, textWord{l.text[begin:i], begin + 1}), -1
		case end && comma:
			l.words = append(l.words, textWord{"", i + 1})
		}
	}
	switch n := len(l.words); {
	case n < least:
		l.errorf(len(l.text)+1, "%s where %s belongs", columnCount(n), what)
		return false
	case n > most:
		l.errorf(l.words[most].column, "%s where %s belongs", columnCount(n), what)
		return false
	}
	return true
}

func columnCount(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}

// errorf records an error at a column, if it is the first error.
func (l *inputLine) errorf(col int, format string, args ...any) {
	if n := l.number - 1; n >= 0 && n < len(l.input.prefixBytes) {
		col += int(l.input.prefixBytes[n])
	}
	if l.input.err == nil {
		l.input.err = fmt.Errorf("%s:%d:%d: %s", l.input.name, l.number, col, fmt.Sprintf(format, args...))
	}
}

// wordError records an error about a word that has not the expected form.
func (l *inputLine) wordError(i int, what string) {
	l.errorf(l.words[i].column, "%s where %s belongs", quoteShort(l.words[i].text), what)
}

// quoteShort quotes a text that may be long.
func quoteShort(s string) string { return quoteUpTo(s, 40) }

// quoteUpTo quotes a text, of which it shows at most the first bytes.
func quoteUpTo(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// parseWhole parses a word as a number from low to high.
func (l *inputLine) parseWhole(i, low, high int, what string) int {
	s := l.words[i].text
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high || s[0] == '+' || s[0] == '-' {
		l.wordError(i, what)
		return 0
	}
	return n
}

// parseBytes parses a word as a message size.
func (l *inputLine) parseBytes(i int) int {
	return l.parseWhole(i, 0, maxMessageBytes, "a number of bytes")
}

const maxMessageBytes = 1<<31 - 1

// maxPlausibleTime limits times, so that sums and products with message counts do not overflow a
// unit.Time.
const maxPlausibleTime = 1000 * unit.Second

// parseTime parses a word as a time in a unit, exactly. Values that are not finite, such as -nan,
// are rejected.
func (l *inputLine) parseTime(i int, unitName, what string) unit.Time {
	s := l.words[i].text
	t, err := unit.ParseTime(s + unitName)
	if !isDecimal(s) || err != nil || t > maxPlausibleTime {
		l.wordError(i, what)
		return 0
	}
	return t
}

// isDecimal reports whether a text consists of digits with at most one point in between.
func isDecimal(s string) bool {
	before, after, point := strings.Cut(s, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(before) && (!point || digits(after)) && len(s) <= 30
}

// parseRateAsTime parses a word as a rate per second in a unit, and returns the time for an amount
// at that rate, to the picosecond.
func (l *inputLine) parseRateAsTime(i int, amount, rateUnit float64, what string) unit.Time {
	s := l.words[i].text
	x, err := strconv.ParseFloat(s, 64)
	t := math.Round(amount / (x * rateUnit) * float64(unit.Second))
	if err != nil || !isDecimal(s) || !(x > 0 && x < 1e15) || !(t >= 0 && t <= float64(maxPlausibleTime)) {
		l.wordError(i, what)
		return 0
	}
	return unit.Time(t)
}

// isNaNOrInf reports whether a word is nan or inf with either sign, as C prints
// them.
func isNaNOrInf(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s, "+-"))
	return s == "nan" || s == "inf"
}
