package reports

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"lines": func(s string) []string { return strings.Split(s, "\n") },
	"cell":  cellHTML,
}).Parse(pageText))

// document is a page under way: its head, its sections, and the files that lie beside it.
type document struct {
	Title    string
	Style    template.CSS
	Lead     []string
	Keys     []fact
	Sections []section
	Footer   string

	csv    []file
	charts []*Chart
}

func newDocument(title string) document {
	return document{Title: title, Style: template.CSS(pageStyle + darkRules("svg.chart ") + "\n")}
}

// fact is one of the first things to know.
type fact struct{ Name, Value, Note string }

type section struct {
	ID, Title, Class string
	Short            string // title in the list of sections; default: Title
	Text             []string
	Charts           []chartView
	Items            []string
	Tables           []tableView
	Kinds            []kindView
	Words            []word
	Commands         []string
}

// tableView is a table with the file that it is in.
type tableView struct {
	*Table
	File   string
	Headed bool
	Long   int // rows, if they are too many to be shown at once
}

// longTable is how many rows are shown at once. A page with the numbers of a platform would be all table otherwise.
const longTable = 40

// chartView is a chart as it stands in a page, drawn for phones and, if that is not enough, for wide windows too.
type chartView struct {
	*Chart
	ID            string
	Bare          bool // the heading above is its title
	Half          bool // it stands beside another
	Picture, Wide template.HTML
}

// Widths for which charts of a page are drawn, in pixels. Phones show them a little smaller, screens side by side; a chart that
// stands alone is drawn wide too, and one that needs it as wide as a page is.
const (
	inlineWidth = 380
	halfWidth   = 660
	aloneWidth  = 760
	acrossWidth = 1100
)

type kindView struct {
	Code, Meaning string
	Cases         []caseView
}

type caseView struct {
	Subjects, Text string
}

// add adds a section. One whose ID was taken gets a number.
func (d *document) add(s section) {
	base := s.ID
	for n := 2; slices.ContainsFunc(d.Sections, func(o section) bool { return o.ID == s.ID }); n++ {
		s.ID = fmt.Sprintf("%s-%d", base, n)
	}
	d.Sections = append(d.Sections, s)
}

// tables returns tables that are not empty, and keeps each as a file.
func (d *document) tables(ts ...*Table) []tableView {
	var out []tableView
	for _, t := range ts {
		if t.rows() == 0 {
			continue
		}
		base := fileName(t.Name)
		name := base + ".csv"
		for n := 2; slices.ContainsFunc(d.csv, func(f file) bool { return f.name == name }); n++ {
			name = fmt.Sprintf("%s-%d.csv", base, n)
		}
		d.csv = append(d.csv, file{name, t.CSV})
		out = append(out, newView(t, name))
	}
	return out
}

func newView(t *Table, file string) tableView {
	v := tableView{Table: t, File: file, Headed: t.heads(Plain) != nil}
	if t.rows() > longTable {
		v.Long = t.rows()
	}
	return v
}

// warningsFile keeps warnings as a file.
func (d *document) warningsFile(ws []clean.Warning) {
	t := &Table{Name: "warnings", Columns: []Column{{Head: "platform"}, {Head: "library"}, {Head: "place"}, {Head: "mode"}, {Head: "of"}, {Head: "code"}, {Head: "text"}}}
	for _, w := range ws {
		t.add(text(w.Platform), text(w.Library), text(w.Place), text(w.Mode), text(w.Parameter), text(w.Code), text(w.Text))
	}
	d.tables(t)
}

// warningsSection shows warnings, those of a kind together.
func warningsSection(ws []clean.Warning) section {
	s := section{ID: "warnings", Title: "Warnings", Class: "warnings"}
	for _, k := range kinds(ws) {
		v := kindView{Code: k.code, Meaning: k.meaning}
		for _, c := range k.cases {
			v.Cases = append(v.Cases, caseView{c.subjects(), c.text})
		}
		s.Kinds = append(s.Kinds, v)
	}
	if len(s.Kinds) == 0 {
		s.Text = []string{"None."}
	}
	return s
}

// measured adds a section that says how each of some transports was measured, and how to measure it again: by a real clock other samples. All facts of the machines are
// in a file.
func (d *document) measured(machines []sample.Machine, all []subject, real bool) {
	x := section{ID: "run", Title: "How it was measured", Tables: d.tables(settingTable(all))}
	t := &Table{Name: "facts", Columns: []Column{{Head: "file"}, {Head: "fact"}, {Head: "value"}}}
	for _, m := range machines {
		for i, facts := range m.FactsByFile() {
			for _, f := range facts {
				if f.Key != sample.File {
					t.add(text(m.Files[min(i, len(m.Files)-1)]), text(f.Key), text(f.Value))
				}
				if f.Key == "command" && !slices.Contains(x.Commands, f.Value) {
					x.Commands = append(x.Commands, f.Value)
				}
			}
		}
	}
	d.tables(t) // as a file only
	again := "The same commands give the same samples to the last digit."
	if real {
		again = "The commands below measure again, which gives other numbers."
	}
	x.Text = []string{"All facts are in facts.csv beside this page. " + again}
	d.add(x)
}

// pictures adds a section of charts, those that there are.
func (d *document) pictures(id, title string, charts ...*Chart) {
	if views := d.halves(charts...); len(views) > 0 {
		d.add(section{ID: id, Title: title, Charts: views})
	}
}

// halves returns those of some charts that there are, one beside the other.
func (d *document) halves(charts ...*Chart) []chartView {
	var out []chartView
	for _, c := range charts {
		if c != nil {
			v := d.half(c)
			v.ID = "chart-" + v.Name
			out = append(out, v)
		}
	}
	return out
}

// views returns charts for a page, and keeps each as files. One of a name that was taken gets a number.
func (d *document) views(charts ...*Chart) []chartView {
	var out []chartView
	for _, c := range charts {
		c := *c
		base := c.Name
		for n := 2; slices.ContainsFunc(d.charts, func(o *Chart) bool { return o.Name == c.Name }); n++ {
			c.Name = fmt.Sprintf("%s-%d", base, n)
		}
		d.charts = append(d.charts, &c)
		out = append(out, chartView{Chart: &c, ID: c.Name, Picture: template.HTML(c.inline(inlineWidth, "chart"))})
	}
	return out
}

// half returns a chart that takes half the width of a page where it is wide.
func (d *document) half(c *Chart) chartView {
	v := d.inTwoWidths(c, halfWidth, "chart wide half")
	v.Half = true
	return v
}

// alone returns a chart that stands alone.
func (d *document) alone(c *Chart) chartView { return d.inTwoWidths(c, aloneWidth, "chart wide") }

// across returns a chart that takes all the width of a page.
func (d *document) across(c *Chart) chartView {
	return d.inTwoWidths(c, acrossWidth, "chart wide across")
}

func (d *document) inTwoWidths(c *Chart, width int, class string) chartView {
	v := d.views(c)[0]
	v.Picture = template.HTML(v.inline(inlineWidth, "chart slim"))
	v.Wide = template.HTML(v.inline(width, class))
	return v
}

// files writes what belongs into the directory.
func (d *document) files(add func(name string, write func(io.Writer) error) error) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, d); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	all := append([]file{{"index.html", func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }}}, d.csv...)
	for _, c := range d.charts {
		all = append(all,
			file{c.Name + ".png", func(w io.Writer) error { return c.PNG(w, Width) }},
			file{c.Name + ".svg", func(w io.Writer) error { return c.SVG(w, Width) }})
	}
	for _, f := range all {
		if err := add(f.name, f.write); err != nil {
			return err
		}
	}
	return nil
}

// cellHTML returns a cell of a table. What says what a row is about heads it.
func cellHTML(t tableView, column int, c Cell) template.HTML {
	element, class := "td", []string{}
	col := t.Columns[column]
	attributes := ""
	if t.Cards {
		attributes = ` data-head="` + template.HTMLEscapeString(flat(col.Head)) + `"`
		if column == 0 {
			attributes += ` id="` + template.HTMLEscapeString(c.Text) + `"`
		}
	}
	if col.Key {
		element, attributes = "th", attributes+` scope="row"`
	}
	if col.Right {
		class = append(class, "num")
	}
	if col.Wrap {
		class = append(class, "wrap")
	}
	s := c.Text
	switch c.Tone {
	case Strong:
		class = append(class, "strong")
	case Faint:
		class = append(class, "faint")
	case Good:
		class = append(class, "good")
	case Bad:
		class = append(class, "bad")
	case Doubt:
		class = append(class, "doubt")
		s += doubt
	}
	if len(class) > 0 {
		attributes += ` class="` + strings.Join(class, " ") + `"`
	}
	return template.HTML("<" + element + attributes + ">" + strings.ReplaceAll(template.HTMLEscapeString(s), "\n", "<br>") + "</" + element + ">")
}
