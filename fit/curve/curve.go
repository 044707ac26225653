// Package curve combines cells into curves: the results of one timer over sizes, cut into straight
// pieces where the protocol changes, with intervals for values and slopes. LoadCurves returns the
// Curves of a set, and Curve.CutIntoPieces finds their Pieces. The package does not know what a
// curve means; package params does.
package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// Curve has the results of one timer over sizes. Times are in microseconds.
type Curve struct {
	Platform, Library, Place, Mode string

	Protocol string  // auto, or the forced one
	Timer    string  // or a difference, such as rtt/2
	Points   []Point // all cells, including excluded ones, for display; set by CutIntoPieces
	Pieces   []Piece

	Clock           string
	Cells           []clean.Cell    // in order of size
	ExcludedCells   []clean.Cell    // set aside
	IsTime          bool            // a time, which does not decrease with length; not a difference of timers
	ZeroThreshold   float64         // times below cannot be distinguished from zero
	Magnitudes      []float64       // magnitude of each cell, to which Tolerance is relative
	LineReplicates  [][]Line        // by piece and replicate
	IsPieceBent     []bool          // by piece: some cell is far from the line
	PieceDeviations []lineDeviation // by piece

	absentSizes []int      // sizes excluded from the curves from which this one was computed
	fitted      linePoints // points with which the pieces were found
	segments    []protocolSegment
}

// Subject returns where the curve was measured.
func (c *Curve) Subject() clean.Subject {
	return clean.Subject{Platform: c.Platform, Library: c.Library, Place: c.Place}
}

// EmptyCopy returns a curve without cells, with the same place, mode and protocol.
func (c *Curve) EmptyCopy(timer string, floor float64) *Curve {
	return &Curve{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: c.Mode, Protocol: c.Protocol, Timer: timer, Clock: c.Clock, ZeroThreshold: floor}
}

// Point is a median with its interval. The ends are NaN if there are too few samples.
type Point struct {
	Bytes            int
	Value, Low, High float64
	SampleCount      int
}

// Piece is a straight piece of a curve: Value + Slope·(k−From) for k bytes. It ends at its last
// measured size. Behaviour between that size and the start of the next piece was not measured.
type Piece struct {
	From, To         int
	Value, Low, High float64 // at From
	Slope            float64 // a byte
	SlopeLow         float64
	SlopeHigh        float64
	SampleCount      int
	FewestSamples    int  // of the cell with the fewest
	IsFalling        bool // times decrease with length, so a level line is used
}

// ValueAt returns the curve at k bytes, on the last piece that starts at or below k. Sizes below
// all pieces have the value at the smallest size.
func (c *Curve) ValueAt(k int) float64 {
	if len(c.Pieces) == 0 {
		return math.NaN()
	}
	p := c.Pieces[0]
	for _, q := range c.Pieces[1:] {
		if q.From <= k {
			p = q
		}
	}
	return p.Value + p.Slope*float64(max(k, c.Pieces[0].From)-p.From)
}

// LoadCurves makes curves of the samples that count, in the order of results: by place, mode,
// protocol, timer. They have points, and no pieces yet.
func LoadCurves(set *sample.Set, o clean.Options) ([]*Curve, error) {
	f, err := set.Runs()
	if err != nil {
		return nil, err
	}
	byKey := make(map[sample.Key][]*sample.Series)
	clocks := make(map[clean.Subject]string)
	for i := range set.Series {
		s := &set.Series[i]
		if len(s.Times) == 0 || sample.IsCollectiveTimer(s.Timer) {
			continue
		}
		where := clean.SubjectOf(s)
		if c, ok := clocks[where]; ok && c != s.Clock {
			return nil, fmt.Errorf("fit: %s, %s, %s has samples of a real and of a virtual clock: fit them apart", s.Platform, s.Library, s.Place)
		}
		clocks[where] = s.Clock
		k := s.Key
		k.Launch = 0
		byKey[k] = append(byKey[k], s)
	}
	if some, others := clean.FindCollectiveSamples(set); some && !others {
		return nil, clean.ErrCollective
	}
	keys := make([]sample.Key, 0, len(byKey))
	for k, launches := range byKey {
		keys = append(keys, k)
		slices.SortFunc(launches, func(a, b *sample.Series) int { return cmp.Compare(a.Launch, b.Launch) })
	}
	slices.SortFunc(keys, clean.CompareKeys)

	cells, how := make([]clean.Cell, len(keys)), clean.RootCombinations(keys, byKey, f)
	clean.RunParallel(len(keys), func(i int) { cells[i] = clean.NewCell(byKey[keys[i]], how[i], f, o) })
	var curves []*Curve
	for i, k := range keys {
		if i == 0 || clean.WithoutBytes(k) != clean.WithoutBytes(keys[i-1]) {
			curves = append(curves, &Curve{Platform: k.Platform, Library: k.Library, Place: k.Place, Mode: k.Mode, Protocol: k.Protocol, Timer: k.Timer, Clock: k.Clock, IsTime: true})
		}
		c := curves[len(curves)-1]
		c.ZeroThreshold = max(c.ZeroThreshold, f.Resolution(byKey[k]...)/4, 1e-6)
		c.Cells = append(c.Cells, cells[i])
		c.Magnitudes = append(c.Magnitudes, math.Abs(cells[i].Value))
	}
	for _, c := range curves {
		c.setPoints()
	}
	return curves, nil
}

// Minus returns the difference of two curves at their common sizes. method is its name.
func (c *Curve) Minus(d *Curve, method string, level float64) *Curve {
	out := c.EmptyCopy(method, math.Hypot(c.ZeroThreshold, d.ZeroThreshold))
	for _, a := range c.Cells {
		b := d.CellOf(a.Bytes)
		if b == nil {
			continue
		}
		out.Cells = append(out.Cells, clean.LinearCombination([]clean.Cell{a, *b}, []float64{1, -1}, level))
		out.Magnitudes = append(out.Magnitudes, math.Hypot(a.Value, b.Value))
	}
	out.absentSizes = slices.Concat(c.ExcludedSizes(0), d.ExcludedSizes(0))
	return out
}

// Shuffled returns the curve with its replicates in another order, the same for all cells and
// pieces.
func (c *Curve) Shuffled(order []int) *Curve {
	out := *c
	out.Cells, out.ExcludedCells, out.LineReplicates = shuffleCells(c.Cells, order), shuffleCells(c.ExcludedCells, order), nil
	for _, of := range c.LineReplicates {
		out.LineReplicates = append(out.LineReplicates, reordered(of, order))
	}
	return &out
}

func shuffleCells(cells []clean.Cell, order []int) []clean.Cell {
	out := slices.Clone(cells)
	for i, x := range out {
		out[i].Replicates, out[i].Roots = reordered(x.Replicates, order), slices.Clone(x.Roots)
		for j, r := range x.Roots {
			out[i].Roots[j].Replicates = reordered(r.Replicates, order)
		}
	}
	return out
}

func reordered[T any](all []T, order []int) []T {
	out := make([]T, len(all))
	for i := range all {
		out[i] = all[order[i]]
	}
	return out
}

// ExcludedSizes returns the measured sizes, at least from, that do not count, in order.
func (c *Curve) ExcludedSizes(from int) []int {
	sizes := slices.Clone(c.absentSizes)
	for _, x := range c.ExcludedCells {
		sizes = append(sizes, x.Bytes)
	}
	sizes = slices.DeleteFunc(sizes, func(k int) bool { return k < from })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// ScaledBy returns the curve times x with the same pieces. method is its name.
func (c *Curve) ScaledBy(x float64, method string, level float64) *Curve {
	out := *c
	out.Timer, out.ZeroThreshold, out.absentSizes = method, c.ZeroThreshold*x, c.ExcludedSizes(0)
	out.Points, out.Pieces, out.LineReplicates, out.Cells, out.Magnitudes, out.ExcludedCells = nil, nil, nil, nil, nil, nil
	for i, a := range c.Cells {
		out.Cells = append(out.Cells, clean.LinearCombination([]clean.Cell{a}, []float64{x}, level))
		out.Magnitudes = append(out.Magnitudes, c.Magnitudes[i]*x)
	}
	for _, p := range c.Points {
		scaleAll(x, &p.Value, &p.Low, &p.High)
		out.Points = append(out.Points, p)
	}
	for _, p := range c.Pieces {
		scaleAll(x, &p.Value, &p.Low, &p.High, &p.Slope, &p.SlopeLow, &p.SlopeHigh)
		out.Pieces = append(out.Pieces, p)
	}
	for _, of := range c.LineReplicates {
		var lines []Line
		for _, l := range of {
			lines = append(lines, Line{l.Value * x, l.Slope * x})
		}
		out.LineReplicates = append(out.LineReplicates, lines)
	}
	out.fitted.y, out.fitted.uncertainty = slices.Clone(c.fitted.y), slices.Clone(c.fitted.uncertainty)
	for i := range out.fitted.y {
		out.fitted.y[i] *= x
		out.fitted.uncertainty[i] *= x
	}
	return &out
}

func scaleAll(x float64, values ...*float64) {
	for _, v := range values {
		*v = clean.RoundDigits(*v * x)
	}
}

// HalfRoundTrip returns half of a curve of round trips, which is the time of one way.
func (c *Curve) HalfRoundTrip() *Curve {
	return c.ScaledBy(0.5, sample.TimerRTT+"/2", clean.Options{}.WithDefaults().ConfidenceLevel)
}

// CellOf returns the cell of a size, or nil.
func (c *Curve) CellOf(bytes int) *clean.Cell {
	if c == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(c.Cells, bytes, func(c clean.Cell, k int) int { return cmp.Compare(c.Bytes, k) })
	if !ok {
		return nil
	}
	return &c.Cells[i]
}

// setPoints sets the points.
func (c *Curve) setPoints() {
	c.Points = nil
	for _, x := range slices.Concat(c.Cells, c.ExcludedCells) {
		c.Points = append(c.Points, PointOf(x))
	}
	slices.SortFunc(c.Points, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// PointOf returns the value of a cell with its interval.
func PointOf(x clean.Cell) Point {
	low, high := x.DisplayedInterval()
	return Point{x.Bytes, clean.RoundDigits(x.Value), clean.RoundDigits(low), clean.RoundDigits(high), x.SampleCount}
}

// Warnings returns the problems of the samples of the curve.
func (c *Curve) Warnings() []clean.Warning {
	tests := []struct {
		code, text string
		is         func(clean.Cell) bool
	}{
		{clean.CodeFewReps, "fewer than 20 samples", func(x clean.Cell) bool { return x.HasFewSamples() }},
		{clean.CodeOddReps, "an odd number of repetitions cannot be of two roots", func(x clean.Cell) bool { return x.HasOddReps }},
		{clean.CodeRootsDisagree, "the two roots of the barrier disagree, the lower median counts", func(x clean.Cell) bool { return x.HasDisagreeingRoots }},
		{clean.CodeHeavyTail, "more than one sample in a hundred is far above the median", func(x clean.Cell) bool { return x.HasHeavyTail }},
		{clean.CodeCoarseTimer, "the steps of the timer show: measure several calls at once", func(x clean.Cell) bool { return x.HasCoarseTimer }},
		{clean.CodeDrift, "later repetitions differ from earlier ones", func(x clean.Cell) bool { return x.HasDrift }},
	}
	out := c.excludedWarning()
	for _, test := range tests {
		var at []int
		for _, x := range c.Cells {
			if test.is(x) {
				at = append(at, x.Bytes)
			}
		}
		if len(at) > 0 && (test.code != clean.CodeRootsDisagree || c.isUnsettled()) {
			w := c.Warning(c.displayName(), test.code, fmt.Sprintf("%s, at %s", test.text, FormatSizes(at, len(c.Cells))))
			w.AffectedSizeCount, w.SizeCount = len(at), len(c.Cells)
			out = append(out, w)
		}
	}
	return out
}

// isUnsettled reports whether roots disagree so that parameters are affected: at the smallest size,
// or at more than a quarter of the sizes of a piece. timer22 determines no parameter, and includes
// P1's wait before its receive.
func (c *Curve) isUnsettled() bool {
	if c.Timer == sample.Timer22 {
		return false
	}
	bad := c.Cells[0].HasDisagreeingRoots
	for i := range c.Pieces {
		bad = bad || c.HasDisagreeingRoots(i)
	}
	return bad
}

// displayName returns the timer, with the protocol if it was forced.
func (c *Curve) displayName() string {
	if clean.IsLibraryChoice(c.Mode, c.Protocol) {
		return c.Timer
	}
	return c.Timer + " of " + c.Protocol
}

func (c *Curve) Warning(parameter, code, text string) clean.Warning {
	return clean.Warning{Platform: c.Platform, Library: c.Library, Place: c.Place, Mode: c.Mode, Parameter: parameter, Code: code, Text: text}
}

// FormatSizes lists some of a number of sizes.
func FormatSizes(at []int, of int) string {
	switch n := len(at); {
	case n == of && n > 1:
		return fmt.Sprintf("all %d sizes", n)
	case n > 3:
		return fmt.Sprintf("%d of %d sizes, from %d to %d bytes", n, of, at[0], at[n-1])
	}
	words := make([]string, len(at))
	for i, k := range at {
		words[i] = fmt.Sprint(k)
	}
	return strings.Join(words, ", ") + " bytes"
}

// SplitByPlace splits curves, which are in order, by platform, library and place.
func SplitByPlace(curves []*Curve) [][]*Curve {
	var places [][]*Curve
	for i, c := range curves {
		if i == 0 || c.Subject() != curves[i-1].Subject() {
			places = append(places, nil)
		}
		last := len(places) - 1
		places[last] = append(places[last], c)
	}
	return places
}

// launchScatter returns how far each median may be from where the other medians of the curve would
// put it, according to the launches. A launch in which everything takes longer moves the curve
// without bending it, so its common relative deviation is subtracted first. It returns false if not
// every cell has at least two launches.
func (c *Curve) launchScatter() ([]float64, bool) {
	rest, ok := c.centredLaunches()
	if !ok || len(rest) == 0 {
		return nil, false
	}
	var all []float64
	for i, e := range rest {
		k := float64(len(e))
		for _, x := range e {
			all = append(all, math.Abs(x)/c.Magnitudes[i]*math.Sqrt(k/(k-1)))
		}
	}
	common := quantile.Median(all) / 0.6745
	out := make([]float64, len(rest))
	for i, e := range rest {
		k, own := float64(len(e)), 0.0
		for _, x := range e {
			own += x * x
		}
		usual := common * c.Magnitudes[i]
		out[i] = 1.2533 * math.Sqrt((priorWeight*usual*usual+own)/(priorWeight+k-1)/k) // for a median
	}
	return out, true
}

// centredLaunches returns the deviations of each cell's launches from its value, without the common
// deviation of a launch.
func (c *Curve) centredLaunches() ([][]float64, bool) {
	by := make(map[int][]float64) // relative deviations, by launch
	for i, x := range c.Cells {
		if len(x.Launches.Values) < 2 || c.Magnitudes[i] <= 0 {
			return nil, false
		}
		for j, v := range x.Launches.Values {
			launch := x.Launches.Launches[j]
			by[launch] = append(by[launch], (v-x.Value)/c.Magnitudes[i])
		}
	}
	shift := make(map[int]float64, len(by))
	for launch, d := range by {
		shift[launch] = quantile.Median(d)
	}
	rest := make([][]float64, len(c.Cells))
	for i, x := range c.Cells {
		for j, v := range x.Launches.Values {
			rest[i] = append(rest[i], v-x.Value-shift[x.Launches.Launches[j]]*c.Magnitudes[i])
		}
	}
	return rest, true
}

// priorWeight is the weight, in launches, of the scatter of all cells relative to that of a cell's
// own launches: three launches do not determine a variance (moderated variance, Smyth 2004).
const priorWeight = 4

// LineReplicates returns a value for each replicate of a line.
func LineReplicates(lines []Line, of func(Line) float64) []float64 {
	out := make([]float64, len(lines))
	for b, l := range lines {
		out[b] = of(l)
	}
	return out
}

// PieceCells returns the cells of a piece.
func (c *Curve) PieceCells(piece int) []clean.Cell {
	p := c.Pieces[piece]
	var out []clean.Cell
	for _, x := range c.Cells {
		if p.From <= x.Bytes && x.Bytes <= p.To {
			out = append(out, x)
		}
	}
	return out
}

// HasDisagreeingRoots reports whether roots disagree at more than a quarter of the sizes of a
// piece.
func (c *Curve) HasDisagreeingRoots(piece int) bool {
	n := 0
	for _, x := range c.PieceCells(piece) {
		if x.HasDisagreeingRoots {
			n++
		}
	}
	return 4*n > len(c.PieceCells(piece))
}
