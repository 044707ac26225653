// Package foreign imports results of other benchmarks: it converts their outputs to data sets with
// the equivalent timers of package microbench. Import is the entry point.
//
// A Format describes the output of a tool and recognizes it by a signature. Most outputs are
// tables: a title names the test, and a line of headings gives each column a role. tableReader
// reads any such table in the log of a job, whose lines may have prefixes of a launcher. setBuilder
// collects the samples and facts of the files. Output without an equivalent timer is omitted, with
// a Note. docs/import.md lists the conversions.
package foreign

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	inputfile "github.com/loggp/loggp/model/input"
)

// Format describes the output of a tool.
type Format struct {
	Name        string // on command lines, and of the platform unless another is given
	Description string // one line for people, with the unit
	Signature   string // describes how the format is recognized

	matchesText func(text string) bool
	readFile    func(*inputText, *setBuilder) // nil: its tables are in tableFormats
}

// Formats are all formats, in the order in which they are listed.
var Formats = []*Format{&osuFormat, &imbFormat, &netgaugeFormat, &netpipeFormat, &logpMPIFormat, &skampiFormat, &prttFormat, &ncclFormat, &perftestFormat, &fabtestsFormat, &ucxFormat, &mpiBenchFormat, &reproMPIFormat, &gpcnetFormat}

// CompletionNames returns the names of all formats with their descriptions, for shell completion.
func CompletionNames() []string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name+"\t"+f.Description)
	}
	return names
}

// FormatNamed returns the format with a name, or nil.
func FormatNamed(name string) *Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Options has information that the output of a tool lacks.
type Options struct {
	Format   *Format // default: guessed, in each file
	Platform string  // default: the name of the format
	Library  string  // default: what the file says, or none
	Ranks    int     // of collective operations, if the file does not say; 0: unknown
	Place    string  // inter, intra, or two ranks such as 0-7; default inter
}

// Note says what was not imported from a file, or needs an explanation.
type Note struct{ File, Text string }

func (n Note) String() string { return n.File + ": " + n.Text }

// File is one output file.
type File struct {
	Name string // used in errors; its last element is stored in the facts
	io.Reader
}

// Report says what was imported from the files, and what was not.
type Report struct {
	Tables []TableSummary
	Notes  []Note
}

// ImportFiles reads outputs from files, as Import does.
func ImportFiles(paths []string, o Options) (*sample.Set, Report, error) {
	var files []File
	for _, path := range paths {
		f, err := inputfile.Open(path)
		if err != nil {
			return nil, Report{}, fmt.Errorf("import: %w", err)
		}
		defer f.Close()
		files = append(files, File{Name: path, Reader: f})
	}
	return Import(files, o)
}

// Import reads outputs into one set. A repeated measurement, in one file or in several, counts as
// another launch. Lines of a log that are not results are skipped, and rows that cannot be read are
// omitted; the report lists both. It fails if a format cannot be guessed, if nothing in a file can
// be used, or if a line of a format without titles has a wrong form; the error has file, line and
// column.
func Import(files []File, o Options) (*sample.Set, Report, error) {
	all := &setBuilder{launches: make(map[sample.Key]int)}
	for _, f := range files {
		c, err := readContents(f)
		if err != nil {
			return nil, Report{}, err
		}
		format := o.Format
		if format == nil {
			if format, err = guessFormat(f.Name, c.text); err != nil {
				return nil, Report{}, err
			}
		}
		if err := all.readFile(f.Name, c, format, o); err != nil {
			return nil, Report{}, err
		}
	}
	all.addRankFact()
	return &all.set, Report{all.tables, all.notes}, nil
}

// sampleColumns are the first columns of a file of samples, which needs no import.
const sampleColumns = "platform,library,clock,place,"

// guessFormat returns the only format that fits a text. Among formats with tables it returns the
// first, because one reader reads the tables of all.
func guessFormat(name, text string) (*Format, error) {
	var found []*Format
	for _, f := range Formats {
		if f.matchesText(text) {
			found = append(found, f)
		}
	}
	hasTables := func(f *Format) bool { return f.readFile == nil }
	if len(found) > 0 && !slices.ContainsFunc(found, func(f *Format) bool { return !hasTables(f) }) {
		return found[0], nil
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if hasLine(text, sampleColumns, func(line string) bool { return strings.HasPrefix(line, sampleColumns) }) {
		return nil, fmt.Errorf("%s: these are samples of loggp already: fit, compare and report take them as they are", name)
	}
	looked := Formats
	what := "not the output of a known tool"
	if len(found) > 1 {
		looked, what = found, "could be the output of several tools, name one"
	}
	var b strings.Builder
	for _, f := range looked {
		fmt.Fprintf(&b, "\n  %-10s %s", f.Name, f.Signature)
	}
	return nil, fmt.Errorf("%s: %s; this was looked for:%s", name, what, b.String())
}

// hasLine reports whether a pattern matches a line of a text. Every match contains the literal, so
// only lines with the literal are tried, up to the maximum line length.
func hasLine(text, literal string, matches func(line string) bool) bool {
	for {
		at := strings.Index(text, literal)
		if at < 0 {
			return false
		}
		begin, end := strings.LastIndexByte(text[:at], '\n')+1, len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		if line := text[begin:end]; len(line) <= maxLineBytes && matches(line) {
			return true
		}
		text = text[end:]
	}
}

// containsAny reports whether a text contains one of some words. Patterns take a microsecond per
// byte of a line, and most lines of a log have none of the words that a match needs.
func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// fileBase returns the last element of a path. It does not reveal the directory.
func fileBase(name string) string { return filepath.Base(name) }
