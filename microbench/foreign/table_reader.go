package foreign

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// tableReader reads the tables of a log.
type tableReader struct {
	*setBuilder
	input       *inputText
	givenFormat *tableFormat // the format that was named; nil: all

	// Of the log.
	candidateFormats []*tableFormat
	givenLibrary     string            // library that was given by name
	loggedLibrary    string            // that the log names
	libraryVersions  map[string]string // of the libraries that the log names; "several" if it names two
	commandRanks     int               // of the last command line
	program          string            // that it starts
	programArgs      string

	// Of the test whose rows come next.
	format        *tableFormat
	formatLibrary string // that it measures, where that is not MPI
	test          benchmarkTest
	printedRanks  int             // that the tool prints
	hosts         map[string]bool // of the ranks, that the tool prints
	pairs         int             // of ranks that send at once
	bufferMemory  string          // where they are, if not in host memory
	testSetting   string          // that tells rows from others of the same test
	columns       []tableColumn   // nil: before its headings
	lastDigits    int             // fewest digits behind the point in the last column of the rows before
	rows          []tableRow
	summary       TableSummary

	buffersFact    string
	isIMBHeadRead  bool              // the head of IMB's output has begun
	datatypes      map[string]string // the first of each test
	elementBytes   int               // bytes of an element
	hasCommonStart bool              // ranks agree on a start
	operation      string            // that lines above a table name
	ucx            ucxSettings       // of ucx_perftest

	skipped     skippedLines
	rowsLeftOut int // rows of the table that have no timer
}

// tableRow is a row whose meaning its table does not yet say.
type tableRow struct {
	line   int
	values rowValues
}

// readTables reads the tables of a format, or if it is nil of all.
func readTables(in *inputText, b *setBuilder, only *Format) {
	r := &tableReader{setBuilder: b, input: in, candidateFormats: tableFormats, elementBytes: 1, datatypes: map[string]string{}, givenLibrary: b.key.Library, libraryVersions: libraryVersions(in.text)}
	for _, f := range tableFormats {
		if f.Format == only {
			r.givenFormat = f
		}
	}
	r.readTables()
}

// isOfFormat reports whether the test that is read is of a format.
func (r *tableReader) isOfFormat(f *Format) bool { return r.format != nil && r.format.Format == f }

func (r *tableReader) readTables() {
	for l, ok := r.input.nextLine(); ok; l, ok = r.input.nextLine() {
		r.readLine(&l)
	}
	r.endTable()
	r.skipped.addNotes(r.setBuilder)
}

// readLine takes a line for the first that it can be.
func (r *tableReader) readLine(l *inputLine) {
	text := strings.TrimSpace(l.text)
	switch {
	case text == "":
	case len(l.text) > maxLineBytes:
		r.skipped.add(l.number, "(a line of more than 4096 bytes)")
	case r.readTitle(text), r.readDetail(l), r.readHeader(text), r.readCommand(text):
	case isSeparator(text) || strings.HasPrefix(text, "#"): // comments and lines between
	case r.columns != nil && r.isRow(text):
		r.readRow(l)
	case r.readLibrary(text):
	default:
		r.skipped.add(l.number, text)
	}
}

// matchingFormats returns the formats to which a line may belong.
func (r *tableReader) matchingFormats() []*tableFormat {
	if r.givenFormat != nil {
		return []*tableFormat{r.givenFormat}
	}
	return r.candidateFormats
}

// tablesOf returns what the tables of a format look like.
func (r *tableReader) tablesOf(f *Format) *tableFormat {
	return r.candidateFormats[slices.IndexFunc(r.candidateFormats, func(t *tableFormat) bool { return t.Format == f })]
}

// readTitle begins a test if a line is the title of one.
func (r *tableReader) readTitle(text string) bool {
	for _, f := range r.matchingFormats() {
		if f.title == nil {
			continue
		}
		if m := f.title.FindStringSubmatch(text); m != nil {
			r.beginTest(f, benchmarkTest{})
			f.beginTest(r, text, m)
			r.setLibrary()
			return true
		}
	}
	return false
}

// beginTest begins a test, and forgets what was known of the one before.
func (r *tableReader) beginTest(f *tableFormat, t benchmarkTest) {
	r.endTable()
	r.format, r.test, r.columns = f, t, nil
	r.printedRanks, r.pairs, r.bufferMemory, r.testSetting, r.formatLibrary = 0, 1, "", "", f.library
	r.hasCommonStart, r.hosts = false, nil
	r.key.Platform = cmp.Or(r.givenPlatform, f.Name)
	r.addFact(sample.ImportedAsFact, f.Name+": "+f.Description)
	r.setLibrary()
}

// readDetail reads a line that only one tool prints.
func (r *tableReader) readDetail(l *inputLine) bool {
	if r.format != nil && r.format.readDetail != nil && r.format.readDetail(r, l) {
		return true
	}
	for _, f := range r.matchingFormats() {
		if f != r.format && f.readDetail != nil && f.readDetail(r, l) {
			return true
		}
	}
	return false
}

// readHeader begins a table if a line is one of headings.
func (r *tableReader) readHeader(text string) bool {
	text = strings.TrimLeft(text, "# \t")
	for _, f := range r.matchingFormats() {
		if f.header == nil || !f.header.MatchString(text) {
			continue
		}
		if r.format != f {
			r.beginTest(f, benchmarkTest{})
		} else {
			r.endTable()
		}
		r.columns = f.parseHeadings(text)
		r.beginTable()
		return true
	}
	return false
}

// beginTable says what is known of a table before its rows.
func (r *tableReader) beginTable() {
	r.lastDigits = -1
	if f := r.format; r.test.name == "" || f.title == nil && f.beginUntitledTest != nil {
		if r.test = (benchmarkTest{omissionReason: "no title above it names the test"}); f.beginUntitledTest != nil {
			f.beginUntitledTest(r)
		}
		r.test.name = cmp.Or(r.test.name, "a table of "+f.Name)
	}
	if r.test.kind != unsupportedTest && !r.hasColumnsOf(r.test.kind) {
		r.test.omissionReason = "its columns " + columnNames(r.columns) + " are not those of this test"
		r.test.kind = unsupportedTest
	}
	r.setLibrary()
	r.addTestFacts()
	r.summary = TableSummary{File: r.name, Test: r.test.name}
}

func columnNames(columns []tableColumn) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return quoteShort(strings.Join(names, " "))
}

// hasColumnsOf says whether the table has what a kind of test needs.
func (r *tableReader) hasColumnsOf(k testKind) bool {
	has := func(roles ...columnRole) bool {
		return slices.ContainsFunc(roles, func(x columnRole) bool { return r.columnOf(x) >= 0 })
	}
	sized := has(bytesColumn, elementsColumn, scaledBytesColumn)
	switch k {
	case roundTripTest, remoteReadTest:
		return sized && has(averageColumn, typicalColumn)
	case oneWayStreamTest, bidirectionalStreamTest, multiPairStreamTest:
		return sized && (has(bandwidthColumn, rateColumn) || r.test.usesPrintedTime)
	}
	return has(averageColumn, maximumColumn, minimumColumn, runtimeColumn, typicalColumn)
}

// endTable is called where no more rows of a table can follow.
func (r *tableReader) endTable() {
	if r.format != nil && r.format.endTable != nil {
		r.format.endTable(r)
	}
	if r.rowsLeftOut > 0 {
		r.noteLeftOut("%s: %s (%s)", r.test.name, cmp.Or(r.test.omissionReason, "there is no timer for it"), rowCount(r.rowsLeftOut))
	}
	r.rows, r.rowsLeftOut = nil, 0
	if r.summary.RowCount > 0 {
		r.tables = append(r.tables, r.summary)
	}
	r.summary = TableSummary{}
}

// separatorLine matches lines of characters that only separate.
var separatorLine = regexp.MustCompile(`^[-=+|*_~. ` + "`" + `]+$|^` + "```" + `\w*$`)

func isSeparator(text string) bool {
	return strings.IndexByte("-=+|*_~. `", text[0]) >= 0 && separatorLine.MatchString(text)
}

// isRow says whether a line can be a row of the table.
func (r *tableReader) isRow(text string) bool {
	if r.columns[0].role == nameColumn {
		return true
	}
	return text[0] >= '0' && text[0] <= '9'
}

// collectiveRanks returns how many ranks took part in a collective operation; 0: not known.
func (r *tableReader) collectiveRanks() int {
	if r.printedRanks > 0 {
		if n := r.givenRanks; n > 0 && n != r.printedRanks {
			r.input.errorf(r.input.lineNumber, "%s of %d ranks, but --ranks says %d: leave it out", r.test.name, r.printedRanks, n)
		}
		return r.printedRanks
	}
	return cmp.Or(r.givenRanks, r.commandRanks)
}
