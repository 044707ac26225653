package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Crossover says at which sizes one time is longer than another.
type Crossover struct {
	Quantity          string // o_s o_r one-way get put
	Mode              string // of both; for an overlap, that of the blocking call
	SubjectIndex      int    // index in Table.Subjects of the first time
	OtherSubjectIndex int    // index of the other time; for an overlap the nonblocking call of the same subject

	Zones     []Zone // of all sizes that both measured, in order
	Crossings []Crossing
	IsWeak    bool // a piece of a curve near a crossing is weak
}

// Zone is a range of sizes with the same answer.
type Zone struct {
	From, To int // bytes
	Side     Side
}

// Side says which of two times is longer.
type Side int8

// The sides.
const (
	UndecidedSide Side = iota // intervals overlap, there are too few samples, or a protocol changes between two sizes
	LongerSide                // the time is longer: blocking does not pay; the subject is slower
	ShorterSide
	NeitherSide // equal within twice the tolerance; only at the start or the end of all sizes, and not for an overlap
)

// Crossing is a size at which the answer changes.
type Crossing struct {
	Bytes     int  // the smallest size with the new answer, according to the curves; from or to NeitherSide it is High
	Low, High int  // the last size that certainly has the old answer, and the first that certainly has the new one
	SideAfter Side // LongerSide, ShorterSide or NeitherSide
}

// blockingModes are the blocking modes that have a nonblocking counterpart.
var blockingModes = []string{"send", "ssend", "rsend", "bsend"}

// overlapCrossovers finds where o_s and o_r of blocking calls exceed those of non-blocking calls by
// more than a margin.
func overlapCrossovers(all []*fittedSubject, margin float64, o clean.Options) []Crossover {
	var pairings []crossoverSearch
	for _, quantity := range []string{"o_s", "o_r"} {
		for _, name := range blockingModes {
			for i, p := range all {
				a, b := quantityCurve(p.ModeOf(name), quantity), quantityCurve(p.ModeOf("i"+name), quantity)
				pairings = append(pairings, crossoverSearch{Crossover{Quantity: quantity, Mode: name, SubjectIndex: i, OtherSubjectIndex: i}, a, b, 1 + margin})
			}
		}
	}
	return findCrossovers(pairings, o)
}

// maxPairwiseSubjects is the largest number of subjects for which all pairs are compared. If there
// are more, each is compared only with the first.
const maxPairwiseSubjects = 8

// pairwiseCrossovers finds where one subject takes longer than another, for each two subjects, or
// for many subjects each and the first.
func pairwiseCrossovers(all []*fittedSubject, o clean.Options) []Crossover {
	var names []string
	for _, p := range all {
		names = append(names, p.Modes...)
	}
	slices.SortFunc(names, func(a, b string) int { return sample.ModeIndex(a) - sample.ModeIndex(b) })
	names = slices.Compact(names)
	var pairings []crossoverSearch
	for _, quantity := range []string{"o_s", "o_r", OneWay, "get", "put"} {
		for _, name := range names {
			for j := range all {
				for i := range j {
					if i > 0 && len(all) > maxPairwiseSubjects {
						break
					}
					a, b := quantityCurve(all[j].ModeOf(name), quantity), quantityCurve(all[i].ModeOf(name), quantity)
					pairings = append(pairings, crossoverSearch{Crossover{Quantity: quantity, Mode: name, SubjectIndex: j, OtherSubjectIndex: i}, a, b, 1})
				}
			}
		}
	}
	return findCrossovers(pairings, o)
}

// quantityCurve returns the curve of a quantity, or nil. For one-way times it is the round trip,
// which crosses another where its half does.
func quantityCurve(m params.Mode, quantity string) *curve.Curve {
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

// crossoverSearch is a crossover to find: where a is longer than factor·b.
type crossoverSearch struct {
	Crossover
	a, b   *curve.Curve
	factor float64
}

// findCrossovers finds all crossovers. It omits pairs without curves or without common sizes.
func findCrossovers(pairings []crossoverSearch, o clean.Options) []Crossover {
	pairings = slices.DeleteFunc(pairings, func(d crossoverSearch) bool { return len(d.commonSizes()) == 0 })
	out := make([]Crossover, len(pairings))
	clean.RunParallel(len(pairings), func(i int) {
		d := &pairings[i]
		d.findZones(o)
		out[i] = d.Crossover
	})
	return out
}

// commonSizes returns the sizes that either curve measured within the common range of both.
func (d crossoverSearch) commonSizes() []int {
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

// findZones finds the zones and the crossings between them.
func (d *crossoverSearch) findZones(o clean.Options) {
	f := difference{a: lineRangesOf(d.a), b: lineRangesOf(d.b), factor: d.factor, options: o}
	sizes := refineSizes(d.commonSizes())
	for i, k := range sizes {
		side := f.sideAt(k)
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
		last.To = lastSizeHolding(sizes[i-1], k, func(k int) bool { return f.sideAt(k) == last.Side })
		first := 1 + lastSizeHolding(last.To, k, func(k int) bool { return f.sideAt(k) != side })
		if first > last.To+1 {
			d.addUndecidedZone(last.To+1, first-1)
		}
		d.Zones = append(d.Zones, Zone{first, k, side})
	}
	d.resolveEvenZones()
	d.addCrossings(&f)
}

// resolveEvenZones keeps NeitherSide at the start and the end, and changes it to UndecidedSide
// between two answers.
func (d *crossoverSearch) resolveEvenZones() {
	answered := func(z Zone) bool { return z.Side == LongerSide || z.Side == ShorterSide }
	first, last := slices.IndexFunc(d.Zones, answered), len(d.Zones)-1
	if first < 0 {
		if len(d.Zones) > 1 || d.SubjectIndex == d.OtherSubjectIndex {
			d.Zones = []Zone{{d.Zones[0].From, d.Zones[last].To, UndecidedSide}}
		}
		return
	}
	zones := d.Zones
	d.Zones = nil
	for i, z := range zones {
		if z.Side == NeitherSide && (i > 0 && i < last || d.SubjectIndex == d.OtherSubjectIndex) {
			z.Side = UndecidedSide
		}
		if n := len(d.Zones); n > 0 && d.Zones[n-1].Side == z.Side {
			d.Zones[n-1].To = z.To
		} else {
			d.Zones = append(d.Zones, z)
		}
	}
}

// addCrossings finds the crossings between zones.
func (d *crossoverSearch) addCrossings(f *difference) {
	for i, z := range d.Zones {
		before := i - 1
		if before >= 0 && d.Zones[before].Side == UndecidedSide {
			before--
		}
		if before < 0 || z.Side == UndecidedSide || d.Zones[before].Side == z.Side {
			continue
		}
		x := Crossing{z.From, d.Zones[before].To, z.From, z.Side}
		if z.Side != NeitherSide && d.Zones[before].Side != NeitherSide {
			x.Bytes = f.firstSizeOnSide(x.Low, x.High, z.Side)
		}
		d.Crossings = append(d.Crossings, x)
		d.IsWeak = d.IsWeak || hasWeakPiece(d.a, x.Low, x.High) || hasWeakPiece(d.b, x.Low, x.High)
	}
}

// addUndecidedZone adds an undecided zone.
func (d *crossoverSearch) addUndecidedZone(from, to int) {
	if last := &d.Zones[len(d.Zones)-1]; last.Side == UndecidedSide {
		last.To = to
		return
	}
	d.Zones = append(d.Zones, Zone{from, to, UndecidedSide})
}

// sizesPerStep is the number of sizes, at equal ratios, that are compared between two measured
// sizes.
const sizesPerStep = 8

// refineSizes inserts intermediate sizes.
func refineSizes(sizes []int) []int {
	out := sizes[:1:1]
	for i := 1; i < len(sizes); i++ {
		from, to := float64(max(sizes[i-1], 1)), float64(sizes[i])
		for j := 1; j < sizesPerStep; j++ {
			k := int(from * math.Pow(to/from, float64(j)/sizesPerStep))
			if k > out[len(out)-1] && k < sizes[i] {
				out = append(out, k)
			}
		}
		out = append(out, sizes[i])
	}
	return out
}

// lastSizeHolding returns the last size for which holds is true, given that it is true for low and
// false for high.
func lastSizeHolding(low, high int, holds func(k int) bool) int {
	for high-low > 1 {
		if k := low + (high-low)/2; holds(k) {
			low = k
		} else {
			high = k
		}
	}
	return low
}

// lineRange is a line on a range of sizes, with its replicates.
type lineRange struct {
	from, to int
	curve.Line
	reps         []curve.Line
	slack        float64
	fewSizes     bool // a cell has too few samples for an interval
	isSingleSize bool // a single size of a piece that is not straight
}

// lineRangesOf returns the lines of a curve, one per piece. A piece that is not straight is known
// only at its measured sizes, each of which is a range of its own.
func lineRangesOf(c *curve.Curve) []lineRange {
	var out []lineRange
	for i, p := range c.Pieces {
		cells := c.PieceCells(i)
		if !c.IsPieceBent[i] {
			out = append(out, lineRange{p.From, p.To, curve.Line{Value: p.Value, Slope: p.Slope}, c.LineReplicates[i], cells[0].ResolutionError, p.FewestSamples < clean.MinSamplesForInterval, false})
			continue
		}
		for _, x := range cells {
			s := lineRange{x.Bytes, x.Bytes, curve.Line{Value: x.Value}, make([]curve.Line, len(x.Replicates)), x.ResolutionError, x.FewestSamples < clean.MinSamplesForInterval, true}
			for b, v := range x.Replicates {
				s.reps[b].Value = v
			}
			out = append(out, s)
		}
	}
	return out
}

// hasWeakPiece reports whether a piece that overlaps a range of sizes is weak.
func hasWeakPiece(c *curve.Curve, low, high int) bool {
	for i, p := range c.Pieces {
		if p.From <= high && low <= p.To && params.PieceVerdict(c, i, 0, 1) != params.GoodVerdict {
			return true
		}
	}
	return false
}

// lineRangesAt returns the range that contains k, or both neighbours if k lies between two.
func lineRangesAt(all []lineRange, k int) []lineRange {
	i := slices.IndexFunc(all, func(s lineRange) bool { return k <= s.to })
	switch {
	case i < 0:
		return all[len(all)-1:]
	case i == 0 || all[i].from <= k:
		return all[i : i+1]
	}
	return all[i-1 : i+1]
}

// difference is a − factor·b over sizes.
type difference struct {
	a, b    []lineRange
	factor  float64
	options clean.Options
}

// sideAt returns which time is longer at k bytes, if all ranges that may apply agree. Between two
// sizes of a piece that is not straight both must have the same answer.
func (f *difference) sideAt(k int) Side {
	low, high := f.measuredSizesAround(k)
	left := f.sideOfAll(low)
	if low != high && left != f.sideOfAll(high) {
		return UndecidedSide
	}
	return left
}

// measuredSizesAround returns the measured sizes around k if k lies between two sizes of a piece
// that is not straight; otherwise k.
func (f *difference) measuredSizesAround(k int) (low, high int) {
	for _, all := range [][]lineRange{f.a, f.b} {
		if s := lineRangesAt(all, k); len(s) == 2 && s[0].isSingleSize && s[1].isSingleSize {
			return s[0].to, s[1].from
		}
	}
	return k, k
}

// sideOfAll returns the side on which all ranges at k agree.
func (f *difference) sideOfAll(k int) Side {
	var sides []Side
	for _, a := range lineRangesAt(f.a, k) {
		for _, b := range lineRangesAt(f.b, k) {
			sides = append(sides, f.sideOf(a, b, k))
		}
	}
	if slices.ContainsFunc(sides, func(s Side) bool { return s != sides[0] }) {
		return UndecidedSide
	}
	return sides[0]
}

// sideOf returns which of two ranges is longer, by more than the interval of the difference and the
// tolerance. Ranges of cells with too few samples for an interval have no answer.
func (f *difference) sideOf(a, b lineRange, k int) Side {
	if a.fewSizes || b.fewSizes {
		return UndecidedSide
	}
	x, y := a.lineAt(a.Line, k), f.factor*b.lineAt(b.Line, k)
	reps := make([]float64, f.options.ReplicateCount)
	for i := range reps {
		reps[i] = a.lineAt(a.reps[i], k) - f.factor*b.lineAt(b.reps[i], k)
	}
	low, high := clean.UnsortedPercentileInterval(reps, x-y, f.options.ConfidenceLevel)
	doubt := f.options.Tolerance*math.Hypot(x, y) + a.slack + f.factor*b.slack
	switch {
	case low > doubt:
		return LongerSide
	case high < -doubt:
		return ShorterSide
	case max(high, -low) <= 2*f.options.Tolerance*min(math.Abs(x), math.Abs(y)):
		return NeitherSide
	}
	return UndecidedSide
}

func (s lineRange) lineAt(l curve.Line, k int) float64 { return l.Value + l.Slope*float64(k-s.from) }

// firstSizeOnSide returns the smallest size from which the curves are on a side, which they are at
// high and not at low. Between two ranges the first counts, as in all predictions. No crossing is
// placed between two sizes of a piece that is not straight.
func (f *difference) firstSizeOnSide(low, high int, side Side) int {
	return 1 + lastSizeHolding(low, high, func(k int) bool {
		k, _ = f.measuredSizesAround(k)
		a, b := lineRangesAt(f.a, k)[0], lineRangesAt(f.b, k)[0]
		d := a.lineAt(a.Line, k) - f.factor*b.lineAt(b.Line, k)
		return (d > 0) != (side == LongerSide)
	})
}
