// Package reports makes documents of results: one function a family of reports, from values to a
// doc.Document.
//
// The way of a report: a verb of the command line gathers values (of fit, compare, a platform, a
// recording), a function here makes a document of them, and package render shows it as text, as a
// page, as CSV or as JSON. Charts are drawn by package chart, numbers are printed by package
// format.
//
// Reports computes nothing beyond layout: what is shown was computed by fit, model or the platform
// catalogue. The same results give the same bytes. To add a section, make its tables and charts in
// the file of its family and add a doc.Section to the document.
package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Report is what is shown of samples: of emulated machines, or of transports of real ones side by
// side, such as shared memory, TCP and MPI libraries. Only Results must be there.
type Report struct {
	Title       string               // default: of the subjects
	Machines    []sample.Machine     // that were measured, for their facts, and what was run
	Results     []*fit.Result        // of each machine: parameters, curves, warnings
	Comparisons []compare.Comparison // predictions beside measurements
	SideBySide  *compare.Table       // of the platforms, libraries and places of the samples; of one it has overlaps only. Real machines need it

	// Of emulated machines.
	Platforms []*platform.Platform // those of the samples that are known, for what their numbers stand on
	Published PublishedRows        // of any platforms
	Charts    []*chart.Chart       // more of them, such as time lines
}

// Document is the report: what a message costs, parameters, charts, warnings, and where all of it
// is from; of emulated machines with predictions and published values, of real ones with how far to
// trust their numbers and what launches differ by.
func (r *Report) Document() *doc.Document {
	places, all := r.subjects()
	var parameters []params.Parameter
	var warnings []clean.Warning
	for _, x := range r.Results {
		parameters, warnings = append(parameters, x.Parameters...), append(warnings, x.Warnings...)
	}
	d := &doc.Document{Title: r.Title, Files: []doc.File{parameterFile(parameters), warningsFile(warnings)}}
	real := r.SideBySide != nil && len(r.Machines) > 0 && AreReal(r.Machines)
	if real {
		r.addTransportHead(d, all)
	} else {
		r.addEmulationHead(d, places, warnings)
	}
	addPerformance(d, all, r.Machines, r.Comparisons, r.SideBySide)
	for _, x := range r.Results {
		d.AddSection(tiersSection(x.Tiers))
	}
	if real {
		r.addTransports(d, all, warnings)
	} else {
		r.addEmulation(d, places, warnings)
	}
	d.AddSection(doc.Section{ID: "glossary", Title: "Glossary", PageOnly: true, Terms: reportTerms})
	parameterSection := "parameters"
	if r.SideBySide != nil {
		parameterSection = "contrast" // which has them too
	}
	d.FoldAllBut("messages", parameterSection, "trust")
	return d
}

// AreReal says whether all samples are of real machines.
func AreReal(machines []sample.Machine) bool {
	return !slices.ContainsFunc(machines, func(m sample.Machine) bool {
		return slices.ContainsFunc(m.Series, func(s sample.Series) bool { return s.Clock != "real" })
	})
}

// addEmulationHead adds what stands above all of emulated machines: what was run, and their most
// important parameters.
func (r *Report) addEmulationHead(d *doc.Document, places []*fittedPlace, warnings []clean.Warning) {
	d.Footer = "Made by loggp from the facts and samples above."
	if d.Title == "" {
		var names []string
		for _, x := range places {
			names = appendUnique(names, format.PlaceName(x.platform, x.library, ""))
		}
		d.Title = "Communication performance of " + strings.Join(shortenList(names), "; ")
	}
	d.Introduction = measuredSentences(r.Machines)
	var notes []string
	for _, x := range r.Platforms {
		notes = append(notes, fmt.Sprintf("%s has %s", x.Machine.Name, formatBasisCounts(x)))
	}
	d.KeyNumbers = append(keyNumbers(places), doc.EmulationTrust(shortenList(notes)...), warningKey(warnings))
}

// shortenList returns the first of many names, and how many more there are.
func shortenList(names []string) []string {
	if n := len(names) - maxSingleSubjects; n > 1 {
		return append(names[:maxSingleSubjects:maxSingleSubjects], fmt.Sprintf("and %d more", n))
	}
	return names
}

// addEmulation adds what is shown of emulated machines below their performance: each place by
// itself, what was predicted and published, and where all of it is from.
func (r *Report) addEmulation(d *doc.Document, places []*fittedPlace, warnings []clean.Warning) {
	s := doc.Section{ID: "parameters", Title: "Parameters by mode"}
	pieces := doc.Section{ID: "ranges", Title: "Ranges of sizes", PageOnly: true}
	for _, x := range places {
		s.Tables, pieces.Tables = append(s.Tables, x.parameterTable(), x.latencyTable(), x.eagerLimitTable()), append(pieces.Tables, x.pieceTable())
	}
	if c := r.SideBySide; c != nil {
		d.Files = append(d.Files, tableFile(c))
		d.AddTables("contrast", "Side by side", tableAtSizes(c, nil), parameterTable(c), fasterSubjectTable(c))
	}
	d.AddSection(s)
	pieces.Text = []string{"Overheads are fitted by a straight line over each range of sizes; where a range ends, something changes, such as the protocol. " +
		"Times marked ! are not on a line, or rest on too few samples. Behaviour between the last size of a range and the first of the next was not measured."}
	d.AddSection(pieces)
	charts := r.Charts
	if len(places) <= maxSingleSubjects {
		charts = append(placeCharts(places, r.Comparisons), charts...)
	}
	d.AddSection(doc.Section{ID: "charts", Title: "Charts by mode and protocol", ShortTitle: "Charts", Figures: doc.Figures(doc.ColumnWidth, charts...)})
	if len(r.Comparisons) > 0 {
		d.Files = append(d.Files, comparisonFile(r.Comparisons))
		d.AddTables("comparisons", "Predicted and measured times", comparisonTables(r.Comparisons)...)
	}
	var published []*doc.Table
	for _, x := range places {
		published = append(published, x.publishedTable(r.Published, r.findPlatform(x.platform)))
	}
	d.AddTables("published", "Published and measured", published...)
	d.AddSection(warningSection(warnings))
	basis := doc.Section{ID: "platforms", Title: "Basis of the platform's numbers", PageOnly: true}
	for _, x := range r.Platforms {
		basis.Tables = append(basis.Tables, platformTables(x)...)
	}
	d.AddSection(basis)
	if len(r.Machines) > 0 {
		addProvenance(d, r.Machines, nil)
	}
}

// addPerformance adds what the reports on samples begin with, of emulated machines as of real ones:
// what a message costs, latency and bandwidth, overheads, and where calls that do not block pay.
// The table may be nil.
func addPerformance(d *doc.Document, all []reportSubject, machines []sample.Machine, cs []compare.Comparison, table *compare.Table) {
	d.Answer, d.FrontFigures = costSentence(all), doc.Figures(doc.FullWidth, oneWayChart(all, cs))
	messages := doc.Section{ID: "messages", Title: "Latency and bandwidth", Figures: doc.Figures(doc.SingleWidth, bandwidthChart(all))}
	for i := range all {
		for _, m := range machines {
			if t := all[i].performanceTable(m.Set); t.CountRows() > 0 {
				messages.Tables = append(messages.Tables, t)
				break
			}
		}
	}
	d.AddSection(messages)
	d.AddSection(doc.Section{ID: "overheads", Title: "Overheads", Figures: doc.Figures(doc.HalfWidth, overheadChart(all, "o_s"), overheadChart(all, "o_r"))})
	if table == nil {
		return
	}
	overlap := doc.Section{ID: "overlap", Title: "Where non-blocking calls pay", Tables: []*doc.Table{overlapTable(nameTransports(table)), overlapShareTable(table, all)}}
	if len(all) <= 2*maxSingleSubjects {
		overlap.Figures = doc.Figures(doc.ColumnWidth, overlapShareCharts(table, all)...)
	}
	d.AddSection(overlap)
}

// subjects returns the fitted places, and the subjects of the report: those of the comparison in
// its order and with the names that it gives them, or else the places.
func (r *Report) subjects() (places []*fittedPlace, all []reportSubject) {
	byMachine := make([][]*fittedPlace, len(r.Results))
	for i, x := range r.Results {
		byMachine[i] = fittedPlaces(x)
		places = append(places, byMachine[i]...)
	}
	if r.SideBySide == nil {
		for i, p := range places {
			all = append(all, reportSubject{fittedPlace: p, name: p.String(), colorIndex: i, launches: 1})
		}
		return places, all
	}
	for i, x := range r.SideBySide.Subjects {
		s := reportSubject{fittedPlace: &fittedPlace{platform: x.Platform, library: x.Library, place: x.Place}, name: transportName(x.Platform, x.Library, x.Name), colorIndex: i, launches: 1}
		for _, p := range byMachine[x.MachineIndex] {
			if p.platform == x.Platform && p.library == x.Library && p.place == x.Place {
				s.fittedPlace = p
			}
		}
		if len(r.Machines) > 0 {
			m := r.Machines[x.MachineIndex]
			s.facts, s.launches = subjectFacts(m, x), countLaunches(m, x.Platform, x.Library, x.Place)
		}
		all = append(all, s)
	}
	return places, all
}

// costSentence answers in a sentence what a message costs, or "" if no round trips were measured.
func costSentence(all []reportSubject) string {
	type cost struct {
		*reportSubject
		small, large curve.Point
	}
	var known []cost
	from, to := -1, -1
	for i := range all {
		c := all[i].timerCurve(all[i].mainMode(), sample.TimerRTT)
		if c == nil || len(c.Points) == 0 {
			continue
		}
		half := c.HalfRoundTrip().Points
		if from < 0 {
			var sizes []int
			for _, p := range half {
				sizes = append(sizes, p.Bytes)
			}
			from, to = nearestSizes(sizes, 8)[0], sizes[len(sizes)-1]
		}
		x := cost{reportSubject: &all[i]}
		a, b := slices.IndexFunc(half, func(p curve.Point) bool { return p.Bytes == from }), slices.IndexFunc(half, func(p curve.Point) bool { return p.Bytes == to })
		if a >= 0 && b >= 0 {
			x.small, x.large = half[a], half[b]
			known = append(known, x)
		}
	}
	if len(known) == 0 {
		return ""
	}
	takes := func(at func(cost) curve.Point) string {
		var words []string
		for _, x := range known {
			words = append(words, formatOneWay(at(x))+" ("+x.name+")")
		}
		if len(known) > maxSingleSubjects {
			order := func(a, b cost) int { return cmp.Compare(at(a).Value, at(b).Value) }
			least, most := slices.MinFunc(known, order), slices.MaxFunc(known, order)
			return fmt.Sprintf("from %s (%s) to %s (%s)", formatOneWay(at(least)), least.name, formatOneWay(at(most)), most.name)
		}
		if len(known) == 1 {
			return formatOneWay(at(known[0]))
		}
		return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	}
	small, large := func(x cost) curve.Point { return x.small }, func(x cost) curve.Point { return x.large }
	text := fmt.Sprintf("A message of %s takes %s one way", format.Size(from), takes(small))
	if len(known) == 1 {
		if busy, ok := known[0].fittedPlace.overheadAt(known[0].mainMode(), "o_s", from); ok {
			text += fmt.Sprintf(" and keeps the sender's processor busy for %s", format.MicrosWithUnit(busy))
		}
	}
	if to > from {
		text += fmt.Sprintf("; one of %s takes %s", format.Size(to), takes(large))
		if len(known) == 1 {
			text += bandwidthClause(known[0].reportSubject, known[0].large)
		}
	}
	return strings.TrimSpace(rankingSentence(all) + " " + text + ".")
}

// bandwidthClause says the bandwidth of messages of a size as the table of latency and bandwidth
// does: of consecutive messages or, if these were not measured, of one on its way.
func bandwidthClause(x *reportSubject, oneWay curve.Point) string {
	if stream := x.burstCurve(); stream != nil {
		if c := stream.CellOf(oneWay.Bytes); c != nil && c.Value > 0 {
			return ", and consecutive ones carry " + formatAmount(float64(oneWay.Bytes)/c.Value, compare.MegabytesPerSecond)
		}
		return ""
	}
	if !(oneWay.Value > 0) {
		return ""
	}
	return ", which is " + formatAmount(float64(oneWay.Bytes)/oneWay.Value, compare.MegabytesPerSecond)
}

// keyNumbers are the most important parameters.
func keyNumbers(places []*fittedPlace) []doc.KeyNumber {
	var out []doc.KeyNumber
	for _, x := range places {
		for _, p := range x.parameters {
			if p.Unit == params.UnitCount && !math.IsNaN(p.Value) {
				out = append(out, doc.KeyNumber{Name: p.Name, Value: parameterCell(&doc.Table{}, &p).Text, Note: map[string]string{"H": "groups of ranks", "P": "ranks of a group"}[p.Name] + ", " + x.String()})
			}
		}
	}
	for _, x := range places {
		out = append(out, x.keyNumbers(len(places) > 1)...)
	}
	return out
}

// warningKey returns how many warnings there are, and the kinds that matter most.
func warningKey(ws []clean.Warning) doc.KeyNumber {
	k := doc.KeyNumber{Name: "Warnings", Value: "none", Tone: doc.GoodTone, IsTrust: true}
	if len(ws) == 0 {
		return k
	}
	k.Value, k.Tone = fmt.Sprint(len(ws)), doc.DoubtfulTone
	var codes []string
	for _, w := range warningSection(ws).Warnings {
		codes = append(codes, w.Code)
	}
	k.Note = strings.Join(shortenList(codes), ", ")
	return k
}

// findPlatform returns the platform of the name, or nil.
func (r *Report) findPlatform(name string) *platform.Platform {
	for _, x := range r.Platforms {
		if x.Machine.Name == name {
			return x
		}
	}
	return nil
}

// measuredSentences say what was run, if it is known.
func measuredSentences(machines []sample.Machine) []string {
	if len(machines) == 0 {
		return nil
	}
	var platforms, libraries, clocks, modes, protocols []string
	var sizes []int
	launches, samples := 0, 0
	for _, m := range machines {
		for _, x := range m.Series {
			platforms, libraries, clocks, modes = appendUnique(platforms, x.Platform), appendUnique(libraries, x.Library), appendUnique(clocks, x.Clock), appendUnique(modes, x.Mode)
			if x.Protocol != "" {
				protocols = appendUnique(protocols, x.Protocol)
			}
			sizes, launches = append(sizes, x.Bytes), max(launches, x.Launch+1)
		}
		samples += m.SampleCount()
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	text := fmt.Sprintf("Platform %s, library %s, %s clock. %d samples of %s at %d sizes", strings.Join(platforms, ", "), strings.Join(libraries, ", "),
		strings.Join(clocks, " and "), samples, strings.Join(modes, ", "), len(sizes))
	if len(sizes) > 0 {
		text += " from " + format.SizeRange(sizes[0], sizes[len(sizes)-1])
	}
	if len(protocols) > 0 {
		text += ", protocol " + strings.Join(protocols, ", ")
	}
	if launches > 1 {
		text += fmt.Sprintf(", in %d launches", launches)
	}
	return []string{text + "."}
}

// keyNumbers are the most important parameters.
func (p *fittedPlace) keyNumbers(named bool) []doc.KeyNumber {
	var out []doc.KeyNumber
	note := func(s string) string {
		if named {
			return s + ", " + p.String()
		}
		return s
	}
	t := &doc.Table{}
	for _, q := range []struct{ name, mode string }{{"o_s", "isend"}, {"o_s", "send"}, {"o_r", "send"}, {"o_s", "message"}, {"o_r", "message"}} {
		for _, k := range p.shownSizes() {
			if c := p.overheadCell(t, q.mode, q.name, k); !c.Equal(doc.EmptyCell) {
				out = append(out, doc.KeyNumber{Name: q.name + " " + q.mode, Value: c.TextWithMark("us"), Note: note(format.Size(k))})
			}
		}
		if len(out) >= 6 {
			break
		}
	}
	for _, mode := range []string{"ssend", "message"} {
		if x := p.firstRow(mode, "L"); x != nil {
			out = append(out, doc.KeyNumber{Name: "L", Value: parameterCell(t, x).TextWithMark("us"), Note: note(mode + ", an upper bound")})
			break
		}
	}
	for _, mode := range []string{"send", "message"} {
		if x := p.firstRow(mode, "G"); x != nil {
			out = append(out, doc.KeyNumber{Name: "1/G", Value: bandwidthCell(t, x).TextWithMark("MB/s"), Note: note(mode)})
			break
		}
	}
	return out
}

// reportTerms explains the parameters and what they are measured with.
var reportTerms = []doc.Term{
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
