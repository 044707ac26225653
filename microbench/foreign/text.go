package foreign

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode/utf16"
)

// fileText is a file as its readers see it: UTF-8, without colour codes and without the prefixes
// that launchers, schedulers and terminals put before each line.
type fileText struct {
	text              string
	prefixBytes       []uint16 // bytes of the prefix of each line; nil: no line has one
	lacksFinalNewline bool     // the last line does not end: it may be cut off
}

// cleanContents decodes a file and removes labels.
func cleanContents(b []byte) fileText {
	text := decodeText(b)
	c := fileText{lacksFinalNewline: text != "" && !strings.HasSuffix(text, "\n")}
	var out strings.Builder
	out.Grow(len(text))
	number := 0
	for line := range strings.Lines(text) {
		end := strings.HasSuffix(line, "\n")
		clean := removeControls(strings.TrimSuffix(line, "\n"))
		rest := removePrefixes(clean)
		if cut := len(clean) - len(rest); cut > 0 {
			for len(c.prefixBytes) <= number {
				c.prefixBytes = append(c.prefixBytes, 0)
			}
			c.prefixBytes[number] = uint16(min(cut, 1<<16-1))
		}
		out.WriteString(rest)
		if end {
			out.WriteByte('\n')
		}
		number++
	}
	c.text = out.String()
	return c
}

// decodeText returns UTF-8 of a file in UTF-8 or UTF-16, with a byte order mark or without.
func decodeText(b []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		b, order = b[2:], binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		b, order = b[2:], binary.BigEndian
	default:
		order = guessByteOrder(b)
	}
	if order == nil {
		return strings.TrimPrefix(string(b), "\ufeff")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// guessByteOrder returns the order of the bytes of a text in UTF-16 without a mark, or nil if it is
// none: every second byte of English text is zero then.
func guessByteOrder(b []byte) binary.ByteOrder {
	head := b[:min(len(b), 400)&^1]
	var zeros [2]int
	for i, x := range head {
		if x == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(head) / 2; {
	case half >= 8 && zeros[1] > half*3/4 && zeros[0] == 0:
		return binary.LittleEndian
	case half >= 8 && zeros[0] > half*3/4 && zeros[1] == 0:
		return binary.BigEndian
	}
	return nil
}

// terminalCodePattern matches a control sequence of a terminal, such as a colour.
var terminalCodePattern = regexp.MustCompile("\x1b(?:\\[[0-9;:?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")

// removeControls returns a line as a terminal shows it: without control sequences, and of parts
// that carriage returns separate the last.
func removeControls(line string) string {
	if strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == '\u00a0' }) < 0 {
		return line
	}
	line = strings.TrimRight(terminalCodePattern.ReplaceAllString(line, ""), "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0':
			return ' '
		case r < ' ' && r != '\t':
			return -1
		}
		return r
	}, line)
}

// linePrefixes are the prefixes of lines in a job's output, by the bytes with which they begin.
var linePrefixes = []struct {
	first   string
	pattern *regexp.Regexp
}{
	{">", regexp.MustCompile(`^>[> ]*`)},                                          // quoted mail
	{"[", regexp.MustCompile(`^(?:\[[^\[\]]{1,120}\])+<std(?:out|err|diag)>: ?`)}, // mpirun --tag-output: [1,0]<stdout>:
	{"<", regexp.MustCompile(`^<std(?:out|err|diag)>: ?`)},
	{"[", regexp.MustCompile(`^\[\d{1,7}\]:? `)},                                                                                                             // mpiexec -l: [0]
	{"[0123456789", regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:?(?: |$)`)},                            // ts, kubectl logs --timestamps
	{"[0123456789", regexp.MustCompile(`^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?:?(?: |$)`)},                                                                    // ts '%H:%M:%S'
	{"1", regexp.MustCompile(`^1\d{9}\.\d{3,9}:? `)},                                                                                                         // ts '%.s'
	{"ADFJMNOSTW", regexp.MustCompile(`^(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?(?:\[[^\[\]]{1,120}\])*<std(?:out|err|diag)>: ?`)}, // mpirun --timestamp-output
	{"ADFJMNOSTW", regexp.MustCompile(`^(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?(?: |:|$)`)},                                       // ts, date
	{"0123456789", regexp.MustCompile(`^\d{1,7}: `)},                                                                                                         // srun --label: 0:
}

// hostPrefix matches the prefix of pdsh, kubectl or docker compose. It is one only before something
// that a table has.
var hostPrefix = regexp.MustCompile(`^([A-Za-z][\w.-]{0,80})(?:: | +\| ?)(\s*(?:#|\d|$).*)`) // and has a digit, a hyphen or a dot: "Final: 1000" is none

// removePrefixes returns a line without its prefixes.
func removePrefixes(line string) string {
	const most = 4 // a time stamp, a rank, a host and a quotation mark
	for range most {
		rest := strings.TrimLeft(line, " \t")
		if rest == "" {
			return line
		}
		found := false
		for _, l := range linePrefixes {
			if strings.IndexByte(l.first, rest[0]) < 0 {
				continue
			}
			if cut := l.pattern.FindString(rest); cut != "" {
				line, found = rest[len(cut):], true
				break
			}
		}
		if !found && strings.ContainsAny(rest[:min(len(rest), 90)], ":|") {
			if m := hostPrefix.FindStringSubmatch(rest); m != nil && strings.ContainsAny(m[1], "0123456789.-") {
				line, found = m[2], true
			}
		}
		if !found {
			return line
		}
	}
	return line
}
