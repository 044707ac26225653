package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// modes are in the order in which they are shown. Others follow as they come.
var modes = []string{"send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend", "message"}

// The sizes at which overheads are shown, or the nearest that were measured: those of table 3 of
// Al-Tawil and Moritz.
const (
	small = 16
	large = 10000
)

// Parameters is what a fit found: the tiers of ranks where all pairs were measured, for each place
// a table with a row for each mode, the readings of L, the eager limit and the ranges of sizes, and
// the warnings.
func Parameters(r *fit.Result) *doc.Document {
	d := &doc.Document{Title: "LogGP parameters"}
	d.Files = []doc.File{parameterFile(r.Parameters)}
	for _, x := range r.Tiers {
		d.AddTables("tiers", "Tiers", tiersTable(x), pairsTable(x))
	}
	for _, p := range places(r) {
		d.AddTables("parameters", "Parameters by mode", p.parameters(), p.latencies(), p.eagerLimits(), p.ranges())
	}
	d.Add(warnings(r.Warnings))
	return d
}

func parameterFile(ps []params.Parameter) doc.File {
	return doc.File{Name: "parameters.csv", Write: func(w io.Writer) error { return params.WriteParameters(w, ps) }}
}

// place is what a fit says of one platform, library and place.
type place struct {
	platform, library, place string

	rows       []params.Parameter
	curves     []curve.Curve
	handshakes []params.Handshake
}

// places splits a result, in the order of its parameters and then of its curves.
func places(r *fit.Result) []*place {
	var all []*place
	at := func(platform, library, where string) *place {
		for _, p := range all {
			if p.platform == platform && p.library == library && p.place == where {
				return p
			}
		}
		all = append(all, &place{platform: platform, library: library, place: where})
		return all[len(all)-1]
	}
	for _, x := range r.Parameters {
		p := at(x.Platform, x.Library, x.Place)
		p.rows = append(p.rows, x)
	}
	for _, x := range r.Curves {
		p := at(x.Platform, x.Library, x.Place)
		p.curves = append(p.curves, x)
	}
	for _, x := range r.Handshakes {
		p := at(x.Platform, x.Library, x.Place)
		p.handshakes = append(p.handshakes, x)
	}
	return all
}

// String names the place for a title.
func (p *place) String() string { return format.Place(p.platform, p.library, p.place) }

// modes returns the modes that the place has parameters of. H and P are of none.
func (p *place) modes() []string {
	var all []string
	for _, x := range p.rows {
		if x.Unit != params.Count && !slices.Contains(all, x.Mode) {
			all = append(all, x.Mode)
		}
	}
	rank := func(mode string) int {
		if i := slices.Index(modes, mode); i >= 0 {
			return i
		}
		return len(modes)
	}
	slices.SortStableFunc(all, func(a, b string) int { return rank(a) - rank(b) })
	return all
}

// parameters is the table of all modes.
func (p *place) parameters() *doc.Table {
	t := &doc.Table{Name: "parameters-by-mode", Title: "LogGP parameters of " + p.String(),
		Columns: []doc.Column{{Head: "mode", Key: true}}}
	if p.place == "intra" {
		t.Note("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	sizes := p.sizes()
	for _, name := range []string{"o_s", "o_r"} {
		for _, k := range sizes {
			t.Columns = append(t.Columns, doc.Column{Head: name + " us\n" + format.Size(k), Kind: doc.Number})
		}
	}
	for _, head := range []string{"L\nus", "g\nus", "G\nus/B", "1/G\nMB/s"} {
		t.Columns = append(t.Columns, doc.Column{Head: head, Kind: doc.Number})
	}
	for _, mode := range p.modes() {
		row := []doc.Cell{{Text: mode}}
		for _, name := range []string{"o_s", "o_r"} {
			for _, k := range sizes {
				row = append(row, p.overhead(t, mode, name, k))
			}
		}
		l, g, big := p.first(mode, "L"), p.first(mode, "g"), p.first(mode, "G")
		t.Add(append(row, cell(t, l), cell(t, g), cell(t, big), rate(t, big))...)
	}
	p.legend(t)
	return t
}

// sizes returns the two sizes that overheads are shown at: the measured ones nearest to small and
// large.
func (p *place) sizes() []int {
	var all []int
	for _, c := range p.curves {
		if _, ok := overheads[c.Timer]; ok && chosen(c) {
			for _, x := range c.Points {
				all = append(all, x.Bytes)
			}
		}
	}
	for _, x := range p.rows { // of a file there are no curves
		if len(p.curves) == 0 && (x.Name == "o_s" || x.Name == "o_r") {
			all = append(all, x.From, x.To)
		}
	}
	slices.Sort(all)
	return slices.Compact(nearest(slices.Compact(all), small, large))
}

// nearest returns for each wish the nearest of some sizes, by their ratio.
func nearest(sizes []int, wishes ...int) []int {
	var out []int
	for _, w := range wishes {
		best, least := -1, math.Inf(1)
		for _, k := range sizes {
			if d := math.Abs(math.Log(float64(max(k, 1))) - math.Log(float64(w))); d < least {
				best, least = k, d
			}
		}
		if best >= 0 {
			out = append(out, best)
		}
	}
	return out
}

// overheads are the timers that can show an overhead.
var overheads = map[string]bool{sample.Timer11: true, sample.TimerIdle: true, sample.Timer12: true, sample.Timer21: true}

// chosen says whether the protocol was the library's choice.
func chosen(c curve.Curve) bool {
	return c.Protocol == "" || c.Protocol == "auto" || c.Mode == "message"
}

// overhead returns o_s or o_r at a size: as measured there, or on the piece that was fitted.
func (p *place) overhead(t *doc.Table, mode, name string, k int) doc.Cell {
	first := p.first(mode, name)
	if first == nil {
		return doc.None
	}
	tone := tone(t, first)
	if x := p.point(first, k); x != nil {
		return measured(t, x.Value, x.Low, x.High, x.Samples).In(tone)
	}
	if v, ok := p.at(mode, name, k); ok {
		t.Note("~ lies on a fitted line: that size was not measured.")
		return doc.Words("~" + format.Number(v)).In(tone)
	}
	return doc.None
}

// at returns the same as a number.
func (p *place) at(mode, name string, k int) (float64, bool) {
	if first := p.first(mode, name); first != nil {
		if x := p.point(first, k); x != nil {
			return x.Value, true
		}
	}
	return params.ValueAt(p.rows, mode, name, k)
}

// point returns what was measured of a parameter at a size, or nil.
func (p *place) point(of *params.Parameter, k int) *curve.Point {
	for _, c := range p.curves {
		if c.Mode != of.Mode || c.Timer != of.Method || !chosen(c) {
			continue
		}
		for i := range c.Points {
			if c.Points[i].Bytes == k {
				return &c.Points[i]
			}
		}
	}
	return nil
}

// first returns the row of a parameter that counts: the first that is no mere convention, as
// params.ValueAt takes it, or else the first, which then has no number.
func (p *place) first(mode, name string) *params.Parameter {
	counts := func(x *params.Parameter) bool {
		return (x.Unit == params.PerByte) == (name == "G" || name == "S") && !(name == "L" && convention(x.Method))
	}
	if x := p.row(mode, name, func(x *params.Parameter) bool { return counts(x) && !math.IsNaN(x.Value) }); x != nil {
		return x
	}
	return p.row(mode, name, counts)
}

// convention says whether a method is another reading of L, which is not comparable with the
// others.
func convention(method string) bool {
	return strings.HasPrefix(method, params.MethodHalfRoundTripLessGap) || method == params.MethodHalfRoundTrip || strings.HasPrefix(method, params.MethodHalfRoundTrip+":")
}

// cell returns a parameter with its interval.
func cell(t *doc.Table, p *params.Parameter) doc.Cell {
	switch {
	case p == nil:
		return doc.None
	case p.Unit == params.Count && !math.IsNaN(p.Value):
		return doc.Words(format.Span(int(p.Low), int(p.High))).In(tone(t, p))
	case math.IsNaN(p.Value):
		t.Note("? could not be determined from these samples: the warnings say why.")
		return doc.Words("?").In(doc.Faint)
	case p.IsBound():
		t.Note("≤ is an upper bound: the samples show only that the value is not larger.")
		text := format.AtMost(p.Value, p.High)
		if math.IsNaN(p.High) {
			text = withCount(t, text, p.FewestSamples)
		}
		return doc.Words(text).In(doc.Faint)
	}
	return measured(t, p.Value, p.Low, p.High, p.FewestSamples).In(tone(t, p))
}

// measured returns a value with its interval, or if it has none with n, the number of samples.
func measured(t *doc.Table, value, low, high float64, n int) doc.Cell {
	c := doc.Interval(value, low, high)
	if math.IsNaN(high) && !math.IsNaN(value) && n < clean.LeastForInterval {
		c.Text = withCount(t, c.Text, n)
	}
	return c
}

// withCount adds the number of samples of a size, as far as it is known, to a value that has no
// interval.
func withCount(t *doc.Table, text string, n int) string {
	t.Note("Values without ± are medians of n samples a size: fewer than %d are too few for an interval.", clean.LeastForInterval)
	if n > 0 {
		text += fmt.Sprintf("%sn=%d", format.Glue, n)
	}
	return text
}

// rate returns the bandwidth of a gap a byte.
func rate(t *doc.Table, p *params.Parameter) doc.Cell {
	if p == nil || math.IsNaN(p.Value) || p.Value <= 0 {
		return cell(t, p)
	}
	return measured(t, 1/p.Value, 1/p.High, 1/p.Low, p.FewestSamples).In(tone(t, p))
}

// tone returns that of a parameter.
func tone(t *doc.Table, p *params.Parameter) doc.Tone {
	if p.Verdict == params.Weak || p.Verdict == params.Bad {
		t.Note("! is weak: the interval is wide, sizes or repetitions are few, or a warning applies; ± then understates the uncertainty.")
		return doc.Doubt
	}
	return doc.Normal
}

// legend explains the table.
func (p *place) legend(t *doc.Table) {
	t.Notes = append([]string{"± is the 95 % interval; - means not applicable or not measured."}, t.Notes...)
	for _, name := range []string{"o_s", "o_r", "L", "g", "G"} {
		var methods, extents grouped
		for _, mode := range p.modes() {
			x := p.first(mode, name)
			if x == nil || math.IsNaN(x.Value) {
				continue
			}
			if x.Method != params.MethodOverheadBound && !x.IsBound() {
				methods.add(x.Method, mode)
			}
			if name == "G" && x.From >= 0 {
				extents.add(format.Sizes(x.From, x.To), mode)
			}
		}
		if n := len(methods.keys); n > 1 || n == 1 && !(name == "o_s" && methods.keys[0] == sample.Timer11) {
			t.Note("%s is %s.", name, methods.list(" "))
		}
		if len(extents.keys) > 0 {
			t.Note("G is the slope from %s.", extents.list(" "))
		}
	}
}

// eagerLimits is the table of the eager limit S of each mode that has one, with its evidence.
func (p *place) eagerLimits() *doc.Table {
	t := &doc.Table{Name: "eager-limits", Title: "Eager limit, " + p.String(), Columns: []doc.Column{{Head: "mode", Key: true},
		{Head: "S", Kind: doc.Number}, {Head: "jump\nus", Kind: doc.Number}, {Head: "round trip\nus", Kind: doc.Number}, {Head: "evidence"}}}
	for _, h := range p.handshakes {
		evidence := "round trip; other timers do not contradict it"
		if !h.Confirmed {
			evidence = "round trip only: no other timer changes there"
		}
		t.Add(doc.Words(h.Mode), p.eager(t, h.Mode), doc.Num(h.Jump), doc.Num(h.RoundTrip), doc.Words(evidence))
	}
	t.Note("S of LogGPS is the largest message that does not wait for its receiver; it is in this range. Above it a round trip costs the jump more, for a handshake, which takes at least the round trip of a small message.")
	t.NoteUnits()
	return t
}

// ranges is the table of the ranges of sizes over which one line fits an overhead.
func (p *place) ranges() *doc.Table {
	t := &doc.Table{Name: "ranges", Title: "Ranges of sizes, each fitted by a straight line, " + p.String(),
		Columns: []doc.Column{{Head: "mode", Key: true}, {Head: "o_s", Kind: doc.Prose}, {Head: "o_r", Kind: doc.Prose}}}
	for _, mode := range p.modes() {
		t.Add(doc.Words(mode), p.extents(t, mode, "o_s"), p.extents(t, mode, "o_r"))
	}
	t.NoteUnits()
	return t
}

// extents lists the ranges of a parameter.
func (p *place) extents(t *doc.Table, mode, name string) doc.Cell {
	var words []string
	first := p.first(mode, name)
	for _, x := range p.rows {
		if x.Mode != mode || x.Name != name || x.Unit != params.Micros || x.From < 0 || x.Method != first.Method {
			continue
		}
		extent := format.Sizes(x.From, x.To)
		switch x.Verdict {
		case params.Weak:
			extent += doc.Mark
			t.Note("! is weak: times are not on one line, too few, or uncertain.")
		case params.Bad:
			extent += fmt.Sprintf("%s (off %.2g %%)", doc.Mark+doc.Mark, 100*x.MedianDeviation)
			t.Note("!! is bad: poor linear fit. Half of the times are at least as far off as shown: use the measured times.")
		}
		words = append(words, extent)
	}
	if len(words) == 0 {
		return doc.None
	}
	return doc.Words(strings.Join(words, ", "))
}

// pieces is the table of the straight pieces.
func (p *place) pieces() *doc.Table {
	t := &doc.Table{Name: "pieces", Title: "Overheads by ranges of sizes, " + p.String(), Columns: []doc.Column{
		{Head: "mode", Key: true}, {Head: "", Key: true}, {Head: "from", Kind: doc.Number, Key: true}, {Head: "to", Kind: doc.Number},
		{Head: "at its begin\nus", Kind: doc.Number}, {Head: "each byte adds\nus/B", Kind: doc.Number}, {Head: "samples", Kind: doc.Number}}}
	for _, mode := range p.modes() {
		for _, name := range []string{"o_s", "o_r"} {
			for i := range p.rows {
				x := &p.rows[i]
				if x.Mode == mode && x.Name == name && x.Unit == params.Micros && x.From >= 0 {
					t.Add(doc.Words(mode), doc.Words(name), doc.Bytes(x.From), doc.Bytes(x.To), cell(t, x), cell(t, p.slope(x)), doc.Count(x.Samples))
				}
			}
		}
	}
	t.NoteUnits()
	return t
}

// slope returns the row of the slope that belongs to a value, or nil.
func (p *place) slope(of *params.Parameter) *params.Parameter {
	return p.row(of.Mode, of.Name, func(x *params.Parameter) bool {
		return x.From == of.From && x.To == of.To && x.Method == of.Method && x.Unit == params.PerByte
	})
}

// row returns the first row of a parameter that is as wanted, or nil.
func (p *place) row(mode, name string, is func(*params.Parameter) bool) *params.Parameter {
	for i := range p.rows {
		if x := &p.rows[i]; x.Mode == mode && x.Name == name && is(x) {
			return x
		}
	}
	return nil
}

// limit returns the eager limit S of a mode, or nil.
func (p *place) limit(mode string) *params.Parameter {
	return p.row(mode, "S", func(x *params.Parameter) bool { return x.Unit == params.Bytes && !math.IsNaN(x.Value) })
}

// readings are the conventions of L, in the order of columns: the head of each, and its method.
var readings = []struct{ head, method string }{
	{"LogP\nrtt/2-o_s-o_r", params.MethodRoundTrip}, {"paper\ntimer21-timer12", params.MethodReceiveDifference}, {"PLogP\nrtt/2-g", params.MethodHalfRoundTripLessGap}, {"with overheads\nrtt/2", params.MethodHalfRoundTrip},
}

// latencies is the table of the readings of L in all modes that have one, in microseconds.
func (p *place) latencies() *doc.Table {
	t := &doc.Table{Name: "latencies", Title: "L by convention, us, " + p.String(), Columns: []doc.Column{{Head: "mode", Key: true}}}
	used := slices.Clone(readings)
	used = slices.DeleteFunc(used, func(r struct{ head, method string }) bool {
		return !slices.ContainsFunc(p.modes(), func(mode string) bool { return p.latency(mode, r.method) != nil })
	})
	for _, r := range used {
		t.Columns = append(t.Columns, doc.Column{Head: r.head, Kind: doc.Number})
	}
	for _, mode := range p.modes() {
		row, any := []doc.Cell{doc.Words(mode)}, false
		for _, r := range used {
			x := p.latency(mode, r.method)
			any = any || x != nil
			row = append(row, cell(t, x))
		}
		if any {
			t.Add(row...)
		}
	}
	t.Note("They differ in what is subtracted from half a round trip: LogP subtracts both overheads, PLogP the gap, and rtt/2 nothing. The paper's L exists for ssend only.")
	return t
}

// latency returns the row of L by a method, or nil.
func (p *place) latency(mode, method string) *params.Parameter {
	return p.row(mode, "L", func(x *params.Parameter) bool { return x.Method == method || x.Method == method+": not identifiable" })
}

// tiersSection shows which ranks are near each other: the tiers, the time between each two ranks,
// and a heat map.
func tiersSection(all []tiers.Tiers) doc.Section {
	if len(all) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "tiers", Title: "Tiers", Text: []string{"Which ranks are near each other, found from the times of all pairs alone."}}
	for _, x := range all {
		s.Tables = append(s.Tables, tiersTable(x), pairsTable(x))
		s.Figures = append(s.Figures, doc.Figures(doc.Narrow, chart.Matrix(format.FileName("tiers", x.Platform, x.Library), "How near ranks are to each other, "+format.Place(x.Platform, x.Library, ""), x))...)
	}
	return s
}

// pairsTable is the one-way time between each two ranks, of few ranks.
func pairsTable(x tiers.Tiers) *doc.Table {
	const most = 16
	t := &doc.Table{Name: "pairs", Title: fmt.Sprintf("One-way time between ranks, us, %s: half a round trip of %s, %s", format.Place(x.Platform, x.Library, ""), x.Mode, format.Size(x.Bytes)), Columns: []doc.Column{{Head: "rank", Kind: doc.Number, Key: true}}}
	if x.Mode == "" || len(x.Ranks) > most || len(x.Pairs) == 1 {
		return t
	}
	way := make(map[[2]int]doc.Cell)
	for _, p := range x.Pairs {
		if p.OneWay == p.OneWay {
			way[[2]int{p.A, p.B}] = doc.Words(fmt.Sprintf("%.3g", p.OneWay))
		}
	}
	for _, r := range x.Ranks {
		t.Columns = append(t.Columns, doc.Column{Head: strconv.Itoa(r), Kind: doc.Number})
	}
	for _, a := range x.Ranks {
		cells := []doc.Cell{doc.Count(a)}
		for _, b := range x.Ranks {
			c, ok := way[[2]int{min(a, b), max(a, b)}]
			if !ok {
				c = doc.Words(format.None)
			}
			cells = append(cells, c)
		}
		t.Add(cells...)
	}
	return t
}

// tiersTable says which ranks are near each other.
func tiersTable(x tiers.Tiers) *doc.Table {
	t := &doc.Table{Name: "tiers", Title: fmt.Sprintf("Tiers of %s: %s of %d ranks", format.Place(x.Platform, x.Library, ""), format.Plural(len(x.Pairs), "pair"), len(x.Ranks)),
		Columns: []doc.Column{{Head: "tier", Key: true}, {Head: "pairs", Kind: doc.Number}, {Head: "one way\nus", Kind: doc.Number}, {Head: "time,\nnearest 1", Kind: doc.Number},
			{Head: "groups", Kind: doc.Number}, {Head: "ranks\nof each", Kind: doc.Number}, {Head: "members", Kind: doc.Prose}}}
	for _, l := range x.Levels {
		way := doc.Words(format.None)
		if l.OneWay == l.OneWay {
			way = doc.Words(fmt.Sprintf("%.3g", l.OneWay))
		}
		t.Add(doc.Words(l.Place), doc.Count(l.Pairs), way, doc.Words(fmt.Sprintf("%.3g", l.Times)), doc.Count(len(l.Groups)), doc.Words(extent(l.Groups)), doc.Words(company(l.Groups)))
	}
	if x.Mode != "" {
		t.Note("One way is half a round trip of %s, %s: the median of the pairs of the tier.", x.Mode, format.Size(x.Bytes))
	}
	switch {
	case len(x.Pairs) == 1:
		t.Note("One pair shows no tiers: measure more ranks (--ranks).")
	case len(x.Levels) == 1:
		t.Note("One tier: these samples show no ranks that are nearer to each other than others.")
	case len(x.Levels) == 2:
		t.Note("H is the number of groups of tier intra, P the ranks of each.")
	default:
		t.Note("The ranks of a group are no farther from each other than its tier. Each group consists of whole groups of the tier above it in the table.")
	}
	return t
}

// extent says how large groups are.
func extent(groups [][]int) string {
	low, high := len(groups[0]), len(groups[0])
	for _, g := range groups {
		low, high = min(low, len(g)), max(high, len(g))
	}
	return format.Span(low, high)
}

// company lists groups: 0-7; 8, 10, 12-15.
func company(groups [][]int) string {
	var all []string
	for _, g := range groups {
		var runs []string
		for i := 0; i < len(g); {
			j := i
			for j+1 < len(g) && g[j+1] == g[j]+1 {
				j++
			}
			switch {
			case j > i+1:
				runs = append(runs, fmt.Sprintf("%d-%d", g[i], g[j]))
			default:
				for _, rank := range g[i : j+1] {
					runs = append(runs, strconv.Itoa(rank))
				}
			}
			i = j + 1
		}
		all = append(all, strings.Join(runs, ", "))
	}
	return strings.Join(all, "; ")
}
