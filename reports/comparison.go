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
)

// Comparison is subjects side by side: their overheads at some sizes and their parameters with
// ratios to the first subject, from which size on calls that do not block pay, and which subject is
// faster up to which size. Without sizes it takes those nearest to 16 bytes, 1 and 10 KB.
func Comparison(c *compare.Table, sizes []int) *doc.Document {
	d := &doc.Document{Title: "Comparison", Files: []doc.File{tableFile(c)}}
	c = named(c)
	parameters := parameterTable(c)
	if slices.ContainsFunc(c.Rows, func(r compare.Row) bool {
		return slices.ContainsFunc(r.Values, func(v compare.Value) bool { return v.Verdict != params.Good })
	}) {
		parameters.Note("loggp fit prints the warnings of each file.")
	}
	d.AddTables("comparison", "Side by side", sizedTable(c, sizes), parameters, overlapTable(c), fasterTable(c))
	return d
}

func tableFile(c *compare.Table) doc.File {
	return doc.File{Name: "comparison.csv", Write: func(w io.Writer) error { return compare.WriteTable(w, c) }}
}

// named returns a comparison whose subjects have the names of transports: those of MPIs are their
// libraries'.
func named(c *compare.Table) *compare.Table {
	out := *c
	out.Subjects = slices.Clone(c.Subjects)
	for i, x := range out.Subjects {
		out.Subjects[i].Name = transport(x.Platform, x.Library, x.Name)
	}
	return &out
}

// headings say what the quantities of rows are.
var headings = map[string]string{
	"o_s": "o_s: send overhead, us", "o_r": "o_r: receive overhead, us", compare.OneWay: "one-way: half a round trip, us",
	"L": "L: latency, us", "g": "g: gap, us", "G": "G: gap a byte, us/B", compare.Bandwidth: "1/G: bandwidth, MB/s",
}

// sizedTable has the rows of some sizes that two subjects have.
func sizedTable(c *compare.Table, sizes []int) *doc.Table {
	if len(sizes) == 0 {
		sizes = slices.Compact(nearest(c.Sizes(), small, 1000, large))
	}
	t := sideBySide(c, "comparison-overheads", "Overheads side by side", doc.Column{Head: "mode", Key: true}, doc.Column{Head: "bytes", Key: true, Kind: doc.Number})
	for _, r := range c.Rows {
		if r.Sized() && len(r.Values) > 1 && slices.Contains(sizes, r.Bytes) {
			t.Group(headings[r.Name])
			addSubjects(t, c, &r, scale{r.Unit, 1}, doc.Words(r.Mode), doc.Cell{Text: strconv.Itoa(r.Bytes), Exact: []float64{float64(r.Bytes)}})
		}
	}
	return t
}

// parameterTable has the parameters that two subjects have.
func parameterTable(c *compare.Table) *doc.Table {
	t := sideBySide(c, "comparison-parameters", "Parameters side by side", doc.Column{Head: "mode", Key: true})
	in := scale{params.PerByte, 1}
	if least := leastGap(c); least < 1e-3 { // of memory it is some picoseconds
		in = scaleOf(params.PerByte, least)
	}
	for _, r := range c.Rows {
		if heading := headings[r.Name]; !r.Sized() && len(r.Values) > 1 && r.Method == "" && heading != "" {
			unit := scale{r.Unit, 1}
			if r.Name == "G" {
				t.Note("G is of the largest messages: the slope of each subject's last straight piece, whose sizes are in the CSV file.")
				unit = in
			}
			t.Group(strings.Replace(heading, params.PerByte, in.unit, 1))
			addSubjects(t, c, &r, unit, doc.Words(r.Mode))
		}
	}
	if slices.ContainsFunc(c.Subjects, func(s compare.Subject) bool { return s.Place == "intra" }) {
		t.Note("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	return t
}

// leastGap returns the least G of all subjects.
func leastGap(c *compare.Table) float64 {
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

// sideBySide returns a table with a column for each subject, and for its ratio to the reference.
func sideBySide(c *compare.Table, name, title string, keys ...doc.Column) *doc.Table {
	t := &doc.Table{Name: name, Title: title, Columns: keys}
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, doc.Column{Head: s.Name, Kind: doc.Number})
	}
	for i, s := range c.Subjects {
		switch {
		case len(c.Subjects) == 1:
		case c.Best:
			t.Columns = append(t.Columns, doc.Column{Head: "to the best\n" + s.Name, Kind: doc.Number})
		case i > 0:
			t.Columns = append(t.Columns, doc.Column{Head: "ratio of\n" + s.Name, Kind: doc.Number})
		}
	}
	switch {
	case len(c.Subjects) == 1 || c.Best:
		t.Note("± is the 95 %% interval; - means not applicable or not measured.")
	default:
		t.Note("± is the 95 %% interval; ratios are to %s.", c.Subjects[0].Name)
	}
	return t
}

// addSubjects adds a row: the values of the subjects and their ratios.
func addSubjects(t *doc.Table, c *compare.Table, r *compare.Row, in scale, keys ...doc.Cell) {
	values, ratios := slices.Repeat([]doc.Cell{doc.None}, len(c.Subjects)), slices.Repeat([]doc.Cell{doc.None}, len(c.Subjects))
	for i, v := range r.Values {
		p := in.of(v.Parameter)
		values[v.Subject] = cell(t, &p)
		if ratios[v.Subject] = ratioCell(t, v); c.Best && i == r.Reference && len(r.Values) > 1 {
			ratios[v.Subject] = doc.Words("best").In(doc.Good)
		}
	}
	if !c.Best || len(c.Subjects) == 1 {
		ratios = ratios[1:]
	}
	t.Add(slices.Concat(keys, values, ratios)...)
}

// ratioCell is a ratio, marked where no difference is shown, or it is undecided.
func ratioCell(t *doc.Table, v compare.Value) doc.Cell {
	if v.Outcome == "" || math.IsNaN(v.Ratio) {
		return doc.None
	}
	c := doc.Interval(v.Ratio, v.Least, v.Most)
	if math.IsInf(v.Most, 0) {
		c = doc.Num(v.Ratio)
	}
	switch v.Outcome {
	case compare.NoDifference:
		t.Note("≈: no difference. The ratio and its interval are within 1 %% of one.")
		c.Text += format.Glue + "≈"
		return c.In(doc.Faint)
	case compare.Unclear:
		t.Note("? after a ratio: undecided. Its interval contains one, so there may be no difference.")
		c.Text += format.Glue + "?"
		return c.In(doc.Faint)
	}
	return c
}

// overlapTable is the table of where it pays not to block. Of real machines it also has from which
// size on half of the way is free.
func overlapTable(c *compare.Table) *doc.Table {
	t := &doc.Table{Name: "non-blocking", Title: "From which size on calls that do not block pay", Columns: []doc.Column{{Head: "mode", Key: true}}, Slim: true}
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, doc.Column{Head: s.Name, Kind: doc.Prose})
	}
	var row []doc.Cell
	add := func(group, name string) {
		row = slices.Repeat([]doc.Cell{doc.None}, 1+len(c.Subjects))
		row[0] = doc.Words(name)
		t.Group(group)
		t.Add(row...)
	}
	if c.Best && len(c.Halves) > 0 {
		bound := slices.ContainsFunc(c.Free, func(x compare.Overlap) bool { return x.Bound })
		add("half round trip", map[bool]string{false: "half of the way is free", true: "half of the way may be free"}[bound])
		for _, x := range c.Halves {
			row[1+x.Subject] = doubtful(t, x, paying(x))
		}
		t.Note("free: the time of one way (rtt/2) less that of the call, isend, or, where round-trip trains with waits were measured, less all that the processor does for a message. Without them it is a bound: what the library does in the call that waits is not known.")
	}
	for i, x := range c.Overlaps {
		if i == 0 || x.Quantity != c.Overlaps[i-1].Quantity || x.Mode != c.Overlaps[i-1].Mode {
			add(map[string]string{"o_s": "sends", "o_r": "receives"}[x.Quantity], x.Mode+"/i"+x.Mode)
		}
		row[1+x.Subject] = doubtful(t, x, pays(x))
	}
	if len(c.Overlaps) > 0 {
		t.Note("The smallest size at which the blocking call costs more than %s times as much as the non-blocking one, and the range in which it lies: by the 95 %% interval, or because times jump between two sizes that were measured.",
			strconv.FormatFloat(1+c.Margin, 'g', 6, 64))
		for i, s := range c.Subjects {
			if !slices.ContainsFunc(c.Overlaps, func(x compare.Crossover) bool { return x.Subject == i }) {
				t.Note("%s has no samples of a blocking and a non-blocking call, such as send and isend, at the same sizes.", s.Name)
			}
		}
	}
	t.NoteUnits()
	return t
}

// doubtful returns a text as a cell.
func doubtful(t *doc.Table, x compare.Crossover, s string) doc.Cell {
	if x.Weak {
		t.Note("! is weak: there are few sizes, or their times are not on a line.")
		return doc.Words(s).In(doc.Doubt)
	}
	return doc.Words(s)
}

// pays says from which size on it pays not to block.
func pays(x compare.Crossover) string {
	first, last := x.Zones[0], x.Zones[len(x.Zones)-1]
	switch {
	case len(x.Crossings) == 0 && first.Side == compare.Longer && last.Side == compare.Longer:
		return "from " + format.Size(first.From) + " on" + open(x)
	case len(x.Crossings) == 0 && first.Side == compare.Shorter && last.Side == compare.Shorter:
		return "never up to " + format.Size(last.To) + open(x)
	case len(x.Crossings) == 1 && first.Side == compare.Shorter && last.Side == compare.Longer:
		return crossing(x.Crossings[0])
	}
	return story(x, "pays", "does not pay")
}

func crossing(x compare.Crossing) string {
	return format.Size(x.Bytes) + " (" + format.Sizes(x.Low, x.High) + ")"
}

// often is how many times an answer may change before its sizes are listed instead.
const often = 2

// sides lists the sizes of each answer, of a crossover that changes often.
func sides(x compare.Crossover, longer, shorter string) string {
	var parts []string
	for _, s := range []struct {
		side compare.Side
		name string
	}{{compare.Longer, longer}, {compare.Shorter, shorter}} {
		if sizes := sizesOf(x, s.side); sizes != "" {
			parts = append(parts, s.name+" "+sizes)
		}
	}
	return strings.Join(parts, "; ")
}

// sizesOf lists the zones of a side.
func sizesOf(x compare.Crossover, side compare.Side) string {
	var parts []string
	for i, z := range x.Zones {
		switch {
		case z.Side != side:
		case i == 0 && z.From < z.To:
			parts = append(parts, "up to "+format.Size(z.To))
		case i == len(x.Zones)-1:
			parts = append(parts, "from "+format.Size(z.From)+" on")
		default:
			parts = append(parts, format.Sizes(z.From, z.To))
		}
	}
	return strings.Join(parts, ", ")
}

// story tells the zones of a crossover in order, by who or what is meant by either side.
func story(x compare.Crossover, longer, shorter string) string {
	if len(x.Crossings) > often {
		return sides(x, longer, shorter)
	}
	name := map[compare.Side]string{compare.Longer: longer, compare.Shorter: shorter, compare.Even: "alike", compare.Undecided: "undecided"}
	first, last := x.Zones[0], x.Zones[len(x.Zones)-1]
	var parts []string
	answer := func(to string) { parts = append(parts, name[first.Side]+to) }
	if first.Side == compare.Undecided && len(x.Zones) > 1 {
		answer(" up to " + format.Size(first.To))
		first = x.Zones[1]
	}
	for _, c := range x.Crossings {
		answer(" up to " + crossing(c))
		first.Side = c.To
	}
	switch {
	case last.Side == compare.Undecided && first.Side != compare.Undecided:
		answer(" up to " + format.Size(last.From-1))
		parts = append(parts, "undecided")
	case len(parts) == 0 && first.Side != compare.Undecided:
		answer(" at all sizes" + open(x))
	default:
		answer("")
	}
	return strings.Join(parts, ", then ")
}

// open names the zones in the midst of others of one answer in which it is open.
func open(x compare.Crossover) string {
	var parts []string
	for _, z := range x.Zones[1:] {
		if z.Side == compare.Undecided {
			parts = append(parts, format.Sizes(z.From, z.To))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", but undecided at " + strings.Join(parts, ", ")
}

// fasterTable says of each two subjects which is faster, up to which size: a row for each answer,
// with the modes that it is of.
func fasterTable(c *compare.Table) *doc.Table {
	t := &doc.Table{Name: "comparison-faster", Title: "Which is faster, up to which size", Columns: []doc.Column{{Head: "", Key: true}, {Head: "faster", Kind: doc.Prose}, {Head: "modes", Kind: doc.Prose}}}
	for j := range c.Subjects {
		for i := range j {
			a, b := c.Subjects[i].Name, c.Subjects[j].Name
			rows := map[string][]doc.Cell{}
			for _, x := range c.Pairwise {
				if x.Subject != j || x.Against != i {
					continue
				}
				answer := doubtful(t, x, story(x, a, b))
				key := x.Quantity + answer.Marked("")
				if row := rows[key]; row != nil {
					row[2].Text += " " + x.Mode
					continue
				}
				t.Group(a + " and " + b)
				rows[key] = []doc.Cell{doc.Words(x.Quantity), answer, doc.Words(x.Mode)}
				t.Add(rows[key]...)
			}
		}
	}
	if t.Rows() > 0 {
		t.Note("The subject with the shorter one-way time also has the higher bandwidth. The change lies between the sizes in parentheses. alike: within 1 %%. undecided: the intervals contain both answers, or a protocol changes.")
	}
	t.NoteUnits()
	return t
}

// paying lists the sizes at which it pays not to block, of a crossover that changes often.
func paying(x compare.Crossover) string {
	if len(x.Crossings) < often {
		return pays(x)
	}
	return sizesOf(x, compare.Longer)
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

// Patterns are times of communication patterns, by libraries side by side.
func Patterns(title string, rows []PatternRow) *doc.Document {
	t := &doc.Table{Name: "patterns", Title: title, Columns: []doc.Column{{Head: "pattern", Key: true}, {Head: "library", Key: true}, {Head: "mode", Key: true}, {Head: "ranks", Kind: doc.Number},
		{Head: "length\nB", Kind: doc.Number}, {Head: "time\nus", Kind: doc.Number}, {Head: "throughput\nMB/s", Kind: doc.Number}}}
	for _, r := range rows {
		rate := doc.None
		if r.Rate > 0 {
			rate = doc.Num(float64(r.Rate) / 1e6)
		}
		t.Add(doc.Words(r.Pattern), doc.Words(r.Library), doc.Words(r.Mode), doc.Count(r.Ranks), doc.Bytes(r.Bytes), doc.Num(r.Time.Micros()), rate)
	}
	t.Note("Times are medians of the rounds, from the start until the last rank has ended; that of latency is half a round trip.")
	t.Note("Throughput is the data that the root handles, or each rank of all-to-all, over the time: one message for each other rank.")
	d := &doc.Document{Title: title, Footer: "Made by loggp."}
	charts := patternCharts(rows)
	if len(charts) > 0 {
		d.Lead = []string{"The same programs on all libraries, each by the calls that it has. Shorter times are better."}
	}
	d.Add(doc.Section{ID: "patterns", Title: "Times", Figures: doc.Figures(doc.Half, charts...), Tables: []*doc.Table{t}})
	return d
}

// patternCharts has a chart of times by size for each pattern that was timed for several sizes.
func patternCharts(rows []PatternRow) []*chart.Chart {
	var patterns, names []string
	for _, r := range rows {
		patterns, names = appendNew(patterns, r.Pattern), appendNew(names, r.Name())
	}
	var out []*chart.Chart
	for _, p := range patterns {
		x := chart.XY{Y: "time (us)"}
		for i, name := range names {
			var points []chart.Point
			for _, r := range rows {
				if r.Pattern == p && r.Name() == name {
					points = append(points, chart.Point{X: float64(r.Bytes), Y: r.Time.Micros()})
				}
			}
			if len(points) > 1 {
				x.Series = append(x.Series, chart.Joined(name, styleOf(i), points))
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
	t := &doc.Table{Name: "parameters", Title: title, Columns: []doc.Column{{Head: "library", Key: true}, {Head: "o_s\nus", Kind: doc.Number}, {Head: "o_r\nus", Kind: doc.Number},
		{Head: "L\nus", Kind: doc.Number}, {Head: "rtt/2\nus", Kind: doc.Number}, {Head: "g\nus", Kind: doc.Number}, {Head: "G\nus/B", Kind: doc.Number}, {Head: "1/G\nMB/s", Kind: doc.Number}}}
	x := chart.XY{Y: "one way (us)"}
	for i, l := range libraries {
		find := func(name, method, unit string) doc.Cell {
			for _, p := range ps {
				if p.Library == l && p.Name == name && p.Method == method && p.Unit == unit && !math.IsNaN(p.Value) {
					return cell(t, &p)
				}
			}
			return doc.None
		}
		any := func(name, unit string, methods ...string) doc.Cell {
			for _, m := range methods {
				if c := find(name, m, unit); c.Text != doc.None.Text {
					return c
				}
			}
			return doc.None
		}
		rate := doc.None
		for _, p := range ps {
			if p.Library == l && p.Name == "G" && p.Method == params.MethodHalfRoundTrip && p.Value > 0 {
				rate = doc.Num(1 / p.Value)
			}
		}
		t.Add(doc.Words(l), find("o_s", "timer11", params.Micros), find("o_r", "timer12", params.Micros), find("L", "rtt/2-o_s-o_r", params.Micros), find("L", params.MethodHalfRoundTrip, params.Micros),
			any("g", params.Micros, "train", "o_s: upper bound", "train: upper bound"), find("G", params.MethodHalfRoundTrip, params.PerByte), rate)
		x.Series = append(x.Series, chart.Joined(l, styleOf(i), curves[l]))
	}
	t.Note("For the smallest message, o_s is a send whose receiver waits, o_r a receive whose message has arrived, and L the rest of half a round trip; g is the interval between sends of a train, G the slope of half a round trip.")
	t.Note("If sender and receiver must meet, a receive is the whole transfer, and there is no o_r. L is unknown if the overheads exceed half a round trip.")
	d := &doc.Document{Title: title, Footer: "Made by loggp."}
	d.Add(doc.Section{ID: "parameters", Title: title, Tables: []*doc.Table{t}, Figures: doc.Figures(doc.Alone, x.Chart("one-way", "Half a round trip by library", "Each point is the median of the rounds."))})
	return d
}

// Changes is how times differ between a reference and another data set: a summary by timer and
// mode, and each time.
func Changes(before, after string, all []compare.Change) *doc.Document {
	d := &doc.Document{Title: "Changes"}
	percent := func(ratio float64) doc.Cell {
		return doc.Cell{Text: fmt.Sprintf("%+.1f", 100*(ratio-1)), Exact: []float64{100 * (ratio - 1)}}
	}
	sum := &doc.Table{Name: "changes-summary", Title: "Change from " + before + " to " + after, Columns: []doc.Column{{Head: "timer", Key: true}, {Head: "mode", Key: true},
		{Head: "sizes", Kind: doc.Number}, {Head: "geometric\nmean %", Kind: doc.Number}, {Head: "faster", Kind: doc.Number}, {Head: "slower", Kind: doc.Number},
		{Head: "largest\n%", Kind: doc.Number}, {Head: "at", Kind: doc.Number}}}
	each := &doc.Table{Name: "changes", Title: "Times", Terse: 30, Columns: []doc.Column{{Head: "timer", Key: true}, {Head: "mode", Key: true}, {Head: "size", Key: true, Kind: doc.Number},
		{Head: "before\nus", Kind: doc.Number}, {Head: "after\nus", Kind: doc.Number}, {Head: "change\n%", Kind: doc.Number}, {Head: "95 % interval\n%", Kind: doc.Number}, {Head: ""}}}
	group := func(c compare.Change) string {
		if c.Place == all[0].Place && c.Library == all[0].Library && all[len(all)-1].Place == c.Place && all[len(all)-1].Library == c.Library {
			return ""
		}
		return format.Place(c.Platform, c.Library, c.Place)
	}
	words := map[compare.Outcome]string{compare.Better: "faster", compare.Worse: "slower", compare.NoDifference: "no difference", compare.Unclear: "undecided"}
	row := func(timer, mode string, of []compare.Change) {
		count := map[compare.Outcome]int{}
		most := of[0]
		for _, c := range of {
			count[c.Outcome]++
			if math.Abs(math.Log(c.Ratio)) > math.Abs(math.Log(most.Ratio)) {
				most = c
			}
		}
		sum.Add(doc.Words(timer), doc.Words(mode), doc.Count(len(of)), percent(compare.GeometricMean(of)), doc.Count(count[compare.Better]), doc.Count(count[compare.Worse]),
			percent(most.Ratio), doc.Bytes(most.Bytes))
	}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && group(all[j]) == group(all[i]) && all[j].Timer == all[i].Timer && all[j].Mode == all[i].Mode && all[j].Protocol == all[i].Protocol {
			j++
		}
		sum.Group(group(all[i]))
		row(all[i].Timer, all[i].Mode, all[i:j])
		i = j
	}
	if sum.Rows() > 1 {
		sum.Group("")
		row("all", "", all)
	}
	for _, c := range all {
		each.Group(group(c))
		tone := doc.Words(words[c.Outcome])
		if c.Outcome == compare.Unclear || c.Outcome == compare.NoDifference {
			tone = tone.In(doc.Faint)
		}
		interval := doc.Cell{Text: fmt.Sprintf("%+.1f to %+.1f", 100*(c.Low-1), 100*(c.High-1)), Exact: []float64{100 * (c.Low - 1), 100 * (c.High - 1)}}
		if math.IsNaN(c.Low) {
			interval = doc.Words(fmt.Sprintf("n=%d", min(c.SamplesA, c.SamplesB)))
			each.Note("n, the fewer samples of the two, is too small for an interval.")
		}
		each.Add(doc.Words(c.Timer), doc.Words(c.Mode), doc.Bytes(c.Bytes), doc.Num(c.Before), doc.Num(c.After), percent(c.Ratio), interval, tone)
	}
	for _, timer := range sample.Timers {
		if slices.ContainsFunc(all, func(c compare.Change) bool { return c.Timer == timer.Name }) {
			sum.Note("%s: %s.", timer.Name, timer.Measures)
		}
	}
	sum.Note("faster and slower count the sizes at which the 95 %% interval of the change does not hold 0, and reaches further than 1 %%.")
	each.Note("Times are medians; intervals are from their bootstrap. Of many times that have not changed, one in twenty is faster or slower by chance.")
	d.AddTables("changes", "Changes", sum, each)
	return d
}
