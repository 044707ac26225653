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
	*builder
	in   *input
	only *tableFormat // the format that was named; nil: all

	// Of the log.
	all          []*tableFormat
	ofUser       string            // library that was given by name
	library      string            // that the log names
	versions     map[string]string // of the libraries that the log names; "several" if it names two
	commandRanks int               // of the last command line
	program      string            // that it starts
	programArgs  string

	// Of the test whose rows come next.
	format        *tableFormat
	formatLibrary string // that it measures, where that is not MPI
	test          test
	printedRanks  int      // that the tool prints
	pairs         int      // of ranks that send at once
	buffers       string   // where they are, if not in host memory
	setting       string   // that tells rows from others of the same test
	columns       []column // nil: before its headings
	lastDigits    int      // fewest digits behind the point in the last column of the rows before
	rows          []tableRow
	summary       TableSummary

	buffersFact string
	imbHead     bool              // the head of IMB's output has begun
	datatypes   map[string]string // the first of each test
	elements    int               // bytes of an element
	commonStart bool              // ranks agree on a start
	operation   string            // that lines above a table name
	ucx         ucxSettings       // of ucx_perftest

	skipped  skippedLines
	leftRows int // of the table, which has no timer
}

// tableRow is a row whose meaning its table does not yet say.
type tableRow struct {
	line   int
	values rowValues
}

// readTables reads the tables of a format, or if it is nil of all.
func readTables(in *input, b *builder, only *Format) {
	r := &tableReader{builder: b, in: in, all: tableFormats, elements: 1, datatypes: map[string]string{}, ofUser: b.key.Library, versions: libraryVersions(in.text)}
	for _, f := range tableFormats {
		if f.Format == only {
			r.only = f
		}
	}
	r.read()
}

// isOf says whether the test that is read is of a format.
func (r *tableReader) isOf(f *Format) bool { return r.format != nil && r.format.Format == f }

func (r *tableReader) read() {
	for l, ok := r.in.nextLine(); ok; l, ok = r.in.nextLine() {
		r.readLine(&l)
	}
	r.endTable()
	r.skipped.report(r.builder)
}

// readLine takes a line for the first that it can be.
func (r *tableReader) readLine(l *line) {
	text := strings.TrimSpace(l.text)
	switch {
	case text == "":
	case len(l.text) > maxLineBytes:
		r.skipped.add(l.number, "(a line of more than 4096 bytes)")
	case r.readTitle(text), r.readDetail(l), r.readHeader(text), r.readCommand(text):
	case isRuled(text) || strings.HasPrefix(text, "#"): // comments and lines between
	case r.columns != nil && r.isRow(text):
		r.readRow(l)
	case r.readLibrary(text):
	default:
		r.skipped.add(l.number, text)
	}
}

// formats are those that a line may be of.
func (r *tableReader) formats() []*tableFormat {
	if r.only != nil {
		return []*tableFormat{r.only}
	}
	return r.all
}

// tablesOf returns what the tables of a format look like.
func (r *tableReader) tablesOf(f *Format) *tableFormat {
	return r.all[slices.IndexFunc(r.all, func(t *tableFormat) bool { return t.Format == f })]
}

// readTitle begins a test if a line is the title of one.
func (r *tableReader) readTitle(text string) bool {
	for _, f := range r.formats() {
		if f.title == nil {
			continue
		}
		if m := f.title.FindStringSubmatch(text); m != nil {
			r.begin(f, test{})
			f.beginTest(r, text, m)
			r.setLibrary()
			return true
		}
	}
	return false
}

// begin forgets what was known of the test before.
func (r *tableReader) begin(f *tableFormat, t test) {
	r.endTable()
	r.format, r.test, r.columns = f, t, nil
	r.printedRanks, r.pairs, r.buffers, r.setting, r.formatLibrary = 0, 1, "", "", f.library
	r.commonStart = false
	r.key.Platform = cmp.Or(r.platform, f.Name)
	r.addFact(sample.ImportedAsFact, f.Name+": "+f.Description)
	r.setLibrary()
}

// readDetail reads a line that only one tool prints.
func (r *tableReader) readDetail(l *line) bool {
	if r.format != nil && r.format.detail != nil && r.format.detail(r, l) {
		return true
	}
	for _, f := range r.formats() {
		if f != r.format && f.detail != nil && f.detail(r, l) {
			return true
		}
	}
	return false
}

// readHeader begins a table if a line is one of headings.
func (r *tableReader) readHeader(text string) bool {
	text = strings.TrimLeft(text, "# \t")
	for _, f := range r.formats() {
		if f.header == nil || !f.header.MatchString(text) {
			continue
		}
		if r.format != f {
			r.begin(f, test{})
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
	if f := r.format; r.test.name == "" || f.title == nil && f.untitled != nil {
		if r.test = (test{why: "no title above it names the test"}); f.untitled != nil {
			f.untitled(r)
		}
		r.test.name = cmp.Or(r.test.name, "a table of "+f.Name)
	}
	if r.test.kind != leftOut && !r.hasColumnsOf(r.test.kind) {
		r.test.why = "its columns " + columnNames(r.columns) + " are not those of this test"
		r.test.kind = leftOut
	}
	r.setLibrary()
	r.addTestFacts()
	r.summary = TableSummary{File: r.name, Test: r.test.name}
}

func columnNames(columns []column) string {
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
	case roundTrip, remoteRead:
		return sized && has(averageColumn, typicalColumn)
	case streamOfOne, streamOfBoth, streamOfMany:
		return sized && (has(bandwidthColumn, rateColumn) || r.test.fromTime)
	}
	return has(averageColumn, maximumColumn, minimumColumn, runtimeColumn, typicalColumn)
}

// endTable is called where no more rows of a table can follow.
func (r *tableReader) endTable() {
	if r.format != nil && r.format.endTable != nil {
		r.format.endTable(r)
	}
	if r.leftRows > 0 {
		r.noteLeftOut("%s: %s (%s)", r.test.name, cmp.Or(r.test.why, "there is no timer for it"), rowCount(r.leftRows))
	}
	r.rows, r.leftRows = nil, 0
	if r.summary.Rows > 0 {
		r.tables = append(r.tables, r.summary)
	}
	r.summary = TableSummary{}
}

// ruled are lines of characters that only separate.
var ruled = regexp.MustCompile(`^[-=+|*_~. ` + "`" + `]+$|^` + "```" + `\w*$`)

func isRuled(text string) bool {
	return strings.IndexByte("-=+|*_~. `", text[0]) >= 0 && ruled.MatchString(text)
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
		if n := r.ofUserRanks; n > 0 && n != r.printedRanks {
			r.in.errorf(r.in.last, "%s of %d ranks, but --ranks says %d: leave it out", r.test.name, r.printedRanks, n)
		}
		return r.printedRanks
	}
	return cmp.Or(r.ofUserRanks, r.commandRanks)
}
