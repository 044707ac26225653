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
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// modeOrder are in the order in which they are shown. Others follow as they come.
var modeOrder = []string{"send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend", "message"}

// The sizes at which overheads are shown, or the nearest that were measured: those of table 3 of
// Al-Tawil and Moritz.
const (
	smallMessageBytes = 16
	largeMessageBytes = 10000
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
	for _, p := range fittedPlaces(r) {
		d.AddTables("parameters", "Parameters by mode", p.parameterTable(), p.latencyTable(), p.eagerLimitTable(), p.rangeTable())
	}
	d.AddSection(warningSection(r.Warnings))
	return d
}

func parameterFile(ps []params.Parameter) doc.File {
	return doc.File{Name: "parameters.csv", Write: func(w io.Writer) error { return params.WriteParameters(w, ps) }}
}

// fittedPlace is what a fit says of one platform, library and place.
type fittedPlace struct {
	platform, library, place string

	parameters         []params.Parameter
	curves             []curve.Curve
	eagerLimitEvidence []params.EagerLimitEvidence
}

// fittedPlaces splits a result, in the order of its parameters and then of its curves.
func fittedPlaces(r *fit.Result) []*fittedPlace {
	var all []*fittedPlace
	at := func(platform, library, where string) *fittedPlace {
		for _, p := range all {
			if p.platform == platform && p.library == library && p.place == where {
				return p
			}
		}
		all = append(all, &fittedPlace{platform: platform, library: library, place: where})
		return all[len(all)-1]
	}
	for _, x := range r.Parameters {
		p := at(x.Platform, x.Library, x.Place)
		p.parameters = append(p.parameters, x)
	}
	for _, x := range r.Curves {
		p := at(x.Platform, x.Library, x.Place)
		p.curves = append(p.curves, x)
	}
	for _, x := range r.EagerLimitEvidence {
		p := at(x.Platform, x.Library, x.Place)
		p.eagerLimitEvidence = append(p.eagerLimitEvidence, x)
	}
	return all
}

// String names the place for a title.
func (p *fittedPlace) String() string { return format.PlaceName(p.platform, p.library, p.place) }

// modeNames returns the modes that the place has parameters of. H and P are of none.
func (p *fittedPlace) modeNames() []string {
	var all []string
	for _, x := range p.parameters {
		if x.Unit != params.UnitCount && !slices.Contains(all, x.Mode) {
			all = append(all, x.Mode)
		}
	}
	rank := func(mode string) int {
		if i := slices.Index(modeOrder, mode); i >= 0 {
			return i
		}
		return len(modeOrder)
	}
	slices.SortStableFunc(all, func(a, b string) int { return rank(a) - rank(b) })
	return all
}

// parameterTable is the table of all modes.
func (p *fittedPlace) parameterTable() *doc.Table {
	t := &doc.Table{Name: "parameters-by-mode", Title: "LogGP parameters of " + p.String(),
		Columns: []doc.Column{{Heading: "mode", IsKey: true}}}
	if p.place == "intra" {
		t.AddNote("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	sizes := p.shownSizes()
	for _, name := range []string{"o_s", "o_r"} {
		for _, k := range sizes {
			t.Columns = append(t.Columns, doc.Column{Heading: name + " us\n" + format.Size(k), Field: fmt.Sprintf("%s_%dB_us", name, k), Kind: doc.NumberColumn})
		}
	}
	for _, head := range []string{"L\nus", "g\nus", "G\nus/B"} {
		t.Columns = append(t.Columns, doc.Column{Heading: head, Kind: doc.NumberColumn})
	}
	t.Columns = append(t.Columns, doc.Column{Heading: "1/G\nMB/s", Field: "bandwidth_MB_per_s", Kind: doc.NumberColumn})
	for _, mode := range p.modeNames() {
		row := []doc.Cell{{Text: mode}}
		for _, name := range []string{"o_s", "o_r"} {
			for _, k := range sizes {
				row = append(row, p.overheadCell(t, mode, name, k))
			}
		}
		l, g, big := p.firstRow(mode, "L"), p.firstRow(mode, "g"), p.firstRow(mode, "G")
		t.AddRow(append(row, parameterCell(t, l), parameterCell(t, g), parameterCell(t, big), bandwidthCell(t, big))...)
	}
	p.addLegend(t)
	return t
}

// shownSizes returns the two sizes that overheads are shown at: the measured ones nearest to small
// and large.
func (p *fittedPlace) shownSizes() []int {
	var all []int
	for _, c := range p.curves {
		if _, ok := overheadTimers[c.Timer]; ok && isLibraryChoice(c) {
			for _, x := range c.Points {
				all = append(all, x.Bytes)
			}
		}
	}
	for _, x := range p.parameters { // of a file there are no curves
		if len(p.curves) == 0 && (x.Name == "o_s" || x.Name == "o_r") {
			all = append(all, x.From, x.To)
		}
	}
	slices.Sort(all)
	return slices.Compact(nearestSizes(slices.Compact(all), smallMessageBytes, largeMessageBytes))
}

// nearestSizes returns for each wish the nearest of some sizes, by their ratio.
func nearestSizes(sizes []int, wishes ...int) []int {
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

// overheadTimers are the timers that can show an overhead.
var overheadTimers = map[string]bool{sample.Timer11: true, sample.TimerIdle: true, sample.Timer12: true, sample.Timer21: true}

// isLibraryChoice says whether the protocol was the library's choice.
func isLibraryChoice(c curve.Curve) bool {
	return c.Protocol == "" || c.Protocol == "auto" || c.Mode == "message"
}

// overheadCell returns o_s or o_r at a size: as measured there, or on the piece that was fitted.
func (p *fittedPlace) overheadCell(t *doc.Table, mode, name string, k int) doc.Cell {
	first := p.firstRow(mode, name)
	if first == nil {
		return doc.EmptyCell
	}
	tone := parameterTone(t, first)
	if x := p.measuredPoint(first, k); x != nil {
		return measuredCell(t, x.Value, x.Low, x.High, x.SampleCount).WithTone(tone)
	}
	if v, ok := p.overheadAt(mode, name, k); ok {
		t.AddNote("~ lies on a fitted line: that size was not measured.")
		return doc.TextCell("~" + format.Number(v)).WithTone(tone)
	}
	return doc.EmptyCell
}

// overheadAt returns the same as a number.
func (p *fittedPlace) overheadAt(mode, name string, k int) (float64, bool) {
	if first := p.firstRow(mode, name); first != nil {
		if x := p.measuredPoint(first, k); x != nil {
			return x.Value, true
		}
	}
	return params.ValueAt(p.parameters, mode, name, k)
}

// measuredPoint returns what was measured of a parameter at a size, or nil.
func (p *fittedPlace) measuredPoint(of *params.Parameter, k int) *curve.Point {
	for _, c := range p.curves {
		if c.Mode != of.Mode || c.Timer != of.Method || !isLibraryChoice(c) {
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

// firstRow returns the row of a parameter that counts: the first that is no mere convention, as
// params.ValueAt takes it, or else the first, which then has no number.
func (p *fittedPlace) firstRow(mode, name string) *params.Parameter {
	counts := func(x *params.Parameter) bool {
		return (x.Unit == params.UnitMicrosPerByte) == (name == "G" || name == "S") && !(name == "L" && isAlternativeLatency(x.Method))
	}
	if x := p.findRow(mode, name, func(x *params.Parameter) bool { return counts(x) && !math.IsNaN(x.Value) }); x != nil {
		return x
	}
	return p.findRow(mode, name, counts)
}

// isAlternativeLatency says whether a method is another reading of L, which is not comparable with
// the others.
func isAlternativeLatency(method string) bool {
	return strings.HasPrefix(method, params.MethodHalfRoundTripLessGap) || method == params.MethodHalfRoundTrip || strings.HasPrefix(method, params.MethodHalfRoundTrip+":")
}

// parameterCell returns a parameter with its interval.
func parameterCell(t *doc.Table, p *params.Parameter) doc.Cell {
	switch {
	case p == nil:
		return doc.EmptyCell
	case p.Unit == params.UnitCount && !math.IsNaN(p.Value):
		return doc.TextCell(format.CountRange(int(p.Low), int(p.High))).WithTone(parameterTone(t, p))
	case math.IsNaN(p.Value):
		t.AddNote("%s", unidentifiedNote(p))
		return doc.TextCell("?").WithTone(doc.FaintTone)
	case p.IsBound():
		t.AddNote("≤ is an upper bound: the samples show only that the value is not larger.")
		text := format.UpperBound(p.Value, p.High)
		if math.IsNaN(p.High) {
			text = appendCount(t, text, p.FewestSamples)
		}
		return doc.TextCell(text).WithTone(doc.FaintTone)
	}
	return measuredCell(t, p.Value, p.Low, p.High, p.FewestSamples).WithTone(parameterTone(t, p))
}

// unidentifiedNote says why a parameter has no number.
func unidentifiedNote(p *params.Parameter) string {
	if p.Name == "L" && p.Method == params.MethodHalfRoundTripLessOverheads {
		return "? L of this call cannot be separated: its overheads overlap with the transfer, so half a round trip less both is not above zero. Use rtt/2, or L of message or ssend."
	}
	return fmt.Sprintf("? %s could not be determined from these samples: the warnings say why.", p.Name)
}

// measuredCell returns a value with its interval, or if it has none with n, the number of samples.
func measuredCell(t *doc.Table, value, low, high float64, n int) doc.Cell {
	c := doc.IntervalCell(value, low, high)
	if math.IsNaN(high) && !math.IsNaN(value) && n < clean.MinSamplesForInterval {
		c.Text = appendCount(t, c.Text, n)
	}
	return c
}

// appendCount adds the number of samples of a size, as far as it is known, to a value that has no
// interval.
func appendCount(t *doc.Table, text string, n int) string {
	t.AddNote("Values without ± are medians of n samples a size: fewer than %d are too few for an interval.", clean.MinSamplesForInterval)
	if n > 0 {
		text += fmt.Sprintf("%sn=%d", format.NonBreakingSpace, n)
	}
	return text
}

// bandwidthCell returns the bandwidth of a gap a byte.
func bandwidthCell(t *doc.Table, p *params.Parameter) doc.Cell {
	if p == nil || math.IsNaN(p.Value) || p.Value <= 0 {
		return parameterCell(t, p)
	}
	return measuredCell(t, 1/p.Value, 1/p.High, 1/p.Low, p.FewestSamples).WithTone(parameterTone(t, p))
}

// parameterTone returns that of a parameter.
func parameterTone(t *doc.Table, p *params.Parameter) doc.CellTone {
	if p.Verdict == params.WeakVerdict || p.Verdict == params.BadVerdict {
		t.AddNote("! is weak: the interval is wide, sizes or repetitions are few, or a warning applies; ± then understates the uncertainty.")
		return doc.DoubtfulTone
	}
	return doc.NormalTone
}

// addLegend explains the table.
func (p *fittedPlace) addLegend(t *doc.Table) {
	t.Notes = append([]string{"± is the 95 % interval; - means not applicable or not measured."}, t.Notes...)
	for _, name := range []string{"o_s", "o_r", "L", "g", "G"} {
		var methods, extents wordGroups
		for _, mode := range p.modeNames() {
			x := p.firstRow(mode, name)
			if x == nil || math.IsNaN(x.Value) {
				continue
			}
			if x.Method != params.MethodGapAtMostSendOverhead && !x.IsBound() {
				methods.add(x.Method, mode)
			}
			if name == "G" && x.From >= 0 {
				extents.add(format.SizeRange(x.From, x.To), mode)
			}
		}
		if n := len(methods.keys); n > 1 || n == 1 && !(name == "o_s" && methods.keys[0] == sample.Timer11) {
			t.AddNote("%s is %s.", name, methods.join(" "))
		}
		if len(extents.keys) > 0 {
			t.AddNote("G is the slope from %s.", extents.join(" "))
		}
	}
}

// eagerLimitTable is the table of the eager limit S of each mode that has one, with its evidence.
func (p *fittedPlace) eagerLimitTable() *doc.Table {
	t := &doc.Table{Name: "eager-limits", Title: "Eager limit, " + p.String(), Columns: []doc.Column{{Heading: "mode", IsKey: true},
		{Heading: "S", Field: "S_bytes", Kind: doc.NumberColumn}, {Heading: "jump\nus", Kind: doc.NumberColumn}, {Heading: "round trip\nus", Kind: doc.NumberColumn}, {Heading: "evidence"}}}
	for _, h := range p.eagerLimitEvidence {
		evidence := "round trip; other timers do not contradict it"
		if !h.IsConfirmed {
			evidence = "round trip only: no other timer changes there"
		}
		t.AddRow(doc.TextCell(h.Mode), p.eagerLimitCell(t, h.Mode), doc.NumberCell(h.CostJump), doc.NumberCell(h.RoundTripOfSmallestMessage), doc.TextCell(evidence))
	}
	t.AddNote("S of LogGPS is the largest message that does not wait for its receiver; it is in this range. Above it a round trip costs the jump more, for a handshake, which takes at least the round trip of a small message.")
	t.AddUnitNote()
	return t
}

// rangeTable is the table of the ranges of sizes over which one line fits an overhead.
func (p *fittedPlace) rangeTable() *doc.Table {
	t := &doc.Table{Name: "ranges", Title: "Ranges of sizes, each fitted by a straight line, " + p.String(),
		Columns: []doc.Column{{Heading: "mode", IsKey: true}, {Heading: "o_s", Kind: doc.ProseColumn}, {Heading: "o_r", Kind: doc.ProseColumn}}}
	for _, mode := range p.modeNames() {
		t.AddRow(doc.TextCell(mode), p.rangeCell(t, mode, "o_s"), p.rangeCell(t, mode, "o_r"))
	}
	t.AddUnitNote()
	return t
}

// rangeCell lists the ranges of a parameter.
func (p *fittedPlace) rangeCell(t *doc.Table, mode, name string) doc.Cell {
	var words []string
	first := p.firstRow(mode, name)
	for _, x := range p.parameters {
		if x.Mode != mode || x.Name != name || x.Unit != params.UnitMicros || x.From < 0 || x.Method != first.Method {
			continue
		}
		extent := format.SizeRange(x.From, x.To)
		switch x.Verdict {
		case params.WeakVerdict:
			extent += doc.WeakMark
			t.AddNote("! is weak: times are not on one line, too few, or uncertain.")
		case params.BadVerdict:
			extent += fmt.Sprintf("%s (off %s %%)", doc.WeakMark+doc.WeakMark, unit.Rounded(100*x.MedianFitDeviation, 2))
			t.AddNote("!! is bad: poor linear fit. Half of the times are at least as far off as shown: use the measured times.")
		}
		words = append(words, extent)
	}
	if len(words) == 0 {
		return doc.EmptyCell
	}
	return doc.TextCell(strings.Join(words, ", "))
}

// pieceTable is the table of the straight pieces.
func (p *fittedPlace) pieceTable() *doc.Table {
	t := &doc.Table{Name: "pieces", Title: "Overheads by ranges of sizes, " + p.String(), Columns: []doc.Column{
		{Heading: "mode", IsKey: true}, {Field: "parameter", IsKey: true}, {Heading: "from", Field: "bytes_from", Kind: doc.NumberColumn, IsKey: true}, {Heading: "to", Field: "bytes_to", Kind: doc.NumberColumn},
		{Heading: "at its begin\nus", Kind: doc.NumberColumn}, {Heading: "each byte adds\nus/B", Kind: doc.NumberColumn}, {Heading: "samples", Kind: doc.NumberColumn}}}
	for _, mode := range p.modeNames() {
		for _, name := range []string{"o_s", "o_r"} {
			for i := range p.parameters {
				x := &p.parameters[i]
				if x.Mode == mode && x.Name == name && x.Unit == params.UnitMicros && x.From >= 0 {
					t.AddRow(doc.TextCell(mode), doc.TextCell(name), doc.BytesCell(x.From), doc.BytesCell(x.To), parameterCell(t, x), parameterCell(t, p.slopeRow(x)), doc.CountCell(x.SampleCount))
				}
			}
		}
	}
	t.AddUnitNote()
	return t
}

// slopeRow returns the row of the slope that belongs to a value, or nil.
func (p *fittedPlace) slopeRow(of *params.Parameter) *params.Parameter {
	return p.findRow(of.Mode, of.Name, func(x *params.Parameter) bool {
		return x.From == of.From && x.To == of.To && x.Method == of.Method && x.Unit == params.UnitMicrosPerByte
	})
}

// findRow returns the first row of a parameter that is as wanted, or nil.
func (p *fittedPlace) findRow(mode, name string, is func(*params.Parameter) bool) *params.Parameter {
	for i := range p.parameters {
		if x := &p.parameters[i]; x.Mode == mode && x.Name == name && is(x) {
			return x
		}
	}
	return nil
}

// eagerLimitRow returns the eager limit S of a mode, or nil.
func (p *fittedPlace) eagerLimitRow(mode string) *params.Parameter {
	return p.findRow(mode, "S", func(x *params.Parameter) bool { return x.Unit == params.UnitBytes && !math.IsNaN(x.Value) })
}

// latencyMethods are the conventions of L, in the order of columns: the head of each, and its
// method.
var latencyMethods = []struct{ head, method string }{
	{"LogP\nrtt/2-o_s-o_r", params.MethodHalfRoundTripLessOverheads}, {"paper\ntimer21-timer12", params.MethodReceiveDifference}, {"PLogP\nrtt/2-g", params.MethodHalfRoundTripLessGap}, {"with overheads\nrtt/2", params.MethodHalfRoundTrip},
}

// latencyTable is the table of the readings of L in all modes that have one, in microseconds.
func (p *fittedPlace) latencyTable() *doc.Table {
	t := &doc.Table{Name: "latencies", Title: "L by convention, us, " + p.String(), Columns: []doc.Column{{Heading: "mode", IsKey: true}}}
	used := slices.Clone(latencyMethods)
	used = slices.DeleteFunc(used, func(r struct{ head, method string }) bool {
		return !slices.ContainsFunc(p.modeNames(), func(mode string) bool { return p.latencyRow(mode, r.method) != nil })
	})
	for _, r := range used {
		name, _, _ := strings.Cut(r.head, "\n")
		t.Columns = append(t.Columns, doc.Column{Heading: r.head, Field: strings.ReplaceAll(name, " ", "_") + "_us", Kind: doc.NumberColumn})
	}
	for _, mode := range p.modeNames() {
		row, any := []doc.Cell{doc.TextCell(mode)}, false
		for _, r := range used {
			x := p.latencyRow(mode, r.method)
			any = any || x != nil
			row = append(row, parameterCell(t, x))
		}
		if any {
			t.AddRow(row...)
		}
	}
	t.AddNote("They differ in what is subtracted from half a round trip: LogP subtracts both overheads, PLogP the gap, and rtt/2 nothing. The paper's L exists for ssend only.")
	return t
}

// latencyRow returns the row of L by a method, or nil.
func (p *fittedPlace) latencyRow(mode, method string) *params.Parameter {
	return p.findRow(mode, "L", func(x *params.Parameter) bool { return x.Method == method || x.Method == method+": not identifiable" })
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
		s.Figures = append(s.Figures, doc.Figures(doc.ColumnWidth, chart.DistanceMatrixChart(format.FileName("tiers", x.Platform, x.Library), "How near ranks are to each other, "+format.PlaceName(x.Platform, x.Library, ""), x))...)
	}
	return s
}

// pairsTable is the one-way time between each two ranks, of few ranks.
func pairsTable(x tiers.Tiers) *doc.Table {
	const most = 16
	t := &doc.Table{Name: "pairs", Title: fmt.Sprintf("One-way time between ranks, us, %s: half a round trip of %s, %s", format.PlaceName(x.Platform, x.Library, ""), x.Mode, format.Size(x.Bytes)), Columns: []doc.Column{{Heading: "rank", Kind: doc.NumberColumn, IsKey: true}}}
	if x.Mode == "" || len(x.Ranks) > most || len(x.Pairs) == 1 {
		return t
	}
	way := make(map[[2]int]doc.Cell)
	for _, p := range x.Pairs {
		if p.OneWay == p.OneWay {
			way[[2]int{p.A, p.B}] = doc.TextCell(unit.Rounded(p.OneWay, 3))
		}
	}
	for _, r := range x.Ranks {
		t.Columns = append(t.Columns, doc.Column{Heading: strconv.Itoa(r), Kind: doc.NumberColumn})
	}
	for _, a := range x.Ranks {
		cells := []doc.Cell{doc.CountCell(a)}
		for _, b := range x.Ranks {
			c, ok := way[[2]int{min(a, b), max(a, b)}]
			if !ok {
				c = doc.TextCell(format.NoNumber)
			}
			cells = append(cells, c)
		}
		t.AddRow(cells...)
	}
	return t
}

// tiersTable says which ranks are near each other.
func tiersTable(x tiers.Tiers) *doc.Table {
	t := &doc.Table{Name: "tiers", Title: fmt.Sprintf("Tiers of %s: %s of %d ranks", format.PlaceName(x.Platform, x.Library, ""), format.Plural(len(x.Pairs), "pair"), len(x.Ranks)),
		Columns: []doc.Column{{Heading: "tier", IsKey: true}, {Heading: "pairs", Kind: doc.NumberColumn}, {Heading: "one way\nus", Kind: doc.NumberColumn}, {Heading: "time,\nnearest 1", Kind: doc.NumberColumn},
			{Heading: "groups", Kind: doc.NumberColumn}, {Heading: "ranks\nof each", Kind: doc.NumberColumn}, {Heading: "members", Kind: doc.ProseColumn}}}
	for _, l := range x.Levels {
		way := doc.TextCell(format.NoNumber)
		if l.OneWay == l.OneWay {
			way = doc.TextCell(unit.Rounded(l.OneWay, 3))
		}
		t.AddRow(doc.TextCell(l.Place), doc.CountCell(l.Pairs), way, doc.TextCell(unit.Rounded(l.Times, 3)), doc.CountCell(len(l.Groups)), doc.TextCell(formatGroupSizes(l.Groups)), doc.TextCell(listGroups(l.Groups)))
	}
	if x.Mode != "" {
		t.AddNote("One way is half a round trip of %s, %s: the median of the pairs of the tier.", x.Mode, format.Size(x.Bytes))
	}
	switch {
	case len(x.Pairs) == 1:
		t.AddNote("One pair shows no tiers: measure more ranks (--ranks).")
	case len(x.Levels) == 1:
		t.AddNote("One tier: these samples show no ranks that are nearer to each other than others.")
	case len(x.Levels) == 2:
		t.AddNote("H is the number of groups of tier intra, P the ranks of each.")
	default:
		t.AddNote("The ranks of a group are no farther from each other than its tier. Each group consists of whole groups of the tier above it in the table.")
	}
	return t
}

// formatGroupSizes says how large groups are.
func formatGroupSizes(groups [][]int) string {
	low, high := len(groups[0]), len(groups[0])
	for _, g := range groups {
		low, high = min(low, len(g)), max(high, len(g))
	}
	return format.CountRange(low, high)
}

// listGroups lists groups: 0-7; 8, 10, 12-15.
func listGroups(groups [][]int) string {
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
