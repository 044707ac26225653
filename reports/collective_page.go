package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
)

// CollectivePage writes a page on collective operations into a directory: index.html, which needs nothing else, the tables as CSV, and the charts as PNG and SVG.
// The same report gives the same bytes. The directory is made whole or not at all, as by Page.
func CollectivePage(dir string, r *CollectiveReport) error {
	return replace(dir, newCollectivePage(r).files)
}

// WriteCollectives writes what stands in tables on the page, and how far to trust it.
func WriteCollectives(w io.Writer, r *CollectiveReport, style Style) error {
	all := r.subjects()
	out := &writer{w: w, style: style}
	for i := range all {
		out.tables(r.fastest(i, all[i].name)...)
	}
	out.tables(r.sides()...)
	for i := range all {
		out.tables(r.model(i, all[i].name)...)
	}
	for i := range all {
		out.tables(r.times(i, "")...)
	}
	out.tables(settingTable(all))
	out.list("How far to trust it", append(r.trust(all), r.Unknown...))
	out.doubts(r.doubts())
	return out.err
}

// tables writes tables, those that are not empty.
func (a *writer) tables(ts ...*Table) {
	for _, t := range ts {
		if t != nil && t.rows() > 0 {
			a.table(t)
		}
	}
}

// collectivePage is the page under way.
type collectivePage struct {
	document
	*CollectiveReport
	all []subject
}

func newCollectivePage(r *CollectiveReport) *document {
	p := &collectivePage{newDocument(r.Title), r, r.subjects()}
	p.document.Footer = "Made by loggp from the samples and facts above."
	if p.document.Title == "" {
		var names []string
		for _, x := range p.all {
			names = append(names, x.name)
		}
		p.document.Title = "Collective operations measured: " + strings.Join(names, ", ")
	}
	if words := machineWords(p.all); words != "" {
		p.Lead = append(p.Lead, words)
	}
	p.Lead, p.Keys = append(p.Lead, p.ran()), p.keys(p.all)
	p.Keys = append(p.Keys, fact{"warnings", fmt.Sprint(len(p.Warnings)), map[bool]string{true: "none: no time looked doubtful", false: "see below what they concern"}[len(p.Warnings) == 0]})
	p.add(section{ID: "trust", Title: "How far to trust it", Short: "Trust", Items: p.trust(p.all)})
	var ts []*Table
	for i, x := range p.all {
		ts = append(ts, p.fastest(i, x.name)...)
	}
	p.shown(section{ID: "fastest", Title: "Which algorithm is the fastest", Short: "Fastest", Tables: p.tables(ts...)})
	p.shown(section{ID: "side-by-side", Title: "Side by side", Charts: p.halves(p.contestCharts(p.all)...), Tables: p.tables(p.sides()...)})
	p.model()
	for _, operation := range p.operations() {
		p.operation(operation)
	}
	p.csv = append(p.csv, file{"times.csv", func(w io.Writer) error { return compare.WriteCollectives(w, slices.Concat(p.Times...)) }})
	p.warningsFile(p.Warnings)
	p.add(doubtsSection(p.doubts()))
	p.measured(p.Machines, p.all, p.real())
	p.add(section{ID: "glossary", Title: "What the words mean", Words: collectiveWords})
	return &p.document
}

// shown adds a section unless there is nothing in it.
func (d *document) shown(s section) {
	if len(s.Charts)+len(s.Tables) > 0 {
		d.add(s)
	}
}

// fastest are the tables that say which algorithm of an entrant is the fastest.
func (r *CollectiveReport) fastest(entrant int, name string) []*Table {
	fs := compare.FastestOf(r.Times[entrant])
	ts := r.told(entrant, fastestTables(fs))
	if t := byRanks(name, fs); t != nil {
		ts = append([]*Table{t}, ts...)
	}
	return ts
}

// times are the tables of what an operation took, or of all.
func (r *CollectiveReport) times(entrant int, operation string) []*Table {
	cs := r.Times[entrant]
	if operation != "" {
		cs = only(cs, operation, 0)
	}
	return r.told(entrant, timesTables(cs))
}

// told returns tables of an entrant, with its name in their titles if another is of the same library.
func (r *CollectiveReport) told(entrant int, ts []*Table) []*Table {
	e := r.Entrants[entrant]
	for i, x := range r.Entrants {
		if i != entrant && x.Platform == e.Platform && x.Library == e.Library {
			for _, t := range ts {
				t.Title += " (" + e.Name + ")"
			}
			break
		}
	}
	return ts
}

// sides is the table of entrants side by side.
func (r *CollectiveReport) sides() []*Table {
	if len(r.Contests) == 0 {
		return nil
	}
	return []*Table{contestTable(r.Entrants, r.Contests)}
}

// model is the table that says how good the model of an entrant is.
func (r *CollectiveReport) model(entrant int, name string) []*Table {
	ms := compare.ModelledOf(r.Times[entrant])
	if len(ms) == 0 {
		return nil
	}
	return []*Table{modelTable(name, ms)}
}

// model says how good it is, and why there is none.
func (p *collectivePage) model() {
	s := section{ID: "model", Title: "Model and measurement", Items: p.Unknown}
	for i, x := range p.all {
		s.Tables = append(s.Tables, p.tables(p.CollectiveReport.model(i, x.name)...)...)
	}
	if s.Text = []string{"Below, each algorithm has its errors beside its times."}; len(s.Tables) == 0 {
		s.Text = []string{"There is no model of what was measured."}
	}
	p.add(s)
}

// operation shows what one operation took.
func (p *collectivePage) operation(operation string) {
	s := section{ID: "of-" + fileName(operation), Title: operation}
	var charts []*Chart
	var ts []*Table
	several := false
	for i, x := range p.all {
		cs := only(p.Times[i], operation, 0)
		if len(cs) == 0 {
			continue
		}
		ranks := ranksOf(cs)
		several = several || len(ranks) > 1
		charts = append(charts, algorithmCharts(x.name, only(cs, operation, slices.Max(ranks)))...)
		charts = append(charts, fastestChart(x.name, cs))
		ts = append(ts, p.times(i, operation)...)
	}
	if s.Charts, s.Tables = p.halves(charts...), p.tables(ts...); several && len(s.Charts) > 0 {
		s.Text = []string{"Charts of algorithms are of the most ranks; tables have all."}
	}
	p.add(s)
}
