package render

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// Script is what pages can do with their charts, in ECMAScript. Without it they show the same.
//
//go:embed page.js
var Script string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"lines": func(s string) []string { return strings.Split(s, "\n") },
	"cell":  cellHTML,
	"lower": func(s string) string { return strings.ToLower(s[:1]) + s[1:] },
	"tone":  func(t doc.CellTone) string { return toneClass[t] },
}).Parse(pageText))

// WritePage writes a document as a page into a directory: index.html, which needs no other file,
// the tables as WriteCSV, the charts as PNG and SVG, and the files of the document. The directory
// is made whole or not at all. One that exists is replaced if it is empty or holds nothing but what
// WritePage wrote there, otherwise it is an error.
func WritePage(dir string, d *doc.Document) error {
	return ReplaceDirectory(dir, newPage(d).writeFiles)
}

// renderedPage is a document with its charts drawn and its tables named by files.
type renderedPage struct {
	*doc.Document
	Style        template.CSS
	Script       template.JS
	FrontFigures []*drawnFigure // not those of the document, but drawn
	Trust        []doc.KeyNumber
	Cards        []doc.KeyNumber // the other key numbers
	Sections     []renderedSection

	files    []doc.File
	charts   []*chart.Chart
	rowCount int // of all tables
}

type renderedSection struct {
	doc.Section
	Figures []drawnFigure
	Tables  []tableView
}

// tableView is a table with the file that has its numbers.
type tableView struct {
	*doc.Table
	FoldedRows int  // rows, if they are too many to be shown at once
	IsUntitled bool // a heading above is its title
	RowStep    int  // of which every so many-th is in the page; 0: all are
}

// longTableRows is how many rows are shown unless the reader unfolds the table. A page with the
// numbers of a platform would be all table otherwise. If the tables of a page have more than
// maxRows together, its long ones have only some of their rows there: files have all.
const (
	longTableRows = 24
	maxRows       = 2000
)

// drawnFigure is a chart, drawn for phones and, if that is not enough, for wide windows too.
type drawnFigure struct {
	doc.Figure
	ID                        string
	IsUntitled                bool // the heading above is its title
	Class                     string
	PhonePicture, WidePicture template.HTML
}

// Charts of a page are drawn for phones, which show them a little smaller, and wider by their
// place; width 0: not wider.
const phoneWidth = 380

var figureWidths = map[doc.FigureWidth]struct {
	width   int
	class   string
	classes string // of the wide picture
}{
	doc.ColumnWidth: {},
	doc.HalfWidth:   {660, "", "chart wide half"},
	doc.SingleWidth: {760, "alone", "chart wide"},
	doc.FullWidth:   {1100, "alone", "chart wide across"},
}

func newPage(d *doc.Document) *renderedPage {
	p := &renderedPage{Document: d, Style: template.CSS(pageStyle + chart.DarkStyleRules("svg.chart ") + "\n"), Script: template.JS(Script), files: slices.Clone(d.Files)}
	for _, s := range d.Sections {
		for _, t := range s.Tables {
			p.rowCount += t.CountRows()
		}
	}
	for _, k := range d.KeyNumbers {
		if k.IsTrust {
			p.Trust = append(p.Trust, k)
		} else {
			p.Cards = append(p.Cards, k)
		}
	}
	for _, f := range d.FrontFigures {
		drawn := p.addFigure(f, "")
		p.FrontFigures = append(p.FrontFigures, &drawn)
	}
	for _, s := range d.Sections {
		x := renderedSection{Section: s}
		for _, f := range s.Figures {
			x.Figures = append(x.Figures, p.addFigure(f, s.Title))
		}
		for _, t := range s.Tables {
			v := p.addTable(t)
			v.IsUntitled = t.Title == s.Title || t.Title == d.Title
			x.Tables = append(x.Tables, v)
		}
		p.Sections = append(p.Sections, x)
	}
	figures := slices.Clone(p.FrontFigures)
	for i := range p.Sections {
		for j := range p.Sections[i].Figures {
			figures = append(figures, &p.Sections[i].Figures[j])
		}
	}
	clean.RunParallel(len(figures), func(i int) { figures[i].drawChart() })
	return p
}

// addFigure draws a chart and keeps it as a file. One of a name that was taken gets a number.
func (p *renderedPage) addFigure(f doc.Figure, heading string) drawnFigure {
	c := *f.Chart
	base := c.Name
	for n := 2; slices.ContainsFunc(p.charts, func(o *chart.Chart) bool { return o.Name == c.Name }); n++ {
		c.Name = fmt.Sprintf("%s-%d", base, n)
	}
	p.charts = append(p.charts, &c)
	at := figureWidths[f.Width]
	out := drawnFigure{Figure: doc.Figure{Chart: &c, Width: f.Width}, ID: "chart-" + c.Name, IsUntitled: c.Title == heading || c.Title == p.Title, Class: at.class}
	return out
}

// drawChart draws a chart for the page.
func (f *drawnFigure) drawChart() {
	at := figureWidths[f.Width]
	if at.width == 0 {
		f.PhonePicture = template.HTML(f.InlineSVG(phoneWidth, "chart"))
		return
	}
	f.PhonePicture, f.WidePicture = template.HTML(f.InlineSVG(phoneWidth, "chart slim")), template.HTML(f.InlineSVG(at.width, at.classes))
}

// addTable names a table's file, and keeps it unless the document has it.
func (p *renderedPage) addTable(t *doc.Table) tableView {
	v := tableView{Table: t}
	if t.File == "" {
		x := *t
		base := format.FileName(t.Name)
		x.File = base + ".csv"
		for n := 2; slices.ContainsFunc(p.files, func(f doc.File) bool { return f.Name == x.File }); n++ {
			x.File = fmt.Sprintf("%s-%d.csv", base, n)
		}
		p.files = append(p.files, doc.File{Name: x.File, Write: func(w io.Writer) error { return WriteTableCSV(w, &x) }})
		v.Table = &x
	}
	if t.CountRows() > longTableRows {
		v.FoldedRows = t.CountRows()
		if p.rowCount > maxRows {
			v.RowStep = (t.CountRows() + longTableRows - 1) / longTableRows
		}
	}
	return v
}

// ShownGroups returns the rows that the page has, by groups.
func (v tableView) ShownGroups() []doc.Group {
	if v.RowStep < 2 {
		return v.Groups
	}
	var out []doc.Group
	row := 0
	for _, g := range v.Groups {
		some := doc.Group{Name: g.Name}
		for _, r := range g.Rows {
			if row%v.RowStep == 0 || row == v.FoldedRows-1 {
				some.Rows = append(some.Rows, r)
			}
			row++
		}
		if len(some.Rows) > 0 {
			out = append(out, some)
		}
	}
	return out
}

// StepOrdinal returns a number as in every 5th.
func (v tableView) StepOrdinal() string {
	switch {
	case v.RowStep == 2:
		return "second"
	case v.RowStep == 3:
		return "third"
	case v.RowStep%10 == 1 && v.RowStep%100 != 11:
		return fmt.Sprint(v.RowStep, "st")
	case v.RowStep%10 == 2 && v.RowStep%100 != 12:
		return fmt.Sprint(v.RowStep, "nd")
	case v.RowStep%10 == 3 && v.RowStep%100 != 13:
		return fmt.Sprint(v.RowStep, "rd")
	}
	return fmt.Sprint(v.RowStep, "th")
}

// writeFiles writes what belongs into the directory.
func (p *renderedPage) writeFiles(add func(name string, write func(io.Writer) error) error) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	all := append([]doc.File{{Name: "index.html", Write: func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }}}, p.files...)
	drawn := make([][2]bytes.Buffer, len(p.charts))
	failed := make([]error, len(p.charts))
	clean.RunParallel(len(p.charts), func(i int) {
		c := p.charts[i]
		failed[i] = errors.Join(c.PNG(&drawn[i][0], chart.DefaultWidth), c.SVG(&drawn[i][1], chart.DefaultWidth))
	})
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for i, c := range p.charts {
		for j, kind := range []string{".png", ".svg"} {
			all = append(all, doc.File{Name: c.Name + kind, Write: func(w io.Writer) error { _, err := w.Write(drawn[i][j].Bytes()); return err }})
		}
	}
	for _, f := range all {
		if err := add(f.Name, f.Write); err != nil {
			return err
		}
	}
	return nil
}

var toneClass = map[doc.CellTone]string{doc.StrongTone: "strong", doc.FaintTone: "faint", doc.GoodTone: "good", doc.BadTone: "bad", doc.DoubtfulTone: "doubt", doc.BlindTone: "blind"}

// cellHTML returns a cell of a table. A cell that says what its row is about heads it.
func cellHTML(t tableView, column int, c doc.Cell) template.HTML {
	element, attributes, class := "td", "", []string{}
	col := t.Columns[column]
	if t.RowsAsCards {
		attributes = ` data-head="` + template.HTMLEscapeString(format.SingleLine(col.Heading)) + `"`
		if column == 0 {
			attributes += ` id="` + template.HTMLEscapeString(c.Text) + `"`
		}
	}
	if col.IsKey {
		element, attributes = "th", attributes+` scope="row"`
	}
	switch col.Kind {
	case doc.NumberColumn:
		class = append(class, "num")
	case doc.ProseColumn:
		class = append(class, "wrap")
	}
	if s := toneClass[c.Tone]; s != "" {
		class = append(class, s)
	}
	s := c.Text
	if c.Tone == doc.DoubtfulTone {
		s += doc.WeakMark
	}
	if len(class) > 0 {
		attributes += ` class="` + strings.Join(class, " ") + `"`
	}
	return template.HTML("<" + element + attributes + ">" + strings.ReplaceAll(template.HTMLEscapeString(s), "\n", "<br>") + "</" + element + ">")
}
