package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Crossover is where one time is longer than another, by size.
type Crossover struct {
	Quantity string // o_s o_r one-way get put
	Mode     string // of both; of an overlap that of the call that blocks
	Subject  int    // in Table.Subjects: of the time
	Against  int    // of the other time; for an overlap the same subject's call that does not block

	Zones     []Zone // of all sizes from the first to the last that both measured, in order
	Crossings []Crossing
	Weak      bool // a piece of a curve near a crossing is weak
}

// Zone is a range of sizes with one answer.
type Zone struct {
	From, To int // bytes
	Side     Side
}

// Side is which of two times is longer.
type Side int8

// The sides.
const (
	Undecided Side = iota // intervals overlap, samples are too few, or a protocol changes somewhere between two sizes
	Longer                // the time is longer: it does not pay to block; the subject is slower
	Shorter
	Even // equal within twice the tolerance; only at the begin or the end of all sizes, and not of an overlap
)

// Crossing is a size at which the answer changes.
type Crossing struct {
	Bytes     int  // the smallest size with the new answer, by the curves; from or to Even it is High
	Low, High int  // the last size that certainly has the old answer, and the first that certainly has the new one
	To        Side // Longer, Shorter or Even
}

// pairs are the modes of blocking calls that have a non-blocking counterpart.
var pairs = []string{"send", "ssend", "rsend", "bsend"}

// overlaps finds where o_s and o_r of blocking calls exceed those of non-blocking calls by more
// than a margin.
func overlaps(all []*fittedSubject, margin float64, o clean.Options) []Crossover {
	var pairings []pairing
	for _, quantity := range []string{"o_s", "o_r"} {
		for _, name := range pairs {
			for i, p := range all {
				a, b := curveOf(p.ModeOf(name), quantity), curveOf(p.ModeOf("i"+name), quantity)
				pairings = append(pairings, pairing{Crossover{Quantity: quantity, Mode: name, Subject: i, Against: i}, a, b, 1 + margin})
			}
		}
	}
	return settle(pairings, o)
}

// mostPairwise is the largest number of subjects of which all pairs are compared. Of more each is
// compared only with the first.
const mostPairwise = 8

// pairwise finds where one subject takes longer than another, for each two subjects, or for many
// subjects each and the first.
func pairwise(all []*fittedSubject, o clean.Options) []Crossover {
	var names []string
	for _, p := range all {
		names = append(names, p.Modes...)
	}
	slices.SortFunc(names, func(a, b string) int { return sample.ModeIndex(a) - sample.ModeIndex(b) })
	names = slices.Compact(names)
	var pairings []pairing
	for _, quantity := range []string{"o_s", "o_r", OneWay, "get", "put"} {
		for _, name := range names {
			for j := range all {
				for i := range j {
					if i > 0 && len(all) > mostPairwise {
						break
					}
					a, b := curveOf(all[j].ModeOf(name), quantity), curveOf(all[i].ModeOf(name), quantity)
					pairings = append(pairings, pairing{Crossover{Quantity: quantity, Mode: name, Subject: j, Against: i}, a, b, 1})
				}
			}
		}
	}
	return settle(pairings, o)
}

// curveOf returns the curve of a quantity, or nil. For one-way times it is the round trip, which
// crosses another where its half does.
func curveOf(m params.Mode, quantity string) *curve.Curve {
	switch quantity {
	case "o_s":
		return m.SendOverheadCurve()
	case "o_r":
		return m.ReceiveOverheadCurve()
	case OneWay:
		return m.TimerCurve("rtt")
	}
	return m.TimerCurve(quantity)
}

// pairing is a crossover to find: where a is longer than factor·b.
type pairing struct {
	Crossover
	a, b   *curve.Curve
	factor float64
}

// settle finds all crossovers. It leaves out those without curves, or without common sizes.
func settle(pairings []pairing, o clean.Options) []Crossover {
	pairings = slices.DeleteFunc(pairings, func(d pairing) bool { return len(d.common()) == 0 })
	out := make([]Crossover, len(pairings))
	clean.Parallel(len(pairings), func(i int) {
		d := &pairings[i]
		d.search(o)
		out[i] = d.Crossover
	})
	return out
}

// common returns all sizes that either curve measured from where both begin to where both end.
func (d pairing) common() []int {
	if d.a == nil || d.b == nil {
		return nil
	}
	var all []int
	from, to := 0, math.MaxInt
	for _, c := range []*curve.Curve{d.a, d.b} {
		for _, x := range c.Cells {
			all = append(all, x.Bytes)
		}
		from, to = max(from, c.Cells[0].Bytes), min(to, c.Cells[len(c.Cells)-1].Bytes)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(k int) bool { return k < from || k > to })
}

// search finds the zones and the crossings between them.
func (d *pairing) search(o clean.Options) {
	f := field{a: stretchesOf(d.a), b: stretchesOf(d.b), factor: d.factor, o: o}
	sizes := between(d.common())
	for i, k := range sizes {
		side := f.side(k)
		if i == 0 {
			d.Zones = []Zone{{k, k, side}}
			continue
		}
		last := &d.Zones[len(d.Zones)-1]
		if side == last.Side {
			last.To = k
			continue
		}
		// the answer changes between the two sizes, and may be undecided in between
		last.To = boundary(sizes[i-1], k, func(k int) bool { return f.side(k) == last.Side })
		first := 1 + boundary(last.To, k, func(k int) bool { return f.side(k) != side })
		if first > last.To+1 {
			d.open(last.To+1, first-1)
		}
		d.Zones = append(d.Zones, Zone{first, k, side})
	}
	d.settleEven()
	d.cross(&f)
}

// settleEven keeps Even at the begin and the end, and makes it Undecided between two answers.
func (d *pairing) settleEven() {
	answered := func(z Zone) bool { return z.Side == Longer || z.Side == Shorter }
	first, last := slices.IndexFunc(d.Zones, answered), len(d.Zones)-1
	if first < 0 {
		if len(d.Zones) > 1 || d.Subject == d.Against {
			d.Zones = []Zone{{d.Zones[0].From, d.Zones[last].To, Undecided}}
		}
		return
	}
	zones := d.Zones
	d.Zones = nil
	for i, z := range zones {
		if z.Side == Even && (i > 0 && i < last || d.Subject == d.Against) {
			z.Side = Undecided
		}
		if n := len(d.Zones); n > 0 && d.Zones[n-1].Side == z.Side {
			d.Zones[n-1].To = z.To
		} else {
			d.Zones = append(d.Zones, z)
		}
	}
}

// cross finds the crossings between zones.
func (d *pairing) cross(f *field) {
	for i, z := range d.Zones {
		before := i - 1
		if before >= 0 && d.Zones[before].Side == Undecided {
			before--
		}
		if before < 0 || z.Side == Undecided || d.Zones[before].Side == z.Side {
			continue
		}
		x := Crossing{z.From, d.Zones[before].To, z.From, z.Side}
		if z.Side != Even && d.Zones[before].Side != Even {
			x.Bytes = f.root(x.Low, x.High, z.Side)
		}
		d.Crossings = append(d.Crossings, x)
		d.Weak = d.Weak || weakNear(d.a, x.Low, x.High) || weakNear(d.b, x.Low, x.High)
	}
}

// open adds an undecided zone.
func (d *pairing) open(from, to int) {
	if last := &d.Zones[len(d.Zones)-1]; last.Side == Undecided {
		last.To = to
		return
	}
	d.Zones = append(d.Zones, Zone{from, to, Undecided})
}

// looks is how many sizes, at equal ratios, are compared from one measured size to the next.
const looks = 8

// between returns sizes with others between them.
func between(sizes []int) []int {
	out := sizes[:1:1]
	for i := 1; i < len(sizes); i++ {
		from, to := float64(max(sizes[i-1], 1)), float64(sizes[i])
		for j := 1; j < looks; j++ {
			k := int(from * math.Pow(to/from, float64(j)/looks))
			if k > out[len(out)-1] && k < sizes[i] {
				out = append(out, k)
			}
		}
		out = append(out, sizes[i])
	}
	return out
}

// boundary returns the last size for which holds is true, if it is true for low and not for high.
func boundary(low, high int, holds func(k int) bool) int {
	for high-low > 1 {
		if k := low + (high-low)/2; holds(k) {
			low = k
		} else {
			high = k
		}
	}
	return low
}

// stretch is a line on a range of sizes, with its replicates.
type stretch struct {
	from, to int
	curve.Line
	reps  []curve.Line
	slack float64
	few   bool // a cell has too few samples for an interval
	lone  bool // one size of a piece that is not straight
}

// stretchesOf returns the lines of a curve, one for each piece. A piece that is not straight is
// only known at the sizes that were measured, each of which is a stretch.
func stretchesOf(c *curve.Curve) []stretch {
	var out []stretch
	for i, p := range c.Pieces {
		cells := c.PieceCells(i)
		if !c.Bent[i] {
			out = append(out, stretch{p.From, p.To, curve.Line{Value: p.Value, Slope: p.Slope}, c.Replicates[i], cells[0].ResolutionError, p.FewestSamples < clean.LeastForInterval, false})
			continue
		}
		for _, x := range cells {
			s := stretch{x.Bytes, x.Bytes, curve.Line{Value: x.Value}, make([]curve.Line, len(x.Replicates)), x.ResolutionError, x.FewestSamples < clean.LeastForInterval, true}
			for b, v := range x.Replicates {
				s.reps[b].Value = v
			}
			out = append(out, s)
		}
	}
	return out
}

// weakNear reports whether a piece that overlaps a range of sizes is weak.
func weakNear(c *curve.Curve, low, high int) bool {
	for i, p := range c.Pieces {
		if p.From <= high && low <= p.To && params.JudgeInterval(c, i, 0, 1) != params.Good {
			return true
		}
	}
	return false
}

// stretchesAt returns the stretch that contains k, or both neighbours if k lies between two.
func stretchesAt(all []stretch, k int) []stretch {
	i := slices.IndexFunc(all, func(s stretch) bool { return k <= s.to })
	switch {
	case i < 0:
		return all[len(all)-1:]
	case i == 0 || all[i].from <= k:
		return all[i : i+1]
	}
	return all[i-1 : i+1]
}

// field is a − factor·b over sizes.
type field struct {
	a, b   []stretch
	factor float64
	o      clean.Options
}

// side returns which is longer at k bytes: the answer on which all stretches that may apply agree.
// Between two sizes of a piece that is not straight both must have the same answer.
func (f *field) side(k int) Side {
	low, high := f.measured(k)
	left := f.among(low)
	if low != high && left != f.among(high) {
		return Undecided
	}
	return left
}

// measured returns the measured sizes around k if k lies between two of a piece that is not
// straight; else k.
func (f *field) measured(k int) (low, high int) {
	for _, all := range [][]stretch{f.a, f.b} {
		if s := stretchesAt(all, k); len(s) == 2 && s[0].lone && s[1].lone {
			return s[0].to, s[1].from
		}
	}
	return k, k
}

// among returns the side on which all stretches at k agree.
func (f *field) among(k int) Side {
	var sides []Side
	for _, a := range stretchesAt(f.a, k) {
		for _, b := range stretchesAt(f.b, k) {
			sides = append(sides, f.on(a, b, k))
		}
	}
	if slices.ContainsFunc(sides, func(s Side) bool { return s != sides[0] }) {
		return Undecided
	}
	return sides[0]
}

// on returns which of two stretches is longer, by more than the interval of the difference and the
// tolerance. Stretches of cells with too few samples for an interval have no answer.
func (f *field) on(a, b stretch, k int) Side {
	if a.few || b.few {
		return Undecided
	}
	x, y := a.at(a.Line, k), f.factor*b.at(b.Line, k)
	reps := make([]float64, f.o.Replicates)
	for i := range reps {
		reps[i] = a.at(a.reps[i], k) - f.factor*b.at(b.reps[i], k)
	}
	low, high := clean.UnsortedPercentileInterval(reps, x-y, f.o.Level)
	doubt := f.o.Tolerance*math.Hypot(x, y) + a.slack + f.factor*b.slack
	switch {
	case low > doubt:
		return Longer
	case high < -doubt:
		return Shorter
	case max(high, -low) <= 2*f.o.Tolerance*min(math.Abs(x), math.Abs(y)):
		return Even
	}
	return Undecided
}

func (s stretch) at(l curve.Line, k int) float64 { return l.Value + l.Slope*float64(k-s.from) }

// root returns the smallest size from which the curves are on a side, between low where they are
// not and high where they are. Between two stretches the first counts, as in all predictions.
// Nothing begins between two sizes of a piece that is not straight.
func (f *field) root(low, high int, side Side) int {
	return 1 + boundary(low, high, func(k int) bool {
		k, _ = f.measured(k)
		a, b := stretchesAt(f.a, k)[0], stretchesAt(f.b, k)[0]
		d := a.at(a.Line, k) - f.factor*b.at(b.Line, k)
		return (d > 0) != (side == Longer)
	})
}
