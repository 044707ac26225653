package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/loggp/loggp/fit/leastsquares"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/model/unit"
)

// Calibration is what a search for free numbers has found.
type Calibration struct {
	Draft          *edit.Draft
	Numbers        []FittedNumber
	Targets        []Target
	OmittedTargets []string    // targets that were left out, and why
	Correlations   [][]float64 // the correlations of the numbers: 1 or −1 if only a combination is known
	RMSBefore      float64     // root mean square of the targets' deviations: 0.1 is about 10 %
	RMSAfter       float64
	PlatformsTried int
}

// FittedNumber is a free number, and what was found for it.
type FittedNumber struct {
	platform.Number // as the file has it
	FittedValue     string
	Low, High       string   // its interval of 95 %, within the bounds; "" if the targets do not determine it
	CombinedWith    []string // numbers that are determined only in combination with this one
	IsWithoutEffect bool     // no target depends on it: it keeps its value
	IsAtBound       bool     // it is at one of its bounds
	IsIntervalWide  bool     // its interval is wide: the one end is several times the other
	FittedTo        []string // what a number with this value names in the key to
}

// Target is a quantity with a value that it should have.
type Target struct {
	Quantity
	ValueBefore, ValueAfter float64 // with the numbers as they are in the file, and as they were found
	DependsOnFreeNumber     bool    // it depends on a free number
}

// Residual returns how far a value is from what it should be: the logarithm of their ratio, 0
// inside a range. Far below the target, where logarithms grow without bound, it goes on in a
// straight line, so that a difference of times that is negative has one too.
func (q Quantity) Residual(value float64) float64 {
	near := math.Min(math.Max(value, q.MinTarget), q.MaxTarget)
	x := value / near
	const least = 0.05
	if x < least {
		return math.Log(least) + (x-least)/least
	}
	return math.Log(x)
}

// clockResolutionPath is the path of the steps of the platform's clock.
const clockResolutionPath = "machine.timer.resolution"

// Limits of a search.
const (
	maxCombinations   = 64
	maxSearchStarts   = 3
	goodDeviation     = 0.01 // root mean square of Off with which no further start is tried, and the least that targets are off
	wideIntervalRatio = 2    // ratio of the ends of an interval from which it is wide
	fittedDigits      = 4    // of a number that was found
	minSensitivity    = 1e-3 // change of a target by a factor of e in a number, below which it does not depend on it
)

// Calibrate finds the free numbers of a platform by which the quantities of a bench come nearest to
// what they should be, in the sum of the squares of Off. The result is a function of the file, the
// bench and the seed. It is an error if no number is free, or if no target depends on one.
func Calibrate(ctx context.Context, d *edit.Draft, b *Bench, o Options) (*Calibration, error) {
	s, err := searchNumbers(ctx, d, b, o)
	if err != nil {
		return nil, err
	}
	return s.result()
}

// searchNumbers returns the search of Calibrate when it has ended.
func searchNumbers(ctx context.Context, d *edit.Draft, b *Bench, o Options) (*calibrationSearch, error) {
	s := &calibrationSearch{ctx: ctx, draft: d, bench: b, options: o}
	if s.options.measured == nil {
		s.options.measured = &measurements{}
	}
	for _, n := range d.Numbers {
		switch {
		case n.Free == nil:
		case o.keepsOtherLibraries && isUnused(n.Path, b.Libraries):
		case n.Path == clockResolutionPath:
			return nil, fmt.Errorf("%s:%d: the resolution of the clock cannot be free, as targets are measured with an ideal clock: leave out its 'free'", d.File, n.Line)
		case isUnused(n.Path, b.Libraries):
			return nil, fmt.Errorf("%s:%d: %s is free, and no target is of its library: the targets are of %s", d.File, n.Line, n.Path, strings.Join(b.Libraries, ", "))
		case n.Free.Values != nil:
			s.choices = append(s.choices, n)
		default:
			s.free = append(s.free, n)
		}
	}
	if len(s.free)+len(s.choices) == 0 {
		return nil, fmt.Errorf("%s: no number is free: mark those that are to be found, such as {value: 5us, basis: assumed, source: ..., free: {min: 1us, max: 20us}}", d.File)
	}
	for i, q := range b.Quantities {
		if q.MinTarget > 0 { // logarithms are compared
			s.targets = append(s.targets, i)
		}
	}
	if len(s.targets) == 0 {
		return nil, errors.New("there is no target with a value")
	}
	if err := s.checkStart(); err != nil {
		return nil, err
	}
	return s, s.solve()
}

// calibrationSearch is a calibration under way.
type calibrationSearch struct {
	ctx     context.Context
	draft   *edit.Draft
	bench   *Bench
	options Options

	free, choices []platform.Number // numbers within bounds, and those with a list of values
	targets       []int             // quantities that have a value to meet
	before        []float64         // of all quantities

	chosen   map[string]string // by path, the values of the choices that are best
	moved    []bool            // by choice, whether any target depends on it
	solution *leastsquares.Solution
	after    []float64
	tried    int
}

// checkStart measures the file as it is, and checks that the search can begin there.
func (s *calibrationSearch) checkStart() (err error) {
	if s.before, _, err = s.residuals(nil); err != nil {
		return err
	}
	var gone []string
	s.targets = slices.DeleteFunc(s.targets, func(i int) bool {
		if math.IsNaN(s.before[i]) {
			gone = append(gone, s.bench.Quantities[i].Name)
		}
		return math.IsNaN(s.before[i])
	})
	for _, g := range gone {
		s.bench.Omitted = append(s.bench.Omitted, g+": it cannot be measured with the numbers of the file")
	}
	if len(s.targets) == 0 {
		return fmt.Errorf("%s: none of the targets can be measured with the numbers of the file: %s", s.draft.File, strings.Join(gone, ", "))
	}
	return nil
}

// residuals measures the platform with some values, by path, and with a clock that shows
// picoseconds: steps of the clock would be steps of the targets. A quantity that cannot be measured
// is as far off as a wrong one can be.
func (s *calibrationSearch) residuals(values map[string]string) ([]float64, []float64, error) {
	all := map[string]string{clockResolutionPath: unit.Picosecond.String()}
	for path, v := range values {
		all[path] = v
	}
	measured, ok := s.options.measured.lookUp(all)
	if !ok {
		p, err := s.draft.With(all)
		if err != nil && s.before == nil {
			return nil, nil, err
		}
		measured = slices.Repeat([]float64{math.NaN()}, len(s.bench.Quantities)) // of numbers that a file cannot have together
		if err == nil {
			if measured, err = s.bench.Measure(s.ctx, p); err != nil {
				return nil, nil, err
			}
		}
		s.options.measured.add(all, measured)
	}
	r := make([]float64, len(s.targets))
	for k, i := range s.targets {
		q := s.bench.Quantities[i]
		if r[k] = q.Residual(measured[i]); math.IsNaN(r[k]) {
			r[k] = q.Residual(-q.MinTarget)
		}
	}
	return measured, r, nil
}

// measurements keeps the quantities that were measured of a file with some values of its numbers.
// Searches that begin at the same numbers measure them once.
type measurements struct {
	mu       sync.Mutex
	byValues map[string][]float64
}

// keyOfValues returns a key for values by path.
func keyOfValues(values map[string]string) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s=%s\n", path, values[path])
	}
	return b.String()
}

// lookUp returns the quantities with some values, if they were measured.
func (m *measurements) lookUp(values map[string]string) ([]float64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	quantities, ok := m.byValues[keyOfValues(values)]
	return quantities, ok
}

// add keeps the quantities with some values.
func (m *measurements) add(values map[string]string, quantities []float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byValues == nil {
		m.byValues = map[string][]float64{}
	}
	m.byValues[keyOfValues(values)] = quantities
}

// numberValues returns the values of the numbers within bounds, by path, beside those of the
// choices.
func (s *calibrationSearch) numberValues(x []float64, chosen map[string]string) map[string]string {
	all := map[string]string{}
	for path, v := range chosen {
		all[path] = v
	}
	for i, n := range s.free {
		all[n.Path] = n.Quantity.Format(x[i])
	}
	return all
}

// solve searches, for each combination of the choices. With several the search begins once in
// each, and goes on from more starts in the best.
func (s *calibrationSearch) solve() error {
	combinations := []map[string]string{{}}
	for _, n := range s.choices {
		var more []map[string]string
		for _, c := range combinations {
			for _, v := range n.Free.Values {
				next := map[string]string{n.Path: v}
				for path, w := range c {
					next[path] = w
				}
				more = append(more, next)
			}
		}
		if combinations = more; len(combinations) > maxCombinations {
			return fmt.Errorf("%s: the lists of values of free numbers make more than %d combinations: leave some out", s.draft.File, maxCombinations)
		}
	}
	sums := make([]float64, len(combinations))
	solutions := make([]*leastsquares.Solution, len(combinations))
	for i, c := range combinations {
		starts := 1
		if len(combinations) == 1 {
			starts = cmp.Or(s.options.Starts, maxSearchStarts)
		}
		var err error
		if solutions[i], err = s.fitNumbers(c, starts); err != nil {
			return err
		}
		sums[i] = solutions[i].RMS()
	}
	best := slices.Index(sums, slices.Min(sums))
	s.chosen, s.solution = combinations[best], solutions[best]
	if len(combinations) > 1 && len(s.free) > 0 {
		more, err := s.fitNumbers(s.chosen, cmp.Or(s.options.Starts, maxSearchStarts))
		if err != nil {
			return err
		}
		if more.RMS() < s.solution.RMS() {
			s.solution = more
		}
	}
	for _, n := range s.choices {
		s.moved = append(s.moved, slices.ContainsFunc(combinations, func(c map[string]string) bool {
			i := slices.IndexFunc(combinations, func(d map[string]string) bool { return differOnlyIn(c, d, n.Path) })
			return i >= 0 && math.Abs(sums[i]-sums[slices.IndexFunc(combinations, func(d map[string]string) bool { return equalChoices(c, d) })]) > 1e-9
		}))
	}
	return nil
}

// equalChoices says whether two combinations are alike; differOnlyIn, whether they differ in one
// number.
func equalChoices(a, b map[string]string) bool {
	for path := range a {
		if a[path] != b[path] {
			return false
		}
	}
	return true
}

func differOnlyIn(a, b map[string]string, path string) bool {
	for p := range a {
		if (a[p] == b[p]) == (p == path) {
			return false
		}
	}
	return true
}

// fitNumbers searches the numbers within bounds, with some values of the others.
func (s *calibrationSearch) fitNumbers(chosen map[string]string, starts int) (*leastsquares.Solution, error) {
	if len(s.free) == 0 {
		_, r, err := s.residuals(chosen)
		s.tried++
		return &leastsquares.Solution{Residuals: r}, err
	}
	var p leastsquares.Problem
	for _, n := range s.free {
		x, err := n.Quantity.Parse(n.Value)
		if err != nil {
			return nil, err
		}
		p.Parameters = append(p.Parameters, leastsquares.Parameter{Low: n.Free.Min, High: n.Free.Max, Start: x})
	}
	p.Residuals = func(x []float64) ([]float64, error) {
		_, r, err := s.residuals(s.numberValues(x, chosen))
		return r, err
	}
	o := leastsquares.Options{Seed: s.options.Seed, Starts: starts, TargetRMS: goodDeviation, Deviation: goodDeviation, OnlyParameters: s.options.onlyParameters}
	if s.options.Progress != nil {
		most := starts * leastsquares.DefaultIterations
		o.Progress = func(step int) { s.options.Progress(min(step, most), most) }
	}
	solution, err := leastsquares.Solve(p, o)
	if err == nil {
		s.tried += solution.Evaluations
	}
	return solution, err
}

// result says what was found.
func (s *calibrationSearch) result() (*Calibration, error) {
	c := &Calibration{Draft: s.draft, OmittedTargets: s.bench.Omitted, PlatformsTried: s.tried + 2}
	final := map[string]string{}
	touched := make([]bool, len(s.targets))
	for i, n := range s.free {
		f := FittedNumber{Number: n, FittedValue: n.Value, IsWithoutEffect: true}
		for k, t := range s.targets {
			if math.Abs(s.solution.Jacobian.At(k, i)) > minSensitivity {
				f.IsWithoutEffect, touched[k] = false, true
				f.FittedTo = append(f.FittedTo, s.bench.Quantities[t].FittingKey)
			}
		}
		if !f.IsWithoutEffect {
			x := s.solution.X[i]
			f.FittedValue = formatNumber(n, x)
			for _, edge := range []float64{n.Free.Min, n.Free.Max} {
				f.IsAtBound = f.IsAtBound || math.Abs(x-edge) <= 1e-6*(n.Free.Max-n.Free.Min)
			}
			if low, high := s.solution.Low[i], s.solution.High[i]; !math.IsInf(high, 0) && !math.IsNaN(high) {
				f.IsIntervalWide = high > wideIntervalRatio*math.Max(low, 0)
				f.Low, f.High = formatNumber(n, low), formatNumber(n, high)
			}
			for _, group := range s.solution.Undetermined {
				if slices.Contains(group, i) {
					for _, k := range group {
						if k != i {
							f.CombinedWith = append(f.CombinedWith, s.free[k].Path)
						}
					}
				}
			}
		}
		final[n.Path] = f.FittedValue
		c.Numbers = append(c.Numbers, f)
	}
	for i, n := range s.choices {
		f := FittedNumber{Number: n, FittedValue: n.Value, IsWithoutEffect: !s.moved[i]}
		if !f.IsWithoutEffect {
			f.FittedValue = s.chosen[n.Path]
			for _, t := range s.targets { // by which target a choice was made is not told apart
				f.FittedTo = append(f.FittedTo, s.bench.Quantities[t].FittingKey)
			}
		}
		final[n.Path] = f.FittedValue
		c.Numbers = append(c.Numbers, f)
	}
	slices.SortStableFunc(c.Numbers, func(a, b FittedNumber) int { return a.Line - b.Line })
	for i := range c.Numbers {
		slices.Sort(c.Numbers[i].FittedTo)
		c.Numbers[i].FittedTo = slices.Compact(c.Numbers[i].FittedTo)
	}
	if !slices.ContainsFunc(c.Numbers, func(f FittedNumber) bool { return !f.IsWithoutEffect }) {
		return nil, fmt.Errorf("%s: no target depends on a free number (%s): free others, or name other targets", s.draft.File, listPaths(c.Numbers))
	}
	var err error
	var r, was []float64
	if s.after, r, err = s.residuals(final); err != nil {
		return nil, err
	}
	choice := slices.Contains(s.moved, true)
	for k, i := range s.targets {
		q := s.bench.Quantities[i]
		was = append(was, q.Residual(s.before[i]))
		c.Targets = append(c.Targets, Target{q, s.before[i], s.after[i], touched[k] || choice})
	}
	c.RMSBefore, c.RMSAfter = rootMeanSquare(was), rootMeanSquare(r)
	if s.solution.Correlation != nil {
		for i := range s.free {
			var row []float64
			for k := range s.free {
				row = append(row, s.solution.Correlation.At(i, k))
			}
			c.Correlations = append(c.Correlations, row)
		}
	}
	return c, nil
}

// listPaths names numbers.
func listPaths(numbers []FittedNumber) string {
	var all []string
	for _, f := range numbers {
		all = append(all, f.Path)
	}
	return strings.Join(all, ", ")
}

// formatNumber prints a number with a few digits, inside its bounds.
func formatNumber(n platform.Number, x float64) string {
	return n.Quantity.Format(math.Min(math.Max(roundDigits(x), n.Free.Min), n.Free.Max))
}

// roundDigits returns a number with a few digits.
func roundDigits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', fittedDigits, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// rootMeanSquare is the root mean square.
func rootMeanSquare(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(all)))
}

// Text returns the platform's file with the numbers that were found. Numbers on which no target
// depends stay as they are.
func (c *Calibration) Text() ([]byte, error) {
	var all []edit.Fitted
	for _, f := range c.Numbers {
		if !f.IsWithoutEffect {
			all = append(all, edit.Fitted{Path: f.Path, Value: f.FittedValue, To: f.FittedTo})
		}
	}
	return c.Draft.Fit(all)
}

// WritePlatform writes the file that Text returns.
func (c *Calibration) WritePlatform(w io.Writer) error {
	text, err := c.Text()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
