package leastsquares

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func solve(t *testing.T, p Problem, o Options) *Solution {
	t.Helper()
	s, err := Solve(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// line is the model o + k·G, as logarithms, beside times.
func line(times func(k float64) float64) Problem {
	return Problem{
		Parameters: []Parameter{{1e-3, 1e3, 1}, {1e-6, 1, 1e-3}},
		Residuals: func(x []float64) ([]float64, error) {
			var r []float64
			for _, k := range []float64{1, 10, 100, 1000, 10000, 100000} {
				r = append(r, math.Log((x[0]+k*x[1])/times(k)))
			}
			return r, nil
		},
	}
}

// Numbers that are powers of ten from the start are found.
func TestExact(t *testing.T) {
	s := solve(t, line(func(k float64) float64 { return 120 + 0.0004*k }), Options{})
	near(t, "o", s.X[0], 120, 1e-6)
	near(t, "G", s.X[1], 0.0004, 1e-6)
	if len(s.Undetermined) > 0 || s.RMS() > 1e-6 {
		t.Errorf("undetermined %v, residual %g", s.Undetermined, s.RMS())
	}
}

// Where no step leads down, the derivatives at the position are not computed again.
func TestDerivativesAreComputedOnce(t *testing.T) {
	p := Problem{
		Parameters: []Parameter{{1, 100, 10}},
		Residuals: func(x []float64) ([]float64, error) { // a kink: the derivative on one side points to the other
			return []float64{1 + math.Abs(math.Log(x[0]/10))}, nil
		},
	}
	const perAttempt = 4 // dampings; the first is evaluated with the derivative, and so is the solution
	if s := solve(t, p, Options{Starts: 1}); (s.Evaluations-3)%perAttempt != 0 {
		t.Errorf("%d evaluations: those beyond the start and the derivatives there and of the solution are not of attempts alone", s.Evaluations)
	}
}

// The interval holds the true numbers in about 95 of 100 data sets, and is no wider than that
// takes.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	inside, total := 0, 0
	for range 200 {
		p := line(nil)
		noise := make([]float64, 40)
		for i := range noise {
			noise[i] = 0.05 * rng.NormFloat64()
		}
		p.Residuals = func(x []float64) ([]float64, error) {
			r := make([]float64, len(noise))
			for i, n := range noise {
				k := math.Pow(1.4, float64(i))
				r[i] = math.Log((x[0]+k*x[1])/(5+0.01*k)) + n
			}
			return r, nil
		}
		s := solve(t, p, Options{Starts: 1})
		for i, want := range []float64{5, 0.01} {
			total++
			if s.Low[i] <= want && want <= s.High[i] {
				inside++
			}
		}
	}
	if share := float64(inside) / float64(total); share < 0.90 || share > 0.99 {
		t.Errorf("%.3f of the intervals hold the number", share)
	}
}

// A number that should be beyond its bound ends at it, and the others are the best there.
func TestBound(t *testing.T) {
	s := solve(t, Problem{
		Parameters: []Parameter{{0, 1, 0.5}, {0, 10, 1}},
		Residuals:  func(x []float64) ([]float64, error) { return []float64{x[0] + x[1] - 5, x[0] - 3}, nil },
	}, Options{})
	near(t, "at its bound", s.X[0], 1, 1e-9)
	near(t, "the other", s.X[1], 4, 1e-4)
}

// What residuals do not determine is named: a number on which nothing depends, and numbers of which
// only the sum or a product is seen. They keep near their starts.
func TestUndetermined(t *testing.T) {
	s := solve(t, Problem{
		Parameters: []Parameter{{1, 100, 20}, {1, 100, 3}, {1, 100, 7}, {1, 100, 5}, {0, 10, 2}, {0, 10, 3}},
		Residuals: func(x []float64) ([]float64, error) {
			return []float64{math.Log((x[0] + x[2]) / 30), math.Log(x[3] / 9), math.Log(2 * (x[0] + x[2]) / 60), x[4]*x[5]/8 - 1, x[4]*x[5]/4 - 2, math.Log(x[3] / 9.1)}, nil
		},
	}, Options{})
	if want := [][]int{{0, 2}, {1}, {4, 5}}; !reflect.DeepEqual(s.Undetermined, want) {
		t.Errorf("undetermined %v, want %v", s.Undetermined, want)
	}
	near(t, "the sum", s.X[0]+s.X[2], 30, 1e-3)
	near(t, "what nothing depends on", s.X[1], 3, 1e-12)
	near(t, "what is determined", s.X[3], 9.05, 1e-2)
	if !math.IsInf(s.High[0], 1) || math.IsInf(s.High[3], 1) {
		t.Errorf("intervals to %v", s.High)
	}
}

// A combination that is not determined is named with all its numbers, also if one of them is near 0
// and its logarithm is searched: each of these times may be longer if the others are shorter.
func TestShifted(t *testing.T) {
	s := solve(t, Problem{
		Parameters: []Parameter{{0.1, 100, 12}, {0.1, 100, 16}, {0.1, 100, 0.11}, {1, 100, 5}},
		Residuals: func(x []float64) ([]float64, error) {
			return []float64{math.Log((x[0] + x[1]) / 28), math.Log((x[0] + 2*x[2] + x[1]) / 28.2), math.Log((x[1] - x[2]) / 15.9), math.Log((x[0] + x[2]) / 12.1), math.Log(x[3] / 5)}, nil
		},
	}, Options{Starts: 1})
	if len(s.Undetermined) > 0 {
		t.Errorf("undetermined %v", s.Undetermined)
	}
	s = solve(t, Problem{
		Parameters: []Parameter{{0.1, 100, 12}, {0.1, 100, 16}, {0.1, 100, 0.11}, {1, 100, 5}},
		Residuals: func(x []float64) ([]float64, error) {
			return []float64{math.Log((x[0] + x[1]) / 28), math.Log((x[1] - x[2]) / 15.9), math.Log((x[0] + x[2]) / 12.1), math.Log(x[3] / 5), math.Log((x[3] + x[0] + x[1]) / 33)}, nil
		},
	}, Options{Starts: 1})
	if want := [][]int{{0, 1, 2}}; !reflect.DeepEqual(s.Undetermined, want) {
		t.Errorf("undetermined %v, want %v", s.Undetermined, want)
	}
}

// Where the start leads to a local minimum, another start leads on.
func TestStarts(t *testing.T) {
	p := Problem{
		Parameters: []Parameter{{0, 10, 6}},
		Residuals:  func(x []float64) ([]float64, error) { return []float64{math.Sin(3*x[0]) + 1 + 0.3*x[0], 0.01}, nil },
	}
	if s := solve(t, p, Options{Starts: 1}); s.X[0] < 2 {
		t.Fatal("the start leads to the global minimum: the test shows nothing")
	}
	if s := solve(t, p, Options{Starts: 20}); s.X[0] > 2 {
		t.Errorf("found %g", s.X[0])
	}
}

// The result does not depend on how many processors there are.
func TestReproducible(t *testing.T) {
	find := func() *Solution {
		return solve(t, line(func(k float64) float64 { return 100 + 0.01*k + math.Sqrt(k) }), Options{Seed: 7})
	}
	one := find()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if two := find(); !reflect.DeepEqual(one, two) {
		t.Errorf("%+v and %+v", one, two)
	}
}

func TestWrong(t *testing.T) {
	for want, p := range map[string]Problem{
		"no parameter":      {},
		"not within":        {Parameters: []Parameter{{1, 2, 3}}},
		"cannot":            {Parameters: []Parameter{{1, 3, 2}}, Residuals: func([]float64) ([]float64, error) { return nil, errors.New("cannot") }},
		"has no residuals":  {Parameters: []Parameter{{1, 3, 2}}, Residuals: func([]float64) ([]float64, error) { return nil, nil }},
		"has no residuals ": {Parameters: []Parameter{{1, 3, 2}}, Residuals: func([]float64) ([]float64, error) { return []float64{math.NaN()}, nil }},
	} {
		if _, err := Solve(p, Options{}); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A search for the parameters alone finds the same ones, without the derivatives at the end.
func TestOnlyParameters(t *testing.T) {
	p := line(func(k float64) float64 { return 120 + 0.0004*k })
	whole, parameters := solve(t, p, Options{Starts: 1}), solve(t, p, Options{Starts: 1, OnlyParameters: true})
	if !reflect.DeepEqual(whole.X, parameters.X) || parameters.Jacobian != nil || parameters.Evaluations != whole.Evaluations-len(p.Parameters) {
		t.Errorf("%v in %d evaluations, %v in %d", whole.X, whole.Evaluations, parameters.X, parameters.Evaluations)
	}
}
