package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
)

// Fastest is the fastest algorithm for an operation, by measurement and by the model.
type Fastest struct {
	CollectiveComparison                      // by measurement
	Next                 CollectiveComparison // the fastest of the others
	Clear                bool                 // the interval of its time ends before that of any other begins
	ByModel              CollectiveComparison // the fastest by the model; without an Operation if there is no model
}

// Loss returns by how many percent the algorithm that the model chooses is slower than the fastest;
// NaN without a model.
func (f Fastest) Loss() float64 {
	if f.ByModel.Operation == "" {
		return math.NaN()
	}
	return f.slower(f.ByModel)
}

// Lead returns by how many percent the next algorithm is slower.
func (f Fastest) Lead() float64 { return f.slower(f.Next) }

func (f Fastest) slower(c CollectiveComparison) float64 {
	return 100 * (c.took() - f.took()) / f.took()
}

// FastestOf returns the fastest algorithms for each operation and length, in the order of the
// comparisons. Operations with a single algorithm are left out.
func FastestOf(cs []CollectiveComparison) []Fastest {
	var all []Fastest
	for _, of := range grouped(cs, func(c CollectiveComparison) operation { return c.operation(true) }) {
		if len(of) > 1 {
			all = append(all, fastest(of))
		}
	}
	return all
}

// fastest compares the algorithms for one operation and length. The first of equally fast ones
// wins.
func fastest(of []CollectiveComparison) Fastest {
	byTime := slices.Clone(of)
	slices.SortStableFunc(byTime, func(a, b CollectiveComparison) int { return cmp.Compare(a.took(), b.took()) })
	f := Fastest{CollectiveComparison: byTime[0], Next: byTime[1], Clear: true}
	for _, c := range byTime[1:] {
		f.Clear = f.Clear && c.Low > f.High
	}
	for _, c := range of {
		if c.By != "" && (f.ByModel.Operation == "" || c.Predicted < f.ByModel.Predicted) {
			f.ByModel = c
		}
	}
	return f
}

// Modelled is how well a model predicts an operation of some ranks.
type Modelled struct {
	Of           CollectiveComparison // one of the predictions, for its names
	Times        int                  // predicted
	Middle, Most float64              // percent: the median of the errors without their signs, and the largest
	Lengths      int                  // with several algorithms
	Right        int                  // lengths at which the model finds the fastest, or one whose interval overlaps that of the fastest
	Loss         float64              // percent: the largest of the lengths
}

// ModelledOf summarizes the comparisons that have a model, by operation and number of ranks, in
// their order.
func ModelledOf(cs []CollectiveComparison) []Modelled {
	var all []Modelled
	for _, of := range grouped(cs, func(c CollectiveComparison) operation { return c.operation(false) }) {
		if of = slices.DeleteFunc(of, func(c CollectiveComparison) bool { return c.By == "" }); len(of) > 0 {
			all = append(all, modelled(of))
		}
	}
	return all
}

func modelled(of []CollectiveComparison) Modelled {
	m := Modelled{Of: of[0], Times: len(of)}
	var errors []float64
	for _, c := range of {
		errors = append(errors, math.Abs(c.Comparison().Error))
	}
	m.Middle = clean.Median(errors)
	m.Most = errors[len(errors)-1]
	for _, f := range FastestOf(of) {
		m.Lengths++
		if f.ByModel.Algorithm == f.Algorithm || f.ByModel.Low <= f.High {
			m.Right++
		}
		m.Loss = max(m.Loss, f.Loss())
	}
	return m
}
