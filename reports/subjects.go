package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// reportSubject is one of several that a report sets side by side: a platform, library, place or
// transport.
type reportSubject struct {
	*fittedPlace                 // its parameters and curves
	name         string          // short: shm, Open MPI 4.1.4
	colorIndex   int             // among the subjects: its colour and shape
	facts        [][]sample.Fact // of each of its files
	launches     int
}

// pointStyle is how points of calls that block look, or, with dashed, of those that do not.
func (s *reportSubject) pointStyle(dashed bool) chart.Style {
	x := subjectStyle(s.colorIndex)
	if dashed {
		x.Glyph, x.IsDashed = chart.HollowGlyphs[s.colorIndex%len(chart.HollowGlyphs)], true
	}
	return x
}

// subjectStyle is how the one of a number looks among several. Those that would have a colour again
// are grey: few stand out, and any of the others does if a reader points at its name.
func subjectStyle(i int) chart.Style {
	if i >= len(chart.Palette) {
		return chart.Style{Color: chart.Gray, Glyph: chart.SolidGlyphs[i%len(chart.SolidGlyphs)]}
	}
	return chart.Style{Color: chart.Palette[i%len(chart.Palette)], Glyph: chart.SolidGlyphs[i%len(chart.SolidGlyphs)]}
}

// transportName returns the short name of a subject: of an MPI that of its library.
func transportName(platform, library, name string) string {
	if platform != "mpi" {
		return name
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "mpi"), "/")
	if !strings.Contains(name, library) {
		name = strings.TrimSuffix(library+", "+name, ", ")
	}
	return name
}

// subjectFacts returns the facts of the files that have samples of a subject.
func subjectFacts(m sample.Machine, x compare.Subject) [][]sample.Fact {
	var files []int
	for _, s := range m.Series {
		if s.Platform == x.Platform && s.Library == x.Library && s.Place == x.Place {
			files = appendUnique(files, s.File)
		}
	}
	var out [][]sample.Fact
	for i, facts := range m.FactsByFile() {
		if slices.Contains(files, i) {
			out = append(out, facts)
		}
	}
	return out
}

// isImported says whether another tool has measured all of it.
func (s *reportSubject) isImported() bool {
	return len(s.facts) > 0 && !slices.ContainsFunc(s.facts, func(facts []sample.Fact) bool {
		return !slices.ContainsFunc(facts, func(f sample.Fact) bool { return f.Key == sample.ImportedAsFact })
	})
}

// singleLaunchNote notes that the variation between launches is unknown for subjects with one
// launch.
func singleLaunchNote(all []reportSubject) string {
	var names []string
	advice := ""
	for i := range all {
		if all[i].launches == 1 {
			names = append(names, all[i].name)
			if !all[i].isImported() {
				advice = ": measure several"
			}
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, ", ") + ": of one launch only. What another one would show is not in the intervals" + advice + "."
}

// factValues returns what the files of a subject say under the first of some keys that any of them
// has, each answer once.
func (s *reportSubject) factValues(keys ...string) string {
	for _, key := range keys {
		var answers []string
		for _, facts := range s.facts {
			for _, f := range facts {
				if f.Key == key && f.Value != "" {
					answers = appendUnique(answers, f.Value)
				}
			}
		}
		if len(answers) > 0 {
			return strings.Join(answers, "; ")
		}
	}
	return ""
}

// groupFactsBySubjects returns what the facts of subjects are under some keys: the subjects with
// each.
func groupFactsBySubjects(all []reportSubject, keys ...string) (g wordGroups) {
	for i := range all {
		if v := all[i].factValues(keys...); v != "" {
			g.add(v, all[i].name)
		}
	}
	return g
}

// appendUnique appends what a list does not have.
func appendUnique[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// wordGroups is words under keys, each once, in the order in which they came.
type wordGroups struct {
	keys  []string
	words map[string][]string
}

func (g *wordGroups) add(key, word string) {
	if g.words == nil {
		g.words = map[string][]string{}
	}
	g.keys, g.words[key] = appendUnique(g.keys, key), appendUnique(g.words[key], word)
}

// join lists the keys, each with its words in parentheses.
func (g *wordGroups) join(between string) string {
	var out []string
	for _, k := range g.keys {
		out = append(out, k+" ("+strings.Join(g.words[k], between)+")")
	}
	return strings.Join(out, ", ")
}

// countLaunches returns how many launches a library has in a place of a machine; "": in any.
func countLaunches(m sample.Machine, platform, library, place string) int {
	n := 1
	for _, y := range m.Series {
		if y.Platform == platform && y.Library == library && (y.Place == place || place == "") {
			n = max(n, y.Launch+1)
		}
	}
	return n
}

// mainMode is the mode that is shown first of a transport: blocking standard sends, or else
// low-level messages.
func (s *reportSubject) mainMode() string {
	for _, timer := range []string{sample.TimerRTT, sample.Timer11, sample.TimerStream, sample.TimerTrain} {
		if s.timerCurve("send", timer) != nil {
			return "send"
		}
	}
	return "message"
}

// protocolLimits returns the sizes from which on a library says that it changes its protocol, as
// far as they are known to be of the transport that it uses.
func (s *reportSubject) protocolLimits() []float64 {
	var out []float64
	for _, w := range strings.Fields(s.factValues("eager_limits")) {
		name, value, ok := strings.Cut(w, "=")
		var k int
		if _, err := fmt.Sscanf(value, "%d", &k); ok && name != "" && err == nil && k > 0 && s.usesLimit(name) {
			out = append(out, float64(k))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// usesLimit says whether a limit of Open MPI is of what carries messages inside a node: its names
// begin with btl_ and that of the component.
func (s *reportSubject) usesLimit(limit string) bool {
	if !strings.HasPrefix(limit, "btl_") {
		return true
	}
	return s.fittedPlace.place == "intra" && (strings.HasPrefix(limit, "btl_vader_eager") || strings.HasPrefix(limit, "btl_sm_eager"))
}

// burstCurve returns the curve of what a message takes among others that are on their way, or nil.
// Of calls that do not block, the time between two calls says nothing of when messages arrive: what
// does is a round-trip train, or a window that an answer ends.
func (s *reportSubject) burstCurve() *curve.Curve {
	ends := func(c *curve.Curve) bool { return c.Timer == sample.TimerStream || params.IsPerMessageTimer(c.Timer) }
	blocks := func(c *curve.Curve) bool { return c.Timer == sample.TimerTrain }
	for _, q := range []struct {
		mode string
		is   func(*curve.Curve) bool
	}{{"isend", ends}, {"send", ends}, {"message", ends}, {"send", blocks}, {"message", blocks}} {
		for i := range s.curves {
			if c := &s.curves[i]; c.Mode == q.mode && isLibraryChoice(*c) && q.is(c) {
				return c
			}
		}
	}
	return nil
}

// addProvenance adds where the samples are from, and how to measure them again. All facts are
// shown, or of several subjects, which are set side by side by what is known of each, a file has
// them.
func addProvenance(d *doc.Document, machines []sample.Machine, all []reportSubject) {
	facts := &doc.Table{Name: "facts", Columns: []doc.Column{{Heading: "fact", IsKey: true}, {Heading: "value", Kind: doc.ProseColumn}}}
	var commands []string
	for _, m := range machines {
		for i, file := range m.FactsByFile() {
			if len(m.Files) > 0 {
				facts.BeginGroup(m.Files[min(i, len(m.Files)-1)])
			}
			for _, f := range file {
				if f.Key != sample.FileFact {
					facts.AddRow(doc.TextCells(f.Key, f.Value)...)
				}
				if f.Key == "command" {
					commands = appendUnique(commands, f.Value)
				}
			}
		}
	}
	if all == nil {
		d.AddSection(doc.Section{ID: "run", Title: "Where the samples are from", PageOnly: true, Tables: []*doc.Table{facts}})
	} else {
		d.Files = append(d.Files, render.TableFile(facts))
		d.AddTables("run", "How it was measured", settingTable(all))
	}
	again := doc.Section{ID: "again", Title: "How to measure it again", PageOnly: true, Text: []string{"All facts are in facts.csv beside this page."}, Commands: commands}
	if len(commands) > 0 {
		again.Text[0] += " On an emulated platform the commands below give the same samples to the last digit. On a real machine they measure again, which gives other numbers."
	}
	d.AddSection(again)
}

// settingRows are what is known of how each transport was measured.
var settingRows = []struct {
	name string
	keys []string
}{
	{"measured", []string{"when", "date", "begun"}},
	{"library", []string{"library_version", "library"}},
	{"waits", []string{sample.WaitFact}},
	{"kept on processors", []string{sample.PinFact}},
	{"P1 may run on", []string{"p1_bound_to"}},
	{"P2 may run on", []string{"p2_bound_to"}},
	{"processor", []string{"processor", "p1_processor"}},
	{"processors", []string{"processors"}},
	{"hosts", []string{"hosts"}},
	{"system", []string{"system"}},
	{"kernel", []string{"kernel"}},
	{"governor", []string{"governor"}},
	{"load", []string{"load"}},
	{"launches", []string{"launches"}},
	{"took", []string{"took"}},
	{"precision asked for", []string{"precision"}},
	{"medians that reached it", []string{"reached"}},
	{"repetitions", []string{"reps"}},
	{"order", []string{"order_seed", "seed"}},
	{"clocks of processors", []string{"clock_offset_ns"}},
	{"the clock's cost, us", []string{sample.ClockCostFact}},
	{"the clock's cost is", []string{sample.ClockCostHandlingFact}},
	{"the clock's step, us", []string{sample.ResolutionFact}},
	{"timers", []string{"timer"}},
	{"threads", []string{"thread_level"}},
	{"eager limits", []string{"eager_limits"}},
	{"compiler", []string{"compiler", "go"}},
	{"launcher", []string{"launcher"}},
	{"loggp", []string{"loggp"}},
}

// settingTable says how each transport was measured.
func settingTable(all []reportSubject) *doc.Table {
	t := &doc.Table{Name: "settings", Title: "How each transport was measured", Columns: []doc.Column{{Field: "setting", IsKey: true}}}
	for _, x := range all {
		t.Columns = append(t.Columns, doc.Column{Heading: x.name, Kind: doc.ProseColumn})
	}
	for _, q := range settingRows {
		row, known := []doc.Cell{doc.TextCell(q.name)}, false
		for i := range all {
			v := all[i].factValues(q.keys...)
			if q.name == "launches" && v == "" {
				v = strconv.Itoa(all[i].launches)
			}
			c := doc.EmptyCell
			if v != "" {
				c, known = doc.TextCell(truncateToColumn(v)), true
			}
			row = append(row, c)
		}
		if known {
			t.AddRow(row...)
		}
	}
	return t
}

// truncateToColumn returns as much of a long text as a table has room for.
func truncateToColumn(v string) string {
	const most = 160
	if r := []rune(v); len(r) > most {
		return strings.TrimSpace(string(r[:most])) + "…"
	}
	return v
}

// differingSettings names what was not alike for all transports, and makes their numbers harder to
// compare.
func differingSettings(all []reportSubject) []string {
	if len(all) < 2 {
		return nil
	}
	var out []string
	var in, outside []string
	for i := range all {
		x := &all[i]
		switch cost := x.factValues(sample.ClockCostFact); {
		case cost == "":
		case x.subtractsClockCost():
			outside = append(outside, x.name)
		default:
			in = append(in, fmt.Sprintf("%s (%s us)", x.name, cost))
		}
	}
	if len(in) > 0 && len(outside) > 0 {
		out = append(out, "What reading the clock costs is in each time of "+strings.Join(in, ", ")+", and taken out of those of "+strings.Join(outside, ", ")+": do not compare overheads that are not much longer.")
	}
	for _, q := range []struct {
		what string
		keys []string
	}{{"Ranks wait differently", []string{sample.WaitFact}}, {"Processors differ", []string{"processor", "p1_processor"}}, {"Kernels differ", []string{"kernel"}}} {
		if g := groupFactsBySubjects(all, q.keys...); len(g.keys) > 1 {
			out = append(out, q.what+": "+g.join(", ")+".")
		}
	}
	return out
}

// subtractsClockCost says whether what reading the clock costs is taken out of the times.
func (s *reportSubject) subtractsClockCost() bool {
	return s.factValues(sample.ClockCostHandlingFact) == sample.ClockCostSubtracted || strings.Contains(s.factValues("timer"), sample.ClockCostSubtracted)
}

// machineName says where it was measured, if all transports agree on it.
func machineName(all []reportSubject) string {
	var words []string
	for _, q := range []struct {
		keys   []string
		format string
	}{{[]string{"processor", "p1_processor"}, "%s"}, {[]string{"processors"}, "%s processors"}, {[]string{"kernel"}, "kernel %s"}} {
		if g := groupFactsBySubjects(all, q.keys...); len(g.keys) == 1 {
			words = append(words, fmt.Sprintf(q.format, g.keys[0]))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, ", ") + "."
}

// displayUnit is a unit that is easier to read than that of a fit.
type displayUnit struct {
	unit   string
	factor float64
}

// displayUnitOf returns the unit for some values of a fit: one in which the least of them has a
// digit before the point.
func displayUnitOf(unit string, values ...float64) displayUnit {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = math.Min(least, v)
		}
	}
	small := least < 1
	switch {
	case unit == params.UnitMicros && small:
		return displayUnit{"ns", 1e3}
	case unit == params.UnitMicros:
		return displayUnit{"us", 1}
	case unit == params.UnitMicrosPerByte:
		return displayUnit{"ns/B", 1e3}
	case unit == compare.MegabytesPerSecond && least >= 1000 && !math.IsInf(least, 1):
		return displayUnit{"GB/s", 1e-3}
	}
	return displayUnit{unit, 1}
}

// formatAmount returns a value with its unit.
func formatAmount(v float64, unit string) string {
	s := displayUnitOf(unit, v)
	return format.Number(v*s.factor) + format.NonBreakingSpace + s.unit
}

// convert returns a parameter in another unit.
func (s displayUnit) convert(p params.Parameter) params.Parameter {
	p.Value, p.Low, p.High = p.Value*s.factor, p.Low*s.factor, p.High*s.factor
	return p
}
