// Package reports makes documents of results: one function a family of reports, from values to a doc.Document.
//
// The way of a report: a verb of the command line gathers values (of fit, compare, a platform, a recording), a function here
// makes a document of them, and package render shows it as text, as a page, as CSV or as JSON. Charts are drawn by package
// chart, numbers are printed by package format.
//
// Reports computes nothing beyond layout: what is shown was computed by fit, model or the platform catalogue. The same
// results give the same bytes. To add a section, make its tables and charts in the file of its family and add a doc.Section
// to the document.
package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Report is what is shown of samples. Only Result must be there.
type Report struct {
	Title       string               // default: of the platforms and libraries
	Samples     *sample.Set          // for its facts, and what was run
	Files       []string             // that they are from
	Result      *fit.Result          // parameters, curves, warnings
	Comparisons []compare.Comparison // predictions beside measurements
	Contrast    *compare.Table       // of the platforms, libraries and places of the samples; of one it has overlaps only
	Platforms   []*platform.Platform // those of the samples that are known, for what their numbers stand on
	Published   Published            // of any platforms
	Charts      []*chart.Chart       // more of them, such as time lines
}

// Document is the report on samples: parameters, charts, predictions, published values, warnings, and where all of it is from.
func (r Report) Document() *doc.Document {
	ps := places(r.Result)
	d := &doc.Document{Title: r.Title, Footer: "Made by loggp from the facts and samples above.", Files: []doc.File{parameterFile(r.Result.Parameters), warningsFile(r.Result.Warnings)}}
	if d.Title == "" {
		var names []string
		for _, x := range ps {
			names = append(names, format.Place(x.platform, x.library, ""))
		}
		d.Title = "Communication performance of " + strings.Join(slices.Compact(names), "; ")
	}
	if r.Samples != nil {
		d.Lead = append(d.Lead, ran(r.Samples))
	}
	d.Keys = r.keys(ps)
	tiers := doc.Section{ID: "tiers", Title: "Tiers", Text: []string{"Which ranks are near each other, found from the times of all pairs: nothing else was known of the machine."}}
	for _, x := range r.Result.Tiers {
		tiers.Tables = append(tiers.Tables, tiersTable(x))
		tiers.Figures = append(tiers.Figures, doc.Figures(doc.Narrow, chart.Matrix(format.FileName("tiers", x.Platform, x.Library), "How near ranks are to each other, "+format.Place(x.Platform, x.Library, ""), x))...)
	}
	if len(tiers.Tables) > 0 {
		d.Add(tiers)
	}
	s := doc.Section{ID: "parameters", Title: "Parameters by mode"}
	pieces := doc.Section{ID: "ranges", Title: "Ranges of sizes", PageOnly: true}
	for _, x := range ps {
		s.Tables, pieces.Tables = append(s.Tables, x.parameters(), x.latencies(), x.eagerLimits()), append(pieces.Tables, x.pieces())
	}
	if r.Samples != nil {
		messages := doc.Section{ID: "messages", Title: "Latency and bandwidth"}
		for _, x := range ps {
			if t := x.performance(r.Samples); t.Rows() > 0 {
				messages.Tables = append(messages.Tables, t)
			}
		}
		if len(messages.Tables) > 0 {
			d.Add(messages)
		}
	}
	d.Add(s)
	pieces.Text = []string{"Overheads are fitted by a straight line over each range of sizes; where a range ends, something changes, such as the protocol. " +
		"Times marked ! are not on a line, or rest on too few samples. Behaviour between the last size of a range and the first of the next was not measured."}
	d.Add(pieces)
	if c := r.Contrast; c != nil {
		d.Files = append(d.Files, tableFile(c))
		d.AddTables("contrast", "Side by side", sizedTable(c, nil), parameterTable(c), fasterTable(c))
		d.AddTables("overlap", "Where non-blocking calls pay", overlapTable(c))
	}
	d.Add(doc.Section{ID: "charts", Title: "Charts", Figures: doc.Figures(doc.Narrow, append(Charts(r.Result, r.Comparisons), r.Charts...)...)})
	if len(r.Comparisons) > 0 {
		d.Files = append(d.Files, comparisonFile(r.Comparisons))
		d.AddTables("comparisons", "Predicted and measured times", comparisonTables(r.Comparisons)...)
	}
	var published []*doc.Table
	for _, x := range ps {
		published = append(published, x.against(r.Published, r.known(x.platform)))
	}
	d.AddTables("published", "Published and measured", published...)
	d.Add(warnings(r.Result.Warnings))
	basis := doc.Section{ID: "platforms", Title: "Basis of the platform's numbers", PageOnly: true}
	for _, x := range r.Platforms {
		basis.Tables = append(basis.Tables, platformTables(x)...)
	}
	d.Add(basis)
	if r.Samples != nil {
		provenance(d, []sample.Machine{{Files: r.Files, Set: r.Samples}}, nil)
	}
	d.Add(doc.Section{ID: "glossary", Title: "Glossary", PageOnly: true, Terms: glossary})
	return d
}

// keys are the most important parameters, and how many warnings there are.
func (r Report) keys(ps []*place) []doc.Key {
	var out []doc.Key
	for _, x := range ps {
		for _, p := range x.rows {
			if p.Unit == params.Count {
				out = append(out, doc.Key{Name: p.Name, Value: cell(&doc.Table{}, &p).Text, Note: map[string]string{"H": "groups of ranks", "P": "ranks of a group"}[p.Name] + ", " + x.String()})
			}
		}
	}
	for _, x := range ps {
		out = append(out, x.keys(len(ps) > 1)...)
	}
	return append(out, warningKey(len(r.Result.Warnings)))
}

func warningKey(n int) doc.Key {
	return doc.Key{Name: "warnings", Value: fmt.Sprint(n), Note: map[bool]string{true: "none: nothing looked doubtful", false: "see below what they concern"}[n == 0]}
}

// known returns the platform of the name, or nil.
func (r Report) known(name string) *platform.Platform {
	for _, x := range r.Platforms {
		if x.Machine.Name == name {
			return x
		}
	}
	return nil
}

// ran says what was run.
func ran(sets ...*sample.Set) string {
	var platforms, libraries, clocks, modes, protocols []string
	var sizes []int
	launches, samples := 0, 0
	for _, set := range sets {
		for _, x := range set.Series {
			platforms, libraries, clocks, modes = appendNew(platforms, x.Platform), appendNew(libraries, x.Library), appendNew(clocks, x.Clock), appendNew(modes, x.Mode)
			if x.Protocol != "" {
				protocols = appendNew(protocols, x.Protocol)
			}
			sizes, launches = append(sizes, x.Bytes), max(launches, x.Launch+1)
		}
		samples += set.Rows()
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	text := fmt.Sprintf("Platform %s, library %s, %s clock. %d samples of %s at %d sizes", strings.Join(platforms, ", "), strings.Join(libraries, ", "),
		strings.Join(clocks, " and "), samples, strings.Join(modes, ", "), len(sizes))
	if len(sizes) > 0 {
		text += " from " + format.Sizes(sizes[0], sizes[len(sizes)-1])
	}
	if len(protocols) > 0 {
		text += ", protocol " + strings.Join(protocols, ", ")
	}
	if launches > 1 {
		text += fmt.Sprintf(", in %d launches", launches)
	}
	return text + "."
}

// keys are the most important parameters.
func (p *place) keys(named bool) []doc.Key {
	var out []doc.Key
	note := func(s string) string {
		if named {
			return s + ", " + p.String()
		}
		return s
	}
	t := &doc.Table{}
	for _, q := range []struct{ name, mode string }{{"o_s", "isend"}, {"o_s", "send"}, {"o_r", "send"}, {"o_s", "message"}, {"o_r", "message"}} {
		for _, k := range p.sizes() {
			if c := p.overhead(t, q.mode, q.name, k); !c.Is(doc.None) {
				out = append(out, doc.Key{Name: q.name + " " + q.mode, Value: c.Marked("us"), Note: note(format.Size(k))})
			}
		}
		if len(out) >= 6 {
			break
		}
	}
	for _, mode := range []string{"ssend", "message"} {
		if x := p.first(mode, "L"); x != nil {
			out = append(out, doc.Key{Name: "L", Value: cell(t, x).Marked("us"), Note: note(mode + ", an upper bound")})
			break
		}
	}
	for _, mode := range []string{"send", "message"} {
		if x := p.first(mode, "G"); x != nil {
			out = append(out, doc.Key{Name: "1/G", Value: rate(t, x).Marked("MB/s"), Note: note(mode)})
			break
		}
	}
	return out
}

// glossary explains the parameters and what they are measured with.
var glossary = []doc.Term{
	{Name: "o_s", Meaning: "Send overhead: how long a processor is busy with a send call. It depends on the call and on the size of the message."},
	{Name: "o_r", Meaning: "Receive overhead: how long a processor is busy with a receive call whose message is there already; of a non-blocking receive, with starting it."},
	{Name: "L", Meaning: "Latency: how long a small message is on its way after the sender's overhead and before the receiver's. What is measured is an upper bound."},
	{Name: "g", Meaning: "Gap: the least time between two messages of a processor. Where overheads are longer than the gap, it cannot be seen."},
	{Name: "G", Meaning: "Gap per byte of a long message; 1/G is the bandwidth. MB are 10⁶ bytes."},
	{Name: "KB, KiB", Meaning: "1000 and 1024 bytes."},
	{Name: "s_s, s_r, S", Meaning: "In LoGH{sSP}, o_s, o_r and G of two processors of one node. Its latency is neglected."},
	{Name: "H, P", Meaning: "In LoGH{sSP}, the number of nodes, and of processors in each. Found from the times of all pairs of ranks, they are the groups of the near tier."},
	{Name: "tier1, tier2 …", Meaning: "Where pairs of ranks show more than two tiers, the nearest, the next, and so on; of two tiers they are called intra and inter."},
	{Name: "T_s", Meaning: "The time until the sender may go on."},
	{Name: "T_s-r", Meaning: "The time from the start of the send until the receiver has the message."},
	{Name: "T, TA, RTA, RAT, PTAT", Meaning: "Protocols: T sends the message in its envelope; TA also waits for an acknowledgement; with RTA the receiver pulls the data after a request; with RAT the sender pushes it after request and answer; by PTAT the first part goes in the envelope, and the rest when that is acknowledged."},
	{Name: "send … ibsend", Meaning: "The eight sends of MPI: s synchronous, r ready, b buffered; i before them for those that do not block. message is what lies below them."},
	{Name: "timer11, timer12", Meaning: "At P1: the send call, and the receive call, begun when the message is surely there."},
	{Name: "timer21, timer22", Meaning: "At P2: the receive call, begun together with the send, and the send call."},
	{Name: "rtt, train", Meaning: "A round trip; the interval between the sends of a burst."},
	{Name: "±", Meaning: "95 % interval: the value lies in it unless one of twenty such intervals happens to be wrong. It says nothing about systematic errors."},
	{Name: "published, derived, fitted, assumed", Meaning: "What a number of a platform stands on: printed in a source; computed from such; chosen to meet published rows; guessed or recalled."},
	{Name: "calibration, validation", Meaning: "A prediction that rests on the number with which it is compared says nothing; one that does not is a test."},
}
