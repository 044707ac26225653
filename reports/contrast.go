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
)

// Contrast writes what subjects say side by side: overheads at some sizes, parameters, where calls that do not block pay, and from which
// size on which subject is faster. Of no sizes it takes those nearest to 16 bytes, 1 and 10 KB.
func Contrast(w io.Writer, c *compare.Contrast, sizes []int, s Style) error {
	all := &writer{w: w, style: s}
	c = named(c)
	parameters := parameterTable(c)
	if slices.ContainsFunc(c.Readings, func(r compare.Reading) bool { return r.Verdict != params.Good }) {
		parameters.note("loggp fit prints the warnings of each file.")
	}
	for _, t := range []*Table{sizedTable(c, sizes), parameters, overlapTable(c), rivalryTable(c)} {
		all.table(t)
	}
	return all.err
}

// named returns a contrast whose subjects have the names of transports: those of MPIs are their libraries'.
func named(c *compare.Contrast) *compare.Contrast {
	out := *c
	out.Subjects = slices.Clone(c.Subjects)
	for i, x := range out.Subjects {
		out.Subjects[i].Name = transport(x.Platform, x.Library, x.Name)
	}
	return &out
}

// headings say what the quantities of readings are.
var headings = map[string]string{
	"o_s": "o_s: send overhead, us", "o_r": "o_r: receive overhead, us", compare.OneWay: "one-way: half a round trip, us",
	"L": "L: latency, us", "g": "g: gap, us", "G": "G: gap a byte, us/B", compare.Bandwidth: "1/G: bandwidth, MB/s",
	"get": "get: remote read", "put": "put: remote write",
}

// ofSize says whether a reading is of one size of many.
func ofSize(r compare.Reading) bool {
	return r.Name == "o_s" || r.Name == "o_r" || r.Name == compare.OneWay
}

// CommonSizes returns the sizes at which two subjects have overheads at least.
func CommonSizes(c *compare.Contrast) []int {
	var all []int
	for _, r := range c.Readings {
		if ofSize(r) {
			all = append(all, r.From)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func sizedTable(c *compare.Contrast, sizes []int) *Table {
	if len(sizes) == 0 {
		sizes = slices.Compact(nearest(CommonSizes(c), small, 1000, large))
	}
	t := &Table{Name: "contrast-overheads", Title: "Overheads side by side", Columns: []Column{{Head: "mode", Key: true}, {Head: "bytes", Key: true, Right: true}}}
	sideBySide(t, c, func(r compare.Reading) bool { return ofSize(r) && slices.Contains(sizes, r.From) })
	return t
}

func parameterTable(c *compare.Contrast) *Table {
	t := &Table{Name: "contrast-parameters", Title: "Parameters side by side", Columns: []Column{{Head: "mode", Key: true}}}
	sideBySide(t, c, func(r compare.Reading) bool { return !ofSize(r) })
	if slices.ContainsFunc(c.Readings, func(r compare.Reading) bool { return r.Name == "G" }) {
		t.note("G is of the longest messages: each subject's is the slope of its last straight piece, whose sizes are in the CSV file.")
	}
	if slices.ContainsFunc(c.Subjects, func(s compare.Subject) bool { return s.Place == "intra" }) {
		t.note("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	return t
}

// sideBySide adds the columns of subjects, and a row for each mode and size of the readings that are wanted.
func sideBySide(t *Table, c *compare.Contrast, want func(compare.Reading) bool) {
	keys := len(t.Columns)
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, Column{Head: s.Name, Right: true})
	}
	for _, s := range c.Subjects[1:] {
		t.Columns = append(t.Columns, Column{Head: "ratio of\n" + s.Name, Right: true})
	}
	if len(c.Subjects) > 1 {
		t.note("± is the 95 %% interval; ratios are to %s.", c.Subjects[0].Name)
	}
	n := len(c.Subjects)
	var row []Cell
	var last compare.Reading
	var in scale
	for _, r := range c.Readings {
		if !want(r) {
			continue
		}
		if row == nil || r.Name != last.Name {
			in = unitOf(c, r.Name)
			t.group(strings.Replace(headings[r.Name], params.PerByte, in.unit, 1))
		}
		if row == nil || r.Name != last.Name || r.Mode != last.Mode || ofSize(r) && r.From != last.From {
			row = slices.Repeat([]Cell{none}, keys+2*n-1)
			row[0] = text(r.Mode)
			if keys > 1 {
				row[1] = text(strconv.Itoa(r.From))
			}
			t.add(row...)
			row = t.Groups[len(t.Groups)-1].Rows[len(t.Groups[len(t.Groups)-1].Rows)-1]
		}
		last = r
		p := in.of(r.Parameter)
		row[keys+r.Subject] = cell(t, &p)
		if r.Subject > 0 {
			row[keys+n+r.Subject-1] = ratioCell(t, r)
		}
	}
}

// unitOf returns the unit in which readings are shown: that of the fit, but for gaps a byte of memory, which are some picoseconds.
func unitOf(c *compare.Contrast, name string) scale {
	least := math.Inf(1)
	for _, r := range c.Readings {
		if r.Name == name && name == "G" && r.Value > 0 {
			least = math.Min(least, r.Value)
		}
	}
	if least < 1e-3 {
		return scaleOf(params.PerByte, least)
	}
	return scale{params.PerByte, 1}
}

// ratioCell is a ratio, marked where it says that nothing differs, or does not say.
func ratioCell(t *Table, r compare.Reading) Cell {
	if r.Difference == "" || math.IsNaN(r.Ratio) {
		return none
	}
	c := Cell{Text: measured(r.Ratio, r.Least, r.Most)}
	if math.IsInf(r.Most, 0) {
		c.Text = number(r.Ratio)
	}
	switch r.Difference {
	case compare.Alike:
		t.note("≈ is alike: the ratio is within 1 %% of one, interval and all.")
		return Cell{c.Text + glue + "≈", Faint}
	case compare.Unclear:
		t.note("? behind a ratio: its interval holds one, so that the difference may be none.")
		return Cell{c.Text + glue + "?", Faint}
	}
	return c
}

func overlapTable(c *compare.Contrast) *Table {
	t := &Table{Name: "contrast-overlap", Title: "From which size on calls that do not block pay", Columns: []Column{{Head: "mode", Key: true}}}
	for _, s := range c.Subjects {
		t.Columns = append(t.Columns, Column{Head: s.Name, Wrap: true})
	}
	var last compare.Crossover
	var row []Cell
	for _, x := range c.Overlaps {
		if row == nil || x.Quantity != last.Quantity {
			t.group(map[string]string{"o_s": "sends", "o_r": "receives"}[x.Quantity])
		}
		if row == nil || x.Quantity != last.Quantity || x.Mode != last.Mode {
			row = slices.Repeat([]Cell{none}, 1+len(c.Subjects))
			row[0] = text(x.Mode + "/i" + x.Mode)
			t.add(row...)
		}
		last = x
		row[1+x.Subject] = doubtful(t, x, pays(x))
	}
	if t.rows() > 0 {
		t.note("The smallest size at which the call that blocks costs more than %s times as much as the one that does not, and the sizes in between which that lies: by the 95 %% interval, or because times change by a step between two sizes that were measured.",
			strconv.FormatFloat(1+c.Margin, 'g', 6, 64))
		for _, s := range c.Subjects {
			if !slices.ContainsFunc(c.Overlaps, func(x compare.Crossover) bool { return c.Subjects[x.Subject].Name == s.Name }) {
				t.note("%s has samples of no pair of calls, such as send and isend, that have sizes in common.", s.Name)
			}
		}
	}
	t.units()
	return t
}

// doubtful returns a text as a cell.
func doubtful(t *Table, x compare.Crossover, s string) Cell {
	if x.Weak {
		t.note("! is weak: it rests on few sizes, or on times that are not on a line.")
		return Cell{s, Doubt}
	}
	return text(s)
}

// pays says from which size on it pays not to block.
func pays(x compare.Crossover) string {
	first, last := x.Zones[0], x.Zones[len(x.Zones)-1]
	switch {
	case len(x.Crossings) == 0 && first.Side == compare.Longer && last.Side == compare.Longer:
		return "from " + size(first.From) + " on" + open(x)
	case len(x.Crossings) == 0 && first.Side == compare.Shorter && last.Side == compare.Shorter:
		return "never up to " + size(last.To) + open(x)
	case len(x.Crossings) == 1 && first.Side == compare.Shorter && last.Side == compare.Longer:
		return crossing(x.Crossings[0])
	}
	return story(x, "pays", "does not pay")
}

func crossing(x compare.Crossing) string { return size(x.Bytes) + " (" + between(x.Low, x.High) + ")" }

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
			parts = append(parts, "up to "+size(z.To))
		case i == len(x.Zones)-1:
			parts = append(parts, "from "+size(z.From)+" on")
		default:
			parts = append(parts, between(z.From, z.To))
		}
	}
	return strings.Join(parts, ", ")
}

// story tells the zones of a crossover in order, by who or what is meant by either side.
func story(x compare.Crossover, longer, shorter string) string {
	if len(x.Crossings) > often {
		return sides(x, longer, shorter)
	}
	name := map[compare.Side]string{compare.Longer: longer, compare.Shorter: shorter, compare.Even: "alike", compare.Undecided: "unclear"}
	first, last := x.Zones[0], x.Zones[len(x.Zones)-1]
	var parts []string
	answer := func(to string) { parts = append(parts, name[first.Side]+to) }
	if first.Side == compare.Undecided && len(x.Zones) > 1 {
		answer(" up to " + size(first.To))
		first = x.Zones[1]
	}
	for _, c := range x.Crossings {
		answer(" up to " + crossing(c))
		first.Side = c.To
	}
	switch {
	case last.Side == compare.Undecided && first.Side != compare.Undecided:
		answer(" up to " + size(last.From-1))
		parts = append(parts, "unclear")
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
			parts = append(parts, between(z.From, z.To))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", but unclear at " + strings.Join(parts, ", ")
}

func rivalryTable(c *compare.Contrast) *Table {
	t := &Table{Name: "contrast-faster", Title: "Which is faster, up to which size", Columns: []Column{{Head: "", Key: true}, {Head: "faster", Wrap: true}, {Head: "modes", Wrap: true}}}
	for j := range c.Subjects {
		for i := range j {
			t.rival(c, i, j)
		}
	}
	if t.rows() > 0 {
		t.note("Of one-way messages, who is faster has the higher bandwidth, too. In parentheses are the sizes in between which the change lies. alike: within 1 %%. unclear: the intervals do not say, or a protocol changes.")
	}
	t.units()
	return t
}

// rival adds what there is of two subjects: a row for each answer, with the modes of which it is the answer.
func (t *Table) rival(c *compare.Contrast, i, j int) {
	a, b := c.Subjects[i].Name, c.Subjects[j].Name
	rows := map[[2]string]int{}
	for _, x := range c.Rivalries {
		if x.Subject != j || x.Against != i {
			continue
		}
		if len(rows) == 0 {
			t.group(a + " and " + b)
		}
		g := &t.Groups[len(t.Groups)-1]
		cell := doubtful(t, x, story(x, a, b))
		key := [2]string{x.Quantity, cell.Text + fmt.Sprint(cell.Tone)}
		if n, ok := rows[key]; ok {
			g.Rows[n][2].Text += " " + x.Mode
			continue
		}
		rows[key] = len(g.Rows)
		t.add(text(x.Quantity), cell, text(x.Mode))
	}
}

// paying lists the sizes at which it pays not to block, of a crossover that changes often.
func paying(x compare.Crossover) string {
	if len(x.Crossings) < often {
		return pays(x)
	}
	return sizesOf(x, compare.Longer)
}
