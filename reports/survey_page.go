package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
)

// SurveyPage writes a page on a survey into a directory: index.html, which needs nothing else, the tables as CSV, all parameters of each machine, and the charts
// as PNG and SVG. The same survey gives the same bytes. The directory is made whole or not at all, as by Page.
func SurveyPage(dir string, s *Survey) error {
	return replace(dir, newSurveyPage(s).files)
}

// surveyPage is the page under way.
type surveyPage struct {
	document
	of  *Survey
	all []subject
}

func newSurveyPage(s *Survey) *document {
	p := &surveyPage{newDocument(s.Title), s, s.subjects()}
	p.Footer = "Made by loggp from the samples and facts above."
	p.head()
	p.add(section{ID: "trust", Title: "How far to trust it", Short: "Trust", Items: s.trust(p.all)})
	p.parameters()
	p.pictures("ways", "Half round trips and bandwidth", s.ways(p.all), s.rates(p.all))
	p.pictures("overheads", "Overheads", s.overheads(p.all, "o_s"), s.overheads(p.all, "o_r"))
	p.overlap()
	p.spread()
	p.doubts()
	p.byMode()
	p.run()
	p.add(section{ID: "glossary", Title: "What the words mean", Words: glossary})
	return &p.document
}

// head is what stands above all: what was measured, and two numbers of each transport.
func (p *surveyPage) head() {
	var names, modes []string
	var sizes []int
	samples := 0
	for i, x := range p.all {
		names = append(names, x.name)
		for _, m := range p.of.Fit.Subjects[i].Modes {
			if !slices.Contains(modes, m) {
				modes = append(modes, m)
			}
		}
		sizes = append(sizes, p.of.Fit.Subjects[i].Sizes...)
	}
	for _, m := range p.of.Machines {
		samples += m.Rows()
	}
	if p.Title == "" {
		p.Title = "Message passing measured: " + strings.Join(names, ", ")
	}
	if words := machineWords(p.all); words != "" {
		p.Lead = append(p.Lead, words)
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("%d samples of %s at %d sizes from %s.", samples, strings.Join(modes, ", "), len(sizes), between(sizes[0], sizes[len(sizes)-1])))
	}
	for i, x := range p.all {
		p.Keys = append(p.Keys, p.keys(i, x.name)...)
	}
}

// keys are the two numbers that one asks for first.
func (p *surveyPage) keys(i int, name string) []fact {
	var out []fact
	for _, x := range p.of.Fit.Standings {
		if x.Quantity != compare.OneWay && x.Quantity != compare.Achieved || x.Mode != p.all[i].main() {
			continue
		}
		for _, r := range x.Of {
			if r.Subject == i {
				in := scaleOf(x.Unit, r.Value)
				q := in.of(r.Parameter)
				out = append(out, fact{name, cell(&Table{}, &q).marked(in.unit), quantityWords(x.Quantity, x.Mode, r.From)})
			}
		}
	}
	return out
}

func (p *surveyPage) parameters() {
	p.add(section{ID: "parameters", Title: "Parameters", Tables: p.tables(p.of.standings(p.all))})
}

func (p *surveyPage) overlap() {
	x := section{ID: "overlap", Title: "Where non-blocking calls pay", Charts: p.views(p.of.overlaps(p.all)...), Tables: p.tables(p.of.pays(p.all), p.of.freeTable(p.all))}
	if len(x.Charts)+len(x.Tables) > 0 {
		p.add(x)
	}
}

func (p *surveyPage) spread() {
	x := section{ID: "spread", Title: "Launches and tails",
		Charts: p.halves(p.of.launches(p.all)), Tables: p.tables(p.of.launchTable(p.all), p.of.tailTable(p.all))}
	if len(x.Charts)+len(x.Tables) > 0 {
		p.add(x)
	}
}

// doubts says what not to trust, and what to do about it.
func (p *surveyPage) doubts() {
	x := doubtsSection(p.of.doubts(p.all))
	var all []clean.Warning
	for _, r := range p.of.Results {
		all = append(all, r.Warnings...)
	}
	p.warningsFile(all)
	p.add(x)
}

// doubtsSection says what not to trust.
func doubtsSection(kinds []kindView) section {
	x := section{ID: "warnings", Title: "What not to trust, and why", Short: "Warnings", Class: "warnings", Kinds: kinds}
	if len(kinds) == 0 {
		x.Text = []string{"Nothing looked doubtful."}
	} else {
		x.Text = []string{"The gravest come first. Each with its sizes is in warnings.csv beside this page."}
	}
	return x
}

// byMode has the parameters of all modes.
func (p *surveyPage) byMode() {
	x := section{ID: "modes", Title: "All modes", Text: []string{"All parameters with their intervals and methods are in parameters.csv beside this page."}}
	p.csv = append(p.csv, file{"parameters.csv", func(w io.Writer) error {
		var all []params.Parameter
		for _, r := range p.of.Results {
			all = append(all, r.Parameters...)
		}
		return params.WriteParameters(w, all)
	}})
	for _, s := range p.all {
		t := s.parameters()
		t.Name, t.Title = fileName("parameters", s.name), "LogGP parameters of "+s.name
		x.Tables = append(x.Tables, p.tables(t)...)
	}
	p.add(x)
}

// run says how it was measured, and how to measure it again.
func (p *surveyPage) run() { p.measured(p.of.Machines, p.all, true) }
