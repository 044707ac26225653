package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
)

// Report is what a page shows. Only Result must be there.
type Report struct {
	Title       string               // default: of the platforms and libraries
	Samples     *sample.Set          // for its facts, and what was run
	Result      *fit.Result          // parameters, curves, warnings
	Comparisons []compare.Comparison // predictions beside measurements
	Contrast    *compare.Contrast    // of the platforms, libraries and places of the samples; of one it has overlaps only
	Platforms   []*platform.Platform // those of the samples that are known, for what their numbers stand on
	Published   Published            // of any platforms
	Charts      []*Chart             // more of them, such as time lines
}

// Page writes a page on a report into a directory: index.html, which needs nothing else, the tables as CSV and the charts as PNG
// and SVG. The same report gives the same bytes. The directory is made whole or not at all. One that exists is replaced if it is empty
// or holds nothing but what Page wrote there, otherwise it is an error.
func Page(dir string, r Report) error {
	p := newPage(r)
	return replace(dir, p.files)
}

// page is the page on a report under way.
type page struct {
	document
	report Report
	places []*place
}

func newPage(r Report) *page {
	p := &page{document: newDocument(r.Title), report: r, places: places(r.Result)}
	p.Footer = "Made by loggp from the facts and samples above."
	if p.Title == "" {
		var names []string
		for _, x := range p.places {
			names = append(names, where(x.platform, x.library, ""))
		}
		p.Title = "Communication performance of " + strings.Join(slices.Compact(names), "; ")
	}
	p.summary()
	p.parameters()
	p.contrast()
	p.pictures()
	p.comparisons()
	p.published()
	p.warnings()
	p.platforms()
	p.run()
	p.add(section{ID: "glossary", Title: "What the words mean", Words: glossary})
	return p
}

// summary is what stands above all.
func (p *page) summary() {
	var modes, warnings int
	for _, x := range p.places {
		modes += len(x.modes())
	}
	warnings = len(p.report.Result.Warnings)
	if s := p.report.Samples; s != nil {
		p.Lead = append(p.Lead, ran(s))
	}
	for _, x := range p.places {
		for _, r := range x.rows {
			if r.Unit == params.Count {
				p.Keys = append(p.Keys, fact{r.Name, cell(&Table{}, &r).Text, map[string]string{"H": "groups of ranks", "P": "ranks of a group"}[r.Name] + ", " + x.String()})
			}
		}
	}
	for _, x := range p.places {
		p.Keys = append(p.Keys, x.keys(len(p.places) > 1)...)
	}
	p.Keys = append(p.Keys, fact{"warnings", fmt.Sprint(warnings), map[bool]string{true: "none: nothing looked doubtful", false: "see below what they concern"}[warnings == 0]})
}

// ran says what was run.
func ran(s *sample.Set) string {
	var platforms, libraries, clocks, modes, protocols []string
	var sizes []int
	see := func(list *[]string, x string) {
		if x != "" && !slices.Contains(*list, x) {
			*list = append(*list, x)
		}
	}
	launches := 0
	for _, x := range s.Series {
		see(&platforms, x.Platform)
		see(&libraries, x.Library)
		see(&clocks, x.Clock)
		see(&modes, x.Mode)
		see(&protocols, x.Protocol)
		sizes = append(sizes, x.Bytes)
		launches = max(launches, x.Launch+1)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	text := fmt.Sprintf("Platform %s, library %s, %s clock. %d samples of %s at %d sizes", strings.Join(platforms, ", "), strings.Join(libraries, ", "),
		strings.Join(clocks, " and "), s.Rows(), strings.Join(modes, ", "), len(sizes))
	if len(sizes) > 0 {
		text += " from " + between(sizes[0], sizes[len(sizes)-1])
	}
	if len(protocols) > 0 {
		text += ", protocol " + strings.Join(protocols, ", ")
	}
	if launches > 1 {
		text += fmt.Sprintf(", in %d launches", launches)
	}
	return text + "."
}

// keys are the parameters that one asks for first.
func (p *place) keys(named bool) []fact {
	var out []fact
	note := func(s string) string {
		if named {
			return s + ", " + p.String()
		}
		return s
	}
	t := &Table{}
	for _, q := range []struct{ name, mode string }{{"o_s", "isend"}, {"o_s", "send"}, {"o_r", "send"}, {"o_s", "message"}, {"o_r", "message"}} {
		for _, k := range p.sizes() {
			if c := p.overhead(t, q.mode, q.name, k); c != none {
				out = append(out, fact{q.name + " " + q.mode, c.marked("us"), note(size(k))})
			}
		}
		if len(out) >= 6 {
			break
		}
	}
	for _, mode := range []string{"ssend", "message"} {
		if x := p.first(mode, "L"); x != nil {
			out = append(out, fact{"L", cell(t, x).marked("us"), note(mode + ", an upper bound")})
			break
		}
	}
	for _, mode := range []string{"send", "message"} {
		if x := p.first(mode, "G"); x != nil {
			out = append(out, fact{"1/G", rate(t, x).marked("MB/s"), note(mode)})
			break
		}
	}
	return out
}

// marked returns a number with its unit, and a mark if it is weak.
func (c Cell) marked(unit string) string {
	if c.Tone == Doubt {
		unit += " " + doubt
	}
	return c.Text + " " + unit
}

func (p *page) parameters() {
	s := section{ID: "parameters", Title: "Parameters by mode"}
	tiers := section{ID: "tiers", Title: "Tiers", Text: []string{"Which ranks are near each other, found from the times of all pairs: nothing else was known of the machine."}}
	for _, x := range p.report.Result.Tiers {
		tiers.Tables = append(tiers.Tables, p.tables(tiersTable(x))...)
		tiers.Charts = append(tiers.Charts, p.views(Matrix(x))...)
	}
	if len(tiers.Tables) > 0 {
		p.add(tiers)
	}
	pieces := section{ID: "ranges", Title: "Ranges of sizes", Text: []string{
		"Overheads are fitted by a straight line over each range of sizes; where a range ends, something changes, such as the protocol. What is marked ! is not on a line, or rests on too little. Nobody knows what is between the last size of a range and the first of the next."}}
	p.csv = append(p.csv, file{"parameters.csv", func(w io.Writer) error { return params.WriteParameters(w, p.report.Result.Parameters) }})
	for _, x := range p.places {
		t := x.parameters()
		t.Name = "parameters-by-mode"
		s.Tables = append(s.Tables, p.tables(t)...)
		pieces.Tables = append(pieces.Tables, p.tables(x.pieces())...)
	}
	s.Text = []string{"All parameters with their intervals and methods are in parameters.csv beside this page."}
	p.add(s)
	if len(pieces.Tables) > 0 {
		p.add(pieces)
	}
}

func (p *page) pictures() {
	s := section{ID: "charts", Title: "Charts"}
	s.Charts = p.views(append(Charts(p.report.Result, p.report.Comparisons), p.report.Charts...)...)
	if len(s.Charts) > 0 {
		p.add(s)
	}
}

// contrast shows subjects side by side if there are several, and of any number where calls that do not block pay.
func (p *page) contrast() {
	c := p.report.Contrast
	if c == nil {
		return
	}
	p.csv = append(p.csv, file{"contrast.csv", func(w io.Writer) error { return compare.WriteContrast(w, c) }})
	if ts := p.tables(sizedTable(c, nil), parameterTable(c), rivalryTable(c)); len(ts) > 0 {
		p.add(section{ID: "contrast", Title: "Side by side", Tables: ts, Text: []string{"All common sizes, with intervals, are in contrast.csv beside this page."}})
	}
	if ts := p.tables(overlapTable(c)); len(ts) > 0 {
		p.add(section{ID: "overlap", Title: "Where non-blocking calls pay", Tables: ts})
	}
}

func (p *page) comparisons() {
	if len(p.report.Comparisons) == 0 {
		return
	}
	p.csv = append(p.csv, file{"comparisons.csv", func(w io.Writer) error { return compare.WriteComparisons(w, p.report.Comparisons) }})
	s := section{ID: "comparisons", Title: "Predicted and measured times"}
	var of []compare.Comparison // of protocols, which are asked for first
	var others []compare.Comparison
	for _, c := range p.report.Comparisons {
		if q, _, _ := strings.Cut(c.Quantity, "("); q == sample.Sender || q == sample.OneWay {
			of = append(of, c)
		} else {
			others = append(others, c)
		}
	}
	for _, t := range comparisonTables(of) {
		t.Name, t.Title = "comparisons-protocols", strings.Replace(t.Title, "times", "times of protocols", 1)
		s.Tables = append(s.Tables, p.tables(t)...)
	}
	for _, t := range comparisonTables(others) {
		t.Name = "comparisons-modes"
		s.Tables = append(s.Tables, p.tables(t)...)
	}
	p.add(s)
}

func (p *page) published() {
	s := section{ID: "published", Title: "Published and measured"}
	for _, x := range p.places {
		s.Tables = append(s.Tables, p.tables(x.against(p.report.Published, p.known(x.platform)))...)
	}
	if len(s.Tables) > 0 {
		p.add(s)
	}
}

// known returns the platform of the name, or nil.
func (p *page) known(name string) *platform.Platform {
	for _, x := range p.report.Platforms {
		if x.Machine.Name == name {
			return x
		}
	}
	return nil
}

func (p *page) warnings() {
	p.warningsFile(p.report.Result.Warnings)
	p.add(warningsSection(p.report.Result.Warnings))
}

func (p *page) platforms() {
	if len(p.report.Platforms) == 0 {
		return
	}
	s := section{ID: "platforms", Title: "What the platform's numbers stand on"}
	for _, x := range p.report.Platforms {
		s.Tables = append(s.Tables, p.tables(overview(x))...)
		for _, l := range x.Libraries {
			for _, t := range libraryTables(l) {
				t.Name = strings.TrimSuffix(t.Name, l.Name) + x.Machine.Name + "-" + l.Name
				s.Tables = append(s.Tables, p.tables(t)...)
			}
		}
		s.Tables = append(s.Tables, p.tables(numberTable(x), referenceTable(x))...)
	}
	p.add(s)
}

// run says how the samples came about, and how to get them again.
func (p *page) run() {
	if p.report.Samples == nil || len(p.report.Samples.Facts) == 0 {
		return
	}
	t := &Table{Name: "facts", Columns: []Column{{Head: "fact", Key: true}, {Head: "value", Wrap: true}}}
	s := section{ID: "run", Title: "Where the samples are from"}
	again := section{ID: "again", Title: "How to get the same again"}
	for _, f := range p.report.Samples.Facts {
		if f.Key == sample.File {
			t.group(f.Value)
		}
		t.add(text(f.Key), text(f.Value))
		if f.Key == "command" {
			again.Commands = append(again.Commands, f.Value)
		}
	}
	s.Tables = p.tables(t)
	p.add(s)
	if len(again.Commands) > 0 {
		again.Text = []string{"On an emulated platform the same command gives the same samples to the last digit. On a real machine it measures again."}
		p.add(again)
	}
}
