// Package leastsquares finds the parameters of a model, within bounds, that minimize the sum of the
// squared residuals, and determines how well the residuals determine them. A model is any function.
// Solve solves a Problem.
//
// The method is Levenberg–Marquardt from several starts, with steps truncated at the bounds.
// Derivatives are finite differences. Evaluations of a step run on all cores; the result does not
// depend on their number.
//
// Note: gonum/optimize minimizes a scalar. The Jacobian of the residuals saves several hundred
// evaluations here, and shows which parameters are determined.
package leastsquares

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"gonum.org/v1/gonum/mat"
)

// Parameter is a number to find. If Low is positive the search uses its logarithm, so that bounds
// may span several powers of ten.
type Parameter struct{ Low, High, Start float64 }

// isLogarithmic reports whether the search is in the logarithm.
func (p Parameter) isLogarithmic() bool { return p.Low > 0 }

// valueAt returns the number at the fraction u from Low to High.
func (p Parameter) valueAt(u float64) float64 {
	if p.isLogarithmic() {
		return p.Low * math.Pow(p.High/p.Low, u)
	}
	return p.Low + u*(p.High-p.Low)
}

// coordinateOf is the inverse of valueAt.
func (p Parameter) coordinateOf(x float64) float64 {
	if p.isLogarithmic() {
		return math.Log(x/p.Low) / math.Log(p.High/p.Low)
	}
	return (x - p.Low) / (p.High - p.Low)
}

// reflect returns the step of u that multiplies the number by e. For a parameter without logarithm
// it is the number as a fraction of its range, at least a tenth.
func (p Parameter) reflect(x float64) float64 {
	if p.isLogarithmic() {
		return 1 / math.Log(p.High/p.Low)
	}
	return math.Max(math.Abs(x)/(p.High-p.Low), 0.1)
}

// Problem is what to minimize: the sum of the squares of the residuals.
type Problem struct {
	Parameters []Parameter

	// Residuals returns the residuals of the model for parameters x, always the same number. It
	// must allow concurrent calls.
	Residuals func(x []float64) ([]float64, error)
}

// DefaultIterations is the maximum number of steps from each start, unless Options say otherwise.
const DefaultIterations = 40

// Options are limits of the search. The zero value has the defaults.
type Options struct {
	Starts     int            // maximum number of starts, the first from the parameters' Start; default 5
	Iterations int            // maximum number of steps of each; default DefaultIterations
	TargetRMS  float64        // root mean square of residuals that ends the search; default 0.001
	Seed       uint64         // seed of the other starts
	Deviation  float64        // lower bound of the standard deviation of a residual, for intervals; default 0
	Step       float64        // of finite differences, as a fraction of a factor of e; default 0.02
	Progress   func(part int) // called after each step with its number; may be nil

	OnlyParameters bool // the solution has the parameters and residuals alone: no derivatives, which take evaluations, and no intervals
}

func (o Options) defaults() Options {
	if o.Starts <= 0 {
		o.Starts = 5
	}
	if o.Iterations <= 0 {
		o.Iterations = DefaultIterations
	}
	if o.TargetRMS <= 0 {
		o.TargetRMS = 0.001
	}
	if o.Step <= 0 {
		o.Step = 0.02
	}
	return o
}

// Solution is the result of a search.
type Solution struct {
	X           []float64 // the parameters
	Residuals   []float64
	Jacobian    *mat.Dense // of the residuals with respect to each parameter's logarithm, or to the parameter itself if it has none
	Low, High   []float64  // 95 % interval of each parameter; infinite if residuals do not determine it
	Correlation *mat.SymDense
	Evaluations int

	// Undetermined has the parameters that the residuals do not determine: singly if no residual
	// depends on one, or in groups if only a combination is determined.
	Undetermined [][]int
}

// RMS returns the root mean square of the residuals.
func (s *Solution) RMS() float64 { return rootMeanSquare(s.Residuals) }

func rootMeanSquare(r []float64) float64 { return math.Sqrt(sumOfSquares(r) / float64(len(r))) }

// sumOfSquares returns the sum of squares.
func sumOfSquares(r []float64) float64 {
	s := 0.0
	for _, x := range r {
		s += x * x
	}
	return s
}

// search is a problem being solved.
type search struct {
	Problem
	Options
	evaluations, steps int
}

// Solve finds the parameters. It fails if a start is not within its bounds, if there are no
// residuals, or if Residuals returns an error.
func Solve(p Problem, o Options) (*Solution, error) {
	x := &search{Problem: p, Options: o.defaults()}
	start := make([]float64, len(p.Parameters))
	for i, q := range p.Parameters {
		if !(q.Low < q.High && q.Low <= q.Start && q.Start <= q.High) {
			return nil, fmt.Errorf("parameter %d: the start %g is not within %g and %g", i, q.Start, q.Low, q.High)
		}
		start[i] = q.coordinateOf(q.Start)
	}
	if len(start) == 0 {
		return nil, errors.New("there is no parameter to find")
	}
	rng := rand.New(rand.NewPCG(x.Seed, 1))
	var best *point
	for range x.Starts {
		found, err := x.levenbergMarquardt(start)
		if err != nil {
			return nil, err
		}
		if best == nil || found.sum < best.sum {
			best = found
		}
		if rootMeanSquare(best.residuals) < x.TargetRMS {
			break
		}
		start = make([]float64, len(start))
		for i := range start {
			start[i] = rng.Float64()
		}
	}
	return x.solution(best)
}

// point is a position, from 0 to 1 for each parameter, with its residuals and their sum of squares.
type point struct {
	coordinates, residuals []float64
	sum                    float64
}

// evaluate evaluates the model at several positions.
func (x *search) evaluate(places [][]float64) ([]*point, error) {
	out, errs := make([]*point, len(places)), make([]error, len(places))
	clean.RunParallel(len(places), func(i int) {
		at := make([]float64, len(places[i]))
		for j, p := range x.Parameters {
			at[j] = p.valueAt(places[i][j])
		}
		r, err := x.Residuals(at)
		if err == nil && (len(r) == 0 || math.IsNaN(sumOfSquares(r))) {
			err = errors.New("the model has no residuals")
		}
		out[i], errs[i] = &point{places[i], r, sumOfSquares(r)}, err
	})
	x.evaluations += len(places)
	return out, errors.Join(errs...)
}

// levenbergMarquardt searches a minimum from a position.
func (x *search) levenbergMarquardt(start []float64) (*point, error) {
	some, err := x.evaluate([][]float64{start})
	if err != nil {
		return nil, err
	}
	at, damping := some[0], 1e-2
	var j *mat.Dense // at the position; nil: not known
	for range x.Iterations {
		if rootMeanSquare(at.residuals) < 1e-9 {
			break
		}
		if j == nil {
			if j, err = x.jacobian(at); err != nil {
				return nil, err
			}
		}
		// Each iteration tries several dampings at once. If none leads down, the steps are too
		// long.
		var places [][]float64
		tried := []float64{damping / 10, damping, damping * 10, damping * 100}
		for _, d := range tried {
			places = append(places, at.stepFrom(j, d))
		}
		some, err := x.evaluate(places)
		if err != nil {
			return nil, err
		}
		best := 0
		for i := range some {
			if some[i].sum < some[best].sum {
				best = i
			}
		}
		if x.steps++; x.Progress != nil {
			x.Progress(x.steps)
		}
		next := some[best]
		if next.sum >= at.sum {
			if damping *= 1e3; damping > 1e9 {
				break
			}
			continue
		}
		moved := 0.0
		for i := range next.coordinates {
			moved = math.Max(moved, math.Abs(next.coordinates[i]-at.coordinates[i]))
		}
		// Parameters that the residuals hardly determine should stay near their start: stop at
		// small gains, and keep some damping.
		done := next.sum > at.sum*(1-minGain) || moved < 1e-7
		at, damping, j = next, math.Max(tried[best], minSingularValue*minSingularValue), nil
		if done {
			break
		}
	}
	return at, nil
}

// minGain is the part of the sum of squares by which a step lowers it, or the search ends there.
const minGain = 5e-4

// jacobian returns the derivatives of the residuals by the position, as differences to a position
// that is farther from the nearer bound.
func (x *search) jacobian(at *point) (*mat.Dense, error) {
	var places [][]float64
	steps := make([]float64, len(at.coordinates))
	for i, u := range at.coordinates {
		p := x.Parameters[i]
		steps[i] = math.Min(x.Step*p.reflect(p.valueAt(u)), 0.5)
		if u > 0.5 {
			steps[i] = -steps[i]
		}
		v := slices.Clone(at.coordinates)
		v[i] += steps[i]
		places = append(places, v)
	}
	some, err := x.evaluate(places)
	if err != nil {
		return nil, err
	}
	j := mat.NewDense(len(at.residuals), len(at.coordinates), nil)
	for i, s := range some {
		for k := range s.residuals {
			j.Set(k, i, (s.residuals[k]-at.residuals[k])/steps[i])
		}
	}
	return j, nil
}

// stepFrom returns the position after a step with some damping. Parameters at a bound stay there if
// the step would leave the bounds.
func (at *point) stepFrom(j *mat.Dense, damping float64) []float64 {
	r := mat.NewVecDense(len(at.residuals), at.residuals)
	var gradient mat.VecDense
	gradient.MulVec(j.T(), r)
	var square mat.Dense
	square.Mul(j.T(), j)
	largest := 0.0
	for i := range at.coordinates {
		largest = math.Max(largest, square.At(i, i))
	}
	var free []int
	for i, u := range at.coordinates {
		g := gradient.AtVec(i)
		if square.At(i, i) > 1e-14*largest && !(u <= 0 && g > 0) && !(u >= 1 && g < 0) {
			free = append(free, i)
		}
	}
	next := slices.Clone(at.coordinates)
	if len(free) == 0 {
		return next
	}
	a, b := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
	for k, i := range free {
		for l, m := range free[:k+1] {
			a.SetSym(k, l, square.At(i, m))
		}
		a.SetSym(k, k, square.At(i, i)*(1+damping)+1e-12*largest)
		b.SetVec(k, -gradient.AtVec(i))
	}
	var factors mat.Cholesky
	var d mat.VecDense
	if !factors.Factorize(a) || factors.SolveVecTo(&d, b) != nil {
		return next
	}
	for k, i := range free {
		next[i] = math.Min(math.Max(next[i]+d.AtVec(k), 0), 1)
	}
	return next
}

// Limits below which the residuals do not determine a parameter.
const (
	minColumnLength  = 1e-6 // length of a parameter's column of the Jacobian, over the largest
	minSingularValue = 0.01 // singular value of the columns at the length 1, over the largest
	minShare         = 0.01 // of a parameter in the space that is not determined
)

// solution returns the result at a position, with intervals.
func (x *search) solution(at *point) (*Solution, error) {
	s := &Solution{Residuals: at.residuals, Evaluations: x.evaluations}
	for i, p := range x.Parameters {
		s.X = append(s.X, p.valueAt(at.coordinates[i]))
	}
	if x.OnlyParameters {
		return s, nil
	}
	j, err := x.jacobian(at)
	if err != nil {
		return nil, err
	}
	s.Evaluations = x.evaluations
	n := len(at.coordinates)
	folds := make([]float64, n)
	for i, p := range x.Parameters {
		folds[i] = p.reflect(s.X[i])
		for k := range at.residuals {
			j.Set(k, i, j.At(k, i)*folds[i])
		}
	}
	s.Jacobian = j
	// Columns scaled to length 1 show linear dependences independently of units (D. Belsley, E.
	// Kuh, R. Welsch: Regression Diagnostics, 1980, section 3.2).
	lengths, longest := make([]float64, n), 0.0
	for i := range lengths {
		lengths[i] = mat.Norm(j.ColView(i), 2)
		longest = math.Max(longest, lengths[i])
	}
	unit := mat.DenseCopyOf(j)
	for i, l := range lengths {
		for k := range at.residuals {
			if l <= minColumnLength*longest {
				unit.Set(k, i, 0)
			} else {
				unit.Set(k, i, j.At(k, i)/l)
			}
		}
	}
	var factors mat.SVD
	if !factors.Factorize(unit, mat.SVDFullV) {
		return nil, errors.New("the derivatives of the model are no numbers")
	}
	var v mat.Dense
	factors.VTo(&v)
	values := factors.Values(nil)
	cov, null := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	rank := 0
	for k := range n {
		known := k < len(values) && values[k] > minSingularValue*values[0]
		if known {
			rank++
		}
		for a := range n {
			for b := range a + 1 {
				if y := v.At(a, k) * v.At(b, k); known {
					cov.SetSym(a, b, cov.At(a, b)+y/(values[k]*values[k]))
				} else {
					null.SetSym(a, b, null.At(a, b)+y)
				}
			}
		}
	}
	s.Undetermined = undeterminedGroups(null)
	s.Correlation = mat.NewSymDense(n, nil)
	for a := range n {
		for b := range a + 1 {
			s.Correlation.SetSym(a, b, cov.At(a, b)/math.Sqrt(math.Max(cov.At(a, a)*cov.At(b, b), math.SmallestNonzeroFloat64)))
		}
	}
	// Without degrees of freedom the deviation of the residuals is unknown.
	deviation := math.Inf(1)
	if left := len(at.residuals) - rank; left > 0 {
		deviation = math.Max(math.Sqrt(sumOfSquares(at.residuals)/float64(left)), x.Deviation)
	}
	for i, p := range x.Parameters {
		off := 1.96 * deviation * math.Sqrt(cov.At(i, i)) / lengths[i] * folds[i]
		if null.At(i, i) > minShare {
			off = math.Inf(1)
		}
		s.Low, s.High = append(s.Low, p.valueAt(at.coordinates[i]-off)), append(s.High, p.valueAt(at.coordinates[i]+off))
	}
	return s, nil
}

// undeterminedGroups returns the parameters that are not determined, those that depend on each
// other together. null is the projection on the null space.
func undeterminedGroups(null *mat.SymDense) [][]int {
	var all [][]int
	seen := map[int]bool{}
	for i := range null.SymmetricDim() {
		if null.At(i, i) <= minShare || seen[i] {
			continue
		}
		seen[i] = true
		group := []int{i}
		for at := 0; at < len(group); at++ {
			for k := range null.SymmetricDim() {
				if !seen[k] && math.Abs(null.At(group[at], k)) > minShare {
					seen[k] = true
					group = append(group, k)
				}
			}
		}
		slices.Sort(group)
		all = append(all, group)
	}
	return all
}
