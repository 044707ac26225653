package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// modes are in the order in which they are shown. Others follow as they come.
var modes = []string{"send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend", "message"}

// The sizes at which overheads are shown, or the nearest that were measured: those of table 3 of Al-Tawil and Moritz.
const (
	small = 16
	large = 10000
)

// Parameters writes what a fit found: the tiers of ranks where all pairs were measured, for each place a table with a row for each mode, the ranges of sizes, and the
// warnings.
func Parameters(w io.Writer, r *fit.Result, s Style) error {
	all := &writer{w: w, style: s}
	for _, x := range r.Tiers {
		all.table(tiersTable(x))
	}
	for _, p := range places(r) {
		all.table(p.parameters())
		all.table(p.ranges())
	}
	all.warnings(r.Warnings)
	return all.err
}

// Brief writes the same of real machines, which give a warning for every second timer: with the readings of L side by side, and of the warnings a line for each cause.
func Brief(w io.Writer, r *fit.Result, s Style) error {
	all := &writer{w: w, style: s}
	for _, x := range r.Tiers {
		all.table(tiersTable(x))
	}
	for _, p := range places(r) {
		all.table(p.parameters())
		all.table(p.latencies())
		all.table(p.ranges())
	}
	all.briefly(r.Warnings)
	return all.err
}

// writer writes parts of a report one after the other, with a line between, until one fails.
type writer struct {
	w     io.Writer
	style Style
	begun bool
	err   error
}

func (a *writer) part(write func(io.Writer) error) {
	if a.err == nil && a.begun {
		_, a.err = io.WriteString(a.w, "\n")
	}
	if a.err == nil {
		a.begun = true
		a.err = write(a.w)
	}
}

func (a *writer) table(t *Table) {
	if t.rows() > 0 {
		a.part(func(w io.Writer) error { return t.Text(w, a.style) })
	}
}

// place is what a fit says of one platform, library and place.
type place struct {
	platform, library, place string

	rows   []params.Parameter
	curves []curve.Curve
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
	return all
}

// String names the place for a title.
func (p *place) String() string { return where(p.platform, p.library, p.place) }

func where(platform, library, place string) string {
	words := []string{platform}
	if library != "" {
		words = append(words, library)
	}
	switch place {
	case "inter":
		words = append(words, "between nodes")
	case "intra":
		words = append(words, "within a node")
	case "":
	default:
		words = append(words, place)
	}
	return strings.Join(words, ", ")
}

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
func (p *place) parameters() *Table {
	t := &Table{Name: "parameters", Title: "LogGP parameters of " + p.String(),
		Columns: []Column{{Head: "mode", Key: true}}}
	if p.place == "intra" {
		t.note("Within a node LoGH{sSP} writes s_s, s_r and S for o_s, o_r and G, and neglects L.")
	}
	sizes := p.sizes()
	for _, name := range []string{"o_s", "o_r"} {
		for _, k := range sizes {
			t.Columns = append(t.Columns, Column{Head: name + " us\n" + size(k), Right: true})
		}
	}
	for _, head := range []string{"L\nus", "g\nus", "G\nus/B", "1/G\nMB/s"} {
		t.Columns = append(t.Columns, Column{Head: head, Right: true})
	}
	for _, mode := range p.modes() {
		row := []Cell{{Text: mode}}
		for _, name := range []string{"o_s", "o_r"} {
			for _, k := range sizes {
				row = append(row, p.overhead(t, mode, name, k))
			}
		}
		l, g, big := p.first(mode, "L"), p.first(mode, "g"), p.first(mode, "G")
		t.add(append(row, cell(t, l), cell(t, g), cell(t, big), rate(t, big))...)
	}
	p.legend(t)
	return t
}

// sizes returns the two sizes that overheads are shown at: the measured ones nearest to small and large.
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
var overheads = map[string]bool{sample.Timer11: true, sample.Idle: true, sample.Timer12: true, sample.Timer21: true}

// chosen says whether the protocol was the library's choice.
func chosen(c curve.Curve) bool {
	return c.Protocol == "" || c.Protocol == "auto" || c.Mode == "message"
}

// overhead returns o_s or o_r at a size: as measured there, or on the piece that was fitted.
func (p *place) overhead(t *Table, mode, name string, k int) Cell {
	first := p.first(mode, name)
	if first == nil {
		return none
	}
	tone := tone(t, first)
	if x := p.point(first, k); x != nil {
		return Cell{measured(x.Value, x.Low, x.High), tone}
	}
	if v, ok := p.at(mode, name, k); ok {
		t.note("~ lies on a fitted line: that size was not measured.")
		return Cell{"~" + number(v), tone}
	}
	return none
}

// at returns the same as a number.
func (p *place) at(mode, name string, k int) (float64, bool) {
	if first := p.first(mode, name); first != nil {
		if x := p.point(first, k); x != nil {
			return x.Value, true
		}
	}
	return params.Value(p.rows, mode, name, k)
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

// first returns the row of a parameter that counts: the first that is no mere convention, as fit.Value takes it, or else
// the first, which then has no number.
func (p *place) first(mode, name string) *params.Parameter {
	var without *params.Parameter
	for i := range p.rows {
		x := &p.rows[i]
		perByte := name == "G" || name == "S"
		if x.Mode != mode || x.Name != name || (x.Unit == params.PerByte) != perByte || name == "L" && convention(x.Method) {
			continue
		}
		if !math.IsNaN(x.Value) {
			return x
		}
		if without == nil {
			without = x
		}
	}
	return without
}

// convention says whether a method is another reading of L, which is not comparable with the others.
func convention(method string) bool {
	return strings.HasPrefix(method, params.ByHalfTripGap) || method == params.ByHalfTrip || strings.HasPrefix(method, params.ByHalfTrip+":")
}

// cell returns a parameter with its interval.
func cell(t *Table, p *params.Parameter) Cell {
	switch {
	case p == nil:
		return none
	case p.Unit == params.Count && !math.IsNaN(p.Value):
		return Cell{span(int(p.Low), int(p.High)), tone(t, p)}
	case math.IsNaN(p.Value):
		t.note("? could not be determined from these samples: the warnings say why.")
		return Cell{"?", Faint}
	case p.Bound():
		t.note("≤ is a bound: the samples show no more than that the value is not larger.")
		return Cell{"≤" + number(p.High), Faint}
	}
	tone := tone(t, p)
	return Cell{measured(p.Value, p.Low, p.High), tone}
}

// rate returns the bandwidth of a gap a byte.
func rate(t *Table, p *params.Parameter) Cell {
	if p == nil || math.IsNaN(p.Value) || p.Value <= 0 {
		return cell(t, p)
	}
	tone := tone(t, p)
	return Cell{measured(1/p.Value, 1/p.High, 1/p.Low), tone}
}

// tone returns that of a parameter.
func tone(t *Table, p *params.Parameter) Tone {
	if p.Verdict == params.Weak || p.Verdict == params.Bad {
		t.note("! is weak: the interval is wide, sizes or repetitions are few, or a warning concerns it, and then ± understates the uncertainty.")
		return Doubt
	}
	return Normal
}

// legend explains the table.
func (p *place) legend(t *Table) {
	t.Notes = append([]string{"± is the 95 % interval; - means not applicable or not measured."}, t.Notes...)
	for _, name := range []string{"o_s", "o_r", "L", "g", "G"} {
		methods, by := []string{}, map[string][]string{}
		for _, mode := range p.modes() {
			x := p.first(mode, name)
			if x == nil || math.IsNaN(x.Value) || x.Method == params.ByOverhead || x.Bound() {
				continue
			}
			if by[x.Method] == nil {
				methods = append(methods, x.Method)
			}
			by[x.Method] = append(by[x.Method], mode)
		}
		var ways []string
		for _, m := range methods {
			ways = append(ways, m+" ("+strings.Join(by[m], " ")+")")
		}
		if len(ways) > 0 && !(name == "o_s" && len(ways) == 1 && methods[0] == sample.Timer11) {
			t.note("%s is %s.", name, strings.Join(ways, ", "))
		}
	}
	p.extentsOfG(t)
}

// extentsOfG says of which sizes the G of each mode is.
func (p *place) extentsOfG(t *Table) {
	var extents []string
	by := map[string][]string{}
	for _, mode := range p.modes() {
		x := p.first(mode, "G")
		if x == nil || math.IsNaN(x.Value) || x.From < 0 {
			continue
		}
		s := between(x.From, x.To)
		if by[s] == nil {
			extents = append(extents, s)
		}
		by[s] = append(by[s], mode)
	}
	for i, s := range extents {
		extents[i] = s + " (" + strings.Join(by[s], " ") + ")"
	}
	if len(extents) > 0 {
		t.note("G is the slope from %s.", strings.Join(extents, ", "))
	}
}

// ranges is the table of the ranges of sizes of which an overhead is fitted by one line.
func (p *place) ranges() *Table {
	t := &Table{Name: "ranges", Title: "Ranges of sizes, each fitted by a straight line, " + p.String(),
		Columns: []Column{{Head: "mode", Key: true}, {Head: "o_s", Wrap: true}, {Head: "o_r", Wrap: true}}}
	for _, mode := range p.modes() {
		t.add(text(mode), p.extents(t, mode, "o_s"), p.extents(t, mode, "o_r"))
	}
	t.units()
	return t
}

// extents lists the ranges of a parameter.
func (p *place) extents(t *Table, mode, name string) Cell {
	var words []string
	first := p.first(mode, name)
	for _, x := range p.rows {
		if x.Mode != mode || x.Name != name || x.Unit != params.Micros || x.From < 0 || x.Method != first.Method {
			continue
		}
		extent := between(x.From, x.To)
		switch x.Verdict {
		case params.Weak:
			extent += doubt
			t.note("! is weak: times are not on one line, or there are too few of them, or they are uncertain.")
		case params.Bad:
			extent += fmt.Sprintf("%s (off %.2g %%)", doubt+doubt, 100*x.Off)
			t.note("!! is bad: the line is no picture of the times, half of which are as far off as it says. Use the measured times.")
		}
		words = append(words, extent)
	}
	if len(words) == 0 {
		return none
	}
	return Cell{Text: strings.Join(words, ", ")}
}

// pieces is the table of the straight pieces.
func (p *place) pieces() *Table {
	t := &Table{Name: "pieces", Title: "Overheads by ranges of sizes, " + p.String(), Columns: []Column{
		{Head: "mode", Key: true}, {Head: "", Key: true}, {Head: "from", Right: true, Key: true}, {Head: "to", Right: true},
		{Head: "at its begin\nus", Right: true}, {Head: "each byte adds\nus/B", Right: true}, {Head: "samples", Right: true}}}
	for _, mode := range p.modes() {
		for _, name := range []string{"o_s", "o_r"} {
			for i := range p.rows {
				x := &p.rows[i]
				if x.Mode == mode && x.Name == name && x.Unit == params.Micros && x.From >= 0 {
					t.add(text(mode), text(name), text(size(x.From)), text(size(x.To)), cell(t, x), cell(t, p.slope(x)), text(strconv.Itoa(x.Samples)))
				}
			}
		}
	}
	t.units()
	return t
}

// slope returns the row of the slope that belongs to a value, or nil.
func (p *place) slope(of *params.Parameter) *params.Parameter {
	for i := range p.rows {
		x := &p.rows[i]
		if x.Mode == of.Mode && x.Name == of.Name && x.From == of.From && x.To == of.To && x.Method == of.Method && x.Unit == params.PerByte {
			return x
		}
	}
	return nil
}
