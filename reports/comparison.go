package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// SubjectComparison is subjects side by side: their overheads at some sizes and their parameters
// with ratios to the first subject, from which size on calls that do not block pay, and which
// subject is faster up to which size. Without sizes it takes those nearest to 16 bytes, 1 and 10
// KB.
func SubjectComparison(c *compare.Table, sizes []int) *doc.Document {
	d := &doc.Document{Title: "Comparison", Files: []doc.File{tableFile(c)}}
	c = nameTransports(c)
	parameters := parameterTable(c)
	if slices.ContainsFunc(c.Rows, func(r compare.Row) bool {
		return slices.ContainsFunc(r.Values, func(v compare.Value) bool { return v.Verdict != params.GoodVerdict })
	}) {
		parameters.AddNote("loggp fit prints the warnings of each file.")
	}
	d.AddTables("comparison", "Side by side", tableAtSizes(c, sizes), parameters, overlapTable(c), fasterSubjectTable(c))
	return d
}

func tableFile(c *compare.Table) doc.File {
	return doc.File{Name: "comparison.csv", Write: func(w io.Writer) error { return compare.WriteTable(w, c) }}
}

// nameTransports returns a comparison whose subjects have the names of transports: those of MPIs
// are their libraries'.
func nameTransports(c *compare.Table) *compare.Table {
	out := *c
	out.Subjects = slices.Clone(c.Subjects)
	for i, x := range out.Subjects {
		out.Subjects[i].Name = transportName(x.Platform, x.Library, x.Name)
	}
	return &out
}

// quantityHeadings say what the quantities of rows are.
var quantityHeadings = map[string]string{
	"o_s": "o_s: send overhead, us", "o_r": "o_r: receive overhead, us", compare.OneWay: "one-way: half a round trip, us",
	"L": "L: latency, us", "g": "g: gap, us", "G": "G: gap a byte, us/B", compare.Bandwidth: "1/G: bandwidth, MB/s",
}

// tableAtSizes has the rows of some sizes that two subjects have.
func tableAtSizes(c *compare.Table, sizes []int) *doc.Table {
	if len(sizes) == 0 {
		sizes = slices.Compact(nearestSizes(c.Sizes(), smallMessageBytes, 1000, largeMessageBytes))
	}
	t := subjectColumnsTable(c, "comparison-overheads", "Overheads side by side", doc.Column{Heading: "mode", IsKey: true}, doc.Column{Heading: "bytes", IsKey: true, Kind: doc.NumberColumn})
	for _, r := range c.Rows {
		if r.DependsOnSize() && len(r.Values) > 1 && slices.Contains(sizes, r.Bytes) {
			t.BeginGroup(quantityHeadings[r.Name])
			addSubjectsRow(t, c, &r, displayUnit{r.Unit, 1}, doc.TextCell(r.Mode), doc.Cell{Text: strconv.Itoa(r.Bytes), Values: []float64{float64(r.Bytes)}})
		}
	}
	return t
}

// parameterTable has the parameters that two subjects have.
func parameterTable(c *compare.Table) *doc.Table {
	t := subjectColumnsTable(c, "comparison-parameters", "Parameters side by side", doc.Column{Heading: "mode", IsKey: true})
	in := displayUnit{params.UnitMicrosPerByte, 1}
	if least := smallestGapPerByte(c); least < 1e-3 { // of memory it is some picoseconds
		in = displayUnitOf(params.UnitMicrosPerByte, least)
	}
	for _, r := range c.Rows {
		if heading := quantityHeadings[r.Name]; !r.DependsOnSize() && len(r.Values) > 1 && r.Method == "" && heading != "" {
			unit := displayUnit{r.Unit, 1}
			if r.Name == "G" {
				t.AddNote("G is of the largest messages: the slope of each subject's last straight piece, whose sizes are in the CSV file.")
				unit = in
			}
			t.BeginGroup(strings.Replace(heading, params.UnitMicrosPerByte, in.unit, 1))
			addSubjectsRow(t, c, &r, unit, doc.TextCell(r.Mode))
		}
	}
	if slices.ContainsFunc(c.Subjects, func(s compare.Subject) bool { return s.Place == "intra" }) {
		t.AddNote("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	return t
}

// smallestGapPerByte returns the least G of all subjects.
func smallestGapPerByte(c *compare.Table) float64 {
	least := math.Inf(1)
	for _, r := range c.Rows {
		for _, v := range r.Values {
			if r.Name == "G" && v.Value > 0 {
				least = math.Min(least, v.Value)
			}
		}
	}
	return least
}

// subjectColumnsTable returns a table with a column for each subject, and for its ratio to the
// reference.
func subjectColumnsTable(c *compare.Table, name, title string, keys ...doc.Column) *doc.Table {
	t := &doc.Table{Name: name, Title: title, Columns: keys}
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, doc.Column{Heading: s.Name, Kind: doc.NumberColumn})
	}
	for i, s := range c.Subjects {
		switch {
		case len(c.Subjects) == 1:
		case c.RatiosToBest:
			t.Columns = append(t.Columns, doc.Column{Heading: "to the best\n" + s.Name, Kind: doc.NumberColumn})
		case i > 0:
			t.Columns = append(t.Columns, doc.Column{Heading: "ratio of\n" + s.Name, Kind: doc.NumberColumn})
		}
	}
	switch {
	case len(c.Subjects) == 1 || c.RatiosToBest:
		t.AddNote("± is the 95 %% interval; - means not applicable or not measured.")
	default:
		t.AddNote("± is the 95 %% interval; ratios are to %s.", c.Subjects[0].Name)
	}
	return t
}

// addSubjectsRow adds a row: the values of the subjects and their ratios.
func addSubjectsRow(t *doc.Table, c *compare.Table, r *compare.Row, in displayUnit, keys ...doc.Cell) {
	values, ratios := slices.Repeat([]doc.Cell{doc.EmptyCell}, len(c.Subjects)), slices.Repeat([]doc.Cell{doc.EmptyCell}, len(c.Subjects))
	for i, v := range r.Values {
		p := in.convert(v.Parameter)
		values[v.SubjectIndex] = parameterCell(t, &p)
		if ratios[v.SubjectIndex] = ratioCell(t, v); c.RatiosToBest && i == r.ReferenceIndex && len(r.Values) > 1 {
			ratios[v.SubjectIndex] = doc.TextCell("best").WithTone(doc.GoodTone)
		}
	}
	if !c.RatiosToBest || len(c.Subjects) == 1 {
		ratios = ratios[1:]
	}
	t.AddRow(slices.Concat(keys, values, ratios)...)
}

// ratioCell is a ratio, marked where no difference is shown, or it is undecided.
func ratioCell(t *doc.Table, v compare.Value) doc.Cell {
	if v.Outcome == "" || math.IsNaN(v.Ratio) {
		return doc.EmptyCell
	}
	c := doc.IntervalCell(v.Ratio, v.RatioLow, v.RatioHigh)
	if math.IsInf(v.RatioHigh, 0) {
		c = doc.NumberCell(v.Ratio)
	}
	switch v.Outcome {
	case compare.NoDifferenceOutcome:
		t.AddNote("≈: no difference. The ratio and its interval are within 1 %% of one.")
		c.Text += format.NonBreakingSpace + "≈"
		return c.WithTone(doc.FaintTone)
	case compare.UndecidedOutcome:
		t.AddNote("? after a ratio: undecided. Its interval contains one, so there may be no difference.")
		c.Text += format.NonBreakingSpace + "?"
		return c.WithTone(doc.FaintTone)
	}
	return c
}

// overlapTable is the table of where it pays not to block. Of real machines it also has from which
// size on half of the way is free.
func overlapTable(c *compare.Table) *doc.Table {
	t := &doc.Table{Name: "non-blocking", Title: "From which size on calls that do not block pay", Columns: []doc.Column{{Heading: "mode", IsKey: true}}, WrapsKeys: true}
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, doc.Column{Heading: s.Name, Kind: doc.ProseColumn})
	}
	var row []doc.Cell
	add := func(group, name string) {
		row = slices.Repeat([]doc.Cell{doc.EmptyCell}, 1+len(c.Subjects))
		row[0] = doc.TextCell(name)
		t.BeginGroup(group)
		t.AddRow(row...)
	}
	if c.RatiosToBest && len(c.HalfFreeCrossovers) > 0 {
		bound := slices.ContainsFunc(c.OverlapShares, func(x compare.OverlapShare) bool { return x.IsUpperBound })
		add("half round trip", map[bool]string{false: "half of the way is free", true: "half of the way may be free"}[bound])
		for _, x := range c.HalfFreeCrossovers {
			row[1+x.SubjectIndex] = crossoverCell(t, x, overlapZones(x))
		}
		t.AddNote("free: the time of one way (rtt/2) less that of the call, isend, or, where round-trip trains with waits were measured, less all that the processor does for a message. Without them it is a bound: what the library does in the call that waits is not known.")
	}
	for i, x := range c.Overlaps {
		if i == 0 || x.Quantity != c.Overlaps[i-1].Quantity || x.Mode != c.Overlaps[i-1].Mode {
			add(map[string]string{"o_s": "sends", "o_r": "receives"}[x.Quantity], x.Mode+"/i"+x.Mode)
		}
		row[1+x.SubjectIndex] = crossoverCell(t, x, describeOverlap(x))
	}
	if len(c.Overlaps) > 0 {
		t.AddNote("The smallest size at which the blocking call costs more than %s times as much as the non-blocking one, and the range in which it lies: by the 95 %% interval, or because times jump between two sizes that were measured.",
			strconv.FormatFloat(1+c.Margin, 'g', 6, 64))
		for i, s := range c.Subjects {
			if !slices.ContainsFunc(c.Overlaps, func(x compare.Crossover) bool { return x.SubjectIndex == i }) {
				t.AddNote("%s has no samples of a blocking and a non-blocking call, such as send and isend, at the same sizes.", s.Name)
			}
		}
	}
	t.AddUnitNote()
	return t
}

// crossoverCell returns a text as a cell.
func crossoverCell(t *doc.Table, x compare.Crossover, s string) doc.Cell {
	if x.IsWeak {
		t.AddNote("! is weak: there are few sizes, or their times are not on a line.")
		return doc.TextCell(s).WithTone(doc.DoubtfulTone)
	}
	return doc.TextCell(s)
}

// describeOverlap says from which size on it pays not to block.
func describeOverlap(x compare.Crossover) string {
	first, last := x.Zones[0], x.Zones[len(x.Zones)-1]
	switch {
	case len(x.Crossings) == 0 && first.Side == compare.LongerSide && last.Side == compare.LongerSide:
		return "from " + format.Size(first.From) + " on" + undecidedZones(x)
	case len(x.Crossings) == 0 && first.Side == compare.ShorterSide && last.Side == compare.ShorterSide:
		return "never up to " + format.Size(last.To) + undecidedZones(x)
	case len(x.Crossings) == 1 && first.Side == compare.ShorterSide && last.Side == compare.LongerSide:
		return formatCrossing(x.Crossings[0])
	}
	return describeZones(x, "pays", "does not pay")
}

func formatCrossing(x compare.Crossing) string {
	return format.Size(x.Bytes) + " (" + format.SizeRange(x.Low, x.High) + ")"
}

// maxAnswerChanges is how many times an answer may change before its sizes are listed instead.
const maxAnswerChanges = 2

// listSidesBySize lists the sizes of each answer, of a crossover that changes often.
func listSidesBySize(x compare.Crossover, longer, shorter string) string {
	var parts []string
	for _, s := range []struct {
		side compare.Side
		name string
	}{{compare.LongerSide, longer}, {compare.ShorterSide, shorter}} {
		if sizes := listZones(x, s.side); sizes != "" {
			parts = append(parts, s.name+" "+sizes)
		}
	}
	return strings.Join(parts, "; ")
}

// listZones lists the zones of a side.
func listZones(x compare.Crossover, side compare.Side) string {
	var parts []string
	for i, z := range x.Zones {
		switch {
		case z.Side != side:
		case i == 0 && z.From < z.To:
			parts = append(parts, "up to "+format.Size(z.To))
		case i == len(x.Zones)-1:
			parts = append(parts, "from "+format.Size(z.From)+" on")
		default:
			parts = append(parts, format.SizeRange(z.From, z.To))
		}
	}
	return strings.Join(parts, ", ")
}

// describeZones tells the zones of a crossover in order, by who or what is meant by either side.
func describeZones(x compare.Crossover, longer, shorter string) string {
	if len(x.Crossings) > maxAnswerChanges {
		return listSidesBySize(x, longer, shorter)
	}
	name := map[compare.Side]string{compare.LongerSide: longer, compare.ShorterSide: shorter, compare.NeitherSide: "alike", compare.UndecidedSide: "undecided"}
	first, last := x.Zones[0], x.Zones[len(x.Zones)-1]
	var parts []string
	answer := func(to string) { parts = append(parts, name[first.Side]+to) }
	if first.Side == compare.UndecidedSide && len(x.Zones) > 1 {
		answer(" up to " + format.Size(first.To))
		first = x.Zones[1]
	}
	for _, c := range x.Crossings {
		answer(" up to " + formatCrossing(c))
		first.Side = c.SideAfter
	}
	switch {
	case last.Side == compare.UndecidedSide && first.Side != compare.UndecidedSide:
		answer(" up to " + format.Size(last.From-1))
		parts = append(parts, "undecided")
	case len(parts) == 0 && first.Side != compare.UndecidedSide:
		answer(" at all sizes" + undecidedZones(x))
	default:
		answer("")
	}
	return strings.Join(parts, ", then ")
}

// undecidedZones names the zones in the midst of others of one answer in which it is open.
func undecidedZones(x compare.Crossover) string {
	var parts []string
	for _, z := range x.Zones[1:] {
		if z.Side == compare.UndecidedSide {
			parts = append(parts, format.SizeRange(z.From, z.To))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", but undecided at " + strings.Join(parts, ", ")
}

// fasterSubjectTable says of each two subjects which is faster, up to which size: a row for each
// answer, with the modes that it is of.
func fasterSubjectTable(c *compare.Table) *doc.Table {
	t := &doc.Table{Name: "comparison-faster", Title: "Which is faster, up to which size", Columns: []doc.Column{{Field: "quantity", IsKey: true}, {Heading: "faster", Kind: doc.ProseColumn}, {Heading: "modes", Kind: doc.ProseColumn}}}
	for j := range c.Subjects {
		for i := range j {
			a, b := c.Subjects[i].Name, c.Subjects[j].Name
			rows := map[string][]doc.Cell{}
			for _, x := range c.Pairwise {
				if x.SubjectIndex != j || x.OtherSubjectIndex != i {
					continue
				}
				answer := crossoverCell(t, x, describeZones(x, a, b))
				key := x.Quantity + answer.TextWithMark("")
				if row := rows[key]; row != nil {
					row[2].Text += " " + x.Mode
					continue
				}
				t.BeginGroup(a + " and " + b)
				rows[key] = []doc.Cell{doc.TextCell(x.Quantity), answer, doc.TextCell(x.Mode)}
				t.AddRow(rows[key]...)
			}
		}
	}
	if t.CountRows() > 0 {
		t.AddNote("The subject with the shorter one-way time also has the higher bandwidth. The change lies between the sizes in parentheses. alike: within 1 %%. undecided: the intervals contain both answers, or a protocol changes.")
	}
	t.AddUnitNote()
	return t
}

// overlapZones lists the sizes at which it pays not to block, of a crossover that changes often.
func overlapZones(x compare.Crossover) string {
	if len(x.Crossings) < maxAnswerChanges {
		return describeOverlap(x)
	}
	return listZones(x, compare.LongerSide)
}

// PatternRow is the time of a communication pattern by a library.
type PatternRow struct {
	Pattern, Library, Mode string
	Ranks, Bytes           int
	Time                   unit.Time
	Rate                   unit.Rate // 0: the pattern has none
}

// Name names a library with its way of sending.
func (r PatternRow) Name() string { return strings.TrimSpace(r.Library + " " + r.Mode) }

// PatternTimes are times of communication patterns, by libraries side by side.
func PatternTimes(title string, rows []PatternRow) *doc.Document {
	t := &doc.Table{Name: "patterns", Title: title, Columns: []doc.Column{{Heading: "pattern", IsKey: true}, {Heading: "library", IsKey: true}, {Heading: "mode", IsKey: true}, {Heading: "ranks", Kind: doc.NumberColumn},
		{Heading: "length\nB", Kind: doc.NumberColumn}, {Heading: "time\nus", Kind: doc.NumberColumn}, {Heading: "throughput\nMB/s", Kind: doc.NumberColumn}}}
	for _, r := range rows {
		rate := doc.EmptyCell
		if r.Rate > 0 {
			rate = doc.NumberCell(float64(r.Rate) / 1e6)
		}
		t.AddRow(doc.TextCell(r.Pattern), doc.TextCell(r.Library), doc.TextCell(r.Mode), doc.CountCell(r.Ranks), doc.BytesCell(r.Bytes), doc.NumberCell(r.Time.Micros()), rate)
	}
	t.AddNote("Times are medians of the rounds, from the start until the last rank has ended; that of latency is half a round trip.")
	t.AddNote("Throughput is the data that the root handles, or each rank of all-to-all, over the time: one message for each other rank.")
	d := &doc.Document{Title: title, Footer: "Made by loggp."}
	charts := patternCharts(rows)
	if len(charts) > 0 {
		d.Introduction = []string{"The same programs on all libraries, each by the calls that it has. Shorter times are better."}
	}
	d.AddSection(doc.Section{ID: "patterns", Title: "Times", Figures: doc.Figures(doc.HalfWidth, charts...), Tables: []*doc.Table{t}})
	return d
}

// patternCharts has a chart of times by size for each pattern that was timed for several sizes.
func patternCharts(rows []PatternRow) []*chart.Chart {
	var patterns, names []string
	for _, r := range rows {
		patterns, names = appendUnique(patterns, r.Pattern), appendUnique(names, r.Name())
	}
	var out []*chart.Chart
	for _, p := range patterns {
		x := chart.SizePlot{YLabel: "time (us)"}
		for i, name := range names {
			var points []chart.Point
			for _, r := range rows {
				if r.Pattern == p && r.Name() == name {
					points = append(points, chart.Point{X: float64(r.Bytes), Y: r.Time.Micros()})
				}
			}
			if len(points) > 1 {
				x.Series = append(x.Series, chart.JoinedSeries(name, subjectStyle(i), points))
			}
		}
		of := slices.IndexFunc(rows, func(r PatternRow) bool { return r.Pattern == p })
		out = append(out, x.Chart(format.FileName("pattern", p), fmt.Sprintf("%s of %s", p, format.Plural(rows[of].Ranks, "rank")), "The median time of the rounds, by size of a message. Lines join what was measured."))
	}
	return out
}

// LibraryParameters are LogGP parameters of libraries with ways of sending, which parameters have
// as their library, side by side: in the order of libraries. Curves are one-way times by size, of
// the same libraries.
func LibraryParameters(title string, libraries []string, ps []params.Parameter, curves map[string][]chart.Point) *doc.Document {
	t := &doc.Table{Name: "parameters", Title: title, Columns: []doc.Column{{Heading: "library", IsKey: true}, {Heading: "o_s\nus", Kind: doc.NumberColumn}, {Heading: "o_r\nus", Kind: doc.NumberColumn},
		{Heading: "L\nus", Kind: doc.NumberColumn}, {Heading: "rtt/2\nus", Kind: doc.NumberColumn}, {Heading: "g\nus", Kind: doc.NumberColumn}, {Heading: "G\nus/B", Kind: doc.NumberColumn}, {Heading: "1/G\nMB/s", Kind: doc.NumberColumn}}}
	x := chart.SizePlot{YLabel: "one way (us)"}
	for i, l := range libraries {
		find := func(name, method, unit string) doc.Cell {
			for _, p := range ps {
				if p.Library == l && p.Name == name && p.Method == method && p.Unit == unit && !math.IsNaN(p.Value) {
					return parameterCell(t, &p)
				}
			}
			return doc.EmptyCell
		}
		any := func(name, unit string, methods ...string) doc.Cell {
			for _, m := range methods {
				if c := find(name, m, unit); c.Text != doc.EmptyCell.Text {
					return c
				}
			}
			return doc.EmptyCell
		}
		rate := doc.EmptyCell
		for _, p := range ps {
			if p.Library == l && p.Name == "G" && p.Method == params.MethodHalfRoundTrip && p.Value > 0 {
				rate = doc.NumberCell(1 / p.Value)
			}
		}
		t.AddRow(doc.TextCell(l), find("o_s", "timer11", params.UnitMicros), find("o_r", "timer12", params.UnitMicros), find("L", "rtt/2-o_s-o_r", params.UnitMicros), find("L", params.MethodHalfRoundTrip, params.UnitMicros),
			any("g", params.UnitMicros, "train", "o_s: upper bound", "train: upper bound"), find("G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte), rate)
		x.Series = append(x.Series, chart.JoinedSeries(l, subjectStyle(i), curves[l]))
	}
	t.AddNote("For the smallest message, o_s is a send whose receiver waits, o_r a receive whose message has arrived, and L the rest of half a round trip; g is the interval between sends of a train, G the slope of half a round trip.")
	t.AddNote("If sender and receiver must meet, a receive is the whole transfer, and there is no o_r. L is unknown if the overheads exceed half a round trip.")
	d := &doc.Document{Title: title, Footer: "Made by loggp."}
	d.AddSection(doc.Section{ID: "parameters", Title: title, Tables: []*doc.Table{t}, Figures: doc.Figures(doc.SingleWidth, x.Chart("one-way", "Half a round trip by library", "Each point is the median of the rounds."))})
	return d
}

// TimeChanges is how times differ between a reference and another data set: a summary by timer and
// mode, and each time.
func TimeChanges(before, after string, set *compare.ChangeSet) *doc.Document {
	summary, times := changesSummary(before, after, set.Changes), changesTable(set.Changes)
	addChangeNotes(summary, set)
	d := &doc.Document{Title: "Changes", Files: []doc.File{render.TableFile(times)}}
	d.AddTables("changes", "Changes", summary, times)
	return d
}

// changesSummary has a row for each timer, mode and protocol of each place, and one for all.
func changesSummary(before, after string, all []compare.Change) *doc.Table {
	t := &doc.Table{Name: "changes-summary", Title: "Change from " + before + " to " + after, Columns: []doc.Column{{Heading: "timer", IsKey: true}, {Heading: "mode", IsKey: true},
		{Heading: "sizes", Kind: doc.NumberColumn}, {Heading: "geometric\nmean %", Kind: doc.NumberColumn}, {Heading: "95 % interval\n%", Field: "geometric_mean_percent", Kind: doc.NumberColumn}, {Heading: "faster", Kind: doc.NumberColumn}, {Heading: "slower", Kind: doc.NumberColumn},
		{Heading: "largest\n%", Kind: doc.NumberColumn}, {Heading: "at", Field: "at_bytes", Kind: doc.NumberColumn}}}
	row := func(timer, mode string, of []compare.Change) {
		count := map[compare.Outcome]int{}
		most := of[0]
		for _, c := range of {
			count[c.Outcome]++
			if math.Abs(math.Log(c.Ratio)) > math.Abs(math.Log(most.Ratio)) {
				most = c
			}
		}
		mean := compare.GeometricMean(of)
		t.AddRow(doc.TextCell(timer), doc.TextCell(mode), doc.CountCell(len(of)), changeCell(mean.Ratio), changeIntervalCell(mean.Low, mean.High), doc.CountCell(count[compare.BetterOutcome]), doc.CountCell(count[compare.WorseOutcome]),
			changeCell(most.Ratio), doc.BytesCell(most.Bytes))
	}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && changeGroup(all, all[j]) == changeGroup(all, all[i]) && all[j].Timer == all[i].Timer && all[j].Mode == all[i].Mode && all[j].Protocol == all[i].Protocol {
			j++
		}
		t.BeginGroup(changeGroup(all, all[i]))
		row(all[i].Timer, all[i].Mode, all[i:j])
		i = j
	}
	if t.CountRows() > 1 {
		t.BeginGroup("")
		row("all", "", all)
	}
	return t
}

// changesTable has a row for each change.
func changesTable(all []compare.Change) *doc.Table {
	t := &doc.Table{Name: "changes", Title: "Times", TerminalRows: 30, Columns: []doc.Column{{Heading: "timer", IsKey: true}, {Heading: "mode", IsKey: true}, {Heading: "size", IsKey: true, Kind: doc.NumberColumn},
		{Heading: "before\nus", Kind: doc.NumberColumn}, {Heading: "after\nus", Kind: doc.NumberColumn}, {Heading: "change\n%", Kind: doc.NumberColumn}, {Heading: "95 % interval\n%", Field: "change_percent", Kind: doc.NumberColumn}, {Field: "outcome"}}}
	words := map[compare.Outcome]string{compare.BetterOutcome: "faster", compare.WorseOutcome: "slower", compare.NoDifferenceOutcome: "no difference", compare.UndecidedOutcome: "undecided"}
	for _, c := range all {
		t.BeginGroup(changeGroup(all, c))
		outcome := doc.TextCell(words[c.Outcome])
		if c.Outcome == compare.UndecidedOutcome || c.Outcome == compare.NoDifferenceOutcome {
			outcome = outcome.WithTone(doc.FaintTone)
		}
		interval := changeIntervalCell(c.Low, c.High)
		if math.IsNaN(c.Low) {
			interval = doc.TextCell(fmt.Sprintf("n=%d", min(c.BeforeSampleCount, c.AfterSampleCount)))
			t.AddNote("n, the fewer samples of the two, is too small for an interval.")
		}
		t.AddRow(doc.TextCell(c.Timer), doc.TextCell(c.Mode), doc.BytesCell(c.Bytes), doc.NumberCell(c.Before), doc.NumberCell(c.After), changeCell(c.Ratio), interval, outcome)
	}
	t.AddNote("Times are medians; intervals are from their bootstrap. Of many times that have not changed, one in twenty is faster or slower by chance.")
	return t
}

// changeGroup returns the place of a change, or "" if all are of one place.
func changeGroup(all []compare.Change, c compare.Change) string {
	first, last := all[0], all[len(all)-1]
	if c.Place == first.Place && c.Library == first.Library && last.Place == c.Place && last.Library == c.Library {
		return ""
	}
	return format.PlaceName(c.Platform, c.Library, c.Place)
}

// changeCell shows a ratio as a change in percent.
func changeCell(ratio float64) doc.Cell {
	return doc.Cell{Text: fmt.Sprintf("%+.1f", 100*(ratio-1)), Values: []float64{100 * (ratio - 1)}}
}

// changeIntervalCell shows the interval of a ratio; NaN: there is none.
func changeIntervalCell(low, high float64) doc.Cell {
	if math.IsNaN(low) {
		return doc.TextCell("")
	}
	return doc.Cell{Text: fmt.Sprintf("%+.1f to %+.1f", 100*(low-1), 100*(high-1)), Values: []float64{100 * (low - 1), 100 * (high - 1)}}
}

// addChangeNotes says what the numbers of a summary mean, and what it leaves out.
func addChangeNotes(t *doc.Table, set *compare.ChangeSet) {
	for _, timer := range sample.Timers {
		if slices.ContainsFunc(set.Changes, func(c compare.Change) bool { return c.Timer == timer.Name }) {
			t.AddNote("%s: %s.", timer.Name, timer.MeasuredInterval)
		}
	}
	t.AddNote("faster and slower count the sizes at which the 95 %% interval of the change does not hold 0, and reaches further than 1 %%.")
	if set.DisturbedCount > 0 {
		t.AddNote("Left out: %s that other load disturbed in one of the files, as loggp fit leaves them out.", format.Plural(set.DisturbedCount, "time"))
	}
	if set.NearZeroCount > 0 {
		t.AddNote("Left out: %s that cannot be distinguished from zero in one of the files.", format.Plural(set.NearZeroCount, "time"))
	}
	disturbed := 0
	for _, c := range set.Changes {
		if c.HasDisturbed {
			disturbed++
		}
	}
	if disturbed > 0 {
		t.AddNote("Undecided: %s of which only disturbed samples are left. Their means have no interval: measure again on a quiet machine.", format.Plural(disturbed, "time"))
	}
	if set.BirgeRatio > 1 {
		t.AddNote("From size to size, changes scatter %.1f times as much as samples do: intervals are as many times wider (Birge ratio).", set.BirgeRatio)
	}
}
