// Package doc is what a report says, before it is decided how it is shown: a document of sections
// with text, tables, charts, lists and warnings. A report family builds one document from its
// values; package render writes it as text for a terminal, as an HTML page with files beside it, as
// CSV and as JSON. Nothing here knows how wide a line is or what colour a cell has.
package doc

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/reports/chart"
)

// Document is a report.
type Document struct {
	Title        string
	Answer       string      // the first sentence: what a reader wants to know
	FrontFigures []Figure    // the charts that show it, on the first screen of a page
	Introduction []string    // what was done, in a few sentences
	KeyNumbers   []KeyNumber // the numbers that a reader asks for first
	Sections     []Section
	Footer       string // of a page
	Files        []File // files beside a page, such as parameters.csv; the first is what the document is as CSV
}

// KeyNumber is a number that a reader asks for first.
type KeyNumber struct {
	Name  string   `json:"name"`
	Value string   `json:"value"`
	Note  string   `json:"note,omitempty"`
	Tone  CellTone `json:"-"` // of the value

	IsTrust bool `json:"-"` // it says how far to trust the answer, and stands beside that
}

// File is data beside a page.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Section is a part of a document. An empty one is not added.
type Section struct {
	ID, Title  string
	ShortTitle string // title in the list of sections; default: Title
	IsFolded   bool   // a page shows it when the reader unfolds it
	PageOnly   bool   // it is for pages; a terminal shows the rest of the document

	Text     []string // paragraphs
	Items    []string // a list
	Figures  []Figure
	Tables   []*Table
	Warnings []Warning
	Terms    []Term
	Commands []string
}

// Figure is a chart in a section.
type Figure struct {
	*chart.Chart
	Width FigureWidth
}

// FigureWidth is how much room a chart has in a page. Each is drawn for phones too.
type FigureWidth uint8

// The widths.
const (
	ColumnWidth FigureWidth = iota // one of several columns
	HalfWidth                      // half of the page
	SingleWidth                    // no other chart beside it
	FullWidth                      // all the width of the page
)

// Figures returns charts of one width. A nil chart is left out.
func Figures(w FigureWidth, charts ...*chart.Chart) []Figure {
	var out []Figure
	for _, c := range charts {
		if c != nil {
			out = append(out, Figure{c, w})
		}
	}
	return out
}

// Warning is a kind of warnings: a reason to doubt some results, and which results it concerns.
type Warning struct {
	Code    string        `json:"code"`    // few-sizes
	Meaning string        `json:"meaning"` // what it means, and what to do
	Count   int           `json:"count"`   // how many results it concerns
	IsNote  bool          `json:"note"`    // results can be used as they are
	Cases   []WarningCase `json:"cases"`
}

// WarningCase is what is said in the same words of one or several results.
type WarningCase struct {
	Subjects string `json:"subjects"`
	Text     string `json:"text,omitempty"`
}

// String says it in a sentence.
func (c WarningCase) String() string {
	if c.Text == "" {
		return c.Subjects
	}
	return c.Subjects + ": " + c.Text
}

// Term is an entry of a glossary.
type Term struct{ Name, Meaning string }

// AddSection adds a section with its tables that have rows, unless it is empty. One whose ID was
// taken gets a number.
func (d *Document) AddSection(s Section) {
	s.Tables = slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t == nil || t.CountRows() == 0 })
	if len(s.Text)+len(s.Items)+len(s.Figures)+len(s.Tables)+len(s.Warnings)+len(s.Terms)+len(s.Commands) == 0 {
		return
	}
	base := s.ID
	for n := 2; slices.ContainsFunc(d.Sections, func(o Section) bool { return o.ID == s.ID }); n++ {
		s.ID = fmt.Sprintf("%s-%d", base, n)
	}
	d.Sections = append(d.Sections, s)
}

// FoldAllBut folds all sections but those with the given IDs: what only some readers look for.
func (d *Document) FoldAllBut(unfolded ...string) {
	for i := range d.Sections {
		d.Sections[i].IsFolded = !slices.Contains(unfolded, d.Sections[i].ID)
	}
}

// MinSoundShare is the share of sound numbers from which on they are sound together.
const MinSoundShare = 2.0 / 3

// EmulationTrust says how far to trust the times of emulated machines, and what else there is to
// say of it.
func EmulationTrust(notes ...string) KeyNumber {
	note := strings.Join(append([]string{"times are only as good as the platform's numbers ('loggp platforms show NAME' has their sources)"}, notes...), "; ")
	return KeyNumber{Name: "Trust", Value: "emulated", Note: note, IsTrust: true}
}

// AddTables adds a section of tables alone.
func (d *Document) AddTables(id, title string, tables ...*Table) {
	d.AddSection(Section{ID: id, Title: title, Tables: tables})
}
