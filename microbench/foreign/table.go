package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Most tools print tables: a title that names the test, a line of headings, and a row for each
// size. What differs between tools is data: a tableFormat.
//
// The lines between are those of a job's log. A line that is no part of a table is skipped, counted
// and reported; a row that cannot be read is left out and reported. Neither ends the import.

// tableFormat is what the tables of a tool look like.
type tableFormat struct {
	*Format
	library string // that is measured, unless the file says another: "" for MPI

	// title matches the line that names a test. beginTest takes it from there.
	title     *regexp.Regexp
	beginTest func(r *tableReader, line string, match []string)

	// beginUntitledTest sets the test of a table without a title, if its columns or the command
	// line tell.
	beginUntitledTest func(r *tableReader)

	// header matches a line of headings, without leading #. columns are those that it may have.
	header  *regexp.Regexp
	columns []columnFormat

	// readDetail reads a line of the tool that is neither title nor headings, such as the number of
	// ranks or a row that has its headings within. It is false if the line is none of the tool's.
	readDetail func(r *tableReader, l *inputLine) bool

	// endTable is called behind the last row of a table, where rows show only together what they
	// are.
	endTable func(r *tableReader)

	resolution unit.Time // of printed times
	statistics string    // what a printed value is
}

// columnRole is what a column has to say.
type columnRole int

const (
	otherColumn            columnRole = iota // a statistic that is left out
	detailColumn                             // known, and not needed
	nameColumn                               // of the operation
	bytesColumn                              // the size of a message
	elementsColumn                           // the size in elements of a datatype
	repetitionsColumn                        // how many there were
	typicalColumn                            // a time: the median
	averageColumn                            // a time: the mean
	minimumColumn                            // a time: of the fastest rank
	maximumColumn                            // a time: of the slowest rank
	runtimeColumn                            // a time: of one repetition
	bandwidthColumn                          // bytes a second
	rateColumn                               // messages a second
	checkColumn                              // whether data arrived as it was sent
	scaledBytesColumn                        // the size of a message, of the form 4k
	scaledCountColumn                        // messages sent, of the form 10k
	scaledTotalBytesColumn                   // bytes in all, of the form 1.2m
)

// columnFormat is a column: its heading, its role, and the unit of its numbers.
type columnFormat struct {
	heading  *regexp.Regexp
	role     columnRole
	timeUnit string  // of times
	scale    float64 // of rates: bytes or messages a second
}

// headingPattern returns the pattern of a heading at the beginning of a text.
func headingPattern(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + pattern + `)(?:\s+|$)`)
}

func timeColumnFormat(pattern string, role columnRole, unitName string) columnFormat {
	return columnFormat{heading: headingPattern(pattern), role: role, timeUnit: unitName}
}

func rateColumnFormat(pattern string, role columnRole, scale float64) columnFormat {
	return columnFormat{heading: headingPattern(pattern), role: role, scale: scale}
}

func plainColumnFormat(pattern string, role columnRole) columnFormat {
	return columnFormat{heading: headingPattern(pattern), role: role}
}

// Units of bandwidth.
const (
	megabytes = 1e6
	gigabytes = 1e9
	mebibytes = 1 << 20
	gigabits  = 1e9 / 8
)

// tableColumn is a column of the table that is read.
type tableColumn struct {
	columnFormat
	name string // its heading
}

// unknownHeadingPattern matches a heading that is none of a tool's columns: words with single
// spaces between them.
var unknownHeadingPattern = regexp.MustCompile(`^\S+(?: \S+)*`)

// parseHeadings returns the columns of a line of headings.
func (f *tableFormat) parseHeadings(text string) []tableColumn {
	const most = 64
	var out []tableColumn
next:
	for text = strings.TrimSpace(text); text != "" && len(out) < most; text = strings.TrimSpace(text) {
		for _, c := range f.columns {
			if found := c.heading.FindString(text); found != "" {
				if slices.ContainsFunc(out, func(x tableColumn) bool { return x.role == c.role && c.role > detailColumn }) {
					c = columnFormat{role: detailColumn} // the first counts
				}
				out, text = append(out, tableColumn{c, strings.TrimSpace(found)}), text[len(found):]
				continue next
			}
		}
		name := unknownHeadingPattern.FindString(text)
		out, text = append(out, tableColumn{name: name}), text[len(name):]
	}
	return out
}

// columnOf returns the first column of a role, or -1.
func (r *tableReader) columnOf(role columnRole) int {
	for i, c := range r.columns {
		if c.role == role {
			return i
		}
	}
	return -1
}

// columnNamed returns the first column with a heading, or -1.
func (r *tableReader) columnNamed(name string) int {
	return slices.IndexFunc(r.columns, func(c tableColumn) bool { return c.name == name })
}

// testKind is what the times of a test are.
type testKind int

const (
	unsupportedTest         testKind = iota // it corresponds to none of our timers
	roundTripTest                           // half of the time of a message and an answer of the same size
	remoteReadTest                          // a read, until it is found complete
	oneWayStreamTest                        // messages or bytes a second, of one sender
	bidirectionalStreamTest                 // of two that send to each other
	multiPairStreamTest                     // of several pairs
	collectiveTest
	unknownTest // until a row tells
)

// benchmarkTest is a test of a tool.
type benchmarkTest struct {
	name            string // as in messages
	kind            testKind
	mode            string // MPI call or operation
	omissionReason  string // why the test is left out; "": it is not
	countsAllBlocks bool   // the printed size is that of all blocks together
	isReduction     bool   // its datatype matters
	usesMessageRate bool   // the message rate has more digits than bandwidth and time
	usesPrintedTime bool   // of a stream: the time of a message is printed
	note            string // what is known of the values beside the timer
}

// tableFormats are the tools whose output is tables.
var tableFormats = []*tableFormat{&osuTables, &imbTables, &ncclTables, &perftestTables, &fabtestsTables, &ucxTables, &mpiBenchTables, &reproMPITables, &gpcnetTables}

// TableSummary is a table that was read.
type TableSummary struct {
	File                string
	Test                string
	FirstLine, LastLine int // of its rows
	RowCount            int
	Timers              string // the timers and the mode, such as "rtt of send"
}

func (s TableSummary) String() string {
	lines := fmt.Sprintf("line %d", s.FirstLine)
	if s.LastLine > s.FirstLine {
		lines = fmt.Sprintf("lines %d to %d", s.FirstLine, s.LastLine)
	}
	return fmt.Sprintf("%s: %s of %s, %s, as %s", s.File, rowCount(s.RowCount), s.Test, lines, s.Timers)
}

func rowCount(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
